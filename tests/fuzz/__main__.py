"""The long run: `python -m tests.fuzz --cases 1000000`, or one target, or one case of it again.

python -m tests.fuzz --cases 1000000 --first 0
python -m tests.fuzz csv --cases 50000
python -m tests.fuzz csv --case 1234
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from fuzz_targets import TARGETS, Target, try_case

SECONDS_PER_CASE = 60  # more is a hang


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
            if len(failed) <= 3:
                frame = traceback.extract_tb(error.__traceback__)[-1]
                place = f"{Path(frame.filename).name}:{frame.lineno}"
                print(
                    f"  {target.name} {case}: {type(error).__name__} at {place}: {str(error)[:300]!r}",
                    flush=True,
                )
        finally:
            signal.alarm(0)
    return used, failed


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--case", type=int)
    given = parser.parse_args()
    chosen = [target for target in TARGETS if not given.targets or target.name in given.targets]
    if given.case is not None:
        print("used" if try_case(chosen[0], given.case) else "refused")
        return
    whole = sum(target.weight for target in chosen)
    total = faults = 0
    for target in chosen:
        count = max(1, given.cases * target.weight // whole)
        began = time.monotonic()
        used, failed = fuzz(target, given.first, count)
        took = time.monotonic() - began
        total, faults = total + count, faults + len(failed)
        print(
            f"{target.name:>14}: {count:,} cases, {used:,} used, {count - used - len(failed):,} refused,"
            f" {len(failed)} failed, {took:.0f} s",
            flush=True,
        )
    print(f"{total:,} cases, {faults} failed")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
