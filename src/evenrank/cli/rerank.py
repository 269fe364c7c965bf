"""``evenrank rerank``: one method writes a run; several print what fairness costs."""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenrank.cli import shared
from evenrank.cli.outputs import check_output
from evenrank.cli.parser import add_command
from evenrank.cli.progress import Bar
from evenrank.cli.streams import put, say, say_notes, terminal_width
from evenrank.cli.targets import say_target
from evenrank.cli.values import positive, view_of
from evenrank.errors import ParameterError
from evenrank.inputs.file_options import STDIN, TABLE, FileForm, FileOption

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.comparison.tradeoff import Tradeoff
    from evenrank.data.run import Run
    from evenrank.data.runset import RunSet
    from evenrank.inputs import Inputs
    from evenrank.inputs.description import Description
    from evenrank.rerankers import Reranker

KINDS = {"ranks": (), "plane": ()}
MODEL = FileForm(
    "a trained ranker",
    keys=("device", "scrub"),
    numbers=("depth", "batch"),
    choices={"precision": ("float32", "bfloat16", "float16")},
)


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "rerank",
        """Re-rank a run. One method writes a run, which is measured like any other: documents and queries
        stay the same unless the method says otherwise, and scores are written anew, falling by one. Several
        methods, or several values of a parameter ({a,b}), print the trade-off instead: each method is scored
        beside the original, and methods that none dominates are marked. A folder that evenrank debias wrote
        is a method too; it needs --documents and --queries with texts.""",
        """
        evenrank rerank bm25.trec --with DetCons --groups stance=stance.qrels:values=PRO,CON -o fairer.trec
        evenrank rerank bm25.trec --with 'Oracle | DetCons@20' --qrels qrels.txt --groups g=g.csv -o fair.trec
        evenrank rerank bm25.trec --with 'Neutral(band=20)' --words counts.parquet -o neutral.csv
        evenrank rerank bm25.trec --with Random --repeat 100 -o draws/
        evenrank rerank bm25.trec --with models/base --documents docs.tsv --queries queries.tsv -o neural.trec
        evenrank rerank bm25.trec --with 'FAIR_greedy(epsilon={0,0.3,0.5,0.7,1})' --with DetCons \
--qrels qrels.txt --groups g=g.csv -m 'nDCG@10 nDRKL@10 FAIR@10' --repeat 1000 --figure tradeoff.svg
        evenrank rerank bm25.trec --with 'MMR(lam={0.2,0.5,0.8})' --qrels qrels.txt --groups g=g.csv \
-m 'nDCG@10 GF@10' --figure plane.svg --kind plane
        evenrank rerank --with
        """,
    )
    shared.add_runs(parser)
    parser.add_argument(
        "--with", dest="methods", action="append", nargs="?", metavar="METHOD",
        help="a re-ranker, such as 'DetCons(attr=stance)@20' (the first 20 ranks only), 'a | b' (a, then "
        "b), or the "
        "folder of a trained ranker, FOLDER[:depth=..][:batch=..][:device=..][:precision=..]"
        "[:scrub=LEXICON]; may be "
        "repeated; without a METHOD it lists them with their parameters",
    )  # fmt: skip
    shared.add_measures(parser)
    parser.add_argument(
        "--table", type=shared.option(TABLE.parse), action="append", metavar="NAME=FILE",
        help="numbers of documents for SortBy(field='NAME.column'): a table with a column of documents "
        "and columns "
        "of numbers; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--repeat", type=positive, metavar="N",
        help="draw this many rankings of a method that leaves something to chance; one method writes "
        "them into the "
        "folder -o, several are compared by their means",
    )  # fmt: skip
    parser.add_argument(
        "--tag", metavar="TAG", help="last field of the TREC file (default: the run and the method)"
    )
    shared.add_inputs(parser)
    shared.add_format(parser)
    shared.add_output(
        parser,
        "the run to write: TREC, .csv, .tsv, .jsonl or .parquet (default and -: TREC on stdout), or with "
        "--repeat a "
        "new or empty folder; for several methods the scores of every query: .jsonl, .csv, .tsv, .parquet",
    )
    shared.add_figure(
        parser,
        "the trade-off of several methods",
        "ranks (each measure against rank position, a line for each method; default), or plane (the "
        "second measure "
        "against the first, with the methods that none dominates)",
    )
    parser.set_defaults(run=run, reads_project=True)


