"""Proposes a lexicon from data: which phrases say which value of which field?

Phrases are found in one half of the texts (`candidates.py`) and tried on the other half, which has other
tables. A wording is proposed if it is right there with confidence, and more often than the value is anyway.
For a yes/no field, what says yes says no where it is denied: `not ... family friendly`. A value for which
nothing is found stays unchecked. The result is a proposal for people: `Proposal.to_toml` shows for each
wording how often it is right, and sentences that have it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from textsplice.corpus.asked import ASKED
from textsplice.corpus.table import Example
from textsplice.slots.candidates import DEFAULTS, Induction, Search
from textsplice.slots.check import check_slots, summarize_slots
from textsplice.slots.evidence import Evidence, Measured, is_cross, measure
from textsplice.slots.kinds import FEW, Finding, find_kinds
from textsplice.slots.lexicon import SETS, Lexicon, Notes, items_of
from textsplice.slots.phrases import NEGATING, NEGATIONS, Phrase, Sample
from textsplice.slots.wordings import FieldKind, FieldWordings
from textsplice.text.yes_no import PLAIN, SHORT

_NO = frozenset(pair[0] for pair in (*PLAIN, *SHORT))
WORDED: tuple[FieldKind, ...] = ("yes/no", "worded", "coded")  # kinds that are said in other words
SEVERAL, OTHERWISE = 2, 0.04  # texts, and share of those with a value that say another one
AS_OFTEN = 0.15  # what people say of so many others, for each record that has it, tells nothing
DENIED = f"{NEGATIONS} ... "
HEAD = """\
# A proposal, found by counting: read it, and strike what is wrong. To strike a wording, delete its line or
# put a # before it; what is left is accepted. Above each wording stands how often it was right in held-out
# texts, and sentences that have it. To measure what is left:
#     textsplice lexicon check CORPUS --lexicon FILE --wordings
# What has no wording is not checked, and reported as unchecked. docs/lexicons.md explains the format.
"""


@dataclass(frozen=True)
class Proposal:
    """A lexicon, what its wordings are worth in texts they were not found in, and the kinds of fields."""

    lexicon: Lexicon
    measured: Measured
    findings: Sequence[Finding]

    def to_toml(self) -> str:
        """The file, with the evidence as comments."""
        fields = {
            each.field: [
                f"{each.kind}: {each.reason}.",
                *self._unchecked(each),
            ]
            for each in self.findings
        }
        wordings = {key: self._note(each) for key, each in self.measured.wordings.items()}
        text = self.lexicon.to_toml(Notes(fields, wordings))
        if NEGATIONS not in text:
            return f"{HEAD}\n{text}"
        return f'{HEAD}\n[{SETS}]\nNOT = "{NEGATIONS}"\n\n{text.replace(f"{NEGATIONS} ...", "{NOT} ...")}'

    def _note(self, evidence: Evidence) -> list[str]:
        recall = self.measured.values.get((evidence.field, evidence.value))
        share = f"{evidence.right / recall.texts:.0%} of the value's texts" if recall and recall.texts else ""
        if not evidence.texts:
            return ["by negation; not seen in held-out texts"]
        right = f"{evidence.right:,} of {evidence.texts:,} right ({evidence.precision:.0%}), in {share}"
        return [right, *(f"  “{sentence}”" for sentence in evidence.sentences)]

    def _unchecked(self, found: Finding) -> list[str]:
        """What is said about values that can't be checked, or only in part."""
        known = self.lexicon.fields[found.field]
        lines: list[str] = []
        for (field, value), recall in self.measured.values.items():
            if field != found.field or found.kind not in WORDED:
                continue
            if value in known.wordings:
                told = f"{value}: found in {recall.share:.0%} of {recall.texts:,} held-out texts"
                partial = "; not finding it is reported as unchecked" if value in known.partial else ""
                lines.append(told + partial)
            else:
                lines.append(f"{value}: no wording stood up to held-out texts; unchecked")
        return lines


def induce(examples: Iterable[Example], settings: Induction = DEFAULTS) -> Lexicon:
    """The proposed lexicon alone."""
    return propose(examples, settings=settings).lexicon


