from __future__ import annotations

from collections.abc import Sequence

from textsplice import Table
from textsplice.oracle.sources import OfferedNeighbor, Sources
from textsplice.oracle.splice import Origin, Splice
from textsplice.policy.problem import Candidate, Draft
from textsplice.search.choose import (
    best_of_each_start,
    choose,
    consensus,
    listed_twice,
    slot_slips,
    typicality,
)
from textsplice.search.derive import derive
from textsplice.text.linearize import linearize
from textsplice.text.tokens import BEGIN, END, MASK

TABLE = linearize(Table.of({"name": "Aromi", "area": "riverside", "friendly": "yes"}))
NEIGHBOR = OfferedNeighbor("t", "It is good.", (BEGIN, "It", "is", "good", ".", END))
SOURCES = Sources(TABLE, (NEIGHBOR,), {})
WORDS = ("", "", BEGIN, END, "", "It", "is", "good", ".", "Aromi", "riverside")
LAY = Splice(0, 0, 1, 0, 6)


def chosen(candidates: Sequence[Candidate], **how: object) -> list[Candidate]:
    return choose([derive(each, SOURCES, WORDS) for each in candidates], SOURCES, WORDS, **how)


def candidate(score: float, *ids: int, splices: tuple[Splice, ...] = (LAY,)) -> Candidate:
    return Candidate(splices, ids, score)


def test_consensus_prefers_the_text_that_the_others_resemble() -> None:
    odd = candidate(-0.1, 20, 21, 22, 23, 24)
    alike = [candidate(-0.11, 5, 6, 7, 8), candidate(-0.12, 4, 6, 7, 8)]
    ranked = chosen([odd, *alike], by="consensus")
    assert ranked[0] == alike[0]
    assert chosen([odd, *alike])[0] == odd


def test_typical_prefers_what_people_wrote_of_similar_tables() -> None:
    odd, usual = candidate(-0.1, 7, 6, 5, 8), candidate(-0.1, 5, 6, 7, 8)
    assert chosen([odd, usual], by="typical")[0] == usual
    assert typicality([usual], SOURCES, WORDS) == [1.0]
    assert typicality([usual], Sources(TABLE, (), {}), WORDS) == [0.0]


def test_values_of_the_own_table_neither_help_nor_harm_typicality() -> None:
    masked = OfferedNeighbor("t", "Blue is good.", (BEGIN, MASK, "is", "good", ".", END))
    assert typicality([candidate(-0.1, 9, 6, 7, 8)], Sources(TABLE, (masked,), {}), WORDS) == [1.0]


def draft(*places: int, sources: Sources = SOURCES) -> Draft:
    """Tokens of the table, with `It` (-2) or a full stop (-1) between them."""
    tokens, origins = [], []
    for place in places:
        source = (1, 4) if place == -1 else (1, 1) if place == -2 else (0, place)
        tokens.append(sources[source[0]][source[1]])
        origins.append(Origin(*source, 0))
    return Draft(tokens, origins, sources, ())


def test_a_value_that_is_listed_twice_is_a_slip() -> None:
    name, area = TABLE.segments[0].start, TABLE.segments[1].start
    assert listed_twice(draft(name, -2, name)) == 1
    assert listed_twice(draft(name, -2, name, -2, name)) == 2
    assert listed_twice(draft(name, -2, area, -2, name)) == 0
    assert listed_twice(draft(name, -1, name)) == 0


def test_so_is_a_part_of_a_value_after_the_whole() -> None:
    """`the ancient burial chamber and the burial chamber`"""
    table = linearize(Table.of({"sights": ["ancient burial chamber", "weir"]}))
    sources = Sources(table, (NEIGHBOR,), {})
    (first, *_), (weir, *_) = ([*range(s.start, s.stop)] for s in table.segments)
    whole = (first, first + 1, first + 2)
    assert listed_twice(draft(*whole, -2, first + 1, first + 2, sources=sources)) == 1
    assert listed_twice(draft(*whole, -2, weir, sources=sources)) == 0


def test_no_start_neighbor_outvotes_the_others() -> None:
    other = Splice(0, 0, 2, 0, 6)
    crowd = [candidate(-0.1 * n, n) for n in range(1, 6)]
    lone = candidate(-0.9, 9, splices=(other,))
    assert best_of_each_start([*crowd, lone]) == [*crowd[:3], lone]


def test_texts_alike_have_the_same_consensus() -> None:
    merits = consensus([candidate(-0.2, 5, 6), candidate(-0.2, 5, 6)])
    assert merits == [1.0, 1.0]


def test_slips_are_missing_and_repeated_values_but_not_yes_and_no() -> None:
    here = [Origin(0, 1, 0), Origin(0, 1, 1)]
    assert slot_slips(Draft(["Aromi", "Aromi"], here, SOURCES, ())) == 2
    assert slot_slips(Draft(["Aromi", "riverside"], [Origin(0, 1, 0), Origin(1, 1, 0)], SOURCES, ())) == 0


def test_with_slots_first_a_text_that_says_more_values_wins() -> None:
    says = candidate(-0.9, 9, 6, 7, 8, splices=(LAY, Splice(1, 2, 0, 1, 2)))
    silent = candidate(-0.1, 5, 6, 7, 8)
    assert chosen([silent, says], slips=slot_slips)[0] == says
    assert chosen([silent, says])[0] == silent


def test_a_judge_has_a_say_after_slips_and_none_in_likelihood() -> None:
    says = candidate(-0.9, 9, 6, 7, 8, splices=(LAY, Splice(1, 2, 0, 1, 2)))
    silent = candidate(-0.1, 5, 6, 7, 8)

    def judge(candidates: Sequence[Candidate]) -> list[float]:
        return [-9.0 if candidate == silent else -0.1 for candidate in candidates]

    assert chosen([silent, says], by="typical")[0] == silent
    assert chosen([silent, says], by="typical", judge=judge)[0] == says
    assert chosen([silent, says], by="likelihood", judge=judge)[0] == silent

    def harsh(candidates: Sequence[Candidate]) -> list[float]:
        return [-9.0 if candidate == says else -0.1 for candidate in candidates]

    assert chosen([silent, says], by="typical", slips=slot_slips, judge=harsh)[0] == says


def test_a_text_without_slips_is_not_lost_among_likelier_ones_of_its_start() -> None:
    says = candidate(-0.9, 9, 6, 7, 8, splices=(LAY, Splice(1, 2, 0, 1, 2)))
    silent = [candidate(-0.1 * n, 5, 6, 7, 8, *([6] * n)) for n in range(1, 5)]
    other = candidate(-0.05, 5, splices=(Splice(0, 0, 7, 0, 1),))
    for by in ("likelihood", "consensus", "typical"):
        assert chosen([*silent, says, other], by=by, slips=slot_slips)[0] == says


def test_unattested_seams_cost_merit_and_decide_between_equally_likely_texts_only() -> None:
    torn, whole = (
        candidate(-0.1, 5, 6, 7, 8),
        candidate(-0.1, 9, 6, 7, 8, splices=(LAY, Splice(1, 2, 0, 1, 2))),
    )

    def cost(draft: Draft) -> float:
        return 2.0 if draft.tokens[0] == "It" else 0.0

    for by in ("typical", "consensus", "likelihood"):
        assert chosen([torn, whole], by=by)[0] == torn
        assert chosen([torn, whole], by=by, seams=cost)[0] == whole
    likelier = torn._replace(score=-0.05)
    assert chosen([likelier, whole], by="likelihood", seams=cost)[0] == likelier
