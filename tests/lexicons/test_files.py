"""Lexicons from files, dicts and lists, and back to files."""

from __future__ import annotations

import gzip
import io
import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from evenrank import Lexicon, read_lexicon
from evenrank.errors import DataError, InputTypeError, ParameterError, UnknownNameError
from evenrank.io.lexicons import lexicon_from_lists, write_lexicon

TINY = {"female": ["she", "woman"], "male": ["he", "man"]}

# the age of the people a text is about: any number of groups, any targets
AGES = {
    "young": ["child", "children", "teenager", "young people"],
    "middle": ["adult", "adults", "middle aged"],
    "old": ["elderly", "pensioner", "pensioners", "old people"],
}
SHARES = {"young": 0.25, "middle": 0.5, "old": 0.25}


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_dict() -> None:
    lexicon = read_lexicon(TINY)
    assert lexicon.to_dict() == TINY
    assert lexicon.name == "lexicon"
    assert read_lexicon(TINY, name="tiny").name == "tiny"
    assert read_lexicon({"a": ("x",), "b": iter(["y"])}).to_dict() == {"a": ["x"], "b": ["y"]}


def test_a_lexicon_is_itself() -> None:
    lexicon = read_lexicon(TINY)
    assert read_lexicon(lexicon) is lexicon
    assert read_lexicon(lexicon, name="other").name == "other"


def test_tabs_packed_files_and_open_files(tmp_path: Path) -> None:
    text = "word\tgroup\nshe\tfemale\nwoman\tfemale\nhe\tmale\nman\tmale\n"
    assert read_lexicon(written(tmp_path, "t.tsv", text)) == read_lexicon(TINY)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text.replace("\t", ",").encode()))
    packed = read_lexicon(tmp_path / "t.csv.gz")
    assert (packed, packed.name) == (read_lexicon(TINY), "t")
    assert read_lexicon(io.StringIO(text.replace("\t", ","))) == read_lexicon(TINY)
    assert read_lexicon(io.BytesIO(json.dumps(TINY).encode())) == read_lexicon(TINY)


def test_json_lines_and_parquet_are_tables_too(tmp_path: Path) -> None:
    rows = [{"Term": "she", "group": "female", "note": 1}, {"Term": "he", "group": "male", "note": 2}]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet")
    for path in (written(tmp_path, "t.jsonl", text), tmp_path / "t.parquet"):
        lexicon = read_lexicon(path)
        assert (lexicon.name, lexicon.to_dict()) == ("t", {"female": ["she"], "male": ["he"]})
    with pytest.raises(DataError, match=r"bad\.jsonl:3: .*'She'.*line 1"):
        read_lexicon(written(tmp_path, "bad.jsonl", text + '{"Term": "She", "group": "female"}\n'))


def test_word_lists(tmp_path: Path) -> None:
    women = written(tmp_path, "women.txt", "# everyday words\nShe\r\n\nwoman\n")
    men = written(tmp_path, "men.txt", "he\nman")
    lexicon = lexicon_from_lists("tiny", {"female": women, "male": str(men)})
    assert (lexicon.name, lexicon.to_dict()) == ("tiny", TINY)


def test_bad_word_lists(tmp_path: Path) -> None:
    one = written(tmp_path, "one.txt", "she\nShe\n")
    two = written(tmp_path, "two.txt", "he\nold  man\nshe\n")
    none = written(tmp_path, "none.txt", "# nothing\n")
    with pytest.raises(DataError) as caught:
        lexicon_from_lists("x", {"f": one, "m": two, "n": none})
    where = [problem.partition(": ")[0] for problem in str(caught.value).splitlines()]
    assert where == [f"{one}:2", f"{two}:2", f"{two}:3", str(none)]
    with pytest.raises(ParameterError):
        lexicon_from_lists("x", {"m": written(tmp_path, "ok.txt", "he")})
    with pytest.raises(InputTypeError, match="list"):
        lexicon_from_lists("x", {"m": ["he"], "f": ["she"]})


def test_bad_dicts() -> None:
    with pytest.raises(DataError, match=r"'ages'.*'old'"):
        read_lexicon({**AGES, "old": []}, name="ages")
    with pytest.raises(DataError, match=r"'male'.*'he'"):
        read_lexicon({"female": ["she"], "male": "he"})
    for weight in (True, "2", None):
        with pytest.raises(DataError, match="'male'"):
            read_lexicon({"female": {"she": 1.0}, "male": {"he": weight}})


