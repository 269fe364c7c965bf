"""``evenrank init``: a folder in, a commented project file out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from evenrank.cli.streams import put, say
from evenrank.cli.typed import Arg, command
from evenrank.errors import DataError, ParameterError

if TYPE_CHECKING:
    from evenrank.inputs.found_files import FoundFile, FoundFiles

SINGLE = ("qrels", "intents", "words", "polarity", "documents", "queries")  # one file of each kind
MOST_NAMED = 4  # further files in a comment


@command("evenrank init", "evenrank init --demo")
def init(
    place: Annotated[str, Arg("a folder (default: the current one)", "FOLDER")] = ".",
    *,
    demo: Annotated[
        bool, Arg("write the sample collection, two runs of it and a project file into the folder")
    ] = False,
) -> int:
    """Write a project file, evenrank.toml, from the files in this folder: runs, judgements, documents,
    queries and groups are recognised by their content. The file is commented and meant to be edited; after it
    is there, commands need no options for what it says. Where several files are possible, the first is taken
    and the others are named in a comment."""
    from evenrank.inputs.found_files import look_around
    from evenrank.inputs.project import NAME, Project
    from evenrank.io.atomic import atomic_write

    folder = Path(place)
    target = folder / NAME
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder")
    if demo:
        return _write_demo(folder)
    if target.exists():
        raise DataError(
            f"{target}: exists already: edit it, or move it away first (evenrank doctor checks it)"
        )
    found = look_around(folder)
    engines = engine_files(found)
    if not found.of("run") and not engines:
        say("no run and no search engine was found: name yours under [data] runs, or under [engines]")
    text = project_text(found)
    with atomic_write(target) as file:
        file.write(text.encode())
    problems = Project.read(target).problems()
    try:
        Project.read(target, named=False)
        trusted = ""
    except ParameterError:  # an engine file may have SQL
        trusted = f" --project {NAME}"
    put(text)
    for line in _describe_choices(found):
        say(line)
    command = "evaluate" if found.of("run") or not engines else "audit"
    say(f"wrote {target}: edit it, then try evenrank doctor{trusted} and evenrank {command}{trusted}")
    return 1 if problems else 0


def _write_demo(folder: Path) -> int:
    """All files of the sample and its project, or none."""
    from evenrank.io.atomic import atomic_write
    from evenrank.sample import DEMO, demo_file

    there = [name for name in DEMO if (folder / name).exists()]
    if there:
        raise DataError(f"{folder}: has {', '.join(there)} already: give an empty folder")
    written: list[Path] = []
    try:
        for name in DEMO:
            with atomic_write(folder / name) as file:
                file.write(demo_file(name))
            written.append(folder / name)
    except BaseException:
        for path in written:
            path.unlink()
        raise
    say(f"wrote the demo into {folder}: {', '.join(DEMO)}")
    say("try evenrank audit, compare, gate and report there: they need no options")
    return 0


def _describe_choices(found: FoundFiles) -> list[str]:
    """What was chosen without a question, and why."""
    runs = [file.path for file in found.of("run")]
    if len(runs) < 2:
        return []
    return [
        f"the baseline is {run_name(runs[0])!r}, because its file is the first of {len(runs)} runs in "
        "alphabetical order, and NFaiRR is normalised by its documents: if other runs are to be compared "
        "with another one, change baseline and background in the file"
    ]


def engine_files(found: FoundFiles) -> list[str]:
    """The files of search engines; a database that an engine file names is not one more."""
    files = [file.path for file in found.of("engine")]
    settings = [path for path in files if path.endswith(".toml")]
    return settings or files


def project_text(found: FoundFiles) -> str:
    """The project file for what was found."""
    lines = ["# What evenrank knows about this project. Paths are relative to this file.", "", "[data]"]
    runs = [file.path for file in found.of("run")]
    first = run_name(runs[0]) if runs else ""
    lines.append(f"runs = [{', '.join(map(quoted, runs))}]" if runs else '# runs = ["runs/*.trec"]')
    chosen: dict[str, FoundFile] = {}
    for kind in SINGLE:
        files = found.of(kind)
        if not files:
            lines.append(f'# {kind} = "{_example(kind)}"')
            continue
        chosen[kind], *others = files
        named = f"  # or {_some([file.path for file in others])}" if others else ""
        lines.append(f"{kind} = {quoted(files[0].path)}{named}")
    queries = chosen.get("queries")
    if queries is not None and queries.fields:
        lines.append(
            f"# by = {quoted(next(iter(queries.fields)))}  # split results by this column of the queries"
        )
    lines.append(
        '# lexicon = "gender-en"  # count these words in the documents (evenrank scan keeps the counts)'
    )
    background = f"background = {quoted(first)}" if len(runs) > 1 else '# background = "collection"'
    lines.append(f'{background}  # the run that NFaiRR is normalised by, or "collection"')
    lines += ["", *_groups(found, chosen.get("documents"))]
    lines += ["", *_engines(found)]
    lines += ["", "[measures]", '# use = ["nDCG@10", "NFaiRR@10"]  # default: chosen by what is known']
    if len(runs) > 1:
        lines[1:1] = [
            f"baseline = {quoted(first)}  # the run that others are compared with: the first by name"
        ]
    off = "" if len(runs) > 1 and "qrels" in chosen else "# "  # a gate needs a baseline and judgements
    lines += [
        "", f"{off}[gate]  # what a new run must fulfil: evenrank gate", f"{off}alpha = 0.05",
        f'{off}[gate.measures."nDCG@10"]', f"{off}allowed = 0.02  # it may fall by this much",
        "", "[report]", '# title = "Our search"',
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _some(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def run_name(path: str) -> str:
    return Path(path).name.partition(".")[0]


TABLES = (  # what nobody has to know by heart
    "",
    "# A file that needs more than its name is a table that says how it is read:",
    "# [data.qrels]",
    '# file = "clicks.csv"',
    '# kind = "clicks"             # or "ratings"; eta and step say more',
    '# columns = { document = "sku", rank = "position" }',
    "# [groups.size]",
    '# file = "products.csv"',
    '# column = "seller_size"',
    '# unit = "seller"             # also values, even, ignore, ordinal, bins, multilabel, votes, error',
    "# [data.polarity]",
    '# file = "stance.qrels"',
    '# positive = "PRO"            # also negative, neutral, column',
)


def _groups(found: FoundFiles, documents: FoundFile | None) -> list[str]:
    """Attributes of files of groups, and of fields of the documents that have few values."""
    own = {} if documents is None else documents.fields
    fields = [
        (name, file.path + options) for file in found.of("groups") for name, options in file.fields.items()
    ]
    lines = ["[groups]", *_once(fields)]
    known = {name for name, _ in fields}
    lines += _once([(name, "documents" + options) for name, options in own.items() if name not in known])
    if len(lines) == 1:
        lines.append('# gender = "gender.csv"       # a table of documents and their groups')
        lines.append('# seller_size = "documents"   # a field of the documents')
    lines += ["", "[targets]", '# gender = "uniform"          # the share that each group should get']
    return [*lines, *TABLES]


def _engines(found: FoundFiles) -> list[str]:
    """The search engines that an audit asks."""
    lines = ["[engines]  # search engines that evenrank audit asks: engine files, databases or addresses"]
    lines += _once([(run_name(path), path) for path in engine_files(found)])
    if len(lines) == 1:
        lines.append('# shop = "opensearch+http://localhost:9200/products"')
    return [
        *lines,
        "",
        "[audit]",
        '# target = "catalogue"        # what groups should get: catalogue, candidates or equal',
        "# depth = 100                 # documents that are asked for",
    ]


def _example(kind: str) -> str:
    return {"qrels": "qrels.txt", "intents": "intents.qrels", "words": "counts.parquet"}.get(
        kind, f"{kind}.csv"
    )


def _once(entries: Sequence[tuple[str, str]]) -> list[str]:
    """A line for each key; what has the key of an earlier one is a comment, since no key may stand twice."""
    lines, known = list[str](), set[str]()
    for name, value in entries:
        lines.append(f"{'# ' if name in known else ''}{_key(name)} = {quoted(value)}")
        known.add(name)
    return lines


def _key(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else quoted(name)


def quoted(text: str) -> str:
    r"""
    >>> print(quoted('a "b"'))
    "a \"b\""
    """
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
