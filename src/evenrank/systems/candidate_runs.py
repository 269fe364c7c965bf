"""Systems as candidates beside runs: each searches the documents for the queries that the baseline has."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from evenrank.data.run import Run
from evenrank.erasure.eraser import Eraser
from evenrank.erasure.identity import EncoderIdentity, encoder_identity
from evenrank.errors import DataError, ParameterError, counted, few
from evenrank.evidence.models import MINILM, WORDLLAMA
from evenrank.inputs import Inputs
from evenrank.io.tensors import SUFFIX
from evenrank.systems.base import Progress
from evenrank.systems.collection_checks import read_collection
from evenrank.systems.declared import SystemSettings, SystemTerm
from evenrank.systems.dense import DenseTerm
from evenrank.systems.naming import parse_system
from evenrank.systems.registry import notes_of


@dataclass(frozen=True)
class SystemCandidate:
    """A system, what its row is called, and what its files are relative to."""

    name: str
    term: SystemTerm
    settings: SystemSettings

    @property
    def needs_documents(self) -> bool:
        return any(part.needs_documents for part in self.term.walk())


class SystemRuns(NamedTuple):
    """The inputs with a run for each system; by name the system and its class; and what there is to say."""

    inputs: Inputs
    made: Mapping[str, tuple[str, str]]
    notes: list[str]


def is_eraser_file(path: str) -> bool:
    """
    >>> is_eraser_file("gender.safetensors")
    True
    """
    return Path(path).suffix.lower() == SUFFIX


def system_candidate(
    text: str, name: str | None = None, *, folder: str | os.PathLike[str] = "."
) -> SystemCandidate:
    """A system by its name, as ``make_system`` takes it; or the file of an eraser, which stands for ``Dense``
    with the encoder that the file names. It is checked, and no model is loaded."""
    settings = SystemSettings(folder=folder)
    if is_eraser_file(text):
        term: SystemTerm = _dense_with(text, settings)
        name = name or Path(text).stem
    else:
        term = parse_system(text, folder=folder)
    term.check(settings)
    return SystemCandidate(name or text, term, settings)


def with_systems(
    inputs: Inputs,
    systems: Sequence[str | SystemCandidate],
    *,
    baseline: str | None = None,
    cache: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> SystemRuns:
    """The inputs with a run more for each system, as deep as the baseline and for its queries.

    The systems search ``inputs.documents`` for ``inputs.query_texts``. The baseline is the first run if none
    is named, or if it is one of the systems. Where there is one run only, it is also the background.
    """
    if not systems:
        return SystemRuns(inputs, {}, [])
    wanted = [system_candidate(one) if isinstance(one, str) else one for one in systems]
    own = _run_beside(inputs, wanted, baseline)
    first = inputs.with_runs({own: inputs.runs[own]}).one_run("a system as a candidate")
    asked = _texts_asked(inputs, own, first)
    documents, notes = _documents(inputs, own, first, wanted)
    runs: dict[str, Any] = dict(inputs.runs)
    made: dict[str, tuple[str, str]] = {}
    for one in wanted:
        depth = min(first.depth, one.term.cutoff or first.depth)
        system = one.term.make(replace(one.settings, cache=cache, progress=progress))
        if one.needs_documents:
            system.index(documents)
        found = system.retrieve(asked, depth)
        runs[one.name] = found.renamed(one.name)
        if one.term.system_class:
            made[one.name] = repr(one.term), one.term.system_class
        compared = getattr(system, "similarity", None)
        notes += [*_describe_run(one, found, len(asked), depth, compared), *notes_of(system)]
    known = inputs.with_runs(runs)
    alone = len(inputs.runs) == 1 and inputs.background is None
    return SystemRuns(known.with_known(background=first) if alone else known, made, notes)


def _run_beside(inputs: Inputs, wanted: Sequence[SystemCandidate], baseline: str | None) -> str:
    """The run whose queries and depth are taken."""
    named = [one.name for one in wanted]
    twice = [name for name, count in Counter([*inputs.runs, *named]).items() if count > 1]
    if twice:
        raise ParameterError(f"two candidates are called {twice[0]!r}: name one of them otherwise, NAME=..")
    if baseline is not None and baseline not in inputs.runs and baseline not in named:
        raise ParameterError(f"no run is called {baseline!r}; there are {', '.join([*inputs.runs, *named])}")
    return baseline if baseline is not None and baseline in inputs.runs else next(iter(inputs.runs))


def _texts_asked(inputs: Inputs, own: str, first: Run) -> dict[str, str]:
    scored = set(first.query_ids if inputs.queries is None else inputs.queries)
    asked = [query for query in first.query_ids if query in scored]
    texts = inputs.query_texts or {}
    silent = [query for query in asked if query not in texts]
    if silent:
        many = counted(len(silent), "query has", "queries have")
        raise DataError(
            f"{own}: {many} no text, which a search needs (first: {silent[0]}): pass query_texts= "
            "(--queries FILE with an id and a text for each; a project file can name other columns)"
        )
    return {query: texts[query] for query in asked}


def _documents(
    inputs: Inputs, own: str, first: Run, wanted: Sequence[SystemCandidate]
) -> tuple[dict[str, str], list[str]]:
    searching = [one.name for one in wanted if one.needs_documents]
    if not searching:
        return {}, []
    if inputs.documents is None:
        raise ParameterError(
            f"{searching[0]} searches documents: pass documents= (--documents FILE with an id and a text for "
            "each)"
        )
    documents, notes = read_collection(inputs.documents)
    ranked = first.doc_ids.to_pylist()
    if documents.keys().isdisjoint(ranked):
        raise DataError(
            f"{own}: none of its documents is among the documents to search ({few(ranked, 2)}; there are "
            f"{few(list(documents), 2)}): all candidates must have the same collection"
        )
    return documents, notes


def _describe_run(
    one: SystemCandidate, found: Run, asked: int, depth: int, compared: str | None
) -> list[str]:
    lists, kind = counted(len(found), "list", "lists"), one.term.system_class or "class unknown"
    by = "" if compared is None else f"; vectors compared by {compared}"
    lines = [f"{one.name} ({kind}): {lists} of up to {depth:,} documents{by}"]
    if asked > len(found):
        lines.append(f"{asked - len(found):,} of {asked:,} queries found nothing and have no list")
    return lines


def _dense_with(path: str, settings: SystemSettings) -> DenseTerm:
    """The encoder that an eraser was fitted for, with this eraser."""
    file = settings.path(path)
    try:
        eraser = Eraser.load(file)
    except DataError as error:
        if not file.is_file():
            raise
        raise DataError(
            f"{error}; or make a run of the system with evenrank retrieve SYSTEM -o FILE, and give it"
        ) from None
    if eraser.encoder is None:
        raise ParameterError(
            f"{path}: was fitted to a file of vectors, and does not name the encoder that made them: make "
            f"a run with evenrank retrieve \"Dense(model='ENCODER',eraser={path!r})\" -o FILE, and give it"
        )
    model = _model_of(eraser.encoder, path, settings)
    return DenseTerm(model=model, similarity=None, eraser=path, erase="documents")


def _model_of(encoder: EncoderIdentity, path: str, settings: SystemSettings) -> str:
    """Files name an encoder by the last part of its folder: it is looked for here, and beside the eraser."""
    if encoder.name in (MINILM, WORDLLAMA):
        return encoder.name
    last = Path(encoder.name).name
    places = (settings.path(encoder.name), settings.path(last), settings.path(path).parent / last)
    for place in places:
        if place.is_dir() and _is_encoder(place, encoder):
            return str(place.absolute())
    raise ParameterError(
        f"{path}: was fitted to vectors of {encoder}, and no such folder is here or beside it: name the "
        f"folder, \"Dense(model='FOLDER',eraser={path!r})\", or make a run with evenrank retrieve and give it"
    )


def _is_encoder(folder: Path, encoder: EncoderIdentity) -> bool:
    try:
        return not encoder.is_other_than(encoder_identity(folder))
    except DataError:  # a folder of this name that holds no model
        return False
