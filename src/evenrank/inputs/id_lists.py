"""Lists of ids, one on each line."""

from __future__ import annotations

from evenrank.errors import DataError, Problem
from evenrank.inputs.file_options import STDIN
from evenrank.io.source import as_source


def read_ids(path: str, what: str) -> list[str]:
    """One id a line: what stands before the first tab. Blank lines and # comments are skipped."""
    source = as_source(path)
    content = b"" if source is None else b"".join(source.blocks())
    name = path if source is None else source.name
    ids: list[str] = []
    problems: list[Problem] = []
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        try:
            text = line.decode()
        except UnicodeDecodeError:
            problems.append(Problem(number, "is not UTF-8"))
            continue
        if not text.strip() or text.startswith("#"):
            continue
        identifier = text.partition("\t")[0].strip()
        if identifier:
            ids.append(identifier)
        else:
            problems.append(Problem(number, f"there is no {what} id before the tab"))
    if problems:
        raise DataError.listing(name, problems)
    if not ids:
        raise DataError(f"{name}: holds no {what} id")
    return ids


def lists_ids(path: str) -> bool:
    """Whether the first line with content is one word: a line of a run has six."""
    if path == STDIN:  # what was read of it is gone
        return False
    source = as_source(path)
    block = b"" if source is None else next(iter(source.blocks(1 << 16)), b"")
    lines = (line.split() for line in block.removeprefix(b"\xef\xbb\xbf").split(b"\n"))
    first = next((fields for fields in lines if fields and not fields[0].startswith(b"#")), [])
    return len(first) == 1
