"""From a corpus to a prepared folder, whatever happens on the way."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from textsplice.config import Config, load_config, to_toml
from textsplice.errors import ConfigError, CorpusError, StorageError, TextspliceError
from textsplice.oracle import replay
from textsplice.prepare import prepare
from textsplice.prepare.summary import leak, summarize
from textsplice.runs.prepared import Prepared, sources_of

ROUTES = ["Mill Lane", "Gull Point", "Oak Ridge", "Fern Gully", "Salt Marsh", "Kite Hill"]
SHAPES = [
    "{name} is a {kind} walk of {length} km.",
    "A {kind} route, {name} runs for {length} km.",
    "At {length} km, {name} suits {kind} walkers. Dogs are welcome.",
]


def routes(names: list[str], per_table: int = 2) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for number, name in enumerate(names):
        table = {"name": name, "kind": ["easy", "steep"][number % 2], "length": str(3 + number)}
        for shape in SHAPES[:per_table]:
            rows.append({"id": f"{name}/{shape[:2]}", "table": table, "text": shape.format(**table)})
    return rows


def write_jsonl(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def config(tmp_path: Path) -> Config:
    folder = tmp_path / "corpus"
    folder.mkdir()
    write_jsonl(folder / "train.jsonl", routes(ROUTES[:4], 3))
    write_jsonl(folder / "dev.jsonl", routes(ROUTES[4:5]))
    write_jsonl(folder / "test.jsonl", routes(ROUTES[5:6]))
    return Config().with_values(
        [
            f'corpus.source="{folder}"',
            f'output.prepared="{tmp_path / "prepared"}"',
            "vocabulary.generate_min_count=1",
        ]
    )


def contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_every_derivation_of_a_prepared_corpus_replays_to_its_text(config: Config) -> None:
    prepared = prepare(config, quiet=True)
    for name in ("train", "dev", "test"):
        split = prepared.split(name)
        for row in range(len(split)):
            splices = split.derivation(row)
            sources = sources_of(split, row, prepared.store, prepared.vocabulary)
            assert [int(token) for token in replay(splices, sources)] == split.targets[row].tolist()
            assert len(splices) == split.costs[row]


def test_a_training_example_never_has_its_own_table_as_neighbor_by_default(config: Config) -> None:
    assert summarize(prepare(config, quiet=True), "train").same_table == 0.0


def test_excluding_only_the_example_itself_lets_the_same_table_in(config: Config) -> None:
    prepared = prepare(config.with_values(["neighbors.exclude=self"]), quiet=True)
    train = prepared.split("train")
    assert summarize(prepared, "train").same_table > 0.0
    assert all(row not in train.neighbors_of(row) for row in range(len(train)))


def test_a_second_run_does_nothing_and_says_so(config: Config) -> None:
    prepare(config, quiet=True)
    before = {path: path.stat().st_mtime_ns for path in Path(config.output.prepared).rglob("*")}
    lines: list[str] = []
    prepare(config, quiet=True, report=lines.append)
    assert lines == [f"{config.output.prepared} is up to date: nothing to do."]
    assert {path: path.stat().st_mtime_ns for path in Path(config.output.prepared).rglob("*")} == before


def test_one_changed_setting_redoes_only_what_depends_on_it(config: Config) -> None:
    prepare(config, quiet=True)
    lines: list[str] = []
    prepare(config.with_values(["vocabulary.generate_min_count=2"]), quiet=True, report=lines.append)
    assert lines == ["made vocabulary", "made config"]
    lines.clear()
    prepare(
        config.with_values(["vocabulary.generate_min_count=2", "neighbors.k=3"]),
        quiet=True,
        report=lines.append,
    )
    assert not [line for line in lines if "texts" in line or "words" in line or "store" in line]
    assert "made neighbors/train-0000" in lines


def test_a_damaged_file_is_made_anew(config: Config) -> None:
    prepared = prepare(config, quiet=True)
    whole = contents(prepared.folder)
    damaged = prepared.files.neighbors("dev", 0)
    damaged.write_bytes(damaged.read_bytes()[:50])
    prepare(config, quiet=True)
    assert contents(prepared.folder) == whole


def test_the_number_of_threads_changes_nothing(config: Config, tmp_path: Path) -> None:
    one = prepare(config, folder=tmp_path / "one", threads=1, quiet=True)
    two = prepare(config, folder=tmp_path / "two", threads=2, quiet=True)
    assert contents(one.folder) == contents(two.folder)


def test_a_corpus_in_one_file_is_split_by_table(tmp_path: Path) -> None:
    path = tmp_path / "routes.jsonl"
    write_jsonl(path, routes([f"Route {n}" for n in range(60)]))
    config = Config().with_values([f'corpus.source="{path}"'])
    prepared = prepare(config, folder=tmp_path / "prepared", quiet=True)
    tables = [set(prepared.split(name).tables) for name in ("train", "dev", "test")]
    assert sum(len(found) for found in tables) == len(set().union(*tables)) == 60
    assert len(tables[0]) > 40
    assert tables[1]
    assert tables[2]


def test_decontaminating_removes_what_stands_in_the_test_references(config: Config) -> None:
    prepared = prepare(config, quiet=True)
    assert leak(prepared, "test") == 1.0
    clean = prepare(config.with_values(['corpus.decontaminate=["test"]']), quiet=True)
    assert leak(clean, "test") == 0.0
    assert len(clean.split("train")) == 4


def test_a_word_missing_from_table_and_neighbors_can_be_generated(config: Config) -> None:
    vocabulary = prepare(config, quiet=True).vocabulary
    assert {2, 3} <= set(vocabulary.generate)
    assert vocabulary.id("walk") in vocabulary.frequent


def test_with_a_lexicon_a_yes_must_be_said_too(config: Config) -> None:
    lexicon = Path(config.corpus.source) / "words.toml"
    lexicon.write_text(
        "[dogs]\nverbatim = false\n[dogs.wordings]\nyes = ['dogs|dog welcome']\nno = ['no dogs']\n"
    )
    table = {"name": "Hare Way", "dogs": "yes"}
    texts = ["Hare Way is long.", "On Hare Way dogs are welcome.", "Hare Way: dogs welcome.", "Dogs welcome."]
    write_jsonl(
        Path(config.corpus.source) / "train.jsonl", [{"table": table, "text": text} for text in texts]
    )
    plain = prepare(config, quiet=True)
    assert plain.split("train").unsaid.tolist() == [0, 0, 0, 1]
    assert not plain.files.lexicon.exists()
    worded = prepare(config.with_values([f"text.lexicon={lexicon}"]), quiet=True)
    assert worded.split("train").unsaid.tolist() == [1, 1, 0, 2]
    assert worded.files.lexicon.read_text() == lexicon.read_text()


def test_a_lexicon_that_is_not_there_is_named(config: Config) -> None:
    with pytest.raises(TextspliceError, match=r"nowhere\.toml"):
        prepare(config.with_values(["text.lexicon=nowhere.toml"]), quiet=True)


def too_long(config: Config, tokens: int) -> Config:
    folder = Path(config.corpus.source)
    write_jsonl(folder / "test.jsonl", [{"id": "long", "table": {"name": "x"}, "text": "a " * tokens}])
    return config


def test_a_text_of_a_million_tokens_names_the_limit(config: Config) -> None:
    with pytest.raises(CorpusError) as caught:
        prepare(too_long(config, 1_000_000), quiet=True)
    assert (
        "the text of example 'long' has 1,000,000 tokens; corpus.max_tokens allows 400. "
        'Raise the limit, or set corpus.too_long to "truncate" or "drop".'
    ) in str(caught.value)


def test_too_long_texts_can_be_cut(config: Config) -> None:
    config = too_long(config, 500).with_values(["corpus.too_long=truncate", "corpus.max_tokens=30"])
    assert prepare(config, quiet=True).split("test").targets.lengths.tolist() == [32]


def test_a_training_row_without_text_is_refused(config: Config) -> None:
    rows = [{"table": {"name": "y"}, "text": "Y."}, {"id": "bare", "table": {"name": "x"}}]
    write_jsonl(Path(config.corpus.source) / "train.jsonl", rows)
    with pytest.raises(CorpusError, match="example 'bare' has no text to learn from"):
        prepare(config, quiet=True)


def test_a_folder_that_was_never_prepared_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(
        StorageError, match=r"is not a finished prepared folder\. Run `textsplice prepare CONFIG`"
    ):
        Prepared.open(tmp_path)


def test_no_neighbors_at_all_is_refused(config: Config) -> None:
    with pytest.raises(ConfigError, match=r"neighbors\.k = 0 must be a whole number from 1"):
        prepare(config.with_values(["neighbors.k=0"]), quiet=True)


def test_a_corpus_of_one_table_has_no_neighbors_and_is_derived_from_words(config: Config) -> None:
    write_jsonl(Path(config.corpus.source) / "train.jsonl", routes(ROUTES[:1]))
    train = prepare(config, quiet=True).split("train")
    assert (train.neighbors < 0).all()
    assert train.costs.min() > 0


def prepare_command(config: Config, folder: Path, tmp_path: Path) -> list[str]:
    path = tmp_path / "config.toml"
    path.write_text(to_toml(config))
    return [sys.executable, "-m", "textsplice", "prepare", str(path), "--out", str(folder), "--quiet"]


def bundled() -> Config:
    return replace(Config(), corpus=replace(Config().corpus, source="bundled"))


def test_killed_at_any_moment_the_next_run_ends_with_the_same_bytes(tmp_path: Path) -> None:
    duration = 0.0
    for name in ("compiles-the-kernels", "whole"):
        started = time.monotonic()
        subprocess.run(prepare_command(bundled(), tmp_path / name, tmp_path), check=True)
        duration = time.monotonic() - started
    expected = contents(tmp_path / "whole")
    moments = random.Random(7)
    kills = 0
    for attempt in range(6):
        folder = tmp_path / f"killed-{attempt}"
        command = prepare_command(bundled(), folder, tmp_path)
        process = subprocess.Popen(command)
        time.sleep(moments.uniform(0.2, 1.0) * duration)
        if process.poll() is None:
            kills += 1
            process.kill()
        process.wait()
        subprocess.run(command, check=True)
        assert contents(folder) == expected
    assert kills > 0


def test_a_full_disk_leaves_nothing_half_written(config: Config, tmp_path: Path) -> None:
    """A limit on file sizes makes the real write fail in the middle of a file, as a full disk does."""
    path = tmp_path / "config.toml"
    path.write_text(to_toml(config))
    folder = Path(config.output.prepared)
    script = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1200, 1200));"
        "import sys; sys.dont_write_bytecode = True; sys.argv = ['textsplice', 'prepare', sys.argv[1], '-q'];"
        "from textsplice.cli import main; main()"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "numba")}
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 2
    assert (
        "the disk is full or a quota is reached. Free some space and run the same command again"
        in done.stderr
    )
    assert "Traceback" not in done.stderr
    assert not list(folder.rglob("*.partial"))
    assert load_config(path) == config
    prepare(config, quiet=True)


@pytest.mark.data
def test_e2e_has_the_known_costs_and_leaks(e2e_folder: Path, tmp_path: Path) -> None:
    config = Config().with_values(
        [f'corpus.source="e2e:{e2e_folder}"', "neighbors.fold=auto", 'corpus.splits=["train","dev","test"]']
    )
    prepared = prepare(config, folder=tmp_path / "e2e", quiet=True)
    dev = summarize(prepared, "dev")
    assert dev.mean_cost == pytest.approx(11.0, abs=0.1)
    assert dev.whole_neighbor_first > 0.99
    assert leak(prepared, "dev") == pytest.approx(0.044, abs=0.002)
    assert leak(prepared, "test") == pytest.approx(0.72, abs=0.002)
    for name in ("train", "dev"):
        split = prepared.split(name)
        for row in range(0, len(split), 10):
            sources = sources_of(split, row, prepared.store, prepared.vocabulary)
            assert [int(t) for t in replay(split.derivation(row), sources)] == split.targets[row].tolist()


@pytest.mark.data
def test_the_wikibio_sample_goes_all_the_way(wikibio_folder: Path, tmp_path: Path) -> None:
    config = Config().with_values(
        [f'corpus.source="wikibio:{wikibio_folder}"', "text.tokenizer=spaces", "corpus.too_long=truncate"]
    )
    prepared = prepare(config, folder=tmp_path / "wikibio", quiet=True)
    assert [len(prepared.split(name)) for name in ("train", "dev", "test")] == [582, 100, 100]
