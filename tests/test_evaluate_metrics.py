"""Scores equal those of the E2E challenge's script, and say how they were made."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from textsplice.corpus import read_corpus
from textsplice.errors import ConfigError, InputError, MissingExtraError
from textsplice.evaluate.metrics.metric import mean_of_sums, means, metric_named
from textsplice.evaluate.outputs import items_of
from textsplice.evaluate.score import Measurement, Score, measure, score
from textsplice.evaluate.significance import compare
from textsplice.extensions import METRICS

# What the challenge's own Perl and Java programs print for texts made from the E2E dev set.
GOLDEN: dict[str, dict[str, float]] = {
    "whole": {"BLEU": 0.5995, "NIST": 8.5789, "METEOR": 0.4498, "ROUGE_L": 0.6528, "CIDEr": 1.8543},
    "cut": {"BLEU": 0.5060, "NIST": 6.3191, "METEOR": 0.3479, "ROUGE_L": 0.5746, "CIDEr": 1.1751},
}


def first_references(folder: Path, *, cut: bool) -> tuple[list[str], list[tuple[str, ...]]]:
    """The first reference of each table as output, the others as references."""
    items = items_of(read_corpus(f"e2e:{folder}", "dev"))
    assert len(items) == 547
    outputs = [item.references[0] for item in items]
    if cut:
        outputs = [" ".join(text.split()[: int(0.75 * len(text.split()))]) for text in outputs]
    return outputs, [item.references[1:] or item.references for item in items]


@pytest.mark.data
@pytest.mark.parametrize("case", ["whole", "cut"])
def test_bleu_and_nist_equal_the_scripts(e2e_folder: Path, case: str) -> None:
    outputs, references = first_references(e2e_folder, cut=case == "cut")
    for each in score(outputs, references, ["BLEU", "NIST"]):
        assert round(each.value, 4) == GOLDEN[case][each.metric]


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("case", ["whole", "cut"])
def test_meteor_rouge_l_and_cider_equal_the_scripts(e2e_folder: Path, case: str) -> None:
    if (missing := metric_named("METEOR").obstacle()) is not None:
        pytest.skip(missing.sentence())
    outputs, references = first_references(e2e_folder, cut=case == "cut")
    for each in score(outputs, references, ["METEOR", "ROUGE_L", "CIDEr"]):
        assert round(each.value, 4) == GOLDEN[case][each.metric]


def test_rouge_l_and_cider_of_a_few_texts_with_an_empty_one_at_the_end() -> None:
    if (missing := metric_named("METEOR").obstacle()) is not None:
        pytest.skip(missing.sentence())
    outputs = ["The Vaults is a pub.", "Cotto is a cheap\ncoffee shop.", ""]
    references = [["The Vaults is a pub."], ["Cotto is a coffee shop.", "A cheap café."], ["Zizzi is a pub."]]
    rouge, cider = measure(outputs, references, ["ROUGE_L", "CIDEr"])
    assert rouge.statistics[:, 0].tolist() == pytest.approx([1.0, 0.9242, 0.0], abs=1e-4)
    assert cider.statistics[2, 0] == 0.0


@pytest.mark.slow
def test_empty_outputs_score_nothing_and_leave_the_others_as_they_are() -> None:
    if (missing := metric_named("METEOR").obstacle()) is not None:
        pytest.skip(missing.sentence())
    references = [["Zizzi rocks."], ["The Vaults is a pub."], ["Cotto is a cheap coffee shop."], ["A café."]]
    outputs = ["", "The Vaults is a pub.", "Cotto is a cheap coffee shop.", ""]
    for each in measure(outputs, references, ["METEOR", "ROUGE_L", "CIDEr"]):
        first, second, third, fourth = each.statistics[:, 0].tolist()
        assert first == fourth == 0.0
        assert second > 0.5
        assert third > 0.5
        assert 0.0 < each.score.value < max(second, third)


MISSING_MEMORY = "Error: Could not reserve enough space"


def fake_java(folder: Path, script: str) -> Path:
    """A `java` that does what the script says."""
    path = folder / "java"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("script", "message"),
    [
        # The tokenizer, which runs first, does not work either.
        (
            "exit 1",
            "Java ended before the tokenizer was done: see its output above. Check that `java -version`",
        ),
        # The tokenizer works (it prints the file it is given), and METEOR does not.
        (
            f'for last; do :; done; [ "$1" = -cp ] && exec cat "$last"; echo "{MISSING_MEMORY}" >&2; exit 1',
            f"Java ended before METEOR was done: {MISSING_MEMORY}. Check that `java -version` works and that",
        ),
    ],
    ids=["tokenizer", "METEOR"],
)
def test_when_java_dies_the_command_says_so_and_ends(script: str, message: str, tmp_path: Path) -> None:
    pytest.importorskip("pycocoevalcap", reason="METEOR's programs come with pycocoevalcap")
    references = tmp_path / "refs.jsonl"
    references.write_text("".join(f'{{"id": "{n}", "text": "Text {n} is here."}}\n' for n in range(500)))
    command = [
        sys.executable,
        "-m",
        "textsplice",
        "evaluate",
        str(references),
        "--references",
        str(references),
    ]
    path = f"{fake_java(tmp_path, script)}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [*command, "--metrics", "METEOR"],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 2
    assert f"error [extra]: {message}" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_only_ascii_letters_are_lowercased() -> None:
    [accented] = score(["THE CAFÉ IS GOOD NOW"], [["the café is good now"]], ["BLEU"])
    [plain] = score(["THE CAFE IS GOOD NOW"], [["the cafe is good now"]], ["BLEU"])
    assert plain.value == pytest.approx(1.0)
    assert accented.value < 0.6


def test_an_item_with_fewer_references_is_not_given_empty_ones() -> None:
    import sacrebleu

    outputs = ["a b c d e", "f g h i"]
    references = [["a b c d", "a b c d e f g h"], ["f g h i j k l m n"]]
    [ours] = score(outputs, references, ["BLEU"])
    without = sacrebleu.corpus_bleu(outputs, [["a b c d", "f g h i j k l m n"], ["a b c d e f g h", None]])
    with_empty = sacrebleu.corpus_bleu(outputs, [["a b c d", "f g h i j k l m n"], ["a b c d e f g h", ""]])
    assert ours.value * 100 == pytest.approx(without.score)
    assert without.score != pytest.approx(with_empty.score)


def test_nist_by_hand() -> None:
    # Five reference words, "a" twice: a gives log2(5/2), b and c log2(5); "a b" log2(2/1), "b c" and the
    # trigram "a b c" nothing, since each follows from what stands before it.
    [found] = score(["a b c"], [["a b c a d"]], ["NIST"])
    ratio = 3 / 5
    from math import exp, log, log2

    penalty = exp(-log(2) / log(1.5) ** 2 * log(ratio) ** 2)
    assert found.value == pytest.approx(penalty * ((log2(2.5) + 2 * log2(5)) / 3 + log2(2) / 2))


def test_rouge_4_takes_the_best_reference() -> None:
    pytest.importorskip("rouge_score")
    [found] = score(["a b c d e"], [["x y z w", "a b c d q"]], ["ROUGE_4"])
    assert found.value == pytest.approx(0.5)


def test_a_signature_says_how_the_number_was_made() -> None:
    [found] = score(["a b"], [["a b", "b"]], ["BLEU"], data="mine/dev")
    assert str(found.signature).startswith("BLEU|refs:2|case:lower-ascii|tok:13a|data:mine/dev@")
    assert "sacrebleu-" in found.signature.version
    [other] = score(["a b"], [["a b", "c"]], ["BLEU"], data="mine/dev")
    assert found.signature.hash != other.signature.hash


def test_outputs_and_references_of_different_length_are_refused() -> None:
    with pytest.raises(InputError, match=r"^there are 1 outputs and 2 items of references\. Each item needs"):
        score(["a"], [["a"], ["b"]], ["BLEU"])


def test_without_java_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pycocoevalcap")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingExtraError) as raised:
        score(["a"], [["a"]], ["METEOR"])
    assert raised.value.sentence() == (
        "METEOR needs Java, and there is no `java` on the PATH. Install a Java runtime (Debian and Ubuntu:"
        " `apt install default-jre-headless`), or choose other metrics, such as BLEU and NIST."
    )


def test_bleu_needs_neither_java_nor_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    for name in ("pycocoevalcap", "rouge_score", "statsmodels", "scipy", "matplotlib"):
        monkeypatch.setitem(sys.modules, name, None)
    assert score(["a b c d"], [["a b c d"]], ["BLEU"])[0].value == pytest.approx(1.0)


def test_an_unknown_metric_names_the_nearest() -> None:
    assert metric_named("rouge-l").name == "ROUGE_L"
    with pytest.raises(ConfigError, match=r"there is no metric 'BLEUE'. Did you mean 'BLEU'\?"):
        metric_named("BLEUE")


def test_each_metric_is_listed_by_its_own_name_and_only_shares_are_percentages() -> None:
    assert [metric_named(name).name for name in METRICS] == list(METRICS)
    assert [name for name in METRICS if not metric_named(name).is_share] == ["NIST", "CIDEr"]


def test_an_extra_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textsplice.evaluate.metrics.metric.find_spec", lambda _: None)
    for name, package in (("ROUGE_4", "rouge-score"), ("CIDEr", "pycocoevalcap")):
        with pytest.raises(MissingExtraError) as raised:
            score(["a"], [["a"]], [name])
        assert raised.value.sentence() == (
            f"{name} needs {package}, which is not installed. Install it with `pip install"
            " 'textsplice[eval]'`, or choose other metrics, such as BLEU and NIST."
        )


def test_a_system_does_not_differ_from_itself_and_differs_from_a_worse_one() -> None:
    references = [[f"item {n} is a very good thing to have in {n}"] for n in range(60)]
    good = [texts[0] for texts in references]
    bad = [" ".join(text.split()[:-3]) for text in good]
    [same] = measure(good, references, ["BLEU"])
    [worse] = measure(bad, references, ["BLEU"])
    assert compare(same, same).p == 1.0
    found = compare(worse, same, samples=500, seed=1)
    assert found.difference > 0.2
    assert found.low <= found.difference <= found.high
    assert found.p < 0.01
    assert found == compare(worse, same, samples=500, seed=1)


def test_what_is_compared_is_what_is_resampled() -> None:
    # As with METEOR, the corpus's score is not the mean of the items': here it says the opposite.
    [made] = score(["a"], [["a"]], ["BLEU"])
    signature = replace(made.signature, metric="METEOR")
    first = Measurement(Score(0.9, signature), means([0.30, 0.40, 0.35, 0.25] * 10), mean_of_sums)
    second = Measurement(Score(0.1, signature), means([0.40, 0.45, 0.50, 0.35] * 10), mean_of_sums)
    found = compare(first, second)
    assert (found.first, found.second) == pytest.approx((0.325, 0.425))
    assert found.difference == pytest.approx(0.1)
    assert found.low <= found.difference <= found.high
    assert found.p < 0.01


def test_scores_of_different_data_are_not_compared() -> None:
    [one] = measure(["a"], [["a"]], ["BLEU"])
    [other] = measure(["a"], [["b"]], ["BLEU"])
    with pytest.raises(InputError, match=r"^scores with different signatures can't be compared: BLEU\|"):
        compare(one, other)
