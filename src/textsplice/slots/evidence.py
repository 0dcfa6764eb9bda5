"""How good the wordings of a lexicon are: how often each is right in texts, and sentences that have it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from textsplice.corpus.asked import ASKED
from textsplice.slots.association import least_share
from textsplice.slots.lexicon import Lexicon
from textsplice.slots.mentions import BARRIERS, GAP_WORDS, Mention
from textsplice.slots.phrases import Sample
from textsplice.slots.wordings import GAP, FieldWordings, Phrase, parse_phrase, placed_words
from textsplice.visible import visible

MOST_SENTENCES = 3
LONGEST_SENTENCE = 110
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


@dataclass
class Evidence:
    """Of one wording: in how many texts of tables with the field it stands; how many have the value."""

    field: str
    value: str
    wording: str
    texts: int = 0
    right: int = 0
    sentences: list[str] = dataclasses.field(default_factory=list[str])

    @property
    def precision(self) -> float:
        """The share of these texts whose tables have the value."""
        return self.right / self.texts if self.texts else 0.0

    @property
    def least(self) -> float:
        """What the precision is at least, with 95 % confidence."""
        return least_share(self.right, self.texts)


@dataclass
class Recall:
    """Of one value: the texts whose tables have it, and those that a lexicon finds it in."""

    texts: int = 0
    found: int = 0

    @property
    def share(self) -> float:
        """The share of texts it is found in."""
        return self.found / self.texts if self.texts else 0.0


@dataclass(frozen=True)
class Measured:
    """What the wordings of a lexicon are worth in some texts."""

    wordings: dict[tuple[str, str, str], Evidence]
    values: dict[tuple[str, str], Recall]


def measure(lexicon: Lexicon, sample: Sample) -> Measured:
    """Reads every text with a lexicon, and counts where each of its wordings is right."""
    found = {
        (name, value, text): Evidence(name, value, text)
        for name, known in lexicon.fields.items()
        for value, texts in known.wordings.items()
        for text in texts
    }
    values: dict[tuple[str, str], Recall] = {}
    # A field with one value has a cross or nothing: texts of records without it count against a wording.
    crosses = {name for name, known in lexicon.fields.items() if is_cross(known)}
    for example, words in sample:
        # A text that asks whether it is on Steam is no evidence for or against it.
        table = {name: given for name, given in example.table if given and ASKED not in given}
        slots = [(name, value) for name, given in table.items() for value in given]
        mentions = lexicon.matcher.find(words, slots)
        for name, value in slots:
            recall = values.setdefault((name, value), Recall())
            recall.texts += 1
            recall.found += any(m.field == name and value in m.values for m in mentions)
        standing: dict[tuple[str, str, str], Mention] = {}
        for mention in mentions:
            if (mention.field in table or mention.field in crosses) and mention.field in lexicon.fields:
                for key in _wordings(mention, words, lexicon.fields[mention.field]):
                    standing.setdefault(key, mention)
        for key, mention in standing.items():
            evidence = found[key]
            evidence.texts += 1
            if key[1] in table.get(key[0], ()):
                evidence.right += 1
                if len(evidence.sentences) < MOST_SENTENCES:
                    _add(evidence.sentences, sentence_at(example.text or "", mention.start))
    return Measured(found, values)


def is_cross(known: FieldWordings) -> bool:
    """Whether a field is said in other words and has one value, as a column that is ticked or empty."""
    return not known.verbatim and len(known.known_values()) == 1


def _add(sentences: list[str], new: str) -> None:
    if new not in sentences:
        sentences.append(new)


def _wordings(mention: Mention, words: Sequence[str], known: FieldWordings) -> Iterator[tuple[str, str, str]]:
    """The wordings that a mention is."""
    span = tuple(words[mention.start : mention.stop])
    for value in mention.values:
        for text in known.wordings.get(value, ()):
            if _matches(text, span):
                yield mention.field, value, text


@lru_cache(maxsize=1 << 16)
def _matches(text: str, words: tuple[str, ...]) -> bool:
    return any(_is(phrase, words) for phrase in parse_phrase(text))


def _is(phrase: Phrase, words: Sequence[str]) -> bool:
    """Whether a phrase is just these words."""
    if not phrase:
        return not words
    if phrase[0] != GAP:
        return bool(words) and words[0] in phrase[0] and _is(phrase[1:], words[1:])
    for skipped in range(min(GAP_WORDS, len(words)) + 1):
        if any(word in BARRIERS for word in words[:skipped]):
            return False
        if _is(phrase[1:], words[skipped:]):
            return True
    return False


def sentence_at(text: str, place: int) -> str:
    """The sentence of a text that has its word of this number, shortened, without control characters."""
    start = placed_words(text)[place][1]
    begin = max((end.end() for end in _SENTENCE_END.finditer(text) if end.end() <= start), default=0)
    after = _SENTENCE_END.search(text, start)
    sentence = visible(" ".join(text[begin : after.start() if after else len(text)].split()))
    if len(sentence) <= LONGEST_SENTENCE:
        return sentence
    first = max(0, min(start - begin - LONGEST_SENTENCE // 2, len(sentence) - LONGEST_SENTENCE))
    cut = sentence[first : first + LONGEST_SENTENCE]
    return f"{'…' if first else ''}{cut}{'…' if first + LONGEST_SENTENCE < len(sentence) else ''}"
