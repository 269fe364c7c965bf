"""``evenrank.toml``, the project file: data, groups, measures, gate, report and training in one place.

[data]
runs = ["runs/*.trec"]          # or a table, [data.runs] with bm25 = "runs/bm25.trec"
qrels = "qrels.txt"

[groups]
publisher = "groups.csv"        # or "documents", where it is a field of the documents

[groups.stars]                  # a table says how a file is read
file = "labels.csv"
column = "rating"
ordinal = true

[measures]
use = ["nDCG@10", "GF@10"]

[systems]
two_steps = "bm25>>nanoranker:depth=50"     # for counterfactual rank --system two_steps

[engines.shop]                  # what an engine file would say
address = "opensearch+http://localhost:9200/products"
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from evenrank.errors import DataError, EvenrankError, ParameterError, nearest_hint
from evenrank.files import read_bytes
from evenrank.inputs.description import COLLECTION, Description
from evenrank.inputs.file_options import BACKGROUND, RUN, FileOption, check_how, matching
from evenrank.inputs.group_options import DOCUMENTS as OF_DOCUMENTS
from evenrank.inputs.group_options import WORDS as OF_WORDS
from evenrank.inputs.group_options import TargetOption, groups_of, target_of
from evenrank.inputs.several_files import attempt, collecting_problems, reading_files
from evenrank.io.source import as_source
from evenrank.io.toml import parse_toml
from evenrank.remote.addresses import is_address

if TYPE_CHECKING:
    from evenrank.inputs.schema import ProjectFile

NAME = "evenrank.toml"
NEAR = 0.8  # of two names of which one is probably a slip of the other
OF_FILES = ("error", "probabilities")  # keys of how a file is read that name another file
FETCHED = ("ir_datasets:", "http://", "https://", "ftp://")

T = TypeVar("T")


@dataclass(frozen=True)
class Project:
    """What a project file says, with paths as seen from its folder."""

    name: str
    folder: Path
    settings: ProjectFile = field(repr=False)  # without the keys that are wrong
    wrong: tuple[str, ...] = ()  # what is wrong with keys and types, a line each
    named: bool = True  # somebody gave its name

    @classmethod
    def read(cls, path: str | Path, *, named: bool = True) -> Project:
        """Read a project file and check it; every problem is in one error."""
        made = cls.unchecked(path, named=named)
        problems = made.problems()
        if problems:
            raise DataError("\n".join(problems))
        return made

    @classmethod
    def unchecked(cls, path: str | Path, *, named: bool = True) -> Project:
        """Read a project file, for whoever looks for its problems. An error is only what is no TOML, and a
        file that was found and not ``named`` and that asks for more than the regular files of its folder."""
        from evenrank.inputs.schema import ProjectFile
        from evenrank.inputs.trust import Walk
        from evenrank.io.settings import as_far_as_right, problems_of

        source = as_source(path)
        if source is None or source.path is None:
            raise ParameterError(f"a project is a file such as {NAME}, got {str(path)!r}")
        folder = source.path.parent
        why = "" if named else Walk(folder).why_not(source.path.name)
        if why:
            raise ParameterError(f"{source.name}: {why}\n{_way_out(source.name)}")
        content = parse_toml(b"".join(source.blocks()), source.name)
        if not named:
            refused = [f"{source.name}: {line}" for line in Walk(folder).refusals(content)]
            if refused:
                raise ParameterError("\n".join([*refused, _way_out(source.name)]))
        wrong = tuple(problems_of(ProjectFile, content, source.name))
        return cls(source.name, folder, as_far_as_right(ProjectFile, content), wrong, named)

    def problems(self) -> list[str]:
        """Everything that is wrong with the file, as far as can be seen without the files that it names."""
        with collecting_problems() as wrong:
            for made in (self._describe, self.options, self.systems):
                made()
        return list(dict.fromkeys([*self.wrong, *(line for error in wrong for line in self.lines(error))]))

    def lines(self, error: EvenrankError) -> list[str]:
        """The lines of an error, each with the name of this file."""
        return [
            line if line.startswith(self.name) else f"{self.name}: {line.removeprefix('--')}"
            for line in str(error).split("\n")
        ]

    def as_far_as_right(self) -> tuple[Description, dict[str, Any]]:
        """The inputs and the options of a file with problems: without those that are wrong."""
        with collecting_problems():
            return self._describe(), self.options()

    def table(self, name: str) -> dict[str, Any]:
        """The keys of a table that the file has, with plain values."""
        found: dict[str, Any] = self.settings.model_dump(exclude_unset=True).get(name) or {}
        return found

    def description(self) -> Description:
        """The inputs that the file names."""
        with reading_files():
            found = self._describe()
        return found

    def _describe(self) -> Description:
        data, given = self.settings.data, self.settings
        files = {
            name: attempt(partial(self._file, getattr(data, name), f"data.{name}"))
            for name in ("qrels", "intents", "polarity", "documents", "queries")
        }
        tables = [
            attempt(partial(self._file, table, f"data.tables.{name}", name))
            for name, table in data.tables.items()
        ]
        groups = [attempt(partial(self._group, name, one)) for name, one in given.groups.items()]
        targets = [attempt(partial(self._target, name, one)) for name, one in given.targets.items()]
        return Description(
            runs=tuple(attempt(self._runs) or ()),
            words=self._path(data.words),
            groups=tuple(filter(None, groups)),
            target=tuple(filter(None, targets)),
            background=attempt(self._background),
            table=tuple(filter(None, tables)),
            by=self._by(",".join(data.by)),
            missing=data.missing,
            lexicon=self._lexicon(data.lexicon),
            **files,
        )

    def options(self) -> dict[str, Any]:
        """What the file says besides the inputs, under the names of the options."""
        given, measures = self.settings, self.settings.measures
        report = given.report.model_dump(exclude_unset=True)
        found: dict[str, Any] = {
            "measures": list(measures.use),
            "cutoffs": list(measures.cutoffs),
            "rename": list(measures.labels.items()),
            "baseline": given.baseline,
            "report_output": None if given.report.output is None else str(self.folder / given.report.output),
        }
        if given.baseline is not None and (self.folder / given.baseline).is_file():  # else the name of a run
            found["baseline"] = str(self.folder / given.baseline)
        report.pop("output", None)
        found |= given.compare.model_dump(exclude_unset=True) | report
        return {key: value for key, value in found.items() if value not in (None, [])}

    def systems(self) -> dict[str, str]:
        """The systems by name, as ``make_system`` takes them; folders of models are seen from the file."""
        found = {name: attempt(partial(self._system, name)) for name in self.settings.systems}
        return {name: value for name, value in found.items() if value is not None}

    def _system(self, name: str) -> str:
        given = self.settings.systems[name]
        parts = [part.strip() for part in given.split(">>")]
        if not all(parts):
            raise ParameterError(f"systems.{name}: a part is empty in {given!r}; write bm25>>nanoranker")
        return ">>".join(
            str(self.folder / part) if (self.folder / part.partition(":depth=")[0]).is_dir() else part
            for part in parts
        )

    def default_output(self, name: str) -> str:
        """A name in this folder that nobody chose: through a link, a file that was only found would write
        elsewhere."""
        from evenrank.inputs.trust import Walk

        why = "" if self.named else Walk(self.folder).why_not(name)
        if why:
            raise ParameterError(f"{name}: {why}\n{_way_out(self.name)}")
        return name

    @property
    def audit_folder(self) -> str:
        """The folder of audits: what the file says, else ``audit`` beside it."""
        return str(self.folder / self.default_output(self.settings.audit.output))

    def engines(self) -> dict[str, dict[str, Any] | str]:
        """The search engines by name, as ``open_engine(.., folder=project.folder)`` takes them."""
        return {
            name: given if isinstance(given, str) and given.endswith(".toml")
            else {"name": name, **self.engine_table(name)[0]}
            for name, given in self.settings.engines.items()
        }  # fmt: skip

    def engine_table(self, name: str) -> tuple[dict[str, Any], Path]:
        """The settings of an engine, and the folder that its paths are relative to."""
        given = self.settings.engines[name]
        if not isinstance(given, str):
            return given.model_dump(exclude_unset=True), self.folder
        if not given.endswith(".toml"):
            return {"address": given}, self.folder
        path = self.folder / given
        return parse_toml(read_bytes(path), str(path)), path.parent

    def groups_located(self, given: str, where: str) -> str:
        """``NAME=FILE[:OPTION..]`` with the file as seen from the folder; anything else as it is."""
        name, equals, rest = given.partition("=")
        option, *_ = _about(where, partial(groups_of, given))
        if not equals or option.path in (OF_DOCUMENTS, OF_WORDS):
            return given
        return f"{name}={self._path(option.path)}{rest.removeprefix(option.path)}"

    def _runs(self) -> list[FileOption]:
        given = self.settings.data.runs
        if isinstance(given, Mapping):
            return [self._file(one, f"data.runs.{name}", name) for name, one in given.items()]
        listed = [given] if isinstance(given, str) else given
        return [file for text in listed for file in self._matching(text)]

    def _matching(self, text: str) -> list[FileOption]:
        """The files that a pattern such as ``runs/*.trec`` stands for."""
        file = _about("data.runs", partial(RUN.parse, text))
        if not any(sign in file.path for sign in "*?[") or is_address(file.path):
            return [self._seen(file)]
        found = matching(file.path, self.folder)
        if not found:
            raise ParameterError(f"data.runs: no file matches {text!r}")
        return [FileOption(str(self.folder / path)) for path in found]

    def _file(self, given: Any, where: str, name: str | None = None) -> Any:
        """A file, or a table with it and how it is read; None where there is none."""
        if given is None:
            return None
        if isinstance(given, str):
            _about(where, partial(check_how, given, where, self.folder))
            return self._seen(FileOption(given, name))
        options = given.model_dump(exclude_unset=True)
        return self._seen(FileOption(options.pop("file"), name, self._options(options)))

    def _options(self, options: dict[str, Any]) -> dict[str, Any]:
        """How a file is read; what is a file too is seen from the folder of the project."""
        return {key: self._path(value) if key in OF_FILES else value for key, value in options.items()}

    def _seen(self, file: FileOption) -> FileOption:
        """The file as seen from the folder of the project."""
        return file if file.path.startswith(FETCHED) or is_address(file.path) else file.seen_from(self.folder)

    def _path(self, given: str | None) -> str | None:
        return None if given is None else self._seen(FileOption(given)).path

    def _lexicon(self, given: str | None) -> str | None:
        return str(self.folder / given) if given is not None and Path(given).suffix else given

    def _background(self) -> FileOption | None:
        given = self.settings.data.background
        if given is None:
            return None
        if isinstance(given, str):
            file = _about("data.background", partial(BACKGROUND.parse, given))
        else:
            options = given.model_dump(exclude_unset=True)
            file = FileOption(options.pop("file"), None, options)
        beside = self.folder / file.path
        return file if file.path == COLLECTION or not beside.exists() else file.seen_from(self.folder)

    def _by(self, text: str) -> str | None:
        return str(self.folder / text) if text and (self.folder / text).is_file() else text or None

    def _group(self, name: str, given: Any) -> FileOption:
        if isinstance(given, str):
            (option,) = _about(f"groups.{name}", partial(groups_of, f"{name}={given}"))
        else:
            options = given.model_dump(exclude_unset=True)
            option = FileOption(options.pop("file"), name, self._options(options))
        return option if option.path in (OF_DOCUMENTS, OF_WORDS) else self._seen(option)

    def _target(self, name: str, given: Any) -> TargetOption:
        groups = self.settings.groups
        for part in name.split("*"):  # groups of another name may be given with the command
            if part not in groups and difflib.get_close_matches(part, groups, 1, NEAR):
                raise ParameterError(
                    f"targets.{name}: no groups are called {part!r}{nearest_hint(part, groups)}"
                )
        if hasattr(given, "averaged"):
            return replace(self._target(name, given.averaged), averaged=True, unknown=given.unknown)
        if isinstance(given, Mapping):
            return TargetOption(name, dict(given))
        if isinstance(given, tuple):
            return TargetOption(name, list(given))
        option = _about(f"targets.{name}", partial(target_of, f"{name}={given}"))
        return option if option.path is None else TargetOption(name, None, self._path(option.path))


def _about(where: str, made: Callable[[], T]) -> T:
    try:
        return made()
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from None


def _way_out(name: str) -> str:
    return (
        f"{name} was found in this folder, and not named: such a file may only read regular files of its "
        f"folder. Give --project {name} if you trust it, or --no-project"
    )
