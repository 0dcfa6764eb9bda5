"""Texts that begin alike are read as one tree, and each of them can be found in it again."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from textsplice.policy.lrt.prefixes import prefix_trees
from textsplice.ragged import Ragged


@given(
    st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=6), min_size=1, max_size=8), st.integers(1, 9)
)
def test_each_text_is_a_path_of_one_tree(texts: list[list[int]], most: int) -> None:
    trees = list(prefix_trees(Ragged.from_rows(texts), most=most))
    assert sorted(text for tree in trees for text in tree.texts) == list(range(len(texts)))
    for tree in trees:
        assert len(tree.tokens) <= most or len(tree.texts) == 1
        beginnings = {tuple(texts[text][:stop]) for text in tree.texts for stop in range(1, len(texts[text]))}
        assert len(tree.tokens) == len(beginnings)  # each is read once
        for text, nodes in zip(tree.texts, tree.nodes, strict=True):
            assert tree.tokens[nodes].tolist() == texts[text][:-1]
            assert tree.depths[nodes].tolist() == list(range(len(nodes)))
            for stop, node in enumerate(nodes, start=1):
                assert np.flatnonzero(tree.seen[node]).tolist() == sorted(nodes[:stop])
