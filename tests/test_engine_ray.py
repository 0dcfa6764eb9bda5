"""Bulk work on a Ray cluster of two nodes: byte-equal to this machine's, whatever is lost on the way.

The nodes are processes of this machine. What is slow runs with `-m slow`.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

import textsplice
from textsplice.engine import LocalEngine, RayEngine, open_engine
from textsplice.errors import ConfigError, StorageError
from textsplice.runs.parts import Parts
from textsplice.work import Work

ray: Any = pytest.importorskip("ray")
from ray.cluster_utils import Cluster  # noqa: E402

TESTS = Path(__file__).parent
SOURCE = Path(textsplice.__file__).parent.parent
DOUBLING = "engine_work:doubling"
PARTS = [[number, number + 1] for number in range(12)]
EXPECTED = [repr([2 * a, 2 * b]).encode() for a, b in PARTS]
STORE = 80 << 20


def node_environment(*paths: Path) -> dict[str, str]:
    """What the workers of a node find."""
    found = os.pathsep.join(map(str, (*paths, SOURCE, TESTS)))
    # Ray gives its workers the niceness 15: on a machine that others use they would hardly run.
    return {"PYTHONPATH": found, "OMP_NUM_THREADS": "1", "RAY_worker_niceness": "0"}


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Generator[Any]:
    """Two nodes of one core each, without a driver."""
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    for name, value in node_environment().items():
        monkeypatch.setenv(name, value)
    made = started_cluster()
    try:
        yield made
    finally:
        ray.shutdown()
        made.shutdown()


def started_cluster(tries: int = 5) -> Any:
    """Ray gives a node 30 seconds to start, which a busy machine may not make."""
    made = Cluster()
    try:
        made.add_node(num_cpus=1, object_store_memory=STORE, include_dashboard=False)
        made.add_node(num_cpus=1, object_store_memory=STORE)
    except Exception as error:
        made.shutdown()
        if tries == 1 or "timed out" not in str(error):
            raise
        return started_cluster(tries - 1)
    return made


def seen(folder: Path) -> list[int]:
    return sorted(int(path.name.split("-")[0]) for path in folder.iterdir() if path.name[0].isdigit())


def waited(until: Any) -> None:
    while not until():
        time.sleep(0.02)


@pytest.mark.slow
def test_a_lost_worker_and_a_lost_node_change_nothing(cluster: Any, tmp_path: Path) -> None:
    begun = tmp_path / "seen"
    begun.mkdir()
    (node,) = [each for each in cluster.list_all_nodes() if each is not cluster.head_node]
    engine = open_engine(f"ray:{cluster.address}")
    assert isinstance(engine, RayEngine)

    def disturb() -> None:
        waited(lambda: len(seen(begun)) >= 4)
        cluster.remove_node(node)

    thread = threading.Thread(target=disturb)
    thread.start()
    slow = Work(DOUBLING, {"seen": str(begun), "how": "is slow"}, memory=1 << 20)
    with Parts.opened(tmp_path / "parts") as place:
        keys = engine.run(slow, PARTS, place)
        assert list(place.results(keys)) == EXPECTED
        thread.join()
        assert len(cluster.list_all_nodes()) == 1
        dying = Work(DOUBLING, {"seen": str(begun), "how": "dies once"}, memory=1 << 20)
        keys = engine.run(dying, PARTS, place)
        assert list(place.results(keys)) == EXPECTED
        assert (begun / "died").exists()
        missing = Work(DOUBLING, {}, needs=["/no/such/folder"], memory=1 << 20)
        with pytest.raises(StorageError, match=r"/no/such/folder: the machine .* does not have it"):
            engine.run(missing, PARTS, place)
        with pytest.raises(ConfigError, match=r"a worker needs 1125899\.9 GB; the largest machine offers"):
            engine.run(Work(DOUBLING, {}, memory=1 << 50), PARTS, place)
    assert set(seen(begun)) == set(range(12))


@pytest.mark.parametrize(
    "address", ["nonsense", "host:port", "127.0.0.1:1", "nosuch.invalid:6379", "[::1]:1"]
)
def test_a_bad_address_is_a_sentence(address: str, tmp_path: Path) -> None:
    engine = open_engine(f"ray:{address}")
    with (
        pytest.raises(ConfigError, match=r"no Ray cluster answers|is no address"),
        Parts.opened(tmp_path / "parts") as place,
    ):
        engine.run(Work(DOUBLING, {}), PARTS, place)


@pytest.mark.slow
def test_something_else_that_listens_is_no_cluster(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        engine = open_engine(f"ray:127.0.0.1:{server.getsockname()[1]}")
        with (
            pytest.raises(ConfigError, match="no Ray cluster answers"),
            Parts.opened(tmp_path / "parts") as place,
        ):
            engine.run(Work(DOUBLING, {}), PARTS, place)


@pytest.mark.slow
def test_a_cluster_of_another_version_of_the_package_is_a_sentence(cluster: Any, tmp_path: Path) -> None:
    """A node has a copy of the package that calls itself something else, and it alone has the memory."""
    shutil.copytree(SOURCE / "textsplice", tmp_path / "old" / "textsplice")
    init = tmp_path / "old" / "textsplice" / "__init__.py"
    init.write_text(init.read_text().replace("__version__ = ", '__version__ = "0.0.1" or '))
    other = cluster.add_node(
        num_cpus=1, memory=2 << 40, object_store_memory=STORE, env_vars=node_environment(tmp_path / "old")
    )
    assert other
    with (
        pytest.raises(StorageError, match=r"has textsplice 0\.0\.1 .*Install the same version"),
        Parts.opened(tmp_path / "parts") as place,
    ):
        open_engine(f"ray:{cluster.address}").run(Work(DOUBLING, {}, memory=1 << 40), PARTS, place)


@pytest.mark.slow
def test_a_full_object_store_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The disk that objects are spilled to counts as full, as soon as the smallest part of it is used."""
    for name, value in node_environment().items():
        monkeypatch.setenv(name, value)
    ray.init(
        num_cpus=1,
        object_store_memory=STORE,
        include_dashboard=False,
        log_to_driver=False,
        _system_config={"local_fs_capacity_threshold": 0.001, "local_fs_monitor_interval_ms": 50},
    )
    try:
        large = Work(DOUBLING, {"how": "is large", "bytes": 2 * STORE}, memory=1 << 20)
        with (
            pytest.raises(StorageError, match="object store of a machine is full"),
            Parts.opened(tmp_path / "parts") as place,
        ):
            RayEngine().run(large, PARTS, place)
    finally:
        ray.shutdown()


