"""Each experiment is one command that leaves JSON, Markdown and, where it helps, figures."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest
from typer.testing import CliRunner

from textsplice.cli.experiment import app
from textsplice.config import Config
from textsplice.corpus import Example, Table, read_corpus
from textsplice.errors import ConfigError, CorpusError, InputError, MissingExtraError
from textsplice.evaluate.experiments import automatic, neighbor_curve
from textsplice.evaluate.experiments.automatic import outcomes
from textsplice.evaluate.experiments.control import control
from textsplice.evaluate.experiments.interpretability import interpretability
from textsplice.evaluate.experiments.leakage import Shaped, find_leak, leaks
from textsplice.evaluate.experiments.record import commit_of
from textsplice.evaluate.experiments.systems import Request, generate_texts, read_tables
from textsplice.oracle.sources import OfferedNeighbor, Sources
from textsplice.oracle.splice import Splice
from textsplice.policy.problem import Draft
from textsplice.prepare import prepare
from textsplice.report.run import read_run
from textsplice.search.generation import Generation, make_generation
from textsplice.search.rules import MinSentences, Rule
from textsplice.splicer import Splicer
from textsplice.text.linearize import linearize
from textsplice.text.tokens import BEGIN, END
from textsplice.training import train

TINY = (
    "neighbors.k=4",
    "vocabulary.generate_min_count=1",
    "vocabulary.embed_min_count=1",
    "policy.d_model=16",
    "policy.heads=2",
    "policy.ffn=16",
    "policy.encoder_layers=1",
    "policy.decoder_layers=1",
    "training.max_steps=3",
    "training.warmup_steps=1",
    "training.learning_rate=3e-3",
    "training.batch_sequences=8",
    "training.micro_sequences=8",
    "training.validate_sequences=4",
    "training.processes=1",
    "training.precision=float32",
    "search.beam=2",
    "search.max_splices=3",
    "search.start_neighbors=2",
    "search.batch_size=4",
)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A slice of the bundled corpus, so that preparing takes a moment."""
    folder = tmp_path_factory.mktemp("experiments")
    for split, count in (("train", 200), ("dev", 30), ("test", 10)):
        rows = [
            json.dumps({"id": e.id, "table": e.table.to_record(), "text": e.text})
            for e, _ in zip(read_corpus("bundled", split), range(count), strict=False)
        ]
        (folder / f"{split}.jsonl").write_text("\n".join(rows), encoding="utf-8")
    config = Config().with_values([f'corpus.source="{folder}"', *TINY])
    prepare(config, folder=folder / "prepared", threads=1, quiet=True)
    return folder / "prepared"


@pytest.fixture(scope="module")
def runs(prepared: Path) -> dict[str, Path]:
    """A run of each kind, trained for three steps: what it writes is no English, but it is a run."""
    folders = {kind: prepared.parent / kind for kind in ("full", "lrt", "copy")}
    for kind, folder in folders.items():
        values = [f'corpus.source="{prepared.parent}"', *TINY, f"policy.kind={kind}"]
        output = [f'output.prepared="{prepared}"', f'output.run="{folder}"']
        train(Config().with_values([*values, *output]), quiet=True)
    return folders


def run(*arguments: str | Path) -> None:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None:
        raise result.exception
    assert result.exit_code == 0


def read(path: Path) -> dict[str, object]:
    return json.loads(path.read_text(encoding="utf-8"))


def write(path: Path, generations: list[Generation]) -> None:
    rows = [json.dumps(generation.to_dict()) + "\n" for generation in generations]
    path.write_text("".join(rows), encoding="utf-8")


def test_automatic_scores_a_system_and_keeps_its_texts(prepared: Path, tmp_path: Path) -> None:
    common = ("--references", prepared, "--metrics", "BLEU", "--lexicon", "bundled", "--limit", "4")
    run("automatic", f"swap={prepared}", *common, "--out", tmp_path)
    [system] = read(tmp_path / "automatic.json")["systems"]
    assert system["name"] == "swap"
    assert system["items"] == 4
    assert 0 < system["scores"][0]["value"] <= 1
    assert (tmp_path / "automatic.md").read_text(encoding="utf-8").count("| swap |") == 1
    # The texts it kept are a system too, with the same score.
    run("automatic", f"again={tmp_path / 'swap.jsonl'}", *common, "--out", tmp_path / "again")
    [again] = read(tmp_path / "again" / "automatic.json")["systems"]
    assert again["scores"] == system["scores"]


