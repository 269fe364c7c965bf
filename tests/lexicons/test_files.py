"""Lexicons from files, dicts and lists, and back to files."""

from __future__ import annotations

import gzip
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenrank import Lexicon, read_lexicon
from evenrank.data.lexicon import lower
from evenrank.errors import DataError, EvenrankWarning, InputTypeError, ParameterError, UnknownNameError
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


def test_csv_with_a_header(tmp_path: Path) -> None:
    path = written(
        tmp_path, "tiny.csv", "word,group,partner\nShe,female,he\nwoman,female,\nhe,male,she\nman,male,\n"
    )
    lexicon = read_lexicon(path)
    assert (lexicon.name, lexicon.to_dict(), lexicon.partners) == ("tiny", TINY, {"she": "he", "he": "she"})
    assert read_lexicon(str(path), name="mine").name == "mine"


def test_columns_in_any_order_and_no_partners(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", "Group, Word\nfemale, she\nfemale, woman\n\nmale, he\nmale, man\n")
    assert read_lexicon(path) == read_lexicon(TINY)


def test_the_published_form(tmp_path: Path) -> None:
    """``word,f``, without a header; the groups in the order in which they appear."""
    lexicon = read_lexicon(written(tmp_path, "words.txt", "he,m\nshe,f\nman,m\n"))
    assert (lexicon.name, lexicon.to_dict()) == ("words", {"m": ["he", "man"], "f": ["she"]})


def test_tabs_packed_files_and_open_files(tmp_path: Path) -> None:
    text = "word\tgroup\nshe\tfemale\nwoman\tfemale\nhe\tmale\nman\tmale\n"
    assert read_lexicon(written(tmp_path, "t.tsv", text)) == read_lexicon(TINY)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text.replace("\t", ",").encode()))
    packed = read_lexicon(tmp_path / "t.csv.gz")
    assert (packed, packed.name) == (read_lexicon(TINY), "t")
    assert read_lexicon(io.StringIO(text.replace("\t", ","))) == read_lexicon(TINY)
    assert read_lexicon(io.BytesIO(json.dumps(TINY).encode())) == read_lexicon(TINY)


def test_a_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbfword,group\nshe,f\nhe,m\n")
    with pytest.warns(EvenrankWarning, match="byte order mark"):
        assert read_lexicon(tmp_path / "t.csv").terms == ("she", "he")


def test_json(tmp_path: Path) -> None:
    value = {"name": "ages", "groups": AGES, "targets": SHARES, "partners": {"child": "adult"}}
    lexicon = read_lexicon(written(tmp_path, "x.json", json.dumps(value)))
    assert (lexicon.name, lexicon.to_dict()) == ("ages", AGES)
    assert lexicon.targets == (0.25, 0.5, 0.25)
    assert lexicon.partners == {"child": "adult", "adult": "child"}
    plain = read_lexicon(written(tmp_path, "plain.json", json.dumps(AGES)))
    assert (plain.name, plain.to_dict(), plain.targets) == ("plain", AGES, (1 / 3, 1 / 3, 1 / 3))


