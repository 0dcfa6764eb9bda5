"""Exports: a run that can be given away, since it holds no texts; it takes them from a prepared folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

import textsplice
from saved_runs import bare_run
from textsplice.cli import app
from textsplice.config import Config, SearchConfig, load_config, to_toml
from textsplice.corpus import Table
from textsplice.errors import InputError, StorageError, TextspliceError, VerificationError
from textsplice.prepare.build import prepare
from textsplice.runs import Export, Prepared, Run, export_run
from textsplice.runs.integrity import signed
from textsplice.runs.portable import portable, portable_signature
from textsplice.search.generation import Generation
from textsplice.splicer import Splicer, verify

OLD = Path(__file__).parent / "data" / "version-0.1"
RUNS, PREPARED = OLD / "runs", OLD / "prepared"
KINDS = ("full", "lrt", "copy")


@pytest.fixture(scope="module")
def tables() -> list[Table]:
    return [example.table for example in textsplice.read_corpus(str(OLD / "corpus"), "dev")][:4]


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an export of each run."""
    folder = tmp_path_factory.mktemp("exports")
    for kind in KINDS:
        export_run(RUNS / kind, folder / kind)
    return folder


@pytest.fixture
def export(exports: Path, tmp_path: Path) -> Path:
    """One that a test may damage."""
    return Path(shutil.copytree(exports / "full", tmp_path / "full"))


@pytest.fixture(scope="module")
def settings() -> Config:
    """With these, the corpus gives the words of the runs again."""
    config = load_config(PREPARED / "config.toml")
    return replace(config, corpus=replace(config.corpus, source=str(OLD / "corpus")))


def made(splicer: Splicer, tables: list[Table], search: SearchConfig | None = None) -> list[Generation]:
    return list(splicer.generate_many(tables, search=search, progress=False))


def contents(folder: Path) -> dict[str, bytes]:
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    return {name: path.read_bytes() if path.is_file() else b"" for name, path in found.items()}


