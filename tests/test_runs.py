"""Folders: nothing foreign is ever removed or overwritten, damage is noticed, and runs can be moved."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textsplice.cli import main
from textsplice.config import Config
from textsplice.errors import ConfigError, CorpusError, StorageError, TextspliceError, TrainingError
from textsplice.files import sealed, write_new
from textsplice.prepare import prepare
from textsplice.runs import Prepared, Run
from textsplice.runs.integrity import signed
from textsplice.runs.manifest import Manifest
from textsplice.runs.outputs import OutputFolder
from textsplice.runs.ownership import listed_path, remove_listed
from textsplice.runs.parts import Parts
from textsplice.splicer import Splicer
from textsplice.training import train, tune
from training_corpus import prepare_tiny, tiny_config

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, with its content."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def command(*arguments: object, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["textsplice", *map(str, arguments)])
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A person's folder: a corpus, a configuration, notes, a repository."""
    folder = tmp_path / "mine"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (folder / "store").mkdir()
    (folder / "store/stock.txt").write_text("my stock list")
    rows = [{"table": {"name": f"Mill {n}"}, "text": f"Mill {n} is open."} for n in range(4)]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    for split in ("train", "dev", "test"):
        (folder / f"{split}.jsonl").write_text(text)
    (folder / "notes.md").write_text("do not lose this")
    (folder / "my.toml").write_text(f'[corpus]\nsource = "{folder}"\n')
    return folder


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Config:
    folder = prepare_tiny(tmp_path_factory.mktemp("runs"))
    config = tiny_config(folder, f"output.run={folder / 'run'}", "training.max_steps=2")
    train(config, quiet=True)
    return config


@pytest.fixture
def copied(trained: Config, tmp_path: Path) -> Path:
    """A copy of a run that may be damaged."""
    return Path(shutil.copytree(trained.output.run, tmp_path / "run"))


# Law 1


def test_prepare_into_a_persons_folder_changes_nothing(
    mine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = snapshot(mine)
    monkeypatch.chdir(mine)
    assert command("prepare", "my.toml", "--out", ".", monkeypatch=monkeypatch) == 2
    assert capsys.readouterr().err == (
        "error [storage]: .: is not empty and is not a folder that `textsplice prepare` made; "
        "nothing in it was changed. Name a new or an empty folder.\n"
    )
    assert snapshot(mine) == before


@pytest.mark.parametrize("fresh", [False, True])
def test_train_into_a_persons_folder_changes_nothing(mine: Path, trained: Config, fresh: bool) -> None:
    before = snapshot(mine)
    with pytest.raises(StorageError) as caught:
        train(trained.with_values([f"output.run='{mine}'"]), fresh=fresh, resume=not fresh, quiet=True)
    assert str(caught.value) == (
        f"{mine}: is not empty and is not the folder of a run; nothing in it was changed. "
        "Name a new or an empty folder."
    )
    assert snapshot(mine) == before


def test_tune_beside_a_persons_folder_changes_nothing(mine: Path, trained: Config) -> None:
    folder = mine.rename(mine.with_name("mine-tune"))
    before = snapshot(folder)
    with pytest.raises(StorageError, match="is not empty and is not a search that `textsplice tune` began"):
        tune(trained.with_values([f"output.run='{mine}'"]), trials=1, quiet=True)
    assert snapshot(folder) == before


@pytest.mark.parametrize("taken", ["run", "prepared"])
def test_quickstart_into_a_persons_folders_changes_nothing(
    taken: str, mine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = mine.with_name("try")
    out.mkdir()
    mine.rename(out / taken)
    before = snapshot(out)
    assert command("quickstart", "--out", out, monkeypatch=monkeypatch) == 2
    assert f"{out / taken}: is not empty and is not " in capsys.readouterr().err
    assert snapshot(out) == before


@pytest.mark.parametrize("name", ["config.toml", "swap.jsonl"])
def test_quickstart_leaves_a_persons_file_as_it_is(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text("# mine\n")
    assert command("quickstart", "--out", tmp_path, "--steps", "1", monkeypatch=monkeypatch) == 2
    assert "error [config]: " in capsys.readouterr().err
    assert (tmp_path / name).read_text() == "# mine\n"
    assert list(tmp_path.iterdir()) == [tmp_path / name]


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "my web app", "icons": []}',
        "[]",
        "{",
        '{"format": "1", "stages": {}}',
        '{"format": 1, "stages": {}, "mydata": [1, 2, 3]}',
        '{"format": 1, "stages": {}}',
        '{"format": 1, "stages": {"build": {"key": "abc", "files": {"notes.md": "abc"}}}}',
        '{"id": 7, "version": "3", "prepared": "yes", "x": 1}',
        '{"id": "7", "version": "3", "prepared": "yes", "command": [], "hardware": {}}',
        "\ud800",
    ],
)
def test_somebody_elses_manifest_does_not_make_a_folder_ours(mine: Path, trained: Config, text: str) -> None:
    (mine / "manifest.json").write_text(text, errors="surrogatepass")
    (mine / "run.json").write_text(text, errors="surrogatepass")
    before = snapshot(mine)
    with pytest.raises(StorageError, match="is not empty and is not"):
        prepare(Config(), folder=mine, quiet=True)
    with pytest.raises(StorageError, match="is not empty and is not"):
        train(trained.with_values([f"output.run='{mine}'"]), fresh=True, quiet=True)
    assert snapshot(mine) == before


