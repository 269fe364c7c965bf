"""``evenrank scan --field``: neutrality as a field of a search index, and the query that uses it."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from evenrank.cli.outputs import check_output
from evenrank.cli.streams import put, say
from evenrank.errors import ParameterError, UnknownNameError, counted, nearest_hint
from evenrank.inputs.file_options import FileForm, FileOption

if TYPE_CHECKING:
    from evenrank.rerankers.index_field import IndexField

FIELD = FileForm("a field", keys=("name", "tau", "lam", "run", "type", "namespace", "minimum"))


def write_index_field(
    arguments: argparse.Namespace, count: Callable[[argparse.Namespace, str, str], None]
) -> int:
    """Count the words of the collection where that is not done, and write the field."""
    from evenrank.io.counts import is_counts, stored_counts
    from evenrank.io.lexicons import read_lexicon
    from evenrank.rerankers.index_field import query_of, write_field

    field, lam = _field(arguments.field), _lam(arguments.field)
    collection, output = arguments.documents, arguments.output
    if collection is None or output is None:
        raise ParameterError(
            "--field needs documents or their counts, and a file to write: scan FILE -o FILE"
        )
    if arguments.terms:
        raise ParameterError("--terms keeps counts, and --field writes none: leave one of them out")
    check_output(output)
    weight = None if lam is None else _weight(arguments.field.get("run"), lam)
    if is_counts(collection.path):
        if arguments.lexicon is not None:  # the lexicon of counts is theirs
            stored_counts(collection.path).check(read_lexicon(arguments.lexicon), None, None)
        written = write_field(collection.path, output, field)
    elif arguments.lexicon is None:
        raise ParameterError(
            f"{collection.path}: a field needs a lexicon (--lexicon gender-en), or the counts that evenrank "
            "scan wrote instead of the collection"
        )
    else:
        counts = _counts_beside(output)
        count(arguments, str(counts), f"counted the words of {collection.path}")
        try:
            written = write_field(counts, output, field)
        finally:
            counts.unlink()
    say(f"wrote {output}: neutrality of {written:,} documents, as {field.name} for {field.form}")
    if weight is None:
        say(
            "the query below adds 1 times the field; add :run=RUN:lam=0.5 to --field for a weight in the "
            "units of the engine's scores"
        )
    put(query_of(field, 1.0 if weight is None else weight) + "\n")
    return 0


def _counts_beside(output: str) -> Path:
    """Where the words are counted: the same name each time, so that an interrupted scan goes on."""
    place = Path(output)
    found = place.with_name(f".{place.name}.evenrank-counts")
    if found.exists():  # only a process that was killed leaves one, and nobody else's file is overwritten
        raise ParameterError(
            f"{found}: is in the way of the counts; an interrupted scan may have left it: delete it if "
            "nobody needs it, or give -o another name"
        )
    return found


def _field(option: FileOption) -> IndexField:
    from evenrank.rerankers.index_field import IndexField

    form, colon, misspelt = option.path.partition(":")
    if colon:  # what is no key of a field is left in the name of the engine
        key = misspelt.partition("=")[0]
        raise UnknownNameError(f"{key!r} is no key of the field for {form}{nearest_hint(key, FIELD.keys)}")
    if option.get("minimum") is not None:
        raise ParameterError(f"minimum= is a key of --field groups, not of {form}: leave it out, or use tau=")
    tau = option.get("tau") or "1"
    if not (tau.isascii() and tau.isdigit()):
        raise ParameterError(f"tau must be an integer >= 0, got {tau!r}")
    return IndexField(
        option.path,
        name=option.get("name") or "neutrality",
        tau=int(tau),
        type=option.get("type"),
        namespace=option.get("namespace"),
    )


def _lam(option: FileOption) -> float | None:
    """How many standard deviations a document without any neutrality loses; None where no run is named."""
    text = option.get("lam") or "1"
    try:
        lam = float(text)
    except ValueError:
        lam = math.nan
    if not 0 <= lam < math.inf:
        raise ParameterError(f"lam must be a number >= 0, got {text!r}")
    if option.get("run") is None:
        if option.get("lam") is not None:
            raise ParameterError("lam= needs run=RUN, a run with the engine's scores, for its unit")
        return None
    return lam


def _weight(path: str, lam: float) -> float:
    from evenrank.io import read_run
    from evenrank.rerankers.index_field import weight_of
    from evenrank.rerankers.score_scale import DEPTH

    run = read_run(path)
    found = weight_of(run, lam)
    left_out = f"; {counted(found.flat, 'query', 'queries')} with equal scores left out" if found.flat else ""
    if found.ranked:
        left_out += (
            f"; {counted(found.ranked, 'query', 'queries')} with ranks in place of scores left out: the "
            "engine's own run has the scores"
        )
    say(
        f"lam {lam:g} is {found.weight:.6g} in the scores of {run.name!r}, of which the median standard "
        f"deviation of the first {DEPTH} scores of {counted(found.queries, 'query', 'queries')} is "
        f"{found.deviation:.6g}{left_out}"
    )
    return found.weight
