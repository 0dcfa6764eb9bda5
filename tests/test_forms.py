"""Values that texts say in another form than records: 10,500 of 10500, 2015 of a date."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from serving import serving
from textsplice.cli import app
from textsplice.config import Config
from textsplice.corpus import Table, read_corpus
from textsplice.corpus.forms import FORMS, alone, in_form, is_in_form
from textsplice.corpus.table import Example
from textsplice.errors import InputError
from textsplice.evaluate.outputs import Item, Output, match
from textsplice.prepare import prepare
from textsplice.runs import Prepared
from textsplice.slots.forms import find_forms
from textsplice.slots.kinds import find_kinds, kinds_of
from textsplice.splicer import Splicer
from textsplice.trace.add import add


def cars(count: int = 90) -> list[dict[str, str]]:
    """Cars whose prices and dates stand in cells as programs write them."""
    rows: list[dict[str, str]] = []
    for number in range(count):
        price, miles, year = 1100 + 370 * number, 20_000 + 1300 * number, 2001 + number % 20
        model, doors = f"Kestrel {chr(65 + number % 26)}{number}", str(2 + number % 4)
        rows.append(
            {
                "model": model,
                "price": f"{price}.00" if number % 3 else str(price),
                "miles": str(miles),
                "registered": f"{year}-0{1 + number % 9}-1{number % 10} 00:00:00",
                "doors": doors,
                "text": f"The {model} of {year} has {doors} doors and {miles:,} miles on the clock. "
                f"It costs £{price:,}.",
            }
        )
    return rows


@pytest.mark.parametrize(
    ("form", "value", "written"),
    [
        ("1,000", "10500", "10,500"),
        ("1,000", "10500.00", "10,500"),
        ("1,000", "10,500", "10,500"),
        ("1,000", "10500 km", "10,500 km"),
        ("£1,000", "£10500", "£10,500"),
        ("£1,000", "10500", "£10,500"),
        ("£1,000", "$10500", None),  # pounds are no dollars
        ("£1000", "€5", None),
        ("1,000", "12,5", None),  # half of one is not ten times as much
        ("1000", "1,2,3", None),
        ("1,000", "1,000,000", "1,000,000"),
        ("1,000", "1" * 5000, None),  # more digits than Python makes a number of
        ("1.000", "10500", "10.500"),
        ("1.000", "10.000", None),
        ("1,000", "10.5", None),
        ("1,000", "abc", None),
        ("year", "2015-02-20 00:00:00", "2015"),
        ("date", "2015-02-20T10:30", "2015-02-20"),
        ("day month year", "2015-02-20", "20 February 2015"),
        ("year", "2015-13-20", None),
        ("day month year", "20/02/2015", "20 February 2015"),
        ("day month year", "3.2.2015", "3 February 2015"),
        ("day month year", "02/20/2015", None),
        ("day/month/year", "2015-02-20", "20/02/2015"),
        ("month first, day month year", "02/20/2015", "20 February 2015"),
        ("month first, year", "20/02/2015", None),
    ],
)
def test_a_form_is_made_of_a_value_or_not(form: str, value: str, written: str | None) -> None:
    assert FORMS[form](value) == written
    if written is not None:
        assert (FORMS[form](written) or written) == written  # once more changes nothing


def test_forms_are_found_where_texts_say_values_so_and_nowhere_else() -> None:
    examples = [
        Example(str(n), Table.of({k: v for k, v in row.items() if k != "text"}), row["text"])
        for n, row in enumerate(cars())
    ]
    assert find_forms(examples) == ("price=£1,000", "miles=1,000", "registered=year")
    table = in_form(examples[0].table, find_forms(examples))
    assert table.to_record() | {"model": ""} == {
        "model": "",
        "price": "£1,100",
        "miles": "20,000",
        "registered": "2001",
        "doors": "2",
    }
    assert is_in_form(examples[0].table, table)
    assert not is_in_form(examples[1].table, table)


MONTHS = "January February March April May June July August September".split()


def adverts(write: Callable[[int, int, int], str], count: int = 60) -> list[Example]:
    """Adverts with a start in any form, a yes or no in many spellings, and a town in two."""
    examples: list[Example] = []
    for n in range(count):
        day, month, year = 1 + n % 28, n % 6, 2020 + n % 3
        town = ("Leeds", "LEEDS", "York", "york")[n % 4]
        table = Table.of(
            {
                "id": f"J{n}",
                "start": write(year, month + 1, day),
                "visa": ("Yes", "no", "YES", "No")[n % 4],
                "town": town,
            }
        )
        visas = "We sponsor visas." if n % 2 == 0 else "No visas."
        text = f"A job in {town.title()} from {day} {MONTHS[month]} {year} on. {visas}"
        examples.append(Example(str(n), table, text))
    return examples


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("{y}-{m:02}-{d:02}", "day month year"),
        ("{d:02}/{m:02}/{y}", "day month year"),
        ("{d}.{m}.{y}", "day month year"),
        ("{m:02}/{d:02}/{y}", "month first, day month year"),
    ],
)
def test_a_date_is_read_whole_if_texts_say_it_whole(written: str, form: str) -> None:
    found = find_forms(adverts(lambda y, m, d: written.format(y=y, m=m, d=d)))
    assert found == (f"start={form}", "visa=as No|Yes", "town=as Leeds|York")


@pytest.mark.parametrize(
    ("cell", "text", "form"),
    [
        ("{a}, {b}, {c}", "Of {a}, {b} and {c}.", "a, b"),
        ("{a}; {b}", "Of {b} with {a}.", "a, b"),
        ("{a}, {b}, {c}", "Of {a}, and much else.", None),  # most are not said
        ("{a}, {b}", "Of {a}, {b}.", None),  # as they stand
        ("{a}, {b}", "Of wood.", None),  # not said
        ("{a}", "Of {a}.", None),
    ],
)
def test_a_list_in_one_cell_is_read_as_several_values(cell: str, text: str, form: str | None) -> None:
    woods = ("oak", "brass", "silk", "tin", "iron")
    parts = [
        dict(zip("abc", (woods[n % 5], woods[n // 2 % 5 - 1], woods[n // 3 % 5 - 2]), strict=True))
        for n in range(60)
    ]
    examples = [
        Example(str(n), Table.of({"made of": cell.format(**each)}), text.format(**each))
        for n, each in enumerate(parts)
    ]
    forms = find_forms(examples)
    assert forms == ((f"made of={form}",) if form else ())
    if form:
        table = in_form(Table.of({"made of": "oak, tin and silk"}), forms)
        assert table["made of"] == ("oak", "tin", "silk")
        assert in_form(table, forms) == table
        assert is_in_form(Table.of({"made of": "oak, tin and silk"}), table)


def test_a_slash_separates_values_too() -> None:
    grapes = ("Riesling", "Silvaner", "Grenache", "Syrah")
    examples = [
        Example(str(n), Table.of({"grapes": f"{one}/{two}" if n % 2 else one}), f"Of {one} and {two}.")
        for n in range(60)
        for one, two in [(grapes[n % 4], grapes[(n + 1 + n // 4 % 3) % 4])]
    ]
    assert find_forms(examples) == ("grapes=a/b",)
    table = in_form(Table.of({"grapes": "Syrah / Riesling"}), find_forms(examples))
    assert table["grapes"] == ("Syrah", "Riesling")
    assert in_form(table, find_forms(examples)) == table
    assert is_in_form(Table.of({"grapes": "Syrah / Riesling"}), table)


WORDED = {"shooter": "shooting", "role-playing": "RPG", "sport": "sports"}


def test_categories_of_a_list_may_be_said_in_other_words_but_a_town_is_no_list() -> None:
    kinds = ("shooter", "role-playing", "sport", "puzzle", "arcade", "indie")
    games: list[Example] = []
    for n in range(120):
        one, two = kinds[n % 6], kinds[(n + 1 + n // 6 % 4) % 6]
        said = [WORDED.get(each, each) if n % 3 == 0 else each for each in (one, two)]
        table = Table.of({"genres": f"{one}, {two}", "town": f"{('Bath', 'York')[n % 2]}, {n % 7} County"})
        text = f"A {said[0]} and {said[1]} game from {('Bath', 'York')[n % 2]}."
        games.append(Example(str(n), table, text))
    assert find_forms(games) == ("genres=a, b",)
    found = find_kinds([Example(e.id, in_form(e.table, ["genres=a, b"]), e.text) for e in games])
    assert kinds_of(found)["genres"] in ("list", "worded")


def wines(write: Callable[[float], str], said: str) -> list[Example]:
    """Wines as a German spreadsheet has them; half of the texts say the strength."""
    examples: list[Example] = []
    for n in range(60):
        price, strength = 4.9 + 3.1 * (n % 19), 11 + n % 7 / 2
        table = Table.of({"name": f"N{n}", "price": write(price), "strength": write(strength)[:-2] + "%"})
        spoken = f"{price:,.2f}".removesuffix(".00")
        half = f", {strength:g}% vol" if n % 2 else ""
        examples.append(Example(str(n), table, f"N{n} for {said.format(spoken)}{half}."))
    return examples


def test_a_decimal_comma_and_a_unit_are_read_as_texts_have_them() -> None:
    german = wines(lambda number: f"{number:.2f} €".replace(".", ","), "€{}")
    assert find_forms(german)[0] == "price=number €0.50 of 0,5 €"
    table = in_form(Table.of({"price": "1.250,50 €"}), ["price=number €1,000.50 of 0,5 €"])
    assert table["price"] == ("€1,250.50",)
    assert in_form(table, ["price=number €1,000.50 of 0,5 €"]) == table
    assert is_in_form(Table.of({"price": "1.250,50 €"}), table)
    assert not is_in_form(Table.of({"price": "1.250,00 €"}), table)
    in_words = wines(lambda number: f"{number:.2f} €".replace(".", ","), "{} euros")
    assert find_forms(in_words)[0] == "price=number 0.50 of 0,5 €"
    assert in_form(Table.of({"price": "12,50 $"}), find_forms(in_words))["price"] == ("12,50 $",)


def test_what_a_spreadsheet_keeps_as_a_number_is_read_as_texts_have_it() -> None:
    examples = [
        Example(
            str(n),
            Table.of({"price": f"{n + n % 10 / 10:g}", "vol": f"{(n % 9 + 11.5) / 100:g}", "text": ""}),
            f"It has {n % 9 + 11.5:g}% and costs €" + f"{n + n % 10 / 10:.2f}.".replace(".00.", "."),
        )
        for n in range(3, 90)
    ]
    assert find_forms(examples) == ("price=number €0.00 of 0.5", "vol=number 50 of 0.5")
    table = in_form(examples[9].table, find_forms(examples))
    assert (table["price"], table["vol"]) == (("€12.20",), ("14.5",))


def test_a_unit_is_not_left_out_where_there_are_several() -> None:
    examples = [
        Example(
            str(n), Table.of({"name": f"N{n}", "size": f"{n} g" if n % 2 else f"{n} kg"}), f"N{n} has {n}."
        )
        for n in range(10, 70)
    ]
    assert find_forms(examples) == ()


@pytest.mark.parametrize(
    ("value", "forms"),
    [
        ("0,75 l", {"0.75", "0,75"}),
        ("12,00 %", {"12"}),
        ("1250 m", {"1250", "1,250", "1.250"}),
        ("5.9 kg", {"5.9", "5,9", "5.90", "5,90"}),
        ("£5.9", {"5.9", "5,9", "5.90", "5,90", "£5.9", "£5,9", "£5.90", "£5,90"}),
        ("about 12", set()),
        ("12-14", set()),
    ],
)
def test_a_number_alone_may_be_written_in_few_ways(value: str, forms: set[str]) -> None:
    assert set(alone(value).values()) == forms


@pytest.mark.parametrize("value", ["9" * 5000, "9" * 5000 + ",50 €", "1" + ",000" * 2000, "0," + "9" * 5000])
def test_a_number_of_thousands_of_digits_is_no_error(value: str) -> None:
    text = "It costs a lot, 5 times as much."
    examples = [Example(str(n), Table.of({"price": value}), text) for n in range(20)]
    assert find_forms(examples) == ()


def test_a_year_is_not_enough_if_some_texts_say_the_whole_date() -> None:
    examples = [
        Example(str(n), Table.of({"name": f"N{n}", "born": f"19{n}-0{n % 9 + 1}-1{n % 8 + 1}"}), text)
        for n in range(10, 90)
        for text in [
            f"N{n} was born in 19{n}." if n % 4 else f"N{n} was born on 1{n % 8 + 1} {MONTHS[n % 9]} 19{n}."
        ]
    ]
    assert find_forms(examples) == ()
    assert find_forms([e for e in examples if int(e.id) % 4]) == ("born=year",)


def test_values_that_differ_only_in_case_are_one() -> None:
    examples = adverts(lambda y, m, d: f"{d} {m} {y}")
    forms = find_forms(examples)
    tables = {(in_form(e.table, forms)["visa"], in_form(e.table, forms)["town"]) for e in examples}
    assert tables == {((visa,), (town,)) for visa in ("Yes", "No") for town in ("Leeds", "York")}
    assert in_form(Table.of({"town": "yORK"}), forms)["town"] == ("York",)
    assert in_form(Table.of({"town": "Hull"}), forms)["town"] == ("Hull",)
    assert is_in_form(Table.of({"town": "LEEDS"}), Table.of({"town": "Leeds"}))


def test_a_spelling_that_is_a_part_of_other_words_is_not_said() -> None:
    """The m of "made for medium people" is no size."""
    text = "Shirt {n} is made for small and medium people, in size {size}."
    examples = [
        Example(str(n), Table.of({"size": size}), text.format(n=n, size=size.upper()))
        for n, size in enumerate(10 * ["M", "m", "L", "l", "\u200b"])
    ]
    assert find_forms(examples) == ("size=as L|M|\u200b",)


KESTREL = {"model": "Kestrel X", "price": "45000", "miles": "9000", "registered": "2011-01-13", "doors": "3"}


def prepared_cars(folder: Path) -> Prepared:
    path = folder / "cars.csv"
    rows = cars()
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    config = Config().with_values([f"corpus.source={path}", "corpus.kinds=['auto']"])
    return prepare(config, folder=folder / "prepared", quiet=True)


def test_a_text_that_is_written_for_a_record_passes_the_gate_with_this_record(tmp_path: Path) -> None:
    prepared = prepared_cars(tmp_path)
    splicer = Splicer.untrained(prepared)
    text = splicer.generate(KESTREL).text
    traced = splicer.trace(text, KESTREL)
    assert not traced.gaps
    assert traced.table == splicer.generate(KESTREL).table == splicer.read(KESTREL)
    drafts = tmp_path / "drafts.jsonl"
    drafts.write_text(json.dumps({"text": text, "table": KESTREL}) + "\n", encoding="utf-8")
    for command in ("trace", "gate"):
        out = tmp_path / f"{command}.jsonl"
        found = CliRunner().invoke(app, [command, str(prepared.folder), str(drafts), "--out", str(out)])
        assert found.exit_code == 0, found.output
    assert json.loads((tmp_path / "trace.jsonl").read_text(encoding="utf-8"))["trace"]["gaps"] == []
    with serving(splicer, tmp_path) as served:
        asked = {"text": text, "table": KESTREL}
        assert served.client.post("/v1/gate", json=asked).json()["accepted"]
        assert served.client.post("/v1/trace", json=asked).json()["row"]["trace"]["gaps"] == []
    approved = "The Kestrel X of 2011, for £45,000, has 3 doors and 9,000 miles on the clock."
    add(prepared.folder, [Example("mine", Table.of(KESTREL), approved)], tmp_path / "more")
    given = Splicer.untrained(Prepared.open(tmp_path / "more")).generate(KESTREL)
    assert (given.policy, given.text) == ("approved", approved)


def test_they_are_remembered_and_scored(tmp_path: Path) -> None:
    path = tmp_path / "cars.csv"
    splicer = Splicer.untrained(prepared_cars(tmp_path))
    made = splicer.generate(KESTREL)
    assert "£45,000" in made.text
    assert "9,000 miles" in made.text
    assert "2011-01" not in made.text
    out = tmp_path / "dev.jsonl"
    command = ["generate", str(tmp_path / "prepared"), str(path), "--split", "dev", "--out", str(out)]
    assert CliRunner().invoke(app, command).exit_code == 0
    dev = list(read_corpus(path, "dev"))
    assert len(out.read_text().splitlines()) == len(dev)
    assert "£" in json.loads(out.read_text().splitlines()[0])["table"]["price"]
    asked = ["evaluate", str(out), "--references", str(path), "--split", "dev", "--metrics", "BLEU"]
    found = CliRunner().invoke(app, asked)
    assert found.exit_code == 0, found.output


def test_records_that_differ_in_form_only_are_matched_by_their_ids() -> None:
    tables = [Table.of({"model": "Kestrel", "registered": f"2015-02-{day}"}) for day in (20, 21)]
    items = [Item((f"x:{n}",), table, (f"text {n}",)) for n, table in enumerate(tables)]
    written = Table.of({"model": "Kestrel", "registered": "2015"})
    matched = match([Output("x:1", written, "one", "here"), Output("x:0", written, "zero", "there")], items)
    assert [(item.ids, output.text) for item, output in zip(matched.items, matched.outputs, strict=True)] == [
        (("x:0",), "zero"),
        (("x:1",), "one"),
    ]
    with pytest.raises(InputError, match="no reference has the table"):
        match([Output("x:7", written, "seven", "here")], items)


def test_cells_that_programs_leave_empty_are_empty(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("name,fuel,notes,text\nA,N/A,new &amp; boxed,A is new &amp; boxed.\nB,NaN,#N/A,B.\n")
    rows = [(e.table.to_record(), e.text) for e in read_corpus(path)]
    assert rows == [
        ({"name": "A", "fuel": [], "notes": "new & boxed"}, "A is new & boxed."),
        ({"name": "B", "fuel": [], "notes": []}, "B."),
    ]


def test_a_year_that_some_texts_leave_out_is_read_if_none_says_the_whole_date() -> None:
    examples = [
        Example(str(n), Table.of({"name": f"N{n}", "until": f"31.12.20{n}"}), text)
        for n in range(20, 90)
        for text in [f"N{n} will keep until 20{n}." if n % 3 else f"N{n} is fine."]
    ]
    assert find_forms(examples) == ("until=year",)
