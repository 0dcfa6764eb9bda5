"""W3C PROV-JSON, read back by the field's own library."""

from __future__ import annotations

import json
from typing import Any, cast

from prov.model import ProvDerivation, ProvDocument, ProvEntity

from report_examples import bakery
from textsplice.extensions import VIEWS
from textsplice.report.document import document
from textsplice.report.prov import prov


def read(text: str) -> Any:
    return ProvDocument.deserialize(content=text, format="json")


def values(found: Any) -> dict[str, Any]:
    return {
        str(each.identifier): next(iter(each.value)) if each.value else None
        for each in found.get_records(ProvEntity)
    }


def test_the_prov_library_reads_it_and_writes_it_again_the_same() -> None:
    found = read(prov(document(bakery())))
    assert read(cast("str", found.serialize(format="json"))) == found


def test_every_canvas_is_an_entity_and_every_splice_an_activity() -> None:
    made = document(bakery())
    found = json.loads(prov(made))
    steps = len(made.steps)
    canvases = [name for name in found["entity"] if name.startswith("doc:canvas-")]
    assert len(canvases) == len(found["activity"]) == steps
    assert found["entity"]["doc:text"]["prov:value"] == made.generation.text
    assert found["entity"][canvases[-1]]["prov:value"] == made.generation.text


def test_what_a_text_was_derived_from_can_be_followed_to_its_sources() -> None:
    made = document(bakery())
    found = read(prov(made))
    befores: dict[str, set[str]] = {}
    for derivation in found.get_records(ProvDerivation):
        after, before = (str(value) for _, value in derivation.formal_attributes[:2])
        befores.setdefault(after, set()).add(before)
    reached: set[str] = set()
    todo = ["doc:text"]
    while todo:
        for before in befores.get(todo.pop(), ()):
            if before not in reached:
                reached.add(before)
                todo.append(before)
    assert {name for name in reached if "source" in name} == {f"doc:source-{n}" for n in made.used}


def test_text_that_looks_like_markup_or_commands_is_plain_json() -> None:
    text = prov(document(bakery()))
    assert text.isascii()
    assert VIEWS["prov"] is prov
