"""Where the real corpora are, if they are here at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says something about the machine, not about the code.
settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any-machine")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What is remembered of checked files goes into a folder of the tests, not into a person's home."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))


def corpora_folder() -> Path | None:
    """`$TEXTSPLICE_DATA`, else `../shared/data` beside the repository, if either exists."""
    for candidate in (os.environ.get("TEXTSPLICE_DATA"), ROOT.parent / "shared" / "data"):
        if candidate and Path(candidate).is_dir():
            return Path(candidate)
    return None


def real_corpus(name: str) -> Path:
    folder = corpora_folder()
    if folder is None or not (folder / name).is_dir():
        pytest.skip(f"the real corpus {name!r} is neither in $TEXTSPLICE_DATA nor in ../shared/data")
    return folder / name


@pytest.fixture(scope="session")
def e2e_folder() -> Path:
    return real_corpus("e2e")


@pytest.fixture(scope="session")
def wikibio_folder() -> Path:
    return real_corpus("wikibio-sample")


@pytest.fixture(scope="session")
def webnlg_folder() -> Path:
    return real_corpus("webnlg")
