"""The gate: how many drafts with one wrong value pass, and how many honest ones are refused?

    python benchmarks/gate.py e2e:DIR --lexicon e2e [--drafts 1000] [--split dev] [--show FILE]
    python benchmarks/gate.py e2e:DIR; python benchmarks/gate.py bundled; …

Honest drafts are references of a split that the store, the training texts, has not seen. A planted draft is a
reference in which one value of its record, wherever it stands, is replaced by another value that some
training record has in the same field. The lexicon has no say in the choice, so what it takes for the
same value counts as passed, and is told apart afterwards. `--show` writes the texts that passed, and the
honest ones that were refused, to be read.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import textsplice
from textsplice import Table
from textsplice.corpus import Example
from textsplice.slots.lexicon import Lexicon
from textsplice.text.tokens import Tokenizer, tokenize
from textsplice.text.yes_no import is_yes_or_no
from textsplice.trace import Gate, KnownValues, SourceTexts, Tracer, Verdict
from textsplice.trace.reading import Draft

RESULTS = Path(__file__).parent / "results"


class Plant(NamedTuple):
    """A reference with `wrong` in place of `true`, a value of `field`."""

    table: Table
    text: str
    field: str
    true: str
    wrong: str


def replaced(text: str, value: str, other: str, tokenizer: Tokenizer) -> str | None:
    """The text with another value wherever this one stands as whole tokens; None if it does not."""
    tokens, wanted = tokenize(text, tokenizer), list(tokenize(value, tokenizer))
    spans, size = tokens.spans, len(wanted)
    bare = [token.strip() for token in tokens]
    places = [at for at in range(len(tokens) - size + 1) if bare[at : at + size] == wanted]
    written = tokens.text
    for at in reversed(places):
        written = written[: spans[at][0]] + other + written[spans[at + size - 1][1] :]
    return written if places else None


def plants(examples: Sequence[Example], train: Sequence[Example], tokenizer: Tokenizer) -> Iterator[Plant]:
    """One draft with a wrong value for each example in which a value of its record stands."""
    generator = random.Random(11)
    known: dict[str, dict[str, None]] = {}
    for example in train:
        for name, values in example.table:
            known.setdefault(name, {}).update(dict.fromkeys(values))
    for example in examples:
        own = {value.casefold() for _, values in example.table for value in values}
        possible = [
            (name, value)
            for name, values in example.table
            for value in values
            if not is_yes_or_no(value) and replaced(str(example.text), value, "", tokenizer) is not None
        ]
        generator.shuffle(possible)
        for name, value in possible:
            if wrong := [each for each in known.get(name, ()) if each.casefold() not in own]:
                other = generator.choice(wrong)
                text = replaced(str(example.text), value, other, tokenizer)
                yield Plant(example.table, str(text), name, value, other)
                break


def is_same(plant: Plant, lexicon: Lexicon | None) -> bool:
    """Whether the lexicon gives both values a wording in common: `3 out of 5` is `average`."""
    field = lexicon.fields.get(plant.field) if lexicon else None
    wordings = [set(field.wordings.get(value, ())) if field else set() for value in (plant.true, plant.wrong)]
    return bool(wordings[0] & wordings[1])


def counted(verdicts: Sequence[Verdict]) -> dict[str, int]:
    """How many verdicts have a reason of each kind."""
    return dict(Counter(why for each in verdicts for why in {reason.why for reason in each.reasons}))


def shown(verdict: Verdict) -> dict[str, object]:
    table = verdict.draft.table
    return {
        "table": table.to_record() if table else None,
        "text": verdict.draft.text,
        "reasons": [reason.to_dict() for reason in verdict.reasons],
    }


def main() -> None:
    """Measures and prints."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("corpus")
    options.add_argument("--lexicon")
    options.add_argument("--drafts", type=int, default=1000)
    options.add_argument("--split", default="dev")
    options.add_argument("--any-values", action="store_true", help="without the check of values")
    options.add_argument("--exact", action="store_true")
    options.add_argument("--show", type=Path)
    given = options.parse_args()
    tokenizer: Tokenizer = "spaces" if given.corpus.startswith("wikibio:") else "words"
    train = [each for each in textsplice.read_corpus(given.corpus, "train") if each.text]
    rest = [each for each in textsplice.read_corpus(given.corpus, given.split) if each.text]
    random.Random(11).shuffle(rest)
    lexicon = Lexicon.load(given.lexicon) if given.lexicon else None
    values = None if given.any_values else KnownValues.of_examples(train, tokenizer)
    tracer = Tracer(SourceTexts.of_examples(train, tokenizer))
    gate = Gate(tracer, lexicon=lexicon, values=values, exact=given.exact)
    gate.judge(Draft("first", str(rest[0].text), rest[0].table, ""))  # compiles
    began = time.perf_counter()
    honest = [gate.judge(Draft(e.id, str(e.text), e.table, e.id)) for e in rest[: given.drafts]]
    seconds = time.perf_counter() - began
    planted = list(plants(rest, train, tokenizer))[: given.drafts]
    judged = [gate.judge(Draft("planted", plant.text, plant.table, "")) for plant in planted]
    passed = [(plant, each) for plant, each in zip(planted, judged, strict=True) if each.accepted]
    wrong = [(plant, each) for plant, each in passed if not is_same(plant, lexicon)]
    refused = [each for each in honest if not each.accepted]
    name = Path(given.corpus.split(":")[0]).name
    report: dict[str, object] = {
        "corpus": name,
        "split": given.split,
        "lexicon": given.lexicon,
        "values_of_other_records_refused": not given.any_values,
        "store": len(tracer.sources),
        "planted": len(planted),
        "planted_passed": len(passed),
        "of_these_the_same_by_the_lexicon": len(passed) - len(wrong),
        "planted_refused_by": counted(judged),
        "honest": len(honest),
        "honest_refused": len(refused),
        "honest_refused_by": counted(refused),
        "drafts_per_second": round(len(honest) / seconds, 1),
    }
    print(json.dumps(report, indent=1))
    print(Counter((plant.field, plant.true, plant.wrong) for plant, _ in passed).most_common())
    if given.show:
        rows = [{"planted": plant.wrong, "for": plant.true, **shown(each)} for plant, each in passed]
        rows += [shown(each) for each in refused]
        given.show.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    RESULTS.mkdir(exist_ok=True)
    parts = [
        name,
        given.split,
        given.lexicon and f"lexicon-{given.lexicon}",
        given.any_values and "any-values",
    ]
    file = RESULTS / f"gate-{'-'.join(filter(None, parts))}.json"
    file.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
