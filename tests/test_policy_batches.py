"""Batches: every canvas is replayed right, every text encoded once, nothing padded far."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_toys import EMBEDDED, WORDS, canvases_of, toy_shape, toy_split
from textsplice.errors import InputError
from textsplice.oracle.numbering import Numbering
from textsplice.policy.cases import Keys
from textsplice.policy.checkpoint import new_policy
from textsplice.policy.full.batch import FullBatch
from textsplice.policy.packing import pack
from textsplice.policy.transformer import COPIED, NEIGHBOR
from textsplice.text.vocabulary import MASK_ID, PAD_ID, UNKNOWN_ID


def full_batch(split, store, rows) -> FullBatch:
    batch = new_policy(toy_shape(), seed=0).collate(split, store, np.asarray(rows))
    assert isinstance(batch, FullBatch)
    return batch


def block_rows(batch: FullBatch):
    """The ids, ages and copied flags of each canvas of a batch, as lists."""
    place = 0
    for block, context in zip(batch.canvases.blocks, batch.contexts, strict=True):
        tables = context.places + batch.neighbor_places
        for row in range(block.rows):
            ids = batch.canvases.ids[place : place + block.width].tolist()
            ages = batch.canvases.features[place : place + block.width].tolist()
            yield ids, ages, (batch.encoded.features[tables[row]] == COPIED).tolist()
            place += block.width


@pytest.mark.parametrize("seed", range(3))
def test_canvases_are_those_of_the_replayed_derivation(seed: int) -> None:
    split, store = toy_split(seed)
    derivation = split.derivation(4)
    case = split.case(4, store)
    numbering = Numbering(len(case.neighbors))
    steps = [
        step
        for step, splice in enumerate([*derivation, None])
        if splice is None
        or not numbering.is_word(splice.neighbor)
        or numbering.word_id(splice.neighbor) in WORDS
    ]
    expected = []
    for step in steps:
        canvas = canvases_of([case], [derivation], [step])
        length = int(canvas.lengths[0])
        ids = [i if i < EMBEDDED else UNKNOWN_ID for i in canvas.ids[0, :length].tolist()]
        ages = np.minimum(canvas.ages[0, :length], 4).tolist()
        expected.append(([PAD_ID, *ids, PAD_ID], [0, *ages, 0], canvas.copied[0].tolist()))
    found = list(block_rows(full_batch(split, store, [4])))
    for ids, ages, copied in expected:
        padded = [
            (i, a, c) for i, a, c in found if i[: len(ids)] == ids and not any(i[len(ids) :]) and c == copied
        ]
        assert any(a[: len(ages)] == ages for _, a, _ in padded)
    assert len(found) == len(expected)


def test_references_of_a_table_share_their_neighbors_encodings() -> None:
    split, store = toy_split(references=3)
    one, three = full_batch(split, store, [0]), full_batch(split, store, [0, 1, 2])
    assert len(three.cases) == 1
    assert three.neighbor_places == one.neighbor_places
    neighbors = (three.encoded.features == NEIGHBOR).sum()
    assert int(neighbors) == sum(len(store[n]) for n in split.neighbors[0] if n >= 0)


def test_a_table_is_encoded_once_for_each_set_of_copied_tokens() -> None:
    split, store = toy_split(1)
    batch = full_batch(split, store, [0, 1, 2])
    states = {tuple(copied) for _, _, copied in block_rows(batch)}
    assert len(batch.encoded.ids) - batch.neighbor_places == len(states) * len(split.table_tokens[0])


def test_batches_do_not_depend_on_the_order_of_rows() -> None:
    split, store = toy_split(1)
    a, b = full_batch(split, store, [0, 4, 8]), full_batch(split, store, [8, 0, 4])
    assert sorted(map(str, block_rows(a))) == sorted(map(str, block_rows(b)))


def test_a_derivation_that_does_not_fit_is_refused() -> None:
    split, store = toy_split()
    split.splices[1, 1] = 99
    with pytest.raises(InputError, match="does not fit its canvas"):
        full_batch(split, store, [0])


@given(st.lists(st.tuples(st.integers(1, 60), st.integers(0, 3)), min_size=1, max_size=40))
@settings(max_examples=50)
def test_packings_keep_groups_apart_and_waste_little(sequences: list[tuple[int, int]]) -> None:
    lengths, groups = (np.array(column) for column in zip(*sequences, strict=True))
    packing = pack(lengths, groups)
    places = packing.places()
    assert len(np.unique(places)) == lengths.sum()
    assert places.max() < packing.size
    assert sum(block.rows for block in packing.blocks) == len(lengths)
    assert (np.diff(groups[packing.order]) >= 0).all()
    row = 0
    for block, group in zip(packing.blocks, packing.block_groups, strict=True):
        mine = packing.order[row : row + block.rows]
        row += block.rows
        assert (groups[mine] == group).all()
        assert block.width == lengths[mine].max() <= lengths[mine].min() * 1.05 + 1
        assert (block.mask is None) == (lengths[mine].min() == block.width)


def test_columns_and_places_of_keys_are_inverse() -> None:
    split, store = toy_split(3)
    keys = Keys(split.case(0, store), np.array(WORDS))
    for column in range(len(keys)):
        source, begin = int(keys.source[column]), int(keys.begin[column])
        assert keys.column(source, begin) == column
    assert keys.column(keys.numbering.word(33), 0) == -1
    texts = [keys.case.table, *keys.case.neighbors]
    for column in range(int(keys.offsets[-2])):
        token = texts[int(keys.source[column])][int(keys.begin[column])]
        assert keys.word[column] == token
        assert keys.allowed[column] == (
            token != MASK_ID and (keys.source[column] > 0 or keys.case.segments[keys.begin[column]] >= 0)
        )
