"""Texts to trace to are worked out once: what is kept gives the same traces, and nothing stale is used."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import textsplice
from textsplice import Table
from textsplice.cli import app
from textsplice.corpus import read_corpus
from textsplice.corpus.reader import Reader
from textsplice.corpus.table import Example
from textsplice.errors import InputError, StorageError, VerificationError
from textsplice.extensions import FORMATS
from textsplice.prepare.build import prepare
from textsplice.runs import Prepared, kept, remembered
from textsplice.runs.integrity import CheckedFiles
from textsplice.runs.kept import find_kept, keep, kept_folder, key_of_parts
from textsplice.splicer import Splicer
from textsplice.trace import opening
from textsplice.trace.opening import open_texts
from textsplice.trace.texts import SourceTexts
from textsplice.trace.tracing import Tracer

OLD = Path(__file__).parent / "data" / "version-0.1"
ROWS = [
    {"id": "a", "table": {"name": "The Mill", "near": "river"}, "text": "The Mill is a pub near the river."},
    {"id": "b", "table": {"name": "Heron Hall"}, "text": "Heron Hall is cheap, and it is near the bridge."},
    {"id": "c", "table": {"price": "£20"}, "text": "It costs £20 😀 and is open 24/7."},
]
DRAFTS: list[tuple[str, dict[str, object] | None]] = [
    ("The Mill is cheap, and it is open.", None),
    ("The Swan is a noisy pub near the bridge.", {"name": "The Swan"}),
    ("患者 被给予", None),
]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return written(tmp_path / "approved.jsonl", ROWS)


def written(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def traces(texts: SourceTexts) -> str:
    tracer = Tracer(texts)
    return json.dumps(
        [
            tracer.trace(text, table, exact=exact).to_dict()
            for text, table in DRAFTS
            for exact in (True, False)
        ]
    )


def opened(source: Path | str) -> SourceTexts:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return open_texts(read_corpus(source))


def entries() -> list[Path]:
    return sorted(kept_folder().iterdir()) if kept_folder().is_dir() else []


@pytest.fixture
def worked_out(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How often texts are worked out."""
    found: list[str] = []
    for name in ("of_examples", "of_store"):
        method: Callable[..., SourceTexts] = getattr(SourceTexts, name)

        def counted(*arguments: object, name: str = name, method: Callable[..., SourceTexts] = method):
            found.append(name)
            return method(*arguments)

        monkeypatch.setattr(SourceTexts, name, counted)
    return found


# The same by the kept form


WORDS = st.lists(st.sampled_from(["a", "b", "The", "Mill", "£20", "😀", "é", "-"]), max_size=7).map(" ".join)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=8), WORDS, WORDS)
@settings(max_examples=60)
def test_what_is_kept_is_what_was_worked_out(rows: list[tuple[str, str]], draft: str, value: str) -> None:
    examples = [Example(f"t{n}", Table.of({"f": said or "x"}), text) for n, (said, text) in enumerate(rows)]
    fresh = SourceTexts.of_examples(examples, "words")
    with TemporaryDirectory() as folder:
        told: list[int] = []
        fresh.save(Path(folder), told.append)
        mapped = SourceTexts.load(Path(folder))
        assert sum(told) == 2 * len(fresh)
        assert (list(mapped.ids), list(mapped.texts)) == (
            [e.id for e in examples],
            [e.text for e in examples],
        )
        assert (mapped.words, mapped.name, mapped.tokenizer) == (fresh.words, fresh.name, fresh.tokenizer)
        for mine, other in ((mapped.written, fresh.written), (mapped.masked, fresh.masked)):
            assert not mine.tokens.values.flags.owndata
            assert [row.tolist() for row in mine.tokens] == [row.tolist() for row in other.tokens]
            assert mine.index.postings.tolist() == other.index.postings.tolist()
            assert mine.index.buckets.tolist() == other.index.buckets.tolist()
        for table in (None, {"g": value or "x"}):
            for exact in (True, False):
                both = [Tracer(t).trace(f"a {draft}", table, exact=exact).to_dict() for t in (fresh, mapped)]
                assert json.dumps(both[0]) == json.dumps(both[1])


