"""Text that is safe to look at: control characters are shown, never sent to a terminal.

Each is replaced by one character, so that nothing moves: ESC by its picture `␛`, a newline by `␊`; those
without a picture, characters that turn the direction of what follows, and halves of surrogate pairs by `�`.
"""

from __future__ import annotations

UNKNOWN = "\ufffd"

_SIGNS = {
    **{code: chr(0x2400 + code) for code in range(0x20)},
    0x7F: "\u2421",
    **dict.fromkeys(
        (
            *range(0x80, 0xA0),  # among them CSI, which begins an escape sequence by itself
            *(0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)),  # direction
            *(0x2028, 0x2029),  # line and paragraph separators
            *range(0xD800, 0xE000),
        ),
        UNKNOWN,
    ),
}
_ESCAPES = {code: f"\\u{code:04x}" for code in _SIGNS if code >= 0x7F}
_SIGNS_OF_LINES = {code: sign for code, sign in _SIGNS.items() if chr(code) not in "\n\t"}


def visible(text: str) -> str:
    """The text as one line without control characters."""
    return text if text.isprintable() else text.translate(_SIGNS)


def escaped_json(text: str) -> str:
    """The same JSON with escapes for these characters, of which JSON itself escapes only the first 32."""
    return text if text.isprintable() else text.translate(_ESCAPES)


def visible_lines(text: str) -> str:
    """The same for text that was laid out in lines: newlines and tabs stay."""
    return text if text.isprintable() else text.translate(_SIGNS_OF_LINES)
