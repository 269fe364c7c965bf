"""The groups of documents by their words: the same from a cluster as from counts that are held in memory."""

from __future__ import annotations

import errno
import gzip
import os
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

from evenrank import Lexicon, Membership, read_groups, scan
from evenrank.errors import DataError, EvenrankError, EvenrankWarning, ParameterError
from evenrank.evidence.scan import derive_groups, scan_file
from evenrank.evidence.scan.derive import derive_part
from evenrank.io import atomic
from evenrank.io.column_names import SharedColumns
from evenrank.io.derived_groups import sound_groups

LEXICON = Lexicon.build(
    "sides", {"left": ["he"], "right": ["she", "you"]}, targets={"left": 0.25, "right": 0.75}
)
WEIGHTED = Lexicon.build("degrees", {"left": {"he": 1.0, "some": 0.25}, "right": {"she": 0.5, "some": 0.5}})
BLOCK, PARTITION = 1 << 13, 1 << 15


def documents(count: int) -> list[tuple[str, str]]:
    """Some without any of the words, and ids that do not ascend."""
    found = rows(count)
    return [(key, "nothing" if place % 3 == 0 else text) for place, (key, text) in enumerate(found)][::-1]


def derive(source: Path, output: Path | str, on: Any = None, **options: Any) -> Any:
    return derive_groups(
        source, output, LEXICON, on=on, block_bytes=BLOCK, partition_bytes=PARTITION, **options
    )


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


def test_weights_of_words_count(tmp_path: Path) -> None:
    source = write(tmp_path / "c.tsv", documents(300))
    derive_groups(source, tmp_path / "g.parquet", WEIGHTED)
    assert is_same(read_groups(tmp_path / "g.parquet", "side"), in_memory(source, lexicon=WEIGHTED))


def test_counts_that_are_there_are_not_counted_again(tmp_path: Path) -> None:
    source = write(tmp_path / "c.tsv", documents(2000))
    scan_file(source, LEXICON, f"{tmp_path}/counts/", block_bytes=BLOCK, partition_bytes=PARTITION)
    source.rename(tmp_path / "gone.tsv")
    derive_groups(tmp_path / "counts", f"{tmp_path}/folder/", on=Backwards())
    assert is_same(read_groups(tmp_path / "folder", "side"), in_memory(tmp_path / "gone.tsv"))
    with pytest.raises(ParameterError, match="need a lexicon"):
        derive_groups(tmp_path / "gone.tsv", tmp_path / "g.parquet")


class Stops(Exception):
    pass


class Noting(Backwards):
    """Notes which functions it runs, and may stop at a place of one of them."""

    def __init__(self, stop: str = "", after: int = 0) -> None:
        super().__init__()
        self.stop, self.after, self.noted = stop, after, []  # type: ignore[var-annotated]

    def run(self, work: Any, tasks: Any) -> Any:
        name = (work.func if isinstance(work, partial) else work).__name__
        for place, task in enumerate(tasks):
            if name == self.stop and place == self.after:
                raise Stops
            self.noted.append(name)
            yield place, work(task)


@pytest.mark.parametrize("output", ["g.parquet", "g/"])
@pytest.mark.parametrize(("stop", "counted"), [("count_partition", True), ("derive_part", False)])
def test_a_command_that_was_killed_goes_on(tmp_path: Path, output: str, stop: str, counted: bool) -> None:
    source = write(tmp_path / "c.tsv", documents(2000))
    with pytest.raises(Stops):
        derive(source, f"{tmp_path}/{output}", Noting(stop, 2))
    assert not (tmp_path / output).exists()
    whole, again = Noting(), Noting()
    derive(source, f"{tmp_path}/whole-{output}", whole)
    derive(source, f"{tmp_path}/{output}", again)
    total = whole.noted.count("derive_part")
    assert again.noted.count("count_partition") == (total - 2 if counted else 0)
    assert again.noted.count("derive_part") == (total if counted else total - 2)
    one, other = tmp_path / output, tmp_path / f"whole-{output}"
    assert (
        contents(one) == contents(other) if output.endswith("/") else one.read_bytes() == other.read_bytes()
    )
    assert not [path.name for path in tmp_path.iterdir() if "counts" in path.name or "parts" in path.name]


