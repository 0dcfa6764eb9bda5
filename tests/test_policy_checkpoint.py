"""Policies on disk: bit-equal when sound, refused with a sentence when not."""

from __future__ import annotations

import hashlib
import json
import pickle
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import torch

from policy_toys import toy_shape, toy_split
from saved_runs import bare_run
from textsplice.config import PolicyConfig
from textsplice.errors import ConfigError, StorageError
from textsplice.extensions import POLICIES
from textsplice.policy.checkpoint import load_policy, new_policy
from textsplice.policy.copy.policy import CopyPolicy
from textsplice.policy.full.policy import FullPolicy
from textsplice.policy.kind import policy_kind
from textsplice.policy.lrt.policy import LrtPolicy
from textsplice.policy.policy import Policy
from textsplice.policy.shape import PolicyShape
from textsplice.runs import Run
from textsplice.text.vocabulary import Vocabulary

CLASSES = {"full": FullPolicy, "lrt": LrtPolicy, "copy": CopyPolicy}
# Of the weights that version 0.1 drew with `transformers` for seed 7, by their names and bytes.
DRAWN_BEFORE = {"full": "8e3d14e1a1a5ed71", "lrt": "48dc7ed62ece0dfa", "copy": "f9095aa21fda818e"}


def digest(policy: Policy) -> str:
    found = hashlib.sha256()
    for name, weights in sorted(policy.state_dict().items()):
        found.update(name.encode())
        found.update(weights.contiguous().numpy().tobytes())
    return found.hexdigest()[:16]


def same_weights(a: torch.nn.Module, b: torch.nn.Module) -> bool:
    left, right = a.state_dict(), b.state_dict()
    return left.keys() == right.keys() and all(torch.equal(left[n], right[n]) for n in left)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return bare_run(tmp_path, new_policy(toy_shape(), seed=1)).path


@pytest.mark.parametrize("kind", CLASSES)
def test_a_saved_policy_comes_back_bit_equal(kind: str, tmp_path: Path) -> None:
    policy = new_policy(toy_shape(kind), seed=4)
    loaded = load_policy(bare_run(tmp_path, policy))
    assert type(loaded) is CLASSES[kind]
    assert same_weights(policy, loaded)
    split, store = toy_split()
    batch = policy.collate(split, store, np.arange(4))
    assert policy.eval()(batch).loss.item() == loaded(batch).loss.item()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "config.json",
        "model.safetensors",
        "run.json",
    ]


@pytest.mark.parametrize("kind", CLASSES)
def test_a_new_policy_has_the_weights_it_always_had(kind: str) -> None:
    assert digest(new_policy(toy_shape(kind), seed=7)) == DRAWN_BEFORE[kind]


@pytest.mark.parametrize("kind", CLASSES)
def test_a_policy_of_format_1_is_read(kind: str, tmp_path: Path) -> None:
    policy = new_policy(toy_shape(kind), seed=4)
    bare_run(tmp_path, policy)
    path = tmp_path / "config.json"
    before = {**json.loads(path.read_text()), "format_version": 1, "transformers_version": "5.22.2"}
    before["kind"] = {"lrt": "token"}.get(kind, kind)
    path.write_text(json.dumps(before))
    loaded = load_policy(Run.open(tmp_path))
    assert type(loaded) is CLASSES[kind]
    assert loaded.shape == policy.shape
    assert same_weights(policy, loaded)


def test_weights_depend_on_the_seed_alone() -> None:
    first = new_policy(toy_shape(), seed=7)
    torch.manual_seed(123)
    before = torch.get_rng_state()
    again = new_policy(toy_shape(), seed=7)
    assert torch.equal(before, torch.get_rng_state())
    assert same_weights(first, again)
    assert not same_weights(first, new_policy(toy_shape(), seed=8))


def test_another_format_is_refused(saved: Path) -> None:
    path = saved / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(config | {"format_version": 99}))
    with pytest.raises(StorageError, match=r"is a policy of format 99; this version reads 1 and 2\."):
        load_policy(Run.open(saved))


def test_another_model_is_refused(saved: Path) -> None:
    (saved / "config.json").write_text('{"model_type": "bart"}')
    with pytest.raises(StorageError, match="describes a model of type 'bart'"):
        load_policy(Run.open(saved))


def test_an_unknown_kind_is_refused(saved: Path) -> None:
    path = saved / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"kind": "magic"}))
    with pytest.raises(StorageError, match="there is no policy 'magic'"):
        load_policy(Run.open(saved))


@pytest.mark.parametrize("kept", [0, 7, 400, -1])
def test_truncated_weights_are_refused(saved: Path, kept: int) -> None:
    path = saved / "model.safetensors"
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(StorageError, match="is no sound safetensors file"):
        load_policy(Run.open(saved))