def said(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    if isinstance(result.exception, TextspliceError):
        return 2, result.exception.sentence()
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


@pytest.mark.parametrize("kind", KINDS)
def test_an_export_writes_what_its_run_writes_with_rounded_weights(
    kind: str, exports: Path, tables: list[Table]
) -> None:
    rounded = Splicer.load(RUNS / kind)
    assert rounded.policy is not None
    with torch.no_grad():
        for weight in rounded.policy.parameters():
            weight.copy_(weight.to(torch.bfloat16).float())
    opened = Splicer.load(exports / kind, store=PREPARED)
    assert opened.run == rounded.run
    assert opened.weights != rounded.weights
    for row, other in zip(made(opened, tables), made(rounded, tables), strict=True):
        assert row.weights == opened.weights
        assert replace(row, weights=other.weights) == other


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_an_export_are_verified_with_the_same_export_and_store(
    kind: str, exports: Path, tables: list[Table]
) -> None:
    rows = made(Splicer.load(exports / kind, store=Prepared.open(PREPARED)), tables)
    assert verify(rows, exports / kind, store=PREPARED) == len(tables)
    with pytest.raises(VerificationError, match="it was made with the weights"):
        verify(rows, RUNS / kind)
    own = made(Splicer.load(RUNS / kind), tables)
    with pytest.raises(VerificationError, match="it was made with the weights"):
        verify(own, exports / kind, store=PREPARED)


def test_an_export_holds_neither_texts_nor_values_nor_words(exports: Path) -> None:
    run = Run.open(RUNS / "full")
    values = {value for table in run.store.tables for _, values in table for value in values}
    values = {value for value in values if len(value) > 4}
    assert values
    for name, content in contents(exports / "full").items():
        text = content.decode("utf-8", "replace")
        assert not [each for each in (*run.store.texts, *values) if each in text], name
    assert set(contents(exports / "full")) == {
        *("README.md", "config.json", "config.toml", "export.json", "model.safetensors", "word-ids.json")
    }


def test_an_export_is_half_as_large_and_the_same_every_time(exports: Path, tmp_path: Path) -> None:
    sizes = [(folder / "full" / "model.safetensors").stat().st_size for folder in (RUNS, exports)]
    count = sum(each.numel() for each in Run.open(RUNS / "full").read_weights()[0].values())
    assert sizes[0] - sizes[1] == pytest.approx(2 * count, rel=0.01)  # the header is longer by a little
    again = export_run(RUNS / "full", tmp_path / "full").path
    assert contents(again) == contents(exports / "full")


def test_an_export_stays_as_it_is_when_it_is_used(export: Path, tables: list[Table], tmp_path: Path) -> None:
    before = contents(export)
    splicer = Splicer.load(export, store=PREPARED)
    made(splicer, tables)
    splicer.trace(splicer.store.texts[0])
    code, words = said(
        *("generate", export, OLD / "corpus", "--split", "dev", "--store", PREPARED),
        *("--cache-encodings", "--out", tmp_path / "rows.jsonl"),
    )
    assert (code, words) == (
        2,
        "--cache-encodings: an export stays as it is, so it keeps no encodings. Leave it out.",
    )
    assert contents(export) == before


def test_its_settings_prepare_the_store_it_needs(exports: Path, tables: list[Table], tmp_path: Path) -> None:
    config = load_config(exports / "full" / "config.toml")
    config = replace(config, corpus=replace(config.corpus, source=str(OLD / "corpus")))
    prepared = prepare(config, folder=tmp_path / "prepared", quiet=True)
    ours = Splicer.load(exports / "full", store=prepared)
    assert made(ours, tables) == made(Splicer.load(exports / "full", store=PREPARED), tables)


def test_which_words_may_be_generated_is_the_exports_own_matter(
    exports: Path, tables: list[Table], settings: Config, tmp_path: Path
) -> None:
    """A run that learned from other targets has other such words, over the same store."""
    other = prepare(
        settings.with_values(["vocabulary.generate_min_count=1000"]), folder=tmp_path / "other", quiet=True
    )
    assert other.vocabulary.generate != Run.open(RUNS / "full").vocabulary.generate
    splicer = Splicer.load(exports / "full", store=other)
    assert splicer.vocabulary == Run.open(RUNS / "full").vocabulary
    assert made(splicer, tables) == made(Splicer.load(exports / "full", store=PREPARED), tables)


def test_over_other_texts_of_the_same_words_it_has_another_id(
    exports: Path, tables: list[Table], settings: Config, tmp_path: Path
) -> None:
    """So that rows are never taken for those of the run's own texts."""
    other = prepare(settings.with_values(["text.mask=false"]), folder=tmp_path / "other", quiet=True)
    splicer = Splicer.load(exports / "full", store=other)
    assert splicer.run != Run.open(RUNS / "full").id
    rows = made(splicer, tables)
    assert verify(rows, exports / "full", store=other) == len(rows)
    with pytest.raises(VerificationError, match="it is of run"):
        verify(rows, exports / "full", store=PREPARED)


def test_a_run_can_be_the_store(exports: Path, tables: list[Table]) -> None:
    over_run = Splicer.load(exports / "full", store=RUNS / "lrt")
    assert made(over_run, tables) == made(Splicer.load(exports / "full", store=PREPARED), tables)


def test_judge_and_writers_may_be_exports(exports: Path, tables: list[Table]) -> None:
    names = {
        "judge": str(exports / "copy"),
        "proposers": ("drafts", "policy"),
        "writers": (str(exports / "lrt"),),
    }
    weights = {kind: Export.open(exports / kind).weights_id for kind in KINDS}
    for splicer in (Splicer.load(RUNS / "full"), Splicer.load(exports / "full", store=PREPARED)):
        rows = made(splicer, tables, replace(splicer.config.search, **names))
        assert [row.search["judge"] for row in rows if row.search] == [weights["copy"]] * len(tables)
        assert [row.search["writers"] for row in rows if row.search] == [[weights["lrt"]]] * len(tables)
        assert {row.policy for row in rows} == {"drafts"}
        assert verify(rows, splicer) == len(rows)


def with_judge(folder: Path) -> Path:
    """A run whose settings name a judge and writers by absolute paths."""
    run = Path(shutil.copytree(RUNS / "full", folder / "runs" / "full"))
    config = load_config(run / "config.toml")
    named = replace(config.search, judge=str(folder / "runs/copy"), writers=(str(folder / "runs/lrt"),))
    (run / "config.toml").write_text(to_toml(replace(config, search=named)), encoding="utf-8")
    return run


def test_the_judge_and_the_writers_of_its_run_are_looked_for_beside_it(
    exports: Path, tables: list[Table], tmp_path: Path
) -> None:
    code, words = said("export", with_judge(tmp_path), "--out", tmp_path / "out" / "full")
    assert code == 0
    assert f"It needs the run 'copy' too: export that into {tmp_path / 'out/copy'}." in words
    splicer = Splicer.load(tmp_path / "out" / "full", store=PREPARED)
    with pytest.raises(StorageError) as caught:
        made(splicer, tables)
    assert str(caught.value) == (
        f"{tmp_path / 'out/full'}: search.judge names the run 'copy', but there is no run at "
        f"{tmp_path / 'out/full/../copy'} or copy. Train that run, move it back, or do without it: "
        "--set search.judge=''."
    )
    shutil.copytree(exports / "copy", tmp_path / "out" / "copy")
    with pytest.raises(
        StorageError, match=r"search\.writers names the run 'lrt'.*--set search\.writers=\[\]"
    ):
        made(splicer, tables)
    shutil.copytree(exports / "lrt", tmp_path / "out" / "lrt")
    rows = made(splicer, tables)
    assert {row.search["judge"] for row in rows if row.search} == {Export.open(exports / "copy").weights_id}


def test_no_path_of_the_machine_is_told(tmp_path: Path) -> None:
    run = with_judge(tmp_path)
    config = load_config(run / "config.toml").with_values(
        [f"corpus.source='e2e:{tmp_path}/e2e'", f"output.prepared='{tmp_path}/p'", "output.run='../x/y'"]
    )
    (run / "config.toml").write_text(to_toml(config), encoding="utf-8")
    about = json.loads((run / "run.json").read_text()) | {"command": ["textsplice", str(tmp_path)]}
    (run / "run.json").write_text(json.dumps(about))
    scores = tmp_path / "scores.json"
    scores.write_text(json.dumps(figures(f"{tmp_path}/dev.jsonl", f"{tmp_path}/prepared/e2e/dev")))
    made = export_run(run, tmp_path / "out", figures=[scores])
    for name, content in contents(made.path).items():
        assert str(tmp_path) not in content.decode("utf-8", "replace"), name
    assert made.config.corpus.source == "e2e:data/e2e"
    assert (made.config.output.prepared, made.config.output.run) == ("prepared/p", "runs/y")


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("mine.csv", "mine.csv"),
        ("e2e:data/e2e", "e2e:data/e2e"),
        ("e2e:/home/me/e2e/", "e2e:data/e2e"),
        ("~/mine.csv", "data/mine.csv"),
        ("../mine.csv", "data/mine.csv"),
        ("C:\\Users\\me\\mine.csv", "data/mine.csv"),
        ("bundled", "bundled"),
    ],
)
def test_a_path_out_of_the_working_folder_keeps_its_last_part(path: str, kept: str) -> None:
    assert portable(Config().with_values([f"corpus.source='{path}'"])).corpus.source == kept


