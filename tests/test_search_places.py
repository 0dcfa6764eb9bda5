"""Values in their own places: what a value may replace, in a search and in its proof."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from search_world import beginner, tables
from textsplice.errors import VerificationError
from textsplice.policy.places import COSTS, places_of_others
from textsplice.search.generation import Generation
from textsplice.search.verify import find_lie, verify
from textsplice.splicer import Splicer


@cache
def maker(misplaced_values: str) -> Splicer:
    return beginner(0.3, 1, f"search.misplaced_values={misplaced_values}", "search.max_splices=10")


@cache
def made(misplaced_values: str) -> list[Generation]:
    return list(maker(misplaced_values).generate_many(tables()[:10], progress=False))


def relabelled(generation: Generation, misplaced_values: str) -> Generation:
    return replace(generation, search={**(generation.search or {}), "misplaced_values": misplaced_values})


def misplaces(generation: Generation) -> bool:
    lie = find_lie(relabelled(generation, "forbidden"), maker("forbidden").proof)
    return lie is not None and "in another field's place" in lie


def test_only_masks_of_other_fields_are_others_places() -> None:
    assert places_of_others([7, 8, 7, -1, 8], 5) == 3
    assert places_of_others([7, 5, 8], 5) == 1
    assert places_of_others([5], 5) == places_of_others([-1, 7], 5) == places_of_others([], 5) == 0


def test_where_misplaced_values_are_forbidden_no_text_has_one() -> None:
    assert sum(map(misplaces, made("free"))) >= 3  # else the next line says nothing
    assert not any(map(misplaces, made("forbidden")))
    assert sum(row.finished for row in made("forbidden")) >= 3


def test_a_row_that_hides_a_misplaced_value_is_refused_by_its_run() -> None:
    guilty = next(row for row in made("free") if misplaces(row))
    verify(guilty, maker("free").proof)
    with pytest.raises(VerificationError, match=r"splice \d+ lays a value of '\w+' in another field's place"):
        verify(relabelled(guilty, "forbidden"), maker("forbidden").proof)


def test_rows_say_the_setting_unless_it_is_as_it_always_was() -> None:
    assert all("misplaced_values" not in (row.search or {}) for row in made("free"))
    assert all((row.search or {})["misplaced_values"] == "forbidden" for row in made("forbidden"))


def test_a_run_that_forbids_misplaced_values_made_no_row_that_allows_them() -> None:
    row = made("free")[0]
    with pytest.raises(VerificationError, match=r"--set search\.misplaced_values=free"):
        verify(row, maker("forbidden").proof)


def test_a_text_is_the_same_whatever_the_batch() -> None:
    one = maker("discouraged").generate_many(tables()[:6], progress=False, batch_size=1)
    many = maker("discouraged").generate_many(tables()[:6], progress=False, batch_size=6)
    assert [row.splices for row in one] == [row.splices for row in many]


def test_a_cost_between_nothing_and_everything_discourages() -> None:
    assert COSTS["free"] == 0 < COSTS["discouraged"] < COSTS["forbidden"] == float("inf")
