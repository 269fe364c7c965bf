"""Reading scores back: rows of each format, checked one by one, and the blocks that they make."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np

from evenrank.errors import DataError, EvenrankError, ParameterError, Problem
from evenrank.measures import Measure, parse_measure
from evenrank.scores.rows import VALUE_FIELDS
from evenrank.scores.scores import INFINITE, OK, Scores, ScoresBlock
from evenrank.tables import of_cell

KIND = "evenrank scores"
VERSION = 1
METADATA_KEY = b"evenrank.scores"

_INFINITIES = {"Infinity": math.inf, "-Infinity": -math.inf}


@dataclass(frozen=True)
class _Row:
    line: int
    run: str
    query: str
    measure: str
    column: str
    value: float
    status: str


def _fail(name: str, line: int, what: str) -> NoReturn:
    raise DataError.listing(name, [Problem(line, what)])


def _row(name: str, line: int, cells: dict[str, Any]) -> _Row:
    """One value, where the number and the status must agree."""
    for key in VALUE_FIELDS:
        if key not in cells:
            _fail(name, line, f"there is no {key!r}")
        if key != "value" and not isinstance(cells[key], str):
            _fail(name, line, f"{key!r} must be a string, got {cells[key]!r:.80}")
    value = cells["value"]
    if value is None:
        value = math.nan
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        _fail(name, line, f"the value must be a number, got {value!r:.80}")
    status = cells["status"]
    try:
        value = float(value)
    except OverflowError:
        _fail(name, line, "the value is too large for a number of 64 bits")
    fits = {OK: math.isfinite, INFINITE: math.isinf}.get(status, math.isnan)
    if not fits(value):
        _fail(name, line, f"value {value!r} and status {status!r:.80} do not agree")
    return _Row(line, cells["run"], cells["query"], cells["measure"], cells["column"], value, status)


def read_jsonl(name: str, content: bytes) -> tuple[dict[str, Any], Iterator[_Row]]:
    lines = content.split(b"\n")
    header = _object(name, 1, lines[0])
    _check_header(name, header)

    def values() -> Iterator[_Row]:
        for line, text in enumerate(lines[1:], 2):
            if text.strip():
                cells = _object(name, line, text)
                value = cells.get("value")
                if isinstance(value, str):
                    cells["value"] = _INFINITIES.get(value, value)
                yield _row(name, line, cells)

    return header, values()


def _object(name: str, line: int, text: bytes) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        _fail(name, line, f"is not JSON in UTF-8: {error}")
    if not isinstance(found, dict):
        _fail(name, line, f"must be a JSON object, got {found!r:.80}")
    return found


def _check_header(name: str, header: dict[str, Any]) -> None:
    if header.get("kind") != KIND:
        raise DataError(
            f'{name}:1: this is not a file of scores: its first object must have "kind": {KIND!r}'
        )
    version = header.get("version")
    if not isinstance(version, int) or not 1 <= version <= VERSION:
        _fail(name, 1, f"version {version!r:.80} is not read here; this evenrank reads 1 to {VERSION}")
    notes, blocks = header.get("notes", {}), header.get("blocks", [])
    whole = (
        isinstance(header.get("provenance", {}), dict)
        and isinstance(notes, dict)
        and all(isinstance(said, list) and all(isinstance(s, str) for s in said) for said in notes.values())
        and isinstance(blocks, list)
        and all(
            isinstance(block, dict) and set(block) >= {"run", "measure", "columns", "queries"}
            for block in blocks
        )
        and all(isinstance(block["columns"], list) for block in blocks)
    )
    if not whole:
        raise DataError(
            f"{name}:1: the provenance, the notes or the blocks are not of the form that is written"
        )


def read_delimited(name: str, content: bytes, delimiter: str) -> Iterator[_Row]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _fail(name, content.count(b"\n", 0, error.start) + 1, "is not UTF-8")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line, values = 1, 0
    try:
        for number, cells in enumerate(reader):
            if number == 0:
                if cells != list(VALUE_FIELDS):
                    _fail(name, 1, f"the columns must be {', '.join(VALUE_FIELDS)}, got {cells!r:.120}")
            elif cells:
                yield _delimited_row(name, line, [of_cell(c) for c in cells])
                values += 1
            line = reader.line_num + 1  # where the next row begins: a quoted cell may hold line ends
    except csv.Error as error:
        _fail(name, max(reader.line_num, 1), str(error))
    if line == 1:
        raise DataError(f"{name}: is empty")
    if not values:  # a file that was cut off after its first line looks like this, too
        raise DataError(f"{name}: holds no scores, only the names of the columns")


def _delimited_row(name: str, line: int, cells: list[str]) -> _Row:
    if len(cells) != len(VALUE_FIELDS):
        _fail(name, line, f"{len(cells)} fields where there must be {len(VALUE_FIELDS)}")
    named: dict[str, Any] = dict(zip(VALUE_FIELDS, cells, strict=True))
    try:
        named["value"] = float(named["value"]) if named["value"] else None
    except ValueError:
        _fail(name, line, f"the value must be a number, got {named['value']!r:.80}")
    return _row(name, line, named)


def read_parquet(name: str, content: bytes) -> tuple[dict[str, Any], Iterator[_Row]]:
    import pyarrow as pa
    import pyarrow.parquet

    try:
        table = pa.parquet.read_table(pa.BufferReader(content))
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{name}: is not a Parquet file: {str(error).partition(chr(10))[0]}") from None
    metadata = (table.schema.metadata or {}).get(METADATA_KEY)
    if metadata is None or table.column_names != list(VALUE_FIELDS):
        raise DataError(f"{name}: this Parquet file does not hold scores written by evenrank")
    header = _object(name, 1, metadata)
    _check_header(name, header)
    return header, (_row(name, number, cells) for number, cells in enumerate(table.to_pylist(), 1))


@dataclass
class _Collected:
    """The values of one measure on one run, as they come."""

    measure: Measure
    queries: dict[str, int] = field(default_factory=dict)
    columns: dict[str, int] = field(default_factory=dict)
    cells: dict[tuple[int, int], _Row] = field(default_factory=dict)

    def add(self, name: str, row: _Row) -> None:
        query = self.queries.setdefault(row.query, len(self.queries))
        column = self.columns.setdefault(row.column, len(self.columns))
        first = self.cells.setdefault((query, column), row)
        if first is not row:
            _fail(name, row.line, f"{row.measure} of query {row.query!r} was in line {first.line} already")

    def block(self, name: str, run: str) -> ScoresBlock:
        shape = (len(self.queries), len(self.columns))
        values, status = np.full(shape, math.nan), np.zeros(shape, dtype=np.int16)
        reasons = {OK: 0, INFINITE: 1}
        if len(self.cells) != shape[0] * shape[1]:
            raise DataError(
                f"{name}: {self.measure!r} of run {run!r} has values for {len(self.cells)} of "
                f"{shape[0] * shape[1]} queries and columns: the file is not whole"
            )
        for place, row in self.cells.items():
            values[place] = row.value
            status[place] = reasons.setdefault(row.status, len(reasons))
        return ScoresBlock(
            run, self.measure, tuple(self.queries), tuple(self.columns), values, status, tuple(reasons)
        )


def _weighted(block: ScoresBlock, weights: list[float] | None) -> ScoresBlock:
    """The same with the weights that its queries had."""
    return block if weights is None else replace(block, weights=np.array(weights, np.float64))


def assembled(name: str, header: dict[str, Any], found: Iterable[_Row]) -> Scores:
    measures: dict[str, Measure] = {}
    blocks: dict[tuple[str, str], _Collected] = {}

    def measure_of(text: str, line: int) -> Measure:
        if text not in measures:
            try:
                measures[text] = parse_measure(text)
            except ParameterError as error:
                _fail(
                    name, line, f"measure {text!r:.80} is not known here, register it before reading: {error}"
                )
        return measures[text]

    expected = header.get("blocks", [])
    for block in expected:  # a measure may have no query at all
        key = (str(block["run"]), str(block["measure"]))
        columns = {str(column): place for place, column in enumerate(block["columns"])}
        blocks[key] = _Collected(measure_of(key[1], 1), columns=columns)
    for row in found:
        key = (row.run, row.measure)
        if key not in blocks:
            blocks[key] = _Collected(measure_of(row.measure, row.line))
        blocks[key].add(name, row)
    for block in expected:
        queries = len(blocks[str(block["run"]), str(block["measure"])].queries)
        if queries != block["queries"]:
            raise DataError(
                f"{name}: {block['measure']} of run {block['run']!r} has {queries} of {block['queries']} "
                "queries: the file is not whole"
            )
    notes = {run: tuple(said) for run, said in header.get("notes", {}).items()}
    provenance = dict(header.get("provenance", {}))
    runs = provenance.get("runs")
    weights = {(block["run"], block["measure"]): block["weights"] for block in expected if "weights" in block}
    whole = tuple(_weighted(blocks[key].block(name, key[0]), weights.get(key)) for key in blocks)
    judged = any(part.judged_by for block in whole for part in block.measure.parts())
    told = frozenset(
        run
        for run, facts in (runs.items() if isinstance(runs, dict) and judged else ())
        if isinstance(facts, dict) and facts.get("reads_judgements") is True
    )
    scores = Scores(whole, notes, lambda: provenance, informed=told)
    try:
        return scores.with_labels(header.get("labels", {}))
    except EvenrankError as error:
        raise DataError(f"{name}:1: {error}") from None
