"""``evenrank rerank``: a run in, the same documents in another order out."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from evenrank.cli.evidence import (
    add_evidence,
    add_reading,
    add_tables,
    check_columns,
    evidence_files,
    read_evidence,
    read_named_run,
    read_tables,
)
from evenrank.cli.groups import check_groups
from evenrank.cli.inputs import STDOUT, check_output, check_stdin, run_names
from evenrank.cli.parser import add_command
from evenrank.cli.reading import reading_files
from evenrank.cli.streams import put, say, terminal_width
from evenrank.cli.values import positive
from evenrank.errors import ParameterError

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.data.run import Run
    from evenrank.data.runset import RunSet


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "rerank",
        "put the lists of a run into another order",
        """Re-rank a run and write a run, which is measured like any other. Documents and queries stay the
        same unless the method says otherwise; scores are written anew, falling by one. A method that cannot
        keep its promise for some queries does what it can, and says for how many.""",
        """
        evenrank rerank bm25.trec --with DetCons --groups stance=stance.qrels:values=PRO,CON -o fairer.trec
        evenrank rerank bm25.trec --with 'Oracle | DetCons@20' --qrels qrels.txt --groups g=g.csv -o fair.trec
        evenrank rerank bm25.trec --with 'Neutral(band=20)' --words counts.parquet -o neutral.trec
        evenrank rerank bm25.trec --with Random --repeat 100 -o draws/
        evenrank rerank --list
        """,
    )
    parser.add_argument("ranking", metavar="RUN", nargs="?", help="run file, TREC or a table; - reads stdin")
    parser.add_argument(
        "--with", dest="method", metavar="METHOD",
        help="the re-ranker, such as 'DetCons(attr=stance)@20': the first 20 ranks only; 'a | b' is a, "
        "then b",
    )  # fmt: skip
    add_evidence(parser)
    add_tables(parser)
    parser.add_argument(
        "--repeat", type=positive, metavar="N",
        help="draw so many rankings of a method that leaves something to chance; -o is then a folder",
    )  # fmt: skip
    add_reading(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE",
        help="the run to write: TREC, or .parquet; - and the default: TREC on stdout. With --repeat a folder "
        "that is new or empty; it appears when all runs are in it",
    )  # fmt: skip
    parser.add_argument(
        "--tag", metavar="TAG", help="last field of the TREC file (default: the run and the method)"
    )
    parser.add_argument("--list", action="store_true", help="list the methods and their parameters")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    if arguments.list:
        put(_list())
        return 0
    if arguments.ranking is None or arguments.method is None:
        raise ParameterError("rerank takes a run and a method: evenrank rerank RUN --with METHOD (or --list)")
    inputs = [arguments.ranking, *evidence_files(arguments)]
    check_stdin(inputs)
    check_groups(arguments)
    if arguments.output == STDOUT and arguments.repeat is None:
        arguments.output = None
    check_output(arguments.output, inputs)
    done = _reranked(arguments)
    write_ranked(done, arguments)
    return 0


def _reranked(arguments: argparse.Namespace) -> Run | RunSet:
    from evenrank.io.trec.writable import checked_format
    from evenrank.rerankers import parse_reranker, rerank

    # what is wrong with the command line is said before large files are read
    method = parse_reranker(arguments.method)
    if arguments.repeat is not None:
        _check_folder(arguments.output)
    elif arguments.output is not None:
        checked_format(arguments.output, None)
    check_columns(arguments, [arguments.ranking])
    (name,) = run_names([arguments.ranking], [])
    with reading_files():
        evidence = {**read_evidence(arguments), "evidence": read_tables(arguments)}
        ranking = read_named_run(arguments, arguments.ranking, name)
    done: Run | RunSet = rerank(ranking, method, repeat=arguments.repeat, **evidence)
    say(_told(ranking, done))
    return done


def _check_folder(output: str | None) -> None:
    if output is None:
        raise ParameterError("--repeat writes a run for every draw: say into which folder, -o draws/")
    folder = Path(output)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ParameterError(f"{output}: --repeat writes into a folder that is new or empty")
    if folder.exists() and folder.samefile("."):
        raise ParameterError(f"{output}: --repeat makes a folder: give it a name of its own")


def write_ranked(done: Run | RunSet, arguments: argparse.Namespace) -> None:
    """Where ``--output`` says, or to stdout; several rankings into a folder."""
    from evenrank.data.run import Run
    from evenrank.io import write_run
    from evenrank.io.folders import whole_folder
    from evenrank.io.runs import run_lines
    from evenrank.io.trec.writable import check_ids, one_word

    if not isinstance(done, Run):
        digits = len(str(len(done)))
        # whole or not there: some of the draws would be taken for all of them
        with whole_folder(arguments.output) as folder:
            for number, draw in enumerate(done, 1):
                write_run(draw, folder / f"{number:0{digits}}.trec", tag=arguments.tag)
        say(f"wrote {len(done):,} runs into {arguments.output}")
    elif arguments.output is not None:
        write_run(done, arguments.output, tag=arguments.tag)
        say(f"wrote {arguments.output}")
    else:
        check_ids(done.name, {"query": done.query_ids, "document": done.doc_ids})
        tag = one_word(done.name if arguments.tag is None else arguments.tag, "run")
        put("".join(piece.decode() for piece in run_lines(done, tag)))


def _told(old: Run, done: Run | RunSet) -> str:
    """How many lists the method changed, in the first draw of several."""
    from evenrank.data.run import Run

    new = done if isinstance(done, Run) else done.runs[0]
    changed = sum(query not in new or old.documents(query) != new.documents(query) for query in old)
    where = "" if isinstance(done, Run) else " in the first draw"
    return f"{new.name}: {changed:,} of {len(old):,} lists have another order{where}"


def _list() -> str:
    from evenrank.rerankers.registry import all_rerankers, describe

    width = max(terminal_width() or 100, 60)
    records = [describe(cls) for cls in all_rerankers().values()]
    indent = max(len(record["name"]) for record in records) + 2
    lines: list[str] = []
    for record in records:
        said = [record["summary"]]
        said.append(f"Needs {'; '.join(record['needs']) or 'nothing beside the run'}.")
        if record["random"]:
            said.append("Leaves something to chance: --repeat.")
        lines.append(
            textwrap.fill(
                " ".join(said),
                width,
                initial_indent=f"{record['name']:<{indent}}",
                subsequent_indent=" " * indent,
            )
        )
        for name, entry in record["parameters"].items():
            line = f"{name}={entry['default']!r}: {entry['meaning']}; {entry['must be']}"
            lines.append(
                textwrap.fill(
                    line,
                    width,
                    initial_indent=" " * (indent + 2),
                    subsequent_indent=" " * (indent + 6),
                    break_on_hyphens=False,
                )
            )
        lines.append("")
    after = "Every method takes a cut-off, as DetCons@20: only so many ranks change. 'a | b' is a, then b."
    return "\n".join([*lines, textwrap.fill(after, width)]) + "\n"
