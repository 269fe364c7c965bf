"""``evenrank audit``: engines or runs in; who is favoured, how sure that is, and what to do out."""

from __future__ import annotations

import argparse
import shlex
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenrank.cli import shared
from evenrank.cli.outputs import check_output
from evenrank.cli.parser import add_command
from evenrank.cli.progress import Bar
from evenrank.cli.streams import put, say
from evenrank.cli.targets import asked_targets
from evenrank.errors import ParameterError, installing
from evenrank.inputs.file_options import RUN
from evenrank.inputs.group_options import TargetOption, target_of
from evenrank.text import without_userinfo

if TYPE_CHECKING:
    from evenrank.auditing.making import AuditRequest
    from evenrank.auditing.sources import EngineSource
    from evenrank.cli.parser import Commands
    from evenrank.inputs.file_options import FileOption
    from evenrank.inputs.project import Project

OUTPUT = "audit"
INPUTS = ("qrels", "groups", "documents", "queries")
KINDS = ("catalogue", "candidates", "equal")
NOTES = 3  # lines of notes, where --notes does not ask for all


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "audit",
        """Ask search engines a list of queries, or take run files, and find out which groups of documents get
        more or less attention than their share. Prints at most fourteen lines. Runs, scores, a report and a
        summary for programs go to a new folder, named by the time, below -o; the report shows the trend over
        earlier audits there. Every answer of an engine is kept as it comes: the same command goes on where
        an interrupted one stopped. Ask the owner of an engine before you audit it.""",
        """
        evenrank audit opensearch+http://localhost:9200/products --queries queries.csv \
--documents products.jsonl --groups seller_size,author_gender
        evenrank audit shop.db --queries queries.csv --documents products.jsonl --groups seller_size --dry-run
        evenrank audit bm25.trec dense.trec --documents articles.jsonl --lexicon gender-en --qrels qrels.txt
        evenrank audit run.csv --groups seller=sellers.csv --target candidates
        evenrank audit
        """,
    )
    parser.add_argument(
        "runs", nargs="*", type=shared.option(RUN.parse), metavar="ENGINE|RUN",
        help="the address of an engine, as opensearch+http://host:9200/index, an SQLite file, an engine file "
        "(.toml), an engine of the project file by its name, or a run file; NAME=.. names it. Default: those "
        "of the project file",
    )  # fmt: skip
    shared.add_inputs(parser, INPUTS)
    parser.add_argument(
        "--target", type=shared.option(_target), action="append", metavar="TARGET",
        help="what groups should get: catalogue (in proportion to their documents; default with "
        "--documents), candidates (to those among the first 100 that were found; default without), equal, or "
        "NAME=VALUE:SHARE,.. for one attribute, which goes before the others; may be repeated",
    )  # fmt: skip
    shared.add_lexicon(parser, "count the words of this lexicon in the documents: who do the texts speak of?")
    parser.add_argument(
        "--keep-texts", action="store_true", help="keep the texts of documents that engines answer with"
    )
    parser.add_argument(
        "--dry-run", action="store_true",
        help="print what would be asked, with --notes every request, and ask nothing",
    )  # fmt: skip
    shared.add_output(parser, f"the folder of audits (default: {OUTPUT})")
    parser.set_defaults(run=run, reads_project=True, measures=None, missing=None)


def run(arguments: argparse.Namespace) -> int:
    from evenrank.auditing.making import make_audit

    request = _request(arguments)
    output = arguments.output or _output(arguments.project)
    if arguments.dry_run:
        put(_planned(request, output, whole=arguments.notes))
        return 0
    found = make_audit(request, output, step=_step)
    put("\n".join(found.lines()) + "\n")
    notes = found.summary.notes
    for note in notes if arguments.notes else notes[:NOTES]:
        say(note)
    if len(notes) > NOTES and not arguments.notes:
        say(f"{len(notes) - NOTES} more notes: see {found.folder}, or add --notes")
    if not found.reported:
        say(f"no report was written: it needs {installing('report')}")
    return 0


