"""What is known for an audit: groups from files, from fields of documents or from answers, and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evenrank.auditing.sources import AskedEngine, documents_of
from evenrank.data.membership import Membership
from evenrank.errors import EvenrankError, ParameterError
from evenrank.inputs import Inputs
from evenrank.inputs.coerce import apart
from evenrank.inputs.description import Description
from evenrank.inputs.file_options import FileOption
from evenrank.inputs.found_files import group_fields, group_fields_of
from evenrank.inputs.group_options import DOCUMENTS, groups_of
from evenrank.inputs.memberships import GroupSources, memberships

if TYPE_CHECKING:
    import pyarrow as pa

LOOKED_AT = 1000  # rows of answers in which fields with few values are looked for


@dataclass(frozen=True)
class ReadInputs:
    """What is known before an engine is asked, so that what is wrong with it is said before that."""

    known: Description
    inputs: Inputs

    @property
    def catalogue(self) -> bool:
        """Whether the labelled documents are all that there are."""
        return self.known.documents is not None or self.inputs.documents is not None

    @property
    def of_answers(self) -> tuple[FileOption, ...]:
        """The groups that only the answers of engines can tell."""
        if self.catalogue:
            return ()
        return tuple(group for group in self.known.groups if group.path == DOCUMENTS)


def read_known(known: Description, held: Mapping[str, Any], *, engines: bool) -> ReadInputs:
    """Everything but the answers of engines: what is in files, and what is ``held`` in memory.

    Groups are those that were asked for, else all fields of the documents that have few values.
    """
    groups_held = "groups" in held or "words" in held
    if known.documents is not None and not known.groups and known.words is None and not groups_held:
        known = replace(known, groups=_found_groups(known, None))
    of_answers = known.documents is None and engines
    rest = tuple(group for group in known.groups if not (of_answers and group.path == DOCUMENTS))
    named = {group.name for group in rest}
    description = replace(
        known,
        groups=rest,
        target=tuple(target for target in known.target if target.name in named),
        queries=None if engines else known.queries,
    )
    inputs, further = description.read(), dict(held)
    if runs := further.pop("runs", None):
        inputs = inputs.with_runs(apart(inputs.runs, runs))
    queries = further.pop("queries", None)
    if queries is not None and not engines:
        further |= _queries_of_runs(queries, inputs)
    return ReadInputs(known, inputs.with_known(**further))


def _queries_of_runs(queries: Any, inputs: Inputs) -> dict[str, Any]:
    """Those queries of a table in memory that some run answers, with their texts and weights."""
    from evenrank.io.queries import read_queries

    read = read_queries(queries)
    found = set().union(*(run.query_ids for run in inputs.runs.values()))
    kept = [query for query in read.distinct if query in found]
    return {"queries": kept, "query_texts": dict(read.texts) or None, "query_weights": read.weights}


def prepared(
    read: ReadInputs,
    asked: Sequence[AskedEngine],
    queries: dict[str, Any],
) -> Inputs:
    """What was read, with the answers: their runs, and groups and words of the documents that they hold.
    ``queries`` are inputs that their file gives, where an engine was asked."""
    table = documents_of(asked)
    known, inputs = read.known, read.inputs
    of_answers = read.of_answers if table is not None else ()
    if not known.groups and known.words is None and not (read.catalogue or inputs.groups or inputs.words):
        of_answers = _found_groups(known, table)
    runs = {**inputs.runs, **{one.name: one.run.renamed(one.name) for one in asked}}
    found: dict[str, Any] = {"groups": [*inputs.groups, *_of_answers(of_answers, known, table)]}
    found |= queries
    if inputs.words is None and known.lexicon is not None:
        found["words"] = _counted_in(table, known.lexicon)
    if not runs:
        raise ParameterError("an audit needs a run file or the address of an engine")
    made = inputs.with_runs(runs).with_known(**found)
    _check_something(made, known, table)
    return made


def _found_groups(known: Description, table: pa.Table | None) -> tuple[FileOption, ...]:
    """The fields of the documents, or of the answers, that have few values."""
    if known.documents is not None:
        try:
            fields = group_fields(known.documents.path)
        except (EvenrankError, OSError, ValueError):
            return ()  # whatever is wrong with the file is said by who reads it
    elif table is not None:
        fields = group_fields_of(table.slice(0, LOOKED_AT).to_pylist())
    else:
        return ()
    found = tuple(option for name, how in fields.items() for option in _option(name, how))
    if found:
        known.notes.append(
            f"no groups were named, so these fields of the documents were taken: "
            f"{', '.join(str(option.name) for option in found)} (--groups names others)"
        )
    return found


def _option(name: str, how: str) -> list[FileOption]:
    try:
        return groups_of(name + how)
    except ParameterError:
        return []  # no name that an attribute can have


def _of_answers(groups: Sequence[FileOption], known: Description, table: pa.Table | None) -> list[Membership]:
    """Groups from the fields that came with the answers."""
    if not groups or table is None:
        return []
    for group in groups:
        if group.name not in table.column_names:
            there = ", ".join(name for name in table.column_names if name != "id") or "none"
            raise ParameterError(
                f"groups={group.name!r} (--groups {group.name}): the answers have no such field (there are: "
                f"{there}); ask the engine for it, or give documents= (--documents FILE)"
            )
    names = {group.name for group in groups}
    targets = tuple(target for target in known.target if target.name in names)
    return memberships(groups, targets, GroupSources(documents=table, columns={"document": "id"}))


def _counted_in(table: pa.Table | None, lexicon: str) -> Any:
    from evenrank.evidence.scan import scan
    from evenrank.io.lexicons import read_lexicon

    if table is None or "text" not in table.column_names:
        raise ParameterError(
            "lexicon= (--lexicon) counts words in the texts of documents: give documents= (--documents "
            "FILE), or keep_texts=True (--keep-texts) to keep the texts that an engine answers with"
        )
    pairs = zip(table.column("id").to_pylist(), table.column("text").to_pylist(), strict=True)
    return scan([(document, text or "") for document, text in pairs], read_lexicon(lexicon))


def _check_something(inputs: Inputs, known: Description, table: pa.Table | None) -> None:
    if inputs.groups or inputs.words is not None:
        return
    fields = [] if table is None else [name for name in table.column_names if name not in ("id", "text")]
    seen = f" (fields in the answers: {', '.join(fields)})" if fields else ""
    raise ParameterError(
        "nothing is known of groups, so nobody can be favoured: name fields of the documents with "
        "documents= (--documents FILE) and groups= (--groups FIELD), a file of groups with groups= "
        f"(--groups NAME=FILE), or a word list, lexicon='gender-en' (--lexicon gender-en){seen}"
    )
