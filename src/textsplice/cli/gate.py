"""`textsplice gate`: accepts or refuses drafts of any origin."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from textsplice.cli.engine import EngineName, PartsFolder, Rows, Workers, chosen_engine, cut, write_in_parts
from textsplice.cli.generate import (
    AnyRule,
    Forbid,
    ForbidLookalikes,
    MaxSentences,
    MinSentences,
    Never,
    Require,
    parse_rule,
    rules_of,
    with_lookalikes,
)
from textsplice.cli.output import say
from textsplice.cli.tracers import like_store, open_tracer
from textsplice.cli.writing import opened

if TYPE_CHECKING:
    from textsplice.corpus import Table
    from textsplice.search.rules import Rule
    from textsplice.slots.lexicon import Lexicon
    from textsplice.splicer import Splicer
    from textsplice.trace.gate import Gate, Verdict
    from textsplice.trace.reading import Draft
    from textsplice.trace.tracing import Tracer
    from textsplice.trace.values import KnownValues

    Judge = Callable[[Draft], Verdict]

REFUSED = 3  # the exit code if a draft was refused
EPILOG = """Examples:

textsplice gate runs/bundled drafts.jsonl --out verdicts.jsonl

textsplice gate approved.csv drafts.txt --allow words.txt --most-splices 8

