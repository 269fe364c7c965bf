from __future__ import annotations

import gzip
import importlib.util
import sys
from pathlib import Path

import pytest
from object_store import SECRET, local_s3

from evenrank.errors import DataError, MissingExtraError, ParameterError, RemoteError
from evenrank.io import read_documents
from evenrank.io.remote import RemoteFile, _entry, glob_pattern, naming
from evenrank.io.shards import is_many, list_shards

LINE = b'{"_id": "d1", "text": "a cat"}\n'


def filled(folder: Path, *names: str, content: bytes = LINE) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def names(source: object, **options: object) -> list[str]:
    return [Path(shard.address).name for shard in list_shards(source, **options)]  # type: ignore[arg-type]


def test_one_file_is_one_shard(tmp_path: Path) -> None:
    filled(tmp_path, "docs.jsonl")
    (shard,) = list_shards(tmp_path / "docs.jsonl")
    assert (shard.address, shard.size, shard.format, shard.packed) == (
        str(tmp_path / "docs.jsonl"),
        len(LINE),
        "jsonl",
        False,
    )


def test_numbers_in_names_are_in_the_order_of_numbers(tmp_path: Path) -> None:
    filled(tmp_path, *(f"part-{number}.jsonl.gz" for number in (10, 9, 1, 100)))
    expected = [f"part-{number}.jsonl.gz" for number in (1, 9, 10, 100)]
    assert names(tmp_path) == names(str(tmp_path / "part-*.jsonl.gz")) == expected
    assert all(shard.packed for shard in list_shards(tmp_path))


def test_partitioned_folders_are_walked_and_marks_are_passed_over(tmp_path: Path) -> None:
    filled(tmp_path, "lang=de/part-0.parquet", "lang=en/part-1.parquet", "lang=en/part-0.parquet")
    filled(tmp_path, "_SUCCESS", "lang=en/.part-0.parquet.crc", "_temporary/part-7.parquet")
    found = [str(Path(shard.address).relative_to(tmp_path)) for shard in list_shards(tmp_path)]
    assert found == ["lang=de/part-0.parquet", "lang=en/part-0.parquet", "lang=en/part-1.parquet"]


def test_a_folder_whose_own_name_is_hidden_is_read(tmp_path: Path) -> None:
    folder = filled(tmp_path / "_work", "a.tsv")
    assert names(folder) == names(str(folder / "*.tsv")) == ["a.tsv"]


def test_empty_files_are_no_shards(tmp_path: Path) -> None:
    filled(tmp_path, "b.tsv")
    filled(tmp_path, "a.tsv", content=b"")
    assert names(tmp_path) == ["b.tsv"]


def test_a_stamp_tells_another_content(tmp_path: Path) -> None:
    filled(tmp_path, "a.tsv")
    before = list_shards(tmp_path)[0].stamp
    filled(tmp_path, "a.tsv", content=LINE + LINE)
    assert list_shards(tmp_path)[0].stamp != before


@pytest.mark.parametrize(
    ("files", "source", "message"),
    [
        ((), "*.jsonl", r"\*.jsonl: no file matches \(names .* left out\): check the pattern$"),
        ((), "absent/*.jsonl", r"absent/\*.jsonl: no file matches: there is no folder .*/absent$"),
        ((), ".", "the folder holds no files"),
        (("a.tsv", "b.jsonl"), ".", r"several formats: tsv \(.*a.tsv\), jsonl \(.*b.jsonl\).*by a pattern"),
        (("a.tsv", "README.md"), ".", "the suffix of '?.*README.md'? does not tell the format"),
        ((), "absent.tsv", "absent.tsv: no such file"),
    ],
)
def test_what_is_wrong_with_a_folder_is_one_error(
    tmp_path: Path, files: tuple[str, ...], source: str, message: str
) -> None:
    filled(tmp_path, *files)
    with pytest.raises((DataError, ParameterError), match=message):
        list_shards(tmp_path / source)


def test_a_format_can_be_named_for_all(tmp_path: Path) -> None:
    filled(tmp_path, "part-0", "part-1")
    assert [shard.format for shard in list_shards(tmp_path, format="jsonl")] == ["jsonl", "jsonl"]


def test_what_stands_for_many_files(tmp_path: Path) -> None:
    filled(tmp_path, "a.tsv", "odd[1].tsv")
    assert is_many(tmp_path)
    assert is_many(str(tmp_path / "*.tsv"))
    assert not is_many(tmp_path / "odd[1].tsv")  # a file whose name looks like a pattern
    assert not is_many(tmp_path / "a.tsv")
    assert is_many("s3://bucket/folder")
    assert not is_many("s3://bucket/a.jsonl.gz")


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        ("b/*.gz", "b/x.gz", True),
        ("b/*.gz", "b/c/x.gz", False),
        ("b/**/*.gz", "b/x.gz", True),
        ("b/**/*.gz", "b/c/d/x.gz", True),
        ("b/part-[0-3].gz", "b/part-2.gz", True),
        ("b/part-[!0-3].gz", "b/part-2.gz", False),
        ("b/x?.gz", "b/x1.gz", True),
        ("b/x.gz", "b/xagz", False),
    ],
)
def test_patterns(pattern: str, name: str, matches: bool) -> None:
    assert bool(glob_pattern(pattern).fullmatch(name)) is matches


