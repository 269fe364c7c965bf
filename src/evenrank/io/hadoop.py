"""HDFS through hdfs-native, a client that needs neither Java nor a Hadoop on this machine.

Name nodes that an address does not name, or names as a pair, come from HADOOP_CONF_DIR.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hdfs_native import Client
from pyarrow import fs

# attempts beyond the first, and with them the seconds until a name node that is not there is an error: the
# client's own choice are fifteen, which take minutes, and whoever reads from a store repeats a request anyway
FAILOVERS = "2"
# where in Java it went wrong, and everything that is known about each data node
_DETAILS = re.compile(r"((\s|\\n|\\t)+at (org|java|javax|sun)\.|: \[DatanodeInfoProto).*", re.DOTALL)


class HadoopStore:
    """The methods of Arrow's file systems that reading needs."""

    def __init__(self, name_node: str) -> None:
        with _errors_of_the_system():
            self._client = Client(f"hdfs://{name_node}", {"dfs.client.failover.max.attempts": FAILOVERS})

    def get_file_info(self, wanted: Any) -> Any:
        """Of a path, or a list of everything below the folder of a selector."""
        with _errors_of_the_system():
            if isinstance(wanted, fs.FileSelector):
                return [_info(status) for status in self._client.list_status(wanted.base_dir, True)]
            try:
                return _info(self._client.get_file_info(wanted))
            except FileNotFoundError:
                return fs.FileInfo(wanted, fs.FileType.NotFound)

    def open_input_file(self, path: str) -> HadoopFile:
        return HadoopFile(self._client, path)


class HadoopFile:
    """A file that is looked up anew for every read, so that one which was replaced is not read from blocks
    that are gone. Any thread may call ``read_at``."""

    def __init__(self, client: Any, path: str) -> None:
        self._client, self._path, self._place = client, path, 0
        with _errors_of_the_system():
            self._size = len(client.read(path))

    def size(self) -> int:
        return self._size

    def read_at(self, size: int, offset: int) -> bytes:
        with _errors_of_the_system():
            reader = self._client.read(self._path)
            size = min(size, len(reader) - offset)  # the client panics where it is asked for more
            found: bytes = reader.read_range(offset, size) if size > 0 else b""
            return found

    def seek(self, place: int) -> None:
        self._place = place

    def read(self, size: int | None = None) -> bytes:
        found = self.read_at(self._size if size is None else size, self._place)
        self._place += len(found)
        return found

    def close(self) -> None:
        """Nothing is held between two reads."""


def _info(status: Any) -> Any:
    kind = fs.FileType.Directory if status.isdir else fs.FileType.File
    size = None if status.isdir else status.length
    return fs.FileInfo(status.path, kind, size=size, mtime_ns=status.modification_time * 10**6)


@contextmanager
def _errors_of_the_system() -> Iterator[None]:
    """The client has no class for what a server answers: it is a RuntimeError, with many details."""
    try:
        yield
    except FileNotFoundError:
        raise
    except (OSError, RuntimeError) as error:
        raise OSError(_DETAILS.sub("", str(error))) from error
