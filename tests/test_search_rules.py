from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from search_world import beginner, prepared, splicer, tables
from textsplice import Table
from textsplice.config import Config
from textsplice.errors import InputError
from textsplice.oracle.sources import OfferedNeighbor, Sources
from textsplice.oracle.splice import Origin
from textsplice.policy.problem import Draft
from textsplice.prepare.build import prepare
from textsplice.search.generation import Generation
from textsplice.search.rules import (
    ApprovedNeighbors,
    CopyOnly,
    ForbidWords,
    KeepSentences,
    MaxSentences,
    MinSentences,
    NeighborsWhere,
    RequireFields,
    Rule,
    rules_from_dicts,
)
from textsplice.search.sentences import count_sentences, latest_stop, sentence_spans
from textsplice.search.verify import find_lie
from textsplice.splicer import Splicer
from textsplice.text.linearize import linearize
from textsplice.text.tokens import BEGIN, END, MASK, Tokenizer, tokenize

TWO = (BEGIN, "A", "walk", ".", "Some", "dogs", "!", "?", END)


def test_sentences_are_counted_by_their_marks() -> None:
    assert sentence_spans(TWO) == [(1, 4), (4, 8)]
    assert count_sentences(("No", "mark")) == 1
    assert count_sentences((".", ".")) == 0


def test_a_splice_may_replace_part_of_a_sentence_but_not_all_of_it() -> None:
    allowed = KeepSentences().splices(TWO, 1, ("x",))
    assert allowed is not None
    assert allowed[:, 0].tolist() == [True, True, True, *[False] * 6]
    assert latest_stop(TWO, 2) == 7


def test_words_after_the_last_mark_are_no_sentence_until_end_is_laid() -> None:
    assert latest_stop((BEGIN, "A", "b"), 1) == 3
    assert latest_stop((BEGIN, "A", "b", END), 1) == 2


def test_no_splice_goes_below_the_least_number_of_sentences_or_above_the_most() -> None:
    low = MinSentences(3).splices((BEGIN, "one", ".", "two", ".", "three", ".", END), 1, ("new", "."))
    assert low is not None
    assert low.tolist()[:3] == [[True, True], [True, True], [False, True]]
    high = MaxSentences(1).splices((BEGIN, "one", ".", END), 1, ("new", "."))
    assert high is not None
    # One full stop after another ends no sentence of its own.
    assert high.tolist()[:3] == [[True, False], [True, True], [True, True]]


@pytest.mark.parametrize(
    "rule",
    [
        ApprovedNeighbors(["b", "a"]),
        KeepSentences(),
        CopyOnly(),
        RequireFields(["name"]),
        ForbidWords(["cheap", "of about"]),
        MinSentences(3),
        MaxSentences(2),
    ],
)
def test_a_rule_is_read_back_from_its_json(rule: Rule) -> None:
    assert rules_from_dicts([rule.to_dict()], "file") == (rule,)


def test_an_unknown_rule_is_an_error() -> None:
    with pytest.raises(InputError) as caught:
        rules_from_dicts([{"rule": "be-nice"}], "file:1")
    assert str(caught.value).startswith("file:1: there is no rule 'be-nice'. Known: approved-neighbors, ")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (5, """5 is not a rule. Write it as {"rule": NAME, …}."""),
        ({"rule": 5}, """{'rule': 5} is not a rule. Write it as {"rule": NAME, …}."""),
        ({"rule": "copy-olny"}, "there is no rule 'copy-olny'. Did you mean 'copy-only'?"),
        ({"rule": "min-sentences"}, "the rule 'min-sentences' needs 'count', a whole number."),
        ({"rule": "min-sentences", "count": True}, "the rule 'min-sentences' needs 'count', a whole number."),
        ({"rule": "forbid-words", "words": [5]}, "the rule 'forbid-words' needs 'words', a list of strings."),
        ({"rule": "neighbors-where"}, "the rule 'neighbors-where' needs 'label', a string."),
    ],
)
def test_a_rule_that_can_not_be_read_says_what_it_needs(data: object, said: str) -> None:
    with pytest.raises(InputError) as caught:
        rules_from_dicts([data], "file:1")
    assert str(caught.value) == f"file:1: {said}"


def test_a_rule_with_settings_it_does_not_have_is_an_error() -> None:
    with pytest.raises(InputError, match=r"^file: the rule 'copy-only' does not have these settings: "):
        rules_from_dicts([{"rule": "copy-only", "strict": True}], "file")


def test_only_approved_neighbors_are_offered() -> None:
    ids = prepared().store.ids[:3]
    generation = splicer("full", 3).generate(tables()[0], rules=[ApprovedNeighbors(ids)])
    assert {neighbor.id for neighbor in generation.sources.neighbors} <= set(ids)
    assert generation.sources.neighbors