def test_interpretability_of_swap_is_one_neighbor_and_all_copied(prepared: Path, tmp_path: Path) -> None:
    run("interpretability", f"swap={prepared}", "--references", prepared, "--limit", "5", "--out", tmp_path)
    [swap] = read(tmp_path / "interpretability.json")["systems"]
    assert swap["neighbors"] == 1.0
    assert swap["copied"] == 1.0
    assert swap["splices"] > 3


def test_the_neighbor_curve_has_a_point_a_number_and_two_figures(prepared: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    options = ("--ks", "1,4", "--metric", "BLEU", "--limit", "4", "--out", tmp_path)
    run("neighbor-curve", f"swap={prepared}", "--references", prepared, *options)
    lines = read(tmp_path / "neighbor-curve.json")["lines"]
    assert [point["neighbors"] for point in lines["swap"]] == [1, 4]
    assert all(point["signature"].startswith("BLEU|refs:") for point in lines["swap"])
    assert (tmp_path / "neighbor-curve.png").read_bytes()[:4] == b"\x89PNG"
    assert "<svg" in (tmp_path / "neighbor-curve.svg").read_text(encoding="utf-8")


def test_control_counts_sentences_with_and_without_rules(prepared: Path, tmp_path: Path) -> None:
    options = ("--limit", "5", "--no-figure", "--out", tmp_path)
    run("control", f"swap={prepared}", "--references", prepared, *options)
    rows = read(tmp_path / "control.json")["rows"]
    assert [row["rules"] for row in rows] == [
        "no rule",
        "only such neighbors",
        "and no sentence replaced",
        "and never fewer",
    ]
    # Swap only changes values, so texts keep the sentences of their neighbors.
    assert rows[1]["share"] == 1.0 - rows[1]["abstained"] / 5
    assert rows[3]["share"] == 1.0 - rows[3]["abstained"] / 5


def test_an_abstention_is_a_failure_of_control(prepared: Path) -> None:
    splicer = Splicer.untrained(prepared)
    table = Table.of({"name": "Nowhere Round"})
    never = list(splicer.generate_many([table], rules=[MinSentences(50)], progress=False))
    assert never[0].status == "abstained"
    found = control("swap", "fifty", never)
    assert (found.share, found.abstained, found.outputs) == (0.0, 1, 1)
    assert interpretability("swap", never).examples == 0


def test_exclusion_compares_what_training_and_testing_see(prepared: Path, tmp_path: Path) -> None:
    run("exclusion", prepared, "--run", f"swap={prepared}", "--limit", "3", "--out", tmp_path)
    data = read(tmp_path / "exclusion.json")
    [splits] = data["prepared"].values()
    assert splits["train"]["same_table"] == 0.0
    assert data["runs"][0]["name"] == "swap"


def test_samples_stand_beside_a_reference_with_their_derivations(prepared: Path, tmp_path: Path) -> None:
    options = ("--count", "2", "--lexicon", "bundled", "--out", tmp_path)
    run("samples", f"swap={prepared}", "--references", prepared, *options)
    found = read(tmp_path / "samples.json")["samples"]
    assert len(found) == 2
    assert found[0]["texts"]["swap"] in (tmp_path / "swap-derivations.txt").read_text().replace("\n", " ")


def test_a_leak_is_counted_with_its_most_frequent_form_first() -> None:
    train = Shaped(["A is b.", "C is d.", "E."], ["name: is x:", "name: is x:", "name:"])
    asked = Shaped(["F.", "G is h.", "A is b.", "?"], ["name:", "name: is x:", "name: is x:", "?"])
    found = find_leak("dev", asked, train)
    assert (found.leaked, found.share, found.word_for_word) == (3, 0.75, 1)
    assert found.train_rows_concerned == 3
    first = found.worst[0]
    assert (first.shape, first.in_split, first.in_train) == ("name: is x:", 2, 2)
    assert (first.text, first.train_text) == ("G is h.", "A is b.")


@pytest.mark.data
@pytest.mark.slow
def test_the_test_set_of_e2e_is_contaminated_and_its_dev_set_is_not(e2e_folder: Path) -> None:
    dev, test = leaks(f"e2e:{e2e_folder}")
    assert test.share == pytest.approx(0.720, abs=0.001)
    assert dev.share == pytest.approx(0.044, abs=0.002)


def test_a_corpus_and_its_prepared_folder_leak_the_same(prepared: Path) -> None:
    assert leaks(str(prepared)) == leaks(str(prepared.parent))


def test_one_file_leaks_as_prepare_cuts_it(tmp_path: Path) -> None:
    rows = [{"table": {"name": f"Route {n}"}, "said": f"Route {n} is a walk."} for n in range(40)]
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    dev, test = leaks(str(path), text_column="said")
    assert (dev.split, test.split) == ("dev", "test")
    assert 0 < dev.references == dev.leaked < 20


def test_bad_input_is_a_sentence(prepared: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^two systems are called 'prepared'\. Give names: NAME=PATH\.$"):
        run("automatic", prepared, prepared, "--references", prepared, "--out", tmp_path)
    with pytest.raises(ConfigError, match=r"^--ks: '1,x' is not a list of numbers such as 1,5,20\.$"):
        run("neighbor-curve", prepared, "--references", prepared, "--ks", "1,x", "--out", tmp_path)
    empty = tmp_path / "few.jsonl"
    example = next(iter(read_corpus("bundled", "train")))
    generation = Splicer.untrained(prepared).generate(Example("x", example.table, None))
    empty.write_text(json.dumps(generation.to_dict()) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"has texts for 0 of 2 tables\. Ask for fewer with --limit"):
        run("automatic", empty, "--references", prepared, "--limit", "2", "--out", tmp_path)


def test_runs_of_every_kind_are_scored_each_split_in_its_folder(
    runs: dict[str, Path], prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    common = ("--references", prepared, "--metrics", "BLEU", "--limit", "3", "--no-marg")
    for split in ("dev", "test"):
        run("automatic", *runs.values(), f"swap={prepared}", *common, "--split", split)
    dev, test = (read(tmp_path / "experiments" / "automatic" / s / "automatic.json") for s in ("dev", "test"))
    names = ["full", "lrt", "lrt-no-marg", "copy", "swap"]
    assert [each["name"] for each in test["systems"]] == names
    about = test["about"]
    assert (about["references"], about["split"], about["items"]) == (str(prepared), "test", 3)
    assert about["references_hash"] == test["systems"][0]["scores"][0]["hash"]
    assert about["references_hash"] != dev["about"]["references_hash"]
    made = {each["name"]: each for each in about["runs"]}
    assert [each["policy"] for each in made.values()] == ["full", "lrt", "lrt", "copy", "swap"]
    assert made["full"]["run"] == read(runs["full"] / "run.json")["id"]
    assert made["full"]["search"]["beam"] == 2
    assert [made[name]["search"]["marginalize"] for name in ("lrt", "lrt-no-marg")] == [True, False]
    rows = [json.loads(line) for line in Path(made["lrt-no-marg"]["rows"]).read_text().splitlines()]
    assert [row["attribution"] for row in rows] == ["exact"] * 3


def test_what_became_of_outputs_is_counted_if_anything_did(prepared: Path, tmp_path: Path) -> None:
    splicer = Splicer.untrained(prepared)
    items = read_tables(str(prepared), "dev", 3)
    examples = [Example(item.ids[0], item.table, None) for item in items if item.table is not None]
    good, other = list(splicer.generate_many(examples[:2], progress=False))
    [never] = splicer.generate_many(examples[2:], rules=[MinSentences(50)], progress=False)
    never = replace(never, rules=())  # as if a policy had found nothing by itself
    stopped = replace(other, status="unfinished", reason="the policy did not end the text")
    assert outcomes([good, stopped, never]) == {"abstained": 1, "unfinished": 1, "empty": 1}
    write(tmp_path / "some.jsonl", [good, stopped, never])
    options = ("--references", prepared, "--metrics", "BLEU", "--limit", "3", "--out", tmp_path / "out")
    run("automatic", tmp_path / "some.jsonl", *options)
    [system] = read(tmp_path / "out" / "automatic.json")["systems"]
    assert system["outputs"] == {"abstained": 1, "unfinished": 1, "empty": 1}
    text = (tmp_path / "out" / "automatic.md").read_text(encoding="utf-8")
    assert "| texts with one | abstained | unfinished | empty |" in text
    run("automatic", f"swap={prepared}", *options)
    assert "abstained" not in (tmp_path / "out" / "automatic.md").read_text(encoding="utf-8")


def test_set_changes_the_search_and_only_the_search(
    runs: dict[str, Path], prepared: Path, tmp_path: Path
) -> None:
    common = ("--references", prepared, "--metrics", "BLEU", "--limit", "2", "--out", tmp_path)
    run("automatic", runs["full"], *common, "--set", "search.beam=1", "--set", "search.choose=likelihood")
    [made] = read(tmp_path / "automatic.json")["about"]["runs"]
    assert (made["search"]["beam"], made["search"]["choose"], made["search"]["max_splices"]) == (
        1,
        "likelihood",
        3,
    )
    assert "beam 1, max_splices 3" in (tmp_path / "automatic.md").read_text(encoding="utf-8")
    rows = (tmp_path / "full.jsonl").read_bytes()
    with pytest.raises(ConfigError, match=r"^--set: 'neighbors.k=1' is not a setting of the search"):
        run("automatic", runs["full"], *common, "--set", "neighbors.k=1")
    with pytest.raises(ConfigError, match=r"^--set: files of generations can't be searched again\.$"):
        run("automatic", tmp_path / "full.jsonl", *common, "--set", "search.beam=1")
    with pytest.raises(ConfigError, match=r"full\.jsonl:1: was made otherwise: search\.beam was 1, not 2"):
        run("automatic", runs["full"], *common, "--set", "search.choose=likelihood")
    assert (tmp_path / "full.jsonl").read_bytes() == rows


@dataclass(frozen=True)
class Interrupted(Rule):
    """A rule during which somebody presses Ctrl-C, at one table."""

    table: Table
    name: ClassVar[str] = "interrupted"

    def violation(self, draft: Draft) -> str | None:
        if draft.sources.table == linearize(self.table):
            raise KeyboardInterrupt
        return None

    def to_dict(self) -> dict[str, object]:
        return {"rule": self.name}


def test_rows_are_written_as_they_come(prepared: Path, tmp_path: Path) -> None:
    items = read_tables(str(prepared), "dev", 3)
    assert items[2].table is not None
    splicer = Splicer.untrained(prepared)
    with pytest.raises(KeyboardInterrupt):
        generate_texts(
            "swap",
            splicer,
            Request(items, tmp_path),
            splicer.config.search,
            rules=[Interrupted(items[2].table)],
        )
    rows = (tmp_path / "swap.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(row)["id"] for row in rows] == [item.ids[0] for item in items[:2]]


@pytest.mark.parametrize(
    ("command", "file", "options"),
    [
        ("automatic", "full.jsonl", ("--limit", "4", "--metrics", "BLEU")),
        ("interpretability", "full.jsonl", ("--limit", "4")),
        (
            "neighbor-curve",
            "full-k2.jsonl",
            ("--limit", "4", "--ks", "1,2", "--metric", "BLEU", "--no-figure"),
        ),
        ("control", "full-at-least-3.jsonl", ("--limit", "4", "--no-figure")),
        ("samples", "full.jsonl", ("--count", "4")),
    ],
)
def test_an_experiment_that_was_interrupted_is_taken_up_again(
    runs: dict[str, Path], prepared: Path, tmp_path: Path, command: str, file: str, options: tuple[str, ...]
) -> None:
    arguments = (command, runs["full"], "--references", prepared, *options, "--out", tmp_path)
    run(*arguments)
    results = read(tmp_path / f"{command}.json")
    whole = (tmp_path / file).read_bytes()
    lines = whole.splitlines(keepends=True)
    assert len(lines) == 4
    # The mark shows that the first two rows are not made anew.
    marked = b"".join(lines[:2]).replace(b'"reason": null', b'"reason": "marked"')
    marked = marked.replace(b'"reason": "the policy did not end the text"', b'"reason": "marked"')
    (tmp_path / file).write_bytes(marked + lines[2][:100])
    run(*arguments)
    again = (tmp_path / file).read_bytes().splitlines(keepends=True)
    assert again[:2] == marked.splitlines(keepends=True)
    assert again[2:] == lines[2:]
    taken_up = read(tmp_path / f"{command}.json")
    taken_up["about"]["commit"] = results["about"]["commit"]  # somebody may be committing
    assert taken_up == results


def test_rows_of_other_weights_are_not_taken_up(
    runs: dict[str, Path], prepared: Path, tmp_path: Path
) -> None:
    common = ("interpretability", runs["full"], "--references", prepared, "--limit", "2", "--out", tmp_path)
    run(*common)
    rows = tmp_path / "full.jsonl"
    weights = json.loads(rows.read_text(encoding="utf-8").splitlines()[0])["weights"]
    other = rows.read_text(encoding="utf-8").replace(f'"weights": "{weights}"', '"weights": "0123456789ab"')
    rows.write_text(other, encoding="utf-8")
    with pytest.raises(
        ConfigError,
        match=rf"full\.jsonl:1: was made otherwise: weights was '0123456789ab', not '{weights}'\.",
    ):
        run(*common)
    assert rows.read_text(encoding="utf-8") == other


def test_the_neighbor_curve_searches_as_the_paper_does_unless_told_otherwise(
    runs: dict[str, Path], prepared: Path, tmp_path: Path
) -> None:
    options = ("--ks", "1,3", "--metric", "BLEU", "--limit", "3", "--no-figure", "--out")
    run("neighbor-curve", *runs.values(), "--references", prepared, *options, tmp_path / "paper")
    data = read(tmp_path / "paper" / "neighbor-curve.json")
    paper = {"beam": 5, "choose": "likelihood", "start_neighbors": 1, "slots_first": False}
    for made in data["about"]["runs"]:
        assert paper.items() <= made["search"].items()
    assert [made["name"] for made in data["about"]["runs"]] == [
        "full-k1",
        "full-k3",
        "lrt-k1",
        "lrt-k3",
        "copy",
    ]
    for line in data["lines"].values():
        assert [point["neighbors"] for point in line] == [1, 3]
        assert all(point["signature"].startswith("BLEU|refs:") for point in line)
    for k in (1, 3):
        rows = (tmp_path / "paper" / f"full-k{k}.jsonl").read_text(encoding="utf-8").splitlines()
        assert max(len(json.loads(row)["sources"]["neighbors"]) for row in rows) == k
    text = (tmp_path / "paper" / "neighbor-curve.md").read_text(encoding="utf-8")
    assert (
        "Searched as in the paper (beam 5, likelihood, one start neighbor), whatever the runs' settings."
        in text
    )
    changed = ("--set", "search.start_neighbors=2")
    run("neighbor-curve", runs["full"], "--references", prepared, *options, tmp_path / "own", *changed)
    data = read(tmp_path / "own" / "neighbor-curve.json")
    assert [made["search"]["start_neighbors"] for made in data["about"]["runs"]] == [2, 2]
    text = (tmp_path / "own" / "neighbor-curve.md").read_text(encoding="utf-8")
    assert "whatever the runs' settings, except for search.start_neighbors=2." in text


def test_control_of_runs_keeps_texts_under_their_rules(
    runs: dict[str, Path], prepared: Path, tmp_path: Path
) -> None:
    options = ("--split", "test", "--limit", "2", "--least", "2", "--no-figure", "--out", tmp_path)
    run("control", *runs.values(), "--references", prepared, *options)
    data = read(tmp_path / "control.json")
    assert [row["system"] for row in data["rows"]] == ["full"] * 4 + ["lrt"] * 4 + ["copy"] * 4
    assert data["about"]["split"] == "test"
    rows = (tmp_path / "full-at-least-2-kept.jsonl").read_text(encoding="utf-8").splitlines()
    rules = [rule["rule"] for rule in json.loads(rows[0])["rules"]]
    assert rules == ["neighbors-where", "keep-sentences"]
    for row in data["rows"][3::4]:  # by the rule: every text that is given
        assert row["share"] == 1.0 - row["abstained"] / row["outputs"]


def test_samples_of_runs_of_every_kind(runs: dict[str, Path], prepared: Path, tmp_path: Path) -> None:
    options = ("--split", "test", "--count", "2", "--lexicon", "bundled", "--out", tmp_path)
    run("samples", *runs.values(), "--references", prepared, *options)
    data = read(tmp_path / "samples.json")
    assert [list(sample["texts"]) for sample in data["samples"]] == [["full", "lrt", "copy"]] * 2
    assert data["slot_signature"].startswith("slots|lexicon:bundled@")
    assert data["slot_signature"] in (tmp_path / "samples.md").read_text(encoding="utf-8")
    # Another seed asks for other tables: what is there stays, and the others are added.
    before = (tmp_path / "full.jsonl").read_bytes()
    run("samples", *runs.values(), "--references", prepared, *options, "--seed", "2")
    assert (tmp_path / "full.jsonl").read_bytes().startswith(before)


def test_interpretability_of_runs(runs: dict[str, Path], prepared: Path, tmp_path: Path) -> None:
    options = ("--split", "test", "--limit", "3", "--no-marg", "--out", tmp_path)
    run("interpretability", *runs.values(), "--references", prepared, *options)
    data = read(tmp_path / "interpretability.json")
    found = {each["system"]: each for each in data["systems"]}
    assert list(found) == ["full", "lrt", "lrt-no-marg", "copy"]
    assert [each["attribution"] for each in found.values()] == [
        "exact",
        "most-probable",
        "exact",
        "most-probable",
    ]
    for name in ("lrt", "copy"):
        rows = [json.loads(line) for line in (tmp_path / f"{name}.jsonl").read_text().splitlines()]
        told = [row for row in rows if row["status"] != "abstained"]
        assert found[name]["examples"] == len(told)
        assert found[name]["splices"] == sum(len(row["tokens"]) for row in told) / max(1, len(told))


def left_to_right() -> Generation:
    """`Cotto is nice`, a splice a token; the end comes from a neighbor that gave no word."""
    table = Table.of({"name": "Cotto"})
    neighbors = (
        OfferedNeighbor("a", "It is.", (BEGIN, "It", "is", ".", END)),
        OfferedNeighbor("b", "Good.", (BEGIN, "Good", ".", END)),
    )
    return make_generation(
        id="a",
        table=table,
        sources=Sources(linearize(table), neighbors, {2: BEGIN, 7: "nice"}),
        splices=[
            Splice(0, 0, 5, 0, 1),
            Splice(1, 1, 0, 1, 2),
            Splice(2, 2, 1, 2, 3),
            Splice(3, 3, 10, 0, 1),
            Splice(4, 4, 2, 3, 4),
        ],
        score=-1.0,
        status="ok",
        policy="lrt",
        run="r",
        tokenizer="words",
        attribution="most-probable",
    )


def test_begin_and_end_are_no_splices_of_a_text_from_left_to_right(tmp_path: Path) -> None:
    made = left_to_right()
    assert made.text == "Cotto is nice"
    found = interpretability("lrt", [made])
    assert (found.splices, found.neighbors) == (3.0, 1.0)
    assert (found.copied, found.from_table) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    write(tmp_path / "lrt.jsonl", [made])
    habits = read_run(tmp_path / "lrt.jsonl").habits
    assert habits is not None
    assert (habits.splices, habits.neighbors) == (3.0, 1.0)
    # The same text with two splices in another order: each of them is a step that a reader reads.
    first, second, third, fourth, end = made.splices
    early_end = end._replace(start=1, stop=1)
    inserted = make_generation(
        id="a",
        table=made.table,
        sources=made.sources,
        splices=[first, early_end, second, third, fourth],
        score=-1.0,
        status="ok",
        policy="lrt",
        run="r",
        tokenizer="words",
    )
    assert inserted.text == made.text
    found = interpretability("any", [inserted])
    assert (found.splices, found.neighbors) == (5.0, 2.0)


def test_scores_of_exclusion_carry_their_signatures(prepared: Path, tmp_path: Path) -> None:
    run("exclusion", prepared, "--run", f"swap={prepared}", "--limit", "3", "--out", tmp_path)
    text = (tmp_path / "exclusion.md").read_text(encoding="utf-8")
    for score in read(tmp_path / "exclusion.json")["runs"][0]["scores"]:
        assert f"`{score['signature']}`" in text


def test_slot_errors_carry_the_hash_of_the_lexicon(prepared: Path, tmp_path: Path) -> None:
    common = ("--references", prepared, "--metrics", "BLEU", "--limit", "2", "--out", tmp_path)
    lexicon = tmp_path / "mine.toml"
    signatures: list[str] = []
    for wording in ("round trip", "circle"):
        lexicon.write_text(f'[shape.wordings]\nloop = ["{wording}"]\n', encoding="utf-8")
        run("automatic", f"swap={prepared}", *common, "--lexicon", lexicon)
        signatures.append(read(tmp_path / "automatic.json")["systems"][0]["slot_signature"])
        assert f"`{signatures[-1]}`" in (tmp_path / "automatic.md").read_text(encoding="utf-8")
    assert all(signature.startswith(f"slots|lexicon:{lexicon}@") for signature in signatures)
    assert signatures[0] != signatures[1]


def test_what_a_metric_lacks_is_said_before_texts_are_made(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    common = (f"swap={prepared}", "--references", prepared, "--out", tmp_path / "out")
    for command, option in (("automatic", "--metrics"), ("neighbor-curve", "--metric")):
        with pytest.raises(MissingExtraError, match=r"^ROUGE_L needs .* choose other metrics"):
            run(command, *common, option, "ROUGE_L")
    with pytest.raises(CorpusError, match=r"nowhere\.toml"):
        run("automatic", *common, "--metrics", "BLEU", "--lexicon", "nowhere.toml")
    assert not (tmp_path / "out").exists()


def test_the_commit_is_that_of_the_code_and_not_of_a_folder_around_it(tmp_path: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("there is no git here")
    assert commit_of(tmp_path / "code.py") is None

    def git(*arguments: str) -> str:
        who = ("-c", "user.name=n", "-c", "user.email=e@example.org")
        done = subprocess.run(
            ["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    code = tmp_path / "code.py"
    code.write_text("1", encoding="utf-8")
    (tmp_path / "installed.py").write_text("1", encoding="utf-8")
    git("init", "-q")
    git("add", "code.py")
    git("commit", "-qm", "One.")
    assert commit_of(code) == git("rev-parse", "HEAD")
    assert commit_of(tmp_path / "installed.py") is None
    code.write_text("2", encoding="utf-8")
    assert commit_of(code) == git("rev-parse", "HEAD") + "-dirty"


def test_two_texts_of_one_table_are_refused(prepared: Path, tmp_path: Path) -> None:
    [item] = read_tables(str(prepared), "dev", 1)
    assert item.table is not None
    made = Splicer.untrained(prepared).generate(Example("x", item.table, None))
    path = tmp_path / "two.jsonl"
    options = ("--references", prepared, "--metrics", "BLEU", "--limit", "1", "--out", tmp_path)
    write(path, [made, replace(made, id="y")])
    run("automatic", path, *options)
    write(path, [made, replace(made, id="y", text="Another.")])
    with pytest.raises(
        InputError, match=r"two\.jsonl:2: there is another text for the same table at .*two\.jsonl:1\."
    ):
        run("automatic", path, *options)
    write(path, [made, replace(made, id="y", run="other")])
    with pytest.raises(
        InputError, match=r"two\.jsonl:2: was made otherwise than the first row: run was 'other', not"
    ):
        run("automatic", path, *options)


def test_remedies_name_options_that_exist(runs: dict[str, Path], prepared: Path, tmp_path: Path) -> None:
    few = tmp_path / "few.jsonl"
    [item] = read_tables(str(prepared), "test", 1)
    assert item.table is not None
    write(few, [Splicer.untrained(prepared).generate(Example("x", item.table, None))])
    with pytest.raises(InputError, match=r"few\.jsonl: has texts for 0 of 2 tables\. Generate the others\.$"):
        run("samples", few, "--references", prepared, "--count", "2", "--out", tmp_path)
    by_id = tmp_path / "references.jsonl"
    by_id.write_text('{"id": "a", "text": "Cotto."}\n', encoding="utf-8")
    with pytest.raises(
        InputError, match=r"these references have ids and no tables\. Experiments need tables"
    ):
        run("automatic", f"swap={prepared}", "--references", by_id, "--out", tmp_path)
    for given in (few, runs["full"], prepared):
        with pytest.raises(ConfigError, match=r"^--no-marg: none of the systems is an LRT run\.$"):
            run("automatic", given, "--references", prepared, "--no-marg", "--out", tmp_path)
    with pytest.raises(ConfigError, match=r"few\.jsonl: is a file, but new texts are needed\."):
        run("control", few, "--references", prepared, "--out", tmp_path)
    with pytest.raises(ConfigError, match=r"nowhere: does not exist\."):
        run(
            "automatic", f"swap={prepared}", tmp_path / "nowhere", "--references", prepared, "--out", tmp_path
        )
    assert not (tmp_path / "swap.jsonl").exists()


COMMANDS: dict[str, tuple[str, ...]] = {
    "automatic": ("--metrics", "BLEU", "--limit", "2"),
    "interpretability": ("--limit", "2"),
    "neighbor-curve": ("--ks", "1", "--metric", "BLEU", "--limit", "2"),
    "control": ("--limit", "2"),
    "samples": ("--count", "2"),
    "exclusion": (),
    "leakage": (),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_experiment_overwrites_a_file_that_it_did_not_write(
    prepared: Path, tmp_path: Path, command: str
) -> None:
    pytest.importorskip("matplotlib")
    references = () if command in ("exclusion", "leakage") else ("--references", prepared)
    arguments = (command, prepared, *references, *COMMANDS[command], "--out", tmp_path)
    mine = tmp_path / f"{command}.md"
    mine.write_text("my notes", encoding="utf-8")
    with pytest.raises(ConfigError) as raised:
        run(*arguments)
    assert raised.value.sentence() == (
        f"{mine}: already exists and was not written by this command."
        " Move it away, or name another folder with --out."
    )
    # Nothing else was written either, and no text was generated.
    assert [path.name for path in tmp_path.iterdir()] == [mine.name]
    mine.unlink()
    run(*arguments)
    results = {path.name for path in tmp_path.iterdir()}
    run(*arguments)
    assert {path.name for path in tmp_path.iterdir()} == results
    for path in tmp_path.iterdir():
        if path.suffix in (".md", ".svg", ".txt"):
            path.write_text("changed by hand", encoding="utf-8")
            with pytest.raises(ConfigError, match=rf"{path.name}: was changed after this command wrote it\."):
                run(*arguments)
            assert path.read_text(encoding="utf-8") == "changed by hand"
            path.unlink()
            run(*arguments)


def test_rows_are_not_added_to_a_file_that_is_not_ours(prepared: Path, tmp_path: Path) -> None:
    file = tmp_path / "swap.jsonl"
    common = ("automatic", f"swap={prepared}", "--references", prepared, "--metrics", "BLEU", "--limit", "1")
    for content, message in (
        ("no line break at the end", r"swap\.jsonl: is not a file of generations\."),
        ('{"text": "mine"}\n', r"swap\.jsonl:1: was made otherwise: it does not say its run\."),
        ("mine\n", r"swap\.jsonl:1: is not JSON"),
    ):
        file.write_text(content, encoding="utf-8")
        with pytest.raises((ConfigError, InputError), match=message):
            run(*common, "--out", tmp_path)
        assert file.read_text(encoding="utf-8") == content


def test_an_experiment_is_a_function_of_splicers(prepared: Path, tmp_path: Path) -> None:
    splicer = Splicer.untrained(prepared)
    found = automatic.run(
        {"swap": splicer, "again": lambda: splicer},
        str(prepared),
        out=tmp_path / "scores",
        metrics=["bleu"],
        limit=3,
    )
    one, two = found.data["systems"]
    assert one["scores"] == two["scores"]
    assert found.markdown == (tmp_path / "scores" / "automatic.md").read_text(encoding="utf-8")
    rows = tmp_path / "scores" / "swap.jsonl"
    again = automatic.run(
        {"swap": rows}, str(prepared), out=tmp_path / "again", metrics=["BLEU"], lexicon="none", limit=3
    )
    assert again.data["systems"][0]["scores"] == one["scores"]
    assert again.data["systems"][0]["slots"] is None
    curve = neighbor_curve.run(
        {"swap": splicer.with_neighbors},
        str(prepared),
        out=tmp_path / "curve",
        numbers=[1, 2],
        metric="BLEU",
        limit=2,
        figure=False,
    )
    assert [point["neighbors"] for point in curve.data["lines"]["swap"]] == [1, 2]
