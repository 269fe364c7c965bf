"""``evenrank debias``: a ranker, adversaries, and rankers that hide what the adversaries look for."""

from __future__ import annotations

import argparse
import os
import textwrap
from typing import TYPE_CHECKING

from evenrank.cli.parser import add_command
from evenrank.cli.progress import Bar
from evenrank.cli.shared import check_output
from evenrank.cli.streams import put, say, terminal_width
from evenrank.errors import ParameterError, counted

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "debias",
        "can a ranker be trained that does not tell groups apart?",
        """Train a cross-encoder in three stages: for relevance; adversaries that tell protected labels from
        its vectors; and both together with the adversaries' gradients reversed, once for each strength.
        Everything is said in a TOML file. The folder gets a ranker for every checkpoint, the run that each
        re-ranked, and logs that TensorBoard reads.""",
        """
        evenrank debias --config adv.toml
        evenrank debias --config adv.toml -o models
        evenrank debias --config adv.toml -o models --resume
        evenrank debias --config adv.toml -o models --device cuda --precision bfloat16
        evenrank debias --keys
        """,
    )
    parser.add_argument("--config", metavar="FILE", help="a TOML file that says what to train, and on what")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        help="where everything goes: new or empty; default: the file's name without .toml",
    )
    parser.add_argument("--resume", action="store_true", help="go on with a run that was stopped")
    parser.add_argument("--device", metavar="DEVICE", help="cpu, cuda, cuda:1 or auto (overrides the file)")
    parser.add_argument(
        "--precision",
        choices=("float32", "bfloat16", "float16"),
        help="numeric precision (overrides the file)",
    )
    parser.add_argument("--keys", action="store_true", help="list the keys of the file, and what they mean")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    if arguments.keys:
        put(_keys())
        return 0
    if arguments.config is None:
        raise ParameterError("debias takes a file: evenrank debias --config adv.toml (or --keys)")
    import dataclasses
    from pathlib import Path

    from evenrank.neural.config import read_config
    from evenrank.neural.extra import require

    check_output(arguments.output, [])
    config = read_config(arguments.config)
    given = {name: getattr(arguments, name) for name in ("device", "precision")}
    training = dataclasses.replace(config.training, **{name: value for name, value in given.items() if value})
    seed = config.seed if arguments.seed is None else arguments.seed
    config = dataclasses.replace(config, training=training, seed=seed)
    output = Path(arguments.config).stem if arguments.output is None else arguments.output
    require("evenrank debias")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # the library warns of forks that do not happen
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # or matrix products on a GPU do not repeat
    from evenrank.neural.training import train

    try:
        with Bar("training", "steps") as bar:
            variants = train(config, output, resume=arguments.resume, progress=bar, say=say)
    except KeyboardInterrupt:
        say(f"stopped; --resume goes on with {output}")
        raise
    say(f"wrote {counted(len(variants), 'ranker', 'rankers')} into {output}")
    return 0


def _keys() -> str:
    from evenrank.neural.config import described

    width = max(terminal_width() or 100, 60)
    lines = ["seed = 0", "    of everything; an integer >= 0"]
    for name, default, wording, meaning in described():
        shown = "not given" if default is None else repr(default)
        lines.append(f"{name} = {shown}")
        lines.append(
            textwrap.fill(f"{meaning}; {wording}", width, initial_indent="    ", subsequent_indent="    ")
        )
    return "\n".join(lines) + "\n"