def run(arguments: argparse.Namespace) -> int:
    if None in (arguments.methods or ()):
        put(_list())
        return 0
    known = shared.description(arguments)
    if not arguments.methods:
        raise ParameterError("name a method: evenrank rerank RUN --with METHOD (--with alone lists them)")
    shared.need_runs(known, 1, 1)
    shared.named_measures(arguments)
    if _several(arguments):
        return _compare_methods(arguments, known)
    for option in ("format", "figure", "by"):
        if getattr(arguments, option) is not None and option not in arguments.filled:
            raise ParameterError(
                f"--{option} is for the trade-off of several methods, and one is given: leave it out, or "
                "repeat "
                "--with; one run is scored by evenrank evaluate"
            )
    return _write_run(arguments, known)


def _several(arguments: argparse.Namespace) -> bool:
    """Whether a trade-off is asked for: several methods, one with several values, or measures to score it."""
    from evenrank.comparison.tradeoff import expand

    if arguments.measures is not None and "measures" not in arguments.filled:
        return True

    (first, *others) = arguments.methods
    return bool(others) or (_model_of(first) is None and len(expand(first)) > 1)


def _model_of(method: str) -> FileOption | None:
    """The folder of a trained ranker, where the method is one."""
    file = MODEL.parse(method)
    if Path(file.path).expanduser().is_dir():
        return file
    if os.sep in file.path and "(" not in file.path:
        raise ParameterError(
            f"{file.path!r} is neither a re-ranker nor the folder of a trained ranker "
            "(see: evenrank rerank --with)"
        )
    return None


def _write_run(arguments: argparse.Namespace, known: Description) -> int:
    from evenrank.comparison.tradeoff import with_missing
    from evenrank.io.written import RUN_WRITTEN, checked_format
    from evenrank.rerankers import parse_reranker, rerank

    # what is wrong with the command line is reported before large files are read
    (given,) = arguments.methods
    model = _model_of(given)
    method = with_missing(parse_reranker(given), arguments.missing) if model is None else None
    if arguments.output == STDIN and arguments.repeat is None:
        arguments.output = None
    check_output(arguments.output, makes_folder=arguments.repeat is not None)
    if arguments.repeat is not None:
        _check_folder(arguments.output)
    elif arguments.output is not None:
        checked_format(arguments.output, None, RUN_WRITTEN)
    if model is not None:
        _check_texts(known)
    inputs = shared.read_inputs(known)
    ranking = inputs.one_run("rerank")
    done: Run | RunSet
    if model is None:
        done = rerank(inputs, method, repeat=arguments.repeat)  # type: ignore[arg-type]
    else:
        with Bar("ranking", "pairs") as bar:
            done = rerank(inputs, _neural(model, inputs, bar))
    say(_describe(ranking, done))
    if method is not None:
        _say_targets(method, inputs, {option.name for option in known.target})
    write_ranked(done, arguments)
    return 0


def _say_targets(method: Reranker, inputs: Inputs, named: Collection[str]) -> None:
    """Which target groups were given, and that judgements were read, which then score it too well."""
    from evenrank.measures.base import JUDGEMENTS

    (settled,), _, _ = inputs.settle([method])
    needed = {need.partition(".")[2] for need in settled.needs}
    for one in inputs.groups:
        if one.name in needed:
            say_target(one, named=one.attribute.name in named)
    if needed & JUDGEMENTS:
        say(
            "relevance was taken from the judgements, as if it were known: scores by the same judgements "
            "are higher than this method can reach without them"
        )


def _check_texts(known: Description) -> None:
    from evenrank.neural.extra import require

    require("a trained ranker")
    if known.documents is None or known.queries is None:
        raise ParameterError(
            "a trained ranker reads texts: give --documents FILE and --queries FILE with texts"
        )


def _neural(model: FileOption, inputs: Inputs, bar: Bar) -> Reranker:
    from evenrank.io.lexicons import read_lexicon
    from evenrank.io.texts import read_texts

    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from evenrank.neural.load import load_ranker
    from evenrank.neural.precision import as_device
    from evenrank.neural.reranker import NeuralReranker
    from evenrank.neural.scrub import scrubbed

    folder = Path(model.path).expanduser().resolve()
    among = f"{folder.parent.name}/" if folder.parent.name.startswith("lambda-") else ""
    ranker = load_ranker(model.path).to(as_device(model.get("device") or "auto"))
    ranking, depth = inputs.one_run("rerank"), model.get("depth")
    head = ranking if depth is None else ranking.head(depth)
    documents = read_texts(inputs.documents, wanted=set(head.doc_ids.to_pylist()))
    queries = dict(inputs.query_texts or {})
    if model.get("scrub"):
        lexicon = read_lexicon(str(model.get("scrub")))
        documents, queries = scrubbed(documents, lexicon), scrubbed(queries, lexicon)
    return NeuralReranker.of(
        ranker, queries, documents, called=among + folder.name,
        batch=model.get("batch") or 128,
        precision=model.get("precision") or "float32", progress=bar, cutoff=depth,
    )  # fmt: skip