E2E = Path(os.environ.get("TEXTSPLICE_DATA", TESTS.parent.parent / "shared" / "data")) / "e2e"


def command(*arguments: str | Path, check: bool = True, **options: Any) -> Any:
    """One of our commands, in a process of its own."""
    paths = {"PYTHONPATH": os.pathsep.join([str(SOURCE), str(TESTS)]), "OMP_NUM_THREADS": "1"}
    asked = [sys.executable, "-m", "textsplice", *map(str, arguments)]
    return subprocess.run(asked, env={**os.environ, **paths}, check=check, capture_output=True, **options)


def same_folders(one: Path, other: Path) -> bool:
    files = [sorted(p.relative_to(f) for p in f.rglob("*") if p.is_file()) for f in (one, other)]
    return files[0] == files[1] and all((one / n).read_bytes() == (other / n).read_bytes() for n in files[0])


@pytest.mark.slow
@pytest.mark.data
def test_e2e_is_the_same_on_two_nodes(cluster: Any, tmp_path: Path) -> None:
    """`prepare` of E2E, 2,000 tables by swap, 200 by a policy, 2,000 traces: byte-equal."""
    at = ("--engine", f"ray:{cluster.address}")
    config = tmp_path / "e2e.toml"
    config.write_text(f'[corpus]\nsource = "e2e:{E2E}"\n[neighbors]\nfold = ["auto"]\nverbatim = true\n')
    for out, how in ((tmp_path / "local", ()), (tmp_path / "ray", at)):
        command("prepare", config, "--out", out, *how)
    assert same_folders(tmp_path / "local", tmp_path / "ray")
    prepared = tmp_path / "local"
    asked = (f"e2e:{E2E}", "--split", "train", "--distinct", "--limit", "2000")
    rows = compared(tmp_path, "swap", at, "generate", prepared, *asked)
    assert len(rows) == 2000
    texts = tmp_path / "drafts.jsonl"
    drafts = [{"id": row["id"], "table": row["table"], "text": row["text"]} for row in rows]
    texts.write_text("".join(json.dumps(draft) + "\n" for draft in drafts))
    assert len(compared(tmp_path, "traces", at, "trace", prepared, texts)) == 2000
    model, store = os.environ.get("TEXTSPLICE_MODEL"), os.environ.get("TEXTSPLICE_STORE")
    if model and store:
        asked = (f"e2e:{E2E}", "--split", "test", "--distinct", "--limit", "200", "--beam", "2")
        assert len(compared(tmp_path, "policy", at, "generate", model, *asked, "--store", store)) == 200


