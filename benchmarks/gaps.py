"""Real texts, traced: what is covered, and are gaps exactly where words without a source were planted?

    python benchmarks/gaps.py planted e2e:DIR [--texts 1000] [--exact]
    python benchmarks/gaps.py covered e2e:DIR [--split dev] [--texts 1000] [--exact]
    python benchmarks/gaps.py pages [--pages 20]

`planted`: words that stand in no training text are planted between the tokens of references all of whose
words do, with and without their records; every gap must be a plant, character by character. `covered`: other
people's texts as they are. `pages`: pages of Python's own documentation (as `pydoc` has it), edited:
sentences are dropped and put elsewhere, words are replaced; the store is its sentences.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np

import textsplice
from textsplice import Generation, Table
from textsplice.corpus import Example
from textsplice.text.tokens import Tokenizer, tokenize
from textsplice.trace import SourceTexts, Tracer

RESULTS = Path(__file__).parent / "results"
ALPHABETS = (
    *("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "абвгдежзиклмн", "αβγδεζηθικ", "אבגדהוזח"),
    *("ابتثجحخد", "가나다라마바사", "漢字仮名交文", "कखगघचछज", "𝒜𝒞𝒟𝒢𝒥𝒦", "ąćęłńóśźż", "0123456789"),
)
SIGNS = ("👩‍👩‍👧", "🇨🇭", "🙂", "☕️", "§", "∮", "7qzx", "zq'xw", "qx_zw", "€98765.43", "x1y2z3", "Ωmega")

Range = tuple[int, int]


def plant(generator: random.Random) -> str:
    """A word that hardly anybody writes."""
    if generator.random() < 0.3:
        return generator.choice(SIGNS)
    return "".join(generator.choices(generator.choice(ALPHABETS), k=generator.randint(3, 9)))


def with_plants(
    text: str, known: set[str], tokenizer: Tokenizer, generator: random.Random
) -> tuple[str, list[Range]] | None:
    """A text with one to four plants, and their characters; None if they change the tokens around them."""
    base = tokenize(text, tokenizer)
    words: list[tuple[str, bool]] = [(token, False) for token in base]
    written = base.text
    places = sorted(generator.choices(range(len(base) + 1), k=generator.randint(1, 4)), reverse=True)
    for place in places:
        tokens = tokenize(plant(generator), tokenizer)
        if not tokens or any(token.strip() in known for token in tokens):
            return None
        at = base.spans[place][0] if place < len(base) else len(base.text)
        written = f"{written[:at].rstrip()} {tokens.text} {written[at:]}".strip()
        words[place:place] = [(token, True) for token in tokens]
    tokens = tokenize(written, tokenizer)
    if list(tokens) != [word for word, _ in words]:
        return None
    ranges: list[Range] = []
    before = False
    for (start, stop), (_, planted) in zip(tokens.spans, words, strict=True):
        if planted:
            start = ranges.pop()[0] if before else start
            ranges.append((start, stop))
        before = planted
    return tokens.text, ranges


def utf16(text: str, place: int) -> int:
    return len(text[:place].encode("utf-16-le")) // 2


def is_exact(trace: Generation, ranges: Sequence[Range]) -> bool:
    """Whether the gaps are these ranges, in both ways to count, and the rest is covered."""
    units = [(utf16(trace.text, start), utf16(trace.text, stop)) for start, stop in ranges]
    return [(g.start, g.stop) for g in trace.gaps] == ranges and [g.utf16 for g in trace.gaps] == units


def opened(corpus: str, split: str) -> tuple[Tracer, list[Example], set[str]]:
    tokenizer: Tokenizer = "spaces" if corpus.startswith("wikibio:") else "words"
    train = [each for each in textsplice.read_corpus(corpus, "train") if each.text]
    rest = [each for each in textsplice.read_corpus(corpus, split) if each.text]
    random.Random(7).shuffle(rest)
    known = {token.strip() for each in train for token in tokenize(str(each.text), tokenizer)}
    values = (value for each in (*train, *rest) for _, values in each.table for value in values)
    known |= {token.strip() for value in set(values) for token in tokenize(value, tokenizer)}
    return Tracer(SourceTexts.of_examples(train, tokenizer)), rest, known


def planted(corpus: str, split: str, count: int, exact: bool) -> dict[str, object]:
    """Plants words into covered texts and compares gaps."""
    tracer, rest, known = opened(corpus, split)
    report: dict[str, object] = {"corpus": corpus.split(":")[0], "split": split, "store": len(tracer.sources)}
    for name in ("with_record", "without_record"):
        generator = random.Random(11)
        texts = plants = equal = clean = 0
        for example in rest:
            table: Table | None = example.table if name == "with_record" else None
            if tracer.trace(str(example.text), table, exact=False).gaps:
                continue
            clean += 1
            made = with_plants(str(example.text), known, tracer.sources.tokenizer, generator)
            if made is None:
                continue
            text, ranges = made
            texts += 1
            plants += len(ranges)
            equal += is_exact(tracer.trace(text, table, exact=exact), ranges)
            if texts == count:
                break
        report[name] = {"covered_texts": clean, "texts": texts, "planted_gaps": plants, "all_exact": equal}
    return report


def covered(corpus: str, split: str, count: int, exact: bool) -> dict[str, object]:
    """Traces texts of others as they are."""
    tracer, rest, _ = opened(corpus, split)
    report: dict[str, object] = {"corpus": corpus.split(":")[0], "split": split, "store": len(tracer.sources)}
    for name in ("with_record", "without_record"):
        examples = rest[:count]
        tables = [each.table if name == "with_record" else None for each in examples]
        tracer.trace(str(examples[0].text), tables[0], exact=exact)  # compiles
        began = time.perf_counter()
        traces = [tracer.trace(str(e.text), t, exact=exact) for e, t in zip(examples, tables, strict=True)]
        seconds = time.perf_counter() - began
        tokens = sum(len(trace.tokens) for trace in traces)
        shares = [trace.traced.covered * len(trace.tokens) for trace in traces if trace.traced]
        report[name] = {
            "texts": len(traces),
            "tokens_per_text": round(tokens / len(traces), 1),
            "covered": round(sum(shares) / tokens, 4),
            "texts_without_gap": sum(not trace.gaps for trace in traces),
            "gaps": sum(len(trace.gaps) for trace in traces),
            "splices_per_text": round(float(np.mean([len(trace.splices) for trace in traces])), 2),
            "proved": sum(trace.certificate is not None and trace.certificate.proved for trace in traces),
            "texts_per_second": round(len(traces) / seconds, 1),
        }
    return report


def sentences(text: str) -> list[str]:
    """The sentences of running prose; lists, headings and code are left out."""
    paragraphs = re.split(r"\n\s*\n", text)
    prose = (" ".join(p.split()) for p in paragraphs if re.match(r"[A-Z][^\n]*[a-z]", p) and "   " not in p)
    found = (s for p in prose for s in re.split(r"(?<=[.!?])\s+(?=[A-Z])", p) if s.endswith("."))
    return [s for s in found if len(s.split()) > 3]


def edited_pages(count: int, generator: random.Random) -> Iterator[tuple[str, list[Range], dict[str, int]]]:
    """Pages of 400 to 900 tokens with the characters of the words that were replaced, and what was done."""
    pages = [found for text in topics.values() if len(found := sentences(str(text))) >= 12]
    while count:
        page = generator.choice(pages)
        begin = generator.randrange(max(1, len(page) - 20))
        chosen = page[begin : begin + generator.randint(14, 40)]
        dropped = [s for s in chosen if generator.random() > 0.15]
        moved = generator.sample(range(len(dropped)), k=min(2, len(dropped)))
        for place in moved:
            dropped.insert(generator.randrange(len(dropped)), dropped.pop(place))
        words = " ".join(dropped).split(" ")
        plain = [place for place, word in enumerate(words) if word.isalpha()]
        replaced = set(generator.sample(plain, k=min(len(plain), generator.randint(3, 10))))
        words = [f"zq{word}xw" if place in replaced else word for place, word in enumerate(words)]
        tokens = tokenize(" ".join(words))
        if 400 <= len(tokens) <= 900:
            count -= 1
            foreign = [
                tokens.text[a:b].startswith("zq") and tokens.text[a:b].endswith("xw") for a, b in tokens.spans
            ]
            ranges: list[Range] = []
            for place, (start, stop) in enumerate(tokens.spans):
                if foreign[place]:
                    start = ranges.pop()[0] if place and foreign[place - 1] else start
                    ranges.append((start, stop))
            done = {"tokens": len(tokens), "dropped": len(chosen) - len(dropped), "moved": len(moved)}
            yield tokens.text, ranges, {**done, "replaced": len(replaced), "sentences": len(dropped)}


def pages(count: int) -> dict[str, object]:
    """Traces edited pages of Python's documentation to its sentences."""
    store = [
        Example(f"{name}-{number}", Table.of({"topic": name}), sentence)
        for name, text in sorted(topics.items())
        for number, sentence in enumerate(sentences(str(text)))
    ]
    tracer = Tracer(SourceTexts.of_examples(store, "words"))
    tracer.trace("It is.")  # compiles
    rows: list[dict[str, float]] = []
    for text, ranges, done in edited_pages(count, random.Random(3)):
        row: dict[str, float] = dict(done)
        for name, exact in (("fast", False), ("exact", True)):
            began = time.perf_counter()
            trace = tracer.trace(text, exact=exact)
            row[f"{name}_seconds"] = round(time.perf_counter() - began, 2)
            row[f"{name}_splices"] = len(trace.splices)
            row[f"{name}_gaps_are_the_edits"] = is_exact(trace, ranges)
        rows.append(row)
        print(row, flush=True)
    means = {key: round(float(np.mean([row[key] for row in rows])), 2) for key in rows[0]}
    return {"store_sentences": len(store), "pages": len(rows), "means": means, "rows": rows}


def main() -> None:
    """Measures and prints."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("what", choices=["planted", "covered", "pages"])
    options.add_argument("corpus", nargs="?", default="bundled")
    options.add_argument("--split", default="dev")
    options.add_argument("--texts", type=int, default=1000)
    options.add_argument("--pages", type=int, default=20)
    options.add_argument("--exact", action="store_true")
    given = options.parse_args()
    if given.what == "pages":
        report, name = pages(given.pages), "pages"
    else:
        measure = planted if given.what == "planted" else covered
        report = measure(given.corpus, given.split, given.texts, given.exact) | {"exact": given.exact}
        name = f"{given.what}-{given.corpus.split(':')[0]}"
    print(json.dumps({key: value for key, value in report.items() if key != "rows"}, indent=1))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"gaps-{name}.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