def propose(
    examples: Iterable[Example],
    kinds: Mapping[str, FieldKind] | None = None,
    settings: Induction = DEFAULTS,
    findings: Sequence[Finding] | None = None,
) -> Proposal:
    """Proposes wordings for the values of every field that has few; `kinds` are those that are known.

    So are `findings`, if kinds were looked for already.
    """
    sample = Sample.of(examples)
    findings = [
        replace(each, kind=kinds[each.field], reason="as given") if kinds and each.field in kinds else each
        for each in findings or find_kinds(sample.examples, settings)
    ]
    first, second = sample.halves()
    search = Search(first, settings)
    kinds_found = {each.field: each.kind for each in findings}
    values: dict[str, Counter[str]] = {each.field: Counter() for each in findings}
    for example in sample.examples:
        for field, given in example.table:
            if field in values:  # too few texts have the others
                said = (value for value in given if value != ASKED)
                values[field].update(items_of(said, kinds_found[field]))
    proposed: dict[str, FieldWordings] = {}
    for each in findings:
        proposed[each.field] = _field(each, search, values[each.field])
    tried = _tried(Lexicon(proposed), second, search)
    measured = measure(tried, second)
    fields = {name: _judged(name, known, measured, settings) for name, known in tried.fields.items()}
    lexicon = _as_people_say(Lexicon(fields), second, settings).fields
    fields = {name: replace(known, kind=kinds_found[name]) for name, known in lexicon.items()}
    return Proposal(Lexicon(fields), measured, findings)


def _field(found: Finding, search: Search, counts: Counter[str]) -> FieldWordings:
    """The candidates for the values of a field."""
    if found.kind == "unsaid" and not found.alike:
        return FieldWordings({}, verbatim=False, kind="unsaid")
    verbatim = found.kind not in ("yes/no", "coded", "unsaid") and found.said > 0.1
    wordings: dict[str, tuple[str, ...]] = {}
    few = len(counts) <= search.settings.most_values
    asked = list(counts) if few else [value for value in FEW if value in counts and found.kind == "number"]
    if found.kind in (*WORDED, "said", "number", "unsaid") and asked:
        phrases = {value: search.candidates(found.field, value, verbatim) for value in asked}
        if found.kind == "yes/no":
            phrases = _with_opposites(phrases)
        wordings = {value: tuple(p.wording() for p in said) for value, said in phrases.items() if said}
    others = tuple(sorted(value for value in counts if value not in wordings)) if verbatim else ()
    # What a text does is tried like a category, and told, though it is no fact.
    kind = "coded" if found.kind == "unsaid" else found.kind
    return FieldWordings(wordings, others, verbatim=verbatim, kind=kind)


def _with_opposites(phrases: Mapping[str, Sequence[Phrase]]) -> dict[str, list[Phrase]]:
    """For a yes/no field: what says yes says no where it is denied, even if that was too rare to be found."""
    found = {value: list(said) for value, said in phrases.items()}
    no = next((value for value in found if value.casefold() in _NO), None)
    if no is not None:
        for value, said in phrases.items():
            for phrase in said if value != no else ():
                opposite = Phrase(phrase.words, denied=True)
                plain = not phrase.denied and NEGATING.isdisjoint(phrase.words.split())
                if plain and not any(opposite in known for known in found.values()):
                    found[no].append(opposite)
    return found


