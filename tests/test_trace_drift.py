"""Drift: what a store that has moved on can say of older rows, and what it must not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import textsplice
from textsplice import Table, schemas
from textsplice.cli import app
from textsplice.config import Config
from textsplice.corpus.table import Example
from textsplice.errors import ConfigError, TextspliceError, VerificationError
from textsplice.oracle.sources import OfferedNeighbor
from textsplice.oracle.splice import Splice
from textsplice.prepare.build import prepare
from textsplice.runs import Run
from textsplice.search.generation import Generation, make_generation
from textsplice.search.rows import row_text
from textsplice.search.traced import Certificate
from textsplice.splicer import Splicer
from textsplice.text.tokens import BEGIN, END, MASK, tokenize
from textsplice.trace import Finding, SourceTexts, Tracer, Verifier, Witness
from textsplice.trace.withdraw import run_without

OLD = Path(__file__).parent / "data" / "version-0.1"
Row = tuple[str, dict[str, object], str]

CORPUS: list[Row] = [
    ("a", {"name": "The Mill", "near": "river"}, "The Mill is a quiet pub near the river."),
    ("b", {"name": "Heron Hall"}, "Heron Hall is a cheap restaurant, and it is near the old bridge."),
    ("c", {"price": "£20"}, "It costs £20 and is open 24/7."),
]
DRAFT = "It costs £20 and is a quiet pub near the old bridge."


def witness(rows: Sequence[Row]) -> Witness:
    examples = [Example(name, Table.of(table), text) for name, table, text in rows]
    return Witness.of_corpus(Tracer(SourceTexts.of_examples(examples, "words")))


def with_text(name: str, text: str) -> list[Row]:
    return [(id_, table, text if id_ == name else before) for id_, table, before in CORPUS]


def traced(text: str = DRAFT, table: dict[str, object] | None = None, *, exact: bool = True) -> Generation:
    return witness(CORPUS).tracer.trace(text, table, id="d", exact=exact)


def found(rows: Sequence[Row], row: Generation | None = None) -> Finding:
    return Verifier(witness(rows)).find(row or traced())


def fates(finding: Finding) -> dict[str, set[str]]:
    """What became of the spans of each source."""
    sources = {span.source for span in finding.spans}
    return {source: {s.fate for s in finding.spans if s.source == source} for source in sources}


def test_the_store_that_made_a_row_verifies_it() -> None:
    assert found(CORPUS) == Finding("verified")


def test_a_text_that_changed_around_a_span_keeps_it() -> None:
    finding = found(with_text("b", "Heron Hall is dear now, and it is near the old bridge."))
    assert (finding.verdict, finding.why, finding.vouched) == ("unchanged", None, False)
    assert fates(finding) == {"a": {"same"}, "b": {"kept"}, "c": {"same"}}
    kept = next(span for span in finding.spans if span.source == "b")
    assert str(kept).endswith(f"{kept.quote!r} of 'b': the text has changed, but not here")


@pytest.mark.parametrize(
    ("text", "fate"),
    [
        ("Heron Hall is a cheap restaurant, and it is near the new bridge.", "changed"),
        # The same words with other spaces between them are not the same characters.
        ("Heron Hall is a cheap restaurant, and it is near the old-bridge.", "changed"),
        ("Something else.", "changed"),
    ],
)
def test_a_span_that_changed_has_drifted(text: str, fate: str) -> None:
    finding = found(with_text("b", text))
    assert finding.verdict == "drifted"
    assert fate in fates(finding)["b"]
    assert str(finding.why).endswith("of 'b': the text has changed here")
    assert not finding.vouched


def test_a_source_that_is_gone_or_has_another_id_has_drifted() -> None:
    gone = found([row for row in CORPUS if row[0] != "b"])
    assert (gone.verdict, fates(gone)["b"]) == ("drifted", {"gone"})
    assert str(gone.why).endswith("of 'b': the text is gone")
    moved = found([("new" if name == "b" else name, table, text) for name, table, text in CORPUS])
    assert (moved.verdict, fates(moved)["b"]) == ("drifted", {"moved"})
    assert str(moved.why).endswith("of 'b': the text is now 'new'")


def test_ids_that_count_rows_move_when_a_row_is_removed() -> None:
    """The id of a text is now that of another, in which a span may stand by chance."""
    shifted = [(name, table, text) for (name, _, _), (_, table, text) in pairwise(CORPUS)]
    finding = found(shifted)
    assert finding.verdict == "drifted"
    assert (fates(finding)["b"], fates(finding)["c"]) == ({"moved"}, {"moved"})
    assert "changed" in fates(finding)["a"]


def test_a_value_that_is_masked_now_may_not_be_copied_any_more() -> None:
    """The text is the same, but its table changed: what was wording is a value now."""
    row = traced("The Swan is a quiet pub.", {"name": "The Swan"})
    changed = [(n, t | {"sound": "quiet"} if n == "a" else t, text) for n, t, text in CORPUS]
    finding = found([*changed, ("d", {"x": "y"}, "Nothing.")], row)
    assert finding.verdict == "drifted"
    assert fates(finding) == {"a": {"masked", "same"}}
    assert "belongs to a value of its table now" in str(finding.why)
    # Without a record nothing is masked.
    assert found([*changed, ("d", {"x": "y"}, "Nothing.")]).verdict == "unchanged"


def test_several_texts_of_one_id_are_all_looked_at() -> None:
    assert found([*CORPUS, ("b", {"x": "y"}, "Another text.")]).verdict == "unchanged"


def forged(row: Generation, text: str) -> Generation:
    """The row with an invented source that makes `text`, consistent in itself."""
    neighbor = OfferedNeighbor("b", text, (BEGIN, *tokenize(text), END))
    made = tokenize(text)
    plain = make_generation(
        id="f",
        table=row.table,
        sources=replace(row.sources, neighbors=(neighbor,), words={}),
        splices=[Splice(0, 0, 1, 0, len(made) + 2)],
        score=0.0,
        status="ok",
        policy="trace",
        run=row.run,
        tokenizer="words",
        attribution="least",
    )
    assert row.traced is not None
    return replace(plain, traced=replace(row.traced, gaps=(), covered=1.0))


def test_an_invented_source_is_fabricated_by_the_store_that_is_named() -> None:
    lie = forged(traced(), "Heron Hall is the best of all.")
    assert Verifier(witness(CORPUS)).find(lie) == Finding(
        "fabricated", "neighbor 'b' is not in the store, or has another text or other masks there"
    )


def test_an_invented_source_is_not_called_known_drift_by_another_store() -> None:
    lie = forged(traced(), "Heron Hall is the best of all.")
    now = with_text("b", "Heron Hall is closed.")
    assert not Verifier(witness(now)).find(lie).vouched
    # The store that made the row can tell.
    assert Verifier(witness(now), witness(CORPUS)).find(lie).verdict == "fabricated"
    true = Verifier(witness(now), witness(CORPUS)).find(traced())
    assert (true.verdict, true.vouched) == ("drifted", True)


def test_with_the_store_that_made_it_a_row_whose_spans_stand_is_verified() -> None:
    now = witness([*CORPUS, ("d", {"x": "y"}, "One more.")])
    assert Verifier(now, witness(CORPUS)).find(traced()).verdict == "verified"
    assert Verifier(now).find(traced()).verdict == "unchanged"


def test_what_is_not_true_in_itself_is_fabricated_whatever_the_store() -> None:
    row = traced()
    for change in ({"text": row.text.replace("quiet", "noisy")}, {"splices": row.splices[1:]}):
        lie = replace(row, **change)
        for rows in (CORPUS, with_text("b", "Another."), CORPUS[:1]):
            assert found(rows, lie).verdict == "fabricated"


# Traces are traced again


def longer(row: Generation) -> Generation:
    """The same text with a splice more than it needs."""
    first = row.splices[0]
    assert first.end - first.begin > 2
    parts = [
        first._replace(end=first.end - 1),
        Splice(
            first.start + first.end - first.begin - 1,
            first.start + first.end - first.begin - 1,
            first.neighbor,
            first.end - 1,
            first.end,
        ),
    ]
    forged = make_generation(
        id=row.id,
        table=row.table,
        sources=row.sources,
        splices=[*parts, *row.splices[1:]],
        score=0.0,
        status="ok",
        policy="trace",
        run=row.run,
        tokenizer=row.tokenizer,
        attribution="least",
    )
    return replace(forged, traced=row.traced, text=row.text)


def test_a_splice_more_than_needed_is_no_proof() -> None:
    row = traced("The Mill is a quiet pub near the river.")
    lie = longer(row)
    assert found(CORPUS, lie) == Finding("fabricated", "its 2 splices are not the fewest: 1 is enough")
    assert row.traced is not None
    modest = row.traced.certificate._replace(looked_at=2, proved=False)
    assert found(CORPUS, replace(lie, traced=replace(row.traced, certificate=modest))).verdict == "verified"


def test_a_gap_that_stands_in_a_row_is_found() -> None:
    row = witness(CORPUS[:1]).tracer.trace("The Mill is a cheap pub.", id="d")
    assert [row.text[gap.start : gap.stop] for gap in row.gaps] == ["cheap"]
    assert row.traced is not None
    for certificate in (Certificate(3, 3, True), Certificate(3, 2, False)):
        lie = replace(row, run=witness(CORPUS).held.name, traced=replace(row.traced, certificate=certificate))
        finding = found(CORPUS, lie)
        assert finding == Finding("fabricated", "token 4, 'cheap', is said to be a gap, yet has a source")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            lambda said: replace(said, covered=0.5),
            "the share that it says is covered is not that of its words",
        ),
        (
            lambda said: replace(said, certificate=Certificate(4, 4, True)),
            "its certificate is over 4 rows, the store has 3",
        ),
        (lambda said: replace(said, certificate=Certificate(3, 1, True)), "its certificate can't be"),
        (lambda said: replace(said, gaps=()), "its gaps are not the words that stand in no source"),
    ],
)
def test_a_forged_certificate_is_fabricated(change: Callable[[object], object], why: str) -> None:
    row = traced("The Mill is a noisy pub near the old bridge.")
    lie = replace(row, traced=change(row.traced))  # type: ignore[arg-type]
    assert found(CORPUS, lie) == Finding("fabricated", why)


def test_a_source_whose_mask_was_taken_off_is_fabricated() -> None:
    row = traced("The Swan is a quiet pub.", {"name": "The Swan"})
    (neighbor,) = row.sources.neighbors
    assert MASK in neighbor.tokens
    bare = replace(neighbor, tokens=(BEGIN, *tokenize(neighbor.text), END))
    lie = replace(row, sources=replace(row.sources, neighbors=(bare,)))
    assert found(CORPUS, lie).verdict == "fabricated"


words = st.sampled_from("It costs £20 is a quiet noisy pub near the old bridge river , .".split())


@given(st.lists(words, min_size=1, max_size=12), st.booleans(), st.booleans())
def test_honest_traces_are_verified(tokens: list[str], exact: bool, record: bool) -> None:
    row = traced(" ".join(tokens), {"name": "The Swan", "near": "river"} if record else None, exact=exact)
    assert found(CORPUS, row) == Finding("verified")


@given(st.lists(words, min_size=1, max_size=12), st.lists(words, min_size=1, max_size=12))
def test_a_row_has_drifted_just_if_a_span_no_longer_stands(tokens: list[str], changed: list[str]) -> None:
    row = traced(" ".join(tokens))
    text = " ".join(changed)
    if text == CORPUS[1][2]:
        return
    finding = found(with_text("b", text), row)
    after = f" {' '.join(tokenize(text))} "
    lost = [
        span
        for span in finding.spans
        if span.source == "b" and f" {' '.join(tokenize(span.quote))} " not in after
    ]
    # Words alone decide here, since every text has its tokens apart; a mark may stand otherwise.
    if lost:
        assert finding.verdict == "drifted"
    if finding.verdict == "unchanged":
        assert not lost
    assert all(span.quote == row.text[span.start : span.stop] for span in finding.spans)


# Runs and prepared folders


def write_corpus(folder: Path, drop: Iterable[str] = (), change: dict[str, str] | None = None) -> Path:
    folder.mkdir()
    for split in ("train", "dev"):
        lines = (OLD / "corpus" / f"{split}.jsonl").read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        rows = [row | {"text": (change or {}).get(row["id"], row["text"])} for row in rows]
        rows = [row for row in rows if row["id"] not in set(drop)]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{split}.jsonl").write_text(text, encoding="utf-8")
    return folder


def prepared(folder: Path, **changes: object) -> Path:
    source = write_corpus(folder, **changes)  # type: ignore[arg-type]
    config = Config().with_values(
        ["neighbors.k=6", f"corpus.source='{source}'", "corpus.splits=['train','dev']"]
    )
    prepare(config, folder=folder / "prepared", threads=1, quiet=True)
    return folder / "prepared"


def tables() -> list[Table]:
    return [example.table for example in textsplice.read_corpus(str(OLD / "corpus"), "dev")]


def written(path: Path, rows: Iterable[Generation]) -> Path:
    path.write_text("".join(map(row_text, rows)), encoding="utf-8")
    return path


def command(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(map(str, arguments)))
    if isinstance(done.exception, TextspliceError):
        return 2, done.output + done.exception.sentence()
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def test_a_corpus_that_was_edited_and_prepared_again(tmp_path: Path) -> None:
    then = prepared(tmp_path / "then")
    made = list(Splicer.untrained(then).generate_many(tables(), progress=False))
    file = written(tmp_path / "texts.jsonl", made)
    rows = len(made)
    assert command("verify", file, "--run", then)[1].startswith(
        f"{file}: {rows} rows are what they say ({rows} ok): {rows} verified, "
        "0 unchanged, 0 drifted, 0 fabricated."
    )
    used = made[0].sources.neighbors[made[0].splices[0].neighbor - 1].id
    now = prepared(tmp_path / "now", change={used: "Nothing of it is left."})
    code, said = command("verify", file, "--run", now)
    assert code == 3
    name = Splicer.untrained(then).run
    assert f"{file}:1 {made[0].id}: drifted (of {name!r}, a store not known here): " in said
    assert "the text has changed here" in said
    assert " 0 verified, " in said
    assert " 0 fabricated." in said
    assert "what only the store of" in said
    assert "whether that store ever had the texts that" in said
    code, said = command("verify", file, "--run", now, "--before", then)
    assert code == 3
    assert "a store not known here" not in said
    untouched = [row for row in made if used not in {n.id for n in row.sources.neighbors}]
    assert untouched
    file = written(tmp_path / "others.jsonl", untouched)
    assert command("verify", file, "--run", now, "--before", then)[0] == 0
    assert command("verify", file, "--run", now)[0] == 3


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drift") / "full"
    shutil.copytree(OLD / "runs" / "full", folder)
    return folder


@pytest.fixture(scope="module")
def made(run: Path) -> list[Generation]:
    return list(Splicer.load(run).generate_many(tables(), beam=2, progress=False))


def source_of(row: Generation) -> str:
    place = next(p for p in row.provenance if row.sources.numbering.is_neighbor(p.source))
    return row.sources.neighbors[place.source - 1].id


def test_a_run_without_a_text_knows_what_it_had(run: Path, made: list[Generation], tmp_path: Path) -> None:
    source = source_of(made[0])
    run_without(Run.open(run), [source], tmp_path / "one")
    about = json.loads((tmp_path / "one" / "run.json").read_text(encoding="utf-8"))
    jsonschema.validate(about, schemas.load("run"))
    finding = Verifier(Splicer.untrained(tmp_path / "one").witness).find(made[0])
    assert (finding.verdict, finding.vouched) == ("drifted", True)
    assert "the text was withdrawn" in str(finding.why)
    # And so does a run that was made from that one.
    others = {neighbor.id for row in made for neighbor in row.sources.neighbors}
    spare = next(name for name in Run.open(tmp_path / "one").store.ids if name not in others)
    run_without(Run.open(tmp_path / "one"), [spare], tmp_path / "two")
    later = Splicer.untrained(tmp_path / "two").witness
    finding = Verifier(later).find(made[0])
    assert (finding.verdict, finding.vouched) == ("drifted", True)
    for row in made:
        if source not in {n.id for n in row.sources.neighbors}:
            assert Verifier(later).find(row).verdict == "unchanged"


def test_a_run_without_a_text_knows_what_it_never_had(
    run: Path, made: list[Generation], tmp_path: Path
) -> None:
    row = made[0]
    source = source_of(row)
    run_without(Run.open(run), [source], tmp_path / "one")
    verifier = Verifier(Splicer.untrained(tmp_path / "one").witness)
    for name in (source, next(n.id for n in row.sources.neighbors if n.id != source), "invented"):
        value = json.loads(row_text(row))
        for neighbor in value["sources"]["neighbors"]:
            if neighbor["id"] == (name if name != "invented" else source):
                neighbor["id"] = name
                neighbor["text"] += " More"
                neighbor["tokens"][-1:] = ["More", END]
        finding = verifier.find(Generation.from_dict(value))
        assert finding.verdict == "fabricated"
    # A value of a source that is still there, taken out from under its mask.
    still = next(n for n in row.sources.neighbors if n.id != source and MASK in n.tokens)
    bare = replace(still, tokens=(BEGIN, *tokenize(still.text), END))
    unmasked = tuple(bare if n == still else n for n in row.sources.neighbors)
    lie = replace(row, sources=replace(row.sources, neighbors=unmasked))
    assert verifier.find(lie).verdict == "fabricated"
    other = replace(row, weights="0" * 12)
    assert "it was made with the weights" in str(verifier.find(other).why)


@pytest.mark.parametrize("kind", ["full", "lrt", "copy"])
def test_rows_of_version_0_1_drift_too(kind: str, tmp_path: Path) -> None:
    file = OLD / f"{kind}.jsonl"
    assert command("verify", file, "--run", OLD / "runs" / kind)[0] == 0
    now = prepared(tmp_path / "now")
    code, said = command("verify", file, "--run", now)
    assert code == 3
    assert " 0 drifted, 0 fabricated." in said


def test_the_command_goes_on_after_a_fabricated_row_and_counts(tmp_path: Path) -> None:
    corpus, file = tmp_path / "corpus.jsonl", tmp_path / "rows.jsonl"

    def write(rows: Sequence[Row]) -> None:
        lines = [json.dumps({"id": name, "table": table, "text": text}) for name, table, text in rows]
        corpus.write_text("\n".join(lines) + "\n", encoding="utf-8")

    write(CORPUS)
    row = traced()
    lies = [replace(row, id="x", text="Lies."), longer(traced("The Mill is a quiet pub near the river."))]
    written(file, [row, *lies])
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(json.loads(row_text(row)) | {"more": 1}) + "\n")
    code, said = command("verify", file, "--run", corpus)
    assert code == 2
    assert f"{file}:2 x: fabricated: its text is not made of its tokens" in said
    assert f"{file}:3 d: fabricated: its 2 splices are not the fewest: 1 is enough" in said
    assert f"{file}:4: fabricated: more should not be there" in said
    assert f"{file}: 4 rows: 1 verified, 0 unchanged, 0 drifted, 3 fabricated." in said
    write(with_text("b", "Heron Hall is closed."))
    written(file, [row])
    done = CliRunner().invoke(app, ["verify", str(file), "--run", str(corpus), "--json"])
    assert done.exit_code == 3
    value = json.loads(done.output)
    jsonschema.validate(value, schemas.load("verification"))
    assert value["counts"] == {"verified": 0, "unchanged": 0, "drifted": 1, "fabricated": 0}
    (told,) = value["rows"]
    assert (told["id"], told["verdict"], told["vouched"]) == ("d", "drifted", False)
    changed = [span for span in told["spans"] if span["fate"] == "changed"]
    assert {span["source"] for span in changed} == {"b"}


def test_many_rows_are_told_in_few_lines(tmp_path: Path) -> None:
    rows = [replace(traced(), id=f"d{n}\nd", text="Lies.") for n in range(25)]
    file = written(tmp_path / "rows.jsonl", rows)
    code, said = command("verify", file)
    assert code == 2
    assert said.count(": fabricated: ") == 20
    assert "\nd:" not in said  # an id can't begin a line
    assert "… and 5 more; --json lists them all." in said
    done = CliRunner().invoke(app, ["verify", str(file), "--json"])
    assert isinstance(done.exception, VerificationError)
    assert len(json.loads(done.output)["rows"]) == 25


def test_before_needs_a_store_of_today(tmp_path: Path) -> None:
    file = written(tmp_path / "rows.jsonl", [traced()])
    done = CliRunner().invoke(app, ["verify", str(file), "--before", "bundled"])
    assert isinstance(done.exception, ConfigError)
    assert str(done.exception) == "--before: needs the store of today. Name it with --run."
    done = CliRunner().invoke(app, ["verify", str(file), "--run", str(tmp_path / "nowhere")])
    assert isinstance(done.exception, TextspliceError)


def test_a_row_of_a_corpus_is_a_trace() -> None:
    row = traced()
    lie = replace(row, policy="oracle", attribution="exact", traced=None, search=None)
    assert found(CORPUS, lie).verdict == "fabricated"


def test_python_traces_again_too(run: Path) -> None:
    splicer = Splicer.untrained(run)
    text = splicer.store.texts[0]
    row = splicer.trace(text)
    assert textsplice.verify(row, splicer) == 1
    with pytest.raises(VerificationError, match="its 2 splices are not the fewest: 1 is enough"):
        textsplice.verify(longer(row), splicer)


def test_a_trace_of_the_same_texts_with_other_masks_has_drifted() -> None:
    """A corpus whose table has changed masks other words: it is another store."""
    row = traced("The Swan is a quiet pub near the river.", {"name": "The Swan"})
    changed = [(name, {**table, "kind": "quiet pub"}, text) for name, table, text in CORPUS]
    assert witness(changed).held.name != witness(CORPUS).held.name
    assert found(changed, row).verdict == "drifted"
    assert Verifier(witness(changed), witness(CORPUS)).find(row).vouched


def withdrawn(tmp_path: Path) -> tuple[Splicer, Splicer, str]:
    """A run, the run without one of its texts, and that text's id."""
    folder = tmp_path / "full"
    shutil.copytree(OLD / "runs" / "full", folder)
    run = Run.open(folder)
    name = next(id_ for id_, row in zip(run.store.ids, run.store.tokens, strict=True) if 4 in row)
    run_without(run, [name], tmp_path / "without")
    return Splicer.load(folder), Splicer.load(tmp_path / "without"), name


