"""Files in object stores and cluster file systems: ``s3://``, ``gs://``, ``hdfs://``.

Arrow's own file systems read S3 and Google Cloud Storage, and hdfs-native reads HDFS, because Arrow's client
needs a Hadoop on every machine. Nothing is connected to before an address is named. Keys and tokens come from
the environment, as the tools of each store take them, and stand neither in an address nor in a message.
"""

from __future__ import annotations

import io
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cached_property, lru_cache
from time import sleep
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa

from evenrank.errors import DataError, MissingExtraError, RemoteError, shortened
from evenrank.text import without_userinfo

Answer = TypeVar("Answer")

REQUESTS = 16  # that a store is sent at once
ATTEMPTS = 4  # of a request that fails for a reason that may pass
PAUSE = 0.5  # seconds before the second attempt; each later one waits twice as long as the one before
# clients repeat a request themselves, for fifteen minutes (Google's) or fifteen times (of HDFS), and whoever
# reads from a store repeats it anyway
PATIENCE = 20  # seconds, of Google's
FAILOVERS = "2"  # of HDFS
SCHEMES = ("s3", "s3a", "gs", "hdfs")

_ADDRESS = re.compile(rf"({'|'.join(SCHEMES)})://(.*)", re.DOTALL)
# what a store says where it has answered, and would answer the same again
_REFUSED = re.compile(
    "ACCESS_DENIED|NO_SUCH_|INVALID_ACCESS_KEY|SIGNATURE_DOES_NOT_MATCH|EXPIRED_TOKEN|"
    "HTTP response code 40[0-7]|Credential|AccessControlException|InvalidArgument|UrlParse"
)
_LASTING = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError)
# what a message of a store must not carry on
_SECRETS = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID")
# of HDFS: where in Java it went wrong, and everything that is known about each data node
_DETAILS = re.compile(r"((\s|\\n|\\t)+at (org|java|javax|sun)\.|: \[DatanodeInfoProto).*", re.DOTALL)


class StoredFile(NamedTuple):
    """A file. ``stamp`` says when it was last written, as far as its store knows."""

    address: str
    size: int
    stamp: str


def is_remote(value: object) -> bool:
    """
    >>> is_remote("s3://bucket/docs.jsonl.gz"), is_remote("docs.jsonl.gz")
    (True, False)
    """
    return isinstance(value, str) and _ADDRESS.match(value) is not None


