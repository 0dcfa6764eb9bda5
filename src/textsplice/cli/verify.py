"""`textsplice verify`: replays every derivation of a file."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from textsplice.cli.generate import (
    Alternatives,
    AnyRule,
    Approved,
    Beam,
    Check,
    CopyOnly,
    Forbid,
    ForbidLookalikes,
    KeepSentences,
    MaxSentences,
    MinSentences,
    Never,
    Require,
    Start,
    Store,
    Values,
    changes,
    parse_rule,
    rules_of,
    with_lookalikes,
)
from textsplice.cli.output import say, say_json
from textsplice.cli.reading import Records, Source
from textsplice.visible import visible

if TYPE_CHECKING:
    from textsplice.config import SearchConfig
    from textsplice.corpus import Table
    from textsplice.errors import VerificationError
    from textsplice.search.generation import Generation
    from textsplice.search.rules import Rule
    from textsplice.search.verify import Unchecked
    from textsplice.splicer import Splicer
    from textsplice.trace.verifying import Finding, Verifier

DRIFTED = 3  # exit code: no row is fabricated, but not every one is verified
MOST_TOLD = 20  # rows that are told one by one

EPILOG = """Examples:

textsplice verify texts.jsonl

textsplice verify texts.jsonl --run runs/bundled --tables tables.jsonl

textsplice verify texts.jsonl --run runs/bundled --require name --forbid cheap

textsplice verify texts.jsonl --run runs/today --before runs/then

