"""How values are worded: one TOML file per corpus, parsed into phrases.

    [_sets]
    CHILD = "family|families|kid|kids|child|children"

    [familyFriendly]
    verbatim = false     # the value itself ("yes") does not express it
    repeatable = false   # saying it twice is an error
    generic = []         # values that any text may mention, even if the table lacks them
    neutral = []         # phrases that do not express this field: "average price" is not a rating
    values = []          # more values, which are expressed verbatim
    kind = "yes/no"      # or "said", "list", "number", "date", "worded", "coded", "unsaid": docs/kinds.md
    partial = []         # values of which some wordings are not known: not finding them is no error
    exclusive = false    # another value of the field, said word for word, is wrong even if some are partial

    [familyFriendly.wordings]
    yes = ["{CHILD} friendly", "welcome|welcomes ... {CHILD}"]
    no = ["not|isn't ... {CHILD} friendly", "adults only"]

A phrase is words separated by spaces. `a|b` is either word, `word?` is optional, `{CHILD}` is a set, and
`...` is up to four words of the same clause. `"cheap | less than £20" = […]` gives two values the same
phrases. Case, accents and hyphens are ignored. The longest phrase of a field wins, so `not family friendly`
is not `family friendly`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple, cast, get_args

from textsplice.config import unknown_name
from textsplice.corpus.asked import ASKED
from textsplice.corpus.forms import items
from textsplice.corpus.missing import missing_file
from textsplice.corpus.table import Table
from textsplice.errors import ConfigError
from textsplice.parsing import parse_toml, read_text, short_repr, unreadable
from textsplice.slots.mentions import Matcher
from textsplice.slots.wordings import FieldKind, FieldWordings, parse_phrase
from textsplice.text.yes_no import is_yes_or_no

SHARED = " | "  # separates values that share their wordings
BUNDLED = ("bundled", "e2e")
MAX_LEXICON_BYTES = 16 << 20
MOST_PHRASES = 200_000  # with and without each optional word
VALUES = "values"  # the name of the lexicon of the tables at hand
SETS = "_sets"
_SET = re.compile(r"\{([A-Z_]+)\}")
_KEYS = ("kind", "verbatim", "repeatable", "exclusive", "partial", "generic", "neutral", "values", "wordings")
KINDS = get_args(FieldKind)


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


class Notes(NamedTuple):
    """Comments for a lexicon's file: of fields, and of wordings by field, value and wording."""

    fields: Mapping[str, Sequence[str]]
    wordings: Mapping[tuple[str, str, str], Sequence[str]]


