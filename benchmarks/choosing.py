"""What each way of choosing among finished texts is worth: BLEU and slot errors from the same candidates.

    python benchmarks/choosing.py runs/e2e-full [--references e2e:data/e2e] [--judge runs/e2e-copy]

Every table is searched once with the run's settings (eight start neighbors of beam 3), and once with the
paper's (one beam of 5); the ways of choosing are then applied to what was found. With `--judge`, also with
another run's opinion of the texts. The last row is what the best candidate by its own sentence BLEU would
give, which nobody can know.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import torch

from textsplice.cli.reading import distinct_tables
from textsplice.config import SearchConfig
from textsplice.corpus import Example, Table, read_corpus
from textsplice.evaluate.outputs import items_of
from textsplice.evaluate.score import score
from textsplice.files import atomic_write_text
from textsplice.policy.problem import Candidate
from textsplice.progress import bar
from textsplice.search.choose import Choice, choose, slot_slips, worded_slips
from textsplice.search.derive import derive
from textsplice.search.judge import opinion
from textsplice.search.propose import Proposal
from textsplice.slots.check import check_slots, summarize_slots
from textsplice.slots.lexicon import Lexicon
from textsplice.splicer import Splicer
from textsplice.text.tokens import Tokenizer, detokenize
from textsplice.text.vocabulary import BEGIN_ID, END_ID

BATCH = 32
PAPER = SearchConfig(beam=5, choose="likelihood", start_neighbors=1, slots_first=False)
WAYS: list[Choice] = ["likelihood", "consensus", "typical"]

Found = tuple[Proposal, list[Candidate]]


def candidates(splicer: Splicer, tables: Sequence[Table], settings: SearchConfig, what: str) -> list[Found]:
    """All finished texts of each table."""
    found: list[Found] = []
    examples = iter([Example(str(number), table, None) for number, table in enumerate(tables)])
    with bar(len(tables), what) as progress:
        while batch := list(islice(examples, BATCH)):
            for proposal in splicer.proposer.propose(batch, (), settings):
                outcome = proposal.outcome
                last = [outcome.unfinished] if outcome.unfinished else []
                found.append((proposal, outcome.ranked() or last))
            progress.advance(len(batch))
    return found


def text_of(proposal: Proposal, candidate: Candidate, tokenizer: Tokenizer) -> str:
    """A candidate as people read it."""
    inner = [number for number in candidate.ids if number not in (BEGIN_ID, END_ID)]
    return detokenize([proposal.words[number] for number in inner], tokenizer)


def sentence_bleu(text: str, references: Sequence[str]) -> float:
    """A smoothed BLEU of one text: good enough to say which candidate is the best."""
    words, total = text.lower().split(), 0.0
    for n in range(1, 5):
        grams = Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
        best: Counter[tuple[str, ...]] = Counter()
        for reference in references:
            others = reference.lower().split()
            best |= Counter(tuple(others[i : i + n]) for i in range(len(others) - n + 1))
        total += math.log(((grams & best).total() + 0.5) / (grams.total() + 0.5))
    shortest = min(abs(len(r.split()) - len(words)) + len(r.split()) / 1000 for r in references)
    return total / 4 - shortest / max(1, len(words))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--references", default="e2e:data/e2e")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--lexicon", default="e2e")
    parser.add_argument("--judge", type=Path)
    parser.add_argument("--tables", type=int, default=10**9)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "choosing.json")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)

    splicer = Splicer.load(arguments.run)
    lexicon = Lexicon.load(arguments.lexicon)
    examples = list(read_corpus(arguments.references, arguments.split))
    tables = [e.table for e in distinct_tables(examples)][: arguments.tables]
    of_table = {item.table: item.references for item in items_of(examples)}
    references = [of_table[table] for table in tables]
    tokenizer = splicer.store.tokenizer
    rows: list[dict[str, object]] = []

    def add(name: str, texts: Sequence[str]) -> None:
        bleu = 100 * score(texts, references, ["BLEU"])[0].value
        slots = summarize_slots(check_slots(x, t, lexicon) for x, t in zip(texts, tables, strict=True))
        rows.append({"chosen by": name, "BLEU": round(bleu, 2), "slot errors": round(slots.error_rate, 4)})
        print(f"{name:60} {bleu:6.2f} {slots.error_rate:7.2%}", flush=True)

    def pick(found: list[Found], by: Choice, counted: str, judge: Splicer | None = None) -> list[str]:
        texts: list[str] = []
        for proposal, finished in found:
            slips = {
                "": None,
                "word for word": slot_slips,
                "lexicon": worded_slips(proposal.example.table, lexicon, tokenizer),
            }[counted]
            ranked = choose(
                [derive(each, proposal.sources, proposal.words) for each in finished],
                proposal.sources,
                proposal.words,
                by=by,
                slips=slips,
                judge=opinion(judge, proposal, tokenizer) if judge else None,
            )
            texts.append(text_of(proposal, ranked[0], tokenizer) if ranked else "")
        return texts

    paper = candidates(splicer, tables, PAPER, "one beam of 5")
    add("one beam of 5, likelihood (the paper)", pick(paper, "likelihood", ""))
    settings = replace(SearchConfig(), max_splices=splicer.config.search.max_splices)
    found = candidates(splicer, tables, settings, f"{settings.start_neighbors} starts of {settings.beam}")
    for counted in ("", "word for word", "lexicon"):
        first = f", fewest slips by {counted} first" if counted else ""
        for by in WAYS:
            name = f"{settings.start_neighbors} starts of beam {settings.beam}, {by}{first}"
            add(name, pick(found, by, counted))
        if arguments.judge:
            name = f"{settings.start_neighbors} starts of beam {settings.beam}, typical and judged{first}"
            add(name, pick(found, "typical", counted, Splicer.load(arguments.judge)))
    best = [
        max((text_of(p, c, tokenizer) for c in finished), key=lambda t: sentence_bleu(t, r), default="")
        for (p, finished), r in zip(found, references, strict=True)
    ]
    add("the best candidate, which nobody knows", best)
    data = {"run": splicer.run, "split": arguments.split, "tables": len(tables), "rows": rows}
    atomic_write_text(arguments.out, json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    main()