def _step(what: str) -> AbstractContextManager[Any]:
    return Bar(what, "queries" if what == "asking" else "")


def _target(text: str) -> str | TargetOption:
    return text if text in KINDS else target_of(text)


def _output(project: Project | None) -> str:
    if project is None:
        return OUTPUT
    return project.audit_folder


def _request(arguments: argparse.Namespace) -> AuditRequest:
    """What the command line and the project file ask for; what is wrong is said before anything is asked."""
    from evenrank.auditing.making import AuditRequest
    from evenrank.verdict.judge import DEPTH

    project: Project | None = arguments.project
    kinds = [one for one in arguments.target or () if isinstance(one, str)]
    arguments.target = [one for one in arguments.target or () if not isinstance(one, str)]
    settings = None if project is None else project.settings.audit
    kind = kinds[-1] if kinds else None if settings is None else settings.target
    engines, files = _sources(arguments.runs or [], project, given="runs" not in arguments.filled)
    arguments.runs = files
    known = shared.description(arguments)
    if not engines and not files:
        raise ParameterError(
            "an audit needs the address of an engine or a run file, or engines or runs in the project file"
        )
    known.check()
    check_output(arguments.output, makes_folder=True)
    return AuditRequest(
        known=known,
        engines=tuple(engines),
        target=asked_targets(known, kind),
        depth=DEPTH if settings is None else settings.depth,
        keep_texts=arguments.keep_texts,
        project=arguments.everywhere.path,
        command=shlex.join(map(without_userinfo, shlex.split(arguments.typed))),
    )


def _sources(
    runs: list[FileOption], project: Project | None, *, given: bool
) -> tuple[list[EngineSource], list[FileOption]]:
    """Engines and run files."""
    from evenrank.auditing.sources import EngineSource
    from evenrank.engines import is_engine
    from evenrank.remote.addresses import parse_address
    from evenrank.text import without_userinfo

    known = project.engines() if project is not None and _wants_engines(runs, project, given) else {}
    folder = "." if project is None else str(project.folder)
    engines, files = [], []
    for one in runs:
        if one.path in known:
            engines.append(EngineSource(known[one.path], one.name or one.path, folder))
        elif is_engine(one.path):
            if not given:  # an engine of a project file is checked in one place
                raise ParameterError(f"data.runs: {one.path} is an engine: write it under [engines]")
            engines.append(EngineSource(one.path, one.name))
        else:
            if without_userinfo(one.path) != one.path and not Path(one.path).exists():
                parse_address(one.path)  # which says what an address looks like, without the password
            files.append(one)
    if not given or not runs:
        engines += [EngineSource(engine, name, folder) for name, engine in known.items()]
    return engines, files


def _wants_engines(runs: list[FileOption], project: Project, given: bool) -> bool:
    """Whether an engine of the project file is asked for: by name, or because nothing else is named."""
    return not given or not runs or any(one.path in project.table("engines") for one in runs)


def _planned(request: AuditRequest, output: str, *, whole: bool) -> str:
    """What would be asked: the first request and queries, or with --notes every request."""
    from evenrank.auditing.preparing import read_known
    from evenrank.auditing.sources import UNFINISHED, plans, queries_to_ask

    read_known(request.known, {}, engines=bool(request.engines))  # what is wrong with the files is said here
    lines = []
    if request.engines:
        texts = queries_to_ask(request.known.queries)["query_texts"]
        log = Path(output) / UNFINISHED
        found = plans(request.engines, texts, depth=request.depth, log=log, keep_texts=request.keep_texts)
        lines += [plan.describe(len(plan.requests) if whole else 1) for plan in found]
    if request.known.runs:
        lines.append(f"no request for: {', '.join(request.known.names)}")
    return "\n".join(lines) + "\n"
