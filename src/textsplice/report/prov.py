"""The view for other programs: W3C PROV-JSON. Canvases are entities, splices activities."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

from textsplice.oracle.numbering import TABLE
from textsplice.oracle.splice import Origin
from textsplice.report.document import Document
from textsplice.report.frames import MASK_SIGN
from textsplice.search.generation import inner
from textsplice.text.tokens import MASK

# Names of this document and of our own terms; neither is an address.
_DOCUMENT = "doc"
_TERMS = "textsplice"

Statements = dict[str, dict[str, object]]


def prov(document: Document) -> str:
    """A derivation as W3C PROV-JSON: what each canvas was derived from, and by which splice."""
    text = json.dumps(_statements(document), ensure_ascii=True, indent=2)
    return text + "\n"


def _statements(document: Document) -> dict[str, Statements | dict[str, str]]:
    generation = document.generation
    content = json.dumps(generation.to_dict(), sort_keys=True).encode("utf-8")
    entities: Statements = {}
    activities: Statements = {}
    derived: Statements = {}
    generated: Statements = {}
    associated: Statements = {}
    used: Statements = {}
    for source in sorted(document.used):
        entities[_name("source", source)] = _source(document, source)
    for number, (step, text) in enumerate(zip(document.steps, _texts(document), strict=True), start=1):
        canvas, splice = _name("canvas", number), _name("splice", number)
        entities[canvas] = {"prov:type": _term("Canvas"), "prov:value": text}
        activities[splice] = {
            "prov:type": _term("Splice"),
            **{_own(key): value for key, value in step.splice._asdict().items()},
        }
        generated[_name("generated", number)] = {"prov:entity": canvas, "prov:activity": splice}
        associated[_name("associated", number)] = {
            "prov:activity": splice,
            "prov:agent": f"{_DOCUMENT}:policy",
        }
        befores = [_name("source", step.splice.neighbor)]
        befores += [_name("canvas", number - 1)] if number > 1 else []
        for place, before in enumerate(befores, start=1):
            used[_name("used", number, place)] = {"prov:activity": splice, "prov:entity": before}
            derived[_name("derived", number, place)] = {
                "prov:generatedEntity": canvas,
                "prov:usedEntity": before,
                "prov:activity": splice,
            }
    if document.steps:
        last = _name("canvas", len(document.steps))
        entities[f"{_DOCUMENT}:text"] = {
            "prov:type": _term("Text"),
            "prov:value": generation.text,
            _own("id"): generation.id,
        }
        derived[f"{_DOCUMENT}:derived-text"] = {
            "prov:generatedEntity": f"{_DOCUMENT}:text",
            "prov:usedEntity": last,
        }
    statements: dict[str, Statements] = {
        "entity": entities,
        "activity": activities,
        "agent": {f"{_DOCUMENT}:policy": _agent(document)},
        "wasGeneratedBy": generated,
        "used": used,
        "wasDerivedFrom": derived,
        "wasAssociatedWith": associated,
    }
    prefixes = {
        _DOCUMENT: f"urn:textsplice:document:{hashlib.sha256(content).hexdigest()}#",
        _TERMS: "urn:textsplice:terms#",
    }
    return {"prefix": prefixes, **{key: value for key, value in statements.items() if value}}


def _source(document: Document, source: int) -> dict[str, object]:
    kind = document.kind(source)
    described: dict[str, object] = {"prov:type": _term(kind.capitalize())}
    if source == TABLE:
        return {
            **described,
            "prov:value": json.dumps(document.generation.table.to_record(), ensure_ascii=False),
        }
    if kind == "neighbor":
        offered = document.sources.neighbors[document.sources.numbering.rank(source)]
        return {**described, _own("id"): offered.id, "prov:value": offered.text}
    return {**described, "prov:value": document.sources[source][0]}


def _agent(document: Document) -> dict[str, object]:
    generation = document.generation
    return {
        "prov:type": {"$": "prov:SoftwareAgent", "type": "xsd:QName"},
        _own("policy"): generation.policy,
        _own("run"): generation.run,
        **({_own("weights"): generation.weights} if generation.weights else {}),
    }


def _texts(document: Document) -> Iterator[str]:
    """Each canvas as it reads, masks shown as such."""
    for step in document.steps:
        origins: list[Origin] = list(inner(step.origins, document.sources))
        yield document.writing.write(origins).text.replace(MASK, MASK_SIGN)


def _name(kind: str, *numbers: int) -> str:
    return f"{_DOCUMENT}:{'-'.join([kind, *map(str, numbers)])}"


def _own(name: str) -> str:
    return f"{_TERMS}:{name}"


def _term(name: str) -> dict[str, str]:
    return {"$": f"{_TERMS}:{name}", "type": "xsd:QName"}