def test_keys_in_an_address_are_refused_and_not_repeated() -> None:
    with pytest.raises(DataError, match="keys do not belong into an address") as raised:
        list_shards("s3://key:geheim@bucket/docs.jsonl")
    assert "geheim" not in str(raised.value)


def test_shards_of_a_store(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = gzip.compress(LINE)
    files = {f"web/part-{number}.jsonl.gz": packed for number in (2, 10)} | {"web/_SUCCESS": b"x"}
    with local_s3(monkeypatch, "shards", files):
        expected = ["s3://shards/web/part-2.jsonl.gz", "s3://shards/web/part-10.jsonl.gz"]
        for source in (
            "s3://shards/web",
            "s3://shards/web/",
            "s3://shards/web/*.gz",
            "s3://shards/**/*.jsonl.gz",
        ):
            assert [shard.address for shard in list_shards(source)] == expected
        (shard,) = list_shards(expected[0])
        assert (shard.size, shard.format, shard.packed) == (len(packed), "jsonl", True)
        assert RemoteFile(expected[0]).read() == packed
        with pytest.raises(DataError, match=r"s3://shards/none: no such file or folder"):
            list_shards("s3://shards/none")
        with pytest.raises(DataError, match=r"s3://shards/web/\*.tsv: no file matches"):
            list_shards("s3://shards/web/*.tsv")


def test_a_store_that_cannot_be_reached_is_named_without_its_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    with local_s3(monkeypatch, "docs", {}) as endpoint:
        pass  # it is gone now
    monkeypatch.setattr("evenrank.io.remote.PAUSE", 0)
    with pytest.raises(RemoteError, match=r"s3://docs/a.tsv: cannot be read") as raised:
        list_shards("s3://docs/a.tsv")
    assert SECRET not in str(raised.value)
    assert endpoint in str(raised.value)


def test_what_a_store_says_is_shown_without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    with pytest.raises(RemoteError) as raised, naming("s3://me:pass@bucket/x"):
        raise OSError(f"the signature of {SECRET} does not match (Request ID: 7)")
    assert str(raised.value).startswith(
        "s3://bucket/x: cannot be read: the signature of [AWS_SECRET_ACCESS_KEY] does not match: check"
    )
    assert raised.value.__cause__ is None


def test_files_of_an_hdfs_keep_their_host() -> None:
    """What Arrow says of a file there, made up; tests/scale/test_hdfs.py reads from a real one."""

    class Info:
        path, size, mtime_ns = "/crawl/part-1.tsv", 7, 1

    entry = _entry("hdfs://namenode:8020/crawl", Info())
    assert entry.address == "hdfs://namenode:8020/crawl/part-1.tsv"


@pytest.mark.needs("fsspec")
def test_a_store_through_fsspec() -> None:
    import fsspec

    with fsspec.open("memory://shards/part-1.tsv", "wb") as out:
        out.write(b"d1\ta cat\n")
    (shard,) = list_shards("memory://shards/*.tsv")
    assert (shard.size, shard.format) == (9, "tsv")
    assert [batch.to_pylist() for batch in read_documents("memory://shards/part-1.tsv")] == [
        [{"id": "d1", "text": "a cat"}]
    ]


def test_without_a_package_the_error_is_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from pyarrow import fs

    monkeypatch.delattr(fs, "S3FileSystem", raising=False)
    monkeypatch.setitem(sys.modules, "s3fs", None)
    if importlib.util.find_spec("fsspec") is not None:  # it keeps what it has imported
        registry = importlib.import_module("fsspec.registry")
        monkeypatch.delitem(registry._registry, "s3", raising=False)
    with pytest.raises(MissingExtraError, match=r"\[cloud\]'"):
        list_shards("s3://a-bucket-of-its-own/a.tsv")


@pytest.mark.parametrize("said", ["Unable to load libhdfs", "Prior attempt to load libhdfs failed", None])
def test_without_a_client_of_hadoop_the_error_is_the_line_that_installs_one(
    monkeypatch: pytest.MonkeyPatch, said: str | None
) -> None:
    from pyarrow import fs

    def without_library(*_: object) -> None:
        raise OSError(said)

    if said is None:
        monkeypatch.delattr(fs, "HadoopFileSystem", raising=False)
    else:
        monkeypatch.setattr(fs, "HadoopFileSystem", without_library, raising=False)
    monkeypatch.delitem(sys.modules, "evenrank.io.hadoop", raising=False)
    monkeypatch.setitem(sys.modules, "hdfs_native", None)
    with pytest.raises(MissingExtraError, match=r"hdfs-native.*\[cloud\]'"):
        list_shards("hdfs://a-name-node-of-its-own:8020/a.tsv")


def test_arrows_client_of_hadoop_is_used_where_no_other_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where Hadoop's own libraries are there. The files are made up."""
    from pyarrow import fs

    class Made:
        def __init__(self, host: str, port: int) -> None:
            assert (host, port) == ("another-name-node", 8020)

        def get_file_info(self, path: str) -> fs.FileInfo:
            return fs.FileInfo(path, fs.FileType.File, size=7, mtime_ns=1)

    monkeypatch.setattr(fs, "HadoopFileSystem", Made, raising=False)
    monkeypatch.delitem(sys.modules, "evenrank.io.hadoop", raising=False)
    monkeypatch.setitem(sys.modules, "hdfs_native", None)
    (shard,) = list_shards("hdfs://another-name-node:8020/crawl/a.tsv")
    assert (shard.address, shard.size) == ("hdfs://another-name-node:8020/crawl/a.tsv", 7)