def test_the_second_opening_works_nothing_out(corpus: Path, worked_out: list[str]) -> None:
    first = traces(opened(corpus))
    assert traces(opened(corpus)) == first == traces(SourceTexts.of_examples(read_corpus(corpus), "words"))
    assert worked_out == ["of_examples", "of_examples"]  # once by us, just now
    assert len(entries()) == 1


def test_a_run_and_a_prepared_folder_are_kept_too_and_not_changed(
    tmp_path: Path, worked_out: list[str]
) -> None:
    for kind, folder in (("runs/full", tmp_path / "run"), ("prepared", tmp_path / "prepared")):
        shutil.copytree(OLD / kind, folder)
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        splicer = Splicer.untrained(folder)
        by_hand = Tracer(SourceTexts.of_store(splicer.store, splicer.vocabulary.words, splicer.run))
        worked_out.clear()
        text = splicer.store.texts[0] + " planted " + splicer.store.texts[1]
        expected = by_hand.trace(text).to_dict()
        assert splicer.trace(text).to_dict() == expected
        assert Splicer.untrained(folder).trace(text).to_dict() == expected
        out = tmp_path / "drafts.txt"
        out.write_text(text + "\n", encoding="utf-8")
        result = CliRunner().invoke(app, ["trace", str(folder), str(out)])
        row = json.loads(result.stdout)
        assert (row["splices"], row["run"]) == (expected["splices"], splicer.run)
        assert worked_out == ["of_store"]
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_splicer_traces_to_the_texts_it_has_loaded(tmp_path: Path) -> None:
    """Even if its folder has gone or holds others meanwhile."""
    shutil.copytree(OLD / "prepared", tmp_path / "prepared")
    splicer, other = (Splicer.untrained(tmp_path / "prepared") for _ in range(2))
    text = splicer.store.texts[0]
    shutil.rmtree(tmp_path / "prepared")
    assert len(splicer.trace(text).splices) == 1
    other.store.texts[0] = "Something else."
    assert Tracer(SourceTexts.of_store(other.store, other.vocabulary.words, "x")).trace(text).gaps == (
        other.trace(text).gaps
    )


# Nothing stale


def test_a_changed_file_is_read_again_even_with_its_old_date(corpus: Path, worked_out: list[str]) -> None:
    opened(corpus)
    status = corpus.stat()
    content = corpus.read_text(encoding="utf-8")
    corpus.write_text(content.replace("cheap", "quiet"), encoding="utf-8")
    os.utime(corpus, ns=(status.st_atime_ns, status.st_mtime_ns))
    texts = opened(corpus)
    assert texts.texts[1] == "Heron Hall is quiet, and it is near the bridge."
    assert len(worked_out) == 2


def test_what_is_read_otherwise_is_another_entry(tmp_path: Path, worked_out: list[str]) -> None:
    rows: list[dict[str, object]] = [
        {"table": {"name": f"n{n}"}, "text": f"One {n}.", "other": f"Two {n}."} for n in range(40)
    ]
    corpus = written(tmp_path / "approved.jsonl", rows)
    assert open_texts(read_corpus(corpus)).texts[0] == "One 0."
    assert open_texts(read_corpus(corpus, text_column="other")).texts[0] == "Two 0."
    assert len(open_texts(read_corpus(corpus, "train"))) < 40
    assert open_texts(read_corpus(corpus, "dev")).texts[:] != open_texts(read_corpus(corpus, "test")).texts[:]
    renamed = corpus.rename(tmp_path / "renamed.jsonl")
    assert open_texts(read_corpus(renamed)).ids[0] == "renamed:1"
    assert len(worked_out) == 6


