"""`textsplice verify`: replays every derivation of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from textsplice.cli.generate import (
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
    Require,
    Values,
    distinct_tables,
    parse_rule,
    rules_of,
    with_lookalikes,
)
from textsplice.cli.output import say

if TYPE_CHECKING:
    from textsplice.config import SearchConfig
    from textsplice.corpus import Table
    from textsplice.search.rules import Rule
    from textsplice.splicer import Splicer

EPILOG = """Examples:

textsplice verify texts.jsonl

textsplice verify texts.jsonl --run runs/bundled --tables tables.jsonl

textsplice verify texts.jsonl --run runs/bundled --require name --forbid cheap
"""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("verify", epilog=EPILOG)(verify)


def verify(
    file: Annotated[Path, typer.Argument(help="What `generate` wrote.")],
    run: Annotated[
        Path | None,
        typer.Option(help="Also check all that this run fixes: neighbors, words, policy, weights, limits."),
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
    rule: AnyRule = None,
    check: Check = False,
) -> None:
    """Replay every derivation and compare what it makes; exit with 2 at the first lie.

    With --run, everything that a run fixes is checked too: the neighbors are found again, and swap is done
    again. With the rules and settings that were given to `generate`, rows must have been made under these;
    without --set, no row may claim more than the run's own limits. The last line says what is not checked,
    since only a new search could tell (docs/formats.md).
    """
    from collections import Counter

    from textsplice.cli.systems import check_folder
    from textsplice.search.generation import FORMAT
    from textsplice.search.rows import no_rows, read_generations
    from textsplice.search.verify import Unchecked, check_complete, has_no_predicate
    from textsplice.search.verify import verify as verify_one
    from textsplice.splicer import Splicer

    by_option = rules_of(approved, require, forbid, copy_only, keep_sentences, min_sentences, max_sentences)
    by_option = with_lookalikes(by_option) if forbid_lookalikes else by_option
    by_option += [parse_rule(text) for text in rule or []]
    asked = [*by_option, *(_read_rules(rules) if rules else [])] if by_option or rules else None
    if check and run is not None:
        check_folder(run)
    own = Splicer.untrained(run) if run is not None else None
    proof = own.proof if own is not None else None
    search = _search(own, [*(values or []), *([] if beam is None else [f"search.beam={beam}"])])
    counts: Counter[str] = Counter()
    old = predicates = traces = 0
    rows: list[tuple[str, Table]] = []
    for where, generation in read_generations(file, exact=True):
        verify_one(generation, proof, asked=asked, search=search, where=where)
        counts[generation.status] += 1
        old += generation.format != FORMAT
        predicates += any(map(has_no_predicate, generation.rules))
        traces += generation.traced is not None
        if tables is not None:
            rows.append((generation.id, generation.table))
    if not counts:
        raise no_rows(file)
    if tables is not None:
        from textsplice.corpus import read_corpus

        corpus = read_corpus(tables, split, text_column=text_column, like=own.config.corpus if own else None)
        examples = distinct_tables(corpus) if distinct else iter(corpus)
        check_complete(rows, ((example.id, example.table) for example in examples), where=str(file))
    told = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    say(f"{file}: {sum(counts.values())} rows are what they say ({told}).")
    left = Unchecked(
        run=proof is not None,
        rules=asked is not None,
        tables=tables is not None,
        search=search is not None,
        old=old,
        predicates=predicates,
        traces=traces,
    )
    say(str(left))


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