class RemoteFile(io.RawIOBase):
    """A file of a store, opened when it is first read. Any thread may call ``read_at``; a stream of bytes is
    read by one."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.name = address
        self._place = 0
        self._held: list[tuple[int, bytes]] = []

    @cached_property
    def _file(self) -> Any:
        store, path = _store(self.name)
        return store.open_input_file(path)

    @cached_property
    def size(self) -> int:
        return int(_asked(self.name, lambda: self._file.size()))

    def read_at(self, place: int, length: int) -> bytes:
        """Less than so many bytes at the end of the file alone."""
        for begin, held in self._held:
            if begin <= place and place + length <= begin + len(held):
                return held[place - begin : place - begin + length]
        length = min(length, self.size - place)
        return _asked(self.name, lambda: bytes(self._file.read_at(length, place))) if length > 0 else b""

    def hold(self, places: Iterable[tuple[int, int]]) -> None:
        """Fetch stretches (begin, length) that will be read, and hold no others; those that touch are one
        request."""
        joined: list[tuple[int, int]] = []
        for begin, length in sorted(places):
            if joined and sum(joined[-1]) == begin:
                begin, length = joined[-1][0], joined.pop()[1] + length
            joined.append((begin, length))
        self._held = []
        self._held = [(begin, self.read_at(begin, length)) for begin, length in joined]

    def read(self, size: int | None = -1) -> bytes:
        found = self.read_at(self._place, self.size if size is None or size < 0 else size)
        self._place += len(found)
        return found

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._place = offset + (0, self._place, self.size)[whence]
        return self._place

    def tell(self) -> int:
        return self._place

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True


def list_remote(address: str) -> list[StoredFile]:
    """All files below a folder of a store, in no order; the file alone where the address is one."""
    from pyarrow import fs

    def listed() -> list[StoredFile]:
        store, path = _store(address)
        own = store.get_file_info(path)
        if own.type == fs.FileType.File:
            return [_entry(address, own)]
        if own.type == fs.FileType.NotFound:
            return []
        found = store.get_file_info(fs.FileSelector(path, recursive=True, allow_not_found=True))
        return [_entry(address, info) for info in found if info.type == fs.FileType.File]

    return _asked(address, listed)


def matching_remote(address: str) -> list[StoredFile]:
    """The files whose address matches one with ``*``, ``?``, ``[..]`` and ``**``."""
    scheme, path = _parts(address)
    before = re.split(r"[*?\[]", path, maxsplit=1)[0]
    folder = before.rpartition("/")[0]
    if not folder and not before.startswith("/"):  # hdfs:///*.tsv is in the folder / of the default name node
        raise DataError(f"{address}: the part before the first / is a bucket, and must be named as it is")
    pattern = glob_pattern(path)
    return [
        entry for entry in list_remote(f"{scheme}://{folder}") if pattern.fullmatch(_parts(entry.address)[1])
    ]


def glob_pattern(glob: str) -> re.Pattern[str]:
    """``*`` and ``?`` stay inside one folder; ``**/`` is any number of folders.

    >>> bool(glob_pattern("a/*.gz").fullmatch("a/b.gz")), bool(glob_pattern("a/*.gz").fullmatch("a/b/c.gz"))
    (True, False)
    """
    known = {"**/": r"(?:[^/]+/)*", "**": r".*", "*": r"[^/]*", "?": r"[^/]"}
    pieces = []
    for part in re.split(r"(\*\*/|\*\*|\*|\?|\[!?[^\]]+\])", glob):
        if part.startswith("[") and part.endswith("]"):
            pieces.append(part.replace("[!", "[^", 1))
        else:
            pieces.append(known.get(part) or re.escape(part))
    return re.compile("".join(pieces))


def _asked(address: str, request: Callable[[], Answer]) -> Answer:
    """What a store answers to a request, which is sent again where it fails for a reason that may pass.

    What went wrong in the end is one error with the address and a way out.
    """
    attempt = 1
    while True:
        try:
            return request()
        except FileNotFoundError as error:
            raise DataError(f"{without_userinfo(address)}: no such file") from error
        except (OSError, pa.ArrowException, ValueError) as error:
            if isinstance(error, DataError):
                raise
            said = _without_secrets(str(error))
            lasting = isinstance(error, _LASTING) or _REFUSED.search(f"{type(error).__name__}: {error}")
            if attempt == ATTEMPTS or lasting or not isinstance(error, OSError):
                raise RemoteError(
                    f"{without_userinfo(address)}: cannot be read: {said}: check the address, the keys in "
                    f"the environment and that the store can be reached{_endpoint_hint(address)}"
                ) from None  # the error itself may hold a key
        logging.getLogger(__name__).info(
            "%s: attempt %d of %d failed: %s", without_userinfo(address), attempt, ATTEMPTS, said
        )
        sleep(PAUSE * 2 ** (attempt - 1))
        attempt += 1


def _parts(address: str) -> tuple[str, str]:
    found = _ADDRESS.match(address)
    if found is None:
        raise DataError(f"{address}: is no address of {', '.join(f'{scheme}://' for scheme in SCHEMES)}")
    scheme, path = found.groups()
    if "@" in path.split("/")[0]:
        raise DataError(
            f"{scheme}://{without_userinfo(path)}: keys do not belong into an address, where logs and files "
            "keep them: set them in the environment (of S3 AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, of "
            "HDFS HADOOP_USER_NAME)"
        )
    return scheme, path


def _store(address: str) -> tuple[Any, str]:
    """The file system and the path in it."""
    scheme, path = _parts(address)
    path = path.rstrip("/")
    if scheme == "hdfs":
        host, _, inside = path.partition("/")
        return _opened(scheme, host, ""), "/" + inside
    bucket = path.split("/")[0]
    if not bucket:
        raise DataError(f"{address}: names no bucket: {scheme}://BUCKET/PATH")
    return _opened(scheme, bucket, _endpoint(scheme)), path


@lru_cache(maxsize=32)
def _opened(scheme: str, bucket: str, endpoint: str) -> Any:
    from pyarrow import fs

    if scheme == "hdfs":
        return HadoopStore(bucket)
    if scheme == "gs":
        options: dict[str, Any] = {"retry_time_limit": timedelta(seconds=PATIENCE)}
        if endpoint:
            kind, _, host = endpoint.rpartition("://")
            options.update(anonymous=True, scheme=kind or "http", endpoint_override=host.rstrip("/"))
        return fs.GcsFileSystem(**options)
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if endpoint:
        return fs.S3FileSystem(region=region or "us-east-1", endpoint_override=endpoint)
    return fs.S3FileSystem(region=region or fs.resolve_s3_region(bucket))


def _endpoint(scheme: str) -> str:
    """Where a store is, if it is not Amazon's or Google's: the variables that their own tools read."""
    if scheme == "gs":
        return os.environ.get("STORAGE_EMULATOR_HOST") or ""
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""


def _endpoint_hint(address: str) -> str:
    own = {"hdfs": "HADOOP_CONF_DIR", "gs": "STORAGE_EMULATOR_HOST"}
    name = own.get(address.partition("://")[0], "AWS_ENDPOINT_URL")
    return f" ({name} is {without_userinfo(os.environ.get(name) or 'not set')})"


def _without_secrets(message: str) -> str:
    message = re.sub(r" \(Request ID: [^)]*\)", "", message.strip())
    for name in _SECRETS:
        secret = os.environ.get(name)
        if secret:
            message = message.replace(secret, f"[{name}]")
    return shortened(message.rstrip("."), 400)


def _entry(address: str, info: Any) -> StoredFile:
    """A file by its whole address: the path in an HDFS does not name the host."""
    scheme, path = _parts(address)
    host = path.partition("/")[0] + "/" if scheme == "hdfs" else ""
    size = info.size or 0
    return StoredFile(f"{scheme}://{host}{info.path.lstrip('/')}", size, f"{size}-{info.mtime_ns or 0}")


class HadoopStore:
    """The methods of Arrow's file systems that reading needs, of HDFS.

    Name nodes that an address does not name, or names as a pair, come from HADOOP_CONF_DIR.
    """

    def __init__(self, name_node: str) -> None:
        try:
            from hdfs_native import Client
        except ImportError as error:
            raise MissingExtraError.for_job("reading hdfs:// addresses", "hdfs-native", "cloud") from error
        with _errors_of_the_system():
            self._client = Client(f"hdfs://{name_node}", {"dfs.client.failover.max.attempts": FAILOVERS})

    def get_file_info(self, wanted: Any) -> Any:
        """Of a path, or a list of everything below the folder of a selector."""
        from pyarrow import fs

        def info(status: Any) -> Any:
            kind = fs.FileType.Directory if status.isdir else fs.FileType.File
            size = None if status.isdir else status.length
            return fs.FileInfo(status.path, kind, size=size, mtime_ns=status.modification_time * 10**6)

        with _errors_of_the_system():
            if isinstance(wanted, fs.FileSelector):
                return [info(status) for status in self._client.list_status(wanted.base_dir, True)]
            try:
                return info(self._client.get_file_info(wanted))
            except FileNotFoundError:
                return fs.FileInfo(wanted, fs.FileType.NotFound)

    def open_input_file(self, path: str) -> HadoopFile:
        return HadoopFile(self._client, path)


class HadoopFile:
    """A file that is looked up anew for every read, so that one which was replaced is not read from blocks
    that are gone. Any thread may call ``read_at``."""

    def __init__(self, client: Any, path: str) -> None:
        self._client, self._path = client, path
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


@contextmanager
def _errors_of_the_system() -> Iterator[None]:
    """The client has no class for what a server answers: it is a RuntimeError, with many details."""
    try:
        yield
    except FileNotFoundError:
        raise
    except (OSError, RuntimeError) as error:
        raise OSError(_DETAILS.sub("", str(error))) from error
