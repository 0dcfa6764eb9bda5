"""Settings that can be given away: without paths of the machine that they were used on."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePath, PureWindowsPath

from textsplice.config import Config, CorpusConfig, config_from_dict
from textsplice.slots.lexicon import BUNDLED

LEXICON = "lexicon.toml"  # as it is called in an export
# Where the folder that an absolute path names is expected elsewhere.
_HOMES = {"corpus.source": "data", "output.prepared": "prepared", "output.run": "runs"}
_SCHEME = re.compile(r"[a-z][a-z0-9_-]+:(?!//)")  # a corpus format; a drive has one letter
_SIGNED_DATA = re.compile(r"(\|data:)(.*)(@[0-9a-f]+\|)")


def portable(config: Config) -> Config:
    """The same settings; a path out of the working folder keeps only its last part.

    The judge and the writers are called by the names of their folders, and stand beside the export. What was
    learned from in place of people's texts is left out: words and texts do not depend on it.
    """
    sections = {
        section: {key: _portable(f"{section}.{key}", value) for key, value in values.items()}
        for section, values in config.to_dict().items()
    }
    search = config.search
    # A lexicon that was named for a search is given again to whoever searches: --lexicon FILE.
    found = config_from_dict(sections, "export")
    judge, writers = search.judge and _last(search.judge), tuple(map(_last, search.writers))
    lexicon = config.text.lexicon
    defaults = CorpusConfig()
    return replace(
        found,
        corpus=replace(
            found.corpus, targets=defaults.targets, target_alternatives=defaults.target_alternatives
        ),
        search=replace(found.search, judge=judge, writers=writers, lexicon=_known(search.lexicon)),
        text=replace(found.text, lexicon=LEXICON if lexicon and lexicon not in BUNDLED else lexicon),
    )


def _known(lexicon: str) -> str:
    return lexicon if lexicon in BUNDLED else ""


def portable_signature(signature: str) -> str:
    """The signature of a figure, with only the end of the path of its references."""

    def shortened(found: re.Match[str]) -> str:
        path = found[2]
        return f"{found[1]}{_portable_path(path, PurePath(path).parent.name)}{found[3]}"

    return _SIGNED_DATA.sub(shortened, signature)


def _portable(name: str, value: object) -> object:
    return _portable_path(value, _HOMES.get(name, "")) if isinstance(value, str) else value


def _portable_path(text: str, home: str) -> str:
    """A relative path as it is; of any other its last part, in the folder `home`."""
    scheme = found[0] if (found := _SCHEME.match(text)) else ""
    path = text[len(scheme) :]
    away = path.startswith("~") or ".." in PurePath(path).parts or ".." in PureWindowsPath(path).parts
    if not (away or PurePath(path).is_absolute() or PureWindowsPath(path).drive):
        return text
    return f"{scheme}{home}/{_last(path)}" if home else f"{scheme}{_last(path)}"


def _last(path: str) -> str:
    return PureWindowsPath(path.rstrip("/\\")).name