def _check_folder(output: str | None) -> None:
    if output is None:
        raise ParameterError("--repeat writes a run for every draw: name a folder for them, as -o draws/")
    folder = Path(output)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ParameterError(f"{output}: --repeat writes into a folder that is new or empty")
    if folder.exists() and folder.samefile("."):
        raise ParameterError(f"{output}: --repeat makes a folder: give it a name of its own")


def write_ranked(done: Run | RunSet, arguments: argparse.Namespace) -> None:
    """Where ``--output`` says, or to stdout; several rankings into a folder."""
    from evenrank.data.run import Run
    from evenrank.io import write_run
    from evenrank.io.atomic import whole_folder
    from evenrank.io.written import check_ids, one_word, run_lines

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


def _describe(old: Run, done: Run | RunSet) -> str:
    """How many lists the method changed, in the first draw of several."""
    from evenrank.data.run import Run

    new = done if isinstance(done, Run) else done.runs[0]
    changed = sum(query not in new or old.documents(query) != new.documents(query) for query in old)
    where = "" if isinstance(done, Run) else " in the first draw"
    return f"{new.name}: {changed:,} of {len(old):,} lists have another order{where}"


def _compare_methods(arguments: argparse.Namespace, known: Description) -> int:
    from evenrank.comparison.tradeoff_table import tradeoff_table
    from evenrank.tables import printed

    found = _tradeoff(arguments, known)
    if arguments.rename:
        found = found.with_labels(shared.labels_of(arguments, found.measures))
    if arguments.output is not None:
        found.scores.write(arguments.output)
        say(f"wrote {arguments.output}")
    if arguments.figure is not None:
        from evenrank.reporting.figures.tradeoff import plane_figure, ranks_figure

        draw = plane_figure if arguments.kind == "plane" else ranks_figure
        shared.write_figure(draw(found), arguments.figure)
    put(printed([tradeoff_table(found)], arguments.format or "table", terminal_width()))
    say_notes(found.scores, arguments)
    return 0


def _tradeoff(arguments: argparse.Namespace, known: Description) -> Tradeoff:
    from evenrank.comparison.tradeoff import tradeoff, variants
    from evenrank.scores.files import WRITTEN, file_format

    # what is wrong with the command line is reported before large files are read
    models = [method for method in arguments.methods if _model_of(method) is not None]
    named = [method for method in arguments.methods if method not in models]
    variants(named)
    if models:
        _check_texts(known)
    check_output(arguments.output, arguments.figure)
    if arguments.output is not None:
        try:
            file_format(arguments.output, None, WRITTEN)
        except ParameterError as error:
            raise ParameterError(
                "several methods, or one with measures or several values, write scores and not a run: name "
                f"one method, or another file ({error})"
            ) from None
    if arguments.tag is not None:
        raise ParameterError("--tag is for the run of one method: several print their trade-off")
    _check_figure(arguments)
    inputs = shared.read_inputs(known)
    measures = shared.chosen_measures(arguments, inputs)
    with Bar("ranking", "pairs") as bar:
        neural = [_neural(file, inputs, bar) for file in map(_model_of, models) if file is not None]
        methods: list[Any] = [*named, *neural]
        return tradeoff(
            inputs,
            methods,
            measures,
            repeat=arguments.repeat,
            missing=shared.missing_rule(arguments, measures),
        )


def _check_figure(arguments: argparse.Namespace) -> None:
    if not shared.check_figure_asked(arguments):
        return
    from evenrank.reporting.figures.tradeoff import check_plane, check_ranks

    kind = view_of(arguments.kind or "ranks", KINDS).name
    measures = shared.named_measures(arguments)
    if measures is not None:
        (check_plane if kind == "plane" else check_ranks)(measures)


def _list() -> str:
    from evenrank.rerankers import all_rerankers
    from evenrank.tables import Column, Table, printed

    rows: list[tuple[str, str, str]] = []
    for record in (cls.describe() for cls in all_rerankers().values()):
        said = [record["summary"], f"Needs {'; '.join(record['needs']) or 'nothing beside the run'}."]
        if record["random"]:
            said.append("Leaves something to chance: --repeat.")
        rows.append((record["name"], "", " ".join(said)))
        for name, entry in record["parameters"].items():
            rows.append(("", f"{name}={entry['default']!r}", f"{entry['meaning']}; {entry['must be']}"))
    what = Column("what it does", right=False, wraps=True)
    after = "Every method takes a cut-off, as DetCons@20: only so many ranks change. 'a | b' is a, then b."
    return printed(
        [
            Table.of(
                ["method", "parameter", what],
                rows,
                words=3,
                notes=["", after],
                meaning="These are the methods for --with, each with its parameters and their defaults.",
            )
        ],
        "table",
        terminal_width(),
    )
