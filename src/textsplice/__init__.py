"""Text from data that can be audited: every word traced to the text it was spliced from."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textsplice.corpus import Corpus, Example, Table, read_corpus
    from textsplice.splicer import Splicer

__version__ = "0.1.0"
__all__ = ["Corpus", "Example", "Splicer", "Table", "__version__", "read_corpus"]


def __getattr__(name: str) -> object:
    # Imported on first use, so that `textsplice --help` does not wait for torch and pyarrow.
    if name in ("Corpus", "Example", "Table", "read_corpus"):
        import textsplice.corpus as corpus

        return getattr(corpus, name)
    if name == "Splicer":
        from textsplice.splicer import Splicer

        return Splicer
    raise AttributeError(f"module 'textsplice' has no attribute '{name}'")
