"""``evenrank debias``: vectors without what they tell about groups, or rankers trained to hide it."""

from __future__ import annotations

import argparse
import os
import textwrap
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from evenrank.cli.outputs import check_output
from evenrank.cli.parser import add_command
from evenrank.cli.progress import ResumableBar
from evenrank.cli.shared import default_output, option, read_inputs
from evenrank.cli.streams import put, say, terminal_width
from evenrank.errors import ParameterError, counted
from evenrank.inputs.file_options import DOCUMENTS, QRELS

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.inputs.description import Description

OUTPUT = "models"


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "debias",
        """With --erase: fit the smallest change of an encoder's vectors after which no linear
        function of them tells what the words or groups of documents are, and write it (-o
        NAME.safetensors), the erased vectors (-o NAME.parquet or .npy) or the encoder with it (-o
        FOLDER). The table [erase] of the project file says what is erased. Fitting takes
        seconds on a CPU and needs no training; encoding the documents first takes longer.
        Without --erase: train a ranker in three stages: for relevance,
        or to keep the order of a teacher without judgements; adversaries that tell protected labels
        from its vectors; and both together with the adversaries' gradients reversed, once for each
        strength. The table [debias] of the project file describes what to train. The folder gets a
        ranker for every checkpoint, the run that each re-ranked, and logs that TensorBoard reads. A
        training that was stopped goes on when the same command is given again.""",
        """
        evenrank debias --erase minilm --documents passages.tsv -o gender.safetensors
        evenrank debias --erase vectors.parquet --documents passages.tsv -o erased.parquet
        evenrank debias --erase minilm --set eraser=gender.safetensors -o minilm-erased
        evenrank debias --erase minilm --set
        evenrank debias
        evenrank debias --project adv.toml -o models
        evenrank debias --qrels qrels.train.txt --queries queries.train.tsv --documents passages.tsv
        evenrank debias --set training.device=cuda --set training.precision=bfloat16
        evenrank debias --set
        """,
    )
    parser.add_argument(
        "--erase", metavar="WHAT",
        help="erase instead of training: an encoder (minilm, wordllama, the folder of a "
        "sentence-transformers model), or a file of vectors (.parquet with the columns document and vector; "
        ".npy with the ids in a .txt file beside it)",
    )  # fmt: skip
    known = parser.add_argument_group("what to learn from")
    known.add_argument(
        "--qrels", type=option(QRELS.parse), action="append", metavar="FILE",
        help="relevance judgements of the training queries",
    )  # fmt: skip
    known.add_argument(
        "--queries", metavar="FILE", help="the queries with their texts, as every command reads them"
    )
    known.add_argument(
        "--documents", type=option(DOCUMENTS.parse), metavar="FILE", help="the documents, as scan reads them"
    )
    parser.add_argument(
        "--set", dest="changes", action="append", nargs="?", metavar="KEY=VALUE",
        help="set a key of [debias], as training.device=cuda, or with --erase of [erase], as "
        "lexicon=gender-en (overrides the file); may be repeated; without KEY=VALUE it lists the keys, and "
        "what they mean",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--output", metavar="PATH",
        help="where everything goes: new or empty, or a training that was stopped (default: models); with "
        "--erase a file, or the folder of a new model (default: eraser.safetensors)",
    )  # fmt: skip
    parser.set_defaults(run=run, reads_project=True, columns=None)


def run(arguments: argparse.Namespace) -> int:
    if None in (arguments.changes or ()):
        put(_keys(erase=arguments.erase is not None))
        return 0
    if arguments.erase is not None:
        from evenrank.cli.erase import run_erase

        return run_erase(arguments, _description(arguments))
    from evenrank.neural.config import DISTILLATION, changed, config_of, make_config
    from evenrank.neural.extra import require

    known = _description(arguments)
    arguments.output = arguments.output or default_output(arguments, OUTPUT)
    check_output(arguments.output, makes_folder=True)
    changes = list(arguments.changes or ())
    if arguments.everywhere.seed is not None:
        changes.append(f"seed={arguments.seed}")
    project = arguments.project
    config = make_config(changed({}, changes)) if project is None else config_of(project, changes)
    if config.model.loss == DISTILLATION:
        _check_inputs(_texts(known))
        known = replace(known, qrels=())  # the project may have some for other queries
    elif config.examples.triples is None:
        _check_inputs({"--qrels": known.qrels, **_texts(known)})
    else:  # they have their own queries and texts; the others may be wanted to re-rank a run
        known = replace(known, qrels=(), queries=None)
    require("evenrank debias")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # the library warns of forks that do not happen
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # or matrix products on a GPU do not repeat
    from evenrank.neural.training import train

    with ResumableBar("training", "steps") as bar:

        def shown(what: str, unit: str) -> Callable[[int, int], None]:
            def advance(done: int, total: int) -> None:
                bar.begin(what, unit)
                bar(done, total)

            return advance

        variants = train(
            config, arguments.output, read_inputs(known), resume=True, say=say,
            progress=shown("training", "steps"), reading=shown("reading by the teacher", "texts"),
        )  # fmt: skip
    say(f"wrote {counted(len(variants), 'ranker', 'rankers')} into {arguments.output}")
    return 0


def _description(arguments: argparse.Namespace) -> Description:
    from evenrank.inputs.description import Description

    return Description(
        qrels=tuple(arguments.qrels or ()),
        queries=arguments.queries,
        documents=arguments.documents,
        columns=arguments.columns,
    )


def _texts(known: Description) -> dict[str, object]:
    return {"--queries": known.queries, "--documents": known.documents}


def _check_inputs(given: dict[str, object]) -> None:
    lacking = [name for name, value in given.items() if not value]
    if lacking:
        keys = ", ".join(name.removeprefix("--") for name in lacking)
        judged = "--qrels" in given
        raise ParameterError(
            f"debias learns from {'judgements, ' if judged else ''}queries and documents: give "
            f"{', '.join(lacking)}, or {keys} in [data] of a project file"
            + (" (or examples.triples in [debias])" if judged else "")
        )


def _keys(*, erase: bool) -> str:
    from evenrank.cli.erase_keys import described_keys
    from evenrank.neural.config import described
    from evenrank.neural.presets import PRESETS

    width = max(terminal_width() or 100, 60)
    lines = []
    if not erase:
        lines += ["seed = 0", "    seed of everything that is drawn at random; an integer >= 0"]
        lines += ["preset = not given", f"    settings of published rankers; one of {', '.join(PRESETS)}"]
    for name, default, wording, meaning in described_keys() if erase else described():
        shown = "not given" if default is None else repr(default)
        section, _, key = name.partition(".")
        if section == "attributes":
            name = f"[[attributes]] {key}"
            meaning += " (in a project file: --set cannot change it)"
        lines.append(f"{name} = {shown}")
        lines.append(
            textwrap.fill(f"{meaning}; {wording}", width, initial_indent="    ", subsequent_indent="    ")
        )
    return "\n".join(lines) + "\n"
