"""The command that does what an audit advises, to be pasted into a shell in the same folder."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import Path

from evenrank.auditing.group_files import write_groups, write_target
from evenrank.auditing.history import GROUPS, RUNS, runs_of
from evenrank.auditing.sources import file_name
from evenrank.data.attribute import GIVEN, RELEVANCE
from evenrank.data.membership import Membership
from evenrank.inputs import Inputs
from evenrank.inputs.file_options import FileOption
from evenrank.verdict import Verdict
from evenrank.verdict.attributes import group_attributes

LONGEST = 12  # letters of a file's name, so that the command stays within a terminal
_ATTRIBUTE = re.compile(r"\(attr='[^']*',|\(attr='[^']*'\)")


def with_commands(
    found: Sequence[Verdict],
    inputs: Inputs,
    folder: Path,
    written: Path,
    qrels: FileOption | None = None,
    project: str | None = None,
) -> tuple[Verdict, ...]:
    """The verdicts, each advice with its command; the groups that it names are written.

    ``folder`` is the audit's as it will be called, ``written`` where its files are written now, and ``qrels``
    the file of judgements, which a target may be made of. ``project`` is the project file that was named: a
    command in the same folder may need that name too.
    """
    known = {one.attribute.name: one for one in group_attributes(inputs)}
    named = () if project is None else ("--project", project)
    options: dict[str, list[str]] = {}
    outputs = chain(["fairer"], (f"fairer-{number}" for number in count(2)))
    free = (name for name in outputs if name not in inputs.runs and not _is_taken(name))
    made = []
    for verdict in found:
        if verdict.advice is None:
            made.append(verdict)
            continue
        name = verdict.attribute
        if name not in options:
            stem = _free_name(written / GROUPS, file_name(name)[:LONGEST])
            options[name] = _groups(verdict, known[name], folder, written, stem)
            if options[name][-1] == f"{name}={RELEVANCE}":
                options[name] += [] if qrels is None or qrels.options else ["--qrels", qrels.path]
        stem = file_name(verdict.system)
        kept = next(path.name for path in runs_of(written) if path.stem == stem)
        run, output = str(folder / RUNS / kept), f"{next(free)}{Path(kept).suffix}"
        words = ["evenrank", "rerank", run, "--with", _only(verdict.advice.method), *options[name]]
        advice = replace(verdict.advice, command=(*words, *named, "-o", output))
        made.append(replace(verdict, advice=advice))
    return tuple(made)


def _is_taken(name: str) -> bool:
    """Whether a run of that name is here, which a pasted command would write over."""
    return any(Path(name).with_suffix(suffix).exists() for suffix in (".trec", ".parquet"))


def _groups(verdict: Verdict, membership: Membership, folder: Path, written: Path, stem: str) -> list[str]:
    """``--groups`` and ``--target`` of an attribute, whose groups are written."""
    file = f"{stem}.csv"
    (written / GROUPS).mkdir(exist_ok=True)
    how = write_groups(membership, written / GROUPS / file)
    target = verdict.target
    if target == GIVEN and not isinstance(membership.attribute.target, str):
        target = f"{stem}.target.csv"
        write_target(membership, written / GROUPS / target)
        target = str(folder / GROUPS / target)
    elif target == GIVEN:
        target = str(membership.attribute.target)
    groups = f"{verdict.attribute}={folder / GROUPS / file}{how}"
    return ["--groups", groups, "--target", f"{verdict.attribute}={target}"]


def _free_name(folder: Path, name: str) -> str:
    """A name for a new table in the folder."""
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(one for one in names if not (folder / f"{one}.csv").exists())


def _only(method: str) -> str:
    """The method without the attribute's name: the command names one attribute.

    >>> _only("DetCons(attr='size',top=10)@100")
    'DetCons(top=10)@100'
    """
    return _ATTRIBUTE.sub(lambda found: "(" if found.group().endswith(",") else "", method)


def command_lines(words: Sequence[str], width: int) -> list[str]:
    """A command on lines of at most this width, as far as its words allow, that a shell takes as one.

    >>> words = ["evenrank", "rerank", "a.trec", "--with", "DetCons(top=10)", "-o", "b.trec"]
    >>> [line.rstrip(chr(92)) for line in command_lines(words, 40)]
    ['evenrank rerank a.trec ', "  --with 'DetCons(top=10)' -o b.trec"]
    """
    parts: list[str] = []
    for word in map(shlex.quote, words):  # an option stays beside its value
        if parts and parts[-1].startswith("-") and " " not in parts[-1]:
            parts[-1] += f" {word}"
        else:
            parts.append(word)
    lines = [""]
    for part in parts:
        indent = "" if len(lines) == 1 else "  "
        longer = f"{lines[-1]} {part}" if lines[-1] else indent + part
        if len(longer) <= width - 2 or not lines[-1]:  # room for " \\"
            lines[-1] = longer
        else:
            lines.append(f"  {part}")
    return [f"{line} \\" for line in lines[:-1]] + lines[-1:]
