"""`textsplice lexicon`: how values are worded."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textsplice.cli.output import console, say
from textsplice.cli.reading import say_lists
from textsplice.visible import visible

app = typer.Typer(help="Lexicons: how the values of a corpus are worded.", no_args_is_help=True)


@app.callback()
def lexicon() -> None:
    """Lexicons: how the values of a corpus are worded."""


@app.command()
def induce(
    corpus: Annotated[str, typer.Argument(help="A corpus, as `prepare` takes it.")],
    split: Annotated[
        str, typer.Option(help="The split whose texts are read; `all` is every row of a one-file corpus.")
    ] = "train",
    out: Annotated[Path | None, typer.Option(help="The TOML file to write. Default: the terminal.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="The most texts to read.")] = 10_000,
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="FIELD=KIND",
            help="Say what kind a field is: said, list, number, yes/no, worded or unsaid; repeatable. The "
            "others are found.",
        ),
    ] = None,
    text_column: Annotated[str | None, typer.Option(help="The column that holds the text.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Propose a lexicon from the training texts of a corpus, with evidence.

    Wordings are found in one half of the texts and tried on the other half. One that another field explains,
    or that is often wrong there, is not proposed; a value without any is reported as unchecked, never as
    right. In the file, each wording stands below how often it was right and sentences that have it: read it,
    and strike a wording by deleting its line or putting a # before it.

    Examples:

        textsplice lexicon induce bundled

        textsplice lexicon induce e2e:data/e2e --out lexicon.toml

        textsplice lexicon induce games.csv --kind act=unsaid --out games.toml

        textsplice evaluate dev.jsonl --references e2e:data/e2e --lexicon lexicon.toml
    """
    from textsplice.corpus import read_corpus
    from textsplice.files import require_new, write_new
    from textsplice.progress import bar
    from textsplice.slots.induce import propose
    from textsplice.slots.kinds import chosen_kinds

    if out is not None:
        require_new(out, force=force)
    chosen = chosen_kinds(kinds or [], where="--kind")
    examples = read_corpus(corpus, split, text_column=text_column).require_texts()
    say_lists(examples.lists, corpus)
    # Every n-th text: adjacent rows often share their table.
    step = max(1, -(-len(examples) // limit))
    with bar(None, "finding wordings", quiet=out is None):
        found = propose((e for number, e in enumerate(examples) if number % step == 0), chosen)
    text = found.to_toml()
    if out is None:
        say(text)
        return
    write_new(out, text, force=force)
    say(f"{out}: a proposal; read and correct it.")


@app.command()
def check(
    corpus: Annotated[str, typer.Argument(help="A corpus, as `prepare` takes it.")],
    lexicon: Annotated[str, typer.Option(help="e2e, bundled, values (as written), or a TOML file.")],
    split: Annotated[
        str,
        typer.Option(help="The split whose texts are checked; `all` is every row of a one-file corpus."),
    ] = "dev",
    text_column: Annotated[str | None, typer.Option(help="The column that holds the text.")] = None,
    show: Annotated[int, typer.Option(min=0, help="How many texts with errors to print.")] = 10,
    wordings: Annotated[
        bool,
        typer.Option("--wordings", help="Also print how often each wording of the lexicon is right."),
    ] = False,
) -> None:
    """Check the texts of a corpus against their tables: how noisy are they, and what does a lexicon miss?

    Examples:

        textsplice lexicon check e2e:data/e2e --lexicon e2e

        textsplice lexicon check mine.jsonl --lexicon mine.toml --split train --show 50

        textsplice lexicon check mine.jsonl --lexicon mine.toml --wordings --show 0

        textsplice lexicon check mine.csv --text-column summary --lexicon values --split all
    """
    from textsplice.corpus import read_corpus
    from textsplice.evaluate.tables import slot_grid
    from textsplice.slots.check import check_slots, summarize_slots
    from textsplice.slots.lexicon import Lexicon

    found = read_corpus(corpus, split, text_column=text_column).require_texts()
    say_lists(found.lists, corpus)
    examples = [e for e in found if e.text]
    known = Lexicon.named(lexicon, (e.table for e in examples))
    reports = [check_slots(e.text or "", e.table, known) for e in examples]
    console().print(slot_grid(f"{corpus}/{split}", summarize_slots(reports), lexicon))
    if wordings:
        from textsplice.evaluate.tables import wordings_grid
        from textsplice.slots.evidence import measure
        from textsplice.slots.phrases import Sample

        console().print(wordings_grid(f"{corpus}/{split}", measure(known, Sample.of(examples))))
    erring = [(e, r) for e, r in zip(examples, reports, strict=True) if r.errors]
    for example, report in erring[:show]:
        say(f"\n{visible(example.id)}: {visible(example.text or '')}\n  {report}")


def register(parent: typer.Typer) -> None:
    """Adds `lexicon` to the command line."""
    parent.add_typer(app, name="lexicon")