class Bomb:
    def __reduce__(self):
        return (Path("/nonexistent/bomb").touch, ())


def test_a_pickle_under_the_weights_name_is_refused(saved: Path) -> None:
    (saved / "model.safetensors").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(StorageError) as caught:
        load_policy(Run.open(saved))
    assert str(caught.value) == (
        f"{saved / 'model.safetensors'}: is a pickle, which could run any program when read; "
        "only safetensors are read. Copy it again from its run, or train again."
    )


def test_a_pickle_instead_of_the_weights_is_named_and_not_read(saved: Path) -> None:
    (saved / "model.safetensors").unlink()
    (saved / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(StorageError, match=r"pytorch_model\.bin is a pickle, which is never read"):
        load_policy(Run.open(saved))


def test_weights_of_another_shape_are_refused(saved: Path) -> None:
    path = saved / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"ffn": 32}))
    with pytest.raises(StorageError, match="holds other weights than its run describes"):
        load_policy(Run.open(saved))


def test_an_empty_folder_holds_no_policy(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="there is no policy here yet"):
        load_policy(bare_run(tmp_path))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"heads": "four"}, "policy.heads = 'four' must be a whole number from 1 to 1,024."),
        ({"words": None}, "does not say which words the policy knows."),
        ({"words": ["the"]}, "has words that are not ids."),
    ],
)
def test_a_shape_with_a_value_that_can_not_be_used_is_refused(
    saved: Path, change: dict[str, object], said: str
) -> None:
    path = saved / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(StorageError) as caught:
        load_policy(Run.open(saved))
    assert str(caught.value) == f"{path}: {said}"


@pytest.mark.parametrize(
    ("text", "said"), [("[]", "does not describe a policy."), ("{", "can't be read as a policy's shape: ")]
)
def test_what_is_no_shape_is_refused(saved: Path, text: str, said: str) -> None:
    (saved / "config.json").write_text(text)
    with pytest.raises(StorageError) as caught:
        load_policy(Run.open(saved))
    assert str(caught.value).startswith(f"{saved / 'config.json'}: {said}")


def test_a_shape_takes_its_words_from_the_vocabulary() -> None:
    vocabulary = Vocabulary(("",) * 9, embedded=8, generate=(2, 3, 6), frequent=(3, 5, 6, 7))
    assert PolicyShape.of(PolicyConfig(kind="full"), vocabulary).words == (2, 3, 6)
    assert PolicyShape.of(PolicyConfig(kind="copy"), vocabulary).words == (3, 5, 6, 7)
    assert PolicyShape.of(PolicyConfig(kind="lrt"), vocabulary).words == (2, 3, 6)


def test_ids_without_an_embedding_of_their_own_share_that_of_unknown() -> None:
    vocabulary = Vocabulary(("",) * 9, embedded=7, generate=(2, 3, 6))
    shape = PolicyShape.of(PolicyConfig(), vocabulary)
    assert shape.embed(np.array([5, 6, 7, 8], dtype=np.int32)).tolist() == [5, 6, 1, 1]
    assert shape.embed(np.array([0, 2], dtype=np.int64)).tolist() == [0, 2]


def test_what_a_saved_policy_is_does_not_depend_on_defaults(saved: Path) -> None:
    written = json.loads((saved / "config.json").read_text())
    assert asdict(PolicyConfig()).keys() | {"embedded", "words", "init_std"} <= written.keys()
    assert (written["kind"], written["format_version"]) == ("full", 2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "ful"}, "there is no policy 'ful'. Did you mean 'full'?"),
        ({"kind": "best"}, "there is no policy 'best'. Known: full, lrt, copy."),
        (
            {"d_model": 10, "heads": 3},
            "d_model 10 can't be shared by 3 heads. Make d_model a multiple of heads.",
        ),
        ({"heads": 0}, "heads must be at least 1, not 0."),
        ({"dropout": 1.0}, "dropout must be at least 0 and less than 1, not 1.0."),
    ],
)
def test_impossible_shapes_are_refused(settings: dict[str, object], message: str) -> None:
    vocabulary = Vocabulary(("",) * 9, embedded=8)
    with pytest.raises(ConfigError) as caught:
        new_policy(PolicyShape.of(PolicyConfig(**settings), vocabulary), seed=0)
    assert str(caught.value) == message


def test_what_is_registered_as_a_policy_must_be_a_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(POLICIES._entries, "number", 5)
    with pytest.raises(ConfigError) as caught:
        policy_kind("number")
    assert str(caught.value) == "the policy 'number' is registered as 5. Register a `PolicyKind`."
