"""Finding a phrase in a text however it is spelled.

Text and phrase are folded before they are compared: compatible forms (full width, bold), case, hyphens and
apostrophes become one, strokes through letters go. Invisible characters stay as gaps, which a phrase may have
between any two letters. With `lookalikes`, letters of other alphabets and accents are folded too.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import regex

from textsplice.search.rules.lookalikes import LATIN
from textsplice.text.seams import SPACELESS
from textsplice.text.tokens import normalize, tokenize

_GLUED = "\x00"  # an invisible character between two letters
_LOOSE = "\x01"  # one that stands beside a space, or separates words
_GAP = f"[{_GLUED}{_LOOSE}]"
_BAR = "\N{LATIN LETTER DENTAL CLICK}"  # what could be an i or an l
_INVISIBLE = regex.compile(
    r"(\s?)([\u0640\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\U00013430-\U0001343f]+)(\s?)"
)
_STROKES = regex.compile(
    r"[\p{Me}\u0305\u0332\u0333\u033f\u0334-\u0338\u20d2\u20d3\u20d8-\u20da\u20e5\u20e6\u20ea\u20eb]"
)
_ACCENT = regex.compile(r"(?<=[\p{Latin}\p{Greek}\p{Cyrillic}])\p{Mn}+")
_RAISED = regex.compile(r"[™℠²³¹⁰-⁹₀-₉]")  # not part of the word that they follow
# Accents by themselves, whose compatible form is a space with an accent.
_SPACED_ACCENT = regex.compile(
    r"[\u00a8\u00af\u00b8\u02d8-\u02dd\u037a\u0384\u0385\u1fbd\u1fbf-\u1fc1\u1fcd-\u1fcf\u1fdd-\u1fdf"
    r"\u1fed\u1fee\u1ffd\u1ffe\u2017\u203e\u309b\u309c\ufc5e-\ufc63\ufe49-\ufe4c\ufe70\ufe72\ufe74\ufe76\ufe78\ufe7a\ufe7c\ufe7e\uffe3]"
)
# Letters in a circle or a box, each of which is a token.
_BOXED = r"[Ⓐ-ⓩ⒜-⒵\U0001f110-\U0001f169\U0001f170-\U0001f189]"
_BOXED_SPACE = regex.compile(rf"(?<={_BOXED})\s(?={_BOXED})")
_ZEROS = regex.compile(r"(?<=\p{L})0+|0+(?=\p{L})")
_BARS = regex.compile(r"(?<=\p{L})[1|]+|[1|]+(?=\p{L})|I")
_DASH = regex.compile(r"[\p{Pd}\u2212\u2043\u02d7\u2796\u207b\u208b]")
_APOSTROPHES = str.maketrans(dict.fromkeys("‘’‛ʼʹʻ′´`＇՚", "'"))
_NO_SPACES = rf"{SPACELESS}ー"
_LETTER = r"[\p{L}\p{M}\p{N}]"
# Scripts without spaces do not show where a word begins.
_TOUCHES = rf"[[\p{{L}}\p{{M}}\p{{N}}]--[{_NO_SPACES}]]"
_SPACELESS = regex.compile(rf"[{_NO_SPACES}]", regex.V1)
_WORDS = regex.compile(rf"{_LETTER}+|\S")


def fold(text: str) -> str:
    """A text whose letters, apostrophes and hyphens can be compared."""
    if text.isascii():
        return text.lower().replace("`", "'")
    return _gaps(_compatible(_plain(text).casefold()).replace("i\u0307", "i").replace("ı", "i"))


def fold_lookalikes(text: str) -> str:
    """The same for a text in which letters may stand for others that look like them."""
    if not text.isascii():
        text = unicodedata.normalize("NFD", _plain(_BOXED_SPACE.sub("", text).translate(LATIN)))
        text = unicodedata.normalize("NFC", _ACCENT.sub("", text)).translate(LATIN)
    text = _ZEROS.sub(lambda found: "o" * len(found[0]), text)
    text = _BARS.sub(lambda found: _BAR * len(found[0]), text)
    return fold(fold(text).translate(LATIN))


@dataclass(frozen=True)
class Phrase:
    """A word or phrase to find; `None` patterns if look-alikes are not wanted."""

    plain: regex.Pattern[str]
    gapped: regex.Pattern[str]
    alike: regex.Pattern[str] | None
    alike_gapped: regex.Pattern[str] | None

    @classmethod
    def of(cls, phrase: str, *, lookalikes: bool) -> Phrase | None:
        """What finds a phrase in folded tokens, joined by spaces; None if nothing of it is visible."""
        # As it is written, and as the tokenizer cuts it: a symbol may become a letter when it is folded.
        written = (normalize(phrase), " ".join(tokenize(phrase)))
        spelled = list(filter(None, (_atoms(fold(text)) for text in written)))
        if not spelled:
            return None
        alike = [_atoms(fold_lookalikes(text.casefold())) for text in written] if lookalikes else []
        alike = list(filter(None, alike))
        return cls(
            _pattern(spelled, gaps=False),
            _pattern(spelled, gaps=True),
            _pattern(alike, gaps=False) if alike else None,
            _pattern(alike, gaps=True) if alike else None,
        )


def find(phrases: Sequence[Phrase], tokens: Sequence[str]) -> int | None:
    """Which of the phrases appears in a text first in their order; None if none does."""
    joined = " ".join(tokens)
    text = fold(joined)
    gaps = _GLUED in text or _LOOSE in text
    alike = fold_lookalikes(joined) if any(phrase.alike for phrase in phrases) else ""
    for number, phrase in enumerate(phrases):
        if (phrase.gapped if gaps else phrase.plain).search(text):
            return number
        other = phrase.alike_gapped if gaps else phrase.alike
        if other is not None and other.search(alike):
            return number
    return None


def _plain(text: str) -> str:
    """Without strokes, with compatible forms and plain apostrophes."""
    text = _RAISED.sub(r" \g<0> ", _STROKES.sub("", text.translate(_APOSTROPHES)))
    return unicodedata.normalize("NFKC", _BOXED_SPACE.sub("", _SPACED_ACCENT.sub("^", text)))


def _compatible(text: str) -> str:
    return _DASH.sub("-", unicodedata.normalize("NFKC", text))


def _gaps(text: str) -> str:
    """Each run of invisible characters as one gap."""
    return _INVISIBLE.sub(
        lambda found: _LOOSE if found[1] or found[3] or "\u200b" in found[2] else _GLUED, text
    )


def _atoms(folded: str) -> list[str]:
    return _WORDS.findall(regex.sub(_GAP, "", folded))


def _pattern(spelled: Sequence[list[str]], *, gaps: bool) -> regex.Pattern[str]:
    different = dict.fromkeys(_matching(atoms, gaps=gaps) for atoms in spelled)
    return regex.compile("|".join(different), regex.V1)


def _matching(atoms: Sequence[str], *, gaps: bool) -> str:
    gap = f"{_GAP}*" if gaps else ""
    found = _spelled(atoms[0], gap)
    for before, atom in pairwise(atoms):
        words = _is_word(before) and _is_word(atom)
        space = (rf"[\s{_GLUED}{_LOOSE}]" if gaps else r"\s") + ("+" if words else "*")
        found += space + _spelled(atom, gap)
    glued = f"{_GLUED}*" if gaps else ""
    left = right = ""
    if _bordered(atoms[0][0]):
        left = rf"(?<!{_TOUCHES}{glued})(?<!\p{{N}}[.,:](?=\p{{N}}))"
    if _bordered(atoms[-1][-1]):
        right = rf"(?!{glued}{_TOUCHES})(?!(?<=\p{{N}})[.,:]\p{{N}})"
    return left + found + right


def _spelled(atom: str, gap: str) -> str:
    """What matches an atom, with gaps between its letters, and spaces where a tokenizer may split it."""
    if atom == "-" and gap:
        return rf"(?:-|{_GAP})"  # a soft hyphen may show as one
    found = _letter(atom[0])
    for before, letter in pairwise(atom):
        spaceless = _SPACELESS.match(before) or _SPACELESS.match(letter) or _is_unit(before, letter)
        found += (rf"(?:\s|{_GAP})*" if gap else r"\s*") if spaceless else gap
        found += _letter(letter)
    return found


def _letter(letter: str) -> str:
    if letter in ("i", "l", "1", _BAR):
        return f"[{letter}{_BAR}]"
    return regex.escape(letter)


def _is_unit(before: str, letter: str) -> bool:
    """Whether a number ends here: `5km` is found in `5 km`."""
    return before.isnumeric() != letter.isnumeric()


def _is_word(atom: str) -> bool:
    return regex.match(_LETTER, atom) is not None


def _bordered(letter: str) -> bool:
    """Whether a letter at the edge of a phrase must not be touched by another."""
    return _is_word(letter) and _SPACELESS.match(letter) is None
