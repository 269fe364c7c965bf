"""The files of a scan: what it reads is never lost, what it leaves is known and checked."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenrank import (
    DataError,
    Lexicon,
    ParameterError,
    read_counts,
    read_lexicon,
    scan,
)
from evenrank.cli import main
from evenrank.errors import UnknownNameError
from evenrank.evidence.scan import scan_file
from evenrank.io import read_documents

LEXICON = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
TEXT = "a\tHe, she\nb\tshe she\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.tsv").write_text(TEXT)
    (tmp_path / "words.csv").write_text("word,group\nhe,left\nshe,right\n")
    return tmp_path


def command(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["scan", *arguments])
    return code, capfd.readouterr().err


def test_a_collection_is_not_written_over(folder: Path) -> None:
    (folder / "link.tsv").symlink_to(folder / "c.tsv")
    (folder / "twin.tsv").hardlink_to(folder / "c.tsv")
    for output in ("c.tsv", "./c.tsv", folder / "c.tsv", "link.tsv", "twin.tsv"):
        with pytest.raises(ParameterError, match="is also an input, and would be overwritten"):
            scan("c.tsv", LEXICON, output)
    with open("c.tsv", "rb") as file, pytest.raises(ParameterError, match="would be overwritten"):  # noqa: PTH123
        scan(file, LEXICON, "c.tsv", format="tsv")
    assert (folder / "c.tsv").read_text() == TEXT
    assert not list(folder.glob("*.parts"))


def test_a_lexicon_is_not_written_over(folder: Path) -> None:
    with pytest.raises(ParameterError, match=r"words\.csv: is also an input"):
        scan("c.tsv", "words.csv", "words.csv")
    assert (folder / "words.csv").read_text().startswith("word,group")


def test_the_command_writes_over_neither(capfd: pytest.CaptureFixture[str], folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for output in ("c.tsv", "words.csv"):
        code, err = command(capfd, "c.tsv", "--lexicon", "words.csv", "-o", output)
        assert code == 2
        assert f"{output}: is also an input, and would be overwritten: choose another name" in err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_standard_input_is_not_written_over(folder: Path) -> None:
    (folder / "c.tsv").rename(folder / "texts")  # a name of a table would be refused before that
    arguments = ["scan", "-:format=tsv", "--lexicon", "words.csv", "-o", "texts"]
    with (folder / "texts").open("rb") as file:
        done = subprocess.run(
            [sys.executable, "-m", "evenrank", *arguments],
            stdin=file,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "texts: is also an input" in done.stderr
    assert (folder / "texts").read_text() == TEXT


def test_nothing_stays_after_bad_data(capfd: pytest.CaptureFixture[str], folder: Path) -> None:
    """The mended file is another source: that is no scan which was interrupted."""
    (folder / "c.tsv").write_text(TEXT + "no tab\n")
    code, _ = command(capfd, "c.tsv", "--lexicon", "words.csv", "-o", "o.parquet")
    assert code == 1
    assert not (folder / "o.parquet.parts").exists()
    (folder / "c.tsv").write_text(TEXT)
    code, err = command(capfd, "c.tsv", "--lexicon", "words.csv", "-o", "o.parquet")
    assert code == 0
    assert "interrupted" not in err
    (folder / "c.tsv").write_text(TEXT + "a\tonce more\n")
    with pytest.raises(DataError, match="more than once"):
        scan_file("c.tsv", LEXICON, "o.parquet")
    assert not (folder / "o.parquet.parts").exists()


def test_columns_of_the_command(capfd: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "t.jsonl").write_text('{"key": "a", "words": "he"}\n')
    code, err = command(capfd, "t.jsonl", "--lexicon", "words.csv", "-o", "o.parquet")
    assert code == 1
    assert "name it with --columns id=NAME" in err
    arguments = ("--lexicon", "words.csv", "-o", "o.parquet", "--columns")
    assert command(capfd, "t.jsonl", *arguments, "id=key,text=words")[0] == 0
    assert read_counts("o.parquet").counts.tolist() == [[1, 0]]
    (folder / "t.tsv").write_text("text\tkey\nshe\ta\n")
    assert command(capfd, "t.tsv", *arguments, "id=key")[0] == 0
    assert read_counts("o.parquet").counts.tolist() == [[0, 1]]
    assert command(capfd, "t.jsonl", *arguments, "document=key,text=words")[0] == 0
    code, err = command(capfd, "t.jsonl", *arguments, "score=key")
    assert code == 2
    assert "'score' is not a role: they are " in err


def test_a_format_that_is_not_told_names_the_key(capfd: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "c.tsv").rename(folder / "collection")
    _, err = command(capfd, "collection", "--lexicon", "words.csv", "-o", "o.parquet")
    assert "format in [data.documents]" in err
    project = '[data]\ndocuments = {file = "collection", format = "tsv"}\n'
    (folder / "evenrank.toml").write_text(project)
    assert command(capfd, "--lexicon", "words.csv", "-o", "o.parquet")[0] == 0


def test_a_lexicon_by_name_or_path() -> None:
    documents = [("a", "she and her mother"), ("b", "he")]
    shipped = scan(documents, "gender-en")
    assert shipped.lexicon == read_lexicon("gender-en")
    assert shipped.counts.tolist() == [[3, 0], [0, 1]]
    assert scan(documents, Path("words.csv"), "o.parquet").counts.tolist() == [[0, 1], [1, 0]]
    with pytest.raises(UnknownNameError, match="is neither a lexicon nor a file"):
        scan(documents, "gender-xx")


def test_counts_of_another_source_are_refused(folder: Path) -> None:
    scan("c.tsv", LEXICON, "o.parquet")
    assert len(read_counts("o.parquet", source="c.tsv")) == 2
    (folder / "same.tsv").write_text(TEXT)
    assert len(read_counts("o.parquet", source=folder / "same.tsv")) == 2  # the content counts
    (folder / "c.tsv").write_text(TEXT + "c\tmore\n")
    with pytest.raises(DataError, match=r"counted in another source, 'c\.tsv', or in one that has changed"):
        read_counts("o.parquet", source="c.tsv")
    with pytest.raises(DataError, match="no such file"):
        read_counts("o.parquet", source="none.tsv")
    scan([("a", "he")], LEXICON, "p.parquet")
    with pytest.raises(DataError, match=r"p\.parquet"):
        read_counts("p.parquet", source="c.tsv")


@pytest.mark.parametrize("name", ["big.tsv", "big.jsonl", "big.csv", "big.tsv.gz", "big.parquet"])
def test_a_source_that_changed_but_kept_its_size_is_refused(name: str, folder: Path) -> None:
    """One letter in the middle of 3 MB: sixteen samples do not see it, a hash of everything does."""
    rows = [(str(number), f"he {number:040}") for number in range(60_000)]

    def write(rows: list[tuple[str, str]]) -> None:
        if name.endswith(".parquet"):
            table = pa.table({"id": [own for own, _ in rows], "text": [text for _, text in rows]})
            pq.write_table(table, name, compression="none", use_dictionary=False)
            return
        form = {"jsonl": '{{"id": "{}", "text": "{}"}}\n', "csv": "{},{}\n"}.get(name[4:], "{}\t{}\n")
        head = "id,text\n" if name.endswith("csv") else ""
        content = (head + "".join(form.format(*row) for row in rows)).encode()
        Path(name).write_bytes(gzip.compress(content, mtime=0) if name.endswith("gz") else content)

    write(rows)
    summary = scan_file(name, LEXICON, "o.parquet")
    size = Path(name).stat().st_size
    assert summary.bytes_read == size if "parquet" not in name else 0 < summary.bytes_read <= size
    assert len(read_counts("o.parquet", source=name)) == 60_000
    place = next(at for at in range(31_000, 60_000) if name.endswith("gz") or at % 7 == 3)
    rows[place] = (rows[place][0], rows[place][1].replace("he", "we"))
    write(rows)
    if not name.endswith("gz"):
        assert Path(name).stat().st_size == size
    with pytest.raises(DataError, match=r"o\.parquet"):
        read_counts("o.parquet", source=name)


def test_counts_of_an_earlier_version_have_no_hash(folder: Path) -> None:
    scan("c.tsv", LEXICON, "o.parquet")
    table = pq.read_table("o.parquet")
    about = json.loads(table.schema.metadata[b"evenrank.counts"])
    about["source"]["fingerprint"] = "0" * 64
    metadata = {b"evenrank.counts": json.dumps(about).encode()}
    pq.write_table(table.replace_schema_metadata(metadata), "old.parquet")
    assert len(read_counts("old.parquet")) == 2
    with pytest.raises(DataError, match=r"old\.parquet"):
        read_counts("old.parquet", source="c.tsv")


def test_bytes_read_are_those_of_the_file(capfd: pytest.CaptureFixture[str], folder: Path) -> None:
    """A document longer than a block is read beyond it; each byte counts once all the same."""
    (folder / "long.tsv").write_text("x\t" + "he she " * 3000 + "\ny\tshe\n")
    size = (folder / "long.tsv").stat().st_size
    assert scan_file("long.tsv", LEXICON, "o.parquet", block_bytes=1000).bytes_read == size
    assert scan_file([("a", "he"), ("é", "she")], LEXICON, "p.parquet").bytes_read == 3 + 5


def test_names_that_are_not_utf8(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """As every name beyond ASCII is where the locale is C."""
    read, written = (os.fsdecode(name) for name in (b"gr\xfcn.parquet", b"z\xe4hl.parquet"))
    try:
        with Path(read).open("wb") as file:
            pq.write_table(pa.table({"id": ["a", "b"], "text": ["He, she", "she she"]}), file)
    except OSError:
        pytest.skip("this file system takes no such names")
    assert command(capfd, read, "--lexicon", "words.csv", "-o", written)[0] == 0
    counts = read_counts(written, source=read)
    assert counts.counts.tolist() == [[1, 1], [0, 2]]
    assert [batch["text"].to_pylist() for batch in read_documents(read)] == [["He, she", "she she"]]
