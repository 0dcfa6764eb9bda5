"""Fetching a corpus: from a folder, from a server that breaks off, and what is never kept or replaced."""

from __future__ import annotations

import errno
import hashlib
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from textsplice.corpus import published, read_corpus
from textsplice.corpus.download import KnownFile, download, partial_path
from textsplice.errors import CorpusError, StorageError

CONTENT = bytes(range(256)) * 1200
KNOWN = KnownFile("file.csv", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())
PARTIAL = partial_path(Path("file.csv"), KNOWN).name


@dataclass
class Server:
    """A web server on loopback that can break off, forget ranges, or send something else."""

    url: str = ""
    content: bytes = CONTENT
    stop_after: int | None = None
    knows_ranges: bool = True
    moved_to: str | None = None
    ranges_asked: list[str | None] = field(default_factory=list)

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        asked = request.headers.get("Range")
        self.ranges_asked.append(asked)
        if self.moved_to is not None:
            request.send_response(302)
            request.send_header("Location", self.moved_to)
            request.end_headers()
            return
        begin = int(asked.removeprefix("bytes=").rstrip("-")) if asked and self.knows_ranges else 0
        if begin > len(self.content):
            request.send_error(416)
            return
        body = self.content[begin:]
        request.send_response(206 if begin else 200)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body[: self.stop_after])


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for loopback, signed by itself, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes the certificate of the test server, is not installed")
    folder = tmp_path_factory.mktemp("certificate")
    made, key = folder / "certificate.pem", folder / "key.pem"
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=loopback"
    )
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-out", str(made), "-keyout", str(key)]
    subprocess.run([*command.split(), *names], check=True, capture_output=True)
    return made, key


@pytest.fixture
def server(certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    settings = Server()
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    encryption = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    encryption.load_cert_chain(*certificate)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            settings.answer(self)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.socket = encryption.wrap_socket(running.socket, server_side=True)
        settings.url = f"https://127.0.0.1:{running.server_port}/file.csv"
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
        " Run the same command again to resume."
    )
    assert names(tmp_path) == [PARTIAL]
    server.stop_after = None
    assert download(server.url, path, KNOWN) is True
    assert server.ranges_asked == [None, "bytes=100000-"]
    assert path.read_bytes() == CONTENT
    assert names(tmp_path) == ["file.csv"]


def test_a_server_without_ranges_sends_all_of_it_again(server: Server, tmp_path: Path):
    server.knows_ranges = False
    (tmp_path / PARTIAL).write_bytes(CONTENT[:1000])
    assert download(server.url, tmp_path / "file.csv", KNOWN) is False
    assert (tmp_path / "file.csv").read_bytes() == CONTENT


@pytest.mark.parametrize("begun", [b"", b"x" * 1000, b"x" * len(CONTENT)])
def test_a_file_with_another_checksum_is_not_kept(server: Server, tmp_path: Path, begun: bytes):
    server.content = b"x" + CONTENT[1:]
    if begun:
        (tmp_path / PARTIAL).write_bytes(begun)
    with pytest.raises(CorpusError, match=r"… was expected; the file was not kept\."):
        download(server.url, tmp_path / "file.csv", KNOWN)
    assert names(tmp_path) == []


def test_the_sentence_about_a_checksum_is_complete(server: Server, tmp_path: Path):
    server.content = b"\0" * len(CONTENT)
    with pytest.raises(CorpusError) as caught:
        download(server.url, tmp_path / "file.csv", KNOWN)
    found = hashlib.sha256(server.content).hexdigest()
    assert str(caught.value) == (
        f"{server.url}: the SHA-256 is {found[:12]}…, but {KNOWN.sha256[:12]}… was expected;"
        " the file was not kept. It is damaged or another version:"
        " fetch it again, or from another place."
    )


@pytest.mark.parametrize("begun", [len(CONTENT) - 1, len(CONTENT) + 1])
def test_a_partial_file_longer_than_the_servers_is_begun_anew(server: Server, tmp_path: Path, begun: int):
    server.content = CONTENT[:1000]
    (tmp_path / PARTIAL).write_bytes(b"x" * begun)
    with pytest.raises(CorpusError):
        download(server.url, tmp_path / "file.csv", KNOWN)
    server.content = CONTENT
    download(server.url, tmp_path / "file.csv", KNOWN)
    assert (tmp_path / "file.csv").read_bytes() == CONTENT


def test_nobody_at_the_address_is_a_sentence(tmp_path: Path):
    with pytest.raises(CorpusError) as caught:
        download("https://127.0.0.1:9/file.csv", tmp_path / "file.csv", KNOWN)
    assert str(caught.value) == (
        "https://127.0.0.1:9/file.csv: can't be fetched: [Errno 111] Connection refused."
        " Run the same command again to resume, or take the files from a folder with --from."
    )
    assert names(tmp_path) == []


@pytest.mark.parametrize("url", ["file:///etc/hostname", "http://127.0.0.1:9/file.csv", "ftp://127.0.0.1/x"])
def test_only_https_is_fetched(tmp_path: Path, url: str):
    with pytest.raises(CorpusError) as caught:
        download(url, tmp_path / "file.csv", KNOWN)
    assert str(caught.value) == (
        f"{url}: only https addresses can be fetched. Take the files from a folder with --from."
    )


def test_a_server_can_not_redirect_to_http(server: Server, tmp_path: Path):
    server.moved_to = "http://127.0.0.1:9/file.csv"
    with pytest.raises(CorpusError) as caught:
        download(server.url, tmp_path / "file.csv", KNOWN)
    assert str(caught.value) == (
        "http://127.0.0.1:9/file.csv: only https addresses can be fetched."
        " Take the files from a folder with --from."
    )
    assert names(tmp_path) == []


