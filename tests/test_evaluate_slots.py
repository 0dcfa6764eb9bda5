"""The slot checker finds what a text says, leaves out, contradicts, repeats and makes up."""

from __future__ import annotations

import re
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from textsplice.cli.lexicon import app
from textsplice.corpus import read_corpus
from textsplice.corpus.table import Example, Table
from textsplice.errors import ConfigError, CorpusError
from textsplice.slots.check import check_slots, slot_errors, summarize_slots
from textsplice.slots.induce import induce
from textsplice.slots.lexicon import Lexicon
from textsplice.slots.wordings import parse_phrase, words_of

E2E = Lexicon.load("e2e")
VAULTS = Table.of(
    {
        "name": "The Vaults",
        "eatType": "pub",
        "food": "Indian",
        "priceRange": "high",
        "customer rating": "low",
        "familyFriendly": "no",
        "near": "Raja Indian Cuisine",
    }
)


def said(text: str, **fields: str) -> str:
    table = Table.of(
        {"name": "The Vaults", **{name.replace("_", " "): value for name, value in fields.items()}}
    )
    return str(check_slots(f"The Vaults {text}", table, E2E))


def test_a_faithful_text_has_no_error() -> None:
    text = (
        "The Vaults is an expensive pub near Raja Indian Cuisine. It serves Indian food, has a low customer"
        " rating and is not family-friendly."
    )
    report = check_slots(text, VAULTS, E2E)
    assert str(report) == "ok"
    assert report.checked == 7


def test_each_error_names_its_field() -> None:
    text = "The Vaults is a cheap coffee shop. Kids are welcome at this family friendly place by the river."
    assert str(check_slots(text, VAULTS, E2E)) == (
        "eatType (pub) is said to be coffee shop; food (Indian) is missing;"
        " priceRange (high) is said to be cheap; customer rating (low) is missing;"
        " familyFriendly (no) is said to be yes; near (Raja Indian Cuisine) is missing;"
        " area is said to be riverside, which the table does not say"
    )


@pytest.mark.parametrize(
    ("text", "fields", "expected"),
    [
        ("is not family friendly", {"familyFriendly": "no"}, "ok"),
        ("is for a non family-friendly evening", {"familyFriendly": "no"}, "ok"),
        ("is not cheap but family friendly", {"familyFriendly": "yes", "priceRange": "high"}, "ok"),
        ("has high prices and a low rating", {"priceRange": "high", "customer_rating": "low"}, "ok"),
        ("has an average price range", {"priceRange": "moderate"}, "ok"),
        ("has an average customer rating of 1 out of 5", {"customer_rating": "1 out of 5"}, "ok"),
        ("is near Raja Indian Cuisine", {"near": "Raja Indian Cuisine"}, "ok"),
        ("serves Indian and Italian food", {"food": "Indian"}, "food (Indian) is said to be Italian"),
        ("is a restaurant", {}, "ok"),
        ("is a pub", {}, "eatType is said to be pub, which the table does not say"),
        ("has Indian food. The food is Indian.", {"food": "Indian"}, "food (Indian) is said twice"),
        ("has a high rating of 5 out of 5", {"customer_rating": "5 out of 5"}, "ok"),
    ],
)
def test_how_people_write(text: str, fields: dict[str, str], expected: str) -> None:
    assert said(text, **fields) == expected


def test_a_no_of_one_field_does_not_hide_the_no_of_another(tmp_path: Path) -> None:
    path = tmp_path / "games.toml"
    path.write_text(
        """
[steam]
kind = "yes/no"
[steam.wordings]
yes = ["is on Steam"]
no = ["is not on Steam"]
[linux]
kind = "yes/no"
[linux.wordings]
yes = ["works on Linux"]
no = ["no Linux version"]
""",
        encoding="utf-8",
    )
    lexicon = Lexicon.load(path)

    def errors(text: str, **record: str) -> list[tuple[str, str]]:
        report = check_slots(text, Table.of(record), lexicon)
        return [(slot.field, slot.status) for slot in report.errors]

    assert errors("It is not on Steam. There is no Linux version.", steam="no") == [("linux", "added")]
    assert errors("It is on Steam and works on Linux.", steam="no", linux="yes") == [("steam", "wrong")]
    assert not errors("It is not on Steam. There is no Linux version.", steam="no", linux="no")