textsplice gate runs/bundled drafts.jsonl --lexicon bundled --require name --fall-back runs/bundled
"""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("gate", epilog=EPILOG)(gate)


def gate(
    store: Annotated[str, typer.Argument(help="A run, a prepared folder, or a corpus of approved texts.")],
    drafts: Annotated[
        str, typer.Argument(help="As for `trace`: lines, .jsonl with text, table, id, or .csv.")
    ],
    out: Annotated[Path | None, typer.Option(help="The file to write. Default: standard output.")] = None,
    allow: Annotated[
        Path | None, typer.Option(help="A file of words that need no source, one a line.")
    ] = None,
    lexicon: Annotated[
        str | None, typer.Option(help="Check the values of records: a lexicon's name or file, or `values`.")
    ] = None,
    any_values: Annotated[
        bool, typer.Option("--any-values", help="Do not refuse values that only other records have.")
    ] = False,
    most_splices: Annotated[int | None, typer.Option(min=1, help="Refuse drafts that take more.")] = None,
    most_seams: Annotated[int | None, typer.Option(min=0, help="Refuse drafts with more seams.")] = None,
    require: Require = None,
    forbid: Forbid = None,
    forbid_lookalikes: ForbidLookalikes = False,
    min_sentences: MinSentences = None,
    max_sentences: MaxSentences = None,
    never: Never = None,
    rule: AnyRule = None,
    fall_back: Annotated[
        Path | None, typer.Option(help="A run that writes the text of a refused draft's record.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="The split of a corpus. Default: train, or all.")] = None,
    text_column: Annotated[str | None, typer.Option(help="The column of a corpus with the text.")] = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="Do not prove that the splices are the fewest; gaps are exact.")
    ] = False,
    engine: EngineName = None,
    workers: Workers = None,
    parts: PartsFolder = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No bar, no summary.")] = False,
) -> None:
    """Accept drafts whose every word has a source, and refuse the others with reasons (docs/gate.md).

    Exit code 0: all were accepted. 3: at least one was refused.
    """
    from textsplice.trace.reading import read_drafts, require_traceable

    bulk = chosen_engine(engine, workers, parts, prints=out is None)
    rules = rules_of(None, require, forbid, False, False, min_sentences, max_sentences, never)
    rules = with_lookalikes(rules) if forbid_lookalikes else rules
    rules += [parse_rule(text) for text in rule or []]
    found = list(read_drafts(drafts, like_store(drafts, store, split, text_column)))
    tracer = open_tracer(store, split, text_column, quiet=quiet)
    tables = [draft.table for draft in found if draft.table]
    asked: dict[str, object] = {
        "allow": sorted(_words(allow)),
        "lexicon": lexicon,
        "all_values": _all_values(tables),
        "known_values": bool(tables) and not any_values,
        "rules": [each.to_dict() for each in rules],
        "most": [most_splices, most_seams],
        "fall_back": str(fall_back.absolute()) if fall_back else None,
        "exact": not fast,
    }
    _lexicon(asked)  # one that can't be read is refused here
    require_traceable(found, tracer.sources.tokenizer)  # before anything is written
    place = (store, split, text_column)
    with opened(out) as file:
        if bulk is None:
            accepted = _judge_here(_judge(tracer, place, asked), found, file, quiet=quiet or out is None)
        else:
            from textsplice.cli.bulk import TEXTS, gate_work, told_draft

            accepted = write_in_parts(
                bulk,
                gate_work(tracer, *place, asked),
                cut(found, TEXTS, told_draft),
                Rows(file, out, parts),
                label="judging",
                total=len(found),
                quiet=quiet,
            )["accepted"]
    if not quiet:
        say(f"{out or 'standard output'}: {accepted} accepted, {len(found) - accepted} refused.", err=True)
    if accepted < len(found):
        raise typer.Exit(REFUSED)


def _judge_here(judge: Judge, drafts: Sequence[Draft], file: IO[str], *, quiet: bool) -> int:
    """Judges one draft after the other; how many are accepted."""
    from textsplice.progress import bar

    accepted = 0
    with bar(len(drafts), "judging", quiet=quiet) as progress:
        for draft in drafts:
            verdict = judge(draft)
            file.write(_line(verdict))
            accepted += verdict.accepted
            progress.advance(1)
    return accepted


def judging(settings: Mapping[str, Any]) -> Callable[[list[Any]], bytes]:
    """Judges drafts in a worker."""
    from textsplice.cli.bulk import drafts_and_tracer
    from textsplice.cli.engine import result_of

    tracer, draft_of = drafts_and_tracer(settings)
    judge = _judge(tracer, (settings["store"], settings["split"], settings["text_column"]), settings)

    def do(part: list[Any]) -> bytes:
        verdicts = [judge(draft_of(told)) for told in part]
        return result_of({"accepted": sum(each.accepted for each in verdicts)}, list(map(_line, verdicts)))

    return do


def _judge(tracer: Tracer, place: tuple[str, str | None, str | None], asked: Mapping[str, Any]) -> Judge:
    """What is said of a draft, by what the options ask for."""
    from textsplice.search.rules.registered import rules_from_dicts
    from textsplice.trace.gate import Gate

    rules = rules_from_dicts(asked["rules"], "rules")
    values = _values(*place) if asked["known_values"] else None
    gate = Gate(
        tracer,
        frozenset(asked["allow"]),
        rules,
        _lexicon(asked),
        *asked["most"],
        values=values,
        exact=asked["exact"],
    )
    writer = _writer(asked["fall_back"], place[0])
    return lambda draft: _fallen_back(gate, gate.judge(draft), writer, list(rules))


def _line(verdict: Verdict) -> str:
    from textsplice.visible import escaped_json

    return escaped_json(json.dumps(verdict.to_dict(), ensure_ascii=False)) + "\n"


def _words(path: Path | None) -> frozenset[str]:
    from textsplice.errors import ConfigError
    from textsplice.parsing import read_text

    if path is None:
        return frozenset()
    lines = read_text(path, ConfigError, remedy="Write one word per line, as UTF-8.").splitlines()
    return frozenset(line.strip().casefold() for line in lines if line.strip())


def _values(store: str, split: str | None, text_column: str | None) -> KnownValues:
    """The values of the records of a run, a prepared folder or a corpus."""
    from textsplice.cli.tracers import read_texts
    from textsplice.runs import Prepared, Run
    from textsplice.trace.values import KnownValues

    if Run.is_run(store):
        return KnownValues.of_store(Run.open(store).store)
    if Prepared.is_prepared(store):
        return KnownValues.of_store(Prepared.open(store).store)
    return KnownValues.of_examples(read_texts(store, split, text_column), "words")


def _all_values(tables: Sequence[Table]) -> dict[str, list[str]]:
    """One record with all values of all records, in the order in which they come."""
    found: dict[str, dict[str, None]] = {}
    for table in tables:
        for name, values in table:
            found.setdefault(name, {}).update(dict.fromkeys(values))
    return {name: list(values) for name, values in found.items()}


def _lexicon(asked: Mapping[str, Any]) -> Lexicon | None:
    from textsplice.corpus import Table
    from textsplice.slots.lexicon import Lexicon

    name = asked["lexicon"]
    return None if name is None else Lexicon.named(name, [Table.from_record(asked["all_values"])])


def _writer(run: str | None, store: str) -> Splicer | None:
    """The run that writes; an export takes its texts from the store that drafts are judged by."""
    from textsplice.cli.systems import open_system

    return None if run is None else open_system(Path(run), Path(store))


def _fallen_back(gate: Gate, verdict: Verdict, writer: Splicer | None, rules: list[Rule]) -> Verdict:
    """The verdict with our own text of the record in place of a refused draft, if that passes the gate."""
    table = verdict.draft.table
    if verdict.accepted or writer is None or table is None:
        return verdict
    from textsplice.corpus import Example

    own = writer.generate(Example(verdict.draft.id, table, None), rules=rules)
    if not own.finished or not gate.judge(verdict.draft._replace(text=own.text)).accepted:
        return verdict
    return replace(verdict, given=own)