def test_a_predicate_chooses_the_neighbors() -> None:
    long = NeighborsWhere("long", lambda neighbor: len(neighbor.tokens) > 25)
    generation = Splicer.untrained(prepared()).generate(tables()[0], rules=[long])
    assert generation.sources.neighbors
    assert all(len(neighbor.tokens) > 25 for neighbor in generation.sources.neighbors)
    assert generation.rules == ({"rule": "neighbors-where", "label": "long"},)


def test_required_fields_are_laid_before_the_text_may_end() -> None:
    rule = RequireFields(["name", "start"])
    maker = beginner()
    free = [g for g in maker.generate_many(tables()) if g.text]
    bound = [g for g in maker.generate_many(tables(), rules=[rule]) if g.text]
    assert any(rule.violation(draft_of(generation)) for generation in free)
    assert len(bound) >= 5
    assert not any(rule.violation(draft_of(generation)) for generation in bound)


def draft_of(generation: Generation) -> Draft:
    origins = [Origin(*place[:3]) for place in generation.provenance]
    return Draft(generation.tokens, origins, generation.sources, generation.splices)


def test_a_required_field_that_the_table_lacks_is_a_reason_to_abstain() -> None:
    generation = Splicer.untrained(prepared()).generate(tables()[0], rules=[RequireFields(["summit"])])
    assert (generation.status, generation.text) == ("abstained", "")
    assert generation.reason == "the required field 'summit' has no value in the table"


def test_a_forbidden_phrase_is_found_across_splices_and_cases() -> None:
    rule = ForbidWords(["Of About"])
    plain = Splicer.untrained(prepared())
    before = [g.text for g in plain.generate_many(tables())]
    after = [g.text for g in plain.generate_many(tables(), rules=[rule])]
    assert any("of about" in text for text in before)
    assert not any("of about" in text for text in after)


@pytest.mark.parametrize("tokenizer", ["words", "spaces"])
@pytest.mark.parametrize(
    ("forbidden", "text", "there"),
    [
        ("family-friendly", "A Family-Friendly pub", True),
        ("family-friendly", "A family‑friendly pub", True),
        ("family-friendly", "A family friendly pub", False),
        ("friendly", "A family-friendly pub", True),
        ("Zizzi's", "near zizzi’s door", True),
        ("Zizzi", "near ZIZZI'S door", True),
        ("O'Neill", "O'Neill's pub", True),
        ("don't", "people DON'T go", True),
        ("great!", "It is great!! Really", True),
        ("St. Ives", "near st. ives.", True),
        ("£20", "from £20-25", True),
        ("£20", "from £20.50", False),
        ("3", "3.5 miles", False),
        ("cheap", "cheaply made", False),
        ("of about", "of\tabout", True),
    ],
)
def test_a_forbidden_word_is_found_however_it_is_written(
    forbidden: str, text: str, there: bool, tokenizer: Tokenizer
) -> None:
    tokens = (BEGIN, *tokenize(text, tokenizer), END)
    assert ForbidWords([forbidden]).admits(OfferedNeighbor("n", text, tokens)) is not there


def test_a_mask_does_not_join_the_words_beside_it() -> None:
    tokens = (BEGIN, "of", MASK, "about", END)
    assert ForbidWords(["of about"]).admits(OfferedNeighbor("n", "of 3 about", tokens))


@pytest.mark.parametrize("word", ["", "  ", "\x02"])
def test_an_empty_word_is_refused(word: str) -> None:
    with pytest.raises(InputError) as caught:
        ForbidWords(["cheap", word])
    assert str(caught.value) == f"{word!r} is no word to forbid. Give a word or a phrase."


def test_a_forbidden_hyphenated_word_is_kept_out_and_its_presence_is_a_lie(tmp_path: Path) -> None:
    texts = ["{} is family-friendly and cheap.", "{} is cheap, and people like it."]
    rows = [
        {"id": f"{number}", "table": {"name": name}, "text": text.format(name)}
        for number, (name, text) in enumerate(zip(["Aromi", "Zizzi"], texts, strict=True))
    ]
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = Config().with_values([f"corpus.source='{tmp_path}'", "corpus.splits=['train']"])
    plain = Splicer.untrained(prepare(config, folder=tmp_path / "prepared", threads=1, quiet=True))
    approved = ApprovedNeighbors(["0"])
    free = plain.generate({"name": "Cotto"}, rules=[approved])
    assert free.text == "Cotto is family-friendly and cheap."
    forbidden = ForbidWords(["family-friendly"])
    assert plain.generate({"name": "Cotto"}, rules=[forbidden]).text == "Cotto is cheap, and people like it."
    assert plain.generate({"name": "Cotto"}, rules=[approved, forbidden]).status == "abstained"
    # A value may say it, too: then no neighbor is to blame.
    named = plain.generate({"name": "Family-Friendly Inn"}, rules=[forbidden])
    assert named.reason == "the forbidden 'family-friendly' appears in the text"
    forged = replace(free, rules=(forbidden.to_dict(),))
    assert find_lie(forged) == "the rule forbid-words does not admit neighbor '0'"


