"""From the names of files to what is in them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenrank.errors import DataError, ParameterError, counted, few
from evenrank.inputs.description import COLLECTION, Description, Watch
from evenrank.inputs.file_options import STDIN, FileOption
from evenrank.inputs.inputs import Inputs
from evenrank.inputs.memberships import GroupSources, memberships
from evenrank.inputs.run_names import run_names
from evenrank.inputs.several_files import attempt, reading_files, something_failed

if TYPE_CHECKING:
    from evenrank.data.qrels import Qrels
    from evenrank.data.run import Run
    from evenrank.data.runset import RunSet
    from evenrank.data.words import WordCounts
    from evenrank.io.documents import DocumentsFile
    from evenrank.io.queries import Queries

OF_AUDITS = ("class", "system")  # what tables call a run: no way to read it


def read_inputs(known: Description, watch: Watch) -> Inputs:
    found: dict[str, Any] = {}
    runs: dict[str, Run | RunSet] = {}
    queries: Queries | None = None
    with reading_files():
        if known.queries is not None:
            queries = attempt(partial(queries_of, known.queries))
        found |= _evidence(known)
        for name, file in watch(list(zip(known.names, known.runs, strict=True)), "reading runs"):
            runs[name] = _runs(file, name, watch)
        if known.background is not None and known.background_run is None and not something_failed():
            found["background"] = attempt(partial(_background, known.background, found["words"]))
        if known.against is not None:
            (name,) = run_names([known.against])
            found["against"] = _run(known.against, name)
        found["evidence"] = [attempt(partial(_table, table)) for table in known.table]
        if known.by is not None and (queries is not None or known.queries is None):
            found["categories"] = attempt(partial(categories_by, known.by, queries))
    if known.background_run is not None:
        found["background"] = runs[known.background_run]
    if known.background is not None:
        found["background_depth"] = known.background.get("depth")
    if queries is not None:
        found |= {"query_texts": dict(queries.texts) or None, "query_reasons": queries.reasons or None}
        found |= {"query_weights": queries.weights, "queries": _kept(queries, runs, found, known.notes)}
    if known.documents is not None:
        found["documents"] = documents_of(known.documents)
    return Inputs(runs).with_known(**found)


def documents_of(file: FileOption) -> DocumentsFile:
    from evenrank.io.documents import DocumentsFile

    return DocumentsFile(file.path, file.get("format"), file.get("columns"))


def queries_of(file: FileOption) -> Queries:
    from evenrank.io.queries import read_queries

    return read_queries(file.path, **file.options)


def _kept(queries: Queries, runs: Mapping[str, Any], found: Mapping[str, Any], notes: list[str]) -> list[str]:
    """Those that a run has or that are judged: a list of all topics must not count lists that none is."""
    judged = [found[kind] for kind in ("qrels", "intents") if found.get(kind) is not None]
    known = {query for source in (*runs.values(), *judged) for query in source.query_ids}
    kept = [query for query in queries.distinct if query in known]
    lost = len(queries.distinct) - len(kept)
    if not kept and known:
        raise DataError(
            f"{queries.source}: none of its queries is in a run or judged: {few(queries.distinct)}"
        )
    if lost:
        notes.append(
            f"{queries.source}: {counted(lost, 'query is', 'queries are')} in no run and not judged, "
            "and not scored"
        )
    return kept


def categories_by(by: str, queries: Queries | None) -> Mapping[str, list[str]]:
    """The categories of each query: columns of the queries, or a file of query and category."""
    from evenrank.io.queries import read_categories

    if Path(by).exists():
        try:
            return read_categories(by)
        except DataError as error:  # this file has no table in the project file
            said = str(error).replace("(in the project file too)", "(in Python), or rename the column")
            raise DataError(said) from None
    if queries is None:
        raise ParameterError(f"--by {by}: is this a column of the queries? Then add --queries FILE")
    return queries.categories([name.strip() for name in by.split(",")])


def _evidence(known: Description) -> dict[str, Any]:
    from evenrank.io.counts import read_counts

    found: dict[str, Any] = {"qrels": None, "intents": None, "words": None, "polarity": None}
    if known.qrels is not None:
        found["qrels"] = attempt(partial(_judgements, known.qrels, known.notes))
    if known.intents is not None:
        found["intents"] = attempt(partial(_intents, known.intents))
    if known.polarity is not None:
        found["polarity"] = attempt(partial(_polarity, known.polarity))
    if known.words is not None:
        found["words"] = attempt(partial(read_counts, known.words))
    elif known.lexicon is not None and known.documents is not None:
        found["words"] = attempt(partial(_counted, known.documents, known.lexicon, known.notes))
    sources = GroupSources(words=found["words"], qrels=found["qrels"])
    if known.documents is not None:
        columns = known.documents.get("columns") or {}
        named = {"document": columns["id"]} if "id" in columns else None
        sources = GroupSources(
            known.documents.path, known.documents.get("format"), named, found["words"], found["qrels"]
        )
    found["groups"] = memberships(known.groups, known.target, sources)
    return found


def _judgements(file: FileOption, notes: list[str]) -> Qrels:
    """Grades, or what is made of a table of clicks or of ratings."""
    from evenrank.io import read_qrels

    options = dict(file.options)
    kind = options.pop("kind", "grades")
    for key, own in (("eta", "clicks"), ("step", "ratings")):
        if key in options and kind != own:
            raise ParameterError(f"{file.path}: {key} goes with kind = {own!r}, not with {kind!r}")
    if kind == "clicks":
        from evenrank.io.clicks import read_clicks

        judged, note = read_clicks(file.path, **options)
        notes.append(note)
        return judged
    if kind == "ratings":
        from evenrank.io.ratings import read_ratings

        return read_ratings(file.path, **options)
    graded: Qrels = read_qrels(file.path, **options)
    return graded


def _intents(file: FileOption) -> Any:
    from evenrank.io import read_qrels
    from evenrank.io.intents import with_probabilities

    options = dict(file.options)
    probabilities = options.pop("probabilities", None)
    return with_probabilities(read_qrels(file.path, diversity=True, **options), probabilities)


def _polarity(file: FileOption) -> Any:
    """Scores, or where ``positive`` is given labels, of which that one is +1 and the other -1."""
    from evenrank.io.polarity import read_labelled_polarity, read_polarity

    if file.get("positive") is not None:
        return read_labelled_polarity(file.path, **file.options)
    if others := file.options.keys() - {"format", "columns"}:
        raise ParameterError(f"{file.path}: {', '.join(sorted(others))} goes with positive, the label of +1")
    return read_polarity(file.path, **file.options)


def _counted(documents: FileOption, lexicon: str, notes: list[str]) -> WordCounts:
    """The words of the lexicon in the documents, for whoever did not count them before."""
    from evenrank.evidence.scan import scan
    from evenrank.io.lexicons import read_lexicon

    if documents.path == STDIN:
        raise ParameterError(
            "--documents are read twice, to count words and for their texts: give a file, not -"
        )
    notes.append(
        f"counted the words of {lexicon} in {documents.path}; evenrank scan keeps the counts in a file"
    )
    return scan(documents.path, read_lexicon(lexicon), **documents.options)


def _table(file: FileOption) -> Any:
    from evenrank.io.numbers import read_numbers

    return read_numbers(file.path, file.name or "", **file.options)


def _background(file: FileOption, words: WordCounts | None) -> Run | WordCounts | list[str]:
    from evenrank.inputs.id_lists import lists_ids, read_ids
    from evenrank.io.source import guess_format

    if file.path == COLLECTION:
        if words is None:
            raise ParameterError("--background collection means the documents of --words: add --words FILE")
        return words
    is_trec = file.get("format") is None and guess_format(file.path) in (None, "trec")
    if is_trec and lists_ids(file.path):
        return read_ids(file.path, "document")
    return _read_run(file, None)


def _runs(file: FileOption, name: str, watch: Watch) -> Run | RunSet:
    """A run, or a folder of them as several rankings of the same queries."""
    from evenrank.data.runset import RunSet

    if file.path == STDIN or not Path(file.path).is_dir():
        return _run(file, name)

    def read() -> RunSet:
        members = [FileOption(path, options=file.options) for path in _files_of(file.path)]
        named = list(zip(run_names(members), members, strict=True))
        with reading_files():
            draws = [_run(member, own) for own, member in watch(named, f"reading {name}")]
        return RunSet.build(draws, name=name)

    return attempt(read)


def _files_of(folder: str) -> list[str]:
    """The runs of a folder by name; hidden files and records of runs are none."""
    from evenrank.io.run_record import RECORD_SUFFIX

    found = sorted(
        file
        for file in Path(folder).iterdir()
        if not file.is_dir() and not file.name.startswith(".") and not file.name.endswith(RECORD_SUFFIX)
    )
    if not found:
        raise ParameterError(f"{folder}: the folder has no runs in it")
    return [str(file) for file in found]


def _run(file: FileOption, name: str) -> Run:
    return attempt(partial(_read_run, file, name))


def _read_run(file: FileOption, name: str | None) -> Run:
    from evenrank.io import read_run

    options = {key: value for key, value in file.options.items() if key not in (*OF_AUDITS, "depth")}
    return read_run(file.path, name=name, **options)
