"""The rating form: one HTML file that needs no server and keeps what was entered until it is downloaded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from textsplice.evaluate.ratings.items import SheetItem

QUESTIONS = {
    "naturalness": "Could a person have written this text?",
    "faithfulness": "Does the text say only what the table says?",
    "informativeness": "Does the text say all that the table says?",
}


def form(rater: str, sheet: Sequence[SheetItem], criteria: Sequence[str]) -> str:
    """The page of one rater."""
    template = Path(__file__).with_name("form.html").read_text(encoding="utf-8")
    items = "\n".join(_item(number, item, criteria) for number, item in enumerate(sheet, start=1))
    settings = json.dumps({"rater": rater, "criteria": list(criteria), "key": sheet[0].item})
    return (
        template.replace("{{rater}}", escape(rater))
        .replace("{{questions}}", "\n".join(_question(criterion) for criterion in criteria))
        # No text may end the script element.
        .replace("{{settings}}", settings.replace("<", "\\u003c"))
        .replace("{{items}}", items)
    )


def _question(criterion: str) -> str:
    return f"<li><b>{escape(criterion)}</b>: {escape(QUESTIONS.get(criterion, ''))}</li>"


def _item(number: int, item: SheetItem, criteria: Sequence[str]) -> str:
    rows = "".join(
        f"<tr><th scope=row>{escape(name)}</th>"
        f"<td>{escape(value if isinstance(value, str) else ', '.join(value))}</td></tr>"
        for name, value in item.table.items()
    )
    scales = "".join(_scale(item.item, criterion) for criterion in criteria)
    return (
        f'<section data-item="{escape(item.item)}"><h2>Text {number}</h2>'
        f"<table>{rows}</table><blockquote>{escape(item.text) or '(no text)'}</blockquote>{scales}</section>"
    )


def _scale(item: str, criterion: str) -> str:
    name = f"{item}/{criterion}"
    choices = "".join(
        f'<label><input type=radio name="{escape(name)}" value={value}>{value}</label>'
        for value in range(1, 6)
    )
    return f"<fieldset><legend>{escape(criterion)}</legend>{choices}</fieldset>"
