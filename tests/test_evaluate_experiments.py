"""Each experiment is one command that leaves JSON, Markdown and, where it helps, figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from textsplice.cli.experiment import app
from textsplice.config import Config
from textsplice.corpus import Example, Table, read_corpus
from textsplice.errors import ConfigError, CorpusError, InputError
from textsplice.evaluate.experiments import control, interpretability
from textsplice.evaluate.leakage import Shaped, find_leak, leaks
from textsplice.prepare import prepare
from textsplice.search.rules import MinSentences
from textsplice.splicer import Splicer


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
    config = Config().with_values([f'corpus.source="{folder}"'])
    prepare(config, folder=folder / "prepared", threads=1, quiet=True)
    return folder / "prepared"


def run(*arguments: str | Path) -> None:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None:
        raise result.exception
    assert result.exit_code == 0


def read(path: Path) -> dict[str, object]:
    return json.loads(path.read_text(encoding="utf-8"))


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
    assert [row["rules"] for row in rows] == ["no rule", "only such neighbours", "and no sentence replaced"]
    # Swap only changes values, so texts keep the sentences of their neighbours.
    assert rows[1]["share"] == 1.0 - rows[1]["abstained"] / 5


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


def test_bad_input_is_a_sentence(prepared: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^two systems are called 'prepared'\. Give names: NAME=PATH\.$"):
        run("automatic", prepared, prepared, "--references", prepared, "--out", tmp_path)
    with pytest.raises(ConfigError, match=r"^--ks: '1,x' is not a list of numbers such as 1,5,20\.$"):
        run("neighbor-curve", prepared, "--references", prepared, "--ks", "1,x", "--out", tmp_path)
    with pytest.raises(CorpusError, match=r"one file has no splits to compare\. Prepare it first"):
        run("leakage", prepared.parent / "dev.jsonl", "--out", tmp_path)
    empty = tmp_path / "few.jsonl"
    example = next(iter(read_corpus("bundled", "train")))
    generation = Splicer.untrained(prepared).generate(Example("x", example.table, None))
    empty.write_text(json.dumps(generation.to_dict()) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"has texts for 0 of 2 tables\. Ask for fewer with --limit"):
        run("automatic", empty, "--references", prepared, "--limit", "2", "--out", tmp_path)
