"""Tensors are read from safetensors files only: reading a pickle could run any program."""

from __future__ import annotations

from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from textsplice.errors import StorageError
from textsplice.files import storage_error

PICKLES = {".bin", ".pt", ".pth", ".pkl"}


def read_tensors(path: Path, remedy: str) -> dict[str, Tensor]:
    """All tensors of a file; `StorageError` if it is a pickle, truncated or missing."""
    try:
        with path.open("rb") as file:
            head = file.read(9)
        # torch.save writes a zip, pickle itself begins with 0x80; a safetensors header may begin with
        # either by chance, but its ninth byte opens a JSON object.
        if head[8:] != b"{" and head.startswith((b"PK", b"\x80")):
            what = "is a pickle, which could run any program when read; only safetensors are read."
            raise StorageError(what, where=str(path), remedy=remedy)
        return load_file(path)
    except FileNotFoundError:
        pickles = sorted(other.name for other in path.parent.glob("*") if other.suffix in PICKLES)
        named = f"; {pickles[0]} is a pickle, which is never read" if pickles else ""
        raise StorageError(f"is missing{named}.", where=str(path), remedy=remedy) from None
    except SafetensorError as error:
        what = f"is no sound safetensors file ({error})."
        raise StorageError(what, where=str(path), remedy=remedy) from error
    except OSError as error:
        raise storage_error(error, path) from error
