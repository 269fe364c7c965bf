"""The finished parts of long work, kept beside its output until all are there.

``counts.parquet.parts/`` holds a file for each finished part, ``part-00003-KEY.arrow``, and its record, which
says what is in it. Each is forced to the disk and then moved there in one step, the record last: work that
was killed goes on by passing over the parts that have one. KEY begins with that of the settings and stands
for what was read, too, so that a worker of an earlier work, which nobody could stop, writes files that nobody
reads.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from evenrank.errors import MAY_PASS, DataError, EvenrankError, EvenrankWarning
from evenrank.io.atomic import TEMPORARY, atomic_write, cannot_write
from evenrank.io.content_hash import hash_of_file

KEPT = "what is finished was kept: give the same command again to continue from there"

_NAME = r"part-\d{5,}-[0-9a-f]{16}\.(?:arrow|parquet|json|npy)"
_OWN = re.compile(rf"{_NAME}|{TEMPORARY.format(name=_NAME)}|output-[0-9a-f]+")


class PartFolder:
    """Who plans the work holds this; workers only know the folder and the key.

    A folder or link of that name that somebody else made is refused, and never touched.
    """

    def __init__(self, output: Path, settings: Mapping[str, Any], *, resume: bool) -> None:
        self._output = output
        self.key = hashlib.sha256(json.dumps(dict(settings), sort_keys=True).encode()).hexdigest()[:16]
        self.settings = self.key[:8]  # with which the key of each part begins
        self.folder = output.with_name(output.name + ".parts")
        self.growing = self.folder / f"output-{secrets.token_hex(6)}"  # the output until it is whole
        try:
            self.folder.mkdir(exist_ok=True)
        except FileExistsError as error:
            raise self._in_the_way("is in the way: it must be a folder, or not there") from error
        except OSError as error:
            raise cannot_write(output, error) from error
        if self.folder.is_symlink():
            raise self._in_the_way("is a link, and work is only kept in a folder of its own")
        names = self._names()
        for name in names:
            if not _OWN.fullmatch(name) or (self.folder / name).is_symlink():
                raise self._in_the_way(f"holds {name!r}, which evenrank did not write there")
        if not resume:
            self._clear()
        elif names and not any(f"-{self.settings}" in name for name in names):
            warnings.warn(
                f"{output}: starting anew, because the earlier work that was interrupted had other settings",
                EvenrankWarning,
                stacklevel=4,
            )

    def remove(self) -> None:
        """Remove what is ours, and the folder if nothing else is in it."""
        self._clear()
        with suppress(OSError):
            self.folder.rmdir()

    @contextmanager
    def until_done(self, *, keep_sound: bool = False) -> Iterator[Self]:
        """Remove the parts when the work is done, or when its source must be mended.

        Then they are of no use, unless ``keep_sound`` says that those of other files are. Where a store or
        the disk failed, they stay, since the next run can go on from there.
        """
        try:
            yield self
        except BaseException as caught:
            error = self._about_the_output(caught) if isinstance(caught, OSError) else caught
            found = any(name.endswith(".json") for name in self._names())
            must_be_mended = isinstance(error, DataError) and not isinstance(error, MAY_PASS)
            if not found or (must_be_mended and not keep_sound):
                self.remove()
            if found and isinstance(error, MAY_PASS):
                raise type(error)(f"{error}; {KEPT}") from error
            if error is not caught:
                raise error from caught
            raise
        self.remove()

    def _about_the_output(self, error: OSError) -> Exception:
        """An error of the system says which file of the user's it is about, and that nothing is lost."""
        own = error.filename is None or Path(os.fsdecode(error.filename)).parent == self.folder
        if not own or not error.errno:
            return error
        if not self.folder.is_dir():
            return DataError(
                f"{self._output}: another process wrote it meanwhile, and removed the parts of both: let "
                "one end before the next begins"
            )
        said = f"{os.strerror(error.errno)}; {KEPT}"
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            said += " once there is room"
        return OSError(error.errno, said, str(self._output))

    def _names(self) -> list[str]:
        try:
            return sorted(entry.name for entry in self.folder.iterdir())
        except FileNotFoundError:  # another process has just removed it
            return []

    def _clear(self) -> None:
        for name in self._names():
            if _OWN.fullmatch(name):
                with suppress(FileNotFoundError):
                    (self.folder / name).unlink()

    def _in_the_way(self, what: str) -> DataError:
        return DataError(f"{self.folder}: {what}: move it away, or write another file than {self._output}")


def part_path(folder: str | os.PathLike[str], number: int, key: str, kind: str) -> Path:
    return Path(folder) / f"part-{number:05d}-{key}.{kind}"


def write_record(part: Path, record: Mapping[str, Any]) -> dict[str, Any]:
    """Say that a part is there, and what is in it."""
    whole = {**record, "size": part.stat().st_size, "digest": hash_of_file(part)}
    with atomic_write(part.with_suffix(".json")) as file:
        file.write(json.dumps(whole).encode())
    return whole


def read_record(part: Path) -> dict[str, Any] | None:
    """The record of a part; None if either is not there, or is not what was written: Arrow would read a
    damaged part without a look, and crash."""
    try:
        record: dict[str, Any] = json.loads(part.with_suffix(".json").read_bytes())
        return record if record["digest"] == hash_of_file(part) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def check_seen(path: Path, record: Mapping[str, Any]) -> None:
    """Raise if a part that a worker wrote is not seen here."""
    if not path.is_file() or path.stat().st_size != record["size"]:
        raise EvenrankError(
            f"{path}: a worker wrote it, but it is not seen here: choose an output in a folder that all "
            "workers share with this machine"
        )
