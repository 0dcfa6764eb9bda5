"""`Splicer` and the commands around it: whole path, bad input, and going on after an interruption."""

from __future__ import annotations

import json
import shutil
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer import Typer
from typer.testing import CliRunner

import textsplice
from saved_runs import forget_hashes, save_run
from search_world import beginner, prepared, splicer, tables
from textsplice.cli import explain, generate, verify
from textsplice.errors import InputError, StorageError, TextspliceError, VerificationError
from textsplice.files import file_hash
from textsplice.neighbors.store import Store
from textsplice.policy.checkpoint import save_policy
from textsplice.policy.full.policy import FullPolicy
from textsplice.ragged import Ragged
from textsplice.runs import Run
from textsplice.search.pipeline import LATER
from textsplice.search.rows import open_rows
from textsplice.search.rules import CopyOnly
from textsplice.search.verify import find_lie
from textsplice.splicer import Splicer


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run's folder with an untrained policy."""
    folder = tmp_path_factory.mktemp("run")
    maker = splicer("full", 3)
    return save_run(folder, maker.config, prepared(), maker.policy)


@pytest.fixture
def damaged(run_folder: Path, tmp_path: Path) -> Path:
    """A copy of the run to be damaged."""
    return Path(shutil.copytree(run_folder, tmp_path / "run"))


def command(*arguments: object) -> tuple[int, str]:
    """Runs a command as `textsplice` does; the exit code and everything it said."""
    app = Typer()
    for module in (generate, verify, explain):
        module.register(app)
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(result.exception, TextspliceError):
        return 2, result.exception.sentence()
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


@pytest.fixture
def input_file(tmp_path: Path) -> Path:
    path = tmp_path / "tables.jsonl"
    rows = [{"id": f"w{i}", "table": table.to_record()} for i, table in enumerate(tables()[:6])]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_loaded_run_gives_what_the_policy_gave(run_folder: Path) -> None:
    loaded = Splicer.load(run_folder).generate(tables()[1])
    made = splicer("full", 3).generate(tables()[1])
    assert (loaded.text, loaded.splices, loaded.run) == (made.text, made.splices, "0123456789ab")


