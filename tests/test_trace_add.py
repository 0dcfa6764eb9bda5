"""Adding approved texts: the store grows, what was there stays, and withdrawing is the inverse."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import textsplice
from textsplice import Example, Table, schemas
from textsplice.cli import app
from textsplice.config import Config, load_config
from textsplice.errors import InputError, StorageError, TextspliceError, VerificationError
from textsplice.neighbors.by_text import TextIndex
from textsplice.neighbors.store import Store
from textsplice.prepare import prepare
from textsplice.prepare.build import Build
from textsplice.prepare.growing import Given, grow, plan_growth, words_of
from textsplice.runs import Export, Prepared, Run, export_run
from textsplice.runs.lineage import earlier, store_hash
from textsplice.runs.ownership import locked
from textsplice.search.encodings import Encodings
from textsplice.search.generation import Generation
from textsplice.search.rows import row_text
from textsplice.splicer import Splicer
from textsplice.text.vocabulary import MASK_ID, UNKNOWN_ID
from textsplice.trace.add import Added, add
from textsplice.trace.verifying import Verifier
from textsplice.trace.withdraw import prepared_without, run_without

OLD = Path(__file__).parent / "data" / "version-0.1"
RUNS, PREPARED = OLD / "runs", OLD / "prepared"
Row = dict[str, Any]

# One like those of the corpus, with words that it lacks, and one that is far from all of them.
NEAR: Row = {
    "table": {"name": "Quill Loft", "craft": "calligraphy", "town": "Tamsford", "day": "Friday"},
    "text": "Quill Loft offers splendid calligraphy in Tamsford on Friday.",
}
FAR: Row = {"table": {"planet": "Neptune", "moons": "16"}, "text": "Neptune, a gas giant, has 16 moons."}


@pytest.fixture(scope="module")
def tables() -> list[Table]:
    return [example.table for example in textsplice.read_corpus(str(OLD / "corpus"), "dev")]


def written(path: Path, rows: Iterable[Mapping[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def grown(folder: Path, *rows: Row, kind: str = "full", name: str = "new") -> Path:
    """The run of a kind with these texts besides."""
    add(RUNS / kind, written(folder / f"{name}.jsonl", rows), folder / name)
    return folder / name


def made(run: Path, tables: Sequence[Table], *, swap: bool = False) -> list[Generation]:
    splicer = Splicer.untrained(run) if swap else Splicer.load(run)
    return list(splicer.generate_many(tables, progress=False))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def said(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    if isinstance(result.exception, TextspliceError):
        return 2, result.exception.sentence()
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def interrupt(*_arguments: object, **_more: object) -> None:
    raise KeyboardInterrupt


# The store


def test_what_was_there_keeps_its_rows_and_its_words(tmp_path: Path) -> None:
    old, new = Run.open(RUNS / "full"), Run.open(grown(tmp_path, NEAR, FAR))
    count = len(old.store)
    assert new.store.ids == [*old.store.ids, "added:1", "added:2"]
    assert new.store.texts == [*old.store.texts, NEAR["text"], FAR["text"]]
    assert new.store.tables == [*old.store.tables, Table.of(NEAR["table"]), Table.of(FAR["table"])]
    for row in range(count):
        assert new.store.tokens[row].tolist() == old.store.tokens[row].tolist()
    assert new.store.index.row_commonness[:count].tolist() == old.store.index.row_commonness.tolist()
    words = old.vocabulary
    assert new.vocabulary.words[: len(words)] == words.words
    # Values are masked, and nobody can copy them from here.
    assert new.vocabulary.words[len(words) :] == ("offers", "splendid", "gas", "giant", "has", "moons")
    assert (new.vocabulary.embedded, new.vocabulary.generate) == (words.embedded, words.generate)
    assert new.weights_id == old.weights_id
    assert new.check() > 0


def test_the_values_of_an_added_text_are_masked(tmp_path: Path) -> None:
    run = Run.open(grown(tmp_path, NEAR))
    tokens = run.vocabulary.decode(run.store.tokens[len(run.store) - 1].tolist())
    hidden = ["\x1a"] * 2
    assert tokens[1:-1] == [*hidden, "offers", "splendid", "\x1a", "in", "\x1a", "on", "\x1a", "."]


def test_the_folder_says_what_was_added(tmp_path: Path) -> None:
    old, new = Run.open(RUNS / "full"), Run.open(grown(tmp_path, NEAR))
    assert new.id != old.id
    before = new.about["made_from"]
    assert isinstance(before, dict)
    assert before["run"] == old.id
    assert (before["added"], before["rows"], before["words"]) == (["added:1"], 28, len(old.vocabulary))
    assert before["version"] == textsplice.__version__
    jsonschema.validate(
        json.loads((tmp_path / "new" / "run.json").read_text(encoding="utf-8")), schemas.load("run")
    )
    again = add(RUNS / "full", tmp_path / "new.jsonl", tmp_path / "again")
    assert again == Added(tmp_path / "again", ("added:1",), (), 0, 0)
    assert Run.open(tmp_path / "again").id == new.id  # the same input, the same output
    other = add(RUNS / "full", written(tmp_path / "other.jsonl", [FAR]), tmp_path / "other")
    assert Run.open(other.folder).id != new.id


def whole_config(folder: Path, rows: Sequence[Row]) -> Config:
    """The corpus of the runs with more training rows, to be prepared from nothing."""
    shutil.copytree(OLD / "corpus", folder)
    with (folder / "train.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return replace(
        load_config(OLD / "config.toml"),
        corpus=replace(Config().corpus, source=str(folder), splits=("train",)),
    )


def test_indexes_and_trigrams_are_those_of_the_whole_corpus_prepared_from_nothing(
    tmp_path: Path, tables: list[Table]
) -> None:
    rows = [
        {**row, "id": f"n{number}"} for number, row in enumerate((NEAR, FAR, {**NEAR, "text": "Learn it."}))
    ]
    store = Run.open(grown(tmp_path, *rows)).store
    whole = prepare(whole_config(tmp_path / "corpus", rows), folder=tmp_path / "whole", quiet=True)
    assert (store.ids, store.texts, store.tables) == (whole.store.ids, whole.store.texts, whole.store.tables)
    assert store.table_of.tolist() == whole.store.table_of.tolist()
    queries = [store.features(table) for table in (*tables, *store.tables)]
    for k in (1, 5, len(store)):
        # Which of two equally near texts comes first depends on how common their words are.
        mine, theirs = store.index.search_many(queries, k), whole.store.index.search_many(queries, k)
        assert mine[1].tolist() == theirs[1].tolist()
    assert np.sort(mine[0]).tolist() == np.sort(theirs[0]).tolist()
    texts = [TextIndex.build(each.tokens, MASK_ID) for each in (store, whole.store)]
    found = [
        index.search_many(each.tokens, 7) for index, each in zip(texts, (store, whole.store), strict=True)
    ]
    assert found[0][0].tolist() == found[1][0].tolist()
    assert found[0][1].tolist() == found[1][1].tolist()
    assert len(store.trigrams) == len(whole.store.trigrams)
    assert store.trigrams.numbers == whole.store.trigrams.numbers
    assert store.trigrams.triples.tolist() == whole.store.trigrams.triples.tolist()


def test_the_index_is_byte_for_byte_one_that_is_built_of_all_rows(tmp_path: Path) -> None:
    store = Run.open(grown(tmp_path, NEAR, FAR)).store
    Store.build(
        ids=store.ids,
        texts=store.texts,
        tokens=store.tokens,
        table_of=store.table_of,
        tables=store.tables,
        offered=store.offered,
        commonness=store.index.row_commonness,
        tokenizer=store.tokenizer,
        fold=store.fold,
        score=store.score,
        approved=store.approved,
    ).save(tmp_path / "built")
    assert contents(tmp_path / "built") == contents(tmp_path / "new" / "store")


def test_a_text_that_is_there_with_another_record_is_as_common_as_it_was(tmp_path: Path) -> None:
    text = Run.open(RUNS / "full").store.texts[3]
    store = Run.open(grown(tmp_path, {"table": {"name": "Other"}, "text": text})).store
    common = store.index.row_commonness
    assert common[len(store) - 1] == common[3]


@pytest.mark.parametrize("kind", ["full", "lrt", "copy"])
def test_texts_whose_neighbors_are_the_same_are_the_same(
    kind: str, tmp_path: Path, tables: list[Table]
) -> None:
    before = made(RUNS / kind, tables)
    after = made(grown(tmp_path, FAR, NEAR, kind=kind), tables)
    same = 0
    for old, new in zip(before, after, strict=True):
        if old.sources.neighbors == new.sources.neighbors:
            same += 1
            assert (old.text, old.splices, old.score) == (new.text, new.splices, new.score)
    assert same


def test_new_words_are_copied_and_read_as_unknown_ones(tmp_path: Path) -> None:
    run = grown(tmp_path, NEAR)
    splicer = Splicer.load(run)
    assert splicer.policy is not None
    ids = np.array(splicer.vocabulary.encode(["splendid", "offers"]))
    assert ids.min() >= len(Run.open(RUNS / "full").vocabulary)
    assert splicer.policy.shape.embed(ids).tolist() == [UNKNOWN_ID] * 2
    table = {"name": "Reed Hall", "craft": "calligraphy", "town": "Tamsford", "day": "Friday"}
    near = made(run, [Table.of(table)], swap=True)[0]
    assert near.text == "Reed Hall offers splendid calligraphy in Tamsford on Friday."
    assert near.sources.neighbors[near.splices[0].neighbor - 1].id == "added:1"
    by_policy = splicer.generate(table)
    assert by_policy.policy == "full"
    assert "added:1" in {neighbor.id for neighbor in by_policy.sources.neighbors}
    assert textsplice.verify([near, by_policy], run) == 2


# Withdrawing is the inverse


def test_withdrawing_exactly_what_was_added_gives_the_store_of_before(tmp_path: Path) -> None:
    """Byte for byte, and the vocabulary too."""
    run = grown(tmp_path, NEAR, FAR)
    add(run, [Example("more", Table.of({"a": "b"}), "More and more.")], tmp_path / "more")
    run_without(Run.open(tmp_path / "more"), ["more"], tmp_path / "back")
    assert contents(tmp_path / "back" / "store") == contents(run / "store")
    assert (tmp_path / "back" / "vocab.json").read_bytes() == (run / "vocab.json").read_bytes()
    run_without(Run.open(tmp_path / "back"), ["added:1", "added:2"], tmp_path / "first")
    first, old = Run.open(tmp_path / "first"), Run.open(RUNS / "full")
    assert store_hash(first.store) == store_hash(old.store)
    assert first.vocabulary == old.vocabulary
    assert b"splendid" not in b"".join(contents(tmp_path / "first").values())


def test_words_of_another_added_text_stay(tmp_path: Path) -> None:
    run = Run.open(grown(tmp_path, NEAR, FAR))
    left = run_without(run, ["added:1"], tmp_path / "left")
    assert left.store.texts[-1] == FAR["text"]
    tokens = left.vocabulary.decode(left.store.tokens[len(left.store) - 1].tolist())
    assert [token for token in tokens if token.isalpha()] == ["a", "gas", "giant", "has", "moons"]
    assert "splendid" not in left.vocabulary.words
    assert Splicer.load(left.path).generate(FAR["table"]).text == FAR["text"]


SOME = st.sampled_from(["Ivy", "Oak", "red", "blue", "mill", "splendid", "7", "é", "—"])
RECORDS = st.dictionaries(st.sampled_from(["name", "craft", "town", "size"]), SOME, min_size=1)
TEXTS = st.lists(SOME, min_size=1, max_size=6).map(" ".join)


@settings(max_examples=40)
@given(st.lists(st.tuples(RECORDS, TEXTS), min_size=1, max_size=6), st.integers(0, 6))
def test_any_texts_can_be_added_in_one_or_two_steps_and_taken_out_again(
    rows: list[tuple[dict[str, str], str]], cut: int
) -> None:
    run = Run.open(RUNS / "full")
    start, words = run.store, run.vocabulary
    examples = [
        Given(Example(f"{number}", Table.of(record), text), named=False)
        for number, (record, text) in enumerate(rows)
    ]
    store = start
    for part in filter(None, (examples[:cut], examples[cut:])):
        with suppress(InputError):  # nothing new
            growth = plan_growth(store, run.config, part, where="here")
            words = words.extended(words_of(growth, run.config))
            store = grow(store, words, growth, run.config, None)
    assert store.is_sound()
    distinct = dict.fromkeys((Table.of(record), text) for record, text in rows)
    found = [(store.tables[int(store.table_of[row])], store.texts[row]) for row in range(28, len(store))]
    assert found == list(distinct)
    for record, text in {Table.of(record): text for record, text in rows}.items():
        assert store.texts[store.approved_of(record)[0]] == text
    kept = np.arange(len(store)) < len(start)
    assert store_hash(store.only(kept)) == store_hash(start)
    folders = [Path(tempfile.mkdtemp()) for _ in range(2)]
    store.only(kept).save(folders[0])
    start.save(folders[1])
    assert contents(folders[0]) == contents(folders[1])
    for folder in folders:
        shutil.rmtree(folder)


# Texts of before


def test_texts_of_before_are_verified_by_the_new_folder(tmp_path: Path, tables: list[Table]) -> None:
    old = RUNS / "full"
    rows = [*made(old, tables), *made(old, tables, swap=True)]
    rows += [Splicer.untrained(old).trace(row.text) for row in rows[:3]]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(map(row_text, rows)), encoding="utf-8")
    first = grown(tmp_path, NEAR, FAR)
    add(first, [Example("x", Table.of({"a": "b"}), "A course in splendid pottery.")], tmp_path / "second")
    for run in (first, tmp_path / "second"):
        code, output = said("verify", file, "--run", run)
        assert code == 0, output
        assert f"{len(rows)} verified, 0 unchanged, 0 drifted, 0 fabricated" in output
        assert textsplice.verify(rows, run) == len(rows)


def test_texts_of_before_can_not_have_used_what_came_later(tmp_path: Path) -> None:
    run = grown(tmp_path, NEAR)
    table = {"name": "Reed Hall", "craft": "calligraphy", "town": "Tamsford", "day": "Friday"}
    row = made(run, [Table.of(table)], swap=True)[0]
    forged = replace(row, run=Run.open(RUNS / "full").id)
    finding = Verifier(Splicer.untrained(run).witness).find(forged)
    assert finding.verdict == "fabricated"
    with pytest.raises(VerificationError, match="neighbor 'added:1' is not in the run's store"):
        textsplice.verify(forged, run)


def test_adding_and_withdrawing_in_turn_keeps_drift_apart_from_forgery(
    tmp_path: Path, tables: list[Table]
) -> None:
    old = RUNS / "full"
    rows = made(old, tables, swap=True)
    used = {row.id: row.sources.neighbors[row.splices[0].neighbor - 1].id for row in rows}
    gone = used[rows[0].id]
    first = grown(tmp_path, NEAR)
    approved = Splicer.load(first).generate(NEAR["table"])
    run_without(Run.open(first), ["added:1", gone], tmp_path / "second")
    # The same id comes back with another text.
    add(tmp_path / "second", [Example("added:1", Table.of({"a": "b"}), "Another.")], tmp_path / "third")
    third = Run.open(tmp_path / "third")
    steps = earlier(third.about)
    assert [set(then.taken_out) for then in steps.values()] == [set(), {"added:1", gone}, {gone}]
    assert [set(then.added) for then in steps.values()] == [{"added:1"}] * 3
    verifier = Verifier(Splicer.untrained(third.path).witness)
    for row in rows:
        expected = "drifted" if used[row.id] == gone else "unchanged"
        finding = verifier.find(row)
        assert (finding.verdict, finding.vouched) == (expected, True), finding
    assert verifier.find(approved).verdict == "drifted"
    assert verifier.find(replace(approved, run=Run.open(old).id)).verdict == "fabricated"
    trace = Splicer.untrained(old).trace("Another. Learn pottery at Ivy Court.")
    assert verifier.find(trace).verdict in ("unchanged", "drifted")  # though it is traced otherwise now


def test_a_row_that_was_changed_is_still_found(tmp_path: Path, tables: list[Table]) -> None:
    run = grown(tmp_path, NEAR)
    row = made(RUNS / "full", tables[:1], swap=True)[0]
    verifier = Verifier(Splicer.untrained(run).witness)
    assert verifier.find(row).verdict == "verified"
    assert verifier.find(replace(row, score=row.score, run="0" * 12)).verdict == "unchanged"
    other = replace(row, weights="0" * 12)
    assert verifier.find(other).verdict == "fabricated"


# Ids and duplicates


def test_duplicates_are_counted_and_not_added_twice(tmp_path: Path) -> None:
    store = Run.open(RUNS / "full").store
    known = {"id": "k", "table": dict(store.tables[0].to_record()), "text": f"  {store.texts[0]} "}
    added = add(RUNS / "full", written(tmp_path / "a.jsonl", [known, NEAR, NEAR]), tmp_path / "new")
    assert added == Added(tmp_path / "new", ("added:1",), (store.ids[0],), 2, 0)
    assert len(Run.open(added.folder).store) == len(store) + 1
    with pytest.raises(InputError, match=r"has nothing new: all its texts are in the store, and approved\."):
        add(added.folder, tmp_path / "a.jsonl", tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_the_same_text_of_another_record_is_no_duplicate(tmp_path: Path) -> None:
    store = Run.open(RUNS / "full").store
    row = {"table": {"name": "Other"}, "text": store.texts[0]}
    assert add(RUNS / "full", written(tmp_path / "a.jsonl", [row]), tmp_path / "new").duplicates == 0


def test_ids_that_are_taken_are_named(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", [{**NEAR, "id": "w3"}])
    with pytest.raises(InputError) as raised:
        add(RUNS / "full", file, tmp_path / "new")
    assert raised.value.sentence() == (
        f"{file}: the id 'w3' is that of another text of the store. Give it another id, or number all of "
        "these texts anew: --new-ids."
    )
    written(file, [{**NEAR, "id": "x"}, {**FAR, "id": "x"}])
    with pytest.raises(InputError, match="the id 'x' is that of another text of these"):
        add(RUNS / "full", file, tmp_path / "new")
    assert not (tmp_path / "new").exists()
    assert add(RUNS / "full", file, tmp_path / "new", new_ids=True).ids == ("added:1", "added:2")


def test_fresh_ids_go_on_and_are_never_given_again(tmp_path: Path) -> None:
    first = grown(tmp_path, NEAR)
    rows = [FAR, {**FAR, "text": "Named.", "id": "added:7"}, {**FAR, "text": "Not named."}]
    second = add(first, written(tmp_path / "b.jsonl", rows), tmp_path / "second")
    assert second.ids == ("added:8", "added:7", "added:9")
    run_without(Run.open(second.folder), second.ids, tmp_path / "third")
    assert add(tmp_path / "third", [Example("", Table.of({"a": "b"}), "x")], tmp_path / "d").ids == ("",)
    fourth = add(tmp_path / "third", tmp_path / "b.jsonl", tmp_path / "fourth", new_ids=True)
    assert fourth.ids == ("added:10", "added:11", "added:12")


# What can be given


def test_rows_of_generate_are_taken_if_they_are_finished(tmp_path: Path, tables: list[Table]) -> None:
    rows = [json.loads(row_text(row)) for row in made(RUNS / "full", tables[:3], swap=True)]
    rows[1] |= {"status": "unfinished", "reason": "the policy did not end the text"}
    rows[2] |= {"status": "abstained", "text": ""}
    added = add(RUNS / "full", written(tmp_path / "rows.jsonl", rows), tmp_path / "new")
    assert (len(added.ids), added.left_out) == (1, 2)
    assert Run.open(added.folder).store.texts[-1] == rows[0]["text"]


def test_a_csv_has_the_text_column_that_the_run_remembers(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    shutil.copytree(RUNS / "full", folder)
    config = (folder / "config.toml").read_text(encoding="utf-8")
    config = config.replace('text_column = ""', 'text_column = "about"')
    assert 'text_column = "about"' in config
    (folder / "config.toml").write_text(config, encoding="utf-8")
    (tmp_path / "a.csv").write_text("name,town,about\nReed Hall,Tamsford,Reed Hall is in Tamsford.\n")
    run = add(folder, tmp_path / "a.csv", tmp_path / "new").folder
    assert Run.open(run).store.texts[-1] == "Reed Hall is in Tamsford."
    assert dict(Run.open(run).store.tables[-1].to_record()) == {"name": "Reed Hall", "town": "Tamsford"}
    (tmp_path / "b.csv").write_text("name,said\nReed Hall,Reed Hall is here.\n")
    assert len(add(folder, tmp_path / "b.csv", tmp_path / "named", text_column="said").ids) == 1


def test_the_texts_of_another_run_or_prepared_folder_can_be_added(tmp_path: Path) -> None:
    first = grown(tmp_path, NEAR, FAR)
    added = add(RUNS / "lrt", first, tmp_path / "other")
    assert (added.ids, added.duplicates) == (("added:1", "added:2"), 28)
    assert len(added.approved) == 28
    assert add(PREPARED, first, tmp_path / "prepared").ids == ("added:1", "added:2")


def test_examples_can_be_given_in_python(tmp_path: Path) -> None:
    example = Example("mine", Table.of(NEAR["table"]), NEAR["text"])
    added = textsplice.add(RUNS / "full", [example, replace(example, id="no", text=None)], tmp_path / "new")
    assert (added.ids, added.left_out) == (("mine",), 1)


# Encodings


def test_encodings_of_old_texts_are_taken_over_and_only_new_ones_are_computed(
    tmp_path: Path, tables: list[Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    old = Path(shutil.copytree(RUNS / "full", tmp_path / "old"))
    Splicer.load(old).encodings.save(quiet=True)
    file = written(tmp_path / "a.jsonl", [NEAR, FAR])
    computed: list[int] = []
    compute = Encodings._compute  # pyright: ignore[reportPrivateUsage]

    def counted(self: Encodings, rows: Sequence[int]) -> Any:
        computed.extend(rows)
        return compute(self, rows)

    monkeypatch.setattr(Encodings, "_compute", counted)
    new = add(old, file, tmp_path / "new").folder
    assert computed == [28, 29]
    computed.clear()
    with_them = made(new, tables)
    assert computed == []
    Run.open(new).encodings.remove()
    without = made(new, tables)
    assert computed
    assert [row.text for row in with_them] == [row.text for row in without]
    assert not Run.open(add(RUNS / "full", file, tmp_path / "other").folder).encodings.exists()


# Prepared folders and exports


def test_a_prepared_folder_grows_like_a_run(tmp_path: Path) -> None:
    prepared = prepare(
        whole_config(tmp_path / "corpus", []), folder=tmp_path / "prepared", quiet=True, threads=1
    )
    file = written(tmp_path / "a.jsonl", [NEAR, FAR])
    added = add(prepared.folder, file, tmp_path / "new")
    new = Prepared.open(added.folder)
    assert new.check() == len(new.manifest.hashes)
    words = prepared.vocabulary.words
    assert new.vocabulary.words[: len(words)] == words
    split = new.split("train")
    assert split.ids == new.store.ids == [*prepared.store.ids, *added.ids]
    assert split.tables[-1] == Table.of(FAR["table"])
    assert new.vocabulary.decode(split.targets[29].tolist())[1:4] == ["Neptune", ",", "a"]
    text = Splicer.untrained(new).generate(NEAR["table"])
    assert (text.text, text.policy, text.weights) == (NEAR["text"], "approved", None)
    assert textsplice.verify(text, new.folder) == 1
    back = prepared_without(new, added.ids, tmp_path / "back")
    for name, content in contents(prepared.folder).items():
        if name not in ("manifest.json", "texts/train.parquet", "texts/train-tables.parquet"):
            assert contents(back.folder)[name] == content, name
    left = prepared_without(new, [added.ids[0], prepared.store.ids[4]], tmp_path / "left")
    assert Splicer.untrained(left).generate(FAR["table"]).text == FAR["text"]
    assert Splicer.untrained(left).generate(NEAR["table"]).policy == "swap"


def test_a_prepared_folder_that_was_not_finished_is_taken_up_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path / "a.jsonl", [NEAR])
    whole = add(PREPARED, file, tmp_path / "whole").folder
    with monkeypatch.context() as patched:
        patched.setattr(Build, "_vocabulary", interrupt)
        with pytest.raises(KeyboardInterrupt):
            add(PREPARED, file, tmp_path / "half")
    with pytest.raises(StorageError):
        Prepared.open(tmp_path / "half")
    add(PREPARED, file, tmp_path / "half")
    assert contents(tmp_path / "half") == contents(whole)


def test_an_export_takes_its_texts_from_a_folder_that_has_grown(tmp_path: Path, tables: list[Table]) -> None:
    export = export_run(RUNS / "full", tmp_path / "export").path
    file = written(tmp_path / "a.jsonl", [NEAR, FAR])
    stores = [add(PREPARED, file, tmp_path / "prepared").folder, grown(tmp_path, NEAR, FAR)]
    for store in stores:
        splicer = Splicer.load(export, store=store)
        assert splicer.generate(NEAR["table"]).text == NEAR["text"]
        rows = list(splicer.generate_many(tables[:2], progress=False))
        assert textsplice.verify(rows, export, store=store) == 2
    again = export_run(stores[1], tmp_path / "again").path  # an export of the grown run
    for store in (PREPARED, *stores):
        assert Splicer.load(again, store=store).generate(tables[0]).status == "ok"
    assert Splicer.load(again, store=stores[1]).run == Run.open(stores[1]).id
    assert Export.open(again).about["words"] == Export.open(export).about["words"]


# What can't be


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "the file is empty"),
        ("\n\n", "there is no example in this file"),
        ('{"text": "No record."}\n', "the table has no field"),
        ('{"table": {}, "text": "No record."}\n', "the table has no field"),
        ('{"table": {"a": ""}, "text": "No record."}\n', "the text 'added:1' has no record"),
        ('{"table": {"a": "b"}}\n', "has no text to add"),
        ('{"table": {"a": "b"}, "text": "\\u200b \\u0001\\u001a"}\n', "has no text to add"),
        ('{"table": {"a": "b"}, "text": "\\ud800"}\n', "half of a surrogate pair"),
        ("not JSON\n", "not valid JSON"),
        (
            json.dumps({"table": {"a": "b"}, "text": "long " * 500}) + "\n",
            "corpus.max_tokens of the store is 400",
        ),
        (
            json.dumps({"table": {"a": "b " * 900}, "text": "x"}) + "\n",
            "corpus.max_table_tokens of the store",
        ),
    ],
)
def test_bad_texts_are_a_sentence_and_nothing_is_written(tmp_path: Path, content: str, words: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(content, encoding="utf-8")
    for store in (RUNS / "full", PREPARED):
        code, sentence = said("add", store, file, "--out", tmp_path / "new")
        assert code == 2
        assert words in sentence
        assert "\n" not in sentence
        assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


def test_hostile_characters_neither_forge_a_mark_nor_command_a_terminal(tmp_path: Path) -> None:
    text = "\x02Zork\x03 \x1a is\x1b[31m a\u202e pub\u200b.\r\nIt is\told."
    row: Row = {"id": "\x1b]0;x\x07", "table": {"name\x1b": "Zork\x02"}, "text": text}
    code, output = said("add", RUNS / "full", written(tmp_path / "a.jsonl", [row]), "--out", tmp_path / "new")
    assert (code, "\x1b" in output) == (0, False)
    out = Splicer.load(tmp_path / "new").generate(row["table"])
    assert (out.policy, out.text) == ("approved", " ".join(out.text.split()))
    assert not set(out.text) & set("\x02\x03\x1a\x1b\u202e\n\t") - {"\u202e"}
    assert out.text.endswith("It is old.")
    assert textsplice.verify(out, tmp_path / "new") == 1


def test_half_a_surrogate_pair_from_python_is_a_sentence(tmp_path: Path) -> None:
    for example in (
        Example("x", Table.of({"a": "b"}), "\ud800"),
        Example("\ud800", Table.of({"a": "b"}), "x"),
        Example("x", Table.of({"a": "\ud800"}), "x"),
    ):
        with pytest.raises(InputError, match="half of a surrogate pair"):
            add(RUNS / "full", [example], tmp_path / "new")


def test_stores_that_take_no_texts_say_what_to_do(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", [NEAR])
    export = export_run(RUNS / "full", tmp_path / "export").path
    code, sentence = said("add", export, file, "--out", tmp_path / "new")
    assert (code, "Add them to the prepared folder (or run)" in sentence) == (2, True)
    for store in (OLD / "corpus" / "train.jsonl", tmp_path, tmp_path / "nowhere"):
        code, sentence = said("add", store, file, "--out", tmp_path / "new")
        assert (code, "is neither a run nor a prepared folder" in sentence) == (2, True)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("store", [RUNS / "full", PREPARED])
def test_no_folder_is_overwritten(store: Path, tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", [NEAR])
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("mine")
    code, sentence = said("add", store, file, "--out", tmp_path / "mine")
    assert (code, "is not empty" in sentence) == (2, True)
    assert contents(tmp_path / "mine") == {"letter.txt": b"mine"}
    assert said("add", store, file, "--out", tmp_path / "new")[0] == 0
    before = contents(tmp_path / "new")
    code, sentence = said("add", store, file, "--out", tmp_path / "new")
    assert (code, "already. Name a new folder." in sentence) == (2, True)
    assert contents(tmp_path / "new") == before


@pytest.mark.parametrize("existed", [False, True])
@pytest.mark.parametrize("where", ["describe", "_copy", "_record"])
def test_an_interruption_leaves_nothing_behind(
    where: str, existed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path / "a.jsonl", [NEAR])
    if existed:
        (tmp_path / "new").mkdir()
    before = contents(RUNS / "full")
    with monkeypatch.context() as patched:
        patched.setattr(Run, where, interrupt)
        with pytest.raises(KeyboardInterrupt):
            add(RUNS / "full", file, tmp_path / "new")
    assert (tmp_path / "new").exists() == existed
    assert contents(tmp_path) == {"a.jsonl": file.read_bytes()}
    assert contents(RUNS / "full") == before
    assert add(RUNS / "full", file, tmp_path / "new").ids == ("added:1",)


def test_an_interruption_while_texts_are_encoded_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = Path(shutil.copytree(RUNS / "full", tmp_path / "old"))
    Splicer.load(old).encodings.save(quiet=True)
    monkeypatch.setattr(Encodings, "_compute", interrupt)
    with pytest.raises(KeyboardInterrupt):
        add(old, written(tmp_path / "a.jsonl", [NEAR]), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_what_a_killed_process_left_is_made_anew(tmp_path: Path) -> None:
    run = grown(tmp_path, NEAR)
    whole = contents(run)
    (run / "config.toml").unlink()  # it comes last
    (run / "model.safetensors").unlink()
    add(RUNS / "full", tmp_path / "new.jsonl", run)
    assert contents(run) == whole


@pytest.mark.parametrize("store", [RUNS / "full", PREPARED])
def test_two_at_the_same_time_do_not_write_one_folder(store: Path, tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", [NEAR])
    with locked(tmp_path / "new", StorageError("is held by another test.")):
        code, sentence = said("add", store, file, "--out", tmp_path / "new")
    assert (code, "another process is " in sentence) == (2, True)
    assert not list((tmp_path / "new").iterdir())
    assert said("add", store, file, "--out", tmp_path / "new")[0] == 0


# The command


def test_the_command_says_what_it_would_do_and_does_it(tmp_path: Path) -> None:
    store = Run.open(RUNS / "full").store
    known = {"table": dict(store.tables[0].to_record()), "text": store.texts[0]}
    file = written(tmp_path / "a.jsonl", [NEAR, FAR, known, {"table": {"a": "b"}}])
    code, output = said("add", RUNS / "full", file)
    assert (code, output) == (
        0,
        f"{RUNS / 'full'}: would get 2 texts more (added:1, added:2).\n"
        "1 text was there already, with the same record; 1 of them newly approved.\n"
        "1 row has no finished text.\n"
        "Nothing was written: name a new folder with --out.\n",
    )
    new, ids = tmp_path / "new", tmp_path / "ids.txt"
    code, output = said("add", RUNS / "full", file, "--out", new, "--ids", ids, "-q")
    assert (code, output.splitlines()[0]) == (0, f"{new}: has 2 texts more (added:1, added:2).")
    assert ids.read_text() == "added:1\nadded:2\n"
    code, output = said("withdraw", new, "--ids-from", ids, "--out", tmp_path / "back")
    assert (code, output.splitlines()[-1]) == (0, f"{tmp_path / 'back'}: the run without 2 texts.")
    assert Run.open(tmp_path / "back").store.ids == store.ids


def test_the_file_of_ids_is_not_written_over_another(tmp_path: Path) -> None:
    file = written(tmp_path / "a.jsonl", [NEAR])
    ids = tmp_path / "ids.txt"
    ids.write_text("mine")
    for arguments in (["--out", tmp_path / "new", "--ids", ids], ["--ids", tmp_path / "x.txt"]):
        assert said("add", RUNS / "full", file, *arguments)[0] == 2
    inside = tmp_path / "new" / "ids.txt"
    assert said("add", RUNS / "full", file, "--out", tmp_path / "new", "--ids", inside)[0] == 2
    assert not (tmp_path / "new").exists()
    assert ids.read_text() == "mine"
