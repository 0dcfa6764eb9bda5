"""Escaping for each place where text enters a page or a figure."""

from __future__ import annotations

import html
import json
import re

# Not characters in XML 1.0, and in HTML either dropped or replaced by the parser; and those that turn the
# direction of what follows them, also beyond their own place.
_NO_CHARACTER = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff\ud800-\udfff]"
)
_IN_SCRIPT = re.compile("[<>&\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def markup(text: str) -> str:
    """Text between tags or in a quoted attribute, in HTML and SVG."""
    return html.escape(_NO_CHARACTER.sub("\ufffd", text)).replace("\r", "&#13;")


def script_json(value: object) -> str:
    """JSON inside a script element: no character that could end it or that UTF-8 lacks."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _IN_SCRIPT.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