def test_no_policy_says_a_forbidden_hyphenated_word() -> None:
    maker = beginner()
    rule = ForbidWords(["there-and-back"])
    assert any("there-and-back" in g.text for g in maker.generate_many(tables()))
    assert not any("there-and-back" in g.text for g in maker.generate_many(tables(), rules=[rule]))


def test_rules_that_admit_no_neighbor_are_a_reason_to_abstain() -> None:
    generation = Splicer.untrained(prepared()).generate(tables()[0], rules=[ApprovedNeighbors(["?"])])
    assert generation.reason == "no text of the store may be spliced from"


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        ("lrt", NeighborsWhere("short", lambda neighbor: len(neighbor.tokens) < 30)),
        ("lrt", CopyOnly()),
        ("copy", CopyOnly()),
        *(
            (kind, rule)
            for kind in ("lrt", "copy")
            for rule in (
                RequireFields(["name"]),
                ForbidWords(["it is", "is a"]),
                MinSentences(3),
                MaxSentences(1),
            )
        ),
    ],
)
def test_left_to_right_a_rule_is_kept_and_costs_no_text(kind: str, rule: Rule) -> None:
    maker = beginner(kind=kind)
    free = list(maker.generate_many(tables()[:6], progress=False))
    bound = list(maker.generate_many(tables()[:6], rules=[rule], progress=False))
    assert any(rule.violation(draft_of(generation)) for generation in free)
    assert all(generation.text for generation in bound)
    assert not any(rule.violation(draft_of(generation)) for generation in bound)


def test_left_to_right_only_approved_neighbors_are_copied_from() -> None:
    rule = ApprovedNeighbors(prepared().store.ids[:40])
    bound = list(beginner(kind="lrt").generate_many(tables()[:4], rules=[rule], progress=False))
    assert all(generation.text for generation in bound)
    assert not any(rule.violation(draft_of(generation)) for generation in bound)


@pytest.mark.parametrize("kind", ["lrt", "copy"])
def test_left_to_right_no_sentence_is_ever_replaced(kind: str) -> None:
    maker = beginner(kind=kind)
    free, bound = (
        [g.splices for g in maker.generate_many(tables()[:4], rules=rules, progress=False)]
        for rules in ((), [KeepSentences()])
    )
    assert free == bound


@pytest.mark.parametrize("kind", ["lrt", "copy"])
@pytest.mark.parametrize("marginalize", ["true", "false"])
def test_left_to_right_required_values_are_said_in_one_sentence(kind: str, marginalize: str) -> None:
    maker = beginner(0.0, 0, f"search.marginalize={marginalize}", kind=kind)
    table = Table.of({"name": "Hare Law Traverse", "start": "Great Wether", "inn": "Lame Heron"})
    rules = [RequireFields(["name", "start", "inn"]), MaxSentences(1), ForbidWords(["Traverse is"])]
    generation = maker.generate(table, rules=rules)
    assert "Hare Law Traverse" in generation.text
    assert not any(rule.violation(draft_of(generation)) for rule in rules)


@pytest.mark.parametrize("kind", ["lrt", "copy"])
def test_left_to_right_rules_that_no_text_can_keep_are_a_reason_to_abstain(kind: str) -> None:
    maker = beginner(kind=kind)
    lacking = maker.generate(tables()[0], rules=[RequireFields(["summit"])])
    assert lacking.reason == "the required field 'summit' has no value in the table"
    table = Table.of({"name": "Hare Law Traverse"})
    torn = maker.generate(table, rules=[RequireFields(["name"]), ForbidWords(["traverse"])])
    assert torn.reason == "the required field 'name' (Hare Law Traverse) is not in the text"


def test_texts_are_told_apart_by_how_far_they_are_from_their_end() -> None:
    sources = Sources(linearize(Table.of({"name": "Hare Law", "start": "Wether"})), (), {})
    rule = RequireFields(["name", "start"])
    assert rule.lacks(Draft((), (), sources, ())) == 3
    assert rule.lacks(Draft(("Hare", "Law"), (), sources, ())) == 1
    texts = ["", "one", "one.", "one. two", "one. two.", "One. Dr.", "One. Dr. Hall."]
    lacks = [MinSentences(2).lacks(Draft(tokenize(text), (), sources, ())) for text in texts]
    assert lacks == [2, 2, 1, 1, 0, 0, 0]