def test_a_lexicon_of_ones_own_goes_with_the_export(tmp_path: Path) -> None:
    lexicon = tmp_path / "words.toml"
    lexicon.write_bytes((Path(textsplice.__file__).parent / "slots/lexicons/bundled.toml").read_bytes())
    config = Config().with_values([f"text.lexicon='{lexicon}'", "text.tokenizer=words"])
    assert portable(config).text.lexicon == "lexicon.toml"
    assert portable(Config().with_values(["text.lexicon=e2e"])).text.lexicon == "e2e"


def figures(name: str, data: str) -> dict[str, object]:
    """What `evaluate --json` prints."""
    signature = f"BLEU|refs:1-23|case:lower|tok:13a|data:{data}@0123456789abcdef|version:x"
    return {
        "systems": [
            {
                "name": name,
                "items": 547,
                "scores": [{"metric": "BLEU", "value": 0.70125, "signature": signature}],
                "slots": {"error_rate": 0.0044},
                "slot_signature": "slots|lexicon:e2e@0123|version:y",
                "slot_errors": [{"id": "dev:1", "text": "An output that a person may have written."}],
            }
        ],
        "comparisons": [],
    }


def test_the_card_tells_figures_with_their_signatures_licence_and_note(tmp_path: Path) -> None:
    scores = tmp_path / "scores.json"
    scores.write_text(json.dumps(figures("out/dev.jsonl", "e2e:data/e2e/dev")))
    code, words = said(
        *("export", RUNS / "full", "--out", tmp_path / "my run", "--figures", scores),
        *("--license", "CC BY 4.0", "--note", "Of \x1b[31mwalks."),
    )
    assert code == 0, words
    card = (tmp_path / "my run" / "README.md").read_text(encoding="utf-8")
    assert (
        "| dev.jsonl (547) | BLEU | 0.7013 | "
        "`BLEU\\|refs:1-23\\|case:lower\\|tok:13a\\|data:e2e:data/e2e/dev@0123456789abcdef\\|version:x` |"
    ) in card
    assert "| slot errors | 0.0044 | `slots\\|lexicon:e2e@0123\\|version:y` |" in card
    assert "An output" not in card
    assert "CC BY 4.0" in card
    assert "Of ␛[31mwalks." in card
    assert "60 steps in 0 minutes, seed 1" in card
    assert "28 training texts about 28 tables" in card
    assert "    textsplice generate 'my run' tables.jsonl --store prepared --out texts.jsonl" in card


