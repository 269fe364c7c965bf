"""What a command printed or wrote, as data, without sentences, layout and what differs by machine."""

from __future__ import annotations

import csv
import gzip
import hashlib
import html
import io
import json
import math
import re
import sqlite3
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

WHOLE = 24  # rows that are kept as they are; of more, the first, the last, and what sums up each column
DIGITS = 12  # significant digits that are kept of a number
NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?")
KEY = re.compile(r"(?<=[-/])[0-9a-f]{8,64}(?=\.)")  # of settings, in the name of a file
PORT = re.compile(r"127\.0\.0\.1:\d{4,5}")  # of a server that answers in a case
DIGEST = re.compile(r"[0-9a-f]{32}")
LONG = 160  # characters, from which on a text is its beginning and a digest
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ(?:-\d+)?")

# keys whose values are not the same in every place, at every time, with every version of a library
VOLATILE = {
    "date", "time", "created", "started", "seconds", "duration", "mtime", "mtime_ns", "inode",
    "state", "check", "fingerprint", "evenrank", "python", "numpy", "scipy", "pyarrow", "polars",
    "ir_measures", "torch", "numba", "transformers", "bm25s", "platform", "machine", "hostname", "threads",
}  # fmt: skip
# keys whose values are sentences: whether there is one, or how many there are
PROSE = {
    "notes", "note", "sentences", "reason", "why_dropped", "interval_note", "message", "explanation",
    "problem", "problems", "help", "summary",
}  # fmt: skip
SENTENCES = {"method", "how", "cost_measure"}  # sometimes a name, sometimes a sentence
REASONS = {"undefined"}  # tables from a sentence to a count


class Masks:
    """What names of this folder and of this moment are called instead."""

    def __init__(
        self, folder: Path, texts: Iterable[str] = (), *, prose: Iterable[str] = (), whole: bool = False
    ) -> None:
        self._prose = PROSE | {*prose}
        self._whole = whole  # long lists too
        self._volatile = VOLATILE
        self._folders = sorted({str(folder), str(folder.resolve())}, key=len, reverse=True)
        found = {stamp for text in texts for stamp in STAMP.findall(text)}
        order = sorted(found, key=lambda stamp: (stamp[:20], int(stamp[21:] or 1)))
        self._stamps = {stamp: f"TIME{place}" for place, stamp in enumerate(order, 1)}

    def varying(self, names: Iterable[str]) -> None:
        """Keys that hold what differs from time to time in one case alone."""
        self._volatile = VOLATILE | {*names}

    def text(self, text: str) -> str:
        for folder in self._folders:
            text = text.replace(folder, "FOLDER")
        text = PORT.sub("127.0.0.1:PORT", text)
        text = STAMP.sub(lambda found: self._stamps.get(found[0], "TIME"), text)
        text = KEY.sub("KEY", MOMENT.sub("MOMENT", text))
        if len(text) <= LONG:
            return text
        return f"{text[:60]}... {hashlib.sha256(text.encode()).hexdigest()[:16]}"

    def value(self, value: Any, key: str = "") -> Any:
        """A value as JSON has it, without sentences and without what changes by itself."""
        if key in self._volatile and not isinstance(value, dict | list):
            return "VOLATILE"
        if key in self._prose or (key in SENTENCES and isinstance(value, str) and value.count(" ") > 3):
            return _amount(value)
        if key == "key" and isinstance(value, str) and DIGEST.fullmatch(value):  # of an answer that is kept
            return "VOLATILE"
        if key in ("version", "settings") and isinstance(value, str):  # of an engine
            return "VOLATILE"
        if key in REASONS and isinstance(value, dict):
            return sorted(value.values())
        if key == "status" and isinstance(value, str):
            return value if value in ("ok", "infinite") else "undefined"
        if isinstance(value, dict):
            if str(value.get("source", ".parquet")).endswith(".parquet"):  # of nothing that a user wrote
                value = {name: inner for name, inner in value.items() if name != "sha256"}
            if str(value.get("name", "")).endswith(".parquet"):  # so do those of a part of a folder
                value = {name: inner for name, inner in value.items() if name not in ("bytes", "digest")}
            return {self.text(str(name)): self.value(inner, str(name)) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            found = [self.value(inner) for inner in value]
            return found if self._whole else shortened(found)
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, float):
            return rounded(value)
        return value if isinstance(value, int | None) else self.text(str(value))


