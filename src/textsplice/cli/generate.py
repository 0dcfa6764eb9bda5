"""`textsplice generate`: tables in, texts with provenance out."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from textsplice.cli.output import say

if TYPE_CHECKING:
    from textsplice.corpus import Example, Table
    from textsplice.search.rules import Rule
    from textsplice.splicer import Splicer

EPILOG = """Examples:

textsplice generate runs/bundled tables.jsonl --out texts.jsonl

textsplice generate runs/e2e e2e:data/e2e --split dev --distinct --out dev.jsonl --resume

textsplice generate runs/e2e tables.jsonl --require name --forbid cheap --min-sentences 3

textsplice generate runs/mine tables.jsonl --lexicon mine.toml

textsplice generate prepared/bundled tables.jsonl    (no training: swap)

textsplice generate models/e2e-drafts tables.jsonl --store prepared/e2e    (an export)
"""


Run = Annotated[Path, typer.Argument(help="A run's folder, an export, or a prepared folder for swap.")]
Store = Annotated[
    Path | None,
    typer.Option(
        help="The prepared folder (or run) that an export takes its texts from.", metavar="PREPARED"
    ),
]
Tables = Annotated[str, typer.Argument(help="Anything that `read_corpus` reads; its texts are ignored.")]
Out = Annotated[Path | None, typer.Option(help="Where to write; standard output by default.")]
Split = Annotated[
    str | None, typer.Option(help="Which split, if TABLES has several; by default all rows of a single file.")
]
TextColumn = Annotated[
    str | None,
    typer.Option(help="The column of TABLES that holds the text. Default: that of the run, if present."),
]
Resume = Annotated[bool, typer.Option("--resume", help="Skip the rows that --out already has.")]
Distinct = Annotated[bool, typer.Option("--distinct", help="Each table once (E2E has one per reference).")]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first tables.")]
Beam = Annotated[int | None, typer.Option(help="Canvases kept per start neighbor.")]
BatchSize = Annotated[int | None, typer.Option(help="Tables at once.")]
Swap = Annotated[bool, typer.Option("--swap", help="The untrained baseline.")]
Values = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="search.KEY=VALUE", help="Change a setting of the search; repeatable."),
]
Lexicon = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="How values are worded (e2e, bundled or a TOML file): texts with fewer slot errors by it come "
        "first. The same as --set search.lexicon=FILE. Default: that of the run.",
    ),
]
Approved = Annotated[
    Path | None,
    typer.Option(help="Rule: splice only from the texts with the ids in this file, one per line."),
]
Require = Annotated[
    list[str] | None, typer.Option(metavar="FIELD", help="Rule: the values of the field must appear.")
]
Forbid = Annotated[
    list[str] | None, typer.Option(metavar="WORD", help="Rule: the word or phrase must not appear.")
]
ForbidLookalikes = Annotated[
    bool,
    typer.Option(
        "--forbid-lookalikes", help="What --forbid names is also found in letters that look like it."
    ),
]
CopyOnly = Annotated[bool, typer.Option("--copy-only", help="Rule: no generated words.")]
KeepSentences = Annotated[
    bool, typer.Option("--keep-sentences", help="Rule: no whole sentence is ever replaced.")
]
MinSentences = Annotated[int | None, typer.Option(min=1, help="Rule: at least this many sentences.")]
MaxSentences = Annotated[int | None, typer.Option(min=1, help="Rule: at most this many sentences.")]
AnyRule = Annotated[
    list[str] | None,
    typer.Option(metavar="JSON", help='Any rule, as {"rule": NAME, …}; repeatable (docs/formats.md).'),
]
CacheEncodings = Annotated[
    bool, typer.Option("--cache-encodings", help="Keep the encodings of all neighbors in the run's folder.")
]
Check = Annotated[
    bool,
    typer.Option(
        "--check", help="First read every file of the run, also those whose size and time are unchanged."
    ),
]
Selectors = Annotated[
    bool, typer.Option("--selectors", help="Also name each span by selectors of W3C Web Annotation.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No bar, no summary.")]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("generate", epilog=EPILOG)(generate)


def generate(
    run: Run,
    tables: Tables,
    out: Out = None,
    store: Store = None,
    split: Split = None,
    text_column: TextColumn = None,
    resume: Resume = False,
    distinct: Distinct = False,
    limit: Limit = None,
    beam: Beam = None,
    batch_size: BatchSize = None,
    swap: Swap = False,
    values: Values = None,
    lexicon: Lexicon = None,
    approved: Approved = None,
    require: Require = None,
    forbid: Forbid = None,
    forbid_lookalikes: ForbidLookalikes = False,
    copy_only: CopyOnly = False,
    keep_sentences: KeepSentences = False,
    min_sentences: MinSentences = None,
    max_sentences: MaxSentences = None,
    rule: AnyRule = None,
    cache_encodings: CacheEncodings = False,
    check: Check = False,
    selectors: Selectors = False,
    quiet: Quiet = False,
) -> None:
    """Write one JSON object per table: text, splices, provenance, score, rules (docs/formats.md).

    Rows are in the order of the tables. A table for which no text obeys the rules has a row too, with status
    "abstained" and the reason.
    """
    from textsplice.cli.systems import check_folder, check_values, open_splicer, search_of
    from textsplice.corpus import read_corpus
    from textsplice.search.rows import write_row

    for folder in filter(None, (run, store)) if check else ():
        check_folder(folder)
    splicer = open_splicer(run, swap=swap, store=store)
    corpus = read_corpus(tables, split, text_column=text_column, like=splicer.config.corpus)
    rules = rules_of(approved, require, forbid, copy_only, keep_sentences, min_sentences, max_sentences)
    rules = with_lookalikes(rules) if forbid_lookalikes else rules
    rules += [parse_rule(text) for text in rule or []]
    _check_approved(rules, splicer)
    shortcuts = {"beam": beam, "batch_size": batch_size, "lexicon": lexicon}
    changes = [f"search.{key}={value}" for key, value in shortcuts.items() if value is not None]
    search = search_of(splicer, check_values([*(values or []), *changes]))
    examples = islice(distinct_tables(corpus) if distinct else corpus, limit)
    counts = {"ok": 0, "unfinished": 0, "abstained": 0}
    with opened(out, resume=resume) as file:
        done = _done(out, examples, splicer.made(search, rules), selectors=selectors)
        if cache_encodings:
            _cache_encodings(splicer, quiet=quiet)
        for generation in splicer.generate_many(
            examples,
            rules=rules,
            search=search,
            progress=not quiet and out is not None,
            total=None if distinct else min(len(corpus), limit or len(corpus)) - done,
        ):
            write_row(file, generation.with_selectors() if selectors else generation, out)
            counts[generation.status] += 1
    if not quiet:
        told = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
        skipped = f"; {done} were there already" if done else ""
        say(f"{out or 'standard output'}: {told or 'nothing to do'}{skipped}.", err=True)


def _check_approved(rules: Iterable[Rule], splicer: Splicer) -> None:
    """Says which approved texts are not there; an error if none is."""
    from textsplice.errors import ConfigError
    from textsplice.search.rules import ApprovedNeighbors

    for rule in rules:
        if isinstance(rule, ApprovedNeighbors):
            missing = sorted(rule.ids - splicer.store.rows_of.keys())
            if missing and len(missing) == len(rule.ids):
                raise ConfigError(
                    f"the run has no text with an approved id; the first is {missing[0]!r}.",
                    where="--approved",
                )
            if missing:
                say(
                    f"--approved: {len(missing)} ids are of no text of the run, such as {missing[0]!r}.",
                    err=True,
                )


def distinct_tables(examples: Iterable[Example]) -> Iterator[Example]:
    """The first example of each table."""
    seen: set[Table] = set()
    for example in examples:
        if example.table not in seen:
            seen.add(example.table)
            yield example


def _cache_encodings(splicer: Splicer, *, quiet: bool) -> None:
    from textsplice.errors import ConfigError
    from textsplice.runs import ExportedRun

    if splicer.policy is None or not splicer.kind.uses_neighbors:
        raise ConfigError(
            f"{splicer.kind.name} encodes no neighbors.", where="--cache-encodings", remedy="Leave it out."
        )
    if isinstance(splicer.folder, ExportedRun):
        raise ConfigError(
            "an export stays as it is, so it keeps no encodings.",
            where="--cache-encodings",
            remedy="Leave it out.",
        )
    splicer.encodings.save(quiet=quiet)


def rules_of(
    approved: Path | None,
    require: list[str] | None,
    forbid: list[str] | None,
    copy_only: bool,
    keep_sentences: bool,
    min_sentences: int | None,
    max_sentences: int | None,
) -> list[Rule]:
    """The rules that options ask for."""
    from textsplice.errors import ConfigError
    from textsplice.parsing import read_text
    from textsplice.search import rules

    if min_sentences and max_sentences and min_sentences > max_sentences:
        raise ConfigError(
            f"--min-sentences {min_sentences} and --max-sentences {max_sentences} exclude each other."
        )
    found: list[Rule] = []
    if approved is not None:
        lines = read_text(approved, ConfigError, remedy="Write one id per line, as UTF-8.").splitlines()
        ids = [line.strip() for line in lines if line.strip()]
        if not ids:
            raise ConfigError(
                "names no text.", where=str(approved), remedy="Write one id per line, as UTF-8."
            )
        found.append(rules.ApprovedNeighbors(ids))
    if require:
        found.append(rules.RequireFields(require))
    if forbid:
        found.append(rules.ForbidWords(forbid))
    if copy_only:
        found.append(rules.CopyOnly())
    if keep_sentences:
        found.append(rules.KeepSentences())
    if min_sentences:
        found.append(rules.MinSentences(min_sentences))
    if max_sentences:
        found.append(rules.MaxSentences(max_sentences))
    return found


def with_lookalikes(rules: list[Rule]) -> list[Rule]:
    """The same rules; what is forbidden is also found in letters that look alike."""
    from textsplice.errors import ConfigError
    from textsplice.search.rules import ForbidWords

    if not any(isinstance(rule, ForbidWords) for rule in rules):
        raise ConfigError(
            "there is no word to forbid.", where="--forbid-lookalikes", remedy="Name one with --forbid."
        )
    return [ForbidWords(r.words, lookalikes=True) if isinstance(r, ForbidWords) else r for r in rules]


def parse_rule(text: str) -> Rule:
    from textsplice.errors import ConfigError
    from textsplice.parsing import parse_object, short_repr
    from textsplice.search.rules import rule_from_dict

    remedy = """Write it as '{"rule": NAME, …}'."""
    return rule_from_dict(
        parse_object(text, ConfigError, f"--rule {short_repr(text)}", remedy=remedy), "--rule"
    )


@contextmanager
def opened(out: Path | None, *, resume: bool | None = None) -> Generator[IO[str]]:
    """The file to write rows to, held from the first look at it to the last row: no other process has it.

    If nothing was written, a file that was not there before is not there after. `resume` is None for a
    command that can't go on with a file.
    """
    from textsplice.errors import ConfigError
    from textsplice.files import require_plain_file
    from textsplice.search.rows import open_rows

    if out is None:
        if resume:
            raise ConfigError("--resume needs --out: what went to standard output is gone.")
        yield sys.stdout
        return
    require_plain_file(out, remedy="Name a file; without --out, rows go to standard output.")
    new = not out.exists()
    with _writing(out), open_rows(out) as file:
        if not resume and out.stat().st_size:
            raise ConfigError(
                "the file is there already.",
                where=str(out),
                remedy="Name another file."
                if resume is None
                else "Go on with --resume, or name another file.",
            )
        try:
            yield file
        except BaseException:
            if new and not out.stat().st_size:
                out.unlink()
            raise


@contextmanager
def _writing(out: Path) -> Generator[None]:
    """Names the file in what the system says when it is closed: on a full disk, it tries to write again."""
    from textsplice.files import storage_error

    try:
        yield
    except BrokenPipeError:  # of standard error
        raise
    except OSError as error:
        raise storage_error(error, out) from error


def _done(
    out: Path | None, examples: Iterator[Example], made: Mapping[str, object], *, selectors: bool
) -> int:
    """Passes over the examples whose rows the file has; half a row at its end is cut off."""
    from textsplice.errors import ConfigError
    from textsplice.search.rows import already_written, made_otherwise

    if out is None:
        return 0
    written = already_written(out)
    for place, row in zip(written.places, written.rows, strict=True):
        example = next(examples, None)
        if example is None or row.get("id") != example.id:
            raise ConfigError(
                f"row {row.get('id')!r} is not of the table at this place of the input.",
                where=place,
                remedy="Name another file, or give the tables it was made from.",
            )
        if ("spans" in row) != selectors:
            raise ConfigError(
                f"has {'no' if selectors else 'its'} spans by selectors.",
                where=place,
                remedy=f"Go on {'without' if selectors else 'with'} --selectors, or name another file.",
            )
        # As text, since the order of fields counts.
        if json.dumps(row.get("table")) != json.dumps(example.table.to_record()):
            raise ConfigError(
                f"the table of row {row.get('id')!r} is another one in the input.",
                where=place,
                remedy="Name another file, or give the tables it was made from.",
            )
        if difference := made_otherwise(row, made):
            raise ConfigError(f"was made otherwise: {difference}.", where=place, remedy="Name another file.")
    written.cut(out)
    return len(written.rows)