NO_NOTES = Notes({}, {})


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
    def named(
        cls, name: str | Path, tables: Iterable[Table], kinds: Mapping[str, FieldKind] | None = None
    ) -> Lexicon:
        """The lexicon that `load` reads by this name; `values` is the lexicon of these tables."""
        return cls.of_tables(tables, kinds) if name == VALUES else cls.load(name).with_kinds(kinds or {})

    @classmethod
    def of_tables(cls, tables: Iterable[Table], kinds: Mapping[str, FieldKind] | None = None) -> Lexicon:
        """The lexicon for a corpus without one: values are expressed verbatim, as far as `kinds` allow.

        Yes and no are left out: the word `no` does not tell which field it is about.
        """
        kinds = kinds or {}
        never = {name for name, kind in kinds.items() if kind in ("coded", "unsaid")}  # word for word
        values: dict[str, dict[str, None]] = {}
        for table in tables:
            for field, given in table:
                kind = kinds.get(field, "")
                said = (
                    value
                    for value in given
                    if kind != "yes/no" and value != ASKED and not is_yes_or_no(value)
                )
                values.setdefault(field, {}).update(dict.fromkeys(items_of(said, kind)))
        return cls(
            {
                field: FieldWordings({}, () if field in never else tuple(known), verbatim=field not in never)
                for field, known in values.items()
            }
        ).with_kinds(kinds)

    def with_kinds(self, kinds: Mapping[str, FieldKind]) -> Lexicon:
        """The same, which knows the kinds of more fields; what it says of a field itself comes first."""
        if not kinds:
            return self
        fields = {
            name: replace(known, kind=kinds[name]) if name in kinds and not known.kind else known
            for name, known in self.fields.items()
        }
        more = {
            name: FieldWordings({}, kind=kind, verbatim=kind != "coded")
            for name, kind in kinds.items()
            if name not in fields
        }
        return Lexicon({**fields, **more})

    @property
    def kinds(self) -> dict[str, FieldKind]:
        """The kinds of the fields whose kind it says."""
        return {name: known.kind for name, known in self.fields.items() if known.kind}

    @cached_property
    def matcher(self) -> Matcher:
        """Finds what a text says; built on first use."""
        return Matcher(self.fields)

    @cached_property
    def acts(self) -> Lexicon:
        """The fields that texts do not say, but whose values go with words: what a text does."""
        acts = {
            n: replace(f, kind="coded") for n, f in self.fields.items() if f.kind == "unsaid" and f.wordings
        }
        others = dict.fromkeys(self.fields, FieldWordings({}, verbatim=False, kind="unsaid")) if acts else {}
        return Lexicon({**others, **acts})

    @property
    def digest(self) -> str:
        """A hash of what it says."""
        return hashlib.sha256(self.to_toml().encode("utf-8", "surrogatepass")).hexdigest()

    def to_toml(self, notes: Notes = NO_NOTES) -> str:
        """The file that `load` reads; `notes` are comments of fields, and of wordings."""
        lines: list[str] = []
        for name, field in self.fields.items():
            lines += [f"# {note}" for note in notes.fields.get(name, ())]
            lines.append(f"[{_key(name)}]")
            if field.kind:
                lines.append(f'kind = "{field.kind}"')
            if not field.verbatim:
                lines.append("verbatim = false")
            if field.repeatable:
                lines.append("repeatable = true")
            if field.exclusive:
                lines.append("exclusive = true")
            for key in ("partial", "generic", "neutral", "values"):
                texts: Iterable[str] = getattr(field, key)
                if texts:
                    texts = sorted(texts) if isinstance(texts, frozenset) else texts
                    lines.append(f"{key} = {_list(tuple(texts))}")
            if field.wordings:
                lines += ["", f"[{_key(name)}.wordings]"]
                for value, said in field.wordings.items():
                    told = {text: notes.wordings.get((name, value, text), ()) for text in said}
                    lines.append(f"{_key(value)} = {_list(said, told)}")
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
    kind = _kind(data.get("kind", ""), f"{name}.kind", where)
    return FieldWordings(
        wordings=said,
        neutral=neutral,
        values=_texts(data.get("values", []), f"{name}.values", where),
        verbatim=_flag(data.get("verbatim", kind not in ("yes/no", "coded")), f"{name}.verbatim", where),
        repeatable=_flag(data.get("repeatable", False), f"{name}.repeatable", where),
        exclusive=_flag(data.get("exclusive", False), f"{name}.exclusive", where),
        generic=frozenset(_texts(data.get("generic", []), f"{name}.generic", where)),
        kind=kind,
        partial=frozenset(_texts(data.get("partial", []), f"{name}.partial", where)),
    )


def _kind(value: object, name: str, where: str) -> FieldKind | Literal[""]:
    if value != "" and value not in KINDS:
        raise ConfigError(
            f"{name} = {short_repr(value)} is no kind of field.",
            where=where,
            remedy=f"Known: {', '.join(KINDS)}.",
        )
    return cast("FieldKind", value)


def items_of(values: Iterable[str], kind: str) -> list[str]:
    """The values of a field; of a `list`, those that are written into one are several."""
    return [item for value in values for item in items(value)] if kind == "list" else list(values)


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


def _list(texts: Sequence[str], notes: Mapping[str, Sequence[str]] | None = None) -> str:
    quoted = ", ".join(json.dumps(text, ensure_ascii=False) for text in texts)
    noted = notes and any(notes.values())
    if len(quoted) < 90 and not noted:
        return f"[{quoted}]"
    lines: list[str] = []
    for text in texts:
        lines += [f"  # {note}\n" for note in (notes or {}).get(text, ())]
        lines.append(f"  {json.dumps(text, ensure_ascii=False)},\n")
    return "[\n" + "".join(lines) + "]"