@pytest.mark.parametrize("content", ["{}", "[]", '{"systems": [{"name": 1}]}', "no JSON", '{"systems": 3}'])
def test_figures_of_another_form_are_refused_and_nothing_is_written(content: str, tmp_path: Path) -> None:
    scores = tmp_path / "scores.json"
    scores.write_text(content)
    with pytest.raises(InputError, match=r"scores\.json: (these are not scores|is not)"):
        export_run(RUNS / "full", tmp_path / "out", figures=[scores])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scores.json"]


def test_a_signature_of_other_data_is_shortened_to_its_last_two_parts() -> None:
    assert portable_signature("B|data:/home/me/prepared/e2e/dev@0a|v") == "B|data:e2e/dev@0a|v"


def test_an_export_needs_a_store_and_a_run_takes_none(exports: Path) -> None:
    with pytest.raises(InputError) as caught:
        Splicer.load(exports / "full")
    assert str(caught.value) == (
        f"{exports / 'full'}: is an export, which has no texts to splice from. "
        "Name the prepared folder of its corpus: --store PREPARED; in Python, store=PREPARED."
    )
    with pytest.raises(InputError, match="is no export, so it takes no texts from"):
        Splicer.load(RUNS / "full", store=PREPARED)
    with pytest.raises(StorageError, match="is an export of a run, which has no texts of its own"):
        Splicer.load(exports / "full", store=exports / "lrt")
    with pytest.raises(StorageError, match="is not a finished prepared folder"):
        Splicer.load(exports / "full", store=OLD)


