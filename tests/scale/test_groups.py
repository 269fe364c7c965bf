"""The groups of documents by their words: the same from a cluster as from counts that are held in memory."""

from __future__ import annotations

import gzip
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from backwards import Backwards
from collections_in_formats import FORMATS, rows, write

from evenrank import DataError, Lexicon, Membership, ParameterError, read_groups, scan
from evenrank.evidence.scan import derive_groups, scan_file

LEXICON = Lexicon.build(
    "sides", {"left": ["he"], "right": ["she", "you"]}, targets={"left": 0.25, "right": 0.75}
)
WEIGHTED = Lexicon.build("degrees", {"left": {"he": 1.0, "some": 0.25}, "right": {"she": 0.5, "some": 0.5}})
SIZES: Any = {"block_bytes": 1 << 13, "partition_bytes": 1 << 15}


def documents(count: int) -> list[tuple[str, str]]:
    """Some without any of the words, and ids that do not ascend."""
    found = rows(count)
    return [(key, "nothing" if place % 3 == 0 else text) for place, (key, text) in enumerate(found)][::-1]


def derive(source: Path, output: Path | str, on: Any = None, **options: Any) -> Any:
    return derive_groups(source, output, LEXICON, on=on, **SIZES, **options)


def in_memory(source: Path, minimum: int = 1, lexicon: Lexicon = LEXICON) -> Membership:
    return Membership.from_words(scan(source, lexicon), "side", minimum=minimum)


def is_same(one: Membership, other: Membership) -> bool:
    return one.fingerprint == other.fingerprint and one.attribute.target == other.attribute.target


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_and_a_folder_hold_the_groups_of_the_words(tmp_path: Path, name: str) -> None:
    source = write(tmp_path / name, documents(2000))
    for minimum in (1, 2):
        found = derive(source, tmp_path / "file.parquet", Backwards(), minimum=minimum)
        derive(source, f"{tmp_path}/folder/", minimum=minimum, threads=2)
        plain = in_memory(source, minimum)
        assert is_same(read_groups(tmp_path / "file.parquet", "side"), plain)
        assert is_same(read_groups(tmp_path / "folder", "side"), plain)
        assert (found.documents, found.listed) == (2000, len(plain.doc_ids))
        assert 0 < found.listed < 2000
    parts = list((tmp_path / "folder").glob("part-*"))
    assert len(parts) == 1 if name.endswith(".gz") else len(parts) > 2
    assert sorted(path.name for path in tmp_path.iterdir()) == [name, "file.parquet", "folder"]


def test_a_share_is_that_of_the_words(tmp_path: Path) -> None:
    source = write(tmp_path / "c.tsv", [("a", "He and she and you"), ("b", "it"), ("c", "you")])
    derive(source, tmp_path / "g.parquet")
    found = read_groups(tmp_path / "g.parquet", "side")
    assert found.attribute.target == (0.25, 0.75)
    assert list(found.doc_ids.to_pylist()) == ["a", "c"]
    assert np.allclose(found.shares.dense(np.arange(2)), [[1 / 3, 2 / 3], [0, 1]])
    assert read_groups(tmp_path / "g.parquet", "side", target="collection").attribute.target == "collection"


def test_shares_that_somebody_changed_are_refused(tmp_path: Path) -> None:
    source = write(tmp_path / "c.tsv", [("a", "He and she and you"), ("c", "you")])
    derive(source, tmp_path / "g.parquet")
    table = pq.read_table(tmp_path / "g.parquet")
    changed = table.set_column(1, table.schema.field(1), pa.array([1.0] * len(table)))
    pq.write_table(changed, tmp_path / "g.parquet")
    with pytest.raises(DataError, match=r"g\.parquet: document 'a': .*1\.66667"):
        read_groups(tmp_path / "g.parquet", "side").shares.dense(np.arange(2))


def test_weights_of_words_count(tmp_path: Path) -> None:
    source = write(tmp_path / "c.tsv", documents(300))
    derive_groups(source, tmp_path / "g.parquet", WEIGHTED)
    assert is_same(read_groups(tmp_path / "g.parquet", "side"), in_memory(source, lexicon=WEIGHTED))


