"""Take what they tell about groups out of vectors, or train rankers that hide it."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Literal

from evenrank.cli.collection import Documents
from evenrank.cli.everywhere import Everywhere
from evenrank.cli.progress import ResumableBar
from evenrank.cli.shared import read_inputs
from evenrank.cli.streams import put, say, terminal_width
from evenrank.cli.typed import Arg, Takes, command
from evenrank.errors import ParameterError, counted
from evenrank.inputs.description import Description

Changes = Annotated[
    tuple[str, ...],
    Arg(
        "set a key of the project file's table for this time, as training.device=cuda or lexicon=gender-en; "
        "may be repeated (the keys: evenrank debias keys)",
        "KEY=VALUE",
    ),
]


@command(
    "evenrank debias erase minilm --documents passages.tsv -o gender.safetensors",
    "evenrank debias erase vectors.parquet --documents passages.tsv -o erased.parquet",
    "evenrank debias erase minilm --set eraser=gender.safetensors -o minilm-erased",
    reads_project=True,
    makes_folder=True,
)
def erase(
    what: Annotated[
        str,
        Arg(
            "an encoder (minilm, wordllama, the folder of a sentence-transformers model), or a file of "
            "vectors (.parquet with the columns document and vector; .npy with the ids in a .txt file beside "
            "it)"
        ),
    ],
    *,
    everywhere: Everywhere,
    documents: Documents = None,
    set_: Changes = (),
    output: Annotated[
        str | None,
        Arg(
            "the eraser (.safetensors), the erased vectors (.parquet, .npy), or the folder of a new model "
            "(default: eraser.safetensors)",
            "PATH",
            "-o",
        ),
    ] = None,
) -> int:
    """Fit the smallest change of an encoder's vectors after which no linear function of them tells what the
    words or groups of documents are, and write it, the erased vectors, or the encoder with it. The table
    [erase] of the project file says what is erased. Fitting takes seconds on a CPU and needs no training;
    encoding the documents first takes longer."""
    from evenrank.cli.erase import write_erased

    project = everywhere.project
    if output is None:
        output = "eraser.safetensors" if project is None else project.default_output("eraser.safetensors")
    known = Description(documents=documents)
    write_erased(what, output, known, project, set_, everywhere.seed or 0)
    say(f"wrote {output}")
    return 0


@command(
    "evenrank debias train",
    "evenrank debias train --project adv.toml -o models",
    "evenrank debias train --qrels qrels.train.txt --queries queries.train.tsv --documents passages.tsv",
    "evenrank debias train --set training.device=cuda --set training.precision=bfloat16",
    reads_project=True,
    makes_folder=True,
)
def train(
    *,
    everywhere: Everywhere,
    known: Annotated[Description, Takes(("qrels", "queries", "documents"))],
    set_: Changes = (),
    output: Annotated[
        str | None,
        Arg(
            "where everything goes: new or empty, or a training that was stopped (default: models)",
            "FOLDER",
            "-o",
        ),
    ] = None,
) -> int:
    """Train a ranker in three stages: for relevance, or to keep the order of a teacher without judgements;
    adversaries that tell protected labels from its vectors; and both together with the adversaries' gradients
    reversed, once for each strength. The table [debias] of the project file describes what to train. The
    folder gets a ranker for every checkpoint, the run that each re-ranked, and logs that TensorBoard reads. A
    training that was stopped goes on when the same command is given again."""
    from evenrank.neural.config import DISTILLATION, changed, config_of, make_config
    from evenrank.neural.extra import require

    project, changes = everywhere.project, list(set_)
    if everywhere.seed is not None:
        changes.append(f"seed={everywhere.seed}")
    if output is None:
        output = "models" if project is None else project.default_output("models")
    config = make_config(changed({}, changes)) if project is None else config_of(project, changes)
    known = Description(qrels=known.qrels, queries=known.queries, documents=known.documents)
    needed = {"--qrels": known.qrels, "--queries": known.queries, "--documents": known.documents}
    if config.model.loss == DISTILLATION:
        del needed["--qrels"]
        known = replace(known, qrels=None)  # the project may have some for other queries
    elif config.examples.triples is not None:
        needed = {}
        # triples have their own queries and texts; the others may be wanted to re-rank a run
        known = replace(known, qrels=None, queries=None)
    if lacking := [name for name, given in needed.items() if not given]:
        raise ParameterError(
            f"training learns from {', '.join(needed)}: give {', '.join(lacking)}, here or in [data] of a "
            "project file (or examples.triples in [debias])"
        )
    require("evenrank debias train")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # the library warns of forks that do not happen
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # or matrix products on a GPU do not repeat
    from evenrank.neural.training import train as trained

    with ResumableBar("training", "steps") as bar:

        def shown(what: str, unit: str) -> Callable[[int, int], None]:
            def advance(done: int, total: int) -> None:
                bar.begin(what, unit)
                bar(done, total)

            return advance

        variants = trained(
            config, output, read_inputs(known), resume=True, say=say,
            progress=shown("training", "steps"), reading=shown("reading by the teacher", "texts"),
        )  # fmt: skip
    say(f"wrote {counted(len(variants), 'ranker', 'rankers')} into {output}")
    return 0


@command("evenrank debias keys train", "evenrank debias keys erase")
def keys(of: Annotated[Literal["train", "erase"], Arg("of which table", "ACTION")] = "train") -> int:
    """List the keys of [debias] or [erase] in a project file, with their defaults and what they mean."""
    from evenrank.cli.erase_keys import described_keys
    from evenrank.neural.config import described
    from evenrank.neural.presets import PRESETS

    found = [*described_keys()] if of == "erase" else [
        ("seed", 0, "an integer >= 0", "seed of everything that is drawn at random"),
        ("preset", None, f"one of {', '.join(PRESETS)}", "settings of published rankers"),
        *described(),
    ]  # fmt: skip
    width, lines = max(terminal_width() or 100, 60), []
    for name, default, wording, meaning in found:
        section, _, key = name.partition(".")
        if section == "attributes":
            name = f"[[attributes]] {key}"
            meaning += " (in a project file: --set cannot change it)"
        lines.append(f"{name} = {'not given' if default is None else repr(default)}")
        lines.append(
            textwrap.fill(f"{meaning}; {wording}", width, initial_indent="    ", subsequent_indent="    ")
        )
    put("\n".join(lines) + "\n")
    return 0