def test_counts_of_a_file_that_changed_are_not_used(tmp_path: Path) -> None:
    source = write(tmp_path / "c.tsv", documents(2000))
    with pytest.raises(Stops):
        derive(source, tmp_path / "g.parquet", Noting("derive_part", 1))
    write(source, documents(1500))
    with pytest.warns(EvenrankWarning, match="starting anew, because .* another set of word counts"):
        derive(source, tmp_path / "g.parquet", Noting())
    assert is_same(read_groups(tmp_path / "g.parquet", "side"), in_memory(source))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.tsv", "g.parquet"]


def test_bad_lines_of_all_partitions_are_listed_and_nothing_is_written(tmp_path: Path) -> None:
    source = write(tmp_path / "c.tsv", documents(2000))
    lines = source.read_bytes().split(b"\n")
    lines[3] = lines[1700] = b"no tab here"
    source.write_bytes(b"\n".join(lines))
    with pytest.raises(DataError, match=r"c.tsv:4: no tab.*\n.*c.tsv:1701: no tab"):
        derive(source, tmp_path / "g.parquet", Backwards())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.tsv"]


def test_another_folder_is_not_replaced_and_one_without_its_commit_not_read(tmp_path: Path) -> None:
    source = write(tmp_path / "c.tsv", documents(100))
    scan_file(source, LEXICON, f"{tmp_path}/counts/")
    with pytest.raises(DataError, match="something else in it"):
        derive(source, tmp_path / "counts")
    derive(source, f"{tmp_path}/g/")
    derive(source, f"{tmp_path}/g/", minimum=2)
    assert is_same(read_groups(tmp_path / "g", "side"), in_memory(source, 2))
    (tmp_path / "g" / "part-00000.parquet").write_bytes(b"")
    with pytest.raises(DataError, match="not what was written"):
        read_groups(tmp_path / "g", "side")


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