def test_a_withdrawn_text_with_its_masks_taken_off_is_fabricated(tmp_path: Path) -> None:
    before, after, name = withdrawn(tmp_path)
    row = before.store.ids.index(name)
    masked = before._offers.neighbor(row)
    honest = before.trace(masked.text, before.store.tables[int(before.store.table_of[row])].to_record())
    assert Verifier(after.witness).find(honest).verdict in ("drifted", "unchanged")
    bare = replace(masked, tokens=(BEGIN, *tokenize(masked.text, before.store.tokenizer), END))
    assert MASK in masked.tokens
    neighbors = tuple(bare if each.id == name else each for each in honest.sources.neighbors)
    lie = replace(honest, sources=replace(honest.sources, neighbors=(*neighbors, bare)))
    assert after.witness.held.invented(lie) == bare


def test_an_earlier_store_is_no_excuse_for_gaps_and_certificates(tmp_path: Path) -> None:
    before, after, name = withdrawn(tmp_path)
    kept = [pair for pair in zip(before.store.ids, before.store.texts, strict=True) if pair[0] != name]
    (_, text), other = kept[0], kept[-1]
    row = before.trace(text)
    assert Verifier(after.witness).find(row).verdict == "unchanged"
    assert row.traced is not None
    many = replace(row, traced=replace(row.traced, certificate=Certificate(10**9, 10**9, True)))
    assert Verifier(after.witness).find(many).verdict == "fabricated"
    elsewhere = Tracer(SourceTexts.of_examples([Example(other[0], Table.of({"a": "b"}), other[1])], "words"))
    gaps = elsewhere.trace(text)
    assert row.traced.certificate.rows == len(before.store)
    assert gaps.traced is not None
    certificate = row.traced.certificate
    lie = replace(
        gaps, run=row.run, tokenizer=row.tokenizer, traced=replace(gaps.traced, certificate=certificate)
    )
    finding = Verifier(after.witness).find(lie)
    assert finding.verdict == "fabricated"
    assert "is said to be a gap, yet has a source" in str(finding.why)