def test_a_store_of_other_words_or_tokens_is_refused_and_told_how_to_prepare(
    exports: Path, settings: Config, tmp_path: Path
) -> None:
    other = prepare(settings.with_values(["vocabulary.embed_min_count=3"]), folder=tmp_path / "a", quiet=True)
    with pytest.raises(StorageError) as caught:
        Splicer.load(exports / "full", store=other)
    assert str(caught.value) == (
        f"{tmp_path / 'a'}: has other words than the export {exports / 'full'} was trained on. "
        "Prepare its corpus with the same settings: "
        f"`textsplice prepare {exports / 'full/config.toml'} --out FOLDER`."
    )
    spaces = prepare(settings.with_values(["text.tokenizer=spaces"]), folder=tmp_path / "b", quiet=True)
    with pytest.raises(
        StorageError, match=r"has texts of the tokenizer 'spaces'; the export .* needs 'words'"
    ):
        Splicer.load(exports / "full", store=spaces)


def test_what_was_withdrawn_from_a_run_does_not_come_back_with_a_store(tmp_path: Path) -> None:
    from textsplice.trace.withdraw import run_without

    run = Run.open(RUNS / "full")
    gone = run.store.ids[3]
    run_without(run, [gone], tmp_path / "without")
    made = export_run(tmp_path / "without", tmp_path / "out")
    with pytest.raises(StorageError, match=f"holds the text '{gone}', which was withdrawn from the run"):
        Splicer.load(made.path, store=PREPARED)
    assert Splicer.load(made.path, store=tmp_path / "without").run == Run.open(tmp_path / "without").id
    assert "1 text was withdrawn after training" in made.card.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (
            lambda path: (path / "model.safetensors").write_bytes(b"x"),
            "model.safetensors: is damaged or was changed",
        ),
        (lambda path: cut(path / "model.safetensors"), "model.safetensors: is damaged or was changed"),
        (lambda path: (path / "model.safetensors").unlink(), "model.safetensors: "),
        (lambda path: cut(path / "config.toml"), "config.toml: is damaged or was changed"),
        (lambda path: cut(path / "config.json"), "config.json: is damaged or was changed"),
        (lambda path: cut(path / "word-ids.json"), "word-ids.json: is damaged or was changed"),
        (lambda path: cut(path / "export.json"), "is no export, so it takes no texts from"),
        (lambda path: change(path, id="0" * 12), "export.json: is damaged or was changed"),
        (lambda path: change(path, format="textsplice.export/9"), "this version reads 'textsplice.export/1'"),
        (lambda path: change(path, files={}), "export.json: is damaged or was changed"),
        (lambda path: without_hash(path), "export.json: is damaged or was changed"),
    ],
)
def test_a_damaged_export_is_refused_with_a_sentence(
    spoil: Callable[[Path], object], sentence: str, export: Path
) -> None:
    spoil(export)
    with pytest.raises(TextspliceError, match=sentence):
        Splicer.load(export, store=PREPARED)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def without_hash(export: Path) -> None:
    about = json.loads((export / "export.json").read_text())
    del about["digest"]
    (export / "export.json").write_text(json.dumps(about))


def change(export: Path, **values: object) -> None:
    about = json.loads((export / "export.json").read_text()) | values
    (export / "export.json").write_text(json.dumps(about))


def test_every_file_is_checked_if_asked_for(export: Path) -> None:
    arguments = (
        "generate",
        export,
        OLD / "corpus",
        "--split",
        "dev",
        "--store",
        PREPARED,
        "--check",
        "--limit",
        1,
    )
    assert said(*arguments)[0] == 0
    (export / "README.md").write_text("Another card.")
    code, words = said(*arguments)
    assert (code, "README.md: is damaged or was changed" in words) == (2, True)


