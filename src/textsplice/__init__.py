"""Text from data that can be audited: every word traced to the text it was spliced from.

    import textsplice

    splicer = textsplice.Splicer.load("runs/mine")
    out = splicer.generate({"name": "Blue Spice", "eatType": "coffee shop"})
    print(out.text)
    out.show()

`docs/python/` has a page per task: prepare and train, rules, evaluating.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textsplice import rules
    from textsplice.config import Config, load_config
    from textsplice.corpus import Corpus, Example, Table, read_corpus
    from textsplice.evaluate import evaluate
    from textsplice.fit import fit
    from textsplice.prepare import prepare
    from textsplice.search.generation import Generation
    from textsplice.splicer import Splicer, verify
    from textsplice.trace.add import add
    from textsplice.training import train

# OpenMP's threads spin while they wait for each other, which is ruinous where other programs take turns on
# the same cores: there a table took 0.2 CPU seconds with one thread, 1.8 with two that spin, 0.2 with two
# that sleep. This is read when torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

__version__ = "0.2.0"
__all__ = [
    "Config",
    "Corpus",
    "Example",
    "Generation",
    "Splicer",
    "Table",
    "__version__",
    "add",
    "evaluate",
    "fit",
    "load_config",
    "prepare",
    "read_corpus",
    "rules",
    "train",
    "verify",
]

# Imported on first use, so that `textsplice --help` does not wait for torch and pyarrow.
_HOMES = {
    "Config": "config",
    "Corpus": "corpus",
    "Example": "corpus",
    "Generation": "search.generation",
    "Splicer": "splicer",
    "Table": "corpus",
    "add": "trace.add",
    "load_config": "config",
    "read_corpus": "corpus",
    "train": "training",
    "verify": "splicer",
}
# Rooms that are functions too (see `callable_module`), and the rules.
_MODULES = ("evaluate", "fit", "prepare", "rules")


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
