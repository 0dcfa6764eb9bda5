"""WebNLG: what becomes of triples, and of XML that is not as it should be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textsplice.corpus import Example, Table, read_corpus
from textsplice.corpus.triples import Triple, spoken, table_of_triples
from textsplice.errors import CorpusError

Write = Callable[[str, str], Path]

MILL = "<mtriple>Low_Mill | river | Orrel</mtriple>"
TEXT = '<lex comment="good" lid="Id1">Low Mill is on the Orrel.</lex>'


def entry(triples: str, texts: str = "", eid: str = "Id1") -> str:
    return (
        f'<entry category="Mill" eid="{eid}" size="1">\n'
        f"<modifiedtripleset>{triples}</modifiedtripleset>{texts}</entry>\n"
    )


def document(*entries: str) -> str:
    head = "<?xml version='1.0' encoding='utf-8'?>\n<benchmark><entries>\n"
    return f"{head}{''.join(entries)}</entries></benchmark>"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
        return path

    return written


def complaint(folder: Path, split: str = "train") -> str:
    with pytest.raises(CorpusError) as raised:
        list(read_corpus(f"webnlg:{folder}", split))
    return str(raised.value)


def table(*lines: str) -> dict[str, str | list[str]]:
    return table_of_triples([Triple(*line.split(" | ")) for line in lines]).to_record()


# -- triples -------------------------------------------------------------------------------------


def test_the_subject_is_a_field_and_predicates_are_the_others():
    assert table("Low_Mill | river | Orrel", "Low_Mill | buildDate | 1791") == {
        "subject": "Low Mill",
        "river": "Orrel",
        "buildDate": "1791",
    }


def test_what_is_said_of_an_object_is_named_by_the_way_to_it():
    record = table(
        "Dale | leader | Ann_Crowe", "Low_Mill | region | Dale", "Ann_Crowe | party | Greens (Dale)"
    )
    assert record == {
        "subject": "Low Mill",
        "region.leader": "Ann Crowe",
        "region": "Dale",
        "region.leader.party": "Greens (Dale)",
    }


def test_no_field_is_named_by_an_entity():
    one = table("Low_Mill | region | Dale", "Dale | leader | Ann_Crowe")
    other = table("High_Weir | region | Fells", "Fells | leader | Bob_Hay")
    assert list(one) == list(other)


def test_a_predicate_that_a_subject_has_twice_is_a_list():
    assert table("Low_Mill | owner | Ann_Crowe", "Low_Mill | owner | Bob_Hay") == {
        "subject": "Low Mill",
        "owner": ["Ann Crowe", "Bob Hay"],
    }


def test_a_value_is_listed_once():
    assert table("A | owner | Bob_Hay", 'A | owner | "Bob Hay"')["owner"] == "Bob Hay"


def test_triples_about_two_things_keep_them_apart():
    assert table("Low_Mill | river | Orrel", "High_Weir | river | Ash") == {
        "subject": "Low Mill",
        "subject2": "High Weir",
        "river": "Orrel",
        "subject2.river": "Ash",
    }


def test_in_a_circle_the_first_subject_is_the_subject():
    assert table("Corrin | demonym | Corrin") == {"subject": "Corrin", "demonym": "Corrin"}
    assert table("A | next | B", "B | next | A") == {"subject": "A", "next": "B", "next.next": "A"}


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Low_Mill", "Low Mill"),
        ('"Mill Lane, Saltby"', "Mill Lane, Saltby"),
        ("25.0", "25.0"),
        ("1791-05-29", "1791-05-29"),
        ("The_Weir_(journal)", "The Weir"),
        ("(mill)", "(mill)"),
        ('"Warm (freshly baked) or cold"', "Warm (freshly baked) or cold"),
        ("121.92 (metres)", "121.92 metres"),
        ('"52.0"(minutes)', "52.0 minutes"),
        ('""', ""),
    ],
)
def test_a_value_is_written_as_texts_say_it(written: str, said: str):
    assert spoken(written) == said


NAMES = st.sampled_from([f"thing_{letter}" for letter in "abcdef"])
TRIPLES = st.lists(st.builds(Triple, NAMES, st.sampled_from(["p", "q", "r"]), NAMES), min_size=1, max_size=7)


@given(TRIPLES)
def test_no_subject_or_object_is_lost(triples: list[Triple]):
    found = {value for _, values in table_of_triples(triples) for value in values}
    assert found == {spoken(name) for triple in triples for name in (triple.subject, triple.object)}


@given(TRIPLES)
def test_every_way_begins_at_the_subject(triples: list[Triple]):
    names = [name for name, _ in table_of_triples(triples)]
    assert names[0] == "subject"
    assert len(names) == len(set(names))
    for name in names:
        way, _, _ = name.rpartition(".")
        assert not way or way in names


# -- XML -----------------------------------------------------------------------------------------


def test_each_text_of_an_entry_is_an_example(write: Write, tmp_path: Path):
    texts = f"{TEXT}<lex> The Orrel has\na mill. </lex>"
    write("dev/1triples/b.xml", document(entry(MILL, texts, "Id7")))
    mill = Table((("subject", ("Low Mill",)), ("river", ("Orrel",))))
    first, second = read_corpus(f"webnlg:{tmp_path}", "dev")
    assert first == Example("dev:1triples:Mill:Id7:1", mill, "Low Mill is on the Orrel.")
    assert (second.id, second.text) == ("dev:1triples:Mill:Id7:2", "The Orrel has\na mill.")
    assert first.table is second.table


def test_files_are_read_in_the_order_of_their_names(write: Write, tmp_path: Path):
    write("train/2triples/a.xml", document(entry(MILL, TEXT, "Id3")))
    write("train/1triples/b.xml", document(entry(MILL, TEXT, "Id2")))
    write("train/1triples/a.xml", document(entry(MILL, TEXT, "Id1")))
    write("test/1triples/a.xml", document(entry(MILL, TEXT, "Id4")))
    ids = [example.id for example in read_corpus(f"webnlg:{tmp_path}", "train")]
    assert [name.split(":")[3] for name in ids] == ["Id1", "Id2", "Id3"]


def test_an_empty_text_is_left_out_and_the_others_keep_their_numbers(write: Write, tmp_path: Path):
    write("train/a.xml", document(entry(MILL, f'<lex lid="Id1"> </lex>{TEXT}')))
    assert [e.id for e in read_corpus(f"webnlg:{tmp_path}", "train")] == ["train:1triples:Mill:Id1:2"]


def test_an_entry_without_texts_is_for_generation(write: Write, tmp_path: Path):
    write("test/a.xml", document(entry(MILL)))
    (example,) = read_corpus(f"webnlg:{tmp_path}", "test")
    assert (example.id, example.text) == ("test:1triples:Mill:Id1", None)


def test_what_enriched_releases_add_is_passed_over(write: Write, tmp_path: Path):
    enriched = (
        "<lex><references><reference>Mill</reference></references>"
        "<text>The Orrel drives Low Mill &amp; more.</text>"
        "<template>BRIDGE-1 drives AGENT-1.</template></lex>"
    )
    write("train/a.xml", document(entry(f"<otriple>x</otriple>{MILL}", enriched)))
    (example,) = read_corpus(f"webnlg:{tmp_path}", "train")
    assert example.text == "The Orrel drives Low Mill & more."


def test_a_folder_of_webnlg_is_recognized(write: Write, tmp_path: Path):
    write("train/1triples/a.xml", document(entry(MILL, TEXT)))
    with pytest.raises(CorpusError, match=f"the folder looks like webnlg. Write webnlg:{tmp_path}."):
        read_corpus(tmp_path, "train")


# -- bad input -----------------------------------------------------------------------------------


def test_a_missing_split_says_where_to_get_it(tmp_path: Path):
    assert complaint(tmp_path) == (
        f"{tmp_path}/train: there is no such file or folder; {tmp_path} is empty."
        " The corpus is at https://gitlab.com/shimorina/webnlg-dataset;"
        " name the folder that has train, dev and test."
    )


def test_a_split_without_xml_says_so(write: Write, tmp_path: Path):
    write("train/readme.txt", "x")
    assert complaint(tmp_path) == f"{tmp_path}/train: there is no XML file in this folder."


def test_damaged_xml_has_a_line(write: Write, tmp_path: Path):
    path = write("train/a.xml", document(entry(MILL, TEXT))[:-20])
    assert complaint(tmp_path) == (
        f"{path}:5: not valid XML at column 1: unclosed token. The file is damaged; fetch it again."
    )


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>\n'


@pytest.mark.parametrize(
    "declared", [BOMB, '<!DOCTYPE x SYSTEM "file:///etc/hostname">\n', "<!DOCTYPE benchmark>\n"]
)
def test_a_document_type_is_refused(write: Write, tmp_path: Path, declared: str):
    path = write("train/a.xml", declared + document(entry(MILL, TEXT)).split("\n", 1)[1])
    assert complaint(tmp_path) == (
        f"{path}:1: the file declares a document type, which could define entities without end."
        " WebNLG's files have no <!DOCTYPE>; remove it."
    )


def test_an_entity_that_is_not_xmls_own_is_refused(write: Write, tmp_path: Path):
    path = write("train/a.xml", document(entry(MILL, "<lex>&mill;</lex>")))
    assert complaint(tmp_path).startswith(f"{path}:4: not valid XML at column ")
    assert "undefined entity" in complaint(tmp_path)


@pytest.mark.parametrize("triple", ["Low_Mill | river", "a | b | c | d", "a |  | c", "", "x" * 10_001])
def test_a_triple_has_three_parts(write: Write, tmp_path: Path, triple: str):
    path = write("train/a.xml", document(entry(f"<mtriple>{triple}</mtriple>", TEXT)))
    assert complaint(tmp_path) == (
        f"{path}:4: expected 'subject | predicate | object', found {triple[:80]!r}."
    )


def test_an_entry_without_triples_is_refused(write: Write, tmp_path: Path):
    path = write("train/a.xml", document(entry("", TEXT)))
    assert complaint(tmp_path) == f"{path}:4: the entry has no <mtriple>."


def test_an_entry_with_too_many_triples_is_refused(write: Write, tmp_path: Path):
    path = write("train/a.xml", document(entry(MILL * 101)))
    assert complaint(tmp_path) == f"{path}:4: the entry has more than 100 triples."


def test_an_entry_without_an_id_is_refused(write: Write, tmp_path: Path):
    path = write("train/a.xml", document(entry(MILL, TEXT, " ")))
    assert complaint(tmp_path) == (
        f'{path}:3: the entry has no eid. An entry looks like <entry category="…" eid="…">.'
    )


def test_an_entry_that_is_there_twice_is_refused(write: Write, tmp_path: Path):
    one = write("train/a.xml", document(entry(MILL, TEXT)))
    other = write("train/b.xml", document(entry(MILL, TEXT)))
    assert complaint(tmp_path) == (
        f"{other}:3: the entry 'train:1triples:Mill:Id1' is in the corpus twice, first at {one}:3."
        " Leave one of the files out."
    )


def test_a_file_that_is_not_utf8_is_refused(write: Write, tmp_path: Path):
    path = write("train/a.xml", "")
    path.write_bytes(document(entry(MILL, TEXT)).encode("utf-16"))
    assert complaint(tmp_path) == f"{path}: is not UTF-8 text: byte 0xff at byte 0. Save it as UTF-8."


# -- the real corpus -----------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize(
    ("split", "examples", "tables"), [("train", 34338, 12750), ("dev", 4313, 1618), ("test", 4222, 1600)]
)
def test_all_of_webnlg_is_read(webnlg_folder: Path, split: str, examples: int, tables: int):
    read = list(read_corpus(f"webnlg:{webnlg_folder}", split))
    assert len(read) == len({example.id for example in read}) == examples
    assert len({example.table for example in read}) == tables
    assert all(example.text for example in read)


@pytest.mark.data
def test_webnlgs_tables_are_about_one_subject(webnlg_folder: Path):
    read = read_corpus(f"webnlg:{webnlg_folder}", "test")
    assert not [example.id for example in read if "subject2" in example.table]
