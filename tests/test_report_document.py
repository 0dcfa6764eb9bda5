"""The derivation document: what it says, and that nothing else can be made to pass for one."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import pytest

from report_examples import bakery, chain, generation, neighbor
from textsplice import schemas
from textsplice.config import SearchConfig
from textsplice.corpus.table import Table
from textsplice.errors import InputError
from textsplice.oracle.splice import Splice
from textsplice.report.document import document, oracle_document, read_document
from textsplice.search.pipeline import NOT_PART_OF_HOW

TEXT = "Heron Mill is a friendly but quiet bakery near the old canal lock, and it is known for its rye bread."

SEARCH = {key: value for key, value in asdict(SearchConfig(beam=3)).items() if key not in NOT_PART_OF_HOW}


def as_json(value: dict[str, object]) -> Any:
    return json.loads(json.dumps(value))


def test_a_document_says_what_each_step_put_in_and_took_out() -> None:
    value: Any = document(bakery()).to_dict()
    assert value["text"] == TEXT
    fourth = value["steps"][3]
    assert fourth["inserted"] == ["the", "old", "canal", "lock"]
    assert fourth["replaced"] == ["the", "\x1a"]
    assert fourth["canvas"][:9] == ["\x02", "Heron", "Mill", "is", "a", "quiet", "bakery", "near", "the"]


def test_provenance_by_character_points_at_the_word_itself() -> None:
    made = document(bakery()).generation
    words = [made.text[place.start : place.stop] for place in made.provenance]
    assert words[:4] == ["Heron", "Mill", "is", "a"]
    assert words[-3:] == ["rye", "bread", "."]


def test_reading_a_document_back_gives_the_same_document() -> None:
    value = document(chain(16, 5)).to_dict()
    assert read_document(as_json(value)).to_dict() == value


def test_a_generation_and_its_document_are_the_same_derivation() -> None:
    assert read_document(as_json(bakery().to_dict())) == document(bakery())


def test_an_oracles_derivation_is_a_document_like_any_other() -> None:
    offered = neighbor("walk-1", "Larch House is quiet.", ("Larch", "House"))
    made = oracle_document(
        id="train-9",
        table=Table.of({"name": "Heron Mill"}),
        neighbors=[offered],
        splices=[Splice(0, 0, 1, 0, 7), Splice(1, 3, 0, 1, 3)],
    )
    assert made.generation.text == "Heron Mill is quiet."
    assert made.generation.policy == "oracle"


def test_a_text_that_abstained_is_shown_with_its_reason() -> None:
    value: Any = as_json(bakery().to_dict())
    value.update(status="abstained", reason="no text obeys forbid-words", text="", tokens=[])
    value.update(splices=[], provenance=[], score=None)
    value["sources"]["words"] = {}
    value["alternatives"] = []
    made = read_document(value)
    assert made.steps == ()
    assert made.generation.reason == "no text obeys forbid-words"


def test_another_version_is_refused_by_name() -> None:
    value = {**document(bakery()).to_dict(), "format": "textsplice.derivation/3"}
    with pytest.raises(InputError) as error:
        read_document(value, "old.json")
    assert str(error.value) == (
        "old.json: its format is 'textsplice.derivation/3'; this version reads "
        "'textsplice.generation/2', 'textsplice.generation/1', 'textsplice.derivation/2' and "
        "'textsplice.derivation/1'. "
        "Generate it again, or use the version of textsplice that wrote it."
    )


def test_something_else_altogether_is_refused() -> None:
    with pytest.raises(InputError, match="its format is None"):
        read_document({"text": "Heron Mill is a bakery."})


def change_word(value: Any) -> None:
    value["tokens"][3] = "the"


def change_text(value: Any) -> None:
    value["text"] = value["text"].replace("quiet", "lively")


def change_neighbor(value: Any) -> None:
    value["sources"]["neighbors"][0]["tokens"][5] = "lively"


def change_neighbors_text(value: Any) -> None:
    value["sources"]["neighbors"][0]["text"] = "Larch House is a lively tavern."


def change_table(value: Any) -> None:
    value["table"]["name"] = "Heron Hall"


def change_provenance(value: Any) -> None:
    value["provenance"][0]["position"] += 1


def change_splice(value: Any) -> None:
    value["splices"][1][4] = 400


def drop_splice(value: Any) -> None:
    del value["splices"][2]


CHANGES: list[tuple[Callable[[Any], None], str]] = [
    (change_word, "token 3 is 'the', its splices make 'a'"),
    (change_text, "its text is not what its splices make"),
    (change_neighbor, "neighbor 'walk-17' has 'lively' where its text has 'quiet'"),
    (change_neighbors_text, "neighbor 'walk-17' has 21 tokens, its text 9"),
    (change_table, "source 0 is not its table"),
    (change_provenance, "its provenance is not what its splices make"),
    (change_splice, "span 1:400 does not fit"),
    (drop_splice, "a masked word was not replaced"),
]


@pytest.mark.parametrize(("change", "told"), CHANGES, ids=[change.__name__ for change, _ in CHANGES])
def test_a_generation_that_was_changed_is_refused(change: Callable[[Any], None], told: str) -> None:
    value = as_json(bakery().to_dict())
    change(value)
    with pytest.raises(InputError) as error:
        read_document(value, "row 1")
    assert str(error.value).startswith("row 1: this derivation was changed after it was made: ")
    assert told in str(error.value)


@pytest.mark.parametrize("key", ["text", "steps", "sources", "score", "rules", "run", "digest"])
def test_a_document_with_any_part_changed_is_refused(key: str) -> None:
    value = as_json(document(bakery()).to_dict())
    value[key] = value[key] * 2 if not isinstance(value[key], dict) else {}
    with pytest.raises(InputError, match="the digest is not that of its contents"):
        read_document(value)


def test_the_published_schema_fits_what_is_written() -> None:
    schema = schemas.load("derivation")
    value = as_json(document(bakery()).to_dict())
    assert violations(schema, value, schema) == []
    broken = copy.deepcopy(value)
    broken["steps"][0]["splice"] = [0, 0, 1]
    del broken["digest"]
    assert violations(schema, broken, schema) == [".digest is missing", ".steps[0].splice is too short"]


def test_a_document_says_how_the_text_was_searched_for() -> None:
    schema = schemas.load("derivation")
    made = replace(bakery(), search=as_json(SEARCH), weights="0123456789ab")
    value = as_json(document(made).to_dict())
    assert (value["search"]["beam"], value["weights"]) == (3, "0123456789ab")
    assert violations(schema, value, schema) == []
    assert read_document(value).generation == made


def test_a_table_value_that_appears_twice_is_two_cells() -> None:
    made = document(
        generation({"a": ["oak", "elm"], "b": "oak"}, [neighbor("n", "oak")], [Splice(0, 0, 1, 0, 3)])
    )
    assert [(c.field, c.value, c.start, c.stop) for c in made.cells] == [
        ("a", "oak", 1, 2),
        ("a", "elm", 2, 3),
        ("b", "oak", 4, 5),
    ]


KINDS: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}


def violations(schema: Any, value: Any, root: Any, path: str = "") -> list[str]:
    """What of the JSON Schema vocabulary that our schema uses does not hold of a value."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    if "const" in schema and value != schema["const"]:
        return [f"{path} is not {schema['const']}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{path} is none of {schema['enum']}"]
    kinds = schema.get("type", list(KINDS))
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if not any(isinstance(value, KINDS[kind]) for kind in kinds):
        return [f"{path} is not {kinds}"]
    found: list[str] = []
    if isinstance(value, dict):
        found += [f"{path}.{key} is missing" for key in schema.get("required", ()) if key not in value]
        for key, item in value.items():
            inner = schema.get("properties", {}).get(key, schema.get("additionalProperties", {}))
            found += [f"{path}.{key} is unknown"] if inner is False else []
            found += violations(inner, item, root, f"{path}.{key}") if inner else []
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            found.append(f"{path} is too short")
        for n, item in enumerate(value):
            found += violations(schema.get("items", {}), item, root, f"{path}[{n}]")
    return found
