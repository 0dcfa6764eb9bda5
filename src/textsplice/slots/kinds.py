"""What kind of field each field is, found in the tables and texts of a corpus.

| kind     | its values are                              | so they are                                |
|----------|---------------------------------------------|--------------------------------------------|
| `said`   | said word for word                          | masked, copied, looked for                 |
| `list`   | several, each said word for word            | the same, one by one                       |
| `number` | numbers, perhaps with a unit                | the same; `1,000` says 1000                |
| `date`   | days                                        | the same; `14 March 1987` says 1987-03-14  |
| `yes/no` | a yes or a no, said in other words          | checked by a lexicon, otherwise unchecked  |
| `worded` | categories, often said in other words       | masked, copied, and checked like yes/no    |
| `coded`  | categories, only ever said in other words   | checked like yes/no, never masked, copied  |
| `unsaid` | not said at all: ids, codes, dialogue acts  | compared, never masked, copied or checked  |

Nothing else is needed than counting how often texts say the values of their own tables, and how often those
of other tables, which is chance. A field that is hardly ever said word for word is never copied: texts would
say "in my give opinion". If other words go with its values, in texts in which they were not found, it is
`coded`, as `some wear` goes with condition B. What names the act of a text (it asks, recommends) is not: it
is no fact, and nothing that could be wrong. Texts of such fields are spliced from texts that agree in them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import cast

from textsplice.corpus.asked import ASKED
from textsplice.corpus.table import Example
from textsplice.errors import ConfigError
from textsplice.slots.candidates import DEFAULTS, Induction, Search, words_in_name
from textsplice.slots.dates import day_of, days_in
from textsplice.slots.evidence import measure
from textsplice.slots.lexicon import KINDS, Lexicon, items_of
from textsplice.slots.numbers import places, quantity, unit_in_name
from textsplice.slots.phrases import LITTLE, Sample, said_at
from textsplice.slots.wordings import FieldKind, FieldWordings, words_of
from textsplice.text.yes_no import is_yes_no_pair, is_yes_or_no

AUTO = "auto"
ASKED_FOR = "asked"  # no kind of its own: where a record names the field without a value, it asks for it
FEW_TEXTS = 10  # of fewer, nothing is concluded
MOST_TEXTS = 5000  # that are looked at
MOSTLY = 0.8  # said word for word in this share of texts: `said`
OFTEN = 0.5  # numbers, for which there are no other words, and values of which a part is said
HARDLY = 0.05  # in a smaller share: not said word for word
SEVERAL = 0.05  # share of tables with several values: a list
NUMBERS = 0.9  # share of values that are numbers, or days
FEW = ("0", "1")  # numbers that are often said in words
WORDED = 0.5  # share of texts whose value has a wording that stands up
ACT_NAMES = frozenset(("act", "acts", "intent", "dialogue", "dialog", "speech"))
ACTS = frozenset(
    """
    inform request recommend suggest confirm verify compare select offer ask question answer greet greeting
    goodbye bye thank thanks apologize affirm negate deny opinion explain explanation
    """.split()
)


@dataclass(frozen=True, slots=True)
class Finding:
    """The kind of one field, and why."""

    field: str
    kind: FieldKind
    reason: str
    texts: int  # with a value of the field
    values: int  # different ones
    said: float  # share of texts that say the value word for word
    empty: int = 0  # tables that name the field without a value, where other tables do not name it
    asked: int = 0  # tables whose value is `?`: the field is asked for
    alike: bool = False  # texts are spliced from texts that agree in it

    def to_dict(self) -> dict[str, object]:
        """Plain data."""
        return asdict(self)


@dataclass(frozen=True)
class _Seen:
    """What is seen of one field: the values of each text that has some."""

    name: str
    rows: list[int]
    values: list[tuple[str, ...]]
    named: int  # tables that name the field, with or without a value
    asked: int  # tables whose value is `?`

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(value for values in self.values for value in values)


class _Corpus:
    """The texts that kinds are found in."""

    def __init__(self, sample: Sample, settings: Induction) -> None:
        self.sample = sample
        self.settings = settings
        self.fields: dict[str, _Seen] = {}
        for row, example in enumerate(sample.examples):
            for field, values in example.table:
                seen = self.fields.get(field) or _Seen(field, [], [], 0, 0)
                said = tuple(value for value in values if value != ASKED)
                if said:
                    seen.rows.append(row)
                    seen.values.append(said)
                asked = seen.asked + (values != said)
                self.fields[field] = _Seen(field, seen.rows, seen.values, seen.named + 1, asked)

    @cached_property
    def halves(self) -> tuple[Search, Sample]:
        first, second = self.sample.halves()
        return Search(first, self.settings), second

    def share_said(self, seen: _Seen, kind: str = "") -> float:
        """The share of values that their own texts say word for word.

        Of numbers, 0 and 1 do not count if there are others: texts say `never capped`, and `a goal`.
        """
        rows = [
            (row, value)
            for row, values in zip(seen.rows, seen.values, strict=True)
            for value in items_of(values, kind)
        ]
        others = [(row, value) for row, value in rows if value not in FEW] if kind == "number" else []
        rows = others if len(others) >= FEW_TEXTS else rows
        return sum(self._says(row, value, kind, seen.name) for row, value in rows) / max(1, len(rows))

    def share_in_part(self, seen: _Seen) -> float:
        """The share of values of which their own texts say a word or a number: `May 1988` of 1988-05-12."""
        said = total = 0
        for row, values in zip(seen.rows, seen.values, strict=True):
            words = set(self.sample.words[row])
            for value in values:
                total += 1
                said += any(word in words for word in words_of(value) if len(word) > 2 and word not in LITTLE)
        return said / max(1, total)

    def by_chance(self, seen: _Seen) -> float:
        """The share of values that texts of other tables, which have another value, say all the same."""
        said = total = 0
        count = len(seen.rows)
        for place, row in enumerate(seen.rows):
            for step in (1, 7, count // 3, count // 2):
                for value in seen.values[(place + step) % count]:
                    if value not in seen.values[place]:
                        total += 1
                        said += self._says(row, value)
        return said / max(1, total)

    def _says(self, row: int, value: str, kind: str = "", field: str = "") -> bool:
        words = self.sample.words[row]
        if next(said_at(value, words), None) is not None:
            return True
        if kind == "date" and (day := day_of(value)):
            return str(day.year) in words or any(day.fits(said.day) for said in days_in(words))
        wanted = quantity(value) if kind == "number" else None
        return wanted is not None and bool(places(words, wanted, unit_in_name(field)))

    def share_worded(self, field: str, seen: _Seen) -> float:
        """The share of held-out texts whose value has a wording that is right there, and in most of them."""
        if len(seen.counts) > self.settings.most_values:
            return 0.0
        search, held_out = self.halves
        found = {
            value: tuple(phrase.wording() for phrase in search.candidates(field, value, verbatim=False))
            for value in search.values.get(field, ())
            if value != ASKED
        }
        lexicon = Lexicon({field: FieldWordings(found, verbatim=False)})
        measured = measure(lexicon, held_out)
        good = {e.value for e in measured.wordings.values() if e.least >= self.settings.held_out}
        texts = {value: each for (name, value), each in measured.values.items() if name == field}
        told = sum(each.texts for value, each in texts.items() if value in good and each.share >= WORDED)
        return told / max(1, sum(each.texts for each in texts.values()))


def find_kinds(examples: Iterable[Example], settings: Induction = DEFAULTS) -> list[Finding]:
    """The kind of each field, in the order in which tables first name them."""
    kept = list(examples)
    step = -(-len(kept) // MOST_TEXTS) or 1
    corpus = _Corpus(Sample.of(kept[::step]), settings)
    return [_find(corpus, field, seen) for field, seen in corpus.fields.items()]


def _find(corpus: _Corpus, field: str, seen: _Seen) -> Finding:
    texts, distinct = len(seen.rows), len(seen.counts)
    unnamed = len(corpus.sample) - seen.named
    empty = seen.named - texts - seen.asked if unnamed else 0
    said = corpus.share_said(seen)

    def finding(kind: FieldKind, reason: str, share: float = said, alike: bool = False) -> Finding:
        more = f"; {seen.asked:,} tables ask for it" if seen.asked else ""
        hint = f'if they ask for it, set "{field}={ASKED_FOR}"'
        more += f"; {empty:,} tables name it without a value: {hint}" if empty else ""
        return Finding(field, kind, reason + more, texts, distinct, share, empty, seen.asked, alike)

    if not texts:
        return finding("unsaid", "no table has a value")
    if _is_yes_no(seen, said):
        return finding("yes/no", "holds yes and no, which texts say in other words")
    if texts < FEW_TEXTS:
        return finding("said", f"only {texts} texts have it: taken as said")
    for kind, share, wanted, enough, what in (
        ("number", _share_of_numbers(seen), NUMBERS, OFTEN, "are numbers"),
        ("date", _share_of_days(seen), NUMBERS, OFTEN, "are dates"),
        ("list", _share_of_lists(seen, said), SEVERAL, MOSTLY, "have several values"),
    ):
        as_kind = corpus.share_said(seen, kind) if share >= wanted else 0.0
        if as_kind >= enough:
            reason = f"{share:.0%} {what}, and {as_kind:.0%} are said"
            return finding(cast("FieldKind", kind), reason, as_kind)
    if said >= MOSTLY:
        return finding("said", f"{said:.0%} are said word for word")
    chance = corpus.by_chance(seen) if distinct > 1 else 0.0
    if said >= HARDLY and said > 2 * chance:
        return finding("worded", f"only {said:.0%} are said word for word, the others in other words")
    part = corpus.share_in_part(seen)
    if part >= OFTEN:
        return finding("worded", f"only {said:.0%} are said word for word, but {part:.0%} in part")
    reason = f"only {said:.0%} are said word for word"
    reason += f", and as many by chance ({chance:.0%})" if said >= HARDLY else ""
    if len(seen.counts) >= 0.5 * len(seen.rows):
        return finding("unsaid", f"{reason}, and nearly every text has another value: an id")
    if _names_acts(field, seen):
        return finding("unsaid", f"{reason}: it names what a text does (asks, recommends)", alike=True)
    worded = corpus.share_worded(field, seen)
    if worded >= WORDED:
        return finding("coded", f"{reason}, but other words go with {worded:.0%} of them", alike=True)
    return finding("unsaid", reason, alike=worded > 0)


def _names_acts(field: str, seen: _Seen) -> bool:
    """Whether a field says what a text does (it asks, it recommends), which is nothing of the record."""
    if not ACT_NAMES.isdisjoint(words_in_name(field)):
        return True
    acts = sum(n for value, n in seen.counts.items() if not ACTS.isdisjoint(words_of(value)))
    return acts >= OFTEN * seen.counts.total()


def _is_yes_no(seen: _Seen, said: float) -> bool:
    values = {value.casefold() for value in seen.counts}
    return all(map(is_yes_or_no, values)) or (is_yes_no_pair(values) and said < OFTEN)


def _share_of_numbers(seen: _Seen) -> float:
    return sum(n for value, n in seen.counts.items() if quantity(value)) / max(1, seen.counts.total())


def _share_of_days(seen: _Seen) -> float:
    return sum(n for value, n in seen.counts.items() if day_of(value)) / max(1, seen.counts.total())


def _share_of_lists(seen: _Seen, said: float) -> float:
    """Commas make a list only if texts do not say the value with them, as they say `Austin, Texas`."""
    kind = "list" if said < MOSTLY else ""
    return sum(len(items_of(values, kind)) > 1 for values in seen.values) / max(1, len(seen.values))


def chosen_kinds(settings: Sequence[str], where: str = "corpus.kinds") -> dict[str, FieldKind]:
    """The kinds that a configuration says itself: `id=unsaid`."""
    chosen: dict[str, FieldKind] = {}
    for setting in settings:
        if setting == AUTO:
            continue
        field, equals, kind = setting.rpartition("=")
        if field.strip() and kind.strip() == ASKED_FOR:
            continue
        if not equals or not field.strip() or kind.strip() not in KINDS:
            raise ConfigError(
                f"{setting!r} is not of the form FIELD=KIND.",
                where=where,
                remedy=f'Write "{AUTO}", or for example "id=unsaid". Kinds: {", ".join(KINDS)}, {ASKED_FOR}.',
            )
        chosen[field.strip()] = cast("FieldKind", kind.strip())
    return chosen


def asked_kinds(settings: Sequence[str]) -> tuple[str, ...]:
    """The fields that a configuration says are asked for where a record names them without a value."""
    parts = (setting.rpartition("=") for setting in settings)
    return tuple(field.strip() for field, _, kind in parts if kind.strip() == ASKED_FOR)


def decide(examples: Iterable[Example], settings: Sequence[str]) -> list[Finding]:
    """What a configuration says of fields and, with `auto`, what is found of the others."""
    chosen, asked = chosen_kinds(settings), asked_kinds(settings)
    found = find_kinds(examples) if AUTO in settings or chosen or asked else []
    unknown = sorted({*chosen, *asked} - {each.field for each in found})
    if unknown:
        raise ConfigError(
            f"no table has the field {unknown[0]!r}.",
            where="corpus.kinds",
            remedy=f"Fields: {', '.join(each.field for each in found)}.",
        )
    kept: list[Finding] = []
    for each in found:
        if each.field in chosen:
            reason = f"set in corpus.kinds; found: {each.kind}, {each.reason}"
            kind = chosen[each.field]
            kept.append(replace(each, kind=kind, reason=reason, alike=each.alike or kind == "coded"))
        elif AUTO in settings or each.field in asked:
            kept.append(each)
    return kept


def alike_fields(findings: Iterable[Finding]) -> tuple[str, ...]:
    """The fields in which texts agree with those that they are spliced from, and those that are asked for."""
    return tuple(each.field for each in findings if each.alike or each.asked)


def kinds_of(findings: Iterable[Finding]) -> dict[str, FieldKind]:
    """The kinds alone."""
    return {each.field: each.kind for each in findings}