def test_a_file_in_place_of_a_folder_is_refused(tmp_path: Path, trained: Config) -> None:
    (tmp_path / "file").write_text("text")
    with pytest.raises(StorageError, match="is a file, not a folder"):
        prepare(Config(), folder=tmp_path / "file", quiet=True)
    with pytest.raises(StorageError, match="is a file, not a folder"):
        train(trained.with_values([f"output.run='{tmp_path / 'file'}'"]), quiet=True)


def test_files_of_a_person_in_our_folders_survive_every_command(trained: Config, tmp_path: Path) -> None:
    prepared = Path(shutil.copytree(trained.output.prepared, tmp_path / "prepared"))
    run = Path(shutil.copytree(trained.output.run, tmp_path / "run"))
    foreign = [
        folder / name for folder in (prepared, run) for name in ("notes.md", "store/more.txt", ".x.partial")
    ]
    foreign += [prepared / "texts/mine.parquet", run / "dev.jsonl", run / "checkpoints/mine.txt"]
    for path in foreign:
        path.write_text("mine")
    changed = trained.with_values(
        [f"output.prepared='{prepared}'", f"output.run='{run}'", "corpus.splits=['train']"]
    )
    # A person's file inside the store keeps `prepare` from replacing the store, and is named.
    with pytest.raises(StorageError, match=r"more\.txt: is in the way"):
        prepare(changed.with_values(["text.mask=false"]), quiet=True)
    (prepared / "store/more.txt").unlink()
    foreign.remove(prepared / "store/more.txt")
    prepare(changed, quiet=True)
    assert not (prepared / "texts/dev.parquet").exists()  # ours, and no longer needed
    train(changed, fresh=True, quiet=True)
    assert [path.read_text() for path in foreign] == ["mine"] * len(foreign)


@pytest.mark.parametrize("name", ["vocab.json", "config.toml", "journal.jsonl", "store/store.json"])
def test_a_file_of_a_person_where_training_writes_is_named(name: str, trained: Config, copied: Path) -> None:
    Run.open(copied).remove()
    mine = copied / name
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_text("mine")
    about = {"format": "textsplice.run/2", "id": "x", "version": "0.2.0", "prepared": "", "files": {}}
    (copied / "run.json").write_text(json.dumps(about))
    with pytest.raises(StorageError) as caught:
        train(trained.with_values([f"output.run='{copied}'"]), fresh=True, quiet=True)
    assert str(caught.value) == (
        f"{mine}: is in the way: it was not written by `textsplice train`. "
        "Move it away, or set output.run to another folder."
    )
    assert mine.read_text() == "mine"


def test_a_lexicon_that_a_person_put_into_a_run_is_not_the_runs(copied: Path) -> None:
    (copied / "lexicon.toml").write_text("not even TOML")
    assert Splicer.load(copied).lexicon is None


def test_a_file_of_a_person_where_prepare_writes_is_named(tmp_path: Path, trained: Config) -> None:
    config = trained.with_values([f"output.prepared='{tmp_path / 'p'}'", "corpus.splits=['train']"])
    prepare(config, quiet=True)
    mine = tmp_path / "p/texts/dev.parquet"
    mine.write_text("mine")
    with pytest.raises(StorageError) as caught:
        prepare(config.with_values(["corpus.splits=['train','dev']"]), quiet=True)
    assert str(caught.value) == (
        f"{mine}: is in the way: it was not written by `textsplice prepare`. "
        "Move it away, or prepare into another folder."
    )
    assert mine.read_text() == "mine"


