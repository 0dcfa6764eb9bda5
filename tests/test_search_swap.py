from __future__ import annotations

from pathlib import Path

import pytest

from search_world import prepared, tables
from textsplice import Table
from textsplice.oracle.sources import OfferedNeighbor, Sources
from textsplice.oracle.splice import Splice
from textsplice.search.generation import make_generation
from textsplice.search.swap import NOT_OFFERED, NOT_USABLE, SwapTask, swap, swap_values
from textsplice.search.verify import find_lie
from textsplice.splicer import Splicer
from textsplice.text.linearize import linearize
from textsplice.text.tokens import BEGIN, END, MASK

TABLE = linearize(Table.of({"name": "Green Man Inn", "area": "city centre"}))
OWN = linearize(Table.of({"name": "Aromi", "area": "riverside", "food": "Thai"}))
NEAR = OfferedNeighbor(
    "n", "In the riverside area is Aromi.", (BEGIN, "In", "the", MASK, "area", "is", MASK, ".", END)
)


def test_each_value_is_replaced_by_this_tables_whatever_its_length() -> None:
    splices = swap_values(Sources(TABLE, (NEAR,), {}), 0, OWN, "words")
    assert splices == [Splice(0, 0, 1, 0, 9), Splice(3, 4, 0, 5, 7), Splice(7, 8, 0, 1, 4)]


def test_where_the_neighbor_says_the_unit_only_the_number_is_put_in() -> None:
    own, table = (linearize(Table.of({"size": f"{size} m²", "name": "A"})) for size in (152, 169))
    near = OfferedNeighbor(
        "n", "It has 152 square metres.", (BEGIN, "It", "has", MASK, "square", "metres", ".", END)
    )
    first = Splice(0, 0, 1, 0, 8)
    whole = table.segments[0]
    assert swap_values(Sources(table, (near,), {}), 0, own, "words", {"size"}) == [
        first,
        Splice(3, 4, 0, 1, 2),
    ]
    assert swap_values(Sources(table, (near,), {}), 0, own, "words") == [
        first,
        Splice(3, 4, 0, 1, whole.stop),
    ]


def test_where_the_neighbor_says_number_and_unit_apart_each_is_put_in_and_verified() -> None:
    own, record = (Table.of({"length": "17.5 metres", "name": name}) for name in ("A1", "B2"))
    table = linearize(record)
    near = OfferedNeighbor("n", "A1 has 17.5 (metres).", (BEGIN, MASK, "has", MASK, "(", MASK, ")", ".", END))
    sources = Sources(table, (near,), {})
    splices = swap_values(sources, 0, linearize(own), "words", {"length"})
    assert splices is not None
    made = make_generation(
        id="x",
        table=record,
        sources=sources,
        splices=splices,
        score=0.0,
        status="ok",
        policy="swap",
        run="r",
        tokenizer="words",
    )
    assert made.text == "B2 has 17.5 (metres)."
    assert "does not replace words by a value" not in (find_lie(made) or "")


def test_a_neighbor_that_shows_a_field_this_table_lacks_is_passed_over() -> None:
    thai = OfferedNeighbor("t", "Aromi is Thai.", (BEGIN, MASK, "is", MASK, ".", END))
    sources, outcome = swap(SwapTask(TABLE, (), "words"), [(thai, OWN), (NEAR, OWN)], window=2)
    assert [neighbor.id for neighbor in sources.neighbors] == ["n"]
    assert len(outcome.ranked()) == 1
    assert swap(SwapTask(TABLE, (), "words"), [(thai, OWN)], window=2)[1].obstacle == NOT_USABLE


def test_without_neighbors_there_is_a_reason() -> None:
    assert swap(SwapTask(TABLE, (), "words"), [], window=2)[1].obstacle == NOT_OFFERED


def test_a_strangers_corpus_has_text_without_training() -> None:
    generations = list(Splicer.untrained(prepared()).generate_many(tables()))
    said = [generation for generation in generations if generation.finished]
    assert len(said) >= 0.9 * len(generations)
    for generation in said:
        assert generation.table["name"][0] in generation.text
    assert {g.reason for g in generations if not g.finished} <= {NOT_USABLE}


@pytest.mark.slow
@pytest.mark.data
def test_swap_scores_about_55_bleu_on_the_dev_tables_of_e2e(e2e_folder: Path, tmp_path: Path) -> None:
    import sacrebleu

    from textsplice.config import Config
    from textsplice.prepare.build import prepare

    config = Config().with_values(
        [f"corpus.source='e2e:{e2e_folder}'", "corpus.splits=['train','dev']", "neighbors.fold=['auto']"]
    )
    data = prepare(config, folder=tmp_path, quiet=True)
    dev = data.split("dev")
    texts = [g.text for g in Splicer.untrained(data).generate_many(dev.tables)]
    references: list[list[str]] = [[] for _ in dev.tables]
    for row, table in enumerate(dev.table_of.tolist()):
        references[table].append(dev.texts[row])
    most = max(map(len, references))
    columns = [[r[i] if i < len(r) else None for r in references] for i in range(most)]
    assert len(texts) == 547
    assert sacrebleu.corpus_bleu(texts, columns).score > 54
