"""`textsplice generate`: tables in, texts with provenance out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textsplice.cli.engine import EngineName, PartsFolder, Rows, Workers, chosen_engine, cut, write_in_parts
from textsplice.cli.output import say
from textsplice.cli.reading import Records, opened_source, say_lists
from textsplice.cli.writing import (
    UNCHECKED,
    cells_writer,
    check_out,
    opened,
    pass_written,
    row_writer,
    tallies,
)

if TYPE_CHECKING:
    from textsplice.search.rules import Rule
    from textsplice.splicer import Splicer

EPILOG = """Examples:

textsplice generate runs/bundled tables.jsonl --out texts.jsonl

textsplice generate runs/e2e e2e:data/e2e --split dev --distinct --out dev.jsonl --resume

textsplice generate runs/e2e tables.jsonl --require name --forbid cheap --min-sentences 3

textsplice generate runs/mine tables.jsonl --lexicon mine.toml

textsplice generate prepared/bundled tables.jsonl    (no training: swap)

textsplice generate models/e2e-drafts tables.jsonl --store prepared/e2e    (an export)

textsplice generate runs/mine new.xlsx#March --out texts.csv    (for a spreadsheet: texts without provenance)

cat new.jsonl | textsplice generate runs/mine - > texts.jsonl

textsplice generate runs/mine new.csv --strict --out texts.jsonl    (stop at the first row that can't be read)
"""


Run = Annotated[Path, typer.Argument(help="A run's folder, an export, or a prepared folder for swap.")]
Store = Annotated[
    Path | None,
    typer.Option(
        help="The prepared folder (or run) that an export takes its texts from.", metavar="PREPARED"
    ),
]
Tables = Annotated[
    str,
    typer.Argument(
        help="Records: .jsonl, .csv, .tsv, .xlsx, .parquet, or anything that `prepare` takes; - for standard "
        "input. Their texts, if any, are ignored."
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        help="Where to write; standard output by default. JSON lines; .csv and .tsv get the texts alone."
    ),
]
Split = Annotated[
    str | None, typer.Option(help="Which split, if TABLES has several; by default all rows of a single file.")
]
TextColumn = Annotated[
    str | None,
    typer.Option(help="The column of TABLES that holds the text. Default: that of the run, if present."),
]
Lists = Annotated[
    list[str] | None,
    typer.Option(
        metavar="'COLUMN SEPARATOR'",
        help="A column of TABLES with several values in a cell, such as 'features |'; repeatable. "
        "Also auto or none. Default: as in the run's corpus.",
    ),
]
InputFormat = Annotated[
    str | None,
    typer.Option(help="csv, tsv, jsonl, xlsx or parquet, if neither its name nor its beginning says it."),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Stop at the first row that can't be read, before any text.")
]
Resume = Annotated[bool, typer.Option("--resume", help="Skip the rows that --out already has.")]
Distinct = Annotated[bool, typer.Option("--distinct", help="Each table once (E2E has one per reference).")]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first tables.")]
Beam = Annotated[int | None, typer.Option(help="Canvases kept per start neighbor.")]
Alternatives = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="How many other texts are given with each, at most beam - 1 (the default); 0 is faster, "
        "and the text is the same.",
    ),
]
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
Never = Annotated[
    list[str] | None, typer.Option(metavar="ID", help="Rule: never splice from the text with this id.")
]
Start = Annotated[
    str | None,
    typer.Option(metavar="ID", help="Rule: start from the text with this id (swap and FULL)."),
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
    lists: Lists = None,
    input_format: InputFormat = None,
    strict: Strict = False,
    resume: Resume = False,
    distinct: Distinct = False,
    limit: Limit = None,
    beam: Beam = None,
    alternatives: Alternatives = None,
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
    never: Never = None,
    start: Start = None,
    rule: AnyRule = None,
    cache_encodings: CacheEncodings = False,
    check: Check = False,
    selectors: Selectors = False,
    engine: EngineName = None,
    workers: Workers = None,
    parts: PartsFolder = None,
    quiet: Quiet = False,
) -> None:
    """Write one JSON object per table: text, splices, provenance, score, rules (docs/formats.md).

    Rows are in the order of the tables. A table for which no text obeys the rules has a row too, with status
    "abstained" and the reason. A row of TABLES that can't be read is told and skipped.

    Exit code 0: rows were written, though some may have been skipped. 2: nothing could be read, or with
    --strict something could not.
    """
    from textsplice.cli.systems import check_folder, check_values, open_splicer, search_of

    check_out(out, resume=resume, selectors=selectors)
    check_format(input_format)
    bulk = chosen_engine(engine, workers, parts, prints=out is None)
    _ = [check_folder(folder) for folder in (run, store) if folder and check]
    splicer = open_splicer(run, swap=swap, store=store)
    lengths = (min_sentences, max_sentences)
    rules = rules_of(approved, require, forbid, copy_only, keep_sentences, *lengths, never, start)
    rules = [*(with_lookalikes(rules) if forbid_lookalikes else rules), *map(parse_rule, rule or [])]
    _check_ids(rules, splicer)
    changed = changes(beam=beam, alternatives=alternatives, batch_size=batch_size, lexicon=lexicon)
    search = search_of(splicer, check_values([*(values or []), *changed]))
    with opened_source(tables, input_format) as source:
        records = Records(
            source,
            split,
            text_column=text_column,
            lists=lists,
            like=splicer.config.corpus,
            strict=strict,
            distinct=distinct,
            limit=limit,
        )
        found = records.survey()
        counts = Counter({"ok": 0, "doubtful": 0, "unfinished": 0, "abstained": 0})
        examples = iter(records)
        with opened(out, resume=resume) as file:
            done = pass_written(out, examples, splicer.made(search, rules), selectors=selectors)
            if lists:
                say_lists(records.corpus.lists, source.shown, quiet=quiet)
            records.tell_skipped()
            if cache_encodings:
                _cache_encodings(splicer, quiet=quiet)
            write = row_writer(file, out, found.fields, selectors=selectors)
            if bulk is None:
                for generation in splicer.generate_many(
                    examples,
                    rules=rules,
                    search=search,
                    progress=not quiet and out is not None,
                    total=found.count - done,
                ):
                    write(generation)
                    counts.update(tallies(generation))
            else:
                from textsplice.cli.bulk import Asked, generate_work, tables_a_part, told_example

                work = generate_work(splicer, run, store, swap, Asked(search, rules, bool(selectors)))
                counts |= write_in_parts(
                    bulk,
                    work,
                    cut(examples, tables_a_part(search), told_example),
                    Rows(file, out, parts, cells_writer(write, out)),
                    label="generating",
                    total=found.count - done,
                    quiet=quiet,
                )
    if not quiet:
        say(_summary(out, counts, done, len(records.bad)), err=True)


def changes(**options: object) -> list[str]:
    """Options that stand for a setting of the search."""
    return [f"search.{key}={value}" for key, value in options.items() if value is not None]


def _summary(out: Path | None, counts: Mapping[str, int], done: int, skipped: int) -> str:
    told = ", ".join(f"{count} {status}" for status, count in counts.items() if count and status != UNCHECKED)
    if counts.get(UNCHECKED):
        told += f"; {counts[UNCHECKED]} with values that could not be checked"
    before = f"; {done} were there already" if done else ""
    left_out = f"; {skipped} {'row was' if skipped == 1 else 'rows were'} skipped" if skipped else ""
    return f"{out or 'standard output'}: {told or 'nothing to do'}{before}{left_out}."


def check_format(kind: str | None) -> None:
    """`ConfigError` for an --input-format that no file has."""
    from textsplice.config import unknown_name
    from textsplice.extensions import FORMATS

    known = [name.removeprefix(".") for name in FORMATS if name.startswith(".") and name.count(".") == 1]
    if kind is not None and kind not in known:
        raise unknown_name("format", kind, known, "--input-format")


def _check_ids(rules: Iterable[Rule], splicer: Splicer) -> None:
    """Says which texts that rules name are not there; an error if none of the needed ones is."""
    from textsplice.errors import ConfigError
    from textsplice.search.rules import ApprovedNeighbors, NeverNeighbors, StartFrom

    known = splicer.store.rows_of.keys()
    for rule in rules:
        if isinstance(rule, StartFrom) and rule.id not in known:
            raise ConfigError(f"the run has no text with the id {rule.id!r}.", where="--start")
        if not isinstance(rule, (ApprovedNeighbors, NeverNeighbors)):
            continue
        option = "--approved" if isinstance(rule, ApprovedNeighbors) else "--never"
        missing = sorted(rule.ids - known)
        if missing and len(missing) == len(rule.ids) and option == "--approved":
            raise ConfigError(
                f"the run has no text with an approved id; the first is {missing[0]!r}.", where=option
            )
        if missing:
            say(f"{option}: {len(missing)} ids are of no text of the run, such as {missing[0]!r}.", err=True)


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
    never: list[str] | None = None,
    start: str | None = None,
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
    if never:
        found.append(rules.NeverNeighbors(never))
    if start is not None:
        found.append(rules.StartFrom(start))
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