def test_counts_of_ours_that_are_damaged_are_made_again(tmp_path: Path) -> None:
    """A command that was killed leaves them hidden: an error about them would not go away."""
    source = write(tmp_path / "c.tsv", documents(2000))
    with pytest.raises(Stops):
        derive(source, tmp_path / "g.parquet", Noting("derive_part", 1))
    (hidden,) = tmp_path.glob(".g.parquet.*.evenrank-counts")
    for part in hidden.glob("part-*"):
        content = bytearray(part.read_bytes())
        content[len(content) // 3] ^= 16
        part.write_bytes(content)
    message = r"g\.parquet: .*the words that were counted.* give the same command"
    with pytest.warns(EvenrankWarning, match="starting anew"), pytest.raises(DataError, match=message):
        derive(source, tmp_path / "g.parquet", Noting())
    assert not hidden.exists()
    derive(source, tmp_path / "g.parquet", Noting())
    assert is_same(read_groups(tmp_path / "g.parquet", "side"), in_memory(source))


def test_counts_that_were_never_finished_are_removed_unless_somebody_is_at_work(tmp_path: Path) -> None:
    source, output = write(tmp_path / "c.tsv", documents(2000)), tmp_path / "g.parquet"

    with pytest.raises(Stops):
        derive(source, output, Noting("count_partition", 2))
    (left,) = tmp_path.glob(".g.parquet.*.evenrank-counts.parts")
    with source.open("a") as file:
        file.write("another\tshe\n")

    class AtWork(Noting):
        """Another command for the same output is given while this one counts."""

        def run(self, work: Any, tasks: Any) -> Any:
            for place, result in super().run(work, tasks):
                if not seen:
                    seen.extend(tmp_path.glob(".g.parquet.*.evenrank-counts.parts"))
                    derive_groups(
                        source,
                        output,
                        LEXICON,
                        on=Noting(),
                        block_bytes=BLOCK,
                        partition_bytes=PARTITION // 2,
                    )
                    assert [path for path in seen if path.exists()] == [path for path in seen if path != left]
                yield place, result

    seen: list[Path] = []
    derive(source, output, AtWork())
    assert len(seen) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.tsv", "g.parquet"]
    assert is_same(read_groups(output, "side"), in_memory(source))


@pytest.mark.parametrize("output", ["g.parquet", "g/"])
def test_counts_are_kept_where_something_is_in_the_way_of_the_output(tmp_path: Path, output: str) -> None:
    source = write(tmp_path / "c.tsv", documents(2000))
    in_the_way = tmp_path / f"{output.rstrip('/')}.parts"
    in_the_way.write_text("mine")
    with pytest.raises(DataError, match=rf"^{in_the_way}: is in the way"):
        derive(source, f"{tmp_path}/{output}", Noting())
    in_the_way.unlink()
    again = Noting()
    derive(source, f"{tmp_path}/{output}", again)
    assert "count_partition" not in again.noted


def test_counts_of_another_process_are_kept(tmp_path: Path) -> None:
    """The same command is given again while the first one derives groups: the second one is refused."""
    source, output = write(tmp_path / "c.tsv", documents(2000)), tmp_path / "g.parquet"

    class Interrupted(Noting):
        def run(self, work: Any, tasks: Any) -> Any:
            for place, result in super().run(work, tasks):
                if self.noted[-1] == "derive_part" and not refused:
                    with pytest.raises(DataError, match=r"g\.parquet: another scan is writing it") as error:
                        derive(source, output, Noting())
                    refused.append(error)
                yield place, result

    refused: list[Any] = []
    derive(source, output, Interrupted())
    assert refused
    assert is_same(read_groups(output, "side"), in_memory(source))


@pytest.mark.parametrize("place", ["settings.json", "part-00001-"])
def test_counts_and_finished_parts_are_kept_where_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    source, output = write(tmp_path / "c.tsv", documents(2000)), tmp_path / "g.parquet"
    with monkeypatch.context() as patch:
        temporary = atomic._temporary

        def full(target: Path) -> Any:
            if target.parent == tmp_path / "g.parquet.parts" and target.name.startswith(place):
                raise OSError(errno.ENOSPC, "No space left on device", str(target))
            return temporary(target)

        patch.setattr("evenrank.io.atomic._temporary", full)
        first = Noting()
        with pytest.raises(DataError, match=r"cannot be written: No space left on device$"):
            derive(source, output, first)
    again = Noting()
    derive(source, output, again)
    assert "count_partition" not in again.noted
    total = first.noted.count("count_partition")
    assert again.noted.count("derive_part") == (total if place == "settings.json" else total - 1)


@pytest.mark.parametrize("number", [errno.EMFILE, errno.EACCES, errno.ENOENT])
def test_counts_that_cannot_be_opened_are_not_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    source, output = write(tmp_path / "c.tsv", documents(2000)), tmp_path / "g.parquet"
    with monkeypatch.context() as patch:

        def refuse(path: Path) -> Any:
            raise OSError(number, "Failed to open local file", str(path))

        class Refusing(Noting):
            def run(self, work: Any, tasks: Any) -> Any:
                if getattr(work, "func", None) is derive_part:
                    patch.setattr("evenrank.io.counts.parquet_file", refuse)
                return super().run(work, tasks)

        with pytest.raises(DataError, match=rf"part-00000\.parquet: cannot be read: {os.strerror(number)}"):
            derive(source, output, Refusing())
    again = Noting()
    derive(source, output, again)
    assert "count_partition" not in again.noted


def test_damage_of_what_was_derived_is_not_damage_of_the_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, output = write(tmp_path / "c.tsv", documents(2000)), tmp_path / "g.parquet"
    with monkeypatch.context() as patch:

        def damaged(path: Path) -> Any:
            with sound_groups(path):
                raise pa.ArrowInvalid("a page is not what it was")

        patch.setattr("evenrank.evidence.scan.derive.derived_batches", damaged)
        with pytest.raises(EvenrankError, match=r"is not a sound Parquet file of groups .* was kept"):
            derive(source, output, Noting())
    again = Noting()
    derive(source, output, again)
    assert again.noted == []


@pytest.mark.parametrize("field", [None, "opensearch"])
def test_counts_with_another_lexicon_are_refused(
    tmp_path: Path, evenrank: Callable[..., Any], field: str | None
) -> None:
    source = write(tmp_path / "c.tsv", documents(50))
    scan_file(source, "gender-en", tmp_path / "counts.parquet")
    if field is None:
        with pytest.raises(DataError, match=r"counts\.parquet: was counted with another lexicon"):
            derive_groups(tmp_path / "counts.parquet", tmp_path / "g.parquet", LEXICON)
        with pytest.raises(DataError, match="was counted with the tokeniser 'word', not 'whitespace'"):
            derive_groups(tmp_path / "counts.parquet", tmp_path / "g.parquet", tokenizer="whitespace")
    other = tmp_path / "other.csv"
    other.write_text("group,term\nleft,he\nright,she\n")
    output = tmp_path / "g.parquet"
    command = ("scan", tmp_path / "counts.parquet", "--field", field or "groups", "-o", output)
    refused = evenrank(*command, "--lexicon", other)
    assert refused.code == 1
    assert "counts.parquet: was counted with another lexicon" in refused.err
    assert not (tmp_path / "g.parquet").exists()
    same = evenrank(*command, "--lexicon", "gender-en")
    assert same.code == 0, same.err


def test_what_cannot_be_derived_from_is_said(tmp_path: Path) -> None:
    source = write(tmp_path / "c.tsv", documents(5))
    with pytest.raises(ParameterError, match=r"groups are derived from documents in files.*got list"):
        derive_groups([("a", "he")], tmp_path / "g.parquet", LEXICON)  # type: ignore[arg-type]
    for minimum in (1.5, True, "2", 0):
        with pytest.raises(ParameterError, match=f"minimum must be an integer >= 1, got {minimum!r}"):
            derive_groups(source, tmp_path / "g.parquet", LEXICON, minimum=minimum)  # type: ignore[arg-type]
    for output in ("no/g.parquet", "no/g/"):
        with pytest.raises(
            DataError, match=rf"{tmp_path}/{output.rstrip('/')}: no such folder: {tmp_path}/no \("
        ):
            derive_groups(source, f"{tmp_path}/{output}", LEXICON)


@pytest.mark.parametrize("left", ["part-00000.parquet", "part-00001.parquet"])
def test_an_unfinished_folder_is_refused_by_name_and_derived_again(tmp_path: Path, left: str) -> None:
    """As a process that is killed while it replaces a folder leaves it: no commit, and only some parts."""
    source = write(tmp_path / "c.tsv", documents(2000))
    derive(source, f"{tmp_path}/g/")
    whole = contents(tmp_path / "g")
    for path in (tmp_path / "g").iterdir():
        if path.name != left:
            path.unlink()
    with pytest.raises(DataError, match=r"g: is no finished folder of groups .*_evenrank.json is not there"):
        read_groups(tmp_path / "g", "side")
    derive(source, f"{tmp_path}/g/")
    assert contents(tmp_path / "g") == whole
    (tmp_path / "g" / "_evenrank.json").unlink()
    (tmp_path / "g" / "notes.txt").write_text("mine")
    with pytest.raises(DataError, match=r"something else in it \('notes.txt'\)"):
        derive(source, f"{tmp_path}/g/")


def test_a_folder_of_counts_is_not_taken_for_groups(tmp_path: Path) -> None:
    source = write(tmp_path / "c.tsv", documents(50))
    scan_file(source, LEXICON, f"{tmp_path}/counts/")
    with pytest.raises(DataError, match=r"counts: holds word counts, not groups: .*--field groups"):
        read_groups(tmp_path / "counts", "side")


@pytest.mark.parametrize("output", ["g.parquet", "g/"])
def test_options_of_derived_groups_are_honoured_or_refused(tmp_path: Path, output: str) -> None:
    source = write(tmp_path / "c.tsv", [("a", "he and she and you"), ("b", "it"), ("c", "you")])
    derive(source, f"{tmp_path}/{output}")
    read = partial(read_groups, tmp_path / output, "side")
    for options, message in (
        ({"ignore": ["left"]}, "ignore= is for labels, and .* has shares"),
        ({"even": "left"}, "even= is for labels, and .* has shares"),
        ({"unlabelled": "own"}, "unlabelled= is for labels, and .* has shares"),
        ({"column": "left"}, "column= is for labels, and .* has shares"),
        ({"votes": True}, "votes= is for labels, and .* has shares"),
        ({"format": "csv"}, "is Parquet that evenrank scan wrote, not csv"),
        (
            {"columns": {"document": "nope"}},
            "no column 'nope' for the document; .* are 'id', 'left', 'right'",
        ),
        ({"columns": {"query": "left"}}, "no column of the query"),
        ({"values": ["left", "other"]}, "values must be the groups that were derived, 'left', 'right'"),
    ):
        with pytest.raises(ParameterError, match=message):
            read(**options)
    assert read(format="parquet", columns={"document": "id"}).attribute.target == (0.25, 0.75)
    assert read(columns=SharedColumns({"document": "nope"})).attribute.target == (0.25, 0.75)
    assert read(ordinal=True).attribute.ordinal
    assert read(target="uniform").attribute.target == "uniform"
    assert read(target=np.array([0.5, 0.5])).attribute.target == (0.5, 0.5)
    assert read(target={"right": 1.0, "left": 0.0}).attribute.target == (0.0, 1.0)
    turned = read(values=["right", "left"])
    assert turned.attribute.values == ("right", "left")
    assert turned.attribute.target == (0.75, 0.25)
    assert np.allclose(turned.shares.dense(np.arange(2)), [[2 / 3, 1 / 3], [1, 0]])


def test_the_command_says_where_the_target_came_from(tmp_path: Path, evenrank: Callable[..., Any]) -> None:
    source, run = write(tmp_path / "c.tsv", [("a", "he she you"), ("c", "you")]), tmp_path / "r.trec"
    run.write_text("q Q0 a 1 2 r\nq Q0 c 2 1 r\n")
    derive(source, tmp_path / "g.parquet")
    command = ("evaluate", run, "--groups", f"side={tmp_path}/g.parquet", "-m", "GF@2")
    own = evenrank(*command)
    assert "target of side: left 0.25, right 0.75, which came with the groups (--target side=..)" in own.err
    named = evenrank(*command, "--target", "side=uniform")
    assert "target of side" not in named.err
    assert named.out != own.out


def test_dask_gives_the_same_groups(tmp_path: Path, client: Any) -> None:
    source = write(tmp_path / "c.tsv", documents(1000))
    derive(source, f"{tmp_path}/here/")
    derive(source, f"{tmp_path}/dask/", client)
    assert contents(tmp_path / "here") == contents(tmp_path / "dask")
    assert is_same(read_groups(tmp_path / "dask", "side"), in_memory(source))


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
    common = ("--lexicon", "gender-en")
    outcome = evenrank("scan", source, *common, "--field", "groups", "-o", tmp_path / "g.parquet")
    assert outcome.code == 0, outcome.err
    assert "of 60 documents; the others have no group words and are not listed" in outcome.err
    several = evenrank("scan", source, *common, "--field", "groups:minimum=2", "-o", tmp_path / "g2.parquet")
    assert "of 60 documents; the others have fewer than 2 group words and are" in several.err
    assert evenrank("scan", source, *common, "-o", tmp_path / "w.parquet").code == 0
    measure = ("-m", "GF(attr='side')@10", "--format", "tsv")
    read = evenrank("evaluate", run, "--groups", f"side={tmp_path}/g.parquet", *measure)
    words = evenrank("evaluate", run, "--words", tmp_path / "w.parquet", "--groups", "side=words", *measure)
    assert read.code == 0, read.err
    assert read.out == words.out
    assert "GF" in read.out


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("groups:minimum=0", "minimum must be an integer >= 1, got '0'"),
        ("groups:tau=2", "'tau' is no key of --field groups"),
        ("groups:minumum=2", "did you mean minimum?"),
        ("solr:minimum=2", "minimum= is a key of --field groups, not of solr"),
    ],
)
def test_keys_that_do_not_fit_are_refused(
    tmp_path: Path, evenrank: Callable[..., Any], field: str, message: str
) -> None:
    source = write(tmp_path / "c.tsv", documents(3))
    outcome = evenrank(
        "scan", source, "--lexicon", "gender-en", "--field", field, "-o", tmp_path / "g.parquet"
    )
    assert outcome.code == 2
    assert message in outcome.err


