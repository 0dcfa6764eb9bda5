"""What `fit` tells: what it found, what it will do, how it went."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from textsplice.corpus.forms import SPELLED
from textsplice.fit.compare import Result
from textsplice.fit.look import Look
from textsplice.fit.plan import Plan, enough_verbatim
from textsplice.slots.placeholders import told_placeholders

SHOWN = 10  # texts
CLOSE, FEW_RECORDS = 1.0, 20  # within so many BLEU points, or on fewer records, chance decides


def found_lines(look: Look) -> list[str]:
    """What is in the corpus."""
    counted = ", ".join(
        f"{look.rows[split]:,} {split} rows of {look.records[split]:,} records" for split in look.splits
    )
    lines = [counted]
    if look.left_out:
        told = told_placeholders(look.placeholders)
        rows = "1 row is" if look.left_out == 1 else f"{look.left_out:,} rows are"
        lines.append(f"{rows} left out, whose text nobody has written yet: {told}")
    lines.append("fields:")
    width = max((len(each.field) for each in look.fields), default=0)
    lines += [f"  {each.field:{width}}  {each.kind:7} {each.reason}" for each in look.fields]
    forms = [(name, form) for name, _, form in (each.rpartition("=") for each in look.forms)]
    if told := ", ".join(f"{name} as {form}" for name, form in forms if not form.startswith(SPELLED)):
        lines.append(f"texts say some values in another form, in which they are read: {told}")
    if told := ", ".join(name for name, form in forms if form.startswith(SPELLED)):
        lines.append(f"values that differ only in small and capital letters are read as one: {told}")
    if look.shared:
        lines.append(
            f"{look.shared:.0%} of the dev texts stand word for word in train: scores on them flatter"
            if look.shared >= 0.05
            else f"{look.shared:.1%} of the dev texts stand word for word in train"
        )
    return lines


def learned_line(look: Look) -> str:
    """Which texts are learned from."""
    learned = (
        "only those are learned and spliced from"
        if enough_verbatim(look)
        else "too few: all are learned from"
    )
    return f"{look.verbatim:.0%} of the texts say all values, as far as that can be checked; {learned}"


def planned_lines(plan: Plan, minutes: float) -> list[str]:
    """What will be done."""
    lines = [f"within about {minutes:g} minutes: S2S+copy learns for up to {plan.writer_minutes:.0f}"]
    if plan.full_minutes:
        lines[0] += f", then FULL from what it writes for up to {plan.full_minutes:.0f}"
    lines.append("then they and untrained swap write dev records; the best becomes the default")
    return lines


def figures(result: Result) -> list[str]:
    """One row of the comparison."""
    slots = "unchecked" if result.slot_errors is None else f"{result.slot_errors:.1f} %"
    return [
        result.name,
        f"{result.bleu:.1f}",
        slots,
        f"{result.copied:.0f} %",
        f"{result.splices:.1f}",
        str(result.abstained),
        f"{result.seconds:.2f}",
    ]


HEADINGS = ["system", "BLEU", "slot errors", "copied", "splices", "abstained", "seconds a record"]


def result_lines(results: Sequence[Result], best: Result, out: Path, report: Path) -> list[str]:
    """How the systems compare, and what to do next."""
    table = [HEADINGS, *map(figures, results)]
    widths = [max(len(row[column]) for row in table) for column in range(len(HEADINGS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table]
    if best.unchecked:
        lines += ["", unchecked_line(best)]
    lines += ["", verdict(results, best)]
    lines += [f"· {row.text}" for row in best.rows[:SHOWN]]
    lines += ["", f"Write:   textsplice generate {out} records.csv --out texts.jsonl"]
    lines += [f"Report:  {report}", f"Summary: {out / 'summary.md'}"]
    return lines


def unchecked_line(best: Result) -> str:
    """What the slot errors do not count."""
    return (
        f"{best.unchecked} values of these texts are unchecked: no wording of a yes, a no or a category is "
        "known for them. Read such texts, or give wordings with --lexicon."
    )


def verdict(results: Sequence[Result], best: Result) -> str:
    """Which system is kept, in a sentence."""
    others = [result for result in results if result is not best]
    nearest = max((result.merit for result in others), default=float("-inf"))
    if best.name == "swap":
        return (
            "The untrained swap is better than what was trained, and is kept: more records, or more minutes, "
            "are needed for training to pay."
        )
    few = min(result.records for result in results)
    chance = best.merit - nearest < CLOSE or few < FEW_RECORDS
    close = f" (of {few} records; chance can make such a difference)" if chance else ""
    return f"{best.name} is the best on dev{close} and is kept as the default."


def summary(source: str, look: Look, results: Sequence[Result], best: Result, out: Path) -> str:
    """The whole story, as Markdown."""
    rows = [HEADINGS, ["---"] * len(HEADINGS), *map(figures, results)]
    texts = [f"{number}. {_escaped(row.text)}" for number, row in enumerate(best.rows[:SHOWN], start=1)]
    parts = [
        f"# {_escaped(source)}",
        "\n".join(f"- {_escaped(line.strip())}" for line in (*found_lines(look), learned_line(look))),
        "## On dev",
        "\n".join(f"| {' | '.join(row)} |" for row in rows),
        verdict(results, best),
        *([unchecked_line(best)] if best.unchecked else []),
        "Slot errors are counted by the checker that also had a say in choosing among the texts of one "
        "system.",
        f"## The first texts of {best.name}, not picked",
        "\n".join(texts),
        "## Go on",
        f"    textsplice generate {out} records.csv --out texts.jsonl",
    ]
    return "\n\n".join(parts) + "\n"


def _escaped(text: str) -> str:
    """Text of a stranger's file as Markdown that shows it."""
    from textsplice.visible import visible

    shown = visible(text)
    return "".join(f"\\{each}" if each in "\\`*_{}[]<>()#+|!" else each for each in shown)
