"""`textsplice serve`: the page and the API, on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textsplice.cli.generate import Store
from textsplice.cli.output import say

if TYPE_CHECKING:
    from textsplice.serve.service import Named
    from textsplice.splicer import Splicer

EPILOG = """Examples:

textsplice serve    (the bundled corpus, by swap; nothing is trained)

textsplice serve runs/mine --approved mine-approved.jsonl

textsplice serve models/e2e-drafts --store prepared/e2e --port 8080

textsplice serve runs/mine --host 0.0.0.0 --token-file token.txt
"""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("serve", epilog=EPILOG)(serve)


def serve(
    run: Annotated[
        Path | None,
        typer.Argument(help="A run, an export, or a prepared folder for swap. Default: the bundled corpus."),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 8000,
    host: Annotated[
        str, typer.Option(help="The address to listen at; any but this machine's own needs --token-file.")
    ] = "127.0.0.1",
    token_file: Annotated[
        Path | None, typer.Option(help="A file with a token that every request must have.")
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="Pages of this origin may ask, too (CORS); repeatable."),
    ] = None,
    approved: Annotated[
        Path, typer.Option(help="The file that approved texts are added to; `textsplice add` takes it.")
    ] = Path("approved.jsonl"),
    store: Store = None,
    swap: Annotated[bool, typer.Option("--swap", help="The untrained baseline.")] = False,
    limit_bytes: Annotated[int, typer.Option(min=1024, help="Of a request.")] = 4 << 20,
    limit_rows: Annotated[int, typer.Option(min=1, help="Records of a request.")] = 1000,
    limit_fields: Annotated[int, typer.Option(min=1, help="Fields of a record.")] = 200,
    limit_characters: Annotated[int, typer.Option(min=1, help="Of a record, or of a text.")] = 20_000,
    limit_seconds: Annotated[float, typer.Option(min=0.1, help="For an answer.")] = 60.0,
    limit_queue: Annotated[int, typer.Option(min=1, help="Requests that wait; others get 429.")] = 64,
    batch_size: Annotated[int, typer.Option(min=1, help="Records that are searched at once.")] = 32,
) -> None:
    """Serve the page and the API (docs/serve.md), to this machine alone unless --host says otherwise.

    Ctrl-C ends it: no new request is taken, and those that run are finished.
    """
    _require_extra()
    from textsplice.serve.app import create_app
    from textsplice.serve.approved import ApprovedFile
    from textsplice.serve.guard import Access
    from textsplice.serve.limits import Limits
    from textsplice.serve.server import listen, make_server
    from textsplice.serve.service import Service

    access = Access(_token(host, token_file), _origins(allow_origin or []))
    limits = Limits(
        limit_bytes, limit_rows, limit_fields, limit_characters, limit_seconds, limit_queue, batch_size
    )
    with listen(host, port) as socket:
        file = ApprovedFile(approved)
        file.check()
        splicer, named = _opened(run, store, swap=swap)
        service = Service(splicer, named, file, limits)
        say("Getting ready …", err=True)
        service.warm()
        server = make_server(create_app(service, access), seconds=limit_seconds)
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{socket.getsockname()[1]}/"
        told = f"{address}  ({named.name}, {len(splicer.store):,} texts; Ctrl-C ends it)"
        server.ready = lambda: say(told)
        server.run(sockets=[socket])


def _require_extra() -> None:
    """`MissingExtraError` where the extra is not installed."""
    from textsplice.errors import MissingExtraError

    try:
        import fastapi  # noqa: F401  # pyright: ignore[reportUnusedImport]
        import prometheus_client  # noqa: F401  # pyright: ignore[reportUnusedImport]
        import uvicorn  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError as error:
        raise MissingExtraError(
            f"a server needs {error.name}, which is not installed.",
            remedy="Install it: pip install 'textsplice[serve]'.",
        ) from error


def _token(host: str, file: Path | None) -> str | None:
    from textsplice.errors import ConfigError
    from textsplice.serve.server import is_loopback, read_token

    if file is not None:
        return read_token(file)
    if not is_loopback(host):
        raise ConfigError(
            "others could reach this address, so a token is needed.",
            where=f"--host {host}",
            remedy="Name a file that holds one: --token-file FILE.",
        )
    return None


def _origins(given: list[str]) -> tuple[str, ...]:
    from urllib.parse import urlsplit

    from textsplice.errors import ConfigError

    for origin in given:
        parts = urlsplit(origin)
        if (
            parts.scheme not in ("http", "https")
            or not parts.netloc
            or f"{parts.scheme}://{parts.netloc}" != origin
        ):
            raise ConfigError(
                f"{origin!r} is no origin.", where="--allow-origin", remedy="Write it as https://example.org."
            )
    return tuple(given)


def _opened(run: Path | None, store: Path | None, *, swap: bool) -> tuple[Splicer, Named]:
    """What is served; without a run, the bundled corpus, prepared once in the user's cache folder."""
    from textsplice.cli.systems import open_splicer
    from textsplice.serve.service import Named

    if run is not None:
        named = Named(run.resolve().name, str(run), str(store) if store else None, swap=swap)
        return open_splicer(run, swap=swap, store=store), named
    from textsplice.cli.quickstart import quickstart_config
    from textsplice.prepare import prepare
    from textsplice.runs.remembered import cache_folder
    from textsplice.splicer import Splicer

    config = quickstart_config(cache_folder("studio"))
    folder = config.output.prepared
    return Splicer.untrained(prepare(config)), Named("bundled", folder)