textsplice verify texts.jsonl --run models/e2e-drafts --store prepared/e2e
"""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("verify", epilog=EPILOG)(verify)


def verify(
    file: Annotated[Path, typer.Argument(help="What `generate` wrote.")],
    run: Annotated[
        str | None,
        typer.Option(
            metavar="STORE",
            help="Also check all that this run fixes: neighbors, words, policy, weights, limits. "
            "Also a prepared folder, or for traces a corpus; or an export, with --store.",
        ),
    ] = None,
    store: Store = None,
    before: Annotated[
        str | None,
        typer.Option(metavar="STORE", help="The store that made the rows, if that of --run has moved on."),
    ] = None,
    tables: Annotated[
        str | None, typer.Option(help="Also check that each of these tables, and no other, has its row.")
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="The split of --tables. One file: every row by default.")
    ] = None,
    text_column: Annotated[
        str | None,
        typer.Option(help="The column of --tables that holds the text. Default: that of --run, if present."),
    ] = None,
    distinct: Annotated[bool, typer.Option("--distinct", help="As for `generate`.")] = False,
    beam: Beam = None,
    alternatives: Alternatives = None,
    values: Values = None,
    rules: Annotated[
        Path | None,
        typer.Option(help="Rules that were asked for: a JSON list of rules. [] if there were none."),
    ] = None,
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
    check: Check = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON: counts, and each row that is not verified.")
    ] = False,
) -> None:
    """Replay every derivation and compare what it makes; exit with 2 if a row is fabricated.

    With --run, everything that a run fixes is checked too: the neighbors are found again, swap is done
    again, and traces are traced again. Rows of another store are compared with the texts of this one: exit
    code 3 if their sources have drifted, or if only that store could say more. With the rules and settings
    that were given to `generate`, rows must have been made under these; without --set, no row may claim more
    than the run's own limits. The last line says what is not checked (docs/formats.md).
    """
    from textsplice.cli.systems import check_folder
    from textsplice.search.verify import Unchecked, check_complete

    lengths = (min_sentences, max_sentences)
    by_option = rules_of(approved, require, forbid, copy_only, keep_sentences, *lengths, never, start)
    by_option = with_lookalikes(by_option) if forbid_lookalikes else by_option
    by_option += [parse_rule(text) for text in rule or []]
    asked = [*by_option, *(_read_rules(rules) if rules else [])] if by_option or rules else None
    for folder in filter(None, (run, store)) if check else ():
        check_folder(Path(folder))
    own = _own(run, store)
    search = _search(own, [*(values or []), *changes(beam=beam, alternatives=alternatives)])
    cut = split if tables is None else None  # of a corpus
    verifier = _verifier(run, own, before, cut, text_column, asked, search)
    found = _Found(keep_tables=tables is not None, most_told=None if as_json else MOST_TOLD)
    _verify_all(file, found, verifier, asked, search)
    if tables is not None and not found.fabricated:
        like = own.config.corpus if own else None
        source = Source(tables, None, tables)
        records = Records(source, split, text_column=text_column, like=like, distinct=distinct)
        check_complete(found.rows, ((each.id, each.table) for each in records), where=str(file))
        records.tell_skipped()
    left = Unchecked(
        run=verifier is not None,
        rules=asked is not None,
        tables=tables is not None,
        search=search is not None,
        old=found.old,
        predicates=found.predicates,
        traces=0 if verifier is not None else found.traces,
        elsewhere=found.verdicts["unchanged"] + found.verdicts["drifted"],
        unvouched=found.unvouched,
    )
    _tell(file, found, left, as_json=as_json, by_store=verifier is not None)
    if found.fabricated:
        raise found.fabricated
    if left.elsewhere:
        raise typer.Exit(DRIFTED)


@dataclass
class _Found:
    """What was found in a file, and no more of it than is told."""

    keep_tables: bool
    most_told: int | None
    verdicts: Counter[str] = field(default_factory=Counter[str])
    statuses: Counter[str] = field(default_factory=Counter[str])
    rows: list[tuple[str, Table]] = field(default_factory=list["tuple[str, Table]"])
    fabricated: VerificationError | None = None  # the first
    told: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    old: int = 0
    predicates: int = 0
    traces: int = 0
    unvouched: int = 0

    def add(self, where: str, generation: Generation, finding: Finding) -> None:
        """Counts a row."""
        from textsplice.errors import VerificationError
        from textsplice.search.generation import FORMAT
        from textsplice.search.verify import has_no_predicate

        self.verdicts[finding.verdict] += 1
        self.statuses[generation.status] += 1
        self.old += generation.format != FORMAT
        self.predicates += any(map(has_no_predicate, generation.rules))
        self.traces += generation.traced is not None
        self.unvouched += not finding.vouched
        if self.keep_tables:
            self.rows.append((generation.id, generation.table))
        if finding.verdict == "fabricated" and self.fabricated is None:
            place = f"{where}, row {generation.id!r}"
            self.fabricated = VerificationError(f"{finding.why}.", where=place)
        if finding.verdict != "verified":
            self._tell({"where": where, "id": generation.id, "run": generation.run, **finding.to_dict()})

    def add_unread(self, where: str, error: VerificationError) -> None:
        """Counts a row that says something else than this program writes."""
        self.verdicts["fabricated"] += 1
        self.fabricated = self.fabricated or error
        self._tell({"where": where, "verdict": "fabricated", "why": error.what.removesuffix(".")})

    def _tell(self, row: dict[str, object]) -> None:
        if self.most_told is None or len(self.told) < self.most_told:
            self.told.append(row)


def _verify_all(
    file: Path,
    found: _Found,
    verifier: Verifier | None,
    asked: list[Rule] | None,
    search: SearchConfig | None,
) -> None:
    from textsplice.errors import VerificationError
    from textsplice.search.rows import no_rows, read_generation, read_rows
    from textsplice.search.verify import find_lie
    from textsplice.trace.verifying import Finding

    for where, row in read_rows(file):
        try:
            generation = read_generation(row, where, exact=True)
        except VerificationError as error:
            found.add_unread(where, error)
            continue
        if verifier is not None:
            finding = verifier.find(generation)
        else:
            lie = find_lie(generation, asked=asked, search=search)
            finding = Finding("fabricated", lie) if lie else Finding("verified")
        found.add(where, generation, finding)
    if not found.verdicts:
        raise no_rows(file)


def _tell(file: Path, found: _Found, left: Unchecked, *, as_json: bool, by_store: bool) -> None:
    from textsplice.trace.verifying import VERDICTS

    counts = {verdict: found.verdicts[verdict] for verdict in VERDICTS}
    if as_json:
        value = {
            "format": "textsplice.verification/1",
            "file": str(file),
            "counts": counts,
            "rows": found.told,
            "unchecked": str(left),
        }
        say_json(json.dumps(value, ensure_ascii=False, indent=2))
        return
    for row in found.told:
        why = f": {row['why']}" if row["why"] else ""
        vouched = "" if row.get("vouched", True) else f" (of {row['run']!r}, a store not known here)"
        name = f" {row['id']}" if "id" in row else ""
        say(visible(f"{row['where']}{name}: {row['verdict']}{vouched}{why}"))
    total = sum(counts.values())
    if left_out := total - counts["verified"] - len(found.told):
        say(f"… and {left_out:,} more; --json lists them all.")
    told = ", ".join(f"{count:,} {verdict}" for verdict, count in counts.items())
    if found.told:
        say(f"{file}: {total} rows: {told}.")
    else:
        status = ", ".join(f"{count} {status}" for status, count in sorted(found.statuses.items()))
        say(f"{file}: {total} rows are what they say ({status}){f': {told}' if by_store else ''}.")
    say(str(left))


def _own(run: str | None, store: Path | None = None) -> Splicer | None:
    """The run, export or prepared folder; None for a corpus."""
    from textsplice.errors import ConfigError
    from textsplice.runs import Prepared, Run
    from textsplice.runs.recognized import is_export
    from textsplice.splicer import Splicer

    if run is None and store is not None:
        raise ConfigError("needs an export.", where="--store", remedy="Name it with --run.")
    if run is None or not (store or Run.is_run(run) or Prepared.is_prepared(run) or is_export(run)):
        return None
    return Splicer.untrained(run, store=store)


def _verifier(
    run: str | None,
    own: Splicer | None,
    before: str | None,
    split: str | None,
    text_column: str | None,
    asked: list[Rule] | None,
    search: SearchConfig | None,
) -> Verifier | None:
    from textsplice.cli.tracers import open_tracer
    from textsplice.errors import ConfigError
    from textsplice.trace.verifying import Verifier, Witness

    def witness(store: str, splicer: Splicer | None) -> Witness:
        if splicer is not None:
            return splicer.witness
        return Witness.of_corpus(open_tracer(store, split, text_column, kept=False))

    if run is None:
        if before is not None:
            raise ConfigError("needs the store of today.", where="--before", remedy="Name it with --run.")
        return None
    earlier = None if before is None else witness(before, _own(before))
    return Verifier(witness(run, own), earlier, asked, search)


def _search(own: Splicer | None, values: list[str]) -> SearchConfig | None:
    """The settings that were asked for; None if that is not said."""
    from textsplice.cli.systems import check_values, search_of
    from textsplice.errors import ConfigError

    if not values:
        return None
    if own is None:
        raise ConfigError(
            "the other settings of the search are those of a run.",
            where="--set",
            remedy="Name it with --run.",
        )
    return search_of(own, check_values(values))


def _read_rules(path: Path) -> list[Rule]:
    """The rules of a JSON file."""
    from textsplice.errors import ConfigError
    from textsplice.parsing import parse_json, read_text
    from textsplice.search.rules import rules_from_dicts

    remedy = 'Write them as [{"rule": NAME, …}, …].'
    text = read_text(path, ConfigError, remedy=remedy)
    data = parse_json(text, ConfigError, str(path), remedy=remedy)
    if not isinstance(data, list):
        raise ConfigError("is not a list of rules.", where=str(path), remedy=remedy)
    return list(rules_from_dicts(cast("list[object]", data), str(path)))