def test_counts_that_are_there_are_not_counted_again(tmp_path: Path) -> None:
    source = write(tmp_path / "c.tsv", documents(2000))
    scan_file(source, LEXICON, f"{tmp_path}/counts/", **SIZES)
    source.rename(tmp_path / "gone.tsv")
    derive_groups(tmp_path / "counts", f"{tmp_path}/folder/", on=Backwards())
    assert is_same(read_groups(tmp_path / "folder", "side"), in_memory(tmp_path / "gone.tsv"))
    with pytest.raises(ParameterError, match="need a lexicon"):
        derive_groups(tmp_path / "gone.tsv", tmp_path / "g.parquet")


def test_bad_lines_of_all_partitions_are_listed_and_nothing_is_written(tmp_path: Path) -> None:
    source = write(tmp_path / "c.tsv", documents(2000))
    lines = source.read_bytes().split(b"\n")
    lines[3] = lines[1700] = b"no tab here"
    source.write_bytes(b"\n".join(lines))
    with pytest.raises(DataError, match=r"c.tsv:4: .*\n.*c.tsv:1701: "):
        derive(source, tmp_path / "g.parquet", Backwards())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.tsv"]


def test_a_collection_whose_first_part_has_no_documents(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    folder.mkdir()
    (folder / "0.tsv.gz").write_bytes(gzip.compress(b"\n" * 50))
    (folder / "1.tsv.gz").write_bytes(gzip.compress(b"a\the she\nb\tit\nc\tshe\n"))
    found = derive_groups(folder, tmp_path / "g.parquet", LEXICON, partition_bytes=10)
    assert (found.documents, found.listed) == (3, 2)
    scan_file(folder, LEXICON, f"{tmp_path}/counts/", partition_bytes=10)
    assert derive_groups(tmp_path / "counts", f"{tmp_path}/g/") == found
    for name in ("g.parquet", "g"):
        assert read_groups(tmp_path / name, "side").doc_ids.to_pylist() == ["a", "c"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c", "counts", "g", "g.parquet"]


def test_counts_with_another_lexicon_are_refused(tmp_path: Path, evenrank: Callable[..., Any]) -> None:
    counts, output = tmp_path / "counts.parquet", tmp_path / "g.parquet"
    scan_file(write(tmp_path / "c.tsv", documents(50)), "gender-en", counts)
    with pytest.raises(DataError, match=r"counts\.parquet: .*another lexicon"):
        derive_groups(counts, output, LEXICON)
    with pytest.raises(DataError, match="'word', not 'whitespace'"):
        derive_groups(counts, output, tokenizer="whitespace")
    other = tmp_path / "other.csv"
    other.write_text("group,term\nleft,he\nright,she\n")
    for field in ("groups", "opensearch"):
        command = ("scan", counts, "--field", field, "-o", output)
        refused = evenrank(*command, "--lexicon", other)
        assert refused.code == 1
        assert "counts.parquet" in refused.err
        assert not output.exists()
        assert evenrank(*command, "--lexicon", "gender-en").code == 0
        output.unlink()


def test_what_cannot_be_derived_from_is_said(tmp_path: Path) -> None:
    source = write(tmp_path / "c.tsv", documents(5))
    with pytest.raises(ParameterError, match="got list"):
        derive_groups([("a", "he")], tmp_path / "g.parquet", LEXICON)  # type: ignore[arg-type]
    for minimum in (1.5, True, "2", 0):
        with pytest.raises(ParameterError, match=f"minimum .*got {minimum!r}"):
            derive_groups(source, tmp_path / "g.parquet", LEXICON, minimum=minimum)  # type: ignore[arg-type]
    for output in ("no/g.parquet", "no/g/"):
        with pytest.raises(DataError, match=rf"{tmp_path}/{output.rstrip('/')}: no such folder"):
            derive_groups(source, f"{tmp_path}/{output}", LEXICON)


def test_a_folder_of_counts_is_not_taken_for_groups(tmp_path: Path) -> None:
    source = write(tmp_path / "c.tsv", documents(50))
    scan_file(source, LEXICON, f"{tmp_path}/counts/")
    with pytest.raises(DataError, match=r"counts: .*--field groups"):
        read_groups(tmp_path / "counts", "side")


@pytest.mark.parametrize("output", ["g.parquet", "g/"])
def test_options_of_derived_groups_are_honoured_or_refused(tmp_path: Path, output: str) -> None:
    source = write(tmp_path / "c.tsv", [("a", "he and she and you"), ("b", "it"), ("c", "you")])
    derive(source, f"{tmp_path}/{output}")
    read = partial(read_groups, tmp_path / output, "side")
    for options, named in (
        ({"ignore": ["left"]}, "ignore="),
        ({"even": "left"}, "even="),
        ({"unlabelled": "own"}, "unlabelled="),
        ({"column": "left"}, "column="),
        ({"votes": True}, "votes="),
        ({"format": "csv"}, "/g"),  # read as what it is not
        ({"columns": {"document": "nope"}}, "columns="),
        ({"columns": {"query": "left"}}, "columns="),
        ({"values": ["left", "other"]}, "'left', 'right'"),
    ):
        with pytest.raises((ParameterError, DataError), match=named):
            read(**options)
    assert read(format="parquet").attribute.target == (0.25, 0.75)
    assert read(ordinal=True).attribute.ordinal
    assert read(target="uniform").attribute.target == "uniform"
    assert read(target=np.array([0.5, 0.5])).attribute.target == (0.5, 0.5)
    assert read(target={"right": 1.0, "left": 0.0}).attribute.target == (0.0, 1.0)
    turned = read(values=["right", "left"])
    assert turned.attribute.values == ("right", "left")
    assert turned.attribute.target == (0.75, 0.25)
    assert np.allclose(turned.shares.dense(np.arange(2)), [[2 / 3, 1 / 3], [1, 0]])


def test_dask_gives_the_same_groups(tmp_path: Path, client: Any) -> None:
    source = write(tmp_path / "c.tsv", documents(1000))
    derive(source, f"{tmp_path}/here/")
    derive(source, f"{tmp_path}/dask/", client)
    assert contents(tmp_path / "here") == contents(tmp_path / "dask")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["client", "session"])
@pytest.mark.parametrize("name", FORMATS)
def test_clusters_give_the_same_groups(
    tmp_path: Path, request: pytest.FixtureRequest, name: str, engine: str
) -> None:
    on = request.getfixturevalue(engine)
    source = write(tmp_path / name, documents(2000))
    derive(source, tmp_path / "here.parquet")
    derive(source, tmp_path / "there.parquet", on)
    assert (tmp_path / "here.parquet").read_bytes() == (tmp_path / "there.parquet").read_bytes()


def test_the_command_writes_what_groups_reads(tmp_path: Path, evenrank: Callable[..., Any]) -> None:
    texts = documents(60)
    source = write(tmp_path / "c.tsv", texts)
    run = tmp_path / "r.trec"
    run.write_text(
        "".join(f"q Q0 {key} {rank} {99 - rank} r\n" for rank, (key, _) in enumerate(texts[:20], 1))
    )
    common = ("scan", source, "--lexicon", "gender-en", "-o")
    assert evenrank(*common, tmp_path / "g.parquet", "--field", "groups").code == 0
    assert evenrank(*common, tmp_path / "w.parquet").code == 0
    measure = ("-m", "GF(attr='side')@10", "--format", "tsv")
    read = evenrank("evaluate", run, "--groups", f"side={tmp_path}/g.parquet", *measure)
    words = evenrank("evaluate", run, "--words", tmp_path / "w.parquet", "--groups", "side=words", *measure)
    assert read.code == 0, read.err
    assert read.out == words.out
    assert "GF" in read.out


@pytest.mark.parametrize(("field", "named"), [("groups --minimum 0", "--minimum"), ("group", "'group'")])
def test_keys_that_do_not_fit_are_refused(
    tmp_path: Path, evenrank: Callable[..., Any], field: str, named: str
) -> None:
    source, output = write(tmp_path / "c.tsv", documents(3)), tmp_path / "g.parquet"
    outcome = evenrank("scan", source, "--lexicon", "gender-en", "--field", *field.split(), "-o", output)
    assert outcome.code == 2
    assert named in outcome.err


@pytest.mark.parametrize("work", [scan_file, derive_groups])
def test_columns_of_any_mapping_are_sent_to_workers(tmp_path: Path, work: Callable[..., Any]) -> None:
    class Sending(Backwards):
        def map(self, work: Any, tasks: Any) -> Any:
            assert pickle.dumps(work)
            return super().map(work, tasks)

    source = tmp_path / "c.parquet"
    pq.write_table(pa.table({"key": ["a", "b"], "body": ["he", "she"]}), source)
    columns = MappingProxyType({"id": "key", "text": "body"})
    given: Any = {"lexicon": LEXICON, "columns": columns, "on": Sending()}
    assert work(source, output=tmp_path / "o.parquet", **given).documents == 2
