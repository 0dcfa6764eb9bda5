"""`textsplice data get`, as it is typed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def textsplice(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "textsplice", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.data
def test_getting_e2e_says_what_became_of_each_file(e2e_folder: Path, tmp_path: Path):
    result = textsplice("data", "get", "e2e", "--from", e2e_folder, "--to", tmp_path)
    assert result.returncode == 0
    assert result.stdout.splitlines() == [
        f"{tmp_path}/trainset.csv: copied, checksum as in the release",
        f"{tmp_path}/devset.csv: copied, checksum as in the release",
        f"{tmp_path}/testset_w_refs.csv: copied, checksum as in the release",
    ]
    again = textsplice("data", "get", "e2e", "--from", e2e_folder, "--to", tmp_path)
    assert again.stdout == result.stdout.replace("copied", "already there")


@pytest.mark.data
def test_getting_wikibio_admits_that_its_checksums_are_only_ours(wikibio_folder: Path, tmp_path: Path):
    result = textsplice("data", "get", "wikibio", "--from", wikibio_folder, "--to", tmp_path)
    assert result.returncode == 0
    assert result.stdout.splitlines()[0] == f"{tmp_path}/train.box: copied"
    assert result.stdout.splitlines()[9:] == [
        f"No checksums of WikiBio were published; those of these files are in {tmp_path}/SHA256SUMS."
    ]


def test_a_folder_without_the_corpus_is_one_sentence_and_exit_code_2(tmp_path: Path):
    result = textsplice("data", "get", "e2e", "--from", tmp_path, "--to", tmp_path / "to")
    assert result.returncode == 2
    assert result.stderr == (
        f"error [corpus]: {tmp_path}/trainset.csv: there is no such file or folder; {tmp_path} is empty.\n"
    )


def test_two_places_to_take_it_from_are_refused(tmp_path: Path):
    result = textsplice("data", "get", "e2e", "--from", tmp_path, "--url", "https://127.0.0.1:9")
    assert result.returncode == 2
    assert result.stderr == "error [config]: --from and --url can't be used together.\n"


def test_a_file_of_the_users_is_replaced_only_if_told_to(tmp_path: Path):
    mine = tmp_path / "devset.csv"
    mine.write_text("my own\n")
    (tmp_path / "from").mkdir()
    arguments = ("data", "get", "e2e", "--from", tmp_path / "from", "--to", tmp_path)
    result = textsplice(*arguments)
    assert result.returncode == 2
    assert result.stderr == (
        f"error [corpus]: {mine}: there is a file of this name with other content, which was not changed."
        " Name another folder with --to, or replace the file with --force.\n"
    )
    assert mine.read_text() == "my own\n"
    # Told to, it goes on to what is missing in the folder.
    forced = textsplice(*arguments, "--force")
    assert "from/trainset.csv: there is no such file or folder" in forced.stderr


def test_an_address_without_encryption_is_refused(tmp_path: Path):
    result = textsplice("data", "get", "e2e", "--url", "http://127.0.0.1:9", "--to", tmp_path)
    assert result.returncode == 2
    assert result.stderr == (
        "error [corpus]: http://127.0.0.1:9/trainset.csv: only https addresses can be fetched."
        " Take the files from a folder with --from.\n"
    )
    assert list(tmp_path.iterdir()) == []
