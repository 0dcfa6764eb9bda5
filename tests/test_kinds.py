"""Kinds of fields: found in tables and texts, set in a configuration, kept by all that is made of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from games import NAMES, games
from textsplice.cli import app
from textsplice.config import Config, CorpusConfig, OutputConfig
from textsplice.corpus import read_corpus
from textsplice.corpus.table import Example, Table
from textsplice.errors import ConfigError, VerificationError
from textsplice.neighbors.store import Store
from textsplice.prepare import prepare
from textsplice.prepare.texts import Tokenized, unsaid
from textsplice.search.doubts import Known, find_doubts
from textsplice.search.offers import Offers
from textsplice.slots.check import check_slots, out_of_act, summarize_slots
from textsplice.slots.induce import propose
from textsplice.slots.kinds import Finding, chosen_kinds, decide, find_kinds, kinds_of
from textsplice.slots.lexicon import Lexicon, items_of
from textsplice.slots.numbers import amount_of, places, quantity, stray_numbers, units_twice
from textsplice.slots.wordings import FieldWordings, words_of
from textsplice.splicer import Splicer, verify
from textsplice.text import Vocabulary, tokenize
from textsplice.text.linearize import NOTHING_UNSAID, Unsaid, linearize, unsaid_in


def kinds(examples: list[Example]) -> dict[str, str]:
    return dict(kinds_of(find_kinds(examples)))


def test_every_kind_is_found_among_games() -> None:
    assert kinds(games(300)) == {
        "id": "unsaid",
        "act": "unsaid",
        "name": "said",
        "genre": "worded",
        "available_on_steam": "yes/no",
        "has_linux_release": "yes/no",
        "multiplayer": "yes/no",
        "price": "number",
    }


CONDITIONS = {
    "A": ("as good as new", "freshly redecorated"),
    "B": ("showing some wear", "in decent shape"),
    "C": ("in need of work", "for somebody handy"),
}


def flats(count: int, seed: int = 1, conditions: str = "ABC") -> list[Example]:
    """Flats whose condition is a letter that texts put into words, with codes that they do not."""
    draw = Random(seed)
    examples: list[Example] = []
    for number in range(count):
        street, condition = f"{draw.randrange(1, 90)} {draw.choice(NAMES)} Street", draw.choice(conditions)
        record = {
            "ref": f"LT{draw.randrange(10**5)}",
            "agent": draw.choice(("KL", "MT")),
            "energy": draw.choice("ABCDE"),
            "street": street,
            "rooms": str(draw.randint(2, 6)),
            "condition": condition,
        }
        rooms = f"{record['rooms']} rooms"
        said = [
            draw.choice((f"A flat at {street} with {rooms}.", f"{street}: {rooms}.")),
            draw.choice(("It is {}.", "The place is {}.")).format(draw.choice(CONDITIONS[condition])),
        ]
        examples.append(Example(str(number), Table.of(record), " ".join(said)))
    return examples


def test_a_category_that_only_other_words_say_is_found_and_codes_are_not() -> None:
    examples = flats(300)
    found = {each.field: each for each in find_kinds(examples)}
    assert {name: each.kind for name, each in found.items()} == {
        "ref": "unsaid",
        "agent": "unsaid",
        "energy": "unsaid",
        "street": "said",
        "rooms": "number",
        "condition": "coded",
    }
    assert [name for name, each in found.items() if each.alike] == ["condition"]
    table = Table.of({"street": "1 Night Street", "condition": "C"})
    lexicon = propose(examples).lexicon
    wrong = "A flat at 1 Night Street. It is freshly redecorated."
    assert str(check_slots(wrong, table, lexicon)) == "condition (C) is said to be A"
    assert str(check_slots("A flat at 1 Night Street. It is in need of work.", table, lexicon)) == "ok"
    silent = linearize(table, "words", Unsaid.of_kinds({"condition": "coded"}))
    assert [segment.field for segment in silent.segments] == ["street"]


def test_a_text_of_another_act_is_told_and_not_scored(tmp_path: Path) -> None:
    lexicon = propose(games(600)).lexicon
    table = Table.of({"act": "recommend", "name": "Night Drift"})
    wrong, right = "You told me about Night Drift, correct?", "Have you tried Night Drift?"
    for text, told_of in ((wrong, ["it reads like act verify_attribute, not recommend"]), (right, [])):
        assert list(out_of_act(text, table, lexicon)) == told_of
        assert [slot.field for slot in check_slots(text, table, lexicon).slots] == ["name"]
    path = tmp_path / "lexicon.toml"
    path.write_text(lexicon.to_toml())
    assert Lexicon.load(path).acts.fields["act"].wordings


def test_a_list_says_each_value_once_and_another_wording_is_wrong() -> None:
    table = Table.of({"platforms": ["PC", "Xbox"], "rating": "good"})
    rated = FieldWordings({"poor": ("hated",)}, ("good",), kind="worded")
    lexicon = Lexicon({"platforms": FieldWordings({}, ("PC", "Xbox"), kind="list"), "rating": rated})
    for text, told_of in (
        ("A good one for PC and Xbox.", "ok"),
        ("A good one for PC, Xbox and PC.", "platforms (PC) is said twice"),
        ("I hated it on PC and Xbox.", "rating (good) is said to be poor"),
        ("Fine on PC and Xbox.", "ok"),
    ):
        assert str(check_slots(text, table, lexicon)) == told_of


def test_what_names_the_act_of_a_text_is_no_fact_but_must_agree() -> None:
    for name in ("act", "kind_of_reply"):
        examples = [
            replace(e, table=Table(tuple((name if f == "act" else f, v) for f, v in e.table)))
            for e in games(300)
        ]
        found = {each.field: each for each in find_kinds(examples)}
        assert found[name].kind == "unsaid"
        assert found[name].alike


def test_the_kinds_of_the_bundled_corpus_are_those_of_its_lexicon() -> None:
    found = kinds(list(read_corpus("bundled", "train")))
    assert {field for field, kind in found.items() if kind == "yes/no"} == {"dogs", "parking"}
    assert found["sights"] == "list"
    assert found["inn"] == "said"  # The Fox and Hounds is one inn
    assert "unsaid" not in found.values()


def told(finding: Finding) -> tuple[str, str]:
    return finding.kind, finding.reason


def test_a_number_that_is_said_by_chance_is_not_said() -> None:
    examples = [
        Example(str(n), Table.of({"name": f"Route {n}", "code": str(n % 4 + 1)}), f"Route {n} has 2 inns.")
        for n in range(200)
    ]
    found = {each.field: each for each in find_kinds(examples)}
    assert found["name"].kind == "said"
    assert told(found["code"]) == (
        "unsaid",
        "only 25% are said word for word, and as many by chance (26%)",
    )


def test_a_field_that_few_tables_have_is_taken_as_said() -> None:
    examples = [Example("1", Table.of({"code": "x9"}), "A text."), Example("2", Table.of({"a": "b"}), "b")]
    assert told(find_kinds(examples)[0]) == ("said", "only 1 texts have it: taken as said")


def test_lists_in_one_value_are_lists_unless_texts_say_them_so() -> None:
    rows = [("action, puzzle", "an action and puzzle game"), ("puzzle, shooter", "a shooter with a puzzle")]
    listed = [Example(str(n), Table.of({"tags": rows[n % 2][0]}), rows[n % 2][1]) for n in range(40)]
    town = [
        Example(str(n), Table.of({"town": "Austin, Texas"}), "It is in Austin, Texas.") for n in range(40)
    ]
    assert kinds(listed) == {"tags": "list"}
    assert kinds(town) == {"town": "said"}
    assert items_of(["red, green and blue"], "list") == ["red", "green", "blue"]
    assert items_of(["The Fox and Hounds"], "list") == ["The Fox and Hounds"]


def test_what_is_asked_for_is_counted_and_empty_fields_are_mentioned() -> None:
    tables: list[dict[str, object]] = [{"a": "x", "price": "20"}] * 20
    tables += [{"a": "x", "price": "?"}] * 3 + [{"a": "x", "price": ""}] * 2 + [{"a": "x"}]
    examples = [Example(str(n), Table.of(table), "x for 20") for n, table in enumerate(tables)]
    price = find_kinds(examples)[1]
    assert (price.kind, price.texts, price.asked, price.empty) == ("number", 20, 3, 2)
    assert price.reason.endswith(
        '3 tables ask for it; 2 tables name it without a value: if they ask for it, set "price=asked"'
    )


def test_a_configuration_overrides_what_is_found() -> None:
    examples = games(60)
    found = {each.field: each for each in decide(examples, ("auto", "act=worded"))}
    assert found["act"].kind == "worded"
    assert found["act"].reason.startswith("set in corpus.kinds; found: unsaid, only 0%")
    assert found["id"].kind == "unsaid"
    assert kinds_of(decide(examples, ("act=unsaid",))) == {"act": "unsaid"}


@pytest.mark.parametrize("wrong", ["act", "act=", "=unsaid", "act=spoken"])
def test_a_kind_that_is_none_is_refused_with_those_there_are(wrong: str) -> None:
    with pytest.raises(ConfigError) as caught:
        chosen_kinds([wrong])
    assert str(caught.value) == (
        f'corpus.kinds: {wrong!r} is not of the form FIELD=KIND. Write "auto", or for example'
        ' "id=unsaid". Kinds: said, list, number, date, yes/no, worded, coded, unsaid, asked.'
    )


def test_a_field_that_no_table_has_is_refused() -> None:
    with pytest.raises(ConfigError, match="no table has the field 'da'"):
        decide(games(20), ("da=unsaid",))


# Numbers


@pytest.mark.parametrize(
    ("value", "text", "said"),
    [
        ("1000", "1,000 steps", True),
        ("1,000", "1000 steps", True),
        ("25.0", "25 miles", True),
        ("3.5", "3.5-star", True),
        ("3.5 stars", "a 3.5-star inn", True),
        ("£20", "20 pounds", True),
        ("20 euros", "€20", True),
        ("20 km", "20 kilometres", True),
        ("5", "five inns", True),
        ("£20", "$20", False),
        ("£20", "20 people", False),
        ("3.5", "3.6", False),
        ("1000", "1.000", False),
        ("1000", "10 00", False),
        ("1", "one of the best", False),
        ("20-25", "20", False),
        ("169 m²", "169 square metres", True),
        ("169 m²", "169 sq m", True),
        ("169 m²", "169 m", False),
        ("45 km/h", "45 kilometres per hour", True),
    ],
)
def test_a_number_is_said_in_an_equal_form_only(value: str, text: str, said: bool) -> None:
    wanted = quantity(value)
    assert bool(wanted and places(words_of(text), wanted)) == said


@given(st.integers(0, 10**9), st.integers(0, 3))
def test_thousands_and_zeros_after_the_point_do_not_change_a_number(number: int, zeros: int) -> None:
    tail = "." + "0" * zeros if zeros else ""
    assert amount_of(f"{number:,}{tail}") == amount_of(str(number))


def test_the_checker_takes_equal_numbers_and_no_others() -> None:
    tables = [Table.of({"price": "$1000"}), Table.of({"price": "$1500"})]
    lexicon = Lexicon.of_tables(tables, {"price": "number"})
    assert str(check_slots("It costs 1,000 dollars.", tables[0], lexicon)) == "ok"
    assert str(check_slots("It costs 1,100 dollars.", tables[0], lexicon)) == "price ($1000) is missing"
    assert str(check_slots("It costs $1500.", tables[0], lexicon)) == "price ($1000) is said to be $1500"
    as_written = Lexicon.of_tables(tables)
    assert str(check_slots("It costs 1,000 dollars.", tables[0], as_written)) == "price ($1000) is missing"


@pytest.mark.parametrize(
    ("value", "said", "twice"),
    [
        ("169 m²", "169 m² square metres", True),
        ("£450", "£450 pounds", True),
        ("12 km", "12 km kilometres", True),
        ("30 %", "30 % percent", True),
        ("20 euros", "€20 euros", True),
        ("169 m²", "169 square metres", False),
        ("12 km", "12 km, 3 kilometres of it uphill", False),
        ("2 h", "2 h 30 min", False),
    ],
)
def test_a_unit_that_is_said_twice_is_a_slip(value: str, said: str, twice: bool) -> None:
    table = Table.of({"size": value})
    lexicon = Lexicon.of_tables([table], {"size": "number"})
    report = check_slots(f"It has {said}.", table, lexicon)
    told = f"size ({value}) is said with its unit twice: {said}" if twice else "ok"
    assert str(report) == told
    known = Known(frozenset({"size"}), {}, {"size": "number"})
    assert [doubt.what for doubt in find_doubts(f"It has {said}.", table, None, known)] == [told] * twice


@pytest.mark.parametrize("long", ["1" * 20_000, "1," + "111," * 5_000])
def test_a_number_of_many_digits_is_looked_at_once(long: str) -> None:
    begun = process_time()
    assert not units_twice(f"It has {long} m.")
    assert process_time() - begun < 2  # a minute or more, if it were looked at from each of its digits
    assert [*units_twice("It has 1,111 m metres.")] == [1111]


@pytest.mark.parametrize(
    ("text", "strays"),
    [
        ("29 Grad, nachts 23 Grad", []),
        ("23 Grad, dazu 23 Millimeter Regen", ["23 Millimeter"]),
        ("The T4 of 1,000 for £20 in all, the 4th", []),
        ("7 doors for £25", ["7", "£25"]),
    ],
)
def test_numbers_that_no_value_has_are_found(text: str, strays: list[str]) -> None:
    assert stray_numbers(text, [("", v) for v in ("29 °C", "23 °C", "1000", "£20", "T4")]) == strays


@pytest.mark.parametrize("none", ["0", "0%", "0 %", "0 km", "0/5"])
def test_a_number_that_people_say_in_other_words_need_not_stand_in_a_text(none: str) -> None:
    fields = {"fee": FieldWordings({}, kind="number", partial=frozenset({none}))}
    for value, missing in ((none, 0), ("7%", 2)):  # a slot error, too
        example = Example("x", Table.of({"fee": value}), "There is nothing to pay.")
        item = Tokenized(example, tokenize(example.text or ""), linearize(example.table))
        assert unsaid(item, Lexicon(fields)) == missing


def test_such_a_number_is_doubtful_unless_texts_say_it_anyway() -> None:
    known = Known(frozenset({"size"}), {}, {"size": "number"}, usual=frozenset({"24 hours"}))
    table = Table.of({"size": "30 m²"})
    said = "It has 30 m² and is open 24 hours a day, with 5 lifts."
    assert [doubt.what for doubt in find_doubts(said, table, None, known)] == [
        "it says '5', which the record does not have"
    ]
    assert not find_doubts(said, table, None, replace(known, usual=None))


# What follows from kinds


def test_what_is_unsaid_is_read_but_is_no_segment() -> None:
    table = Table.of({"act": "give_opinion", "name": "Night Drift", "price": "?"})
    plain, silent = linearize(table), linearize(table, "words", Unsaid.of_kinds({"act": "unsaid"}))
    assert silent.tokens == plain.tokens
    assert [segment.field for segment in silent.segments] == ["name"]
    assert unsaid_in(silent, table, "words") == Unsaid(frozenset({"act", "price"}))
    assert unsaid_in(plain, table, "words") == NOTHING_UNSAID


def test_unsaid_fields_are_not_checked_and_unknown_wordings_are_unchecked() -> None:
    table = Table.of({"act": "inform", "genre": "puzzle", "steam": "yes", "price": "?"})
    lexicon = Lexicon.of_tables([table], {"act": "unsaid", "genre": "worded", "steam": "yes/no"})
    report = check_slots("A game to think about.", table, lexicon)
    assert [(slot.field, slot.status) for slot in report.slots] == [
        ("genre", "unchecked"),
        ("steam", "unchecked"),
    ]
    summary = summarize_slots([report])
    assert (summary.rate(), summary.slots) == ("unchecked", 0)
    assert summary.told_unchecked() == "unchecked, since no wording is known: genre (1), steam (1)"


def test_a_text_is_spliced_from_texts_of_the_same_condition_and_act(tmp_path: Path) -> None:
    rows = [{"id": e.id, "table": e.table.to_record(), "text": e.text or ""} for e in flats(240)]
    (tmp_path / "flats.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = Config(
        corpus=CorpusConfig(source=str(tmp_path / "flats.jsonl"), kinds=("auto",)),
        output=OutputConfig(str(tmp_path / "prepared"), str(tmp_path / "run")),
    )
    store = prepare(config, quiet=True).store
    assert store.alike == ("condition",)
    table = Table.of({"street": "7 Iron Street", "rooms": "4", "condition": "C"})
    offers = Offers(store, 10, Vocabulary.load(tmp_path / "prepared" / "words.json"))
    tables = [store.tables[int(store.table_of[row])] for row in offers.find(table, ())]
    assert tables
    assert {values for each in tables for name, values in each if name == "condition"} == {("C",)}
    saved = Store.load(tmp_path / "prepared" / "store")
    assert saved.alike == store.alike
    unknown = Table.of({"street": "7 Iron Street", "condition": "D"})
    assert [d.what for d in Known.of(store).doubts(unknown)] == [
        "no record of the store has 'D' as its condition"
    ]
    assert offers.find(unknown, ())


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("games")
    rows = [{"id": e.id, "table": e.table.to_record(), "text": e.text or ""} for e in games(160)]
    (folder / "games.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def config(world: Path) -> Config:
    return Config(
        corpus=CorpusConfig(source=str(world / "games.jsonl"), kinds=("auto",)),
        output=OutputConfig(prepared=str(world / "prepared")),
    )


def test_a_prepared_folder_and_its_texts_keep_to_the_kinds(config: Config, world: Path) -> None:
    prepared = prepare(config, quiet=True)
    assert prepared.kinds["act"] == "unsaid"
    assert prepared.store.kinds == prepared.kinds
    opinions = [row for row, text in enumerate(prepared.store.texts) if "my opinion" in text]
    words = prepared.vocabulary.decode(prepared.store.tokens[opinions[0]])
    assert "opinion" in words  # give_opinion is not masked
    splicer = Splicer.untrained(prepared)
    tables = [e.table for e in read_corpus(str(world / "games.jsonl"), "dev")][:8]
    made = list(splicer.generate_many(tables, progress=False))
    # What is unchecked may be told by a word all the same: "isn't" where Steam is yes.
    assert all("as texts do where" in (row.reason or "as texts do where") for row in made)
    assert verify(made, splicer) == len(made)
    offered = {segment.field for row in made for segment in row.sources.table.segments}
    assert "name" in offered
    assert offered.isdisjoint({"act", "id"})
    trace = splicer.trace("In my opinion, it is fine.", tables[0])
    assert "act" not in {segment.field for segment in trace.sources.table.segments}
    assert verify(trace, splicer) == 1


def test_a_row_that_offers_what_its_run_does_not_is_refused(config: Config, world: Path) -> None:
    splicer = Splicer.untrained(prepare(config, quiet=True))
    table = next(iter(read_corpus(str(world / "games.jsonl"), "dev"))).table
    row = splicer.generate(table)
    forged = replace(row, sources=replace(row.sources, table=linearize(table)))
    with pytest.raises(VerificationError, match="source 0 is not its table"):
        verify(forged, splicer)


def test_without_kinds_nothing_is_kept_and_keys_are_those_of_before(config: Config, tmp_path: Path) -> None:
    before = replace(config, corpus=replace(config.corpus, kinds=()))
    assert "kinds" not in before.stored()["corpus"]
    prepared = prepare(before, folder=tmp_path / "prepared", quiet=True)
    assert prepared.findings == []
    assert "kinds" not in prepared.manifest.stages
    assert not prepared.store.kinds
    assert "kinds" not in (prepared.files.store / "store.json").read_text(encoding="utf-8")


def command(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "200"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout


def test_inspect_evaluate_and_report_show_what_is_unchecked(config: Config, world: Path) -> None:
    prepared = prepare(config, quiet=True).folder
    shown = command("inspect", prepared, "--kinds")
    assert "unsaid" in shown
    assert "unchecked" in shown
    fields = json.loads(command("inspect", prepared, "--kinds", "--json"))
    assert fields["used"] is True
    assert {each["field"]: each["kind"] for each in fields["fields"]}["id"] == "unsaid"
    out = world / "dev.jsonl"
    command("generate", prepared, world / "games.jsonl", "--split", "dev", "--out", out, "--quiet")
    options = ("--references", world / "games.jsonl", "--split", "dev", "--metrics", "BLEU")
    scores = json.loads(command("evaluate", out, *options, "--json"))["systems"][0]
    assert {"act", "id"}.isdisjoint(scores["slots"]["by_field"])
    assert set(scores["slots"]["by_field"]["multiplayer"]) == {"unchecked"}
    grid = command("evaluate", out, *options)
    assert "unchecked, since no wording is known:" in " ".join(grid.split())
    lexicon = world / "games.toml"
    lexicon.write_text('[multiplayer.wordings]\nyes = ["friends can join", "with others"]\nno = ["alone"]\n')
    known = json.loads(command("evaluate", out, *options, "--lexicon", lexicon, "--json"))["systems"][0]
    assert known["slots"]["by_field"]["multiplayer"].get("ok")
    report = Path(command("report", out, "--lexicon", lexicon, "--out", world / "report.html").strip())
    assert "available_on_steam" in report.read_text(encoding="utf-8")


def test_a_lexicon_can_be_given_to_generate_after_the_fact(config: Config, world: Path) -> None:
    prepared = prepare(config, quiet=True).folder
    lexicon = world / "given.toml"
    lexicon.write_text('[multiplayer.wordings]\nyes = ["with others"]\nno = ["alone"]\n')
    out = world / "given.jsonl"
    command(
        "generate", prepared, world / "games.jsonl", "--limit", "2", "--lexicon", lexicon, "--out", out, "-q"
    )
    row = json.loads(out.read_text(encoding="utf-8").splitlines()[0])
    assert row["search"]["lexicon"] == Lexicon.load(lexicon).with_kinds(prepare(config).kinds).digest[:12]
    command("verify", out, "--run", prepared)


@pytest.mark.parametrize(
    ("field", "value", "text", "told"),
    [
        ("height_cm", "180", "He is 1.80 m tall.", "ok"),
        ("Height (cm)", "180", "He is 180 tall.", "ok"),
        ("height_cm", "180", "He is 1.79 m tall.", "height_cm (180) is missing"),
        ("bottle", "750 ml", "A bottle of 0.75 litres.", "ok"),
        ("weight", "1.5 kg", "It has 1500 g.", "ok"),
        ("height", "180", "It is 1.80 m tall.", "height (180) is missing"),  # of what?
    ],
)
def test_an_amount_may_be_said_in_another_unit(field: str, value: str, text: str, told: str) -> None:
    table = Table.of({field: value})
    assert str(check_slots(text, table, Lexicon.of_tables([table], {field: "number"}))) == told
    if told == "ok":
        assert not stray_numbers(text, [(field, value)])


def test_a_number_of_another_field_is_not_this_ones() -> None:
    tables = [
        Table.of({"born": f"14 May {year}", "since": str(year + 9), "goals": "5"}) for year in (1990, 1981)
    ]
    kinds = {"born": "worded", "since": "number", "goals": "number"}
    lexicon = Lexicon.of_tables(tables, kinds)
    assert str(check_slots("Born 14 May 1990, since 1999, with 5.", tables[0], lexicon)) == "ok"
    bare = Table.of({"born": "14 May 1990", "goals": "5"})
    assert str(check_slots("Born 14 May 1990, with 5.", bare, lexicon)) == "ok"
    assert str(check_slots("Born 14 May 1990, since 1999.", bare, lexicon)) == (
        "goals (5) is missing; since is said to be 1999, which the table does not say"
    )


def test_what_names_a_value_is_no_sign_of_an_act() -> None:
    acts = FieldWordings({"opine": ("time",)}, verbatim=False, kind="unsaid")
    lexicon = Lexicon({"act": acts, "genre": FieldWordings({}, kind="said")})
    table = Table.of({"act": "inform", "genre": "real-time strategy"})
    assert not list(out_of_act("A real-time strategy game.", table, lexicon))
    assert list(out_of_act("I had a good time.", table, lexicon))


def test_a_category_twice_in_a_list_is_doubtful() -> None:
    table = Table.of({"genres": ["action", "puzzle"]})
    known = Known(frozenset({"genres"}), {}, {"genres": "worded"})
    (doubt,) = find_doubts("An action and action game with a puzzle.", table, None, known)
    assert doubt.what == "genres (action) is said twice"