def test_other_code_makes_it_again(
    corpus: Path, worked_out: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(corpus)
    monkeypatch.setattr(opening, "_code", lambda: ["other"])
    opened(corpus)
    assert len(worked_out) == 2


def test_a_format_of_a_plugin_is_read_every_time(tmp_path: Path, worked_out: list[str]) -> None:
    class KeyValueReader(Reader):
        def examples(self) -> Iterator[Example]:
            for number, line in enumerate(self.path.read_text().splitlines(), start=1):
                yield Example(self.id_of(number), Table.of({"a": "b"}), line)

    (tmp_path / "a.kept-test").write_text("One.\n")
    FORMATS.add(".kept-test", KeyValueReader)
    assert [opened(tmp_path / "a.kept-test").texts[0] for _ in range(2)] == ["One.", "One."]
    assert len(worked_out) == 2
    assert entries() == []


def test_a_file_that_changes_while_it_is_read_is_not_kept(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work_out = opening._Corpus.work_out  # pyright: ignore[reportPrivateUsage]

    def changing(self: object, advance: Callable[[int], None]) -> SourceTexts:
        corpus.write_text(corpus.read_text(encoding="utf-8").replace("cheap", "quiet"), encoding="utf-8")
        return work_out(self, advance)  # type: ignore[arg-type]

    monkeypatch.setattr(opening._Corpus, "work_out", changing)  # pyright: ignore[reportPrivateUsage]
    opened(corpus)
    assert entries() == []


# Damage


def damages(generator: random.Random, content: bytes) -> Iterator[bytes]:
    for _ in range(2):
        place = generator.randrange(len(content))
        changed = bytes([content[place] ^ 1 << generator.randrange(8)])
        yield content[:place] + changed + content[place + 1 :]
    yield content[: generator.randrange(len(content))]
    yield b""


@pytest.mark.parametrize("remembering", [True, False])
def test_a_damaged_entry_is_made_again(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, remembering: bool
) -> None:
    if remembering:
        monkeypatch.setattr(remembered, "SETTLED", -1e9)
    expected = traces(opened(corpus))
    (entry,) = entries()
    files = {path: path.read_bytes() for path in entry.rglob("*") if path.is_file()}
    assert len(files) >= 12
    generator = random.Random(11)
    for path, content in files.items():
        for damaged in damages(generator, content):
            opened(corpus)
            path.write_bytes(damaged)
            assert traces(opened(corpus)) == expected
            assert path.read_bytes() == content
        path.unlink()
        assert traces(opened(corpus)) == expected
        assert path.read_bytes() == content
    assert entries() == [entry]


def test_no_number_leads_compiled_code_astray(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that lost a bit by itself is not noticed by hashes that are remembered."""
    opened(corpus)
    (entry,) = entries()
    monkeypatch.setattr(CheckedFiles, "_check", lambda *_, **__: None)
    generator = random.Random(5)
    contents = {path: path.read_bytes() for path in entry.rglob("*") if path.is_file()}
    for path, content in contents.items():
        for damaged in damages(generator, content):
            path.write_bytes(damaged)
            try:
                texts = SourceTexts.load(find_kept(entry.name))
            except StorageError:
                continue
            finally:
                path.unlink()  # a file that is mapped may not be cut
                path.write_bytes(content)
            assert len(Tracer(texts).trace("The Mill is near the bridge.").tokens) == 7
            assert len(Tracer(texts).trace("The Mill is near.", {"name": "The Mill"}).tokens) == 5


def test_somebody_elses_files_stay(corpus: Path) -> None:
    expected = traces(opened(corpus))
    (entry,) = entries()
    shutil.rmtree(entry)
    entry.mkdir()
    (entry / "thesis.txt").write_text("mine")
    with pytest.warns(RuntimeWarning, match=r"The texts are indexed again the next time\."):
        texts = open_texts(read_corpus(corpus))
    assert traces(texts) == expected
    assert [path.name for path in entry.iterdir()] == ["thesis.txt"]


def test_an_entry_of_other_texts_is_made_again(corpus: Path, tmp_path: Path) -> None:
    expected = traces(opened(corpus))
    (entry,) = entries()
    shutil.rmtree(entry)
    opened(written(tmp_path / "other.jsonl", ROWS[:1]))
    (other,) = entries()
    shutil.copytree(other, entry)
    assert traces(opened(corpus)) == expected
    assert len(SourceTexts.load(find_kept(entry.name))) == 3


@pytest.mark.parametrize("what", ["file", "dangling link", "link", "link to a damaged entry", "empty folder"])
def test_whatever_is_in_the_place_of_an_entry_texts_are_traced(
    corpus: Path, tmp_path: Path, what: str
) -> None:
    expected = traces(opened(corpus))
    (entry,) = entries()
    moved = entry.rename(tmp_path / "moved")
    match what:
        case "file":
            entry.write_text("mine")
        case "empty folder":
            entry.mkdir()
        case "dangling link":
            entry.symlink_to(tmp_path / "nowhere")
        case _:
            entry.symlink_to(moved)
    if what == "link to a damaged entry":
        (moved / "content" / "rows.arrow").write_bytes(b"")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert traces(open_texts(read_corpus(corpus))) == expected
        assert traces(open_texts(read_corpus(corpus))) == expected
    assert what != "file" or entry.read_text() == "mine"
    assert entry.is_symlink() == ("link" in what)
    assert not [path for path in entries() if path.name.endswith(".partial")]


# The cache folder


def test_a_cache_that_can_not_be_written_is_a_sentence(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = traces(opened(corpus))
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.warns(RuntimeWarning) as warned:
        assert traces(open_texts(read_corpus(corpus))) == expected
    folder = tmp_path / "file" / "textsplice" / "texts"
    said = f"{folder}: can't be written: Not a directory. The texts are indexed again the next time."
    assert [str(each.message) for each in warned] == [said]
    result = CliRunner().invoke(app, ["trace", str(corpus), "-"], input="The Mill.\n")
    assert result.exit_code == 0
    assert result.stderr.splitlines()[0] == f"warning: {said}"
    assert json.loads(result.stdout)["text"] == "The Mill."


def test_without_a_home_texts_are_traced_all_the_same(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")

    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    with pytest.warns(RuntimeWarning) as warned:
        open_texts(read_corpus(corpus))
    assert str(warned[0].message) == (
        "there is no home folder to keep anything in. Set XDG_CACHE_HOME to a folder."
        " The texts are indexed again the next time."
    )


def test_a_full_disk_leaves_nothing_behind(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_self: SourceTexts, folder: Path, _advance: object) -> None:
        folder.mkdir()
        (folder / "half").write_text("")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(SourceTexts, "save", full)
    with pytest.warns(RuntimeWarning, match=r"the disk is full or a quota is reached\."):
        open_texts(read_corpus(corpus))
    assert entries() == []


def test_two_writers_of_one_entry_do_not_disturb_each_other() -> None:
    key = key_of_parts("two")

    def write(folder: Path) -> None:
        folder.mkdir()
        (folder / "a.txt").write_text("same")

    def slow(folder: Path) -> None:
        write(folder)
        assert (keep(key, write) / "a.txt").read_text() == "same"

    assert (keep(key, slow) / "a.txt").read_text() == "same"
    assert [path.name for path in entries()] == [key]


def test_two_processes_at_once_trace_the_same(corpus: Path, own_cache: Path) -> None:
    command = [sys.executable, "-m", "textsplice", "trace", str(corpus), "-", "-q"]
    environment = os.environ | {"XDG_CACHE_HOME": str(own_cache)}
    both = [
        subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1, env=environment, text=True)
        for _ in range(2)
    ]
    found = [process.communicate("The Mill is cheap.\n") for process in both]
    assert found[0] == found[1]
    assert found[0][1] == ""
    assert len(entries()) == 1


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_writes_is_not() -> None:
    def write(folder: Path) -> None:
        folder.mkdir()
        (folder / "a.txt").write_text("a")

    def while_another_begins(folder: Path) -> None:
        write(folder)
        os.utime(folder.parent, (1, 1))  # long ago, but somebody holds it
        keep(key_of_parts("other"), write)
        assert folder.is_dir()

    keep(key_of_parts("first"), write)
    left = kept_folder() / f".{key_of_parts('killed')}.abc.partial"
    write(left)
    keep(key_of_parts("second"), write)
    assert left.exists()  # it may just have been begun
    os.utime(left, (1, 1))
    keep(key_of_parts("third"), while_another_begins)
    assert not left.exists()
    assert len(entries()) == 4


def test_the_entries_that_were_used_last_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST", 3)

    def write(folder: Path) -> None:
        folder.mkdir()
        (folder / "a.txt").write_text("a")

    keys = [key_of_parts(number) for number in range(4)]
    for number, key in enumerate(keys[:3]):
        keep(key, write)
        os.utime(kept_folder() / key / "kept.json", (number, number))
    find_kept(keys[0])  # is used again
    (kept_folder() / "notes.txt").write_text("mine")
    keep(keys[3], write)
    assert {path.name for path in entries()} == {keys[0], keys[2], keys[3], "notes.txt"}


# Bad input


def test_a_store_without_texts_is_a_sentence(tmp_path: Path) -> None:
    corpus = written(tmp_path / "a.jsonl", [{"table": {"a": "b"}}])
    for _ in range(2):
        with pytest.raises(InputError) as error:
            opened(corpus)
        assert str(error.value) == "there is no text to trace to. Give a store that has texts."
    assert entries() == []


def test_a_store_is_read_by_its_own_tokenizer_and_verify_tells_another(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"table": {"name": f"Hut {n}"}, "text": f"Hut {n} isn't far , it's {n}km ."} for n in range(30)
    ]
    written(tmp_path / "train.jsonl", rows)
    folders: list[Path] = []
    for tokenizer in ("words", "spaces"):
        config = textsplice.config.config_from_dict(
            {
                "corpus": {"source": str(tmp_path), "splits": ["train"]},
                "text": {"tokenizer": tokenizer},
                "output": {"prepared": str(tmp_path / tokenizer)},
            },
            "test",
        )
        prepare(config, quiet=True)
        folders.append(tmp_path / tokenizer)
    text = "Hut 3 isn't far , it's 4km ."
    found = [open_texts(Prepared.open(folder)) for folder in folders]
    assert [texts.tokenizer for texts in found] == ["words", "spaces"]
    for folder, texts in zip(folders, found, strict=True):
        row = Tracer(texts).trace(text)
        assert row.gaps == ()
        assert row.tokenizer == texts.tokenizer
        assert textsplice.verify(row, folder) == 1
    with pytest.raises(VerificationError):
        textsplice.verify(Tracer(found[0]).trace(text), folders[1])


def test_opening_shows_how_far_it_is(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the number of rows, which is counted only if somebody watches."""
    from contextlib import contextmanager

    from textsplice.progress import Bar

    shown: list[tuple[str, int, list[int]]] = []

    @contextmanager
    def bar(total: int | Callable[[], int], label: str, *, quiet: bool) -> Iterator[Bar]:
        assert not quiet
        told: list[int] = []
        shown.append((label, total() if callable(total) else total, told))
        yield Bar(told.append, lambda _text: None)

    monkeypatch.setattr(opening, "bar", bar)
    opened(corpus)
    assert [(label, total, sum(told)) for label, total, told in shown] == [
        ("reading texts", 3, 3),
        ("indexing texts", 6, 6),
    ]
