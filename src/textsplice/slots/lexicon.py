"""How values are worded: one TOML file per corpus, parsed into phrases.

    [_sets]
    CHILD = "family|families|kid|kids|child|children"

    [familyFriendly]
    verbatim = false     # the value itself ("yes") does not express it
    repeatable = false   # saying it twice is an error
    generic = []         # values that any text may mention, even if the table lacks them
    neutral = []         # phrases that do not express this field: "average price" is not a rating
    values = []          # more values, which are expressed verbatim

    [familyFriendly.wordings]
    yes = ["{CHILD} friendly", "welcome|welcomes ... {CHILD}"]
    no = ["not|isn't ... {CHILD} friendly", "adults only"]

A phrase is words separated by spaces. `a|b` is either word, `word?` is optional, `{CHILD}` is a set, and
`...` is up to four words of the same clause. `"cheap | less than £20" = […]` gives two values the same
phrases. Case, accents and hyphens are ignored. The longest phrase of a field wins, so `not family friendly`
is not `family friendly`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

from textsplice.config import unknown_name
from textsplice.corpus.missing import missing_file
from textsplice.corpus.table import Table
from textsplice.errors import ConfigError
from textsplice.parsing import parse_toml, read_text, unreadable
from textsplice.slots.mentions import Matcher
from textsplice.slots.wordings import FieldWordings, parse_phrase
from textsplice.text.yes_no import is_yes_or_no

SHARED = " | "  # separates values that share their wordings
BUNDLED = ("bundled", "e2e")
MAX_LEXICON_BYTES = 16 << 20
MOST_PHRASES = 200_000  # with and without each optional word
VALUES = "values"  # the name of the lexicon of the tables at hand
SETS = "_sets"
_SET = re.compile(r"\{([A-Z_]+)\}")
_KEYS = ("verbatim", "repeatable", "generic", "neutral", "values", "wordings")


def lexicon_path(name: str | Path) -> Path:
    """The file of a lexicon: `e2e` or `bundled`, which come with the package, or a path."""
    path = Path(name)
    if str(name) in BUNDLED:
        path = Path(__file__).with_name("lexicons") / f"{name}.toml"
    try:
        if path.is_file():
            return path
    except OSError as error:
        raise unreadable(error, path, ConfigError) from error
    raise missing_file(path, remedy=f"Name a TOML file, or one of {', '.join(BUNDLED)}.")


@dataclass(frozen=True)
class Lexicon:
    """The fields that can be checked, by name."""

    fields: Mapping[str, FieldWordings]

    @classmethod
    def load(cls, name: str | Path) -> Lexicon:
        """Reads `e2e` or `bundled`, which come with the package, or a TOML file."""
        path = lexicon_path(name)
        text = read_text(path, ConfigError, limit=MAX_LEXICON_BYTES)
        data = dict(parse_toml(text, ConfigError, str(path)))
        sets = _sets(data.pop(SETS, {}), str(path))
        fields = {field: _field(field, section, sets, str(path)) for field, section in data.items()}
        _require_few_variants(fields.values(), str(path))
        return cls(fields)

    @classmethod
    def named(cls, name: str | Path, tables: Iterable[Table]) -> Lexicon:
        """The lexicon that `load` reads by this name; `values` is the lexicon of these tables."""
        return cls.of_tables(tables) if name == VALUES else cls.load(name)

    @classmethod
    def of_tables(cls, tables: Iterable[Table]) -> Lexicon:
        """The lexicon for a corpus without one: values are expressed verbatim.

        Yes and no are left out: the word `no` does not tell which field it is about.
        """
        values: dict[str, dict[str, None]] = {}
        for table in tables:
            for field, given in table:
                said = (value for value in given if not is_yes_or_no(value))
                values.setdefault(field, {}).update(dict.fromkeys(said))
        return cls({field: FieldWordings({}, tuple(known)) for field, known in values.items()})

    @cached_property
    def matcher(self) -> Matcher:
        """Finds what a text says; built on first use."""
        return Matcher(self.fields)

    def to_toml(self) -> str:
        """The file that `load` reads."""
        lines: list[str] = []
        for name, field in self.fields.items():
            lines.append(f"[{_key(name)}]")
            if not field.verbatim:
                lines.append("verbatim = false")
            if field.repeatable:
                lines.append("repeatable = true")
            if field.generic:
                lines.append(f"generic = {_list(sorted(field.generic))}")
            if field.neutral:
                lines.append(f"neutral = {_list(field.neutral)}")
            if field.values:
                lines.append(f"values = {_list(field.values)}")
            if field.wordings:
                lines += ["", f"[{_key(name)}.wordings]"]
                lines += [f"{_key(value)} = {_list(said)}" for value, said in field.wordings.items()]
            lines.append("")
        return "\n".join(lines)


def _sets(section: object, where: str) -> dict[str, str]:
    sets = cast("dict[str, object]", section) if isinstance(section, dict) else {"": section}
    for name, words in sets.items():
        if not isinstance(words, str) or " " in words:
            raise ConfigError(f"[{SETS}] {name} must be words with | between.", where=where)
    return cast("dict[str, str]", sets)


def _with_sets(text: str, sets: Mapping[str, str], where: str) -> str:
    for name in _SET.findall(text):
        if name not in sets:
            raise unknown_name("set", name, list(sets), where)
    return _SET.sub(lambda found: sets[found[1]], text)


def _field(name: str, section: object, sets: Mapping[str, str], where: str) -> FieldWordings:
    if not isinstance(section, dict):
        raise ConfigError(f"[{name}] must be a section.", where=where)
    data = cast("dict[str, object]", section)
    for key in data:
        if key not in _KEYS:
            raise unknown_name("key", f"{name}.{key}", [f"{name}.{known}" for known in _KEYS], where)
    wordings = data.get("wordings", {})
    if not isinstance(wordings, dict):
        raise ConfigError(f"[{name}.wordings] must be a section.", where=where)
    said: dict[str, tuple[str, ...]] = {}
    for key, phrases in cast("dict[str, object]", wordings).items():
        place = f"{name}.wordings.{key}"
        texts = tuple(_with_sets(text, sets, where) for text in _texts(phrases, place, where))
        for value in key.split(SHARED):
            said[value] = said.get(value, ()) + texts
    neutral = tuple(
        _with_sets(text, sets, where) for text in _texts(data.get("neutral", []), f"{name}.neutral", where)
    )
    return FieldWordings(
        wordings=said,
        neutral=neutral,
        values=_texts(data.get("values", []), f"{name}.values", where),
        verbatim=_flag(data.get("verbatim", True), f"{name}.verbatim", where),
        repeatable=_flag(data.get("repeatable", False), f"{name}.repeatable", where),
        generic=frozenset(_texts(data.get("generic", []), f"{name}.generic", where)),
    )


def _require_few_variants(fields: Iterable[FieldWordings], where: str) -> None:
    """Parses every phrase once: one that can't be used is reported here, and so are too many."""
    count = 0
    for field in fields:
        phrases = (text for said in (*field.wordings.values(), field.neutral) for text in said)
        for text in dict.fromkeys(phrases):
            count += len(parse_phrase(text, where=where))
            if count > MOST_PHRASES:
                raise ConfigError(
                    f"the phrases have more than {MOST_PHRASES:,} variants in all.",
                    where=where,
                    remedy="Use fewer optional words.",
                )


def _texts(value: object, name: str, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(v, str) for v in cast("list[object]", value)):
        raise ConfigError(f"{name} must be a list of texts.", where=where)
    return tuple(cast("list[str]", value))


def _flag(value: object, name: str, where: str) -> bool:
    if not isinstance(value, bool):
        raise ConfigError(f"{name} must be true or false.", where=where)
    return value


def _key(text: str) -> str:
    bare = text.isascii() and text.replace("_", "").replace("-", "").isalnum()
    return text if bare else json.dumps(text, ensure_ascii=False)


def _list(texts: Sequence[str]) -> str:
    quoted = ", ".join(json.dumps(text, ensure_ascii=False) for text in texts)
    if len(quoted) < 90:
        return f"[{quoted}]"
    return "[\n" + "".join(f"  {json.dumps(text, ensure_ascii=False)},\n" for text in texts) + "]"
