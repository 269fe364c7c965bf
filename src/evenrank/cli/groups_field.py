"""``evenrank scan --field groups``: which groups documents belong to by their words, for ``--groups``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from evenrank.cli.cluster import opened_cluster
from evenrank.cli.parquet_output import check_parquet
from evenrank.cli.progress import ResumableBar
from evenrank.cli.streams import say
from evenrank.errors import ParameterError, UnknownNameError, nearest_hint
from evenrank.inputs.file_options import FileOption

GROUPS = "groups"
_KEYS = ("minimum",)


def is_of_groups(option: FileOption) -> bool:
    return option.path.partition(":")[0] == GROUPS


def write_groups(arguments: argparse.Namespace, columns: Mapping[str, str] | None) -> int:
    from evenrank.evidence.scan import derive_groups

    minimum = _minimum(arguments.field)
    collection, output = arguments.documents, arguments.output
    if collection is None or output is None:
        raise ParameterError(
            "--field groups needs documents or their counts, and a file or folder to write: scan FILE -o "
            "groups.parquet"
        )
    if arguments.terms:
        raise ParameterError("--terms keeps counts, and --field writes none: leave one of them out")
    check_parquet(output)
    with opened_cluster(arguments) as cluster, ResumableBar("scanning") as bar:
        found = derive_groups(
            collection.path, output, arguments.lexicon, minimum=minimum, tokenizer=arguments.tokenizer,
            threads=arguments.threads, resume=not arguments.no_resume, progress=bar,
            format=collection.get("format"), columns=columns, on=cluster,
        )  # fmt: skip
    few = "no group words" if minimum == 1 else f"fewer than {minimum} group words"
    say(
        f"wrote {output}: the groups of {found.listed:,} of {found.documents:,} documents; the others have "
        f"{few} and are not listed. Read it with --groups NAME={output}"
    )
    return 0


def _minimum(option: FileOption) -> int:
    misspelt = option.path.partition(":")[2]
    others = [key for key, value in option.options.items() if key not in _KEYS and value is not None]
    if misspelt or others:
        key = misspelt.partition("=")[0] or others[0]
        raise UnknownNameError(f"{key!r} is no key of --field groups{nearest_hint(key, _KEYS)}")
    text = option.get("minimum") or "1"
    if not (text.isascii() and text.isdigit() and int(text)):
        raise ParameterError(f"minimum must be an integer >= 1, got {text!r}")
    return int(text)