def test_a_server_nobody_vouches_for_is_not_trusted(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("SSL_CERT_FILE")
    with pytest.raises(CorpusError, match="certificate verify failed"):
        download(server.url, tmp_path / "file.csv", KNOWN)


# -- what is not ours ----------------------------------------------------------------------------

OTHER_CONTENT = (
    "there is a file of this name with other content, which was not changed."
    " Name another folder with --to, or replace the file with --force."
)


def test_a_file_with_other_content_is_replaced_only_if_told_to(server: Server, tmp_path: Path):
    path = tmp_path / "file.csv"
    path.write_text("my own")
    with pytest.raises(CorpusError) as caught:
        download(server.url, path, KNOWN)
    assert str(caught.value) == f"{path}: {OTHER_CONTENT}"
    assert path.read_text() == "my own"
    assert server.ranges_asked == []
    download(server.url, path, KNOWN, force=True)
    assert path.read_bytes() == CONTENT


def test_a_file_that_appears_during_a_download_is_not_replaced(server: Server, tmp_path: Path):
    path = tmp_path / "file.csv"
    with pytest.raises(CorpusError) as caught:
        download(server.url, path, KNOWN, advance=lambda _: path.write_text("my own") and None)
    assert str(caught.value) == f"{path}: {OTHER_CONTENT}"
    assert path.read_text() == "my own"


def test_a_link_to_nowhere_is_not_replaced(server: Server, tmp_path: Path):
    path = tmp_path / "file.csv"
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CorpusError, match="with other content"):
        download(server.url, path, KNOWN)
    assert path.is_symlink()


def test_a_folder_of_the_name_is_never_replaced(server: Server, tmp_path: Path):
    path = tmp_path / "file.csv"
    path.mkdir()
    with pytest.raises(CorpusError) as caught:
        download(server.url, path, KNOWN, force=True)
    assert str(caught.value) == f"{path}: there is a folder of this name. Name another folder with --to."


def test_partial_files_of_others_are_left_alone(server: Server, tmp_path: Path):
    (tmp_path / "file.csv.partial").write_text("my own")
    download(server.url, tmp_path / "file.csv", KNOWN)
    assert (tmp_path / "file.csv.partial").read_text() == "my own"
    assert names(tmp_path) == ["file.csv", "file.csv.partial"]


def test_nothing_is_copied_if_one_file_is_in_the_way(tmp_path: Path):
    to = tmp_path / "to"
    to.mkdir()
    (to / "testset_w_refs.csv").write_text("my own")
    with pytest.raises(CorpusError, match=r"to/testset_w_refs\.csv: there is a file of this name"):
        list(published.get_e2e(to, source=tmp_path))
    assert names(to) == ["testset_w_refs.csv"]


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
    partial_path(tmp_path / "devset.csv", published.E2E_FILES[1]).write_bytes(server.content[:500_000])
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
    assert names(tmp_path) == [PARTIAL]


# -- WikiBio -------------------------------------------------------------------------------------


def wikibio_archive(folder: Path) -> Path:
    """The official layout, with a folder per split, in small."""
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
    with pytest.raises(CorpusError, match=r"to/train\.box: the SHA-256 is [0-9a-f]{12}…, but"):
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


def test_a_wikibio_file_with_other_content_is_replaced_only_if_told_to(tmp_path: Path):
    source, to = wikibio_archive(tmp_path / "from"), tmp_path / "to"
    to.mkdir()
    (to / "test.sent").write_text("my own")
    with pytest.raises(CorpusError) as caught:
        list(published.get_wikibio(to, source=source))
    assert str(caught.value) == f"{to}/test.sent: {OTHER_CONTENT}"
    assert names(to) == ["test.sent"]
    list(published.get_wikibio(to, source=source, force=True))
    assert (to / "test.sent").read_text() == "test .\n"
    assert len(names(to)) == 10


def test_a_wikibio_file_that_was_there_before_is_kept_and_recorded(tmp_path: Path):
    source, to = wikibio_archive(tmp_path / "from"), tmp_path / "to"
    to.mkdir()
    (to / "train.nb").write_text("1\n")
    got = dict(published.get_wikibio(to, source=source))
    assert [path.name for path, how in got.items() if how == "already there"] == ["train.nb"]
    assert "  train.nb\n" in (to / "SHA256SUMS").read_text()


@pytest.mark.parametrize("force", [False, True])
def test_checksums_of_other_files_are_never_rewritten(tmp_path: Path, force: bool):
    source, to = wikibio_archive(tmp_path / "from"), tmp_path / "to"
    to.mkdir()
    mine = f"{'0' * 64}  thesis.pdf\n"
    (to / "SHA256SUMS").write_text(mine)
    with pytest.raises(CorpusError) as caught:
        list(published.get_wikibio(to, source=source, force=force))
    assert str(caught.value) == (
        f"{to}/SHA256SUMS: lists 'thesis.pdf', which is not a file of WikiBio; nothing was changed."
        " Name another folder with --to."
    )
    assert names(to) == ["SHA256SUMS"]
    assert (to / "SHA256SUMS").read_text() == mine


@pytest.mark.parametrize("content", [b"hello\n", b"\n"])
def test_a_file_of_checksums_that_holds_something_else_is_refused(tmp_path: Path, content: bytes):
    source, to = wikibio_archive(tmp_path / "from"), tmp_path / "to"
    to.mkdir()
    (to / "SHA256SUMS").write_bytes(content)
    with pytest.raises(CorpusError) as caught:
        list(published.get_wikibio(to, source=source))
    assert str(caught.value) == f"{to}/SHA256SUMS:1: expected a SHA-256, two spaces and a name."
    assert names(to) == ["SHA256SUMS"]