def test_generate_writes_a_row_a_table_and_verify_finds_them_true(
    run_folder: Path, input_file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    assert command("generate", run_folder, input_file, "--out", out, "--copy-only")[0] == 0
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [row["id"] for row in rows] == [f"w{i}" for i in range(6)]
    assert rows[0]["rules"] == [{"rule": "copy-only"}]
    code, said = command("verify", out, "--run", run_folder, "--tables", input_file)
    assert code == 0
    assert said.startswith(f"{out}: 6 rows are what they say (")


def test_resume_goes_on_after_half_a_row_to_the_same_file(input_file: Path, tmp_path: Path) -> None:
    out, folder = tmp_path / "out.jsonl", prepared().folder
    command("generate", folder, input_file, "--out", out)
    whole = out.read_bytes()
    out.write_bytes(whole[: len(whole) // 2])
    code, said = command("generate", folder, input_file, "--out", out, "--resume")
    assert code == 0
    assert "were there already" in said
    assert out.read_bytes() == whole


def test_a_file_that_is_there_is_not_overwritten(input_file: Path, tmp_path: Path) -> None:
    out, folder = tmp_path / "out.jsonl", prepared().folder
    command("generate", folder, input_file, "--out", out)
    said = command("generate", folder, input_file, "--out", out)
    assert said == (2, f"{out}: the file is there already. Go on with --resume, or name another file.")
    said = command("generate", folder, input_file, "--out", out, "--resume", "--forbid", "x")
    assert said == (2, f"{out}:1: was made otherwise: under other rules. Name another file.")


def test_rows_say_how_they_were_searched_for_and_with_which_weights(run_folder: Path) -> None:
    maker = Splicer.load(run_folder)
    row = maker.generate(tables()[0], beam=2).to_dict()
    settings = {**maker.config.to_dict()["search"], "beam": 2}
    for name in ("batch_size", "device", "judge", *LATER):  # the last are not said if they are the defaults
        del settings[name]
    assert row["search"] == settings
    assert row["weights"] == file_hash(run_folder / "model.safetensors")[:12]
    assert "weights" not in Splicer.untrained(run_folder).generate(tables()[0]).to_dict()


def test_resume_refuses_rows_of_other_settings(input_file: Path, tmp_path: Path) -> None:
    out, folder = tmp_path / "out.jsonl", prepared().folder
    command("generate", folder, input_file, "--out", out, "--limit", "2", "--beam", "2")
    again = ("generate", folder, input_file, "--out", out, "--resume", "--limit", "3")
    said = "was made otherwise: search.beam was 2, not 4. Name another file."
    assert command(*again, "--beam", "4") == (2, f"{out}:1: {said}")
    said = "was made otherwise: search.choose was 'typical', not 'consensus'. Name another file."
    assert command(*again, "--beam", "2", "--set", "search.choose=consensus") == (2, f"{out}:1: {said}")
    assert len(out.read_text(encoding="utf-8").splitlines()) == 2
    # No text depends on how many tables are searched at once.
    assert command(*again, "--beam", "2", "--batch-size", "1")[0] == 0
    assert len(out.read_text(encoding="utf-8").splitlines()) == 3


def test_resume_refuses_rows_that_do_not_say_their_settings(input_file: Path, tmp_path: Path) -> None:
    out, folder = tmp_path / "out.jsonl", prepared().folder
    command("generate", folder, input_file, "--out", out, "--limit", "1")
    row = json.loads(out.read_text(encoding="utf-8"))
    del row["search"]
    out.write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert command("generate", folder, input_file, "--out", out, "--resume") == (
        2,
        f"{out}:1: was made otherwise: it does not say its search. Name another file.",
    )
    code, said = command("verify", out, "--run", folder)
    assert code == 2
    assert said.endswith("it does not say its search settings.")


def test_resume_refuses_rows_of_other_weights_and_verify_names_them(
    damaged: Path, input_file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    before = file_hash(damaged / "model.safetensors")[:12]
    command("generate", damaged, input_file, "--out", out, "--limit", "1", "--beam", "1")
    other = splicer("full", 4).policy
    assert other is not None
    save_policy(other, Run.open(damaged))
    now = file_hash(damaged / "model.safetensors")[:12]
    assert command("generate", damaged, input_file, "--out", out, "--resume", "--beam", "1") == (
        2,
        f"{out}:1: was made otherwise: weights was {before!r}, not {now!r}. Name another file.",
    )
    assert command("verify", out)[0] == 0
    code, said = command("verify", out, "--run", damaged)
    assert code == 2
    assert said.endswith(f"it was made with the weights {before}, the run has {now}.")


def test_resume_and_verify_refuse_another_table_under_the_same_id(input_file: Path, tmp_path: Path) -> None:
    out, folder = tmp_path / "out.jsonl", prepared().folder
    command("generate", folder, input_file, "--out", out)
    rows = [json.loads(line) for line in input_file.read_text(encoding="utf-8").splitlines()]
    rows[1]["table"]["name"] = "Another Walk"
    input_file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert command("generate", folder, input_file, "--out", out, "--resume") == (
        2,
        f"{out}:2: the table of row 'w1' is another one in the input. "
        "Name another file, or give the tables it was made from.",
    )
    said = f"{out}, row 1: row 'w1' has another table."
    assert command("verify", out, "--tables", input_file) == (2, said)


def test_a_blank_line_in_a_resumed_file_is_passed_over(input_file: Path, tmp_path: Path) -> None:
    out, folder = tmp_path / "out.jsonl", prepared().folder
    command("generate", folder, input_file, "--out", out, "--limit", "2")
    out.write_bytes(b"\n" + out.read_bytes() + b"  \n")
    assert command("generate", folder, input_file, "--out", out, "--resume", "--limit", "3")[0] == 0
    assert command("verify", out, "--tables", input_file)[1] == f"{out}, row 3: row 'w3' is missing."
    said = command("generate", folder, input_file, "--out", out, "--resume", "--forbid", "x")[1]
    assert said.startswith(f"{out}:2: was made otherwise")


@pytest.mark.parametrize("resume", [["--resume"], []])
def test_a_folder_is_no_file_to_write_to(input_file: Path, tmp_path: Path, resume: list[str]) -> None:
    said = command("generate", prepared().folder, input_file, "--out", tmp_path, *resume)
    assert said == (
        2,
        f"{tmp_path}: is a folder, not a file. Name a file; without --out, rows go to standard output.",
    )


def test_approved_ids_that_are_no_text_are_refused(input_file: Path, tmp_path: Path) -> None:
    approved = tmp_path / "ids.txt"
    approved.write_bytes(b"train-\xff\n")
    said = command("generate", prepared().folder, input_file, "--approved", approved)
    assert said == (
        2,
        f"{approved}: is not UTF-8 text: byte 0xff at byte 6. Write one id per line, as UTF-8.",
    )


def test_generate_changes_settings_of_the_search_only(input_file: Path) -> None:
    code, said = command("generate", prepared().folder, input_file, "--set", "neighbors.k=5")
    assert (code, "'neighbors.k=5'" in said) == (2, True)


@pytest.mark.parametrize("record", ["5", "[1]", "null", '"name"'])
def test_explain_refuses_what_is_no_record(record: str) -> None:
    folder = prepared().folder
    said = (
        f"{folder}: {record!r} is not a record: the line is not a JSON object."
        """ Write it as JSON: '{"name": "Blue Spice"}'."""
    )
    assert command("explain", folder, record) == (2, said)


def test_verify_exits_with_2_at_a_changed_word(input_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    command("generate", prepared().folder, input_file, "--out", out)
    row = json.loads(out.read_text(encoding="utf-8").splitlines()[0])
    text, row["text"] = row["text"], "Lies."
    out.write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert command("verify", out) == (
        2,
        f"{out}:1, row 'w0': its text is not what its splices make: {text!r}.",
    )


def test_explain_shows_the_canvases(input_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    command("generate", prepared().folder, input_file, "--out", out)
    code, said = command("explain", out, "w1", "--as", "plain")
    assert code == 0
    assert "1. starts with" in said
    assert command("explain", out, "nobody") == (2, f"{out}: there is no row 'nobody'.")


def test_unknown_fields_and_words_are_spliced_like_others() -> None:
    record = {"name": "Zyx Qwv", "flavour": "umami"}
    for kind in ("full", "lrt", "copy"):
        maker = splicer(kind, 1)
        generation = maker.generate(record)
        assert find_lie(generation, maker.proof) is None


def empty_splicer() -> Splicer:
    """No texts to splice from at all."""
    maker = splicer("full", 3)
    maker.store = Store.build(
        ids=[],
        texts=[],
        tokens=Ragged.from_rows([]),
        table_of=np.zeros(0, dtype=np.int32),
        tables=[],
        offered=np.zeros(0, dtype=np.bool_),
        commonness=np.zeros(0),
        tokenizer="words",
        fold=frozenset(),
    )
    return Splicer(
        store=maker.store,
        vocabulary=maker.vocabulary,
        config=maker.config,
        policy=maker.policy,
        run="empty",
    )


def test_an_empty_store_leaves_the_table_and_the_vocabulary() -> None:
    maker = empty_splicer()
    generation = maker.generate(tables()[0])
    assert generation.sources.neighbors == ()
    assert find_lie(generation, maker.proof) is None
    maker.policy = None
    swapped = maker.generate(tables()[0])
    assert (swapped.status, swapped.reason) == ("abstained", "no text of the store may be spliced from")


def test_no_neighbors_and_no_words_of_its_own_leave_only_values() -> None:
    maker = empty_splicer()
    generation = maker.generate(tables()[0], rules=[CopyOnly()])
    assert find_lie(generation, maker.proof) is None
    assert {place.source for place in generation.provenance} <= {0}


def test_a_beam_of_0_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        splicer().generate(tables()[0], beam=0)
    assert str(caught.value) == "beam is 0: nothing could be found. Use 1 or more."


@pytest.fixture(scope="module")
def judge_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of kind copy whose policy has learned a little."""
    maker = beginner(kind="copy")
    return save_run(tmp_path_factory.mktemp("judge"), maker.config, prepared(), maker.policy)


def test_a_judge_changes_the_choice_but_no_derivation(judge_folder: Path) -> None:
    plain = beginner(0.0, 0, "search.slots_first=false", "search.beam=4")
    judged = beginner(0.0, 0, "search.slots_first=false", "search.beam=4", f"search.judge='{judge_folder}'")
    before = list(plain.generate_many(tables()[:12], progress=False))
    after = list(judged.generate_many(tables()[:12], progress=False, batch_size=5))
    judge = Splicer.load(judge_folder)
    assert sum(one.text != other.text for one, other in zip(before, after, strict=True)) > 0
    for one, other in zip(before, after, strict=True):
        assert find_lie(other, judged.proof) is None
        if one.text != other.text:  # what the judge does not like better, it does not ask for
            worse, better = judge.likelihoods(one.table, [one.text, other.text])
            assert better > worse
    assert all("judge" not in (one.search or {}) for one in before)
    assert {(one.search or {})["judge"] for one in after} == {judge.weights}


def test_likelihoods_are_of_the_same_text_however_many_stand_beside_it(judge_folder: Path) -> None:
    judge = Splicer.load(judge_folder)
    texts = [generation.text for generation in judge.generate_many(tables()[:6], progress=False)]
    together = judge.likelihoods(tables()[0], texts)
    alone = [judge.likelihoods(tables()[0], [text])[0] for text in texts]
    assert together == pytest.approx(alone, abs=1e-4)
    assert together.index(max(together)) == 0


def test_judges_that_can_not_judge_are_refused(run_folder: Path, judge_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Use a run of kind lrt or copy"):
        beginner(0.0, 0, f"search.judge='{run_folder}'").generate(tables()[0])
    with pytest.raises(StorageError, match="is not the folder of a run"):
        beginner(0.0, 0, f"search.judge='{tmp_path}'").generate(tables()[0])
    with pytest.raises(InputError, match="a judge has no say"):
        beginner(0.0, 0, "search.choose=likelihood", f"search.judge='{judge_folder}'").generate(tables()[0])


def test_a_table_without_fields_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        splicer().generate({})
    assert str(caught.value) == "the table has no field."


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageError) as caught:
        Splicer.load(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}: is not the folder of a run: it has no run.json that `textsplice train` wrote. "
        "Train one with `textsplice train CONFIG`."
    )


@pytest.mark.parametrize("about", ["[]", "5", "{}", '{"id": 5}'])
def test_a_run_json_that_does_not_say_what_made_it_is_refused(damaged: Path, about: str) -> None:
    (damaged / "run.json").write_text(about, encoding="utf-8")
    with pytest.raises(StorageError, match="is not a finished prepared folder"):
        Splicer.untrained(damaged)


def test_a_run_of_another_version_is_refused(damaged: Path) -> None:
    forget_hashes(damaged)
    config = json.loads((damaged / "config.json").read_text(encoding="utf-8"))
    (damaged / "config.json").write_text(json.dumps({**config, "format_version": 9}), encoding="utf-8")
    with pytest.raises(StorageError) as caught:
        Splicer.load(damaged)
    assert str(caught.value).startswith(
        f"{damaged / 'config.json'}: is a policy of format 9; this version reads 1 and 2."
    )


def test_truncated_weights_are_refused(damaged: Path) -> None:
    weights = damaged / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    forget_hashes(damaged)
    with pytest.raises(StorageError) as caught:
        Splicer.load(damaged)
    assert str(caught.value).startswith(f"{weights}: is no sound safetensors file")


def test_a_pickle_is_never_read(damaged: Path) -> None:
    forget_hashes(damaged)
    (damaged / "model.safetensors").unlink()
    (damaged / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(StorageError) as caught:
        Splicer.load(damaged)
    assert str(caught.value) == (
        f"{damaged / 'model.safetensors'}: is missing; pytorch_model.bin is a pickle, which is never read. "
        "Copy it again from its run, or train again."
    )


@pytest.mark.parametrize(
    "saying",
    [
        "DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes",
        "DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes",
        "CUDA out of memory. Tried to allocate 9 bytes",
    ],
)
def test_a_batch_that_is_out_of_memory_is_halved_and_says_so(
    saying: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = FullPolicy.propose

    def small_machine(policy, problems, *rest):
        if len(problems) > 2:
            raise RuntimeError(saying)
        return real(policy, problems, *rest)

    wanted = [g.splices for g in splicer("full", 3).generate_many(tables()[:5])]
    monkeypatch.setattr(FullPolicy, "propose", small_machine)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = [g.splices for g in splicer("full", 3).generate_many(tables()[:5], batch_size=5)]
    assert found == wanted
    assert str(caught[0].message) == "out of memory with 5 tables at once; going on with 2."


def test_settings_default_to_those_of_the_run() -> None:
    made = [splicer("full", 3, f"search.max_splices={most}").generate(tables()[2]) for most in (2, 9)]
    assert [len(generation.splices) for generation in made] == [2, 9]


def test_another_number_of_neighbors_changes_nothing_else() -> None:
    maker = splicer("full", 3)
    fewer = maker.with_neighbors(2)
    assert len(fewer.generate(tables()[0]).sources.neighbors) == 2
    assert fewer.encodings is maker.encodings
    assert len(maker.generate(tables()[0]).sources.neighbors) == 8


def test_a_splicer_says_what_kind_it_is() -> None:
    kinds = [splicer(kind).kind for kind in ("full", "lrt", "copy")] + [Splicer.untrained(prepared()).kind]
    assert [kind.name for kind in kinds] == ["full", "lrt", "copy", "swap"]
    assert [kind.uses_neighbors for kind in kinds] == [True, True, False, True]
    assert [kind.sums_occurrences for kind in kinds] == [False, True, True, False]


def test_swap_can_not_judge() -> None:
    with pytest.raises(InputError) as caught:
        Splicer.untrained(prepared()).likelihoods(tables()[0], ["A walk."])
    assert str(caught.value) == "swap has no policy. Train one with `textsplice train CONFIG`."


def test_verify_from_python_counts_rows_and_names_the_first_lie(
    run_folder: Path, input_file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "texts.jsonl"
    assert command("generate", run_folder, input_file, "--out", out, "--beam", "1")[0] == 0
    assert textsplice.verify(out, run_folder) == 6
    maker = Splicer.load(run_folder)
    generation = next(g for g in maker.generate_many(tables(), progress=False) if g.text)
    assert textsplice.verify(generation) == textsplice.verify([generation], maker) == 1
    with pytest.raises(VerificationError, match="its text is not what its splices make"):
        textsplice.verify(replace(generation, text="Something else."))


def test_a_file_that_is_not_one_of_generations_is_never_cut(
    run_folder: Path, input_file: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "notes.txt"
    mine.write_text("my notes, without a line break")
    said = command("generate", run_folder, input_file, "--out", mine, "--resume")
    assert said == (
        2, f"{mine}: is not a file of generations. Name another file; this one was not changed."
    )  # fmt: skip
    assert mine.read_text() == "my notes, without a line break"


def test_a_file_of_one_brace_is_not_one_of_generations(
    run_folder: Path, input_file: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.json"
    mine.write_text("{")
    assert command("generate", run_folder, input_file, "--out", mine, "--resume")[0] == 2
    assert mine.read_text() == "{"


def test_a_last_row_without_its_line_feed_is_a_row_like_any_other(
    run_folder: Path, input_file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "texts.jsonl"
    command("generate", run_folder, input_file, "--out", out, "--limit", "2", "--beam", "1")
    before = out.read_text(encoding="utf-8")
    out.write_text(before.rstrip("\n"), encoding="utf-8")
    assert (
        command("generate", run_folder, input_file, "--out", out, "--resume", "--limit", "2", "--beam", "1")[
            0
        ]
        == 0
    )
    assert out.read_text(encoding="utf-8") == before
    foreign = before.splitlines()[0].replace('"run": "', '"run": "f')
    out.write_text(foreign, encoding="utf-8")
    assert command("generate", run_folder, input_file, "--out", out, "--resume", "--beam", "1")[0] == 2
    assert out.read_text(encoding="utf-8") == foreign


def test_two_writers_of_one_file_are_refused(run_folder: Path, input_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "texts.jsonl"
    with open_rows(out):
        said = command("generate", run_folder, input_file, "--out", out)
    assert said == (2, f"{out}: another process is writing to this file. Name another file.")