def test_what_can_not_be_exported_is_refused(exports: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for run, sentence in (
        (tmp_path, "is not the folder of a run"),
        (tmp_path / "nowhere", "is not the folder of a run"),
        (PREPARED, "is not the folder of a run"),
        (exports / "full", "is an export already"),
        (bare_run(tmp_path / "bare").path, "has no weights yet"),
    ):
        code, words = said("export", run, "--out", out)
        assert (code, sentence in words) == (2, True), words
        assert not out.exists()
    with pytest.raises(StorageError, match="is an export already"):
        Splicer.load(exports / "full", store=PREPARED).export(out)
    with pytest.raises(InputError, match="only a run on disk can be exported"):
        Splicer.untrained(PREPARED).export(out)


def test_damaged_weights_are_not_exported(tmp_path: Path) -> None:
    run = Path(shutil.copytree(RUNS / "full", tmp_path / "run"))
    cut(run / "model.safetensors")
    with pytest.raises(StorageError, match="no sound safetensors file"):
        export_run(run, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_nothing_is_written_over_or_into_other_folders(tmp_path: Path) -> None:
    run = Path(shutil.copytree(RUNS / "full", tmp_path / "run"))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(run)
    (tmp_path / "empty-link").symlink_to(run / "new")
    before = contents(tmp_path)
    for out, sentence in (
        (tmp_path / "full", "is not empty and is not a new folder; nothing in it was changed"),
        (tmp_path / "file", "is a file, not a folder"),
        (run, "is not empty"),
        (run / "export", "is inside the run that is exported"),
        (tmp_path / "link" / "deep" / "er", "is inside the run that is exported"),
        (tmp_path / "empty-link", "is inside the run that is exported"),
        (tmp_path / "file" / "below", "can't be written"),
    ):
        code, words = said("export", run, "--out", out)
        assert (code, sentence in words) == (2, True), words
        assert contents(tmp_path) == before


def test_an_empty_folder_is_used_also_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there")
    made = Splicer.load(RUNS / "copy").export(tmp_path / "link")
    assert made == tmp_path / "link"
    assert (tmp_path / "link").is_symlink()
    assert Splicer.load(tmp_path / "there", store=PREPARED).kind.name == "copy"


def test_an_export_whose_files_lead_elsewhere_is_refused(export: Path, tmp_path: Path) -> None:
    """A list that names a file outside of the folder, or through a link."""
    (export / "link").symlink_to(tmp_path)
    about = json.loads((export / "export.json").read_text())
    for name in ("../secret", "/etc/passwd", "link/x"):
        changed = signed({**about, "files": {**about["files"], name: "0" * 64}})
        (export / "export.json").write_text(json.dumps(changed))
        with pytest.raises(StorageError, match="which is not inside the folder"):
            Export.open(export).check()


def test_the_commands_that_take_a_run_take_an_export(exports: Path, tmp_path: Path) -> None:
    out, store = tmp_path / "rows.jsonl", ("--store", PREPARED)
    assert said("generate", exports / "copy", OLD / "corpus", "--split", "dev", *store, "--out", out)[0] == 0
    code, words = said("verify", out, "--run", exports / "copy", *store, "--check")
    assert (code, "8 verified" in words) == (0, True), words
    code, words = said("verify", out, *store)
    assert (code, words) == (2, "--store: needs an export. Name it with --run.")
    record = json.dumps(json.loads(out.read_text().splitlines()[0])["table"])
    code, words = said("explain", exports / "full", record, *store, "--as", "plain")
    assert code == 0, words
    code, words = said(
        *("experiment", "automatic", f"a={exports / 'copy'}", f"b={RUNS / 'copy'}", f"c={PREPARED}", *store),
        *("--references", PREPARED, "--metrics", "BLEU", "--limit", 2, "--out", tmp_path / "scores"),
    )
    assert code == 0, words
    assert (tmp_path / "scores" / "a.jsonl").is_file()
    drafts = tmp_path / "drafts.jsonl"
    drafts.write_text(json.dumps({"id": "1", "text": "Xyzzy.", "table": json.loads(record)}) + "\n")
    code, words = said("gate", PREPARED, drafts, "--fall-back", exports / "copy", "-q")
    assert json.loads(words)["accepted"] is False


@pytest.mark.parametrize("command", [("trace", "-"), ("gate", "-"), ("withdraw", "train:0")])
def test_commands_that_need_texts_say_that_an_export_has_none(
    command: tuple[str, str], exports: Path
) -> None:
    name, argument = command
    result = CliRunner().invoke(app, [name, str(exports / "full"), argument], input="A text.\n")
    assert isinstance(result.exception, StorageError)
    assert result.exception.what == "is an export of a run, which has no texts of its own."