@pytest.mark.parametrize("output", ["g.parquet", "g/"])
def test_columns_are_any_mapping(tmp_path: Path, output: str) -> None:
    source = tmp_path / "c.parquet"
    pq.write_table(pa.table({"key": ["a", "b"], "body": ["he", "she"]}), source)
    columns = MappingProxyType({"id": "key", "text": "body"})
    assert derive(source, f"{tmp_path}/{output}", columns=columns).listed == 2


@pytest.mark.parametrize("end", ["", "/"])
def test_a_name_that_is_too_long_for_what_lies_beside_the_output_is_said_at_once(
    tmp_path: Path, end: str
) -> None:
    source = write(tmp_path / "c.tsv", documents(50))
    for length in (207, 208, 238):
        output = tmp_path / ("g" * length)
        if length < 208:
            derive(source, f"{output}{end}", Noting())
            continue
        with pytest.raises(DataError, match=rf"^{tmp_path}/g{{{length}}}: cannot be written: File name too"):
            derive(source, f"{output}{end}", Noting())
        assert {path.name for path in tmp_path.iterdir()} == {"c.tsv", "g" * 207}


def test_columns_of_any_mapping_are_sent_to_workers(tmp_path: Path) -> None:
    class Sending(Backwards):
        def run(self, work: Any, tasks: Any) -> Any:
            assert pickle.dumps(work)
            return super().run(work, tasks)

    source = tmp_path / "c.parquet"
    pq.write_table(pa.table({"key": ["a", "b"], "body": ["he", "she"]}), source)
    columns = MappingProxyType({"id": "key", "text": "body"})
    assert scan_file(source, LEXICON, tmp_path / "o.parquet", columns=columns, on=Sending()).documents == 2
