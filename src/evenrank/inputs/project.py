"""``evenrank.toml``, the project file: data, groups, measures, gate, report and training in one place.

[data]
runs = ["runs/*.trec"]          # or a table, [data.runs] with bm25 = "runs/bm25.trec"
qrels = "qrels.txt"

[groups]
publisher = "groups.csv"        # or "documents", where it is a field of the documents

[measures]
use = ["nDCG@10", "GF@10"]

[systems]
two_steps = "bm25>>nanoranker:depth=50"     # for counterfactual --system two_steps

[engines.shop]                  # what an engine file would say
address = "opensearch+http://localhost:9200/products"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

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
from evenrank.inputs.project_engines import engine_table
from evenrank.inputs.project_values import about, list_of, text_of, texts_of, unknown_key
from evenrank.inputs.several_files import attempt, collecting_problems, reading_files
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
TABLES = (
    "data", "groups", "targets", "measures", "systems", "compare", "gate", "report", "engines", "debias",
    "erase", "audit",
)  # fmt: skip
TOP = (*TABLES, "baseline")
MISSING = ("error", "neutral", "uniform", "drop")
FETCHED = ("ir_datasets:", "http://", "https://", "ftp://")


@dataclass(frozen=True)
class Project:
    """What a project file says, with paths as seen from its folder."""

    name: str
    folder: Path
    content: Mapping[str, Any] = field(repr=False)
    named: bool = True  # somebody gave its name; a file that was only found never causes a request

    @classmethod
    def read(cls, path: str | Path, *, named: bool = True) -> Project:
        """Read a project file and check its keys; every problem is in one error."""
        made = cls.unchecked(path, named=named)
        problems = made.problems()
        if problems:
            raise DataError("\n".join(problems))
        return made

    @classmethod
    def unchecked(cls, path: str | Path, *, named: bool = True) -> Project:
        """Read a project file, for whoever looks for its problems: only what is no TOML is an error."""
        source = as_source(path)
        if source is None or source.path is None:
            raise ParameterError(f"a project is a file such as {NAME}, got {str(path)!r}")
        content = parse_toml(b"".join(source.blocks()), source.name)
        check_version(source.name, content, NAME, DATA)
        return cls(source.name, source.path.parent, content, named)

    def problems(self) -> list[str]:
        """Everything that is wrong with the file, as far as can be seen without the files that it names."""
        found: list[str] = []
        for where, given, known in self._tables():
            found += [unknown_key(f"{self.name}: {where}", key, known) for key in given if key not in known]
        for key in TABLES:
            if not isinstance(self.content.get(key, {}), dict):
                found.append(f"{self.name}: {key} must be a table, written [{key}]")
        with collecting_problems() as wrong:
            for made in (self._describe, self._choose, self.systems):
                made()
        return list(dict.fromkeys([*found, *(line for error in wrong for line in self.lines(error))]))

    def lines(self, error: EvenrankError) -> list[str]:
        """The lines of an error, each with the name of this file."""
        return [
            line if line.startswith(self.name) else f"{self.name}: {line.removeprefix('--')}"
            for line in str(error).split("\n")
        ]

    def as_far_as_right(self) -> tuple[Description, dict[str, Any]]:
        """The inputs and the options of a file with problems: without those that are wrong."""
        with collecting_problems():
            return self._describe(), self._choose()

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
        with reading_files():
            found = self._describe()
        return found

    def _describe(self) -> Description:
        qrels = [
            attempt(partial(self._file, QRELS, "qrels")),
            attempt(partial(self._file, QRELS, "intents", ":intents")),
        ]
        has_columns = "columns" in self.table("data")
        return Description(
            runs=tuple(attempt(self._runs) or ()),
            qrels=tuple(file for file in qrels if file is not None),
            words=attempt(partial(self._path, "words")),
            groups=tuple(self._groups()),
            targets=tuple(self._targets()),
            polarity=attempt(partial(self._file, POLARITY, "polarity")),
            background=attempt(self._background),
            tables=tuple(attempt(self._number_tables) or ()),
            queries=attempt(partial(self._path, "queries")),
            by=attempt(self._by),
            documents=attempt(partial(self._file, DOCUMENTS, "documents")),
            columns=attempt(partial(self._strings, "columns")) if has_columns else None,
        )

    def options(self) -> dict[str, Any]:
        """What the file says besides the inputs, under the names of the options."""
        with reading_files():
            found = self._choose()
        return found

    def _choose(self) -> dict[str, Any]:
        data, measures = self.table("data"), self.table("measures")
        compare, report = self.table("compare"), self.table("report")
        made: dict[str, Callable[[], Any]] = {}
        if "use" in measures:
            made["measures"] = partial(_names_of, measures["use"], "measures.use")
        if "cutoffs" in measures:
            made["cutoffs"] = partial(list_of, measures["cutoffs"], int, "measures.cutoffs")
        if "labels" in measures:
            made["rename"] = lambda: list(texts_of(measures["labels"], "measures.labels").items())
        if "missing" in data:
            made["missing"] = partial(_one_of, data["missing"], MISSING, "data.missing")
        if "lexicon" in data:
            made["lexicon"] = self._lexicon
        if "baseline" in self.content:
            made["baseline"] = self._baseline
        if "output" in report:
            made["report_output"] = lambda: self._inside(
                text_of(report["output"], "report.output"), "report.output"
            )
        found = {key: attempt(make) for key, make in made.items()}
        found |= {key: compare[key] for key in COMPARE if key in compare}
        found |= {key: report[key] for key in REPORT if key in report and key != "output"}
        return {key: value for key, value in found.items() if value is not None}

    def _baseline(self) -> str:
        baseline = text_of(self.content["baseline"], "baseline")
        beside = self.folder / baseline  # a name of a run, or a file
        return str(beside) if beside.is_file() else baseline

    def systems(self) -> dict[str, str]:
        """The systems by name, as ``make_system`` takes them; folders of models are seen from the file."""
        return {
            name: value
            for name, given in self.table("systems").items()
            if (value := attempt(partial(self._system, name, given))) is not None
        }

    def _system(self, name: str, given: Any) -> str:
        parts = [part.strip() for part in text_of(given, f"systems.{name}").split(">>")]
        if not all(parts):
            raise ParameterError(f"systems.{name}: a part is empty in {given!r}; write bm25>>nanoranker")
        return ">>".join(
            str(self.folder / part) if (self.folder / part.partition(":depth=")[0]).is_dir() else part
            for part in parts
        )

    def _number_tables(self) -> list[FileOption]:
        return [
            self._located(TABLE.parse(f"{name}={path}"), f"data.tables.{name}")
            for name, path in self._strings("tables").items()
        ]

    def default_output(self, path: str) -> str:
        """A name that nobody chose: through a link, a file that was only found would write elsewhere."""
        if not self.named:
            self.folder_inside(path, path)
        return path

    def folder_inside(self, path: str, where: str) -> str:
        """A file or folder to write to, and no link in it leads elsewhere."""
        inside = self._inside(path, where)
        if not self.named and Path(inside).is_dir():
            for one in Path(inside).rglob("*"):
                if one.is_symlink():
                    self._inside(str(one.relative_to(self.folder)), where)
        return inside

    @property
    def audit_folder(self) -> str:
        """The folder of audits: what the file says, else ``audit`` beside it."""
        given = self.table("audit").get("output")
        return self.folder_inside(
            "audit" if given is None else text_of(given, "audit.output"), "audit.output"
        )

    def engines(self) -> dict[str, dict[str, Any] | str]:
        """The search engines by name: tables or engine files for ``open_engine(.., folder=project.folder)``.

        A file that was only found never causes a request, and its SQL is not run: then such an engine is an
        error.
        """
        found: dict[str, dict[str, Any] | str] = {}
        for name, given in self.table("engines").items():
            where = f"engines.{name}"
            table, _ = self.engine_table(name)
            address = text_of(table.get("address"), f"{where}.address")
            if is_remote(address):
                self._refuse_if_found(where, shown_address(address))
            if "sql" in table and not self.named:
                raise ParameterError(
                    f"{where}: it has SQL, and this project file was found, not named: give --project "
                    f"{self.name} if you trust it"
                )
            is_file = isinstance(given, str) and given.endswith(".toml")
            found[name] = given if is_file else {"name": name, **table}
        return found

    def engine_table(self, name: str) -> tuple[dict[str, Any], Path]:
        """The settings of an engine, and the folder that its paths are relative to."""
        return engine_table(self.table("engines")[name], name, self.folder)

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
        given = text_of(self.table("data")["lexicon"], "data.lexicon")
        return str(self.folder / given) if Path(given).suffix else given

    def _runs(self) -> list[FileOption]:
        given = self.table("data").get("runs", [])
        if isinstance(given, dict):
            return [
                self._located(FileOption(file.path, name, file.options), f"data.runs.{name}")
                for name, file in (
                    (name, RUN.parse(path)) for name, path in texts_of(given, "data.runs").items()
                )
            ]
        listed = [given] if isinstance(given, str) else list_of(given, str, "data.runs")
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
        text = text_of(given, f"data.{key}")
        return self._located(about(f"data.{key}", lambda: form.parse(text + more)), f"data.{key}")

    def _path(self, key: str) -> str | None:
        given = self.table("data").get(key)
        if given is None:
            return None
        return self._located(FileOption(text_of(given, f"data.{key}")), f"data.{key}").path

    def groups_located(self, given: str, where: str) -> str:
        """``NAME=FILE[:OPTION..]`` with the file as seen from the folder; anything else as it is."""
        name, equals, rest = given.partition("=")
        option, *_ = about(where, partial(groups_of, given))
        if not equals or option.path in (OF_DOCUMENTS, OF_WORDS):
            return given
        there = self._located(FileOption(option.path), where).path
        return f"{name}={there}{rest.removeprefix(option.path)}"

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
        file = BACKGROUND.parse(text_of(given, "data.background"))
        beside = self.folder / file.path
        return file if file.path == COLLECTION or not beside.exists() else file.seen_from(self.folder)

    def _by(self) -> str | None:
        given = self.table("data").get("by")
        if given is None:
            return None
        text = given if isinstance(given, str) else ",".join(list_of(given, str, "data.by"))
        return str(self.folder / text) if (self.folder / text).is_file() else text

    def _groups(self) -> list[GroupsOption]:
        made = [attempt(partial(self._group, name, given)) for name, given in self.table("groups").items()]
        return [option for option in made if option is not None]

    def _group(self, name: str, given: Any) -> GroupsOption:
        where = f"groups.{name}"
        (option,) = about(where, partial(groups_of, f"{name}={text_of(given, where)}"))
        path = option.path
        if path not in (OF_DOCUMENTS, OF_WORDS):
            path = self._located(FileOption(path), where).path
        return GroupsOption(option.name, path, option.options)

    def _targets(self) -> list[TargetOption]:
        made = [attempt(partial(self._target, name, given)) for name, given in self.table("targets").items()]
        return [option for option in made if option is not None]

    def _target(self, name: str, given: Any) -> TargetOption:
        if isinstance(given, (dict, list)):
            shares = given.values() if isinstance(given, dict) else given
            if not all(isinstance(share, (int, float)) and not isinstance(share, bool) for share in shares):
                raise ParameterError(f"targets.{name}: shares must be numbers, got {given!r}")
        if isinstance(given, dict):
            return TargetOption(name, {str(value): float(share) for value, share in given.items()})
        if isinstance(given, list):
            return TargetOption(name, [float(share) for share in given])
        option = about(f"targets.{name}", lambda: target_of(f"{name}={text_of(given, f'targets.{name}')}"))
        if option.path is None:
            return option
        return TargetOption(name, None, self._located(FileOption(option.path), f"targets.{name}").path)

    def _strings(self, key: str) -> dict[str, str]:
        return texts_of(self.table("data").get(key, {}), f"data.{key}")


def find_project(folder: Path | None = None) -> Path | None:
    """The project file of the current folder; never that of a parent."""
    here = (folder or Path()) / NAME
    return here if here.is_file() else None


def _names_of(given: Any, where: str) -> list[str]:
    return [given] if isinstance(given, str) else list_of(given, str, where)


def _one_of(given: Any, known: Sequence[str], where: str) -> str:
    if text_of(given, where) not in known:
        raise ParameterError(f"{where} must be one of {', '.join(known)}, got {given!r}")
    return str(given)
