"""Collections in a real HDFS, which `make engines` fetches: a name node and a data node on this machine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import servers
from backwards import Backwards
from collections_in_formats import FORMATS, rows, write

from evenrank import DataError, Lexicon
from evenrank.errors import RemoteError
from evenrank.evidence.scan import scan_file
from evenrank.io import read_documents

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


def documents(address: str) -> list[dict[str, str]]:
    return [row for batch in read_documents(address) for row in batch.to_pylist()]


def sizes_of_parts(folder: Path) -> list[int]:
    return [pq.read_metadata(path).num_rows for path in sorted(folder.glob("part-*"))]


def in_a_fresh_process(environment: dict[str, str], source: str, output: Path) -> Any:
    """A process connects to a name node once: what is set later is not seen by this one."""
    command = ["-m", "evenrank", "scan", source, "--lexicon", "gender-en", "-o", str(output)]
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, env={**os.environ, **environment},
        check=False,
    )  # fmt: skip


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
    there, here = (sizes_of_parts(tmp_path / folder) for folder in ("there", "here"))
    assert there == here
    assert len(there) > 2 or name.endswith(".gz")


@pytest.mark.parametrize("output", ["there.parquet", "there/"])
def test_workers_of_a_cluster_read_from_hdfs(tmp_path: Path, hdfs: str, client: Any, output: str) -> None:
    texts = rows(6000)
    for number in range(12):
        part = write(tmp_path / f"part-{number}.tsv", texts[500 * number : 500 * number + 500])
        put(hdfs, f"/shards/part-{number}.tsv", part.read_bytes())
    scan_file(f"{tmp_path}/part-*.tsv", LEXICON, tmp_path / "here.parquet", **SIZES)
    for source in ("/shards/*.tsv", "/shards"):
        scan_file(hdfs + source, LEXICON, f"{tmp_path}/{output}", on=client, **SIZES)
        assert table(tmp_path / output) == table(tmp_path / "here.parquet")


def test_names_are_taken_as_they_are(hdfs: str) -> None:
    for number, name in enumerate(("a#1.tsv", "a;2.tsv", "a %203.tsv", "ä.tsv")):
        address = put(hdfs, f"/names/{name}", f"d{number}\ta cat\n".encode())
        assert documents(address) == [{"id": f"d{number}", "text": "a cat"}]
    assert len(documents(f"{hdfs}/names/a*.tsv")) == 3


def test_the_default_name_node_is_that_of_the_configuration(tmp_path: Path, hdfs: str) -> None:
    put(hdfs, "/top.tsv", b"d1\ta cat\n")
    output = tmp_path / "o.parquet"
    environment = {"HADOOP_CONF_DIR": str(tmp_path)}
    missing = in_a_fresh_process(environment, "hdfs:///top.tsv", output)
    assert missing.returncode == 1
    assert f"HADOOP_CONF_DIR is {tmp_path}" in missing.stderr
    (tmp_path / "core-site.xml").write_text(
        f"<configuration><property><name>fs.defaultFS</name><value>{hdfs}</value></property></configuration>"
    )
    for source in ("hdfs:///top.tsv", "hdfs:///*.tsv"):
        found = in_a_fresh_process(environment, source, output)
        assert found.returncode == 0, found.stderr
        assert [row["id"] for row in table(output)] == ["d1"]


@pytest.mark.parametrize("on", [None, Backwards()])
@pytest.mark.parametrize("change", ["same size", "shorter"])
def test_a_file_that_is_replaced_meanwhile_is_an_error(
    tmp_path: Path, hdfs: str, change: str, on: Any
) -> None:
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


def test_what_hdfs_answers_is_one_error(tmp_path: Path, hdfs: str) -> None:
    import hdfs_native

    with pytest.raises(DataError, match=r"/absent/c.tsv: no such file"):
        documents(f"{hdfs}/absent/c.tsv")
    with pytest.raises(DataError, match=r"/absent/\*.tsv: no file matches"):
        documents(f"{hdfs}/absent/*.tsv")
    address = put(hdfs, "/closed/c.tsv", b"d1\ta cat\n")
    hdfs_native.Client(hdfs).set_permission("/closed", 0o700)
    refused = in_a_fresh_process({"HADOOP_USER_NAME": "somebody-else"}, address, tmp_path / "o.parquet")
    assert refused.returncode == 1
    assert re.search(r"c.tsv: cannot be read: .*Permission denied", refused.stderr)
    assert ".java:" not in refused.stderr


@pytest.mark.needs("hdfs_native")
def test_a_name_node_that_is_not_there_is_one_error() -> None:
    address = f"hdfs://127.0.0.1:{servers.free_port()}/c.tsv"
    with pytest.raises(RemoteError, match=rf"^{re.escape(address)}: cannot be read: Connection refused"):
        documents(address)
