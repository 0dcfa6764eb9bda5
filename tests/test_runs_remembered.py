"""Files are read when their size or times differ from those of the last time, or on --check."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from textsplice.cli import app
from textsplice.errors import StorageError
from textsplice.files import file_hash
from textsplice.prepare.build import prepare
from textsplice.runs import Prepared, integrity, remembered
from textsplice.runs.encodings import EncodingFolder
from textsplice.runs.integrity import CheckedFiles
from textsplice.runs.remembered import cache_folder

OLD = 1_700_000_000  # a time long before any test
RUN = Path(__file__).parent / "data" / "version-0.1"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(remembered, "SETTLED", -1e9)  # every file is old enough
    made = tmp_path / "ours"
    (made / "part").mkdir(parents=True)
    (made / "a.bin").write_bytes(b"first")
    (made / "part" / "b.bin").write_bytes(b"second")
    return made


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []

    def counted(path: Path) -> str:
        found.append(path.name)
        return file_hash(path)

    monkeypatch.setattr(integrity, "file_hash", counted)
    return found


def opened(folder: Path) -> CheckedFiles:
    hashes = {"a.bin": HASHES[b"first"], "part/b.bin": HASHES[b"second"]}
    return CheckedFiles(folder, hashes, "Make it again.")


HASHES = {
    b"first": "a7937b64b8caa58f03721bb6bacf5c78cb235febe0e70b1b84cd99541461a08e",
    b"second": "16367aacb67a4a017c8da8ab95682ccb390863780f7114dda0a0e0c55644c7c4",
}


def test_a_file_is_read_once_and_not_again_while_it_stays_as_it_is(folder: Path, reads: list[str]) -> None:
    opened(folder).path("a.bin")
    opened(folder).folder_path("part")
    assert reads == ["a.bin", "b.bin"]
    opened(folder).path("a.bin")
    opened(folder).folder_path("part")
    assert reads == ["a.bin", "b.bin"]


def test_a_changed_file_of_the_same_size_and_date_is_noticed(folder: Path) -> None:
    path = folder / "a.bin"
    os.utime(path, (OLD, OLD))
    opened(folder).path("a.bin")
    path.write_bytes(b"fIrst")
    os.utime(path, (OLD, OLD))
    with pytest.raises(StorageError, match="is damaged or was changed"):
        opened(folder).path("a.bin")


def test_a_shorter_file_and_a_missing_one_are_noticed(folder: Path) -> None:
    opened(folder).path("a.bin")
    (folder / "a.bin").write_bytes(b"firs")
    with pytest.raises(StorageError, match="is damaged or was changed"):
        opened(folder).path("a.bin")
    (folder / "a.bin").unlink()
    with pytest.raises(StorageError, match="is missing"):
        opened(folder).path("a.bin")


def test_what_is_remembered_says_nothing_about_another_hash(folder: Path) -> None:
    opened(folder).path("a.bin")
    with pytest.raises(StorageError, match="is damaged or was changed"):
        CheckedFiles(folder, {"a.bin": HASHES[b"second"]}, "Make it again.").path("a.bin")


def test_a_moved_folder_is_read_again(folder: Path, reads: list[str]) -> None:
    opened(folder).path("a.bin")
    moved = folder.with_name("moved")
    shutil.move(folder, moved)
    opened(moved).path("a.bin")
    assert reads == ["a.bin", "a.bin"]


@pytest.mark.parametrize("garbage", [b"", b"[]", b"{", b'{"a.bin": 7}', b"\xff", b"[" * 100_000])
def test_a_damaged_memory_is_no_memory(folder: Path, reads: list[str], garbage: bytes) -> None:
    opened(folder).path("a.bin")
    (known,) = cache_folder().glob("*.json")
    known.write_bytes(garbage)
    opened(folder).path("a.bin")
    assert reads == ["a.bin", "a.bin"]


def test_without_a_place_to_remember_content_is_read(
    folder: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "a.bin"))
    opened(folder).path("a.bin")
    opened(folder).path("a.bin")
    assert reads == ["a.bin", "a.bin"]


def test_a_file_that_has_just_changed_is_not_remembered(
    folder: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembered, "SETTLED", 1e9)
    opened(folder).path("a.bin")
    opened(folder).path("a.bin")
    assert reads == ["a.bin", "a.bin"]


def test_the_memory_is_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "MOST_FOLDERS", 3)
    for number in range(6):
        copied = folder.with_name(f"copy-{number}")
        shutil.copytree(folder, copied)
        opened(copied).path("a.bin")
    assert len(list(cache_folder().glob("*.json"))) == 3


def test_check_reads_everything(folder: Path, reads: list[str]) -> None:
    assert opened(folder).check_all() == 2
    assert opened(folder).check_all() == 2
    assert reads == ["a.bin", "b.bin"] * 2


def test_inspect_check_names_the_damaged_file(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    rows = [f'{{"table": {{"name": "Mill {n}"}}, "text": "Mill {n} is old."}}' for n in range(60)]
    corpus.write_text("\n".join(rows), encoding="utf-8")
    config = tmp_path / "config.toml"
    config.write_text(
        f'corpus.source = "{corpus}"\noutput.prepared = "{tmp_path / "prepared"}"\n', encoding="utf-8"
    )
    made = prepare(config, quiet=True).folder
    result = CliRunner().invoke(app, ["inspect", str(made), "--check"])
    assert result.output.strip().endswith("listed files are what textsplice wrote.")
    (path,) = Prepared.open(made).folder.glob("derivations/dev-0000.parquet")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    result = CliRunner().invoke(app, ["inspect", str(made), "--check"])
    assert isinstance(result.exception, StorageError)
    assert str(path) in result.exception.sentence()


def test_a_run_without_hashes_says_so() -> None:
    result = CliRunner().invoke(app, ["inspect", str(next(RUN.glob("runs/*/run.json")).parent), "--check"])
    assert isinstance(result.exception, StorageError)
    assert "has no hashes" in result.exception.sentence()


@pytest.mark.parametrize("files", [[1], "abc", 5, {"a": 5}, {"a": None}, {"a": []}, {"a": ["b", 7]}])
def test_a_list_of_files_that_is_none_is_a_sentence(tmp_path: Path, files: object) -> None:
    with pytest.raises(StorageError, match=r"lists no files|without a hash"):
        integrity.listed_hashes(files, tmp_path / "run.json", "Make it again.")


def test_encodings_with_a_damaged_list_are_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "encodings.json").write_text("[" * 100_000)
    with pytest.raises(StorageError, match="is nested too deeply"):
        EncodingFolder(tmp_path).check()