@pytest.mark.parametrize(
    "name", ["../notes.txt", "/etc/hosts", "a/../../notes.txt", "", "..", "a\\..\\b", "a\0b", "\ud800"]
)
def test_a_list_that_leads_out_of_its_folder_removes_nothing(name: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    folder = tmp_path / "p"
    folder.mkdir()
    stages = {"old": {"key": "0" * 20, "files": {name: "0" * 64}}}
    (folder / "manifest.json").write_text(json.dumps({"format": 1, "stages": stages}))
    with pytest.raises(StorageError, match="which `textsplice prepare` does not write"):
        Manifest(folder).keep_only([])
    with pytest.raises(StorageError, match="which is not inside the folder"):
        remove_listed(folder, [name])
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("announced", [5, None, [1], [["a"]]])
def test_a_manifest_whose_list_is_none_is_refused(announced: object, tmp_path: Path) -> None:
    data = {"format": 1, "stages": {}, "announced": announced, "made_by": "textsplice prepare"}
    (tmp_path / "manifest.json").write_text(json.dumps(data))
    with pytest.raises(StorageError, match="is not a manifest of a prepared folder"):
        prepare(Config(), folder=tmp_path, quiet=True)


def test_a_list_that_names_a_persons_files_removes_nothing(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    data = {"format": 1, "stages": {}, "announced": ["notes.txt"], "made_by": "textsplice prepare"}
    (tmp_path / "manifest.json").write_text(json.dumps(data))
    with pytest.raises(StorageError, match=r"lists the file 'notes\.txt', which `textsplice prepare`"):
        prepare(Config().with_values(["corpus.source=missing.csv"]), folder=tmp_path, quiet=True)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_an_empty_folder_of_a_person_stays_if_prepare_fails(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(CorpusError):
        prepare(Config().with_values(["corpus.source=missing.csv"]), folder=tmp_path / "mine", quiet=True)
    assert list((tmp_path / "mine").iterdir()) == []
    with pytest.raises(CorpusError):
        prepare(Config().with_values(["corpus.source=missing.csv"]), folder=tmp_path / "new", quiet=True)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("resume", [False, True])
def test_trained_weights_without_checkpoints_are_not_trained_over(
    resume: bool, copied: Path, trained: Config
) -> None:
    shutil.rmtree(copied / "checkpoints")
    before = snapshot(copied)
    with pytest.raises(TrainingError) as caught:
        train(trained.with_values([f"output.run='{copied}'"]), resume=resume, quiet=True)
    assert str(caught.value) == (
        f"{copied}: there is a trained policy here, but no checkpoint to continue from. "
        "Restore its checkpoints, set output.run to another folder, or discard it with --fresh."
    )
    assert snapshot(copied) == before


@pytest.mark.parametrize("change", ["policy.heads=3", "training.max_cost=1"])
def test_settings_that_can_not_work_do_not_cost_the_old_run(
    change: str, copied: Path, trained: Config
) -> None:
    before = snapshot(copied)
    with pytest.raises(TextspliceError):
        train(trained.with_values([f"output.run='{copied}'", change]), fresh=True, quiet=True)
    assert snapshot(copied) == before


def test_a_persons_file_among_the_checkpoints_does_not_cost_the_old_run(
    copied: Path, trained: Config
) -> None:
    (copied / "checkpoints/last/mine.txt").write_text("mine")
    before = snapshot(copied)
    with pytest.raises(StorageError, match=r"mine\.txt: is in the way"):
        train(trained.with_values([f"output.run='{copied}'"]), fresh=True, quiet=True)
    assert snapshot(copied) == before


def test_tune_leaves_a_persons_edit_of_its_files(trained: Config, tmp_path: Path) -> None:
    config = trained.with_values([f"output.run='{tmp_path / 'run'}'", "training.max_steps=1"])
    tune(config, trials=1, quiet=True)
    best = tmp_path / "run-tune/best.toml"
    best.write_text(best.read_text() + "# my edit\n")
    with pytest.raises(ConfigError, match="was changed after this command wrote it"):
        tune(config, trials=2, quiet=True)
    assert best.read_text().endswith("# my edit\n")


def test_a_persons_file_among_the_encodings_is_left(copied: Path) -> None:
    mine = copied / "encodings/00000000.safetensors"
    mine.parent.mkdir()
    mine.write_text("mine")
    with pytest.raises(StorageError, match="is in the way: it is not listed as a file of ours"):
        Splicer.load(copied).encodings.save(quiet=True)
    assert mine.read_text() == "mine"


def test_damaged_encodings_are_computed_again(copied: Path) -> None:
    table = {"name": "Mill"}
    splicer = Splicer.load(copied)
    expected = splicer.generate(table).to_dict()
    splicer.encodings.save(quiet=True)
    path = copied / "encodings/00000000.safetensors"
    data = bytearray(path.read_bytes())
    for place in range(len(data) - 400, len(data), 4):
        data[place + 3] ^= 0x80
    path.write_bytes(bytes(data))
    with pytest.warns(RuntimeWarning, match="Encodings are computed instead"):
        assert Splicer.load(copied).generate(table).to_dict() == expected


def test_a_journal_that_is_not_text_is_a_sentence(copied: Path, trained: Config) -> None:
    (copied / "journal.jsonl").write_bytes(b'{"kind": "train", "step": 1}\n\xff\n')
    with pytest.raises(StorageError, match=r"journal\.jsonl: is not UTF-8 text: byte 0xff at byte 29\."):
        train(
            trained.with_values([f"output.run='{copied}'", "training.max_steps=3"]), resume=True, quiet=True
        )


@pytest.mark.parametrize("name", ["vocab.json", "store/store.json", "derivations/dev-0000.parquet"])
def test_a_file_that_the_manifest_does_not_list_is_not_read(
    name: str, trained: Config, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(trained.output.prepared, tmp_path / "prepared"))
    manifest = folder / "manifest.json"
    changed = json.loads(manifest.read_text().replace(f'"{name}"', f'"{name}x"'))
    manifest.write_text(json.dumps(signed(changed)))
    with pytest.raises(StorageError, match=r"is not listed in the manifest|is missing"):
        read_all(folder)


def test_a_judge_is_found_through_links(
    trained: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere/deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere/deep")
    train(trained.with_values(["policy.kind=copy", "output.run='runs/judge'"]), quiet=True)
    train(trained.with_values(["output.run='link/run'", "search.judge='runs/judge'"]), quiet=True)
    monkeypatch.chdir("/")
    assert Splicer.load(tmp_path / "link/run").generate({"name": "Mill"}).search


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "p").mkdir()
    (tmp_path / "p/link").symlink_to(tmp_path / "outside")
    with pytest.raises(StorageError, match="which is not inside the folder"):
        listed_path(tmp_path / "p", "link/notes.txt")


@given(st.lists(WORDS, min_size=1, max_size=4))
def test_no_listed_name_leads_out_of_its_folder(parts: list[str]) -> None:
    folder = Path("/nowhere/folder")
    try:
        path = listed_path(folder, "/".join(parts))
    except StorageError:
        return
    assert os.path.normpath(path).startswith("/nowhere/folder/")


def test_a_new_file_is_written_and_another_one_is_left(tmp_path: Path) -> None:
    path = tmp_path / "out.svg"
    write_new(path, "first")
    with pytest.raises(ConfigError) as caught:
        write_new(path, "second")
    assert str(caught.value) == (
        f"{path}: already exists and was left as it is. Name another file, or overwrite it with --force."
    )
    assert path.read_text() == "first"
    write_new(path, sealed("second"), force=True)
    write_new(path, "third", replace_sealed=True)
    assert path.read_text() == "third"


def test_an_output_folder_overwrites_only_what_it_wrote(tmp_path: Path) -> None:
    folder = OutputFolder(tmp_path)
    folder.write("scores.md", "1")
    OutputFolder(tmp_path).write("scores.md", "2")
    (tmp_path / "mine.md").write_text("mine")
    with pytest.raises(ConfigError, match=r"mine\.md: already exists and was not written by this command"):
        OutputFolder(tmp_path).write("mine.md", "ours")
    (tmp_path / "scores.md").write_text("2, with my remarks")
    with pytest.raises(ConfigError, match=r"scores\.md: was changed after this command wrote it"):
        OutputFolder(tmp_path).write("scores.md", "3")
    assert (tmp_path / "scores.md").read_text() == "2, with my remarks"
    assert (tmp_path / "mine.md").read_text() == "mine"


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "another"}', '{"format": "textsplice.outputs/1"}'])
def test_a_list_of_outputs_that_is_none_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "textsplice.json").write_text(text)
    with pytest.raises(StorageError, match=r"textsplice\.json"):
        OutputFolder(tmp_path)


# Damage


def test_every_file_of_a_run_has_a_hash(trained: Config) -> None:
    run = Run.open(trained.output.run)
    listed = set(run.about["files"])  # pyright: ignore
    found = set(snapshot(run.path))
    checkpoints = {name for name in found if name.startswith("checkpoints/")}
    assert found - checkpoints - {"run.json", "journal.jsonl"} == listed


def test_a_damaged_file_of_a_run_is_named(copied: Path) -> None:
    for name in sorted(Run.open(copied).about["files"]):  # pyright: ignore
        whole = (copied / name).read_bytes()
        damaged = bytearray(whole)
        damaged[len(damaged) // 2] ^= 1
        for content in (bytes(damaged), whole[:-1], b""):
            (copied / name).write_bytes(content)
            with pytest.raises(StorageError) as caught:
                Splicer.load(copied).lexicon  # noqa: B018
            assert str(caught.value) == (
                f"{copied / name}: is damaged or was changed: its content is not what textsplice wrote. "
                "Copy it again from its run, or train again."
            )
        (copied / name).write_bytes(whole)
    assert Splicer.load(copied)


def test_a_missing_file_of_a_run_is_named(copied: Path) -> None:
    (copied / "vocab.json").unlink()
    with pytest.raises(StorageError) as caught:
        Splicer.load(copied)
    assert str(caught.value) == (
        f"{copied / 'vocab.json'}: is missing. Copy it again from its run, or train again."
    )


def read_all(folder: Path) -> None:
    """Opens everything in a prepared folder."""
    prepared = Prepared.open(folder)
    for split in prepared.splits:
        prepared.split(split)
    assert prepared.vocabulary
    assert prepared.store


def test_a_damaged_file_of_a_prepared_folder_is_named(trained: Config, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(trained.output.prepared, tmp_path / "prepared"))
    for name in Manifest(folder).hashes:
        if name == "words.json":  # only `prepare` itself reads it, and makes it anew
            continue
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        with pytest.raises(StorageError, match="is damaged or was changed"):
            read_all(folder)
        (folder / name).write_bytes(whole)
    read_all(folder)


def test_weights_that_are_replaced_when_the_writer_is_killed_still_open(copied: Path) -> None:
    run = Run.open(copied)
    weights, _ = run.read_weights()
    shape, _ = run.read_shape()
    other = {name: tensor + 1 for name, tensor in weights.items()}
    before = (copied / "model.safetensors").read_bytes()
    run.write_policy(shape, other)
    after = (copied / "model.safetensors").read_bytes()
    about = json.loads((copied / "run.json").read_text())
    new = about["files"]["model.safetensors"]
    # As if the process had ended between the first note and the last: either content is right.
    old = Run.open(copied)
    assert isinstance(new, str)
    import hashlib

    about["files"]["model.safetensors"] = [hashlib.sha256(before).hexdigest(), new]
    (copied / "run.json").write_text(json.dumps(signed(about)))
    for content in (before, after):
        (copied / "model.safetensors").write_bytes(content)
        assert Run.open(copied).read_weights()[0].keys() == weights.keys()
    assert old.id == run.id


@pytest.mark.parametrize("what", ["state.json", "model.safetensors", "optimizer.safetensors"])
def test_a_damaged_checkpoint_is_named(what: str, copied: Path, trained: Config) -> None:
    path = copied / "checkpoints/last" / what
    content = path.read_text() if what == "state.json" else None
    if content:
        path.write_text(content.replace('"step": 2', '"step": 1', 1))
    else:
        data = bytearray(path.read_bytes())
        data[-5] ^= 4
        path.write_bytes(bytes(data))
    config = trained.with_values([f"output.run='{copied}'", "training.max_steps=3"])
    with pytest.raises(StorageError, match=f"{what}: is damaged or was changed"):
        train(config, resume=True, quiet=True)


def test_a_persons_file_inside_a_checkpoint_stops_training_before_it_is_moved(
    copied: Path, trained: Config
) -> None:
    mine = copied / "checkpoints/last/mine.txt"
    mine.write_text("mine")
    config = trained.with_values([f"output.run='{copied}'", "training.max_steps=3"])
    with pytest.raises(StorageError) as caught:
        train(config, resume=True, quiet=True)
    assert str(caught.value) == f"{mine}: is in the way: it was not written by training. Move it away."
    assert mine.read_text() == "mine"


@pytest.mark.parametrize("text", ["{", "[]", '{"id": "x"}', "null"])
def test_a_run_json_that_is_none_is_refused(text: str, copied: Path) -> None:
    (copied / "run.json").write_text(text)
    with pytest.raises(StorageError, match=r"is not the folder of a run: it has no run\.json"):
        Run.open(copied)


def test_a_run_of_a_later_format_is_refused(copied: Path) -> None:
    about = json.loads((copied / "run.json").read_text())
    (copied / "run.json").write_text(json.dumps({**about, "format": "textsplice.run/99"}))
    with pytest.raises(StorageError, match=r"is a run of format 'textsplice\.run/99'; this version reads"):
        Run.open(copied)


# Moving


def test_a_run_with_a_judge_works_after_both_are_moved_and_from_any_folder(
    trained: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = {"name": "Mill"}
    monkeypatch.chdir(tmp_path)
    judge = trained.with_values(["policy.kind=copy", "output.run='here/judge'"])
    train(judge, quiet=True)
    config = trained.with_values(["output.run='here/run'", "search.judge='here/judge'"])
    train(config, quiet=True)
    expected = Splicer.load("here/run").generate(table)
    shutil.move("here", "there")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    moved = Splicer.load(tmp_path / "there/run").generate(table)
    assert moved.to_dict() == expected.to_dict()
    shutil.rmtree(tmp_path / "there/judge")
    with pytest.raises(StorageError) as caught:
        Splicer.load(tmp_path / "there/run").generate(table)
    assert str(caught.value) == (
        f"{tmp_path / 'there/run'}: search.judge names the run 'here/judge', but there is no run at "
        f"{tmp_path / 'there/run/../judge'} or here/judge. "
        "Train that run, move it back, or do without it: --set search.judge=''."
    )


def test_errors_about_folders_are_ours(tmp_path: Path) -> None:
    for error in (StorageError, ConfigError, TrainingError):
        assert issubclass(error, TextspliceError)
    with pytest.raises(StorageError, match="is not a finished prepared folder"):
        Prepared.open(tmp_path)


def prepare_into(folder: Path) -> None:
    corpus = folder.parent / "tiny"
    prepare_tiny(corpus)
    prepare(tiny_config(corpus), folder=folder, quiet=True)


def train_into(folder: Path) -> None:
    corpus = folder.parent / "tiny"
    prepare_tiny(corpus)
    train(tiny_config(corpus, f'output.run="{folder}"'), quiet=True)


def keep_parts_in(folder: Path) -> None:
    with Parts.opened(folder, keep=True) as parts:
        parts.put("0" * 64, b"a result")


FIRST_FILES = [
    ("manifest.json", prepare_into),
    ("run.json", train_into),
    ("parts.json", keep_parts_in),
]


@pytest.mark.parametrize(("first", "work"), FIRST_FILES)
def test_who_is_killed_in_the_first_file_of_a_folder_is_followed_by_the_next(
    tmp_path: Path, first: str, work: Callable[[Path], None]
) -> None:
    folder = tmp_path / "begun"
    folder.mkdir()
    beginning = folder / f".{first}.4711.partial"
    beginning.write_text('{"made_b')
    work(folder)
    assert not beginning.exists()
    assert (folder / first).is_file()


@pytest.mark.parametrize(("first", "work"), FIRST_FILES)
@pytest.mark.parametrize(
    "name", ["notes.txt", ".{first}.partial", ".other.json.4711.partial", "{first}.4711.partial"]
)
def test_what_only_looks_like_a_beginning_of_ours_is_left_alone(
    tmp_path: Path, first: str, work: Callable[[Path], None], name: str
) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / f".{first}.4711.partial").write_text('{"made_b')
    (folder / name.format(first=first)).write_text("mine")
    before = snapshot(folder)
    with pytest.raises(StorageError, match="nothing in it was changed"):
        work(folder)
    assert snapshot(folder) == before


def test_a_link_that_is_called_as_a_beginning_of_ours_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("mine")
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / ".manifest.json.4711.partial").symlink_to(tmp_path / "precious.txt")
    with pytest.raises(StorageError, match="nothing in it was changed"):
        prepare_into(folder)
    assert (tmp_path / "precious.txt").read_text() == "mine"
