"""`fit`: look, prepare, train what suits the size, compare on dev, keep the best."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from textsplice.config import Config, load_config, to_toml
from textsplice.corpus import Table
from textsplice.errors import ConfigError, CorpusError, InputError, TrainingError
from textsplice.fit.compare import Referee, Result, best_of, open_candidate
from textsplice.fit.look import Look, look_at, unpicked
from textsplice.fit.plan import (
    TAUGHT_RECORDS,
    Plan,
    base_config,
    full_config,
    plan_for,
    with_steps,
    writer_config,
)
from textsplice.fit.sample import sampled
from textsplice.fit.told import SHOWN, found_lines, learned_line, planned_lines, result_lines, summary
from textsplice.prepare import prepare
from textsplice.report.overview import write_report
from textsplice.runs import Prepared, Run
from textsplice.runs.fitted import FIT, FOLDERS, fitted
from textsplice.runs.outputs import OutputFolder
from textsplice.search.rows import row_text
from textsplice.slots.kinds import chosen_kinds
from textsplice.slots.lexicon import Lexicon
from textsplice.splicer import Splicer

COMPARED = 120  # dev records
WORDINGS = "wordings.toml"
MOST_INDUCED = 10_000  # texts that wordings are looked for in
Say = Callable[[str], None]


@dataclass(frozen=True)
class Fitted:
    """What `fit` made: a folder that `generate` and `Splicer.load` take, and how the systems compare."""

    folder: Path
    best: str
    results: tuple[Result, ...]
    report: Path

    def splicer(self) -> Splicer:
        """The system that is kept as the default."""
        return open_candidate(self.best, self.folder / FOLDERS[self.best])


def fit(
    source: str | Path,
    out: str | Path = "runs/mine",
    *,
    minutes: float = 30.0,
    text_column: str | None = None,
    lexicon: str | Path | None = None,
    limit: int | None = None,
    kinds: Sequence[str] = (),
    say: Say = lambda _line: None,
) -> Fitted:
    """Makes a stranger's file into a system that writes, within about so many minutes.

    Looks at the corpus, prepares it, trains what suits its size, compares with untrained swap on dev and
    keeps the best. What is finished is kept: called again, it goes on where it stopped. `say` is told what
    was found, what will be done, and how it went. With `limit`, about so many rows of a file are used.
    `kinds` are those of fields that you know better: `"condition=worded"`.
    """
    if not 0 < minutes <= 10_000:
        raise InputError(f"{minutes:g} minutes can't be planned.", remedy="Say for instance --minutes 30.")
    chosen_kinds(kinds, "--kind")
    work = _Work(str(source), text_column or "", str(lexicon or ""), Path(out), minutes, tuple(kinds), say)
    return work.run(limit)


class _Work:
    """One `fit`, step by step."""

    def __init__(
        self,
        source: str,
        text_column: str,
        lexicon: str,
        out: Path,
        minutes: float,
        kinds: tuple[str, ...],
        say: Say,
    ) -> None:
        self.source, self.text_column, self.lexicon = source, text_column, lexicon
        self.out, self.minutes, self.kinds, self.say = out, minutes, kinds, say
        self.folder = OutputFolder(out)

    def run(self, limit: int | None) -> Fitted:
        self.say(f"[1/5] look at {self.source}")
        if limit is not None:
            self._take(limit)
        self._require_same()
        look = look_at(self.source, self.text_column or None, self.kinds)
        plan = plan_for(look, self.minutes)
        self._tell(found_lines(look))
        self.folder.require_free("writer.toml", "full.toml", FIT, "summary.md")
        lexicon = self.lexicon or self._wordings(look)
        if lexicon:
            look = look.with_lexicon(Lexicon.load(lexicon))
        self._tell([learned_line(look)])
        self._tell(planned_lines(plan, self.minutes))
        base = base_config(self.source, self.text_column, lexicon, look, self.out)
        base = replace(base, corpus=replace(base.corpus, kinds=("auto", *self.kinds)))
        Prepared.require_free(Path(base.prepared_folder))

        self.say("[2/5] prepare: tokens, masks, neighbors, least derivations")
        prepared = prepare(base, quiet=False)
        self.say("[3/5] train S2S+copy, which writes the drafts")
        self._train("writer.toml", writer_config(base, look), prepared, plan.writer_minutes)
        if plan.full_minutes:
            self.say("[4/5] train FULL, which splices, on what S2S+copy writes")
            self._train_full(look, plan)
        else:
            self.say(f"[4/5] FULL is left out: {plan.why_no_full}.")
        self.say("[5/5] compare on dev")
        return self._compared(look, prepared, plan)

    def _require_same(self) -> None:
        """`ConfigError` if the folder was made from something else: before anything is written into it."""
        path = self.out / "writer.toml"
        if not path.is_file():
            return
        before = load_config(path).corpus
        kinds = ("auto", *self.kinds)
        if (before.source, before.text_column, before.kinds) != (self.source, self.text_column, kinds):
            told = " with other kinds of fields" if before.source == self.source else ""
            raise ConfigError(
                f"was made from {before.source}{told}, not from {self.source}.",
                where=str(self.out),
                remedy="Use another --out.",
            )

    def _take(self, limit: int) -> None:
        """Goes on with a part of the file, which is kept beside all that is made of it."""
        rows, count, total = sampled(self.source, self.text_column or None, limit)
        known = self.out / f"rows{Path(self.source).suffix.lower()}"
        if (self.out / "writer.toml").is_file() and not _holds(known, rows):
            raise ConfigError(
                f"was made from other rows than these {count:,} of {self.source}.",
                where=str(self.out),
                remedy="Use another --out.",
            )
        part = self.folder.write(f"rows{Path(self.source).suffix.lower()}", rows)
        self.say(f"  {count:,} of {total:,} rows, whole records, not picked: {part}")
        self.source = str(part)

    def _wordings(self, look: Look) -> str:
        """How yes, no and categories are worded in the texts, found by counting; "" if there are none.

        A file of an earlier call is used as it is: somebody may have read and corrected it.
        """
        from textsplice.slots.induce import WORDED, propose

        path = self.out / WORDINGS
        asked = [each.field for each in look.fields if each.kind in WORDED]
        if not asked:
            return ""
        if not path.is_file():
            step = -(-len(look.examples) // MOST_INDUCED)
            self.folder.write(WORDINGS, propose(look.examples[::step], findings=look.fields).to_toml())
        known = Lexicon.load(path).fields
        told = [name for name in asked if name in known and known[name].wordings]
        unknown = [name for name in asked if name not in told]
        if told:
            self.say(f"  wordings of {', '.join(told)}: {path} (read it; what you strike is not used)")
        if unknown:
            self.say(f"  no wording of {', '.join(unknown)} stood up to held-out texts: unchecked")
        return str(path)

    def _tell(self, lines: Sequence[str]) -> None:
        for line in lines:
            self.say(f"  {line}")

    def _config(self, name: str, made: Callable[[], Config]) -> Config:
        """The configuration of an earlier call of the same settings, or a new one, which is written."""
        path = self.out / name
        if path.is_file():
            return load_config(path)
        config = made()
        self.folder.write(name, to_toml(config))
        return config

    def _train(self, name: str, config: Config, prepared: Prepared, minutes: float) -> Config:
        from textsplice.fit.speed import seconds_per_update
        from textsplice.training import train

        def timed() -> Config:
            rows = len(prepared.learned("train"))
            found = with_steps(config, rows, seconds_per_update(config, prepared), minutes)
            most = f"{minutes:.0f} minute{'' if round(minutes) == 1 else 's'}"
            self.say(
                f"  {found.training.total_steps:,} updates of {found.training.batch_sequences} texts, "
                f"about {most} at most"
            )
            return found

        known = self._config(name, timed)
        run = Path(known.run_folder)
        fresh = Run.is_run(run) and not Run.open(run).is_of(prepared)
        result = train(known, resume=not fresh, fresh=fresh)
        if result.ending == "interrupted":
            raise TrainingError(
                "interrupted; what is done is kept.",
                where=str(run),
                remedy="The same command goes on where it stopped.",
            )
        return known

    def _train_full(self, look: Look, plan: Plan) -> None:
        writer = load_config(self.out / "writer.toml")
        targets = self.out / "targets"
        self._teach(writer)
        config = full_config(writer, look, self.out, targets)
        Prepared.require_free(Path(config.prepared_folder))
        prepared = prepare(config, quiet=False)
        self._train("full.toml", config, prepared, plan.full_minutes)

    def _teach(self, writer: Config) -> None:
        """What the writer writes of the training records, for FULL to learn from."""
        names = [
            split for split in ("train", "dev") if not (self.out / "targets" / f"{split}.jsonl").is_file()
        ]
        if not names:
            return
        splicer = Splicer.load(writer.run_folder)
        search = replace(
            writer.search, proposers=("policy",), swap_writes=False, choose="consensus", beam=4, seams=0.0
        )
        for split in names:
            self.say(f"  S2S+copy writes the {split} records")
            tables = unpicked(splicer.config.corpus, split, TAUGHT_RECORDS)
            rows = splicer.generate_many(tables, search=search)
            given = [row for row in rows if row.finished and row.text.strip()]
            self.folder.write(f"targets/{split}.jsonl", "".join(map(row_text, given)))

    def _compared(self, look: Look, prepared: Prepared, plan: Plan) -> Fitted:
        tables = unpicked(prepared.config.corpus, "dev", COMPARED)
        referee = Referee(prepared.config.corpus, tables, prepared.lexicon, prepared.kinds)
        names = ["swap", "drafts", *(["full"] if plan.full_minutes else [])]
        results = tuple(self._result(referee, name, tables) for name in names)
        best = best_of(results)
        best = self._with_more_texts(best)
        summed = summary(self.source, look, results, best, self.out)
        self.folder.write("summary.md", summed)
        figures = [result.to_dict() for result in results]
        self.folder.write(FIT, fitted(best.name, source=self.source, results=figures))
        lexicon = str(prepared.files.lexicon) if prepared.lexicon else None
        report = write_report(self.out / f"dev-{best.name}.jsonl", self.out / "report.html", lexicon=lexicon)
        self._tell(result_lines(results, best, self.out, report))
        return Fitted(self.out, best.name, results, report)

    def _with_more_texts(self, best: Result) -> Result:
        """The same with texts of test records to show, where there are few dev records."""
        few = SHOWN - len(best.rows)
        if few <= 0:
            return best
        splicer = open_candidate(best.name, self.out / FOLDERS[best.name])
        try:
            tables = unpicked(splicer.config.corpus, "test", few)
        except CorpusError:  # a folder without a test file
            return best
        return replace(best, rows=(*best.rows, *splicer.generate_many(tables, progress=False)))

    def _result(self, referee: Referee, name: str, tables: Sequence[Table]) -> Result:
        self.say(f"  {name} writes {len(tables)} dev records")
        splicer = open_candidate(name, self.out / FOLDERS[name])
        begun = time.perf_counter()
        rows = list(splicer.generate_many(tables))
        seconds = time.perf_counter() - begun
        self.folder.write(f"dev-{name}.jsonl", "".join(map(row_text, rows)))
        return referee.judge(name, rows, seconds)


def _holds(path: Path, content: str) -> bool:
    return path.is_file() and path.read_bytes() == content.encode()
