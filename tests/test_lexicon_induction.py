"""Induced lexicons: wordings that stand up to held-out texts, and none that another field explains."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from typer.testing import CliRunner

from games import games
from textsplice.cli.lexicon import app
from textsplice.corpus import read_corpus
from textsplice.corpus.table import Example, Table
from textsplice.slots.association import Counts, fisher, least_share, mantel_haenszel
from textsplice.slots.check import check_slots, summarize_slots
from textsplice.slots.evidence import measure, sentence_at
from textsplice.slots.induce import Proposal, propose
from textsplice.slots.lexicon import Lexicon
from textsplice.slots.mentions import Matcher
from textsplice.slots.phrases import NEGATIONS, Sample, denials
from textsplice.slots.wordings import FieldWordings, words_of

NOT = f"{NEGATIONS} ... "


@pytest.fixture(scope="module")
def proposal() -> Proposal:
    return propose(games(400))


def wordings(proposal: Proposal, field: str) -> dict[str, tuple[str, ...]]:
    return dict(proposal.lexicon.fields[field].wordings)


def test_yes_and_no_are_found_with_their_negations(proposal: Proposal) -> None:
    assert wordings(proposal, "available_on_steam") == {"yes": ("steam",), "no": (f"{NOT}steam",)}
    said = proposal.lexicon.fields["has_linux_release"].wordings
    assert "linux" in said["yes"]
    assert f"{NOT}linux" in said["no"]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("count", [120, 400])
def test_what_another_field_explains_is_never_a_wording(seed: int, count: int) -> None:
    found = propose(games(count, seed)).lexicon
    about = {
        "available_on_steam": {"steam", "available", "get"},
        "has_linux_release": {"linux", "release", "runs", "run", "supported", "both"},
        "multiplayer": {"friends", "join", "play", "alone", "player", "others"},
    }
    for field, own in about.items():
        for said in found.fields[field].wordings.values():
            for phrase in said:
                words = set(phrase.removeprefix(NOT).split())
                others = {word for name, theirs in about.items() if name != field for word in theirs}
                assert words & own, (field, phrase)
                assert not words & (others | {"racing", "driving", "puzzle", "opinion", "costs"}), phrase


def test_a_value_that_goes_with_another_everywhere_gets_no_wording() -> None:
    """Nobody can tell which of the two fields `racing game` is about, and it names neither."""
    rows = [("racing", "no", "A fast racing machine."), ("puzzles", "yes", "A calm thing to solve.")] * 60
    examples = [
        Example(str(n), Table.of({"name": f"N{n}", "kind": kind, "steam": steam}), f"N{n}: {text}")
        for n, (kind, steam, text) in enumerate(rows)
    ]
    assert propose(examples).lexicon.fields["steam"].wordings == {}


def test_words_of_no_meaning_are_no_wordings() -> None:
    examples = [
        Example(str(n), Table.of({"name": f"N{n}", "linux": ("yes", "no")[n % 2]}), f"N{n} {text}.")
        for n in range(200)
        for text in [("and with it", "or of the")[n % 2]]
    ]
    assert propose(examples).lexicon.fields["linux"].wordings == {}


def test_codes_have_no_wordings_and_unsaid_fields_are_written_so(proposal: Proposal) -> None:
    assert proposal.lexicon.fields["id"] == FieldWordings({}, verbatim=False, kind="unsaid")
    assert tomllib.loads(proposal.to_toml())["act"]["kind"] == "unsaid"


def test_the_file_shows_evidence_and_says_the_same(proposal: Proposal, tmp_path: Path) -> None:
    path = tmp_path / "games.toml"
    path.write_text(proposal.to_toml(), encoding="utf-8")
    assert Lexicon.load(path) == proposal.lexicon
    lines = path.read_text(encoding="utf-8").splitlines()
    place = lines.index('  "{NOT} ... steam",')
    evidence = [line for line in lines[place - 4 : place] if line.startswith("  #")]
    assert "right (100%), in 100% of the value's texts" in evidence[0]
    assert all("Steam" in sentence for sentence in evidence[1:])


def test_a_struck_wording_is_gone(proposal: Proposal, tmp_path: Path) -> None:
    path = tmp_path / "games.toml"
    text = proposal.to_toml().replace('  "steam",\n', '#  "steam",\n')
    path.write_text(text, encoding="utf-8")
    assert Lexicon.load(path).fields["available_on_steam"].wordings["yes"] == ()


def test_held_out_games_are_checked_without_false_alarms(proposal: Proposal) -> None:
    unseen = games(200, seed=9)
    summary = summarize_slots(check_slots(e.text or "", e.table, proposal.lexicon) for e in unseen)
    assert summary.error_rate < 0.01
    assert set(summary.by_field) == {
        *("name", "genre", "available_on_steam", "has_linux_release", "multiplayer", "price")
    }
    wrong = [(e, "yes" if e.table["available_on_steam"] == ("no",) else "no") for e in unseen]
    for example, value in wrong:
        table = Table.of({"available_on_steam": value})
        (slot,) = check_slots(example.text or "", table, proposal.lexicon).slots[:1]
        assert slot.status == "wrong"


def test_a_wording_of_half_the_texts_leaves_the_others_unchecked() -> None:
    said = (
        "Dogs may come along",
        "Bring whomever you like",
        "All are free to enter",
        "Nobody is turned away",
    )
    examples = [
        Example(str(n), Table.of({"name": f"N{n}", "dogs": ("yes", "no")[n % 2]}), f"N{n}. {text}.")
        for n in range(240)
        for text in [said[n // 2 % 4] if n % 2 == 0 else "No dogs here"]
    ]
    lexicon = propose(examples).lexicon.fields["dogs"]
    assert f"{NOT}dogs" in str(lexicon.wordings["no"])
    assert "no" not in lexicon.partial


def test_the_values_of_a_list_in_one_cell_are_looked_for_one_by_one() -> None:
    tools = ("a hammer", "a saw", "a drill", "a plane")
    examples = [
        Example(str(n), Table.of({"name": f"N{n}", "tools": f"{a}, {b}, {c}"}), f"N{n} has {b}, {c} and {a}.")
        for n in range(60)
        for a, b, c in [(tools[n % 4], tools[(n + 1) % 4], tools[(n + 2) % 4])]
    ]
    lexicon = propose(examples).lexicon
    assert lexicon.fields["tools"].kind == "list"
    assert set(lexicon.fields["tools"].values) == set(tools)
    assert not [e for e in examples if check_slots(e.text or "", e.table, lexicon).errors]


def test_a_number_that_people_say_in_other_words_is_not_called_missing() -> None:
    examples = [
        Example(str(n), Table.of({"name": f"N{n}", "years": str(years)}), f"N{n}. {said}.")
        for n in range(240)
        for years in [n % 4]
        for said in [f"Bring {years} years of practice" if years else ("Anybody may come", "")[n // 4 % 2]]
    ]
    lexicon = propose(examples).lexicon
    table = Table.of({"name": "N7", "years": "0"})
    assert [s.status for s in check_slots("N7. Anybody may come.", table, lexicon).slots][1] in (
        "ok",
        "unchecked",
    )
    assert [s.status for s in check_slots("N7.", table, lexicon).slots][1] == "unchecked"
    assert str(check_slots("N7.", Table.of({"name": "N7", "years": "3"}), lexicon)) == "years (3) is missing"


def test_a_partly_known_value_is_unchecked_where_it_is_not_found() -> None:
    known = FieldWordings({"yes": ("dogs may come",), "no": ("no dogs",)}, verbatim=False, kind="yes/no")
    table, lexicon = Table.of({"dogs": "yes"}), Lexicon({"dogs": known})
    assert str(check_slots("All may enter.", table, lexicon)) == "dogs (yes) is missing"
    partly = FieldWordings(known.wordings, verbatim=False, kind="yes/no", partial=frozenset({"yes"}))
    lexicon = Lexicon({"dogs": partly})
    assert [s.status for s in check_slots("All may enter.", table, lexicon).slots] == ["unchecked"]
    assert str(check_slots("No dogs.", table, lexicon)) == "dogs (yes) is said to be no"


def test_the_induced_lexicon_reads_the_bundled_texts_as_the_one_written_by_hand() -> None:
    induced = propose(read_corpus("bundled", "train")).lexicon
    by_hand = Lexicon.load("bundled")
    same = said = 0
    for example in read_corpus("bundled", "dev"):
        words = words_of(example.text or "")
        for field in ("dogs", "parking"):
            mine, theirs = (
                {value for m in lexicon.matcher.find(words) if m.field == field for value in m.values}
                for lexicon in (induced, by_hand)
            )
            assert mine <= theirs, (field, example.text)  # nothing is read that the other does not read
            same += len(mine & theirs)
            said += len(theirs)
    assert same / said > 0.8


# Negation


@given(st.lists(st.sampled_from("it is not no never steam , and on here .".split()), max_size=14))
def test_denied_is_what_the_lexicon_finds_denied(words: list[str]) -> None:
    matcher = Matcher({"f": FieldWordings({"no": (f"{NOT}steam",), "yes": ("steam",)}, verbatim=False)})
    denied = denials(words)
    found = matcher.find(words)
    for place, word in enumerate(words):
        if word == "steam" and not denied[place]:
            assert any(m.start == place and m.values == {"yes"} for m in found)
    if not any(denied[place] for place, word in enumerate(words) if word == "steam"):
        assert all(m.values == {"yes"} for m in found)


# Statistics

small = st.integers(0, 30)


@given(small, small, small, small)
def test_fishers_test_is_that_of_scipy(a: int, b: int, c: int, d: int) -> None:
    expected = stats.fisher_exact([[a, b], [c, d]], alternative="greater").pvalue
    assert fisher(Counts(a, b, c, d)) == pytest.approx(expected, rel=1e-6, abs=1e-12)


@given(st.integers(0, 50), st.integers(0, 50))
def test_the_least_share_is_wilsons_bound(right: int, wrong: int) -> None:
    total = right + wrong
    if not total:
        assert least_share(0, 0) == 0.0
        return
    expected = stats.binomtest(right, total).proportion_ci(0.95, method="wilson").low
    assert least_share(right, total) == pytest.approx(expected, abs=1e-4)


def test_within_strata_an_association_that_is_only_between_them_vanishes() -> None:
    racing, others = Counts(40, 4, 0, 0), Counts(0, 0, 10, 60)
    assert fisher(Counts(*map(sum, zip(racing, others, strict=True)))) < 1e-9
    assert mantel_haenszel([racing, others]) == 1.0
    assert mantel_haenszel([Counts(20, 2, 3, 20), Counts(10, 1, 2, 15)]) < 1e-6


# The command


def command(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "160"})
    if result.exception is not None:
        raise result.exception
    return result.stdout


def test_check_says_how_good_each_wording_is(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[dogs]\nverbatim = false\n[dogs.wordings]\nno = ["not allowed"]\nyes = ["home"]\n')
    shown = command("check", "bundled", "--lexicon", path, "--wordings", "--show", "0")
    rows = {cells[3]: cells[4:8] for line in shown.splitlines() if len(cells := _cells(line)) > 7}
    assert rows["not allowed"][2] == "100%"
    assert rows["home"][2] == "23%"


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.replace("┃", "│").split("│")]


def test_evidence_sentences_are_short_and_have_the_wording() -> None:
    text = "First. " + "word " * 60 + "dogs welcome " + "word " * 60 + "end. Last one."
    place = words_of(text).index("dogs")
    assert "dogs welcome" in sentence_at(text, place)
    assert len(sentence_at(text, place)) < 120
    assert sentence_at("One. Two is\x1b here. Three.", 3) == "Two is␛ here."


def test_measuring_counts_each_text_once() -> None:
    examples = [Example("1", Table.of({"dogs": "no"}), "Dogs not allowed, really not allowed.")]
    lexicon = Lexicon({"dogs": FieldWordings({"no": ("not allowed",)}, verbatim=False)})
    (evidence,) = measure(lexicon, Sample.of(examples)).wordings.values()
    assert (evidence.texts, evidence.right) == (1, 1)


def test_a_field_that_the_sample_lacks_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textsplice.slots.kinds.MOST_TEXTS", 40)
    examples = [
        Example(str(n), Table.of({"name": f"N{n}", **({"rare": "x"} if n == 1 else {})}), f"N{n} is here.")
        for n in range(200)
    ]
    assert set(propose(examples, {}).lexicon.fields) == {"name"}


def shop(count: int = 200) -> list[Example]:
    """Things of a country that half of the texts name; some have a cross for organic."""
    countries, examples = ("Spain", "Italy", "France", "Austria"), list[Example]()
    for n in range(count):
        record: dict[str, object] = {"name": f"Thing{n}", "country": countries[n % 4], "side": "left"}
        record["side"] = ("left", "right", "both")[n % 3]
        record["organic"] = ["x"] if n % 5 == 0 else []
        text = f"Thing{n} is here." + (f" It comes from {countries[n % 4]}." if n % 2 else "")
        text += {0: " The left side is open.", 1: " The right side is open.", 2: " Both are open."}[n % 3]
        text += " We have few left." if n % 7 == 0 else ""
        text += (" An organic product.", " Grown in an organic way.")[n % 2] if n % 5 == 0 else ""
        examples.append(Example(str(n), Table.of(record), text))
    return examples


SHOP = propose(shop())


def told(record: dict[str, object], text: str) -> str:
    return str(check_slots(text, Table.of(record), SHOP.lexicon))


def test_another_category_that_is_said_word_for_word_is_wrong_though_many_texts_say_none() -> None:
    record: dict[str, object] = {"name": "Thing1", "country": "Spain"}
    assert SHOP.lexicon.fields["country"].exclusive
    assert told(record, "Thing1 is here.") == "ok"
    assert told(record, "Thing1 is here. It comes from Spain.") == "ok"
    assert told(record, "It comes from Italy: Thing1.") == "country (Spain) is said to be Italy"


def test_a_value_that_people_say_in_another_sense_is_not_held_against_a_text() -> None:
    assert "left" in SHOP.lexicon.fields["side"].generic
    record: dict[str, object] = {"name": "Thing1", "side": "right"}
    assert told(record, "Thing1 is here. The right side is open. We have few left.") == "ok"


def test_a_cross_that_is_said_in_words_is_looked_for_and_not_made_up() -> None:
    kinds = {each.field: each.kind for each in SHOP.findings}
    assert kinds["organic"] == "coded"
    crossed, empty = ({"name": "Thing1", "organic": value} for value in (["x"], []))
    assert told(crossed, "Thing1 is here. An organic product.") == "ok"
    assert told(crossed, "Thing1 is here.") == "organic (x) is missing"
    assert told(empty, "Thing1, an organic product.") == (
        "organic is said to be x, which the table does not say"
    )


def test_a_text_that_asks_is_no_evidence() -> None:
    games = [
        Example(str(n), Table.of({"name": f"N{n}", "linux": ("yes", "no")[n % 2]}), text)
        for n in range(120)
        for text in [f"N{n} runs on Linux." if n % 2 == 0 else f"N{n} does not run on Linux."]
    ]
    asking = [
        Example(f"q{n}", Table.of({"linux": "?", "who": f"W{n}"}), f"Do you play on Linux, W{n}?")
        for n in range(60)
    ]
    found = propose([*games, *asking]).lexicon.fields["linux"]
    assert set(found.wordings) == {"yes", "no"}
    assert not found.partial


def test_zero_may_be_said_in_words_and_such_words_are_learned() -> None:
    players = [
        Example(str(n), Table.of({"name": f"N{n}", "caps": str(caps), "born": f"{1950 + n % 40}"}), text)
        for n in range(300)
        for caps in [0 if n % 3 == 0 else 2 + n % 97]
        for text in [
            f"N{n}, born {1950 + n % 40}, " + ("was never capped." if not caps else f"won {caps} caps.")
        ]
    ]
    proposal = propose(players)
    assert {each.field: each.kind for each in proposal.findings}["caps"] == "number"
    record = {"name": "N1", "caps": "7", "born": "1960"}
    lexicon = proposal.lexicon
    assert str(check_slots("N1, born 1960, won 7 caps.", Table.of(record), lexicon)) == "ok"
    never = check_slots("N1, born 1960, was never capped.", Table.of(record), lexicon)
    assert str(never) == "caps (7) is said to be 0"
    none = Table.of(record | {"caps": "0"})
    assert str(check_slots("N1, born 1960, was never capped.", none, lexicon)) == "ok"