def _amount(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _amount(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return f"{len(value)} texts"
    return "a text" if value else ""


def rounded(number: float) -> float:
    return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else number


def shortened(rows: list[Any]) -> Any:
    """A long list as its ends and what sums up each of its columns: order, values and gaps all count."""
    if len(rows) <= WHOLE:
        return rows
    columns: dict[str, list[Any]] = {}
    alike = [row for row in rows if _shape(row) == _shape(rows[-1])]
    if len(rows) - len(alike) > 3:  # several tables, one after another
        kinds: dict[str, list[Any]] = {}
        for row in rows:
            kinds.setdefault(repr(_shape(row)), []).append(row)
        return {"count": len(rows), "tables": [shortened(kind) for kind in kinds.values()]}
    for row in alike:
        _spread(row, "", columns)
    return {
        "count": len(rows),
        "alike": len(alike),
        "first": rows[:3],
        "last": rows[-2:],
        "columns": {name: summed_up(values) for name, values in columns.items()},
    }


def _shape(row: Any) -> Any:
    return sorted(row) if isinstance(row, dict) else type(row)


def _spread(value: Any, name: str, columns: dict[str, list[Any]]) -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            _spread(inner, f"{name}.{key}" if name else key, columns)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            _spread(inner, f"{name}[{place if len(value) < 10 else ''}]", columns)
    else:
        columns.setdefault(name, []).append(value)


def summed_up(values: list[Any]) -> Any:
    """Of numbers the sum, and the sum weighted by place, which tells their order; of texts a digest."""
    finite: list[float] = []
    others: list[str] = []
    for value in values:
        number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        finite.append(value) if number else others.append(repr(value))
    found: dict[str, Any] = {"count": len(values)}
    if finite:
        placed = math.fsum(number * place for place, number in enumerate(finite, 1)) / len(finite)
        found |= {"sum": rounded(math.fsum(finite)), "by_place": rounded(placed)}
    if others:
        text = "\n".join(others).encode()
        found |= {"different": len(set(others)), "digest": hashlib.sha256(text).hexdigest()[:16]}
    return found


def cell(text: str) -> Any:
    """A field of a text file: a number where it is one."""
    if not NUMBER.fullmatch(text):
        return text
    return float(text) if set(text) & set(".eE") else int(text)


def separated(text: str, delimiter: str) -> list[Any]:
    lines = list(csv.reader(io.StringIO(text), delimiter=delimiter))
    if not lines:
        return []
    head, *rows = lines
    return [dict(zip(head, map(cell, row), strict=False)) | _more(head, row) for row in rows]


def _more(head: list[str], row: list[str]) -> dict[str, Any]:
    return {} if len(row) == len(head) else {"fields": len(row)}


def fields(text: str) -> list[Any]:
    return [list(map(cell, line.split())) for line in text.splitlines()]


def json_lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


TEXTS: dict[str, Callable[[str], Any]] = {
    "jsonl": json_lines,
    "json": json.loads,
    "csv": lambda text: separated(text, ","),
    "tsv": lambda text: separated(text, "\t"),
    "trec": fields,
    "run": fields,
    "qrels": fields,
    "toml": tomllib.loads,
    "lines": str.splitlines,
    "txt": str.splitlines,
}
"""The kinds of text that are data. Any other text is kept as being there."""


def data_of(text: str, kind: str) -> Any:
    """What a text of a kind holds; whether there is any, where the kind is for people."""
    if kind not in TEXTS:
        return "a text" if text.strip() else ""
    try:
        return TEXTS[kind](text)
    except ValueError as error:
        raise AssertionError(f"what should be {kind} is not: {text[:60]!r}") from error


def visible(text: str) -> str:
    """What a reader sees of a page, or of a text, with single blanks."""
    if "<html" in text[:500]:
        text = re.sub(r"<(script|style)\b.*?</\1>", " ", text, flags=re.DOTALL)
        text = re.sub(r"</(td|th|tr|p|div|li|h\d|text|title|section)>", " ", text)
        text = html.unescape(re.sub(r"<[^>]*>", "", text))
    return " ".join(text.split())


def content(path: Path, masks: Masks) -> Any:
    """What a file holds. Of pages, pictures and databases: that they are there, and not empty."""
    if path.is_symlink():
        return {"link": masks.text(str(path.readlink()))}
    if path.is_dir():
        return "an empty folder"
    stored = path.read_bytes()
    suffixes = [suffix.lstrip(".") for suffix in path.suffixes]
    if suffixes[-1:] == ["gz"]:
        stored, suffixes = gzip.decompress(stored), suffixes[:-1]
    elif suffixes[-1:] == ["zst"]:
        import zstandard

        with zstandard.ZstdDecompressor().stream_reader(stored) as stream:
            stored, suffixes = stream.read(), suffixes[:-1]
    kind = suffixes[-1] if suffixes else ""
    if not stored:
        return "an empty file"
    if "cache" in path.parent.name:  # nobody reads what is kept there
        return "a file"
    if stored[:4] == b"PAR1":
        return _parquet(stored, masks)
    if kind in ("npz", "npy"):
        return _arrays(stored)
    if kind == "safetensors":
        return _tensors(stored, masks)
    if stored[:16] == b"SQLite format 3\0":
        return _database(path)
    if kind in TEXTS:
        return masks.value(data_of(stored.decode("utf-8"), kind))
    return "a file"


def _parquet(stored: bytes, masks: Masks) -> Any:
    import pyarrow.parquet as parquet

    table = parquet.read_table(io.BytesIO(stored))
    types = {field.name: str(field.type).replace("large_", "") for field in table.schema}
    return {"types": types, "rows": masks.value(table.to_pylist())}


def _array(values: Any) -> dict[str, Any]:
    found = {"type": str(values.dtype), "shape": list(values.shape)}
    return found | {"values": summed_up(values.ravel().tolist())}


def _arrays(stored: bytes) -> Any:
    import numpy as np

    loaded = np.load(io.BytesIO(stored), allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return _array(loaded)
    return {name: _array(loaded[name]) for name in sorted(loaded.files)}


def _tensors(stored: bytes, masks: Masks) -> Any:
    """Weights: their names, types and shapes; a solver's last digits differ by machine, so sums to three."""
    import numpy as np

    size = int.from_bytes(stored[:8], "little")
    head = json.loads(stored[8 : 8 + size])
    found: dict[str, Any] = {}
    for name, tensor in sorted(head.items()):
        if name == "__metadata__":
            found[name] = sorted(tensor)
            continue
        found[name] = {"type": tensor["dtype"], "shape": tensor["shape"]}
        if tensor["dtype"] in ("F32", "F64"):
            start, end = (8 + size + offset for offset in tensor["data_offsets"])
            values = np.frombuffer(stored[start:end], "<f4" if tensor["dtype"] == "F32" else "<f8")
            found[name]["norm"] = float(f"{np.linalg.norm(values.astype(float)):.3g}")
    return masks.value(found)


def _database(path: Path) -> Any:
    """The sizes of its tables, whatever they are called."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        names = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
        sizes = [database.execute(f'select count(*) from "{name}"').fetchone()[0] for name in names]
    database.close()
    return {"database": sum(sizes)}


def digests(folder: Path) -> dict[str, str]:
    """Every file, link and empty folder, with a digest of what it holds."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_file():
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        elif path.is_dir() and not any(path.iterdir()):
            found[f"{name}/"] = ""
    return found
