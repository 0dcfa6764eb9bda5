"""Induces a lexicon from data: which phrases express which value of which field?

For each value, phrases of up to five words are chosen greedily. The best phrase appears in the most texts of
tables with the value that have no chosen phrase yet, and rarely in texts of other tables. The result is a
proposal for people to review: counting can't separate fields whose values occur together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from textsplice.corpus.table import Example
from textsplice.slots.lexicon import Lexicon
from textsplice.slots.mentions import verbatim_phrases
from textsplice.slots.wordings import FieldWordings, words_of
from textsplice.text.yes_no import is_yes_or_no

_MARKS = frozenset(".!?,;:")


@dataclass(frozen=True, slots=True)
class Induction:
    """Thresholds for proposing a phrase."""

    most_values: int = 40  # a field with more values gets no phrases: its values appear verbatim
    longest: int = 5
    least_texts: int = 10
    precision: float = 0.75  # least share of texts with the phrase whose tables have the value
    lift: float = 2.0  # how much more frequent the phrase is with the value than without
    gain: float = 0.01  # share of the value's texts that another phrase must explain
    as_good: float = 0.9  # phrases that explain this share of the most are rivals
    most_phrases: int = 12
    repeated: float = 0.05  # a field said twice in a larger share of texts may be said twice


DEFAULTS = Induction()


def induce(examples: Iterable[Example], settings: Induction = DEFAULTS) -> Lexicon:
    """Proposes wordings for the values of every field that has few."""
    texts = [(example, words_of(example.text)) for example in examples if example.text]
    values: dict[str, Counter[str]] = {}
    for example, _ in texts:
        for field, given in example.table:
            values.setdefault(field, Counter()).update(given)
    grams = [_grams(_without_values(example, words), settings.longest) for example, words in texts]
    common = _common(grams, settings.least_texts)
    postings: dict[str, list[int]] = {}
    for number, found in enumerate(grams):
        for gram in found & common:
            postings.setdefault(gram, []).append(number)
    fields: dict[str, FieldWordings] = {}
    for field, counts in values.items():
        verbatim = _said_as_written(field, texts)
        wordings: dict[str, tuple[str, ...]] = {}
        if len(counts) <= settings.most_values:
            for value in counts:
                wordings[value] = _phrases(field, value, texts, postings, settings, verbatim=verbatim)
        closed = {value: said for value, said in wordings.items() if said}
        others = tuple(sorted(value for value in counts if value not in closed))
        repeatable = _share_repeated(field, texts) > settings.repeated
        fields[field] = FieldWordings(closed, others, verbatim=verbatim, repeatable=repeatable)
    return Lexicon(fields)


Texts = Sequence[tuple[Example, list[str]]]


def _phrases(
    field: str,
    value: str,
    texts: Texts,
    postings: dict[str, list[int]],
    settings: Induction,
    *,
    verbatim: bool,
) -> tuple[str, ...]:
    having = {n for n, (e, _) in enumerate(texts) if field in e.table and value in e.table[field]}
    # Only texts of tables that have the field count against a phrase.
    asked = {n for n, (e, _) in enumerate(texts) if any(name == field and v for name, v in e.table)}
    candidates: dict[str, set[int]] = {}
    precision: dict[str, float] = {}
    for gram, numbers in postings.items():
        told = [n for n in numbers if n in asked]
        right = {n for n in told if n in having}
        if len(right) < settings.least_texts or len(right) < settings.precision * len(told):
            continue
        rate_with = len(right) / len(having)
        rate_without = (len(told) - len(right) + 1) / (len(asked) - len(having) + 1)
        if rate_with >= settings.lift * rate_without:
            candidates[gram] = right
            precision[gram] = len(right) / len(told)
    unexplained = {n for n in having if not (verbatim and _says(value, texts[n][1]))}
    chosen: list[str] = []
    while candidates and unexplained and len(chosen) < settings.most_phrases:
        gains = {gram: len(right & unexplained) for gram, right in candidates.items()}
        most = max(gains.values())
        if most < max(settings.least_texts, settings.gain * len(having)):
            break
        # Among phrases that explain about as much, the most precise and longest: "could park" before "could".
        rivals = [gram for gram, gained in gains.items() if gained >= settings.as_good * most]
        best = max(rivals, key=lambda gram: (round(precision[gram], 2), len(gram), gram))
        del candidates[best]
        unexplained -= set(postings[best])
        chosen.append(best)
    return tuple(chosen)


def _without_values(example: Example, words: list[str]) -> list[str]:
    """The words without the values of the table, so that no name becomes a wording."""
    kept = list(words)
    for _, values in example.table:
        for value in values:
            for phrase in verbatim_phrases(value):
                size = len(phrase)
                for start in range(len(words) - size + 1):
                    if all(words[start + i] in phrase[i] for i in range(size)):
                        kept[start : start + size] = ["."] * size
    return kept


def _grams(words: Sequence[str], longest: int) -> set[str]:
    found: set[str] = set()
    for start in range(len(words)):
        for stop in range(start + 1, min(start + longest, len(words)) + 1):
            if words[stop - 1] in _MARKS:
                break
            found.add(" ".join(words[start:stop]))
    return found


def _common(grams: Sequence[set[str]], least: int) -> set[str]:
    counts: Counter[str] = Counter()
    for found in grams:
        counts.update(found)
    return {gram for gram, count in counts.items() if count >= least}


def _says(value: str, words: Sequence[str]) -> int:
    """How often a value appears verbatim in a text."""
    best = 0
    for phrase in verbatim_phrases(value):
        size = len(phrase)
        starts = range(len(words) - size + 1)
        best = max(best, sum(all(words[s + i] in phrase[i] for i in range(size)) for s in starts))
    return best


def _said_as_written(field: str, texts: Texts) -> bool:
    """Whether values of a field appear verbatim in texts; `yes` and `no` do not."""
    slots = [(value, words) for e, words in texts if field in e.table for value in e.table[field]]
    if all(is_yes_or_no(value) for value, _ in slots):
        return False
    return sum(_says(value, words) > 0 for value, words in slots) > 0.1 * len(slots)


def _share_repeated(field: str, texts: Texts) -> float:
    slots = [(value, words) for e, words in texts if field in e.table for value in e.table[field]]
    return sum(_says(value, words) > 1 for value, words in slots) / max(1, len(slots))