def test_a_list_has_a_slot_for_each_value() -> None:
    table = Table.of({"name": "Kingfisher Round", "sights": ["weir", "tithe barn"]})
    lexicon = Lexicon.load("bundled")
    assert str(check_slots("The Kingfisher Round passes the weir and the dam.", table, lexicon)) == (
        "sights (tithe barn) is said to be dam"
    )
    assert str(check_slots("The Kingfisher Round passes the weir, tithe barn and dam.", table, lexicon)) == (
        "sights () is said to be dam"
    )


@pytest.mark.parametrize(
    ("text", "record", "errors"),
    [
        ("It has a single gear.", {"name": "Tern"}, "gears is said to be 1, which the table does not say"),
        ("It has one gear.", {"gears": "21"}, "gears (21) is said to be 1"),
        ("It has 21 gears, or one gear.", {"gears": "21"}, "gears (21) is said to be 1"),
        ("It has a single gear.", {"gears": "1"}, "ok"),
        ("It is one of the best.", {"name": "Tern"}, "ok"),
    ],
)
def test_one_that_is_said_in_words_is_looked_for_too(text: str, record: dict[str, str], errors: str) -> None:
    lexicon = Lexicon.of_tables([Table.of({"gears": "3"})], {"gears": "number"})
    told = str(check_slots(f"Tern. {text}" if "name" in record else text, Table.of(record), lexicon))
    assert told == errors


def test_a_number_that_two_fields_have_may_be_said_for_each() -> None:
    table = Table.of({"rooms": "2", "floors": "2"})
    lexicon = Lexicon.of_tables([table], {"rooms": "number", "floors": "number"})
    assert str(check_slots("It has 2 rooms on 2 floors.", table, lexicon)) == "ok"
    assert "said twice" in str(
        check_slots("It has 2 rooms in all and is built on 2 floors, which makes it all 2.", table, lexicon)
    )


def test_a_corpus_without_a_lexicon_is_checked_as_written() -> None:
    tables = [Table.of({"team": "Reds", "open": "yes"}), Table.of({"team": "Blues", "open": "no"})]
    lexicon = Lexicon.of_tables(tables)
    assert [slot.status for slot in check_slots("The Blues won.", tables[0], lexicon).slots] == [
        "wrong",
        "unchecked",
    ]
    # A value no table had before is looked for too.
    assert str(check_slots("The Greens won.", Table.of({"team": "Greens"}), lexicon)) == "ok"
    # The word "no" says nothing of a field that the table lacks.
    assert str(check_slots("No, the Reds won.", Table.of({"team": "Reds"}), lexicon)) == "ok"


@given(
    st.dictionaries(
        st.sampled_from(["team", "city", "coach"]),
        st.sampled_from(["Reds", "Old Town", "Ann Lee", "été 7.5 km", "O'Neill-Smith"]),
        min_size=1,
    )
)
def test_a_text_that_lists_all_values_misses_none(record: dict[str, str]) -> None:
    table = Table.of(record)
    report = check_slots(" ; ".join(record.values()), table, Lexicon({}))
    assert not [slot for slot in report.slots if slot.status == "missing"]


def test_accents_case_hyphens_and_curly_apostrophes_do_not_matter() -> None:
    assert words_of("Kid‑friendly CAFÉ, isn’t it?") == ["kid", "friendly", "cafe", ",", "isn't", "it", "?"]


