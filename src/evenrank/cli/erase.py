"""``evenrank debias erase``: fit an eraser to vectors, and write it, the erased vectors, or a model."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evenrank.cli.erase_keys import erase_keys
from evenrank.cli.outputs import check_output
from evenrank.cli.progress import Bar, work_bar
from evenrank.cli.shared import read_inputs
from evenrank.cli.streams import say
from evenrank.errors import DataError, ParameterError, UnknownNameError, counted, few, nearest_hint
from evenrank.inputs.file_options import FileOption
from evenrank.inputs.sections import Erase
from evenrank.io.atomic import check_new_folder
from evenrank.tables import number

if TYPE_CHECKING:
    from evenrank.erasure import Eraser, Targets
    from evenrank.erasure.vector_files import VectorSource
    from evenrank.inputs.description import Description
    from evenrank.inputs.project import Project

ERASER, VECTORS, MODEL = "an eraser", "vectors", "a model"
SUFFIXES = {".safetensors": ERASER, ".npy": VECTORS, ".parquet": VECTORS, ".pq": VECTORS}
PROBED = 5_000  # documents that the probe learns from, and that it is tested on, drawn at random
ENOUGH_LEARNT = 10  # documents for each dimension: a probe of fewer fits them and not the label


def write_erased(
    what: str, output: str, known: Description, project: Project | None, changes: Sequence[str], seed: int
) -> None:
    keys = erase_keys(project, changes)
    is_file = SUFFIXES.get(Path(what).suffix.lower()) == VECTORS
    encoder = keys.encoder if is_file else what
    if encoder is not None:
        _check_encoder_name(encoder)
    if is_file:
        check_output(output)  # no folder is made for it
    writes = _kind_of(output)
    _check_asked(what, is_file, output, writes, keys)
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # the library warns of forks that do not happen
    if keys.eraser is None:
        eraser = _fitted(what, is_file, encoder, known, keys, seed)
    else:
        eraser = _loaded(keys.eraser, encoder)
    if eraser.penalty is not None:
        _check_penalty(output, writes)
    Path(output).parent.mkdir(parents=True, exist_ok=True)  # as for trained rankers
    if writes == ERASER:
        eraser.save(output)
    elif writes == VECTORS:
        from evenrank.erasure import erase_file

        with Bar("erasing", "vectors") as bar:
            count = erase_file(eraser, what, output, progress=bar)
        say(f"erased {', '.join(eraser.targets)} from {counted(count, 'vector', 'vectors')}")
    else:
        from evenrank.erasure.model import write_model

        write_model(eraser, what, output, queries=keys.queries)


def _kind_of(output: str) -> str:
    suffix = Path(output).suffix.lower()
    found = SUFFIXES.get(suffix, MODEL)
    is_folder = output.endswith(("/", os.sep)) or Path(output).is_dir()
    if found == MODEL and not is_folder and re.fullmatch(r"\.[a-z]\w*", suffix):  # not of a version, as v1.5
        raise ParameterError(
            f"{output}: nothing is written with the suffix {suffix}{nearest_hint(suffix, SUFFIXES)}: an "
            "eraser is a .safetensors file, vectors are a .parquet or .npy file, and a model is a folder "
            "without a suffix"
        )
    return found


def _check_asked(what: str, is_file: bool, output: str, writes: str, keys: Erase) -> None:
    """What cannot be is said before anything is encoded."""
    if is_file and writes == MODEL:
        raise ParameterError(f"{output}: a model is written from an encoder, and {what} holds vectors")
    if not is_file and writes == VECTORS:
        raise ParameterError(f"{output}: vectors are erased from a file, and {what!r} is an encoder")
    if writes == ERASER and keys.eraser is not None:
        raise ParameterError(
            f"{output}: there is an eraser already, {keys.eraser}: write vectors (.npy, .parquet) or a model "
            "(a folder) with it, or leave out the key eraser to fit another one"
        )
    if keys.penalty and keys.eraser is None:
        if keys.groups is not None:
            raise ParameterError(
                "penalty is for the words of a lexicon: of several groups, nobody says which one goes down; "
                "leave penalty or groups out"
            )
        _check_penalty(output, writes)
    if is_file and not Path(what).exists():
        raise DataError(f"{what}: no such file")
    if writes == MODEL:
        check_new_folder(output)
    elif writes == VECTORS:
        from evenrank.erasure.applying import check_outputs

        check_outputs(what, output)


def _check_penalty(output: str, writes: str) -> None:
    """What is written must have a place for the penalty."""
    if writes == MODEL:
        raise ParameterError(
            f"{output}: a model gives vectors, and a penalty is no part of them: write an eraser (-o "
            "NAME.safetensors) and search with Dense(eraser=..), or leave the penalty out"
        )
    if writes == VECTORS:
        from evenrank.erasure.applying import check_column

        check_column(output)


def _check_encoder_name(name: str) -> None:
    """A misspelt name is not looked up on a network; only OWNER/NAME is a model of the hub."""
    from evenrank.evidence.models import MINILM, WORDLLAMA

    path = Path(name).expanduser()
    if path.is_file():
        raise DataError(
            f"{name}: is a file, but neither .npy nor .parquet: name vectors or an encoder, and the texts "
            "with --documents"
        )
    if not (name in (MINILM, WORDLLAMA) or path.is_dir() or re.fullmatch(r"\w[\w.-]*/[\w.-]+", name)):
        raise UnknownNameError(
            f"{name!r} is neither an encoder nor the folder of a model nor a file of vectors"
            f"{nearest_hint(name, (MINILM, WORDLLAMA))}"
        )


def _loaded(path: str, encoder: str | None) -> Eraser:
    from evenrank.erasure import Eraser
    from evenrank.erasure.identity import encoder_identity

    found = Eraser.load(path)
    if encoder is not None:
        found.check_encoder(encoder_identity(encoder), path)
    if found.encoder is None:
        say(f"{path}: does not say which encoder its vectors were of: it was not checked")
    elif encoder is None:
        say(
            f"{path}: was fitted to vectors of {found.encoder}; whether these are such was not checked: add "
            "--set encoder=NAME"
        )
    return found


def _fitted(
    what: str, is_file: bool, encoder: str | None, known: Description, keys: Erase, seed: int
) -> Eraser:
    from evenrank.erasure import Eraser
    from evenrank.erasure.vector_files import vector_source

    source = vector_source(what) if is_file else _encoded(what, known, keys)
    if source.ids is None:
        raise DataError(
            f"{source.name}: the ids of these vectors are missing: add a column 'document', or for a .npy "
            "file write them beside it to a .txt file, one on each line"
        )
    labels = targets = _targets(source.ids(), known, keys)
    if keys.sample is not None:
        targets = labels.sampled(keys.sample, seed)
    with Bar("fitting", "vectors") as bar:
        eraser = Eraser.fit(
            source,
            targets,
            encoder=encoder,
            second_order=keys.second_order,
            penalty=keys.penalty,
            progress=bar,
        )
    lacking = len(targets) - int(targets.known.sum())
    of_labels = f", {lacking:,} of them without a label" if lacking else ""
    say(
        f"fitted to {counted(eraser.documents, 'document', 'documents')}{of_labels}; erased "
        f"{counted(eraser.rank, 'direction', 'directions')} of {eraser.width}: {', '.join(eraser.targets)}"
    )
    if eraser.penalty is not None:
        say(f"penalty: {number(eraser.penalty.strength)} times the probability of {eraser.targets[0]!r}")
    _say_what_is_left(source, targets, labels, seed, keys.second_order)
    return eraser


def _documents(known: Description) -> FileOption:
    if known.documents is None:
        raise ParameterError(
            "an eraser is fitted to documents: give --documents FILE, or documents in [data] of a project "
            "file"
        )
    return known.documents


def _targets(ids: Sequence[str], known: Description, keys: Erase) -> Targets:
    from evenrank.erasure import Targets
    from evenrank.evidence.scan import scan
    from evenrank.inputs.group_options import groups_of
    from evenrank.io.lexicons import read_lexicon

    if keys.groups is not None:
        inputs = read_inputs(replace(known, groups=(*groups_of(keys.groups),)))
        return Targets.of_groups(inputs.groups[0], ids)
    file = _documents(known)
    with Bar("scanning", "bytes") as bar:
        words = scan(
            file.path, read_lexicon(keys.lexicon), progress=bar, format=file.get("format"),
            columns=file.get("columns"),
        )  # fmt: skip
    found = Targets.of_words(words, ids, tau=keys.tau, label_alone=keys.targets == "label")
    missing = [str(ids[int(place)]) for place in np.flatnonzero(~found.known)[:4]]
    if missing:
        count = counted(int((~found.known).sum()), "vector is", "vectors are")
        say(f"{count} of documents that are not in {file.path}, and without a label: {few(missing)}")
    return found


def _encoded(encoder: str, known: Description, keys: Erase) -> VectorSource:
    """The documents' vectors of length 1, as a search by cosine has them."""
    from evenrank.erasure.encoding import encode_documents
    from evenrank.io.documents import read_documents

    file = _documents(known)

    def texts() -> Iterator[tuple[str, str]]:
        for batch in read_documents(file.path, format=file.get("format"), columns=file.get("columns")):
            columns = (batch.column(name).to_pylist() for name in ("id", "text"))
            yield from zip(*columns, strict=True)

    try:
        with work_bar() as bar:
            return encode_documents(
                encoder, dict(texts()), cache=keys.cache, batch=keys.batch, progress=bar, name=file.path
            )
    except KeyboardInterrupt:
        if keys.cache is None:
            say("nothing was kept: with --set cache=FOLDER vectors are kept, and encoding goes on")
        raise


