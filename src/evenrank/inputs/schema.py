"""What ``evenrank.toml`` may say: every table and key, with its type. Editors can complete a file by
``ProjectFile.model_json_schema()``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import partial
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BeforeValidator, Discriminator, Field, Strict, Tag, create_model

from evenrank.grammar import REFUSED, ParameterRule
from evenrank.inputs import sections
from evenrank.inputs.description import Columns, Description, GroupsTable
from evenrank.inputs.engine_table import EngineTable
from evenrank.inputs.file_options import FileOption
from evenrank.io.settings import (
    BY_KIND,
    LIST,
    TABLE,
    TEXT,
    Count,
    FileName,
    FileText,
    Positive,
    SettingsTable,
    Text,
    Texts,
    as_list,
    kind_of,
    shown,
)

Share = Annotated[float, Field(ge=0)]
Several = Annotated[tuple[Positive, ...], Strict(False)]


def _by_rule(rule: ParameterRule, zero_is_none: bool, value: Any) -> Any:
    if zero_is_none and value == 0 and not isinstance(value, bool):
        return None
    kept = rule.accept(value)
    if kept is REFUSED:
        raise ValueError(f"must be {rule.wording}, got {shown(value)}")
    return kept


def table_of(section: type[sections.ConfigSection]) -> type[SettingsTable]:
    """The table with the keys of a section: their types, defaults, rules and meanings."""
    hints, keys = get_type_hints(section), {}
    for one in dataclasses.fields(section):  # type: ignore[arg-type]
        check = partial(_by_rule, one.metadata["rule"], one.name in sections.ZERO_IS_NONE)
        hint = hints[one.name]
        if get_origin(hint) is tuple:
            hint = Annotated[hint, Strict(False)]
        described = Field(default=one.default, description=one.metadata["meaning"])
        keys[one.name] = (Annotated[hint, BeforeValidator(check)], described)
    return create_model(section.__name__, __base__=SettingsTable, __doc__=section.__doc__, **keys)  # type: ignore[call-overload, no-any-return]


Engine = Annotated[Annotated[FileText, TEXT] | Annotated[EngineTable, TABLE], BY_KIND]


def _file_table(kind: Any) -> Any:
    """A file, or a table with the file and how it is read."""
    keys: dict[str, Any] = {key: (_exact(hint) | None, None) for key, hint in get_type_hints(kind).items()}
    made = create_model(kind.__name__, __base__=SettingsTable, file=(FileText, ...), **keys)
    return Annotated[Annotated[FileText, TEXT] | Annotated[made, TABLE], BY_KIND]


def _exact(hint: Any) -> Any:
    """The type as TOML has it: lists for tuples, and text that is not empty."""
    if get_origin(hint) is tuple:
        one = _exact(get_args(hint)[0])
        return Annotated[tuple[one, ...], Strict(False), BeforeValidator(as_list)]  # type: ignore[valid-type]
    if get_origin(hint) in (Union, UnionType):
        one, several = get_args(hint)
        return Annotated[Annotated[one, TEXT] | Annotated[_exact(several), LIST], BY_KIND]
    return {str: Text, Columns: dict[str, Text]}.get(hint, hint)


def _data_table() -> type[SettingsTable]:
    """The inputs, as ``Description`` declares them; what has names is a table."""
    keys: dict[str, Any] = {}
    for name, hint in get_type_hints(Description, include_extras=True).items():
        if get_origin(hint) is not Annotated or name in ("groups", "target", "against"):
            continue
        kind, arg = get_args(hint)
        file, described = _file_table(arg.table), Field(default=None, description=arg.help)
        if name == "runs":
            listed = Annotated[tuple[FileText, ...], Strict(False), LIST]
            runs = Annotated[Text, TEXT] | listed | Annotated[dict[FileName, file], TABLE]  # type: ignore[valid-type]
            keys[name] = (Annotated[runs, BY_KIND], Field(default=(), description=arg.help))
        elif name == "table":
            keys["tables"] = (dict[FileName, file], Field(default={}, description=arg.help))  # type: ignore[valid-type]
        elif name == "by":
            keys[name] = (Texts, Field(default=(), description=arg.help))
        elif FileOption in get_args(kind):
            keys[name] = (file | None, described)
        else:
            keys[name] = (FileText | None if str in get_args(kind) else kind, described)
    return create_model("DataTable", __base__=SettingsTable, __doc__="The inputs.", **keys)


DataTable: Any = _data_table()


class AveragedTable(SettingsTable):
    """A target that is the mean of such shares and of those of the relevant documents (TREC Fair)."""

    averaged: Annotated[Annotated[FileText, TEXT] | Annotated[dict[str, Share], TABLE], BY_KIND]
    unknown: Text | None = Field(default=None, description="the value of documents of which nothing is known")


def _target_kind(value: Any) -> str:
    averaged = isinstance(value, AveragedTable) or (isinstance(value, Mapping) and "averaged" in value)
    return "averaged" if averaged else kind_of(value)


Target = Annotated[
    Annotated[FileText, TEXT]
    | Annotated[tuple[Share, ...], Strict(False), LIST]
    | Annotated[dict[str, Share], TABLE]
    | Annotated[AveragedTable, Tag("averaged")],
    Discriminator(_target_kind),
]


class MeasuresTable(SettingsTable):
    """What is computed."""

    use: Texts = Field(default=(), description="the measures; default: chosen by what is known")
    cutoffs: Several = Field(default=(), description="evaluate every measure at each of these cut-offs")
    labels: dict[str, Text] = Field(default={}, description="names under which measures are shown")


class CompareTable(SettingsTable):
    """How runs are tested against each other."""

    test: Literal["t", "wilcoxon", "permutation"] = "t"
    correction: Literal["none", "bonferroni", "holm", "bh"] = "holm"
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    seed: Count = 0


class ReportTable(SettingsTable):
    """The report."""

    title: Text | None = None
    output: FileText | None = Field(default=None, description="the .html file to write")
    sort_by: Text | None = Field(default=None, description="the measure that queries are sorted by")
    system: Text | None = Field(default=None, description="the run whose lists are shown first")
    readable: Count = Field(default=200, description="queries whose documents can be read without scripts")
    lexicon: FileText | None = Field(default=None, description="the lexicon whose words are marked")


class AuditTable(SettingsTable):
    """Audits."""

    output: FileText = Field(default="audit", description="the folder of audits")
    depth: Positive = Field(default=100, description="documents that an engine is asked for")
    target: Literal["catalogue", "candidates", "equal"] | None = Field(
        default=None, description="what groups should get"
    )


class SharedRule(SettingsTable):
    """What holds for all measures of a gate, and may be said of one."""

    alpha: float = 0.05
    allowed: float | None = Field(default=None, description="how much worse a measure may be")
    allowed_share: float | None = Field(
        default=None, description="the same as a share of the baseline's value"
    )
    at_least: Count = Field(default=30, description="queries that a rule needs")
    allowed_lost: float = Field(default=0.1, description="share of the queries that may lose their value")
    unclear: Literal["pass", "fail"] = "pass"
    too_few: Literal["pass", "fail"] = "fail"


class MeasureRule(SharedRule):
    """The rule of one measure."""

    limit: float | None = Field(default=None, description="the worst value that a run may have")
    floor: float | None = Field(default=None, description="the least that the value may be")
    ceiling: float | None = Field(default=None, description="the most that the value may be")


class GateTable(SharedRule):
    """What a new run must fulfil."""

    correction: Literal["bonferroni", "none"] = "bonferroni"
    resamples: Positive = 10_000
    seed: Count = 0
    measures: dict[str, MeasureRule] = Field(default={}, description="the rule of each measure")
    limits: Annotated[tuple[Text, ...], Strict(False)] = Field(
        default=(), description="floors and ceilings, as \"GroupShare(attr='size')@10[small] >= 0.3\""
    )


_Attribute: Any = table_of(sections.AttributeSection)


class DebiasTable(SettingsTable):
    """How rankers are trained that do not tell groups apart."""

    preset: Text | None = Field(default=None, description="the settings of a published ranker")
    seed: Count = 0
    attributes: Annotated[tuple[_Attribute, ...], Strict(False)] = ()
    examples: table_of(sections.ExampleSection) | None = None  # type: ignore[valid-type]
    model: table_of(sections.Model) | None = None  # type: ignore[valid-type]
    training: table_of(sections.Training) | None = None  # type: ignore[valid-type]
    distil: table_of(sections.Distil) | None = None  # type: ignore[valid-type]
    tune: table_of(sections.Tune) | None = None  # type: ignore[valid-type]
    adversary: table_of(sections.Adversary) | None = None  # type: ignore[valid-type]
    joint: table_of(sections.Joint) | None = None  # type: ignore[valid-type]
    evaluate: table_of(sections.Evaluate) | None = None  # type: ignore[valid-type]


class ProjectFile(SettingsTable):
    """The project file, ``evenrank.toml``."""

    baseline: FileText | None = Field(default=None, description="the run that the others are compared with")
    data: DataTable = DataTable()
    groups: dict[Text, _file_table(GroupsTable)] = Field(  # type: ignore[valid-type]
        default={}, description="attributes of documents"
    )
    targets: dict[Text, Target] = Field(
        default={}, description="the share that each value of an attribute should get"
    )
    measures: MeasuresTable = MeasuresTable()
    systems: dict[Text, Text] = Field(default={}, description="systems that rank, by name")
    compare: CompareTable = CompareTable()
    gate: GateTable | None = None
    report: ReportTable = ReportTable()
    engines: dict[FileName, Engine] = Field(
        default={}, description="search engines: tables, or engine files, databases or addresses"
    )
    debias: DebiasTable | None = None
    erase: table_of(sections.Erase) | None = None  # type: ignore[valid-type]
    audit: AuditTable = AuditTable()
