"""The card of an export: what it is, what it learned from, figures, limits, and how to use it. Markdown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from shlex import quote
from typing import cast

from textsplice.config import Config
from textsplice.errors import InputError
from textsplice.parsing import read_object
from textsplice.runs.journal import read_journal
from textsplice.runs.portable import LEXICON, portable_signature
from textsplice.runs.run import Run
from textsplice.slots.lexicon import BUNDLED
from textsplice.visible import visible

JSON = Mapping[str, object]
KINDS = {
    "full": "FULL, which writes texts as splices",
    "lrt": "LRT, which writes token by token from the table and its neighbors",
    "copy": "S2S+copy, which writes token by token from the table",
}
LIMITS = """\
- It holds no texts and no words: those come from the corpus, which you get and prepare yourself. The corpus
  has a licence of its own.
- It knows the words of that corpus alone. Other words of a record can be copied, but it does not know them.
- The weights are rounded to bfloat16. Where two texts are almost equally probable, it may choose another one
  than the run that it was exported from.
- Provenance says where words come from, not that they are true of the record.
- Slot errors are what a lexicon finds. If that lexicon also chose what was learned, it can't judge alone."""


@dataclass(frozen=True)
class Card:
    """What a card is written from: a run, its settings as they are given away, and what the user adds."""

    run: Run
    config: Config
    parameters: int
    figures: Sequence[tuple[str, JSON]] = ()
    license: str = ""
    note: str = ""

    def text(self, name: str) -> str:
        """The card of an export whose folder has this name."""
        kind = self.config.policy.kind
        known = KINDS.get(kind, f"the policy `{kind}`")
        drafts = "drafts" in self.config.search.proposers
        parts = [
            f"# {visible(name)}",
            f"An export of the textsplice run `{self.run.id}`: {known}."
            + (" Its texts are derived from people's texts as *drafts*." if drafts else "")
            + f" {self.parameters:,} weights in bfloat16.",
            *([visible(self.note)] if self.note else []),
            self._usage(name),
            "## What it learned from\n\n" + "\n".join(f"- {line}" for line in self._data()),
            "## Training\n\n" + self._training(),
            "## Figures\n\n" + self._figures(),
            "## Limits\n\n" + LIMITS,
            "## Licence\n\n" + (visible(self.license) or "None was given: ask whoever gave you this folder."),
            "## Settings that are not the defaults\n\n" + self._settings(),
        ]
        return "\n\n".join(parts) + "\n"

    def _usage(self, name: str) -> str:
        named = dict.fromkeys((self.config.search.judge, *self.config.search.writers))
        others = [other for other in named if other not in ("", name)]
        prepared, name = quote(visible(self.config.prepared_folder)), quote(visible(name))
        own = self.config.text.lexicon and self.config.text.lexicon not in BUNDLED
        lexicon = f" --set text.lexicon={name}/{LEXICON}" if own else ""
        beside = "".join(f"\n\nIt needs the export `{visible(other)}` beside it." for other in others)
        return (
            f"## Use\n\nThe corpus is expected at `{visible(self.config.corpus.source)}`; "
            "`--set corpus.source=…` names another place.\n\n"
            f"    textsplice prepare {name}/config.toml --out {prepared}{lexicon}\n"
            f"    textsplice generate {name} tables.jsonl --store {prepared} --out texts.jsonl\n\n"
            "`textsplice verify texts.jsonl --run EXPORT --store PREPARED` checks what it wrote." + beside
        )

    def _data(self) -> list[str]:
        config, store, words = self.config, self.run.store, self.run.vocabulary
        lexicon = config.text.lexicon
        said = (
            f"without a slot error by the lexicon `{lexicon}`" if lexicon else "that say every value verbatim"
        )
        taught = bool(self.run.config.corpus.targets)
        learned = "texts that other runs wrote, not from people's," if taught else "references"
        cleaned = ", ".join(config.corpus.decontaminate)
        offered, texts = int(store.offered.sum()), len(store)
        lines = [
            f"Corpus `{visible(config.corpus.source)}`, splits {', '.join(config.corpus.splits)}; "
            f"{texts:,} training texts about {len(store.tables):,} tables.",
            f"Of these texts {offered:,} may be spliced from"
            + (f": those {said}." if config.neighbors.verbatim else "."),
            f"It learned from {learned}{f' {said}' if config.training.verbatim else ''}.",
            f"Training texts whose form, without values, also stands in {cleaned} were removed."
            if cleaned
            else "No training text was removed because dev or test has a text of the same form.",
            f"{len(words):,} words, of which {words.embedded:,} have an embedding.",
        ]
        if isinstance(made := self.run.about.get("made_from"), dict):
            taken = cast("dict[str, object]", made).get("without")
            count = len(cast("list[object]", taken)) if isinstance(taken, list) else 0
            lines.append(
                f"{count:,} {'text was' if count == 1 else 'texts were'} withdrawn after training, which the "
                "weights have still seen."
            )
        return lines

    def _training(self) -> str:
        rows = read_journal(self.run.journal) if self.run.journal.is_file() else []
        last = next((row for row in reversed(rows) if row.get("kind") == "train"), None)
        if last is None:
            return "The journal of its training was not at hand."
        elapsed, step = _number(last.get("elapsed")), _number(last.get("step"))
        computing = cast("JSON", self.run.about.get("computing") or {})
        where = ", ".join(f"{name} {visible(str(value))}" for name, value in sorted(computing.items()))
        told = f"{step:,.0f} steps in {elapsed / 60:.0f} minutes, seed {self.config.training.seed}"
        validated = [row for row in rows if row.get("kind") == "validation" and _number(row.get("loss"))]
        best = min(validated, key=lambda row: _number(row.get("loss")), default=None)
        chosen = (
            f" The weights are those of step {_number(best.get('step')):,.0f}, "
            f"which had the least validation loss ({_number(best.get('loss')):.3f})."
            if best
            else " It was not validated."
        )
        return f"{told}{f' ({where})' if where else ''}.{chosen}"

    def _figures(self) -> str:
        if not self.figures:
            return "None were given."
        lines = ["As `textsplice evaluate --json` printed them; each with its signature.", ""]
        lines += ["| texts | figure | value | signature |", "|---|---|---:|---|"]
        for where, scores in self.figures:
            try:
                lines += [f"| {' | '.join(row)} |" for row in _rows(scores)]
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise InputError(
                    "these are not scores as `textsplice evaluate --json` prints them.", where=where
                ) from error
        return "\n".join(lines)

    def _settings(self) -> str:
        given, defaults = self.config.to_dict(), Config().to_dict()
        return "\n".join(
            f"- `{section}.{key}` = `{visible(str(value))}`"
            for section, values in given.items()
            for key, value in values.items()
            if value != defaults[section][key]
        )