def _say_what_is_left(
    source: VectorSource, targets: Targets, labels: Targets, seed: int, second_order: int
) -> None:
    """``labels`` are all that are known, also those that the eraser was fitted without."""
    from evenrank.erasure import held_out_probe

    try:
        with Bar("checking", "vectors") as bar:
            found = held_out_probe(
                source, targets, seed, second_order=second_order, further=labels, most=PROBED, progress=bar
            )
    except DataError as error:
        say(f"not measured on held-out documents: {error}")
        return
    eraser = "The eraser was fitted without their labels"
    if found.labelled < targets.known.sum():
        lacking = found.fitted - found.labelled
        of_labels = f" and {lacking:,} without a label" if lacking else ""
        eraser = f"The eraser of this check was fitted to {found.labelled:,} others{of_labels}"
    enough = found.learnt_from >= ENOUGH_LEARNT * source.width
    say(
        f"held-out documents: a linear probe tells {targets.names[0]!r} with a balanced accuracy of "
        f"{number(found.before)} before erasure and {number(found.after)} after it; chance is 0.5. It learnt "
        f"from {counted(found.learnt_from, 'document', 'documents')} and was tested on {found.documents:,}"
        f"{'' if enough else '. A probe that learns from more may tell more'}. {eraser}."
    )