def compared(folder: Path, name: str, at: tuple[str, str], *asked: str | Path) -> list[dict[str, Any]]:
    """The rows of a command, which are the same without an engine, on two processes, and on the cluster."""
    outs = [folder / f"{name}-{how}.jsonl" for how in ("plain", "local", "ray")]
    for out, how in zip(outs, ((), ("--workers", "2"), at), strict=True):
        command(*asked, "--out", out, *how)
    assert outs[0].read_bytes() == outs[1].read_bytes() == outs[2].read_bytes()
    assert not list(folder.glob("*.parts"))
    return [json.loads(line) for line in outs[0].read_text(encoding="utf-8").splitlines()]


@pytest.mark.slow
@pytest.mark.data
def test_generate_survives_the_loss_of_worker_node_and_driver(cluster: Any, tmp_path: Path) -> None:
    config = tmp_path / "e2e.toml"
    config.write_text(f'[corpus]\nsource = "e2e:{E2E}"\nsplits = ["train"]\n')
    prepared, at = tmp_path / "prepared", ("--engine", f"ray:{cluster.address}")
    command("prepare", config, "--out", prepared)
    asked = ("generate", prepared, f"e2e:{E2E}", "--split", "train", "--distinct", "--limit", "2000")
    command(*asked, "--out", tmp_path / "plain.jsonl")
    out, parts = tmp_path / "ray.jsonl", tmp_path / "ray.jsonl.parts"
    full = [sys.executable, "-m", "textsplice", *map(str, asked), "--out", str(out), *at]
    paths = {"PYTHONPATH": os.pathsep.join([str(SOURCE), str(TESTS)]), "OMP_NUM_THREADS": "1"}
    driver = subprocess.Popen(full, env={**os.environ, **paths})
    waited(lambda: len(list(parts.glob("*.part"))) >= 2 or driver.poll() is not None)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    done = {path.name: path.stat().st_mtime_ns for path in parts.glob("*.part")}
    assert 2 <= len(done) < 16
    again = subprocess.Popen(full, env={**os.environ, **paths}, stderr=subprocess.PIPE, text=True)
    waited(lambda: len(list(parts.glob("*.part"))) > len(done) or again.poll() is not None)
    kill_a_worker()
    kept = {name: (parts / name).stat().st_mtime_ns for name in done}
    (node,) = [each for each in cluster.list_all_nodes() if each is not cluster.head_node]
    cluster.remove_node(node)
    _, told = again.communicate()
    assert again.returncode == 0
    assert kept == done
    assert f"{len(done)} of 16 parts were there already" in told
    assert out.read_bytes() == (tmp_path / "plain.jsonl").read_bytes()


def kill_a_worker() -> None:
    """Kills a worker of the cluster that this process started, in the middle of our work."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        worker = int(path.parent.name)
        try:
            if path.read_bytes().startswith(b"ray::answer") and os.getpid() in ancestors(worker):
                os.kill(worker, signal.SIGKILL)
                return
        except OSError:
            continue
    raise AssertionError("no worker is at work")


def ancestors(process: int) -> Iterator[int]:
    """The processes that a process descends from."""
    while process > 1:
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
        yield process


@pytest.mark.slow
def test_local_and_ray_give_the_same_keys_and_results(cluster: Any, tmp_path: Path) -> None:
    found: list[list[bytes]] = []
    for engine in (LocalEngine(2), open_engine(f"ray:{cluster.address}")):
        with Parts.opened(tmp_path / "parts") as place:
            keys = engine.run(Work(DOUBLING, {}, memory=1 << 20), PARTS, place)
            found.append([*place.results(keys), *map(str.encode, keys)])
    assert found[0] == found[1]
