"""The released runs in `models/`: each opens over a prepared E2E, and what it writes is verified."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from textsplice.config import load_config
from textsplice.corpus import read_corpus
from textsplice.prepare.build import prepare
from textsplice.runs import Export, Prepared
from textsplice.splicer import Splicer, verify

MODELS = Path(__file__).resolve().parent.parent / "models"
LARGEST = 8_000_000  # bytes
TABLES = 5


def released() -> list[Path]:
    return sorted(path for path in MODELS.iterdir() if path.is_dir())


def prepared_for(export: Export, e2e: Path, folder: Path) -> Prepared:
    """The store that an export needs; exports with the same settings of the corpus share one."""
    config = export.config
    config = replace(config, corpus=replace(config.corpus, source=f"e2e:{e2e}"))
    parts = [asdict(part) for part in (config.corpus, config.text, config.neighbors, config.vocabulary)]
    known = folder / f"prepared-{abs(hash(repr(parts)))}"
    return Prepared.open(known) if known.exists() else prepare(config, folder=known, quiet=True)


@pytest.mark.data
def test_every_released_run_writes_texts_that_are_verified(e2e_folder: Path, tmp_path: Path) -> None:
    """One test for all of them, so that E2E is prepared once."""
    assert released()
    examples = list(read_corpus(f"e2e:{e2e_folder}", "dev"))
    distinct = list(dict.fromkeys(example.table for example in examples))
    tables = distinct[:: len(distinct) // TABLES][:TABLES]
    for folder in released():
        store = prepared_for(Export.open(folder), e2e_folder, tmp_path)
        splicer = Splicer.load(folder, store=store)
        rows = list(splicer.generate_many(tables, progress=False))
        assert all(row.finished for row in rows), folder.name
        assert {row.weights for row in rows} == {Export.open(folder).weights_id}
        assert splicer.run == Export.open(folder).about["id"], f"{folder.name}: the store is not its run's"
        assert verify(rows, folder, store=store) == TABLES


def test_every_released_run_is_whole_small_and_has_a_card() -> None:
    assert released()
    for folder in released():
        export = Export.open(folder)
        assert export.check() == len(list(folder.iterdir())) - 1, folder.name
        assert sum(path.stat().st_size for path in folder.iterdir()) <= LARGEST, folder.name
        card = export.card.read_text(encoding="utf-8")
        assert f"`{export.about['id']}`" in card
        assert "None were given" not in card, f"{folder.name}: its card has no figures"
        assert load_config(folder / "config.toml").corpus.source == "e2e:data/e2e"