def test_a_phrase_with_options() -> None:
    assert len(parse_phrase("a|b c? ... d")) == 2
    with pytest.raises(ConfigError, match=r"^lexicon: the phrase '... x' must begin and end with a word\.$"):
        parse_phrase("... x")


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("[food]\nverbatm = true", "there is no key 'food.verbatm'. Did you mean 'food.verbatim'?"),
        ("[food]\nverbatim = 1", "food.verbatim must be true or false."),
        ("food = 1", "[food] must be a section."),
        ('[food.wordings]\nx = "y"', "food.wordings.x must be a list of texts."),
        ('[food.wordings]\nx = ["{Y}"]', "there is no set 'Y'. Known: ."),
        ("[food", "not a TOML file: Expected ']' at the end of a table declaration (at end of document)."),
    ],
)
def test_a_bad_lexicon_is_a_sentence(tmp_path: Path, toml: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(toml)
    with pytest.raises(ConfigError) as raised:
        Lexicon.load(path)
    assert raised.value.sentence() == f"{path}: {message}"


def test_a_missing_lexicon_names_the_ones_there_are(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"Name a TOML file, or one of bundled, e2e\.$"):
        Lexicon.load(tmp_path / "none.toml")


def test_a_lexicon_is_proposed_from_data_and_can_be_read_back(tmp_path: Path) -> None:
    lexicon = induce(read_corpus("bundled", "train"))
    assert "dogs are not allowed" in lexicon.fields["dogs"].wordings["no"]
    assert lexicon.fields["parking"].wordings["yes"] == ("parking", "park")
    assert lexicon.fields["region"].verbatim
    assert not lexicon.fields["dogs"].verbatim
    path = tmp_path / "induced.toml"
    path.write_text(lexicon.to_toml(), encoding="utf-8")
    assert Lexicon.load(path) == lexicon


def test_names_do_not_become_wordings() -> None:
    examples = [
        Example(str(n), Table.of({"name": f"Place {n % 45}", "open": ("yes", "no")[n % 2]}), text)
        for n in range(120)
        for text in [f"Place {n % 45} is {'open today' if n % 2 == 0 else 'closed today'}."]
    ]
    wordings = induce(examples).fields["open"].wordings
    assert wordings["yes"] == ("open today",)
    assert wordings["no"][0] == "closed today"


def test_the_bundled_references_are_nearly_clean() -> None:
    lexicon = Lexicon.load("bundled")
    examples = list(read_corpus("bundled", "dev"))
    summary = summarize_slots(check_slots(e.text or "", e.table, lexicon) for e in examples)
    # One writer in twenty leaves a field out; nothing else is ever wrong.
    assert set(summary.by_status) == {"ok", "missing"}
    assert 0.005 < summary.error_rate < 0.025


@pytest.mark.data
def test_e2e_references_are_as_noisy_as_known_and_are_checked_fast(e2e_folder: Path) -> None:
    examples = list(read_corpus(f"e2e:{e2e_folder}", "dev"))
    begun = process_time()
    errors = slot_errors([e.text or "" for e in examples], [e.table for e in examples], E2E)
    assert process_time() - begun < 20 * len(examples) / 42_061
    assert 0.06 < sum(errors) / sum(len(e.table.fields) for e in examples) < 0.09


def command(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "120"})
    if result.exception is not None:
        raise result.exception
    return result.stdout


@pytest.fixture
def one_file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.csv"
    rows = "".join(f"Route {n},Route {n} is open.\n" for n in range(60))
    path.write_text(f"name,said\n{rows}", encoding="utf-8")
    return path


def test_a_corpus_is_checked_with_its_own_values_and_column_split_by_split(one_file: Path) -> None:
    options = ("--lexicon", "values", "--text-column", "said")
    counts = {
        split: int(re.findall(r"of (\d+) texts", command("check", one_file, *options, "--split", split))[0])
        for split in ("train", "dev", "test", "all")
    }
    assert counts["all"] == 60 == counts["train"] + counts["dev"] + counts["test"]
    assert 0 < counts["dev"] < 20
    assert "values as written" in " ".join(command("check", one_file, *options).split())


def test_a_lexicon_is_proposed_from_the_training_rows_of_one_file_only(one_file: Path) -> None:
    held_out = {e.table["name"][0] for e in read_corpus(str(one_file), "dev", text_column="said")}
    proposed = command("induce", one_file, "--text-column", "said")
    assert held_out
    assert "Route" in proposed
    assert not [name for name in held_out if f'"{name}"' in proposed]
    assert all(
        f'"{n}"' in command("induce", one_file, "--text-column", "said", "--split", "all") for n in held_out
    )
