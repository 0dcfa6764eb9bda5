"""`textsplice serve`: the page and the API, on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textsplice.cli.output import say


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("serve")(serve)


def serve(
    run: Annotated[Path | None, typer.Argument()] = None,
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8000,
    host: str = "127.0.0.1",
    approved: Path = Path("approved.jsonl"),
    store: Path | None = None,
) -> None:
    """Serve the page and the API."""
    import uvicorn

    from textsplice.cli.quickstart import quickstart_config
    from textsplice.cli.systems import open_splicer
    from textsplice.prepare import prepare
    from textsplice.runs.remembered import cache_folder
    from textsplice.serve.app import create_app
    from textsplice.serve.approved import ApprovedFile
    from textsplice.serve.service import Named, Service

    if run is None:
        config = quickstart_config(cache_folder("studio"))
        prepare(config)
        run = Path(config.output.prepared)
    service = Service(open_splicer(run, store=store), Named(run.name, str(run)), ApprovedFile(approved))
    say("warming up")
    service.warm()
    uvicorn.run(create_app(service), host=host, port=port)
