"""Fetching a corpus: from a folder, from a server that breaks off, and what is never kept."""

from __future__ import annotations

import errno
import hashlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from textsplice.corpus import published, read_corpus
from textsplice.corpus.download import KnownFile, download
from textsplice.errors import CorpusError, StorageError

CONTENT = bytes(range(256)) * 1200
KNOWN = KnownFile("file.csv", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())


@dataclass
class Server:
    """A web server on loopback that can break off, forget ranges, or send something else."""

    url: str = ""
    content: bytes = CONTENT
    stop_after: int | None = None
    knows_ranges: bool = True
    ranges_asked: list[str | None] = field(default_factory=list)

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        asked = request.headers.get("Range")
        self.ranges_asked.append(asked)
        begin = int(asked.removeprefix("bytes=").rstrip("-")) if asked and self.knows_ranges else 0
        if begin > len(self.content):
            request.send_error(416)
            return
        body = self.content[begin:]
        request.send_response(206 if begin else 200)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body[: self.stop_after])


@pytest.fixture
def server() -> Iterator[Server]:
    settings = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            settings.answer(self)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        settings.url = f"http://127.0.0.1:{running.server_port}/file.csv"
        thread = Thread(target=running.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield settings
        running.shutdown()
        thread.join()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_downloaded_whole(server: Server, tmp_path: Path):
    arrived: list[int] = []
    path = tmp_path / "new" / "file.csv"
    assert download(server.url, path, KNOWN, advance=arrived.append) is False
    assert path.read_bytes() == CONTENT
    assert names(path.parent) == ["file.csv"]
    assert sum(arrived) == len(CONTENT)


def test_a_download_that_broke_off_goes_on_where_it_stopped(server: Server, tmp_path: Path):
    path = tmp_path / "file.csv"
    server.stop_after = 100_000
    with pytest.raises(CorpusError) as caught:
        download(server.url, path, KNOWN)
    assert str(caught.value) == (
        f"{server.url}: the connection ended after 100,000 of 307,200 bytes."
        " Run the same command again to go on from there."
    )
    assert names(tmp_path) == ["file.csv.partial"]
    server.stop_after = None
    assert download(server.url, path, KNOWN) is True
    assert server.ranges_asked == [None, "bytes=100000-"]
    assert path.read_bytes() == CONTENT
    assert names(tmp_path) == ["file.csv"]


def test_a_server_without_ranges_sends_all_of_it_again(server: Server, tmp_path: Path):
    server.knows_ranges = False
    (tmp_path / "file.csv.partial").write_bytes(CONTENT[:1000])
    assert download(server.url, tmp_path / "file.csv", KNOWN) is False
    assert (tmp_path / "file.csv").read_bytes() == CONTENT


@pytest.mark.parametrize("begun", [b"", b"x" * 1000, b"x" * len(CONTENT)])
def test_a_file_with_another_checksum_is_not_kept(server: Server, tmp_path: Path, begun: bytes):
    server.content = b"x" + CONTENT[1:]
    if begun:
        (tmp_path / "file.csv.partial").write_bytes(begun)
    with pytest.raises(CorpusError, match="was expected; the file was not kept"):
        download(server.url, tmp_path / "file.csv", KNOWN)
    assert names(tmp_path) == []


def test_the_sentence_about_a_checksum_is_complete(server: Server, tmp_path: Path):
    server.content = b"\0" * len(CONTENT)
    with pytest.raises(CorpusError) as caught:
        download(server.url, tmp_path / "file.csv", KNOWN)
    found = hashlib.sha256(server.content).hexdigest()
    assert str(caught.value) == (
        f"{server.url}: the SHA-256 is {found[:12]}… where {KNOWN.sha256[:12]}… was expected;"
        " the file was not kept. It is damaged or another version;"
        " fetch it again or from elsewhere."
    )


@pytest.mark.parametrize("begun", [len(CONTENT) - 1, len(CONTENT) + 1])
def test_a_partial_file_longer_than_the_servers_is_begun_anew(server: Server, tmp_path: Path, begun: int):
    server.content = CONTENT[:1000]
    (tmp_path / "file.csv.partial").write_bytes(b"x" * begun)
    with pytest.raises(CorpusError):
        download(server.url, tmp_path / "file.csv", KNOWN)
    server.content = CONTENT
    download(server.url, tmp_path / "file.csv", KNOWN)
    assert (tmp_path / "file.csv").read_bytes() == CONTENT


def test_nobody_at_the_address_is_a_sentence(tmp_path: Path):
    with pytest.raises(CorpusError) as caught:
        download("http://127.0.0.1:9/file.csv", tmp_path / "file.csv", KNOWN)
    assert str(caught.value) == (
        "http://127.0.0.1:9/file.csv: can't be fetched: [Errno 111] Connection refused."
        " Run the same command again to go on from there,"
        " or take the files from a folder with --from."
    )
    assert names(tmp_path) == []


def test_only_the_web_is_fetched(tmp_path: Path):
    with pytest.raises(CorpusError) as caught:
        download("file:///etc/hostname", tmp_path / "file.csv", KNOWN)
    assert str(caught.value) == (
        "file:///etc/hostname: only http and https addresses can be fetched."
        " Take files from a folder with --from."
    )


# -- E2E -----------------------------------------------------------------------------------------


E2E_NAMES = ["trainset.csv", "devset.csv", "testset_w_refs.csv"]


@pytest.mark.data
def test_e2e_is_taken_from_a_folder_once(e2e_folder: Path, tmp_path: Path):
    first = list(published.get_e2e(tmp_path, source=e2e_folder))
    assert first == [(tmp_path / name, "copied") for name in E2E_NAMES]
    second = list(published.get_e2e(tmp_path, source=e2e_folder))
    assert second == [(tmp_path / name, "already there") for name in E2E_NAMES]
    assert names(tmp_path) == sorted(E2E_NAMES)
    assert len(read_corpus(f"e2e:{tmp_path}", "dev")) == 4672


@pytest.mark.data
def test_e2e_comes_from_another_address(e2e_folder: Path, tmp_path: Path, server: Server):
    for name in ("trainset.csv", "testset_w_refs.csv"):
        shutil.copyfile(e2e_folder / name, tmp_path / name)
    server.content = (e2e_folder / "devset.csv").read_bytes()
    (tmp_path / "devset.csv.partial").write_bytes(server.content[:500_000])
    got = list(published.get_e2e(tmp_path, url=server.url.rsplit("/", 1)[0]))
    assert [how for _, how in got] == ["already there", "download resumed", "already there"]
    assert server.ranges_asked == ["bytes=500000-"]
    assert names(tmp_path) == sorted(E2E_NAMES)


def test_a_changed_e2e_file_is_not_taken(tmp_path: Path):
    source = tmp_path / "from"
    source.mkdir()
    (source / "trainset.csv").write_text("mr,ref\n")
    with pytest.raises(CorpusError, match=r"trainset\.csv: the SHA-256 is 4bdc8c4aa6d9"):
        list(published.get_e2e(tmp_path / "to", source=source))
    assert names(tmp_path / "to") == []


def test_a_folder_without_e2e_says_so(tmp_path: Path):
    with pytest.raises(CorpusError) as caught:
        list(published.get_e2e(tmp_path / "to", source=tmp_path))
    assert str(caught.value) == (
        f"{tmp_path}/trainset.csv: there is no such file or folder; {tmp_path} is empty."
    )


def test_a_full_disk_keeps_what_arrived_under_its_partial_name(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StorageError) as caught:
        download(server.url, tmp_path / "file.csv", KNOWN)
    assert str(caught.value).startswith(f"{tmp_path}/file.csv: the disk is full")
    assert names(tmp_path) == ["file.csv.partial"]


# -- WikiBio -------------------------------------------------------------------------------------


def wikibio_archive(folder: Path) -> Path:
    """The official layout, with a folder a split, in small."""
    for split in ("train", "valid", "test"):
        (folder / split).mkdir(parents=True)
        for kind, text in (("box", f"name_1:{split}\n"), ("nb", "1\n"), ("sent", f"{split} .\n")):
            (folder / split / f"{split}.{kind}").write_text(text)
    return folder


def test_wikibio_is_taken_from_a_folder_and_its_sums_are_written(tmp_path: Path):
    source, to = wikibio_archive(tmp_path / "from"), tmp_path / "to"
    first = list(published.get_wikibio(to, source=source))
    assert first[0] == (to / "train.box", "copied")
    sums = (to / "SHA256SUMS").read_text().splitlines()
    assert len(sums) == len(first) == 9
    assert sums[3] == hashlib.sha256(b"name_1:train\n").hexdigest() + "  train.box"
    second = list(published.get_wikibio(to, source=source))
    assert {how for _, how in second} == {"already there"}
    assert [example.text for example in read_corpus(f"wikibio:{to}", "dev")] == ["valid ."]


def test_wikibio_files_are_checked_against_sums_that_come_with_them(tmp_path: Path):
    source, to = wikibio_archive(tmp_path / "from"), tmp_path / "to"
    list(published.get_wikibio(to, source=source))
    (to / "train.box").write_text("name_1:other\n")
    with pytest.raises(CorpusError, match=r"to/train\.box: the SHA-256 is [0-9a-f]{12}… where"):
        list(published.get_wikibio(tmp_path / "third", source=to))


def test_wikibio_lacking_a_file_copies_nothing(tmp_path: Path):
    source = wikibio_archive(tmp_path / "from")
    (source / "test" / "test.nb").unlink()
    with pytest.raises(CorpusError, match=r"test\.nb: there is no such file"):
        list(published.get_wikibio(tmp_path / "to", source=source))
    assert not (tmp_path / "to").exists()


def test_wikibio_without_a_folder_says_how_to_get_it():
    with pytest.raises(CorpusError) as caught:
        list(published.get_wikibio(Path("anywhere")))
    assert str(caught.value) == (
        "wikibio: WikiBio is published as an archive in parts, which this command can't fetch."
        " Get it by hand: clone https://github.com/DavidGrangier/wikipedia-biography-dataset,"
        " then in it `cat wikipedia-biography-dataset.z?? > all.zip && unzip all.zip`,"
        " and name the folder that has train, valid and test with --from."
    )