def _tried(lexicon: Lexicon, held_out: Sample, search: Search) -> Lexicon:
    """The wordings that are right in held-out texts, with confidence and more often than the value is there.

    An opposite that is hardly ever seen there stays with the wording that it denies.
    """
    settings, measured = search.settings, measure(lexicon, held_out)
    counts: dict[str, Counter[str]] = {}
    for (name, value), recall in measured.values.items():
        counts.setdefault(name, Counter())[value] = recall.texts
    fields: dict[str, FieldWordings] = {}
    for name, known in lexicon.fields.items():
        total = max(1, counts.get(name, Counter()).total())

        def stands(
            value: str, text: str, name: str = name, total: int = total, known: FieldWordings = known
        ) -> bool:
            evidence = measured.wordings[name, value, text]
            usual = 0.0 if is_cross(known) else counts.get(name, Counter())[value] / total
            about = search.is_about(text.removeprefix(DENIED), name)
            right, least = (
                (settings.precision, settings.held_out)
                if about
                else (settings.strict, settings.held_out_strict)
            )
            return evidence.least >= least and evidence.precision >= max(right, usual)

        kept = {value: [t for t in said if stands(value, t)] for value, said in known.wordings.items()}
        affirmed = {text for said in kept.values() for text in said}
        for value, said in known.wordings.items():
            for text in said:
                evidence = measured.wordings[name, value, text]
                rare = evidence.texts < 2 * settings.least_texts and 2 * evidence.right >= evidence.texts
                bare = text.removeprefix(DENIED)
                if text not in kept[value] and bare != text and bare in affirmed and rare:
                    kept[value].append(text)
        wordings = {value: tuple(said) for value, said in kept.items() if said}
        gone = [value for value in known.wordings if value not in wordings] if known.verbatim else []
        fields[name] = replace(known, wordings=wordings, values=tuple(sorted((*known.values, *gone))))
    return Lexicon(fields)


def _judged(name: str, known: FieldWordings, measured: Measured, settings: Induction) -> FieldWordings:
    """The same, which says of which values not all wordings are known."""
    partial = {
        value
        for value in known.wordings
        if (recall := measured.values.get((name, value))) is None or recall.share < settings.recall
    }
    return replace(known, partial=frozenset(partial))


def _as_people_say(lexicon: Lexicon, held_out: Sample, settings: Induction) -> Lexicon:
    """The same, in which fields that people say twice may be said twice, and numbers that they say otherwise
    (`no experience` of 0) may be said otherwise."""
    reports = [check_slots(example.text or "", example.table, lexicon) for example in held_out.examples]
    counts = summarize_slots(reports).by_field
    values = Counter((slot.field, slot.value) for report in reports for slot in report.slots)
    missing = Counter((s.field, s.value) for report in reports for s in report.slots if s.status == "missing")
    others = _said_of_others(lexicon, held_out)
    fields: dict[str, FieldWordings] = {}
    for name, known in lexicon.fields.items():
        said = counts.get(name, {})
        otherwise = {
            value
            for (field, value), times in missing.items()
            if field == name and known.kind == "number"
            if values[field, value] >= settings.least_texts
            if times > settings.left_out * values[field, value]
        }
        fields[name] = replace(
            known,
            repeatable=said.get("repeated", 0) > settings.repeated * sum(said.values()),
            partial=known.partial | otherwise,
            exclusive=known.kind == "worded",
            generic=known.generic | others.get(name, frozenset()),
        )
    return Lexicon(fields)


def _said_of_others(lexicon: Lexicon, held_out: Sample) -> dict[str, frozenset[str]]:
    """The values that people say word for word of records that do not have them.

    `High` is said of `5 out of 5`; and a goalkeeper left goals to others, which is not his left foot.
    """
    texts, said = Counter[tuple[str, str]](), Counter[tuple[str, str, str]]()
    right, wrong = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for example, words in held_out:
        table = {name: given for name, given in example.table if ASKED not in given}
        slots = [(name, value) for name, given in table.items() for value in given]
        texts.update(slots)
        mentioned = {
            (mention.field, value)
            for mention in lexicon.matcher.find(words, slots)
            if mention.verbatim and mention.field in table
            if lexicon.fields[mention.field].kind not in ("number", "date")
            for value in mention.values
        }
        right.update(mentioned & set(slots))
        for name, value in mentioned - set(slots):
            wrong[name, value] += 1
            said.update((name, value, own) for own in table[name])
    others: dict[str, set[str]] = {}
    for (name, value, own), times in said.items():
        if times >= SEVERAL and times > OTHERWISE * texts[name, own]:
            others.setdefault(name, set()).add(value)
    for (name, value), times in wrong.items():
        if times > SEVERAL and times > AS_OFTEN * right[name, value]:
            others.setdefault(name, set()).add(value)
    return {name: frozenset(values) for name, values in others.items()}
