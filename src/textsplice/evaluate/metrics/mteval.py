"""Words as mteval-v13a sees them, the program that the E2E challenge's script runs for BLEU and NIST.

The script lowercases ASCII letters only: `CAFÉ` becomes `cafÉ`, which is not `café`.
"""

from __future__ import annotations

from functools import cache
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

ASCII_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)


def ascii_lower(text: str) -> str:
    """Lowercases ASCII letters; É stays É."""
    return text.translate(ASCII_LOWER)


def words_13a(text: str) -> list[str]:
    """The words of a text, lowercased."""
    return _tokenizer()(ascii_lower(text)).split()


@cache
def _tokenizer() -> Tokenizer13a:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    return Tokenizer13a()
