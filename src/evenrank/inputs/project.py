"""``evenrank.toml``, the project file: data, groups, measures, gate, report and training in one place.

[data]
runs = ["runs/*.trec"]          # or a table, [data.runs] with bm25 = "runs/bm25.trec"
qrels = "qrels.txt"

[groups]
publisher = "groups.csv"        # or "documents", where it is a field of the documents

[measures]
use = ["nDCG@10", "GF@10"]

[engines.shop]                  # what an engine file would say
address = "opensearch+http://localhost:9200/products"
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from evenrank.errors import DataError, EvenrankError, ParameterError
from evenrank.inputs.description import COLLECTION, Description
from evenrank.inputs.file_options import (
    BACKGROUND,
    DOCUMENTS,
    POLARITY,
    QRELS,
    RUN,
    TABLE,
    FileForm,
    FileOption,
)
from evenrank.inputs.group_options import DOCUMENTS as OF_DOCUMENTS
from evenrank.inputs.group_options import WORDS as OF_WORDS
from evenrank.inputs.group_options import GroupsOption, TargetOption, groups_of, target_of
from evenrank.inputs.old_files import check_version
from evenrank.io.source import as_source
from evenrank.io.toml import parse_toml
from evenrank.remote.addresses import is_address, is_remote, shown_address

NAME = "evenrank.toml"
DATA = (
    "runs", "qrels", "intents", "words", "polarity", "background", "documents", "queries", "tables", "by",
    "missing", "columns", "lexicon",
)  # fmt: skip
MEASURES = ("use", "cutoffs", "labels")
COMPARE = ("test", "correction", "alpha", "seed")
REPORT = ("title", "output", "sort_by", "system", "readable", "lexicon")
AUDIT = ("output", "depth", "target")
TABLES = ("data", "groups", "targets", "measures", "compare", "gate", "report", "engines", "debias", "audit")
TOP = (*TABLES, "baseline")
MISSING = ("error", "neutral", "uniform", "drop")
FETCHED = ("ir_datasets:", "http://", "https://", "ftp://")

T = TypeVar("T")


@dataclass(frozen=True)
class Project:
    """What a project file says, with paths as seen from its folder."""

    name: str
    folder: Path
    content: Mapping[str, Any] = field(repr=False)
    named: bool = True  # somebody gave its name; a file that was only found never causes a request

    @classmethod
    def read(cls, path: str | Path, *, named: bool = True) -> Project:
        """Read a project file and check the names of its keys; every problem is in one error."""
        source = as_source(path)
        if source is None or source.path is None:
            raise ParameterError(f"a project is a file such as {NAME}, got {str(path)!r}")
        content = parse_toml(b"".join(source.blocks()), source.name)
        check_version(source.name, content, NAME, DATA)
        made = cls(source.name, source.path.parent, content, named)
        problems = made.problems()
        if problems:
            raise DataError("\n".join(problems))
        return made

    def problems(self) -> list[str]:
        """Everything that is wrong with the file, as far as can be seen without the files that it names."""
        found: list[str] = []
        for where, given, known in self._tables():
            found += [_unknown(f"{self.name}: {where}", key, known) for key in given if key not in known]
        for key in TABLES:
            if not isinstance(self.content.get(key, {}), dict):
                found.append(f"{self.name}: {key} must be a table, written [{key}]")
        if not found:
            for made in (self.description, self.options):
                try:
                    made()
                except EvenrankError as error:
                    found += [
                        line if line.startswith(self.name) else f"{self.name}: {line}"
                        for line in str(error).split("\n")
                    ]
        return found

    def _tables(self) -> list[tuple[str, Mapping[str, Any], Sequence[str]]]:
        tables: list[tuple[str, Mapping[str, Any], Sequence[str]]] = [("the file", self.content, TOP)]
        kinds: list[tuple[str, Sequence[str]]] = [
            ("data", DATA), ("measures", MEASURES), ("compare", COMPARE), ("report", REPORT),
            ("audit", AUDIT),
        ]  # fmt: skip
        for name, known in kinds:
            given = self.content.get(name, {})
            tables.append((f"[{name}]", given if isinstance(given, dict) else {}, known))
        return tables

    def table(self, name: str) -> Mapping[str, Any]:
        found = self.content.get(name, {})
        return found if isinstance(found, dict) else {}

    def description(self) -> Description:
        """The inputs that the file names."""
        data = self.table("data")
        qrels = [self._file(QRELS, "qrels"), self._file(QRELS, "intents", ":intents")]
        return Description(
            runs=tuple(self._runs()),
            qrels=tuple(file for file in qrels if file is not None),
            words=self._path("words"),
            groups=tuple(self._groups()),
            targets=tuple(self._targets()),
            polarity=self._file(POLARITY, "polarity"),
            background=self._background(),
            tables=tuple(
                self._located(TABLE.parse(f"{name}={path}"), f"data.tables.{name}")
                for name, path in self._strings("tables").items()
            ),
            queries=self._path("queries"),
            by=self._by(),
            documents=self._file(DOCUMENTS, "documents"),
            columns=self._strings("columns") if "columns" in data else None,
        )

    def options(self) -> dict[str, Any]:
        """What the file says besides the inputs, under the names of the options."""
        measures, compare, report = self.table("measures"), self.table("compare"), self.table("report")
        found: dict[str, Any] = {}
        if "use" in measures:
            use = measures["use"]
            found["measures"] = [use] if isinstance(use, str) else _list_of(use, str, "measures.use")
        if "cutoffs" in measures:
            found["cutoffs"] = _list_of(measures["cutoffs"], int, "measures.cutoffs")
        if "labels" in measures:
            found["rename"] = list(_texts(measures["labels"], "measures.labels").items())
        if "missing" in self.table("data"):
            found["missing"] = _text(self.table("data")["missing"], "data.missing")
            if found["missing"] not in MISSING:
                raise ParameterError(
                    f"data.missing must be one of {', '.join(MISSING)}, got {found['missing']!r}"
                )
        if "lexicon" in self.table("data"):
            found["lexicon"] = self._lexicon()
        if "baseline" in self.content:
            baseline = _text(self.content["baseline"], "baseline")
            beside = self.folder / baseline  # a name of a run, or a file
            found["baseline"] = str(beside) if beside.is_file() else baseline
        found |= {key: compare[key] for key in COMPARE if key in compare}
        found |= {key: report[key] for key in REPORT if key in report and key != "output"}
        if "output" in report:
            found["report_output"] = self._inside(_text(report["output"], "report.output"), "report.output")
        return found

    @property
    def audit_folder(self) -> str:
        """The folder of audits: what the file says, else ``audit`` beside it."""
        given = self.table("audit").get("output")
        return self._inside("audit" if given is None else _text(given, "audit.output"), "audit.output")

    def engines(self) -> dict[str, dict[str, Any]]:
        """The search engines by name, as tables for ``open_engine(table, folder=project.folder)``.

        A file that was only found never causes a request: then an engine on a server is an error.
        """
        found: dict[str, dict[str, Any]] = {}
        for name, given in self.table("engines").items():
            where = f"engines.{name}"
            if not isinstance(given, dict):
                raise ParameterError(f"{where} must be a table, written [{where}]")
            address = _text(given.get("address"), f"{where}.address")
            if is_remote(address):
                self._refuse_if_found(where, shown_address(address))
            found[name] = {"name": name, **given}
        return found

    def _refuse_if_found(self, where: str, address: str) -> None:
        if not self.named:
            raise ParameterError(
                f"{where}: {address} is fetched over a network, and this project file was found, not "
                f"named: give --project {self.name} if you trust it"
            )

    def _inside(self, path: str, where: str) -> str:
        """A path to write to: a file that was only found must not choose one outside of its folder."""
        there = (self.folder / path).resolve()
        if not self.named and not there.is_relative_to(self.folder.resolve()):
            raise ParameterError(
                f"{where}: {path} is outside of the project's folder, and this project file was found, "
                "not named: "
                f"give --project {self.name} if you trust it"
            )
        return str(self.folder / path)

    def _lexicon(self) -> str:
        given = _text(self.table("data")["lexicon"], "data.lexicon")
        return str(self.folder / given) if Path(given).suffix else given

    def _runs(self) -> list[FileOption]:
        given = self.table("data").get("runs", [])
        if isinstance(given, dict):
            return [
                self._located(FileOption(file.path, name, file.options), f"data.runs.{name}")
                for name, file in (
                    (name, RUN.parse(path)) for name, path in _texts(given, "data.runs").items()
                )
            ]
        listed = [given] if isinstance(given, str) else _list_of(given, str, "data.runs")
        return [file for text in listed for file in self._matching(text)]

    def _matching(self, text: str) -> list[FileOption]:
        """The files that a pattern such as ``runs/*.trec`` stands for."""
        file = RUN.parse(text)
        if not any(sign in file.path for sign in "*?["):
            return [self._located(file, "data.runs")]
        found = sorted(path for path in self.folder.glob(file.path) if not path.name.startswith("."))
        if not found:
            raise ParameterError(f"data.runs: no file matches {text!r}")
        return [FileOption(str(path), None, file.options) for path in found]

    def _file(self, form: FileForm, key: str, more: str = "") -> FileOption | None:
        given = self.table("data").get(key)
        if given is None:
            return None
        text = _text(given, f"data.{key}")
        return self._located(_about(f"data.{key}", lambda: form.parse(text + more)), f"data.{key}")

    def _path(self, key: str) -> str | None:
        given = self.table("data").get(key)
        if given is None:
            return None
        return self._located(FileOption(_text(given, f"data.{key}")), f"data.{key}").path

    def _located(self, file: FileOption, where: str) -> FileOption:
        if file.path.startswith(FETCHED) or is_remote(file.path):
            self._refuse_if_found(where, shown_address(file.path))
            return file
        if is_address(file.path):
            return file
        return file.seen_from(self.folder)

    def _background(self) -> FileOption | None:
        given = self.table("data").get("background")
        if given is None:
            return None
        file = BACKGROUND.parse(_text(given, "data.background"))
        beside = self.folder / file.path
        return file if file.path == COLLECTION or not beside.exists() else file.seen_from(self.folder)

    def _by(self) -> str | None:
        given = self.table("data").get("by")
        if given is None:
            return None
        text = given if isinstance(given, str) else ",".join(_list_of(given, str, "data.by"))
        return str(self.folder / text) if (self.folder / text).is_file() else text

    def _groups(self) -> list[GroupsOption]:
        found = []
        for name, text in _texts(self.table("groups"), "groups").items():
            (option,) = _about(f"groups.{name}", partial(groups_of, f"{name}={text}"))
            path = option.path
            if path not in (OF_DOCUMENTS, OF_WORDS):
                path = self._located(FileOption(path), f"groups.{name}").path
            found.append(GroupsOption(option.name, path, option.options))
        return found

    def _targets(self) -> list[TargetOption]:
        return [self._target(name, given) for name, given in self.table("targets").items()]

    def _target(self, name: str, given: Any) -> TargetOption:
        if isinstance(given, dict):
            return TargetOption(name, {str(value): float(share) for value, share in given.items()})
        if isinstance(given, list):
            return TargetOption(name, [float(share) for share in given])
        option = _about(f"targets.{name}", lambda: target_of(f"{name}={_text(given, f'targets.{name}')}"))
        if option.path is None:
            return option
        return TargetOption(name, None, self._located(FileOption(option.path), f"targets.{name}").path)

    def _strings(self, key: str) -> dict[str, str]:
        return _texts(self.table("data").get(key, {}), f"data.{key}")


def find_project(folder: Path | None = None) -> Path | None:
    """The project file of the current folder; never that of a parent."""
    here = (folder or Path()) / NAME
    return here if here.is_file() else None


def _about(where: str, made: Callable[[], T]) -> T:
    try:
        return made()
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from None


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ParameterError(f"{where} must be text in quotes, got {value!r}")
    return value


def _texts(value: Any, where: str) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ParameterError(f"{where} must be a table of names and text, got {value!r}")
    return {name: _text(given, f"{where}.{name}") for name, given in value.items()}


def _list_of(value: Any, kind: type[T], where: str) -> list[T]:
    what = "text" if kind is str else "integers"
    if not isinstance(value, list) or not all(type(item) is kind for item in value):
        raise ParameterError(f"{where} must be a list of {what}, got {value!r}")
    return list(value)


def _unknown(where: str, key: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(key, known, 2, 0.5)
    hint = f"did you mean {' or '.join(close)}?" if close else f"known are {', '.join(known)}"
    return f"{where} has no key {key!r}; {hint}"
