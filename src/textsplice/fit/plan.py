"""Settings that suit the size of a corpus and the minutes there are."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from textsplice.config import Config, PolicyConfig, SearchConfig, TrainingConfig
from textsplice.fit.look import Look
from textsplice.runs.fitted import FOLDERS

SMALL = 1500  # training rows; below, a smaller network learns as much in less time
MOST_EPOCHS = 60
MOST_STEPS = 6000
FEWEST_STEPS = 60
VALIDATIONS = 12
# FULL learns to splice what the writer writes; that pays only with enough records and minutes.
FULL_RECORDS, FULL_MINUTES = 400, 15.0
# How the minutes are shared; the rest is for preparing, writing and comparing. The writer has more than FULL,
# which learns from what it writes and has not been the best for any file that `fit` was tried on.
WRITER_ALONE, WRITER_FIRST, FULL_SHARE = 0.6, 0.45, 0.25
TAUGHT_RECORDS = 3000  # that the writer writes for FULL


@dataclass(frozen=True)
class Plan:
    """What will be trained, and for how long."""

    writer_minutes: float
    full_minutes: float  # 0: FULL is not trained
    why_no_full: str = ""


def plan_for(look: Look, minutes: float) -> Plan:
    """Shares the minutes."""
    records = look.records["train"]
    if records < FULL_RECORDS:
        why = f"FULL needs about {FULL_RECORDS} records to learn from, and there are {records:,}"
        return Plan(WRITER_ALONE * minutes, 0.0, why)
    if minutes < FULL_MINUTES:
        why = f"FULL needs {FULL_MINUTES:g} minutes or more: --minutes {FULL_MINUTES:g}"
        return Plan(WRITER_ALONE * minutes, 0.0, why)
    return Plan(WRITER_FIRST * minutes, FULL_SHARE * minutes)


def base_config(source: str, text_column: str, lexicon: str, look: Look, out: Path) -> Config:
    """What all systems share: the corpus, the store and the vocabulary."""
    rows = look.rows["train"]
    base = Config().with_values(["corpus.too_long=drop", 'neighbors.fold=["auto"]'])
    return replace(
        base,
        corpus=replace(
            base.corpus,
            source=source,
            text_column=text_column,
            splits=look.splits,
            kinds=("auto",),
        ),
        text=replace(base.text, lexicon=lexicon),
        neighbors=replace(base.neighbors, verbatim=enough_verbatim(look)),
        vocabulary=replace(base.vocabulary, generate_min_count=words_count(rows)),
        output=replace(base.output, prepared=str(out / FOLDERS["swap"]), run=str(out / FOLDERS["drafts"])),
    )


def enough_verbatim(look: Look) -> bool:
    """Whether the texts that say all values word for word are enough to learn and splice from alone."""
    return look.verbatim >= 0.4 and look.verbatim * look.rows["train"] >= 100


def words_count(rows: int) -> int:
    """How many texts must lack a word before it may be generated: 2 of 300 texts, 20 of 40,000."""
    return max(2, min(50, round(rows**0.5 / 10)))


def writer_config(base: Config, look: Look) -> Config:
    """S2S+copy, whose texts are the drafts."""
    rows = look.rows["train"]
    return replace(
        base,
        policy=policy_for(rows, "copy"),
        training=replace(
            training_for(rows, batch=32 if rows < SMALL else 64), verbatim=enough_verbatim(look)
        ),
        search=replace(
            SearchConfig(),
            proposers=("drafts",),
            swap_writes=rows < 4 * SMALL,
            beam=8,
            max_splices=24,
            max_tokens=min(400, max(120, 2 * look.longest)),
            seams=1.0,
            whole_sentences=look.whole_sentences,
        ),
    )


def full_config(writer: Config, look: Look, out: Path, targets: Path) -> Config:
    """FULL, which learns to splice the writer's texts from people's."""
    rows = look.rows["train"]
    return replace(
        writer,
        corpus=replace(writer.corpus, targets=str(targets)),
        policy=policy_for(rows, "full"),
        training=training_for(rows, batch=24),
        search=replace(
            SearchConfig(),
            judge=writer.run_folder,
            misplaced_values="discouraged",
            max_splices=24,
            max_tokens=writer.search.max_tokens,
            seams=1.0,
            whole_sentences=look.whole_sentences,
        ),
        output=replace(writer.output, prepared=str(out / "prepared-full"), run=str(out / FOLDERS["full"])),
    )


def policy_for(rows: int, kind: str) -> PolicyConfig:
    """A network for this many texts."""
    if rows < SMALL:
        return PolicyConfig(
            kind=kind, d_model=128, encoder_layers=2, decoder_layers=2, heads=4, ffn=256, dropout=0.1
        )
    return PolicyConfig(kind=kind, d_model=192, encoder_layers=3, decoder_layers=3, heads=6, ffn=384)


def training_for(rows: int, batch: int) -> TrainingConfig:
    """How it learns; `with_steps` says how long."""
    return TrainingConfig(
        learning_rate=2e-3 if rows < SMALL else 1e-3,
        schedule="cosine",
        batch_sequences=batch,
        micro_sequences=batch,
        patience=0,
        validate_sequences=600,
        checkpoint_every=100,
        processes=min(2, os.cpu_count() or 1),
        warmup_steps=20,
        total_steps=MOST_STEPS,
    )


def with_steps(config: Config, rows: int, seconds_per_update: float, minutes: float) -> Config:
    """The configuration with as many updates as fit into the minutes."""
    by_time = int(60 * minutes / max(seconds_per_update, 1e-6))
    by_data = MOST_EPOCHS * max(1, rows // config.training.batch_sequences)
    steps = max(FEWEST_STEPS, min(by_time, by_data, MOST_STEPS))
    training = replace(
        config.training,
        total_steps=steps,
        max_steps=steps,
        warmup_steps=max(5, min(200, steps // 10)),
        validate_every=max(5, steps // VALIDATIONS),
    )
    return replace(config, training=training)
