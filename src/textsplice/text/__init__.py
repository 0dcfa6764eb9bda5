"""Tokens, masks, vocabulary, linearized tables."""

from textsplice.text.linearize import Linearized, Segment, field_token, linearize
from textsplice.text.masking import mask, mask_runs, masked_fields
from textsplice.text.tokens import (
    BEGIN,
    END,
    MASK,
    Detokenized,
    Tokenizer,
    Tokens,
    detokenize,
    detokenize_with_spans,
    normalize,
    tokenize,
)
from textsplice.text.vocabulary import (
    BEGIN_ID,
    END_ID,
    MASK_ID,
    PAD_ID,
    UNKNOWN_ID,
    Vocabulary,
)

__all__ = [
    "BEGIN",
    "BEGIN_ID",
    "END",
    "END_ID",
    "MASK",
    "MASK_ID",
    "PAD_ID",
    "UNKNOWN_ID",
    "Detokenized",
    "Linearized",
    "Segment",
    "Tokenizer",
    "Tokens",
    "Vocabulary",
    "detokenize",
    "detokenize_with_spans",
    "field_token",
    "linearize",
    "mask",
    "mask_runs",
    "masked_fields",
    "normalize",
    "tokenize",
]
