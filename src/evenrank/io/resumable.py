"""Long work that goes on where it was killed: its finished pieces, kept beside its output until all are.

``counts.parquet.parts/`` holds ``lock`` (a mark that this package made the folder), ``settings.json`` (what
the pieces were made from), ``journal`` (the pieces) and ``output`` (the file while it is written). Nothing
else in it is ever touched, and a folder or link that somebody else made is refused.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from evenrank.errors import MAY_PASS, DataError, EvenrankWarning, counted
from evenrank.io.atomic import TEMPORARY, atomic_write, cannot_write
from evenrank.io.journal import FRAME_MARK, Journal

KEPT = "what is finished was kept: give the same command again to continue from there"

_SETTINGS = "settings.json"
_LOCK = "lock"
_JOURNAL = "journal"
_OUTPUT = "output"
_OWN = (_LOCK, _SETTINGS, _JOURNAL, _OUTPUT)
_TEMPORARY = re.compile(TEMPORARY.format(name=re.escape(_SETTINGS)))
_MARK = b"evenrank "
_STAMP = "stamp"  # of the source, beside the settings

Recheck = Callable[[int], bytes]
"""The digest of what a piece is made from, computed anew."""


class Stamp(NamedTuple):
    """What the system says about a file. Where it is the same, nobody has written to the file."""

    size: int
    modified: int
    changed: int
    device: int
    inode: int

    @classmethod
    def of(cls, path: Path) -> Stamp:
        status = path.stat()
        times = status.st_mtime_ns, status.st_ctime_ns
        return cls(status.st_size, *times, status.st_dev, status.st_ino)


def check_unchanged(name: str, path: Path | None, stamp: Stamp | None) -> None:
    """What was read of a file that somebody wrote to meanwhile may be half of this and half of that."""
    if path is None or stamp is None:
        return
    try:
        now = Stamp.of(path)
    except OSError:  # it is gone, but it was open, and what was read is what it was
        return
    if (now.size, now.modified) != (stamp.size, stamp.modified) or now.inode != stamp.inode:
        raise DataError(
            f"{name}: was changed while it was read: give the same command again when nobody writes to it"
        )


class Resumable:
    """The finished pieces of one ``work`` ("scan", "swap").

    They are used again if the ``settings`` are the same and the source has the same ``stamp``. If only the
    stamp is another (the file was copied, touched, restored), ``recheck`` tells whether the source of every
    finished piece still is what it was.
    """

    def __init__(
        self,
        output: Path,
        work: str,
        settings: Mapping[str, Any],
        *,
        resume: bool,
        stamp: Stamp | None = None,
        recheck: Recheck | None = None,
    ) -> None:
        self._work, self._output = work, output
        self.folder = output.with_name(output.name + ".parts")
        self._lock = self._entered()
        try:
            self._refuse_links()
            kept = {**settings, "work": work}
            key = json.dumps(kept, sort_keys=True).encode()
            reason = self._difference(kept) if resume else None
            if reason is not None or not resume or not (self.folder / _SETTINGS).exists():
                self._anew(reason)
                self._keep(kept, stamp)
            self._journal = Journal(self.folder / _JOURNAL, key)
            try:
                self._check_pieces(kept, stamp, recheck)
            except BaseException:
                self._journal.close()
                raise
        except BaseException:
            self._unlock()
            raise
        self.finished = {number: frame.digest for number, frame in self._journal.frames.items()}

    def save(self, index: int, batch: pa.RecordBatch, digest: bytes = b"") -> None:
        self._journal.add(index, batch.serialize(), digest)

    def load(self, index: int, schema: pa.Schema) -> pa.RecordBatch:
        return pa.ipc.read_record_batch(self._journal.read(index), schema)

    def digest(self, index: int) -> bytes:
        """What a finished piece was made from."""
        return self._journal.frames[index].digest

    @property
    def growing(self) -> Path:
        """Where the output is written until it is whole."""
        return self.folder / _OUTPUT

    def remove(self) -> None:
        """Remove what is ours, and the folder if nothing else is in it."""
        if self._lock is None:
            return
        self._journal.close()
        for name in self._own_names():
            if name != _LOCK:
                with suppress(OSError):
                    (self.folder / name).unlink()
        others = sorted({entry.name for entry in self.folder.iterdir()} - {_LOCK})
        if others:  # with its mark, so that the same command can be given again
            self._warn(f"{self.folder}: was left where it is, because it holds {others[0]!r}")
        else:
            # while it is locked: whoever waits for the lock sees that the file is no longer there
            with suppress(OSError):
                (self.folder / _LOCK).unlink()
                self.folder.rmdir()
        self._unlock()

    def close(self) -> None:
        self._journal.close()
        self._unlock()

    @contextmanager
    def until_done(self, *, keep_sound: bool = False) -> Iterator[None]:
        """Remove the pieces when the work is done, or when its source must be mended.

        Then they are of no use, unless ``keep_sound`` says that those of other files are. Where a store or
        the disk failed, they stay, since the next run can go on from there.
        """
        try:
            with self.naming_the_output():
                yield
            self.remove()
        except MAY_PASS as error:
            if self._is_empty():
                self.remove()
                raise
            raise type(error)(f"{error}; {KEPT}") from error
        except DataError:
            if not keep_sound:
                self.remove()
            raise
        finally:
            self.close()

    def _is_empty(self) -> bool:
        """Whether no piece is finished."""
        return self._journal.is_empty

    @contextmanager
    def naming_the_output(self) -> Iterator[None]:
        """An error of the system says which file of the user's it is about, and that nothing is lost."""
        try:
            yield
        except OSError as error:
            own = error.filename is None or Path(os.fsdecode(error.filename)).parent == self.folder
            if not own or not error.errno:
                raise
            said = f"{os.strerror(error.errno)}; {KEPT}"
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                said += " once there is room"
            raise OSError(error.errno, said, str(self._output)) from error

    def _entered(self) -> int | None:
        """Make the folder or take an earlier one over, and lock it."""
        while True:
            try:
                self.folder.mkdir(exist_ok=True)
            except FileExistsError as error:
                raise self._in_the_way("is in the way: it must be a folder, or not there") from error
            except OSError as error:
                raise cannot_write(self._output, error) from error
            if self.folder.is_symlink():
                raise self._in_the_way("is a link, and work is only kept in a folder of its own")
            path = self.folder / _LOCK
            if not self._is_own():
                names = sorted(entry.name for entry in self.folder.iterdir())
                raise self._in_the_way(
                    f"was not made by evenrank (it holds {names[0]!r}), and work would be kept there"
                )
            try:
                descriptor = _open(path)
            except FileNotFoundError:  # another process has just removed the folder
                continue
            except OSError as error:
                raise cannot_write(self._output, error) from error
            try:
                if not self._take(descriptor) or not _is_at(descriptor, path):
                    os.close(descriptor)
                    continue
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, _MARK + self._work.encode() + b"\n", 0)
            except BaseException:
                os.close(descriptor)
                raise
            return descriptor

    def _take(self, descriptor: int) -> bool:
        """Two processes must not write the same output. The system frees the lock of one that is killed."""
        try:
            import fcntl
        except ImportError:  # not on Windows
            return True
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.ENOLCK, errno.ENOTSUP):  # a file system that knows no locks
                return True
            found = os.pread(descriptor, 40, 0).removeprefix(_MARK).strip()
            holder = found.decode("ascii", "replace") or "process"
            raise DataError(
                f"{self._output}: another {holder} is writing it: wait for its end, or choose another name"
            ) from error
        return True

    def _is_own(self) -> bool:
        """Whether the folder is empty, or one of its files carries our mark: any of them may be damaged."""
        try:
            names = {entry.name for entry in self.folder.iterdir()}
        except FileNotFoundError:
            return True
        lock, journal = (self._beginning(name) for name in (_LOCK, _JOURNAL))
        # a process killed in its first moments leaves a lock without a mark, or nothing
        if names <= {_LOCK} and not lock:
            return True
        return lock.startswith(_MARK) or journal.startswith(FRAME_MARK)

    def _beginning(self, name: str) -> bytes:
        try:
            with os.fdopen(_open(self.folder / name, create=False), "rb") as file:
                return file.read(len(_MARK))
        except OSError:  # it is not there, or no plain file
            return b""

    def _refuse_links(self) -> None:
        for name in self._own_names():
            try:
                mode = (self.folder / name).lstat().st_mode
            except FileNotFoundError:  # a worker of the job before has just finished its part
                continue
            if not stat.S_ISREG(mode):
                raise DataError(
                    f"{self.folder / name}: is not a plain file, as {self._work} keeps there: move it away"
                )

    def _in_the_way(self, what: str) -> DataError:
        return DataError(f"{self.folder}: {what}: move it away, or write another file than {self._output}")

    def _own_names(self) -> list[str]:
        names = sorted(entry.name for entry in self.folder.iterdir())
        return [name for name in names if name in _OWN or _TEMPORARY.fullmatch(name)]

    def _difference(self, settings: Mapping[str, Any]) -> str | None:
        """Why an earlier work cannot be gone on with; None also if there is none."""
        try:
            kept = self._kept()
        except FileNotFoundError:
            return None
        except (ValueError, RecursionError):
            return f"{self.folder / _SETTINGS} is damaged"
        for name, value in settings.items():
            if kept.get(name) != value:
                return f"the earlier {self._work} that was interrupted had another {name}"
        return None

    def _kept(self) -> dict[str, Any]:
        kept = json.loads((self.folder / _SETTINGS).read_bytes())
        if not isinstance(kept, dict):
            raise ValueError("no object")
        return kept

    def _check_pieces(self, settings: dict[str, Any], stamp: Stamp | None, recheck: Recheck | None) -> None:
        journal = self._journal
        if journal.damaged:
            sound = counted(len(journal.frames), "piece", "pieces")
            after = f" after {sound} that can still be used" if journal.frames else ""
            self._warn(f"{self.folder / _JOURNAL}: is damaged: starting anew{after}")
        if stamp is None or self._kept().get(_STAMP) == list(stamp):
            return
        if journal.frames:
            same = recheck is not None and all(
                recheck(number) == frame.digest for number, frame in journal.frames.items()
            )
            if not same:
                journal.clear()
                self._warn(
                    f"{self._output}: starting anew, because the source has changed since the earlier "
                    f"{self._work} that was interrupted"
                )
        self._keep(settings, stamp)

    def _keep(self, settings: Mapping[str, Any], stamp: Stamp | None) -> None:
        with atomic_write(self.folder / _SETTINGS) as file:
            file.write(json.dumps({**settings, _STAMP: stamp}, indent=1).encode())

    def _anew(self, reason: str | None) -> None:
        if reason is not None:
            self._warn(f"{self._output}: starting anew, because {reason}")
        # the settings go first: pieces without them are never used
        for name in [_SETTINGS, *self._own_names()]:
            if name != _LOCK:
                with suppress(FileNotFoundError):
                    (self.folder / name).unlink()

    def _warn(self, message: str) -> None:
        warnings.warn(message, EvenrankWarning, stacklevel=5)

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _open(path: Path, *, create: bool = True) -> int:
    flags = os.O_RDWR | (os.O_CREAT if create else 0) | getattr(os, "O_NOFOLLOW", 0)
    return os.open(path, flags, 0o666)


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether an open file still has its name: another process may have removed it."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False