def test_a_partner_may_be_given_on_one_side(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", "word,group,partner\nshe,f,HE\nhe,m,\n")
    assert read_lexicon(path).partners == {"she": "he", "he": "she"}


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
    assert str(caught.value) == (
        f"{one}:2: 'She' is twice in group 'f' (line 1; case does not count)\n"
        f"{two}:2: 'old  man': the words of a term are separated by one blank\n"
        f"{two}:3: 'she' is in group 'f' ({one}:1) and in 'm'\n"
        f"{none}: no words (of group 'n')"
    )
    with pytest.raises(ParameterError, match="at least two groups"):
        lexicon_from_lists("x", {"m": written(tmp_path, "ok.txt", "he")})
    with pytest.raises(InputTypeError, match="a word list is a path or an open file, got list"):
        lexicon_from_lists("x", {"m": ["he"], "f": ["she"]})


BAD_CSV = {
    "empty": ("", "{}: a share needs at least two groups, but there are no words"),
    "header only": ("word,group\n", "{}: a share needs at least two groups, but there are no words"),
    "one group": ("she,f\nher,f\n", "{}: a share needs at least two groups, but all words are of group 'f'"),
    "two groups": ("he,m\nshe,f\nHE,f\n", "{}:3: 'HE' is in group 'm' (line 1) and in 'f'"),
    "twice": ("he,m\nshe,f\nHe,m\n", "{}:3: 'He' is twice in group 'm' (line 1; case does not count)"),
    "no word": ("he,m\n ,f\nshe,f\n", "{}:2: the word is empty"),
    "no group": ("he,m\nshe,\nher,f\n", "{}:2: 'she' has no group"),
    "blanks": ("he,m\nold  lady,f\n", "{}:2: 'old  lady': the words of a term are separated by one blank"),
    "three columns": ("he,m\nshe,f,x\n", "{}:2: 3 columns, but 2 are needed: word, group"),
    "one column": ("word,group\nhe,m\nshe\n", "{}:3: 1 column, but 2 are needed: word, group"),
    "another header": (
        "word,gender\nhe,m\n",
        "{}:1: the columns must be word, group and, if wanted, partner or weight (two columns need no "
        "header line); the first row is 'word, gender'",
    ),
    "no header": (
        "he,m,she\nshe,f,he\n",
        "{}:1: the columns must be word, group and, if wanted, partner or weight (two columns need no "
        "header line); the first row is 'he, m, she'",
    ),
    "quotes": ('he,m\n"she,f\n', "{}:2: not CSV: unexpected end of data"),
    "partner unknown": (
        "word,group,partner\nhe,m,her\nshe,f,\n",
        "{}:2: the partner of 'he', 'her', is not a word of the lexicon",
    ),
    "partner in the same group": (
        "word,group,partner\nhe,m,him\nhim,m,\nshe,f,\n",
        "{}:2: 'he' and its partner 'him' are in the same group",
    ),
    "partner of two": (
        "word,group,partner\nhe,m,she\nhim,m,she\nshe,f,\n",
        "{}:3: the partner of 'him' is 'she', whose partner is 'he'",
    ),
    "several, by line": (
        "word,group,partner\nhe,m,x\nshe,f,\nshe,m,\n,f,\n",
        "{0}:2: the partner of 'he', 'x', is not a word of the lexicon\n"
        "{0}:4: 'she' is in group 'f' (line 3) and in 'm'\n"
        "{0}:5: the word is empty",
    ),
}


@pytest.mark.parametrize("case", BAD_CSV)
def test_bad_csv(case: str, tmp_path: Path) -> None:
    text, message = BAD_CSV[case]
    path = written(tmp_path, "bad.csv", text)
    with pytest.raises(DataError) as caught:
        read_lexicon(path)
    assert str(caught.value) == message.format(path)


def test_at_most_twenty_problems(tmp_path: Path) -> None:
    path = written(tmp_path, "bad.csv", "he,m\nshe,f\n" + "he,m\n" * 30)
    with pytest.raises(DataError) as caught:
        read_lexicon(path)
    lines = str(caught.value).splitlines()
    assert (len(lines), lines[-1]) == (21, f"{path}: only the first 20 problems are listed")
    assert [problem.line for problem in caught.value.problems] == list(range(3, 23))


def test_invalid_utf8(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(b"he,m\nsh\xe9,f\n")
    with pytest.raises(DataError, match=r"bad\.csv:2: invalid UTF-8 at byte 7 of the file"):
        read_lexicon(path)


BAD_JSON: dict[str, tuple[str, str]] = {
    "cut off": ('{"a": ["x"],\n', "{}:2: not JSON: Expecting property name enclosed in double quotes"),
    "a list": ("[1]", '{}: expected an object {{"groups": {{group: [words]}}}}'),
    "a key twice": ('{"a": ["x"], "a": ["y"]}', "{}: the key 'a' is there twice"),
    "unknown key": (
        '{"groups": {"a": ["x"], "b": ["y"]}, "target": {}}',
        "{}: unknown key 'target'; known are name, groups, targets, partners",
    ),
    "text for a list": ('{"a": "xyz", "b": ["y"]}', "{}: the words of group 'a' must be a list, got 'xyz'"),
    "a number for a word": ('{"a": [1], "b": ["y"]}', "{}: group 'a' holds 1, which is not text"),
    "empty group": ('{"a": [], "b": ["y"]}', "{}: group 'a' has no words"),
    "no groups": ("{}", "{}: a share needs at least two groups, got 0"),
    "two groups": (
        '{"a": ["x"], "b": ["X"]}',
        "{0}: 'X' is in group 'a' and in 'b'\n{0}: group 'b' has no words",
    ),
    "blank word": ('{"a": ["x", " "], "b": ["y"]}', "{}: group 'a' holds an empty word"),
    "targets": (
        '{"groups": {"a": ["x"], "b": ["y"]}, "targets": {"a": 0.9, "b": 0.9}}',
        "{}: targets must be >= 0 and sum to 1, got {{'a': 0.9, 'b': 0.9}}",
    ),
    "a target that is no number": (
        '{"groups": {"a": ["x"], "b": ["y"]}, "targets": {"a": NaN, "b": 0.5}}',
        "{}: targets must be >= 0 and sum to 1, got {{'a': nan, 'b': 0.5}}",
    ),
    "a target that is text": (
        '{"groups": {"a": ["x"], "b": ["y"]}, "targets": {"a": "half", "b": 0.5}}',
        "{}: targets must give a number for each group, got {{'a': 'half', 'b': 0.5}}",
    ),
    "partners": (
        '{"groups": {"a": ["x"], "b": ["y"]}, "partners": ["x", "y"]}',
        "{}: partners must give a word for each word, got ['x', 'y']",
    ),
    "partner unknown": (
        '{"groups": {"a": ["x"], "b": ["y"]}, "partners": {"x": "z"}}',
        "{0}: partners 'x' and 'z' must both be terms\n{0}: partners 'z' and 'x' must both be terms",
    ),
    "a name that is a number": (
        '{"groups": {"a": ["x"], "b": ["y"]}, "name": 3}',
        "{}: a name must be text, got 3",
    ),
}


@pytest.mark.parametrize("case", BAD_JSON)
def test_bad_json(case: str, tmp_path: Path) -> None:
    text, message = BAD_JSON[case]
    path = written(tmp_path, "bad.json", text)
    with pytest.raises(DataError) as caught:
        read_lexicon(path)
    assert str(caught.value) == message.format(path)


def test_bad_dicts() -> None:
    with pytest.raises(DataError, match=r"^lexicon 'ages': group 'old' has no words$"):
        read_lexicon({**AGES, "old": []}, name="ages")
    with pytest.raises(DataError, match=r"^lexicon: the words of group 'male' must be a list, got 'he'$"):
        read_lexicon({"female": ["she"], "male": "he"})


def test_what_is_no_lexicon(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError) as caught:
        read_lexicon("gender-fr")
    assert str(caught.value) == (
        "'gender-fr' is neither a lexicon nor a file: there is no such file, and the lexicons that come with "
        "the package are gender-en, gender-en-names, gender-de, religion-en, region-en "
        "(several are joined by '+')"
    )
    with pytest.raises(UnknownNameError, match=re.escape("'gender-en+x' is neither")):
        read_lexicon("gender-en+x")
    for name in ["a\0b", "x" * 10_000]:
        with pytest.raises(UnknownNameError):
            read_lexicon(name)
    with pytest.raises(DataError, match="the file name is empty"):
        read_lexicon("")
    with pytest.raises(ParameterError, match="joined to itself"):
        read_lexicon("gender-en+gender-en")
    with pytest.raises(DataError, match="no such file"):
        read_lexicon(tmp_path / "none.csv")
    with pytest.raises(DataError, match="is a directory"):
        read_lexicon(str(tmp_path))
    with pytest.raises(InputTypeError, match=r"a lexicon is read from the name of one .* got int"):
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
    with pytest.raises(ParameterError, match=r"ages\.csv: CSV has no place for the targets .*: write \.json"):
        write_lexicon(lexicon, tmp_path / "ages.csv")
    assert [file.name for file in tmp_path.iterdir()] == ["ages.json"]
    equal = Lexicon.build("ages", AGES)
    write_lexicon(equal, str(tmp_path / "ages.csv"))
    assert read_lexicon(tmp_path / "ages.csv") == equal


def test_what_cannot_be_written(tmp_path: Path) -> None:
    lexicon = read_lexicon(TINY)
    with pytest.raises(ParameterError, match=r"a lexicon is written as \.csv or \.json"):
        write_lexicon(lexicon, tmp_path / "out.txt")
    with pytest.raises(DataError, match="no such folder"):
        write_lexicon(lexicon, tmp_path / "none/out.csv")
    odd = Lexicon.build("odd", {" a": ["x"], "b": ["y"]})
    with pytest.raises(ParameterError, match=r"CSV cannot hold the group ' a' as it is: write \.json"):
        write_lexicon(odd, tmp_path / "out.csv")
    with pytest.raises(DataError, match="half of a surrogate pair"):
        write_lexicon(Lexicon.build("odd", {"a": ["\ud800"], "b": ["y"]}), tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def tidy(text: str) -> str:
    return " ".join(lower(text).split())


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


@pytest.mark.parametrize("header", ["term,group", "Word,Group"])
def test_a_header_is_no_word(header: str, tmp_path: Path) -> None:
    path = tmp_path / "ages.csv"
    path.write_text(f"{header}\nchild,young\nadult,grown\n")
    lexicon = read_lexicon(path)
    assert lexicon.groups == ("young", "grown")
    assert set(lexicon.terms) == {"child", "adult"}
