"""The long run: a million cases, one target, or one case of it again.

python -m tests.fuzz --cases 1000000
python -m tests.fuzz --cases 1000000 --first 1000000 --json part-2.json
python -m tests.fuzz csv generate --cases 50000
python -m tests.fuzz csv --case 1234

Cases have numbers, so that a run can be made in parts: `--first` is the number each target begins with. With
`--json`, each target's result is written as soon as it is done, and targets that the file has are skipped.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parent))

from command_targets import COMMAND_TARGETS
from fuzz_target import FaultError, Target, try_case
from fuzz_targets import READER_TARGETS

SECONDS_PER_CASE = 60  # more is a hang
SHOWN = 3  # failures of one target
TARGETS = (*READER_TARGETS, *COMMAND_TARGETS)


def fuzz(target: Target, first: int, count: int) -> tuple[int, list[int]]:
    """How many cases were used, and the numbers of those that failed."""
    used, failed = 0, list[int]()
    for case in range(first, first + count):
        signal.alarm(SECONDS_PER_CASE)
        try:
            used += try_case(target, case)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            failed.append(case)
            if len(failed) <= SHOWN:
                frame = traceback.extract_tb(error.__traceback__)[-1]
                place = f"{Path(frame.filename).name}:{frame.lineno}"
                said = f"{type(error).__name__} at {place}: {str(error)[:300]!r}"
                print(f"  {target.name} {case}: {said}", flush=True)
        finally:
            signal.alarm(0)
    return used, failed


def hang(*_: object) -> NoReturn:
    raise FaultError(f"not done after {SECONDS_PER_CASE} s")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("targets", nargs="*", help=", ".join(target.name for target in TARGETS))
    parser.add_argument("--cases", type=int, default=1000, help="in all")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case of each target")
    parser.add_argument("--case", type=int, help="only this one")
    parser.add_argument("--json", type=Path, help="where to write, and to go on from")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    signal.signal(signal.SIGALRM, hang)
    chosen = [target for target in TARGETS if not given.targets or target.name in given.targets]
    if given.case is not None:
        print("used" if try_case(chosen[0], given.case) else "refused")
        return
    whole = sum(target.weight for target in chosen)
    done: dict[str, dict[str, object]] = {}
    if given.json and given.json.exists():
        done = json.loads(given.json.read_text(encoding="utf-8"))
    total = faults = 0
    for target in chosen:
        if target.name not in done:
            count = max(1, round(given.cases * target.weight / whole))
            began = time.process_time()
            used, failed = fuzz(target, given.first, count)
            took = time.process_time() - began
            done[target.name] = {
                "first": given.first,
                "cases": count,
                "used": used,
                "refused": count - used - len(failed),
                "failed": failed,
                "cpu_seconds": round(took, 1),
            }
            if given.json:
                given.json.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
        result = done[target.name]
        failures = len(result["failed"])  # pyright: ignore[reportArgumentType]
        total, faults = total + int(str(result["cases"])), faults + failures
        print(
            f"{target.name:>16}: {result['cases']:,} cases, {result['used']:,} used,"
            f" {result['refused']:,} refused, {failures} failed, {result['cpu_seconds']} CPU s",
            flush=True,
        )
    print(f"{total:,} cases, {faults} failed")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
