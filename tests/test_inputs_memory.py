"""Memory does not grow with what was read: caches have bounds, and free pages are given back."""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import textsplice
from search_world import splicer, tables
from textsplice import memory
from textsplice.corpus import Table, read_corpus
from textsplice.rules import ApprovedNeighbors, ForbidWords
from textsplice.search.encodings import KEPT
from textsplice.search.offers import MOST_RULES

# Caches without a bound of their own: over characters, of which there are so many, or names of the package.
OVER_FINITE_SETS = {"spaceless", "_is_wide_mark", "template"}


def caches() -> Iterator[tuple[str, object]]:
    """Every cached function of the package."""
    for module in pkgutil.walk_packages(textsplice.__path__, "textsplice."):
        if module.name != "textsplice.__main__":
            for name, value in vars(importlib.import_module(module.name)).items():
                if hasattr(value, "cache_info") and value.__module__ == module.name:
                    yield name, value


def test_every_cache_has_a_bound() -> None:
    found = dict(caches())
    assert "verbatim_phrases" in found
    unbounded = {
        name
        for name, each in found.items()
        if each.cache_info().maxsize is None and inspect.signature(each.__wrapped__).parameters
    }
    assert unbounded <= OVER_FINITE_SETS


def test_ever_new_tables_and_rules_grow_no_cache_over_its_bound() -> None:
    maker = splicer("full", 2)
    record = tables()[0].to_record()
    first = next(iter(record))
    for number in range(MOST_RULES + 4):
        table = Table.of({**record, first: f"Mill {number}"})
        approved = ApprovedNeighbors(maker.store.ids[: number + 2])
        maker.generate(table, rules=[approved, ForbidWords([f"word{number}"])])
    assert len(maker._offers._admitted) == MOST_RULES
    assert len(maker._offers._rows) <= len(maker.store)
    assert len(maker.encodings._kept) <= KEPT
    for _, each in caches():
        info = each.cache_info()
        assert info.maxsize is None or info.currsize <= info.maxsize


def test_a_parquet_file_is_read_as_a_stream(tmp_path: Path) -> None:
    """What Arrow holds at any time is a small part of the file."""
    texts = pa.array([os.urandom(200).hex() for _ in range(20_000)])
    pq.write_table(pa.table({"name": texts, "text": texts}), tmp_path / "a.parquet", row_group_size=500)
    before, most = pa.total_allocated_bytes(), 0
    for _ in read_corpus(tmp_path / "a.parquet"):
        most = max(most, pa.total_allocated_bytes() - before)
    assert most < (tmp_path / "a.parquet").stat().st_size / 4


@pytest.mark.parametrize("error", [OSError, AttributeError, TypeError])
def test_a_system_without_malloc_trim_does_without(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def missing(_name: object) -> object:
        raise error("no such library")

    memory._trim.cache_clear()
    monkeypatch.setattr(memory.ctypes, "CDLL", missing)
    memory.release_memory()
    assert memory._trim() is None
    memory._trim.cache_clear()