@pytest.mark.parametrize("text", ["Zorblat’s² walk is quiet.", "Zorbl'll3 is near.", "Anna’s½ a pub"])
def test_what_is_one_word_only_in_its_text_is_a_gap_that_verifies(text: str) -> None:
    row = traced(text)
    assert row.gaps
    assert found(CORPUS, row) == Finding("verified")


@pytest.mark.parametrize(
    "change",
    [
        {"status": "unfinished", "reason": "the policy did not end the text"},
        {"rules": ({"rule": "copy-only"},)},
        {"score": -17.5},
        {"status": "abstained", "reason": "no", "text": "", "tokens": (), "splices": (), "provenance": ()},
    ],
)
def test_a_trace_says_nothing_that_no_trace_says(change: dict[str, object]) -> None:
    lie = replace(traced(), **change)  # type: ignore[arg-type]
    assert found(CORPUS, lie).verdict == "fabricated"
    with pytest.raises(VerificationError):
        textsplice.verify(lie)


def test_what_is_kept_has_no_say_in_what_is_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever can write to the cache folder could make a word stand there."""
    from textsplice.trace import opening

    corpus = tmp_path / "c.jsonl"
    corpus.write_text('{"id": "a", "table": {"f": "v"}, "text": "Hello world."}\n')
    (tmp_path / "t.txt").write_text("Jello world.\n")
    examples = [Example("a", Table.of({"f": "v"}), "Jello world.")]
    SourceTexts.of_examples(examples, "words").save(tmp_path / "forged")
    monkeypatch.setattr(opening, "find_kept", lambda _key: tmp_path / "forged")
    args = ["trace", str(corpus), str(tmp_path / "t.txt"), "--out", str(tmp_path / "t.jsonl"), "-q"]
    assert CliRunner().invoke(app, args).exit_code == 0
    assert json.loads((tmp_path / "t.jsonl").read_text())["trace"]["gaps"] == []
    result = CliRunner().invoke(app, ["verify", str(tmp_path / "t.jsonl"), "--run", str(corpus)])
    assert " 0 verified" in result.output
