"""A collection of many files: which of them count, in which order, here and in stores."""

from __future__ import annotations

import gzip
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from failing_store import failing_store
from object_store import SECRET, local_s3

from evenrank import DataError, ParameterError, scan
from evenrank.errors import RemoteError

WORDS = {"cats": ["cat"], "dogs": ["dog"]}


def line(name: str) -> bytes:
    """A document that is called like its file."""
    return b'{"_id": "%s", "text": "a cat"}\n' % Path(name).name.encode()


def filled(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".parquet"):
            pa.parquet.write_table(pa.table({"id": [path.stem], "text": ["a cat"]}), path)
        elif name.endswith(".tsv"):
            path.write_text(f"{path.name}\ta cat\n")
        else:
            path.write_bytes(gzip.compress(line(name)) if name.endswith(".gz") else line(name))
    return folder


def found(source: object, **options: object) -> list[str]:
    """The documents in the order of their files."""
    return scan(str(source), WORDS, **options).doc_ids.to_pylist()  # type: ignore[arg-type]


def test_numbers_in_names_are_in_the_order_of_numbers(tmp_path: Path) -> None:
    filled(tmp_path, *(f"part-{number}.jsonl.gz" for number in (10, 9, 1, 100)))
    expected = [f"part-{number}.jsonl.gz" for number in (1, 9, 10, 100)]
    assert found(tmp_path) == found(tmp_path / "part-*.jsonl.gz") == expected
    assert found(tmp_path / "part-1*.jsonl.gz") == [expected[0], *expected[2:]]


def test_partitioned_folders_are_walked_and_marks_are_passed_over(tmp_path: Path) -> None:
    filled(tmp_path, "lang=de/part-0.parquet", "lang=en/part-2.parquet", "lang=en/part-1.parquet")
    for name in ("_SUCCESS", "lang=en/.part-0.parquet.crc", "_temporary/part-7.parquet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"no table")
    assert found(tmp_path) == ["part-0", "part-1", "part-2"]


def test_a_folder_whose_own_name_is_hidden_is_read(tmp_path: Path) -> None:
    folder = filled(tmp_path / "_work", "a.tsv")
    assert found(folder) == found(folder / "*.tsv") == ["a.tsv"]


def test_empty_files_do_not_count(tmp_path: Path) -> None:
    """Not even in a format in which nothing is no file."""
    filled(tmp_path, "b.parquet")
    (tmp_path / "a.parquet").touch()
    assert found(tmp_path) == ["b"]
    (tmp_path / "b.parquet").write_bytes(b"")
    with pytest.raises(DataError, match="empty"):
        scan(str(tmp_path), WORDS)


def test_a_file_whose_name_looks_like_a_pattern(tmp_path: Path) -> None:
    filled(tmp_path, "odd1.tsv", "odd[1].tsv")
    assert found(tmp_path / "odd[1].tsv") == ["odd[1].tsv"]


@pytest.mark.parametrize(
    ("files", "source", "words"),
    [
        ((), "*.jsonl", ["*.jsonl"]),
        ((), "absent/*.jsonl", ["absent/*.jsonl"]),
        ((), ".", ["folder"]),
        (("a.tsv", "b.jsonl"), ".", ["a.tsv", "b.jsonl"]),
        (("a.tsv", "README.md"), ".", ["README.md"]),
        ((), "absent.tsv", ["absent.tsv"]),
    ],
)
def test_what_is_wrong_with_a_folder_is_one_error(
    tmp_path: Path, files: tuple[str, ...], source: str, words: list[str]
) -> None:
    filled(tmp_path, *files)
    with pytest.raises((DataError, ParameterError)) as caught:
        scan(f"{tmp_path}/{source}", WORDS)
    assert all(word in str(caught.value) for word in words)


def test_a_format_can_be_named_for_all(tmp_path: Path) -> None:
    filled(tmp_path, "part-0", "part-1")
    assert found(tmp_path, format="jsonl") == ["part-0", "part-1"]


def test_keys_in_an_address_are_refused_and_not_repeated() -> None:
    with pytest.raises(DataError, match="keys") as raised:
        scan("s3://key:geheim@bucket/docs.jsonl", WORDS)
    assert "geheim" not in str(raised.value)


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("b/*.tsv", ["x1.tsv", "x.tsv"]),
        ("b/**/*.tsv", ["z.tsv", "y.tsv", "x1.tsv", "x.tsv"]),
        ("b/x?.tsv", ["x1.tsv"]),
        ("b/x[0-3].tsv", ["x1.tsv"]),
        ("b/c/d/[!a-y].tsv", ["z.tsv"]),
        ("b/x.tsv", ["x.tsv"]),
        ("b/c", ["z.tsv", "y.tsv"]),
    ],
)
def test_patterns_in_a_store_stay_in_their_folders(
    monkeypatch: pytest.MonkeyPatch, pattern: str, names: list[str]
) -> None:
    store = failing_store(monkeypatch, "s3://patterns/b/x.tsv", b"x.tsv\ta cat\n")
    for name in ("x1.tsv", "c/y.tsv", "c/d/z.tsv", "xatsv"):
        store.put(f"patterns/b/{name}", f"{Path(name).name}\ta cat\n".encode())
    assert found(f"s3://patterns/{pattern}") == names


