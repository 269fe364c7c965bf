"""Collections in a real HDFS, which `make engines` fetches: a name node and a data node on this machine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import servers
from backwards import Backwards
from collections_in_formats import FORMATS, rows, write

from evenrank import Lexicon
from evenrank.errors import DataError, RemoteError
from evenrank.evidence.scan import scan_file
from evenrank.io import read_documents, remote
from evenrank.io.counts_folder import read_counts_folder
from evenrank.io.shards import list_shards

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("servers")]

LEXICON = Lexicon.build("sides", {"left": ["he"], "right": ["she"]})
SIZES: Any = {"block_bytes": 1 << 14, "partition_bytes": 1 << 16}


@pytest.fixture(scope="module")
def hdfs() -> Iterator[str]:
    context = servers.hdfs()
    try:
        address = context.__enter__()
    except servers.NotThere as reason:
        pytest.skip(str(reason))
    try:
        yield address
    finally:
        context.__exit__(None, None, None)


def put(hdfs: str, path: str, content: bytes, block: int = 1 << 27) -> str:
    """Each block is closed before the next: only that waits until the name node knows of it."""
    import hdfs_native

    client = hdfs_native.Client(hdfs)
    options = hdfs_native.WriteOptions(block_size=block, overwrite=True)
    for begin in range(0, max(len(content), 1), block):
        with client.append(path) if begin else client.create(path, options) as out:
            out.write(content[begin : begin + block])
    return hdfs + path


def table(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return found


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_in_hdfs_is_cut_as_here(tmp_path: Path, hdfs: str, name: str) -> None:
    source = write(tmp_path / name, rows(3000))
    scan_file(source, LEXICON, tmp_path / "here.parquet", **SIZES)
    scan_file(source, LEXICON, f"{tmp_path}/here/", **SIZES)
    put(hdfs, f"/cut-{name}/deep/{name}", source.read_bytes(), block=1 << 17)  # several for most of them
    put(hdfs, f"/cut-{name}/_SUCCESS", b"")
    for output, on in (("alone.parquet", None), ("spread.parquet", Backwards()), ("there/", Backwards())):
        for path in (f"/cut-{name}/deep/{name}", f"/cut-{name}", f"/cut-{name}/", f"/**/deep/{name[:-1]}?"):
            scan_file(hdfs + path, LEXICON, f"{tmp_path}/{output}", on=on, **SIZES)
            assert table(tmp_path / output) == table(tmp_path / "here.parquet"), path
    there, here = (read_counts_folder(tmp_path / folder) for folder in ("there", "here"))
    assert [part.rows for part in there.parts] == [part.rows for part in here.parts]
    assert len(there.parts) > 2 or name.endswith(".gz")


@pytest.mark.parametrize("output", ["there.parquet", "there/"])
def test_workers_of_a_cluster_read_from_hdfs(tmp_path: Path, hdfs: str, client: Any, output: str) -> None:
    documents = rows(6000)
    for number in range(12):
        part = write(tmp_path / f"part-{number}.tsv", documents[500 * number : 500 * number + 500])
        put(hdfs, f"/shards/part-{number}.tsv", part.read_bytes())
    scan_file(f"{tmp_path}/part-*.tsv", LEXICON, tmp_path / "here.parquet", **SIZES)
    for source in ("/shards/*.tsv", "/shards"):
        scan_file(hdfs + source, LEXICON, f"{tmp_path}/{output}", on=client, **SIZES)
        assert table(tmp_path / output) == table(tmp_path / "here.parquet")


def test_names_are_taken_as_they_are(hdfs: str) -> None:
    for number, name in enumerate(("a#1.tsv", "a;2.tsv", "a %203.tsv", "ä.tsv")):
        address = put(hdfs, f"/names/{name}", f"d{number}\ta cat\n".encode())
        assert [shard.address for shard in list_shards(address)] == [address]
        (batch,) = read_documents(address)
        assert batch.to_pylist() == [{"id": f"d{number}", "text": "a cat"}]
    assert len(list_shards(f"{hdfs}/names/a*.tsv")) == 3


def test_the_default_name_node_is_that_of_the_configuration(
    tmp_path: Path, hdfs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(hdfs, "/top.tsv", b"d1\ta cat\n")
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    remote._opened.cache_clear()
    with pytest.raises(RemoteError, match=rf"fs.defaultFS.*HADOOP_CONF_DIR is {tmp_path}"):
        list_shards("hdfs:///top.tsv")
    (tmp_path / "core-site.xml").write_text(
        f"<configuration><property><name>fs.defaultFS</name><value>{hdfs}</value></property></configuration>"
    )
    for source in ("hdfs:///top.tsv", "hdfs:///*.tsv"):
        assert [shard.address for shard in list_shards(source)] == ["hdfs:///top.tsv"]
    remote._opened.cache_clear()


@pytest.mark.parametrize("on", [None, Backwards()])
@pytest.mark.parametrize("change", ["same size", "shorter"])
def test_a_file_that_is_replaced_meanwhile_is_an_error(
    tmp_path: Path, hdfs: str, monkeypatch: pytest.MonkeyPatch, change: str, on: Any
) -> None:
    monkeypatch.setattr("evenrank.io.remote.PAUSE", 0)
    content = write(tmp_path / "c.tsv", rows(3000)).read_bytes()
    other = content.replace(b"he", b"HE") if change == "same size" else b"d1\tshe\n"
    source = put(hdfs, "/replaced/c.tsv", content)
    waiting = [other]

    def replace(*_: object) -> None:
        if waiting:
            put(hdfs, "/replaced/c.tsv", waiting.pop())

    with pytest.raises(DataError, match=r"/replaced/c.tsv: (was changed while|.*shorter|ends before)"):
        scan_file(source, LEXICON, tmp_path / "out.parquet", on=on, threads=1, progress=replace, **SIZES)
    assert not (tmp_path / "out.parquet").exists()


def test_what_hdfs_answers_is_one_error(hdfs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import hdfs_native

    waited: list[float] = []
    # the name in that module: other threads of this process may sleep meanwhile
    monkeypatch.setattr("evenrank.io.remote.sleep", waited.append)
    with pytest.raises(DataError, match=r"/absent/c.tsv: no such file"):
        list_shards(f"{hdfs}/absent/c.tsv")
    with pytest.raises(DataError, match=r"/absent/\*.tsv: no file matches"):
        list_shards(f"{hdfs}/absent/*.tsv")
    address = put(hdfs, "/closed/c.tsv", b"d1\ta cat\n")
    hdfs_native.Client(hdfs).set_permission("/closed", 0o700)
    monkeypatch.setenv("HADOOP_USER_NAME", "somebody-else")
    remote._opened.cache_clear()
    with pytest.raises(
        RemoteError, match=r"c.tsv: cannot be read: .*AccessControl.*Permission denied"
    ) as caught:
        list_shards(address)
    assert ".java:" not in str(caught.value)
    assert waited == []
    remote._opened.cache_clear()


@pytest.mark.needs("hdfs_native")
def test_a_name_node_that_is_not_there_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenrank.io.hadoop.FAILOVERS", "0")
    monkeypatch.setattr("evenrank.io.remote.PAUSE", 0)
    address = f"hdfs://127.0.0.1:{servers.free_port()}/c.tsv"
    with pytest.raises(RemoteError, match=rf"^{re.escape(address)}: cannot be read: Connection refused"):
        list_shards(address)