def read_figures(paths: Sequence[Path]) -> list[tuple[str, JSON]]:
    """Files that `evaluate --json` printed."""
    remedy = "Write it with `textsplice evaluate … --json > scores.json`."
    return [(str(path), read_object(path, InputError, remedy=remedy)) for path in paths]


def _rows(scores: JSON) -> list[list[str]]:
    """The rows of the table; of the texts themselves nothing is taken."""
    rows: list[list[str]] = []
    for system in cast("list[JSON]", scores["systems"]):
        texts = _cell(f"{PurePath(str(system['name'])).name} ({int(cast(int, system['items'])):,})")
        for score in cast("list[JSON]", system["scores"]):
            signature = portable_signature(str(score["signature"]))
            rows.append([texts, _cell(str(score["metric"])), _value(score["value"]), f"`{_cell(signature)}`"])
        if isinstance(slots := system.get("slots"), dict):
            rate = _value(cast("JSON", slots)["error_rate"])
            rows.append([texts, "slot errors", rate, f"`{_cell(str(system['slot_signature']))}`"])
    return rows


def _value(value: object) -> str:
    number = float(cast(float, value))
    if not math.isfinite(number):
        raise ValueError(value)
    return f"{number:.4f}"


def _cell(text: str) -> str:
    return visible(text).replace("|", "\\|").replace("`", "'")


def _number(value: object) -> float:
    """A number of the journal; 0 for what is none."""
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else 0.0
