"""Policies on disk: bit-equal when sound, refused with a sentence when not."""

from __future__ import annotations

import json
import pickle
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import torch

from policy_toys import toy_config, toy_split
from textsplice.config import Config
from textsplice.errors import ConfigError, StorageError
from textsplice.policy import (
    CopyPolicy,
    FullPolicy,
    PolicyConfig,
    TokenPolicy,
    collate,
    load_policy,
    new_policy,
    save_policy,
)
from textsplice.text.vocabulary import Vocabulary

CLASSES = {"full": FullPolicy, "token": TokenPolicy, "copy": CopyPolicy}


def same_weights(a: torch.nn.Module, b: torch.nn.Module) -> bool:
    left, right = a.state_dict(), b.state_dict()
    return left.keys() == right.keys() and all(torch.equal(left[n], right[n]) for n in left)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    save_policy(new_policy(toy_config(), seed=1), tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", CLASSES)
def test_a_saved_policy_comes_back_bit_equal(kind: str, tmp_path: Path) -> None:
    policy = new_policy(toy_config(kind), seed=4)
    save_policy(policy, tmp_path)
    loaded = load_policy(tmp_path)
    assert type(loaded) is CLASSES[kind]
    assert same_weights(policy, loaded)
    split, store = toy_split()
    batch = collate(policy.config, split, store, np.arange(4))
    assert policy.eval()(batch).loss.item() == loaded(batch).loss.item()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.json", "model.safetensors"]


@pytest.mark.parametrize("kind", CLASSES)
def test_hugging_face_reads_and_writes_the_same_files(kind: str, tmp_path: Path) -> None:
    policy = new_policy(toy_config(kind), seed=4)
    save_policy(policy, tmp_path / "ours")
    policy.save_pretrained(tmp_path / "theirs")
    assert same_weights(policy, CLASSES[kind].from_pretrained(tmp_path / "ours"))
    assert same_weights(policy, load_policy(tmp_path / "theirs"))


def test_weights_depend_on_the_seed_alone() -> None:
    first = new_policy(toy_config(), seed=7)
    torch.manual_seed(123)
    before = torch.get_rng_state()
    again = new_policy(toy_config(), seed=7)
    assert torch.equal(before, torch.get_rng_state())
    assert same_weights(first, again)
    assert not same_weights(first, new_policy(toy_config(), seed=8))


def test_another_format_is_refused(saved: Path) -> None:
    path = saved / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(config | {"format_version": 99}))
    with pytest.raises(StorageError, match=r"is a policy of format 99; this version reads 1\."):
        load_policy(saved)


def test_another_model_is_refused(saved: Path) -> None:
    (saved / "config.json").write_text('{"model_type": "bart"}')
    with pytest.raises(StorageError, match="describes a model of type 'bart'"):
        load_policy(saved)


def test_an_unknown_kind_is_refused(saved: Path) -> None:
    path = saved / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"kind": "magic"}))
    with pytest.raises(StorageError, match="unknown kind of policy, 'magic'"):
        load_policy(saved)


@pytest.mark.parametrize("kept", [0, 7, 400, -1])
def test_truncated_weights_are_refused(saved: Path, kept: int) -> None:
    path = saved / "model.safetensors"
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(StorageError, match="is no sound safetensors file"):
        load_policy(saved)


class Bomb:
    def __reduce__(self):
        return (Path("/nonexistent/bomb").touch, ())


def test_a_pickle_under_the_weights_name_is_refused(saved: Path) -> None:
    (saved / "model.safetensors").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(StorageError) as caught:
        load_policy(saved)
    assert str(caught.value) == (
        f"{saved / 'model.safetensors'}: is a pickle, which could run any program when read; "
        "only safetensors are read. Copy it again from its run."
    )


def test_a_pickle_instead_of_the_weights_is_named_and_not_read(saved: Path) -> None:
    (saved / "model.safetensors").unlink()
    (saved / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(StorageError, match=r"pytorch_model\.bin is a pickle, which is never read"):
        load_policy(saved)


def test_weights_of_another_shape_are_refused(saved: Path) -> None:
    path = saved / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"ffn": 32}))
    with pytest.raises(StorageError, match=r"holds other weights than config\.json describes"):
        load_policy(saved)


def test_an_empty_folder_holds_no_policy(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="there is no policy here"):
        load_policy(tmp_path)


def test_a_config_takes_its_words_from_the_vocabulary() -> None:
    vocabulary = Vocabulary(("",) * 9, embedded=8, generate=(2, 3, 6), frequent=(3, 5, 6, 7))
    assert PolicyConfig.for_vocabulary("full", vocabulary, ffn=7).words == [2, 3, 6]
    assert PolicyConfig.for_vocabulary("copy", vocabulary).words == [3, 5, 6, 7]
    assert PolicyConfig.for_vocabulary("token", vocabulary, ffn=7).ffn == 7


def test_ids_without_an_embedding_of_their_own_share_that_of_unknown() -> None:
    vocabulary = Vocabulary(("",) * 9, embedded=7, generate=(2, 3, 6))
    config = PolicyConfig.for_vocabulary("full", vocabulary)
    assert config.embed(np.array([5, 6, 7, 8], dtype=np.int32)).tolist() == [5, 6, 1, 1]
    assert config.embed(np.array([0, 2], dtype=np.int64)).tolist() == [0, 2]


def test_a_policy_has_the_defaults_of_a_configuration() -> None:
    named = asdict(Config().policy)
    named.pop("kind")  # which has names of its own there
    vocabulary = Vocabulary(("",) * 9, embedded=7)
    made = PolicyConfig.for_vocabulary("full", vocabulary)
    assert {name: getattr(made, name) for name in named} == named


def test_what_a_saved_policy_is_does_not_depend_on_defaults(tmp_path: Path) -> None:
    vocabulary = Vocabulary(("",) * 9, embedded=8, generate=(2, 3, 6))
    save_policy(new_policy(PolicyConfig.for_vocabulary("full", vocabulary), seed=0), tmp_path)
    written = json.loads((tmp_path / "config.json").read_text())
    assert written.keys() >= {"dropout", "max_positions"}
    assert set(PolicyConfig.__annotations__) <= written.keys()


@pytest.mark.parametrize(
    ("kind", "sizes", "message"),
    [
        ("best", {}, "'best' is no policy. Choose one of full, token, copy."),
        ("full", {"d_model": 10, "heads": 3}, "d_model 10 can't be shared by 3 heads."),
        ("full", {"heads": 0}, "heads must be at least 1, not 0."),
        ("full", {"dropout": 1.0}, "dropout must be at least 0 and less than 1, not 1.0."),
        ("full", {"depth": 3}, "a policy has no 'depth'."),
    ],
)
def test_impossible_shapes_are_refused(kind: str, sizes: dict[str, float], message: str) -> None:
    vocabulary = Vocabulary(("",) * 9, embedded=8)
    with pytest.raises(ConfigError) as caught:
        PolicyConfig.for_vocabulary(kind, vocabulary, **sizes)
    assert message in str(caught.value)
