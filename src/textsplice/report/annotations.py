"""The view for programs that mark up text: a page of W3C Web Annotations, one per span."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import cast
from urllib.parse import quote

from textsplice.report.document import Document

CONTEXT = "http://www.w3.org/ns/anno.jsonld"
NO_SOURCE = "stands in no source"


def annotation_page(document: Document) -> str:
    """Where each span of a text comes from, as JSON-LD; positions count Unicode code points."""
    generation = document.generation
    content = json.dumps(generation.to_dict(), sort_keys=True).encode("utf-8")
    name = f"urn:textsplice:document:{hashlib.sha256(content).hexdigest()}"
    items = [
        {
            "id": f"{name}#span-{number}",
            "type": "Annotation",
            "motivation": "linking" if span["source"] else "assessing",
            "target": {"source": f"{name}#text", "selector": span["selector"]},
            "body": _body(name, cast("Mapping[str, object] | None", span["source"])),
        }
        for number, span in enumerate(generation.spans(), start=1)
    ]
    page = {"@context": CONTEXT, "id": f"{name}#annotations", "type": "AnnotationPage", "items": items}
    return json.dumps(page, ensure_ascii=True, indent=2) + "\n"


def _body(name: str, source: Mapping[str, object] | None) -> dict[str, object]:
    if source is None:
        return {"type": "TextualBody", "value": NO_SOURCE, "format": "text/plain", "language": "en"}
    if "id" in source:
        where = f"urn:textsplice:source:{quote(str(source['id']), safe='')}"
        selector = {"selector": source["selector"]} if "selector" in source else {}
        return {"type": "SpecificResource", "source": where, **selector}
    kind, key = ("field", source["field"]) if "field" in source else ("word", source["word"])
    return {"type": "SpecificResource", "source": f"{name}#{kind}-{quote(str(key), safe='')}"}