def test_the_files_of_a_store(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["part-2.jsonl.gz", "part-10.jsonl.gz"]
    files = {f"web/{name}": gzip.compress(line(name)) for name in reversed(names)} | {"web/_SUCCESS": b"x"}
    with local_s3(monkeypatch, "shards", files):
        for source in ("web", "web/", "web/*.gz", "**/*.jsonl.gz"):
            assert found(f"s3://shards/{source}") == names
        assert found("s3://shards/web/part-2.jsonl.gz") == names[:1]
        for absent in ("s3://shards/none", "s3://shards/web/*.tsv"):
            with pytest.raises(DataError) as caught:
                scan(absent, WORDS)
            assert absent in str(caught.value)


class Refusing(BaseHTTPRequestHandler):
    """A store that lets nobody in."""

    def do_HEAD(self) -> None:
        self.send_response(403)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_HEAD

    def log_message(self, *_: object) -> None:
        """Nothing on the screen."""


def test_a_store_that_refuses_is_named_without_its_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    endpoint = f"http://127.0.0.1:{server.server_port}"
    known = {"AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": SECRET}
    for name, value in known.items():
        monkeypatch.setenv(name, value)
    try:
        with pytest.raises(RemoteError, match=r"s3://docs/a\.tsv") as raised:
            scan("s3://docs/a.tsv", WORDS)
    finally:
        server.shutdown()
        server.server_close()
    assert SECRET not in str(raised.value)
    assert endpoint in str(raised.value)


def test_what_a_store_says_is_shown_without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    store = failing_store(monkeypatch, "s3://said/a.tsv", b"d1\ta cat\n")
    store.failing, store.error = range(99), OSError(f"the signature of {SECRET} (Request ID: 7)")
    with pytest.raises(RemoteError, match=r"s3://said/a\.tsv") as raised:
        scan("s3://said/a.tsv", WORDS)
    said = str(raised.value)
    assert SECRET not in said
    assert "AWS_SECRET_ACCESS_KEY" in said
    assert raised.value.__cause__ is None


HADOOP = """
import subprocess
import sys
from evenrank import MissingExtraError, scan
sys.modules["hdfs_native"] = None
try:
    scan("hdfs://a-name-node:8020/a.tsv", {"cats": ["cat"], "dogs": ["dog"]})
except MissingExtraError as error:
    print("hdfs-native" in str(error) and "cloud" in str(error))
"""


def test_without_hdfs_native_the_error_is_the_line_that_installs_it() -> None:
    done = subprocess.run([sys.executable, "-c", HADOOP], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
