"""Everything that can be added to textsplice, on one screen.

An extension is one new file and one line below: its name and where to find it, as `module:object`. Objects
are imported when they are first used, so listing names costs nothing and no room imports another by name.

From outside the package: a module that calls, for instance, `extensions.RULES.add("polite", Polite)`, and is
named in the environment variable `TEXTSPLICE_PLUGINS` (modules with commas between) or by an entry point of
the group `textsplice.plugins`. Such modules are imported when a name is asked for that is not listed here.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from textsplice.errors import ConfigError

PLUGINS = "TEXTSPLICE_PLUGINS"


class Registry:
    """Extensions of one kind by name."""

    def __init__(self, kind: str, entries: dict[str, str]) -> None:
        self.kind = kind
        self._entries: dict[str, object] = dict(entries)

    def add(self, name: str, extension: object) -> None:
        """Adds an extension: the object itself, or `module:object`."""
        self._entries[name] = extension

    def __getitem__(self, name: str) -> object:
        """The extension of this name; `ConfigError` that suggests the nearest name if there is none."""
        if name not in self._entries:
            load_plugins()
        if name not in self._entries:
            nearest = difflib.get_close_matches(name, self._entries, n=1, cutoff=0.5)
            known = f"Known: {', '.join(self._entries)}."
            remedy = f"Did you mean {nearest[0]!r}?" if nearest else known
            raise ConfigError(f"there is no {self.kind} {name!r}.", remedy=remedy)
        found = self._entries[name]
        if isinstance(found, str):
            found = self._entries[name] = _imported(found)
        return found

    def __contains__(self, name: object) -> bool:
        if name not in self._entries:
            load_plugins()
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        """All names, those of plugins included."""
        load_plugins()
        return iter(list(self._entries))


# How a corpus is read: by the ending of a file's name, the prefix of `prefix:PATH`, or a name without path.
FORMATS = Registry(
    "corpus format",
    {
        ".jsonl": "textsplice.corpus.jsonl:JsonlReader",
        ".jsonl.gz": "textsplice.corpus.jsonl:JsonlReader",
        ".csv": "textsplice.corpus.tabular:CsvReader",
        ".csv.gz": "textsplice.corpus.tabular:CsvReader",
        ".tsv": "textsplice.corpus.tabular:TsvReader",
        ".tsv.gz": "textsplice.corpus.tabular:TsvReader",
        ".xlsx": "textsplice.corpus.excel:ExcelReader",
        ".parquet": "textsplice.corpus.parquet:ParquetReader",
        "e2e": "textsplice.corpus.e2e:E2EReader",
        "wikibio": "textsplice.corpus.wikibio:WikiBioReader",
        "webnlg": "textsplice.corpus.webnlg:WebNLGReader",
        "hf": "textsplice.corpus.hugging_face:HuggingFaceReader",
        "bundled": "textsplice.corpus.bundled:BundledReader",
    },
)

# How near two tables are: `neighbors.score` in a configuration.
SCORES = Registry("score for neighbors", {"fields-and-values": "textsplice.neighbors.scores:FieldsAndValues"})

# Policies: `policy.kind` in a configuration.
POLICIES = Registry(
    "policy",
    {
        "full": "textsplice.policy.full:FULL",
        "lrt": "textsplice.policy.lrt:LRT",
        "copy": "textsplice.policy.copy:COPY",
    },
)

# Hard rules on texts: the name in JSON and of `--rule`.
RULES = Registry(
    "rule",
    {
        "approved-neighbors": "textsplice.search.rules.neighbors:ApprovedNeighbors",
        "never-neighbors": "textsplice.search.rules.neighbors:NeverNeighbors",
        "start-from": "textsplice.search.rules.neighbors:StartFrom",
        "neighbors-where": "textsplice.search.rules.neighbors:NeighborsWhere",
        "keep-sentences": "textsplice.search.rules.sentences:KeepSentences",
        "min-sentences": "textsplice.search.rules.sentences:MinSentences",
        "max-sentences": "textsplice.search.rules.sentences:MaxSentences",
        "copy-only": "textsplice.search.rules.words:CopyOnly",
        "forbid-words": "textsplice.search.rules.words:ForbidWords",
        "require-fields": "textsplice.search.rules.fields:RequireFields",
        "no-contradictions": "textsplice.search.rules.wordings:NoContradictions",
    },
)

# Metrics: `--metrics`.
METRICS = Registry(
    "metric",
    {
        "BLEU": "textsplice.evaluate.metrics.bleu:Bleu",
        "NIST": "textsplice.evaluate.metrics.nist:Nist",
        "METEOR": "textsplice.evaluate.metrics.meteor:Meteor",
        "ROUGE_L": "textsplice.evaluate.metrics.rouge_l:RougeL",
        "CIDEr": "textsplice.evaluate.metrics.cider:Cider",
        "ROUGE_4": "textsplice.evaluate.metrics.rouge_4:Rouge4",
    },
)

# Views of a derivation: `explain --as`.
VIEWS = Registry(
    "view",
    {
        "show": "textsplice.report.notebook:show",
        "terminal": "textsplice.report.terminal:ansi",
        "plain": "textsplice.report.plain:plain",
        "svg": "textsplice.report.svg:svg",
        "html": "textsplice.report.page:html",
        "prov": "textsplice.report.prov:prov",
        "annotations": "textsplice.report.annotations:annotation_page",
        "notebook": "textsplice.report.notebook:notebook",
    },
)

_loaded: set[str] = set()


def load_plugins() -> None:
    """Imports the modules that add extensions from outside; each once."""
    named = [name.strip() for name in os.environ.get(PLUGINS, "").split(",") if name.strip()]
    for name in (*named, *_installed()):
        if name in _loaded:
            continue
        _loaded.add(name)
        try:
            import_module(name)
        except Exception as error:  # whatever somebody else's module raises
            raise ConfigError(
                f"the plugin {name!r} can't be imported: {error}.",
                where=PLUGINS,
                remedy="Is it on PYTHONPATH, and does `python -c 'import …'` work?",
            ) from error


@cache
def _installed() -> tuple[str, ...]:
    """The plugins of installed packages; looking for them takes as long as reading a small corpus."""
    return tuple(point.value for point in entry_points(group="textsplice.plugins"))


def _imported(path: str) -> object:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)