def test_what_is_no_lexicon(tmp_path: Path) -> None:
    for name in ("gender-fr", "gender-en+x"):
        with pytest.raises(UnknownNameError, match=re.escape(f"'{name}'") + ".*gender-en, gender-en-names"):
            read_lexicon(name)
    for name in ["a\0b", "x" * 10_000]:
        with pytest.raises(UnknownNameError):
            read_lexicon(name)
    with pytest.raises(DataError, match="empty"):
        read_lexicon("")
    with pytest.raises(ParameterError, match="gender-en"):
        read_lexicon("gender-en+gender-en")
    with pytest.raises(DataError, match=r"none\.csv"):
        read_lexicon(tmp_path / "none.csv")
    with pytest.raises(DataError):
        read_lexicon(str(tmp_path))
    with pytest.raises(InputTypeError, match="int"):
        read_lexicon(3)


def test_a_shipped_name_wins_over_a_file_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "gender-en", "he,m\nshe,f\n")
    assert len(read_lexicon("gender-en")) > 100
    assert len(read_lexicon("./gender-en")) == 2


@pytest.mark.parametrize("name", ["out.csv", "out.json", "out.csv.gz", "out.json.zst"])
def test_round_trip(name: str, tmp_path: Path) -> None:
    lexicon = read_lexicon("gender-en+gender-en-names")
    write_lexicon(lexicon, tmp_path / name)
    back = read_lexicon(tmp_path / name)
    assert (back, back.partners) == (lexicon, lexicon.partners)
    assert back.name == ("out" if ".csv" in name else lexicon.name)


def test_three_groups_with_targets(tmp_path: Path) -> None:
    lexicon = Lexicon.build("ages", AGES, targets=SHARES)
    write_lexicon(lexicon, tmp_path / "ages.json")
    assert read_lexicon(tmp_path / "ages.json") == lexicon
    with pytest.raises(ParameterError, match=r"ages\.csv.*\.json"):
        write_lexicon(lexicon, tmp_path / "ages.csv")
    assert [file.name for file in tmp_path.iterdir()] == ["ages.json"]
    equal = Lexicon.build("ages", AGES)
    write_lexicon(equal, str(tmp_path / "ages.csv"))
    assert read_lexicon(tmp_path / "ages.csv") == equal


def test_what_cannot_be_written(tmp_path: Path) -> None:
    lexicon = read_lexicon(TINY)
    with pytest.raises(ParameterError, match=r"\.csv.*\.json"):
        write_lexicon(lexicon, tmp_path / "out.txt")
    with pytest.raises(DataError):
        write_lexicon(lexicon, tmp_path / "none/out.csv")
    odd = Lexicon.build("odd", {" a": ["x"], "b": ["y"]})
    with pytest.raises(ParameterError, match=r"' a'.*\.json"):
        write_lexicon(odd, tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def tidy(text: str) -> str:
    return " ".join(text.lower().split())


TERMS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).map(tidy).filter(bool)


@st.composite
def lexicons(draw: Any) -> Lexicon:
    groups = draw(st.lists(TERMS, min_size=2, max_size=4, unique=True))
    size = len(groups)
    terms = draw(st.lists(TERMS, min_size=size, max_size=4 * size, unique=True))
    partners = {terms[0]: terms[1], terms[1]: terms[0]} if draw(st.booleans()) else {}
    return Lexicon.build(
        "any", {group: terms[at::size] for at, group in enumerate(groups)}, partners=partners
    )


@given(lexicons())
def test_any_lexicon_survives_both_formats(
    tmp_path_factory: pytest.TempPathFactory, lexicon: Lexicon
) -> None:
    folder = tmp_path_factory.mktemp("any")
    for name in ("any.csv", "any.json"):
        write_lexicon(lexicon, folder / name)
        back = read_lexicon(folder / name)
        assert (back, back.partners, back.name) == (lexicon, lexicon.partners, "any")


def test_the_published_list(shared: Path) -> None:
    published = read_lexicon(shared / "data/msmarco_trecdl/wordlist_gender_representative.txt")
    assert (published.groups, len(published.words("m")), len(published.words("f"))) == (("m", "f"), 163, 163)
