"""Drafts: what token policies write, derived from people's texts; and asking one proposer after another."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
from typer.testing import CliRunner

import textsplice
from saved_runs import save_run
from textsplice import Example, Table
from textsplice.cli import app
from textsplice.config import SearchConfig, load_config
from textsplice.errors import ConfigError, InputError, StorageError, VerificationError
from textsplice.oracle.sources import OfferedNeighbor
from textsplice.policy.problem import Draft
from textsplice.prepare.build import prepare
from textsplice.rules import ApprovedNeighbors, CopyOnly, ForbidWords, Rule
from textsplice.runs import Run
from textsplice.search import drafts
from textsplice.search.choose import choose
from textsplice.search.derive import derive
from textsplice.search.drafts import Derivations
from textsplice.search.generation import Generation
from textsplice.search.judge import log_probabilities
from textsplice.splicer import Splicer
from textsplice.training.start import policy_of

OLD = Path(__file__).parent / "data" / "version-0.1"
RUNS = OLD / "runs"


@pytest.fixture(scope="module")
def tables() -> list[Table]:
    return [example.table for example in textsplice.read_corpus(str(OLD / "corpus"), "dev")][:6]


@pytest.fixture(scope="module")
def writer() -> Splicer:
    return Splicer.load(RUNS / "copy")


def search(*proposers: str, writers: tuple[str, ...] = ()) -> SearchConfig:
    return SearchConfig(
        beam=3,
        choose="likelihood",
        slots_first=False,
        max_splices=8,
        max_tokens=40,
        proposers=proposers,  # type: ignore[arg-type]
        writers=writers,
    )


def made(splicer: Splicer, tables: list[Table], settings: SearchConfig, *rules: Rule) -> list[Generation]:
    return list(splicer.generate_many(tables, search=settings, rules=rules, progress=False))


def vocabulary_words(row: Generation) -> list[str]:
    return [
        token
        for token, place in zip(row.tokens, row.provenance, strict=True)
        if row.sources.kind(place.source) == "vocabulary"
    ]


@pytest.mark.parametrize("kind", ["copy", "lrt"])
def test_a_draft_is_what_the_policy_wrote_with_sources_that_people_wrote(
    kind: str, tables: list[Table]
) -> None:
    splicer = Splicer.load(RUNS / kind)
    own, drafts = made(splicer, tables, search("policy")), made(splicer, tables, search("drafts"))
    assert [row.status for row in drafts] == ["ok"] * len(tables)
    standing = {word for row in range(len(splicer.store)) for word in splicer._offers.neighbor(row).tokens}
    for before, row in zip(own, drafts, strict=True):
        assert row.tokens == before.tokens
        assert row.score == before.score
        assert (row.policy, row.attribution) == ("drafts", "least")
        values = {token for value in row.sources.table.value_tokens() for token in value}
        assert all(word not in standing | values for word in vocabulary_words(row))
        assert len(row.splices) <= len(before.splices)


def test_drafts_are_derived_with_as_few_splices_as_a_trace_of_the_rows_looked_at(
    writer: Splicer, tables: list[Table]
) -> None:
    """The store is small, so all rows that share anything are looked at."""
    for row in made(writer, tables, search("drafts")):
        assert len(row.splices) >= len(writer.trace(row.text, row.table).splices)


def test_verify_derives_them_again(writer: Splicer, tables: list[Table]) -> None:
    rows = made(writer, tables, search("drafts"))
    assert textsplice.verify(rows, writer) == len(rows)
    longest = max(rows, key=lambda row: len(row.sources.neighbors))
    other = next(
        neighbor
        for neighbor in map(writer._offers.neighbor, range(len(writer.store)))
        if neighbor.tokens not in {each.tokens for each in longest.sources.neighbors}
    )
    sources = replace(longest.sources, neighbors=(*longest.sources.neighbors, other))
    shifted = tuple(
        s._replace(neighbor=s.neighbor + 1) if longest.sources.numbering.is_word(s.neighbor) else s
        for s in longest.splices
    )
    places = tuple(
        p._replace(source=p.source + 1) if longest.sources.numbering.is_word(p.source) else p
        for p in longest.provenance
    )
    lie = replace(longest, sources=sources, splices=shifted, provenance=places)
    with pytest.raises(VerificationError, match="its neighbors are not those that deriving the text again"):
        textsplice.verify(lie, writer)


def test_other_runs_write_the_drafts_of_a_run(tables: list[Table]) -> None:
    full = Splicer.load(RUNS / "full")
    writers = (str(RUNS / "copy"), str(RUNS / "lrt"))
    rows = made(full, tables, search("drafts", writers=writers))
    weights = [Splicer.load(writer).weights for writer in writers]
    assert all(row.search is not None and row.search["writers"] == weights for row in rows)
    assert textsplice.verify(rows, full) == len(rows)
    alone = [{row.tokens for row in made(full, tables, search("drafts", writers=(w,)))} for w in writers]
    assert {row.tokens for row in rows} <= alone[0] | alone[1]


def test_several_writers_judge_each_others_texts(tables: list[Table]) -> None:
    writers = (str(RUNS / "copy"), str(RUNS / "lrt"))
    judges = [Splicer.load(writer) for writer in writers]
    for row in made(judges[0], tables, search("drafts", writers=writers)):
        opinions = [judge.likelihoods(row.table, [row.text])[0] for judge in judges]
        assert row.score == pytest.approx(sum(opinions) / 2, abs=1e-4)
        assert opinions[0] != pytest.approx(opinions[1], abs=1e-4)


def test_typical_drafts_are_like_what_people_wrote_of_similar_records(
    writer: Splicer, tables: list[Table]
) -> None:
    """What a draft is derived from does not count: that was looked for because it is like the draft."""
    settings = replace(search("drafts"), choose="typical", beam=6)
    for table in tables:
        (row,) = made(writer, [table], settings)
        (proposal,) = writer._drafts(settings).propose([Example("", table, None)], (), settings)
        near = writer._offers.nearest(table, (), reach=3)
        assert proposal.similar == [writer._offers.neighbor(n) for n in near]
        found = [derive(c, proposal.sources, proposal.words) for c in proposal.outcome.ranked()]
        best = choose(found, proposal.sources, proposal.words, by="typical", similar=proposal.similar)[0]
        assert row.tokens == tuple(derive(best, proposal.sources, proposal.words).draft.tokens)


def test_swaps_texts_compete_where_swap_writes_too(writer: Splicer, tables: list[Table]) -> None:
    settings = replace(search("drafts"), choose="consensus", swap_writes=True, slots_first=True)
    for table in tables:
        example = Example("", table, None)
        (proposal,) = writer._drafts(settings).propose([example], (), settings)
        (without,) = writer._drafts(search("drafts")).propose([example], (), settings)
        more = {c.ids for c in proposal.outcome.ranked()} - {c.ids for c in without.outcome.ranked()}
        for candidate in proposal.outcome.ranked():
            text = derive(candidate, proposal.sources, proposal.words).draft.tokens
            assert candidate.score == pytest.approx(
                log_probabilities(writer._drafts(settings).writers[0], table, [text])[0], abs=1e-4
            )
        assert more
    rows = made(writer, tables, settings)
    assert all((row.policy, row.attribution) == ("drafts", "least") for row in rows)
    assert all(row.search is not None and row.search["swap_writes"] is True for row in rows)
    assert textsplice.verify(rows, writer) == len(rows)


@pytest.mark.parametrize("alternatives", [0, 1, 9])
@pytest.mark.parametrize("choose", ["likelihood", "consensus", "typical"])
@pytest.mark.parametrize(
    "taste",
    [
        {},
        {"seams": 0.02},
        {"avoid": ("glass", "a workshop"), "whole_sentences": True},
        {"seams": 1.0, "whole_sentences": True},
    ],
)
def test_texts_that_are_chosen_before_they_are_derived_are_those_that_are_chosen_after_it(
    writer: Splicer,
    tables: list[Table],
    monkeypatch: pytest.MonkeyPatch,
    taste: dict[str, Any],
    choose: Literal["likelihood", "consensus", "typical"],
    alternatives: int,
) -> None:
    settings = replace(search("drafts"), choose=choose, swap_writes=True, alternatives=alternatives, **taste)
    first = [row.to_dict() for row in made(writer, tables, settings)]
    proposals = writer._drafts(settings).propose([Example("", table, None) for table in tables], (), settings)
    assert {len(each.outcome.finished) for each in proposals} == {min(settings.beam, 1 + alternatives)}
    monkeypatch.setattr(drafts, "best_first", lambda *_: None)  # all are derived
    assert [row.to_dict() for row in made(writer, tables, settings)] == first


def test_a_text_without_alternatives_is_the_only_one_that_is_derived(
    writer: Splicer, tables: list[Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    derived: list[Sequence[str]] = []
    of = Derivations.of
    monkeypatch.setattr(
        Derivations, "of", lambda own, text, *others: derived.append(text) or of(own, text, *others)
    )
    for settings in (search("drafts"), replace(search("drafts"), choose="typical", seams=0.5, beam=6)):
        derived.clear()
        rows = made(writer, tables, replace(settings, alternatives=0))
        assert len(derived) < 2 * len(tables) if settings.seams else derived == [r.tokens for r in rows]
        assert all(row.search is not None and row.search["alternatives"] == 0 for row in rows)
        assert textsplice.verify(rows, writer) == len(rows)
        more = made(writer, tables, settings)
        assert all(row.search is not None and "alternatives" not in row.search for row in more)
        assert any(row.alternatives for row in more)


def test_writers_are_found_beside_a_run_that_was_moved(tmp_path: Path, tables: list[Table]) -> None:
    (tmp_path / "a").mkdir()
    for kind in ("full", "copy"):
        shutil.copytree(RUNS / kind, tmp_path / "a" / kind)
    run = Run.open(tmp_path / "a" / "full")
    writers = (str(tmp_path / "a" / "copy"),)
    config = replace(run.config, search=search("drafts", writers=writers))
    with Run.claimed(run.path):
        run.describe(config, run.about)
    shutil.move(tmp_path / "a", tmp_path / "b")
    moved = Splicer.load(tmp_path / "b" / "full")
    assert [row.status for row in moved.generate_many(tables[:1], progress=False)] == ["ok"]
    shutil.rmtree(tmp_path / "b" / "copy")
    with pytest.raises(StorageError, match=r"search\.writers names the run .* --set search\.writers=\[\]"):
        list(Splicer.load(tmp_path / "b" / "full").generate_many(tables[:1], progress=False))


@dataclass(frozen=True)
class WholeNeighborFirst(Rule):
    """Swap begins with a whole neighbor; drafts hardly ever can."""

    name: ClassVar[str] = "whole-neighbor-first"

    def violation(self, draft: Draft) -> str | None:
        first = draft.derivation[0]
        whole = draft.sources.numbering.is_neighbor(first.neighbor)
        whole = whole and first.end - first.begin == len(draft.sources[first.neighbor])
        return None if whole and len(draft.derivation) > 1 else "it does not begin with a whole neighbor"


def test_the_next_proposer_is_asked_where_one_has_no_text(writer: Splicer, tables: list[Table]) -> None:
    rule = WholeNeighborFirst()
    alone = made(writer, tables, search("drafts"), rule)
    failed = [number for number, row in enumerate(alone) if row.status != "ok"]
    assert failed
    both = made(writer, tables, search("drafts", "swap"), rule)
    for number, row in enumerate(both):
        if number in failed and row.status == "ok":
            assert (row.policy, row.attribution) == ("swap", "exact")
        elif number not in failed:
            assert row.tokens == alone[number].tokens
    assert any(row.policy == "swap" for row in both)


@pytest.mark.parametrize("first", ["drafts", "policy"])
def test_what_swap_makes_after_another_verifies(first: str, writer: Splicer, tables: list[Table]) -> None:
    rows = made(writer, tables, replace(search(first, "swap"), max_tokens=3, seams=1.0, whole_sentences=True))
    assert {(row.policy, row.weights) for row in rows} == {("swap", None)}
    assert textsplice.verify(rows, writer) == len(rows)
    with pytest.raises(VerificationError, match="swap, which has no weights, yet names some"):
        textsplice.verify(replace(rows[0], weights=writer.weights), writer)


def test_a_file_of_several_proposers_is_gone_on_with(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    settings = ['search.proposers=["drafts","swap"]', "search.beam=2"]
    command = ["generate", str(RUNS / "copy"), str(OLD / "corpus"), "--split", "dev", "--out", str(out)]
    command += [part for each in settings for part in ("--set", each)]
    assert CliRunner().invoke(app, command).exit_code == 0
    whole = out.read_text()
    first = json.loads(whole.splitlines()[0]) | {"policy": "swap"}  # as if swap had been asked
    del first["weights"]
    out.write_text(json.dumps(first, ensure_ascii=False) + "\n")
    result = CliRunner().invoke(app, [*command, "--resume"])
    assert result.exit_code == 0, result.output
    texts = [[json.loads(line)["text"] for line in each.splitlines()] for each in (whole, out.read_text())]
    assert texts[0] == texts[1]


def test_rules_about_sources_are_kept(writer: Splicer, tables: list[Table]) -> None:
    for row in made(writer, tables, search("drafts"), CopyOnly()):
        assert row.status == "abstained" or not vocabulary_words(row)
    approved = ApprovedNeighbors(writer.store.ids[::2])
    for row in made(writer, tables, search("drafts"), approved):
        assert {neighbor.id for neighbor in row.sources.neighbors} <= approved.ids
    some: OfferedNeighbor = writer._offers.neighbor(0)
    word = next(token for token in some.tokens if token.isalpha())
    for row in made(writer, tables, search("drafts"), ForbidWords([word])):
        assert word not in row.tokens


def test_batches_make_no_difference(writer: Splicer, tables: list[Table]) -> None:
    settings = search("drafts", "swap")
    at_once = made(writer, tables, settings)
    one_by_one = made(writer, tables, replace(settings, batch_size=1))
    for one, other in zip(at_once, one_by_one, strict=True):
        assert one.score == pytest.approx(other.score, abs=1e-4)
        assert (one.text, one.splices, one.sources) == (other.text, other.splices, other.sources)


def test_a_run_that_writes_splices_writes_no_drafts(tables: list[Table]) -> None:
    full = Splicer.load(RUNS / "full")
    with pytest.raises(InputError, match=r"writes no drafts\. Drafts are written by lrt and copy runs"):
        made(full, tables, search("drafts"))
    with pytest.raises(InputError, match="proposers is empty: nobody is asked"):
        made(full, tables, search())
    with pytest.raises(ConfigError, match="proposers"):
        full.config.with_values(['search.proposers=["nobody"]'])


def test_writers_that_can_not_write_are_a_sentence(tmp_path: Path, tables: list[Table]) -> None:
    copy = Splicer.load(RUNS / "copy")
    with pytest.raises(StorageError, match=r"--set names the run .*prepared.*there is no run"):
        made(copy, tables, search("drafts", writers=(str(OLD / "prepared"),)))
    shutil.copytree(RUNS / "copy", tmp_path / "copy")
    (tmp_path / "copy" / "model.safetensors").unlink()
    with pytest.raises(StorageError, match=r"model\.safetensors: is missing"):
        made(copy, tables, search("drafts", writers=(str(tmp_path / "copy"),)))


def test_writers_of_another_tokenizer_are_refused(tmp_path: Path, tables: list[Table]) -> None:
    config = load_config(OLD / "config.toml").with_values(
        [f"corpus.source={OLD / 'corpus'}", "text.tokenizer=spaces", "policy.kind=copy"]
    )
    prepared = prepare(config, folder=tmp_path / "prepared", quiet=True)
    other = save_run(tmp_path / "run", config, prepared, policy_of(config, prepared.vocabulary))
    with pytest.raises(InputError, match="reads text as 'spaces', this one as 'words'"):
        made(Splicer.load(RUNS / "copy"), tables, search("drafts", writers=(str(other),)))


@dataclass(frozen=True)
class NoNeighbors(Rule):
    """No text may be spliced from."""

    name: ClassVar[str] = "no-neighbors"

    def admits(self, neighbor: OfferedNeighbor) -> bool:
        return not neighbor.id

    def violation(self, draft: Draft) -> str | None:
        return "it has a neighbor" if draft.sources.neighbors else None


def test_a_draft_with_words_that_stand_nowhere_is_not_given_under_copy_only(
    writer: Splicer, tables: list[Table]
) -> None:
    drafts = made(writer, tables, search("drafts"), NoNeighbors())
    assert all(map(vocabulary_words, drafts))
    assert [row.status for row in drafts] == ["ok"] * len(tables)
    for row in made(writer, tables, search("drafts"), NoNeighbors(), CopyOnly()):
        values = {token for value in row.sources.table.value_tokens() for token in value}
        assert row.status == "abstained" or {*row.tokens} <= values
