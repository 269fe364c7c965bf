"""The import graph by layers, as a picture and a table: ``python docs/build_architecture.py``.

Layers are those that ``tests/test_contract.py`` enforces, imports those that the code has. Lines that follow
from others are left out: where cli imports report and report imports data, no line joins cli and data. The
lowest layer, which everything may import, is in the table and not in the picture.
"""

from __future__ import annotations

import ast
import runpy
import sys
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src/evenrank"
PICTURE = ROOT / "docs/architecture.svg"
PAGE = ROOT / "docs/architecture.md"
BEGIN, END = "<!-- modules: begin -->", "<!-- modules: end -->"

BOX, HEIGHT, ROW, GAP, MARGIN = 112, 26, 64, 22, 24
ROUNDS = 24  # of sorting each row by where its neighbours stand

Graph = Mapping[str, set[str]]
Point = tuple[float, float]
Stop = tuple[str, str, int]  # where the line between two modules passes a row: (module, "", row) is a box


def read_graph() -> tuple[dict[str, int], dict[str, set[str]]]:
    """The layer of each top-level module, and the modules that it imports."""
    sys.path.insert(0, str(ROOT / "tests/support"))
    contract = runpy.run_path(str(ROOT / "tests/test_contract.py"))
    layers: dict[str, int] = contract["LAYERS"]
    graph: dict[str, set[str]] = {name: set() for name in layers}
    for path in sorted(PACKAGE.rglob("*.py")):
        own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if own in layers:
            graph[own] |= {other for other in contract["imports"](path) if other in layers} - {own}
    upwards = {
        own: {other for other in others if layers[other] > layers[own]} for own, others in graph.items()
    }
    return layers, {own: others - upwards[own] for own, others in graph.items()}


def reduced(graph: Graph) -> dict[str, list[str]]:
    """The lines that do not follow from others.

    >>> reduced({"a": {"b", "c"}, "b": {"c"}, "c": set()})
    {'a': ['b'], 'b': ['c'], 'c': []}
    """

    def reached(start: str) -> set[str]:
        found: set[str] = set()
        waiting = list(graph[start])
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += graph[name]
        return found

    below = {name: reached(name) for name in graph}
    return {
        name: sorted(other for other in others if not any(other in below[between] for between in others))
        for name, others in graph.items()
    }


def routes(layers: Mapping[str, int], lines: Mapping[str, Iterable[str]]) -> list[list[Stop]]:
    """Each line as the places that it passes: between the boxes of the rows that it crosses."""
    return [
        [
            (name, "", layers[name]),
            *((name, other, row) for row in range(layers[name] - 1, layers[other], -1)),
            (other, "", layers[other]),
        ]
        for name, others in sorted(lines.items())
        for other in others
    ]


def placed(layers: Mapping[str, int], paths: Iterable[list[Stop]]) -> dict[Stop, Point]:
    """The middle of each box and of each passing line: high layers at the top, neighbours near each other."""
    stops = {(name, "", row) for name, row in layers.items()} | {stop for path in paths for stop in path}
    neighbours: dict[Stop, set[Stop]] = {stop: set() for stop in stops}
    for path in paths:
        for one, other in pairwise(path):
            neighbours[one].add(other)
            neighbours[other].add(one)
    levels = sorted(set(layers.values()), reverse=True)
    rows = [sorted(stop for stop in stops if stop[2] == level) for level in levels]
    width = max(sum(map(_width, row)) for row in rows)
    across: dict[Stop, float] = {}
    for turn in range(ROUNDS):
        for row in rows if turn % 2 == 0 else reversed(rows):
            row.sort(key=lambda stop: (_mean(across.get(other) for other in neighbours[stop]), stop))
            spare = (width - sum(map(_width, row))) / (len(row) + 1)
            left = float(MARGIN)
            for stop in row:
                left += spare
                across[stop] = left + _width(stop) / 2
                left += _width(stop)
    return {
        stop: (across[stop], MARGIN + HEIGHT / 2 + place * ROW)
        for place, row in enumerate(rows)
        for stop in row
    }


def _width(stop: Stop) -> int:
    return GAP if stop[1] else BOX + GAP


def _mean(values: Iterable[float | None]) -> float:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else 0.0


def picture() -> str:
    layers, graph = read_graph()
    lowest = min(layers.values())
    layers = {name: level for name, level in layers.items() if level > lowest}
    lines = reduced({name: graph[name] & set(layers) for name in layers})
    paths = routes(layers, lines)
    places = placed(layers, paths)
    width = max(x for x, _ in places.values()) + BOX / 2 + MARGIN
    height = max(y for _, y in places.values()) + HEIGHT / 2 + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" font-family="sans-serif" font-size="13">',
        "<title>Modules of evenrank by layer; a line: the upper module imports the lower one</title>",
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
    ]
    parts += [
        f'<path d="{_curve([places[stop] for stop in path])}" fill="none" stroke="#8a9bb0"/>'
        for path in paths
    ]
    for (name, passing, _), (x, y) in sorted(places.items()):
        if not passing:
            parts.append(
                f'<rect x="{x - BOX / 2:.0f}" y="{y - HEIGHT / 2:.0f}" width="{BOX}" height="{HEIGHT}" '
                f'rx="4" fill="#eef3f9" stroke="#31557c"/>'
                f'<text x="{x:.0f}" y="{y + 4.5:.0f}" text-anchor="middle">{escape(name)}</text>'
            )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _curve(points: list[Point]) -> str:
    """A line down from the first box, straight through the rows between, to the last box."""
    drawn = f"M{points[0][0]:.0f} {points[0][1]:.0f}"
    for (x, y), (to_x, to_y) in pairwise(points):
        top, bottom = y + HEIGHT / 2, to_y - HEIGHT / 2
        middle = (top + bottom) / 2
        drawn += (
            f" V{top:.0f} C{x:.0f} {middle:.0f} {to_x:.0f} {middle:.0f} {to_x:.0f} {bottom:.0f} V{to_y:.0f}"
        )
    return drawn


def table() -> str:
    """What each module is for, the highest layer first."""
    layers, graph = read_graph()
    rows = ["| layer | module | what it is for | imports |", "|---|---|---|---|"]
    for name in sorted(layers, key=lambda name: (-layers[name], name)):
        others = ", ".join(sorted(graph[name], key=lambda other: (-layers[other], other)))
        rows.append(f"| {layers[name]} | `{name}` | {_first_sentence(name)} | {others} |")
    return "\n".join(rows)


def _first_sentence(name: str) -> str:
    path = PACKAGE / f"{name}.py"
    text = (path if path.exists() else PACKAGE / name / "__init__.py").read_text(encoding="utf-8")
    doc = ast.get_docstring(ast.parse(text)) or ""
    return doc.split("\n\n")[0].replace("\n", " ").replace("``", "`").replace("|", "\\|").rstrip(".")


def page(text: str) -> str:
    """The page with the table of now between its two marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def main() -> None:
    PICTURE.write_text(picture(), encoding="utf-8")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
