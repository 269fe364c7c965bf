"""Files in object stores and cluster file systems: ``s3://``, ``gs://``, ``hdfs://``.

Arrow's own file systems read them; where Arrow was built without one, fsspec does. Nothing is connected to
before an address is named. Keys and tokens come from the environment, as the tools of each store take them,
and stand neither in an address nor in a message.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

import pyarrow as pa

from evenrank.errors import DataError, MissingExtraError, RemoteError, shortened
from evenrank.text import without_userinfo

SCHEMES = ("s3", "s3a", "gs", "hdfs", "memory")

_ADDRESS = re.compile(rf"({'|'.join(SCHEMES)})://(.*)", re.DOTALL)
_BY_FSSPEC = {"gs": "gcsfs", "s3": "s3fs", "s3a": "s3fs"}
# what a message of a store must not carry on
_SECRETS = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID")


class RemoteEntry(NamedTuple):
    """A file of a store. ``changed`` is when it was last written, in nanoseconds; 0 where nobody says."""

    address: str
    size: int
    changed: int


def is_remote(value: object) -> bool:
    """
    >>> is_remote("s3://bucket/docs.jsonl.gz"), is_remote("docs.jsonl.gz")
    (True, False)
    """
    return isinstance(value, str) and _ADDRESS.match(value) is not None


class RemoteFile:
    """A file of a store as a stream of bytes: opened when it is first read."""

    def __init__(self, address: str) -> None:
        self.name = address
        self._file: Any = None

    def read(self, size: int = -1) -> bytes:
        with naming(self.name):
            if self._file is None:
                self._file = open_remote(self.name)
            found: bytes = self._file.read(None if size < 0 else size)
            return found

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def open_remote(address: str) -> Any:
    """The file for Arrow: it can be read from any place."""
    with naming(address):
        store, path = _store(address)
        return store.open_input_file(path)


def list_remote(address: str) -> list[RemoteEntry]:
    """All files below a folder of a store, in no order; the file alone where the address is one."""
    from pyarrow import fs

    with naming(address):
        store, path = _store(address)
        own = store.get_file_info(path)
        if own.type == fs.FileType.File:
            return [_entry(address, own)]
        if own.type == fs.FileType.NotFound:
            return []
        found = store.get_file_info(fs.FileSelector(path, recursive=True, allow_not_found=True))
        return [_entry(address, info) for info in found if info.type == fs.FileType.File]


def matching_remote(address: str) -> list[RemoteEntry]:
    """The files whose address matches one with ``*``, ``?``, ``[..]`` and ``**``."""
    scheme, path = _parts(address)
    before = re.split(r"[*?\[]", path, maxsplit=1)[0]
    folder = before.rpartition("/")[0]
    if not folder:
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
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[!?[^\]]+\])", glob)
    known = {"**/": r"(?:[^/]+/)*", "**": r".*", "*": r"[^/]*", "?": r"[^/]"}
    pieces = [
        known[part] if part in known else "[" + part[1:].replace("!", "^", 1) if part[:2] == "[!" else part
        if part.startswith("[") and part.endswith("]") else re.escape(part)
        for part in parts
    ]  # fmt: skip
    return re.compile("".join(pieces))


@contextmanager
def naming(address: str) -> Iterator[None]:
    """What a store says went wrong, as one error with the address and a way out."""
    try:
        yield
    except FileNotFoundError as error:
        raise DataError(f"{without_userinfo(address)}: no such file") from error
    except (OSError, pa.ArrowException, ValueError) as error:
        if isinstance(error, (DataError, MissingExtraError)):
            raise
        raise RemoteError(
            f"{without_userinfo(address)}: cannot be read: {_without_secrets(str(error))}: check the "
            f"address, the keys in the environment and that the store can be reached{_endpoint_hint(address)}"
        ) from None  # the error itself may hold a key


def _parts(address: str) -> tuple[str, str]:
    found = _ADDRESS.match(address)
    if found is None:
        raise DataError(f"{address}: is no address of {', '.join(f'{scheme}://' for scheme in SCHEMES)}")
    scheme, path = found.groups()
    if "@" in path.split("/")[0]:
        raise DataError(
            f"{scheme}://{without_userinfo(path)}: keys do not belong into an address, where logs and files "
            "keep them: set them in the environment (of S3 AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)"
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
    if not bucket and scheme != "memory":
        raise DataError(f"{address}: names no bucket: {scheme}://BUCKET/PATH")
    return _opened(scheme, bucket, _endpoint()), path


@lru_cache(maxsize=32)
def _opened(scheme: str, bucket: str, endpoint: str) -> Any:
    from pyarrow import fs

    if scheme in ("s3", "s3a") and hasattr(fs, "S3FileSystem"):
        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
        if endpoint:
            return fs.S3FileSystem(region=region or "us-east-1", endpoint_override=endpoint)
        return fs.S3FileSystem(region=region or fs.resolve_s3_region(bucket))
    if scheme == "gs" and hasattr(fs, "GcsFileSystem"):
        return fs.GcsFileSystem()
    if scheme == "hdfs" and hasattr(fs, "HadoopFileSystem"):
        host, _, port = bucket.partition(":")
        return fs.HadoopFileSystem(host or "default", int(port) if port else 0)
    package = _BY_FSSPEC.get(scheme, "fsspec")
    try:
        import fsspec

        return fs.PyFileSystem(fs.FSSpecHandler(fsspec.filesystem(scheme)))
    except ImportError as error:
        raise MissingExtraError.for_job(f"reading {scheme}:// addresses", package, "cloud") from error


def _endpoint() -> str:
    """Where S3 is, if it is not Amazon's: the variables that Amazon's own tools read."""
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""


def _endpoint_hint(address: str) -> str:
    if not address.startswith(("s3://", "s3a://")):
        return ""
    known = _endpoint()
    where = f"is {without_userinfo(known)}" if known else "is not set, so that it was looked for at Amazon"
    return f" (AWS_ENDPOINT_URL {where})"


def _without_secrets(message: str) -> str:
    message = re.sub(r" \(Request ID: [^)]*\)", "", message.strip())
    for name in _SECRETS:
        secret = os.environ.get(name)
        if secret:
            message = message.replace(secret, f"[{name}]")
    return shortened(message.rstrip("."), 400)


def _entry(address: str, info: Any) -> RemoteEntry:
    """A file by its whole address: the path in an HDFS does not name the host."""
    scheme, path = _parts(address)
    host = path.partition("/")[0] + "/" if scheme == "hdfs" else ""
    return RemoteEntry(f"{scheme}://{host}{info.path.lstrip('/')}", info.size or 0, info.mtime_ns or 0)
