"""Bulk work in parts on this machine: the same results, kept, and only what is missing is done again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textsplice.engine import LocalEngine, open_engine
from textsplice.errors import ConfigError, InputError, MissingExtraError, StorageError
from textsplice.runs.parts import FINISHED, Parts
from textsplice.work import Work, answer

TESTS = Path(__file__).parent
DOUBLING = "engine_work:doubling"
PARTS = [[number, number + 1] for number in range(8)]
EXPECTED = [repr([2 * a, 2 * b]).encode() for a, b in PARTS]


def seen(folder: Path) -> list[int]:
    """The parts that were begun, by their first numbers."""
    return sorted(int(path.name.split("-")[0]) for path in folder.iterdir() if path.name[0].isdigit())


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    folder = tmp_path / "seen"
    folder.mkdir()
    return folder


def test_results_are_the_same_for_any_number_of_workers_and_come_in_order(tmp_path: Path) -> None:
    work = Work(DOUBLING, {})
    for workers in (1, 2):
        with Parts.opened(tmp_path / "parts") as place:
            keys = LocalEngine(workers).run(work, iter(PARTS), place)
            assert list(place.results(keys)) == EXPECTED
            assert len(set(keys)) == len(PARTS)
        assert not (tmp_path / "parts").exists()


def test_what_is_there_is_not_done_again_and_what_is_damaged_is(tmp_path: Path, begun: Path) -> None:
    work = Work(DOUBLING, {"seen": str(begun)})
    folder = tmp_path / "parts"
    with Parts.opened(folder, keep=True) as place:
        keys = LocalEngine(1).run(work, PARTS[:5], place)
    (folder / f"{keys[1]}.part").write_bytes(b"[8, 8]")  # of the same length
    (folder / f"{keys[2]}.part").unlink()
    with (folder / FINISHED).open("a") as file:
        file.write('{"key": "cut sho')  # by a crash
    for path in begun.iterdir():
        path.unlink()
    with Parts.opened(folder) as place:
        again = LocalEngine(1).run(work, PARTS, place)
        assert list(place.results(again)) == EXPECTED
        assert place.made == 5
    assert seen(begun) == [1, 2, 5, 6, 7]
    assert not folder.exists()


def test_a_process_opens_what_it_needs_once(tmp_path: Path, begun: Path) -> None:
    with Parts.opened(tmp_path / "parts") as place:
        LocalEngine(1).run(Work(DOUBLING, {"seen": str(begun)}), PARTS, place)
    assert len(list(begun.glob("opened-*"))) == 1
    assert seen(begun) == list(range(8))


def test_a_killed_worker_costs_its_part_and_no_more(tmp_path: Path, begun: Path) -> None:
    with Parts.opened(tmp_path / "parts") as place:
        keys = LocalEngine(1).run(Work(DOUBLING, {"seen": str(begun), "how": "dies once"}), PARTS, place)
        assert list(place.results(keys)) == EXPECTED
    assert (begun / "died").exists()
    assert [part for part in seen(begun) if part < 3] == [0, 1, 2]


def test_a_part_whose_worker_always_dies_is_a_sentence_in_the_end(tmp_path: Path, begun: Path) -> None:
    with (
        pytest.raises(StorageError, match=r"ended 4 times without an answer.*fewer --workers"),
        Parts.opened(tmp_path / "parts") as place,
    ):
        LocalEngine(1).run(Work(DOUBLING, {"seen": str(begun), "how": "dies"}), PARTS[:1], place)
    assert seen(begun) == [0, 0, 0, 0]


def test_an_error_in_a_worker_is_the_error_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    engine = LocalEngine(1)
    with (
        pytest.raises(InputError, match=r"^part 0: is odd\. Even it\.$"),
        Parts.opened(tmp_path / "parts") as place,
    ):
        engine.run(Work(DOUBLING, {"how": "refuses"}), PARTS, place)
    assert not (tmp_path / "parts").exists()
    with pytest.raises(RuntimeError, match="ZeroDivisionError"), Parts.opened(tmp_path / "parts") as place:
        engine.run(Work(DOUBLING, {"how": "fails"}), PARTS, place)
    assert "engine_work.py" in capsys.readouterr().err


def test_keys_depend_on_all_that_decides_a_result_and_on_nothing_else() -> None:
    base = Work(DOUBLING, {"a": 1, "b": 2}, ["x"])
    part = [1, "é"]
    same = Work(DOUBLING, {"b": 2, "a": 1}, ["x"], needs=["somewhere"], memory=5)
    others = (Work("other:one", {"a": 1, "b": 2}, ["x"]), Work(DOUBLING, {"a": 1}, ["x"]))
    assert same.key(part) == base.key(part)
    keys = {base.key(part), base.key([1, "e"]), Work(DOUBLING, {"a": 1, "b": 2}, ["y"]).key(part)}
    assert len(keys | {other.key(part) for other in others}) == 5


def test_a_machine_without_the_data_or_with_other_code_is_a_sentence(tmp_path: Path) -> None:
    missing = tmp_path / "shared" / "store"
    told = answer(Work(DOUBLING, {}, needs=[str(missing)]).order(), "[1]")
    assert told.status == "refused"
    assert "does not have it" in str(told.told)
    assert str(missing) in str(told.told)
    order = json.loads(Work(DOUBLING, {}).order())
    order[0] = "0.0.1 (abc)"
    told = answer(json.dumps(order), "[1]")
    assert "has textsplice" in str(told.told)
    assert "Install the same version" in str(told.told)


@pytest.mark.parametrize(
    "name", ["", "local:", "local:0", "local:x", "local:-1", "spark", "ray:", "Ray", "local:²"]
)
def test_what_is_no_engine_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="is no engine"):
        open_engine(name)


def test_without_the_extra_ray_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'textsplice\[ray\]'"):
        open_engine("ray")


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "letter.txt").write_text("dear")
    with pytest.raises(StorageError, match="is not empty"), Parts.opened(folder):
        pass
    parts = tmp_path / "parts"
    with Parts.opened(parts) as place:
        place.put("0" * 64, b"x")
        (parts / "letter.txt").write_text("dear")
    assert [path.name for path in parts.iterdir()] == ["letter.txt"]


def test_two_processes_do_not_share_a_folder_of_parts(tmp_path: Path) -> None:
    with (
        Parts.opened(tmp_path / "parts"),
        pytest.raises(StorageError, match="another process"),
        Parts.opened(tmp_path / "parts"),
    ):
        pass


@settings(max_examples=50, deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=6), st.data())
def test_whatever_is_cut_off_by_a_crash_parts_are_whole_or_missing(
    tmp_path_factory: pytest.TempPathFactory, results: list[bytes], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("crash") / "parts"
    keys = [f"{number:064x}" for number in range(len(results))]
    with Parts.opened(folder, keep=True) as place:
        for key, result in zip(keys, results, strict=True):
            place.put(key, result)
    files = sorted(path for path in folder.iterdir() if path.name != "parts.json")
    for path in data.draw(st.lists(st.sampled_from(files), max_size=3)) if files else ():
        content = path.read_bytes()
        path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    with Parts.opened(folder) as place:
        for key, result in zip(keys, results, strict=True):
            if key in place:
                assert place.get(key) == result
            else:
                place.put(key, result)
                assert place.get(key) == result
    assert not folder.exists()


DRIVER = """
import sys
from pathlib import Path
from textsplice.engine import LocalEngine
from textsplice.runs.parts import Parts
from textsplice.work import Work
if __name__ == "__main__":
    work = Work("engine_work:doubling", {"seen": sys.argv[2], "how": "is slow"})
    with Parts.opened(Path(sys.argv[1])) as place:
        keys = LocalEngine(1).run(work, [[n, n + 1] for n in range(8)], place)
        print(place.made, b"".join(place.results(keys)).decode())
"""


def test_a_killed_driver_takes_its_workers_along_and_the_next_one_does_what_is_missing(
    tmp_path: Path, begun: Path
) -> None:
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]),
    }
    command = [sys.executable, str(script), str(tmp_path / "parts"), str(begun)]
    first = subprocess.Popen(command, env=environment)
    while len(list((tmp_path / "parts").glob("*.part"))) < 2:
        assert first.poll() is None
        time.sleep(0.05)
    workers = [int(path.name.split("-")[1]) for path in begun.glob("opened-*")]
    first.send_signal(signal.SIGKILL)
    first.wait()
    while any(Path(f"/proc/{worker}").exists() for worker in workers):
        time.sleep(0.05)
    done = len(list((tmp_path / "parts").glob("*.part")))
    again = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    made, results = again.stdout.strip().split(" ", 1)
    assert int(made) == len(PARTS) - done
    assert results.encode() == b"".join(EXPECTED)
