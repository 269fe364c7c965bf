"""Whether a project file is sound: every entry is looked at, and every problem is found in one go.

Nothing is computed, and no host is asked for anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenrank.errors import EvenrankError, MissingExtraError, installing
from evenrank.io.remote import is_remote
from evenrank.io.shards import is_many, list_shards

if TYPE_CHECKING:
    from evenrank.inputs import Inputs
    from evenrank.inputs.description import Description
    from evenrank.inputs.project import Project
    from evenrank.measures import Measure

REPORTS = (".html", ".htm")


class ProjectCheck:
    """What the entries of a project file became, as far as they could be read, and what is wrong."""

    def __init__(self, project: Project) -> None:
        self._project = project
        given, self._options = project.as_far_as_right()
        self.known: Description = given
        self.inputs: Inputs | None = None
        found = [
            *project.problems(),
            *self._files(),
            *self._runs(),
            *self._measures(),
            *self._report(),
            *self._systems(),
            *self._engines(),
            *self._further(),
            *self._evidence(),
        ]
        self.problems = list(dict.fromkeys(found))

    def _problems_of(self, check: Callable[[], object]) -> list[str]:
        """What is wrong, each problem on its own line; nothing if all is well."""
        try:
            check()
        except MissingExtraError:  # the installation lacks something, not the project
            return []
        except EvenrankError as error:
            return self._project.lines(error)
        return []

    def _files(self) -> Iterator[str]:
        """Names and files: what the names tell first, then what is in the files."""
        yield from self._problems_of(self.known.check)
        many = self._many_documents()
        yield from (
            f"{path}: no such file" for path in self.known.files() if path != many and not _is_there(path)
        )
        if many is not None:
            format = self.known.documents.get("format")  # type: ignore[union-attr]
            yield from self._problems_of(partial(list_shards, many, format))
        try:
            if self.known.runs:
                self.inputs = self.known.read(check=False)
            else:  # the queries are then no selection of the runs'
                self.inputs = replace(self.known, queries=None, by=None).read(check=False)
                if self.known.queries is not None:
                    from evenrank.auditing.sources import queries_to_ask

                    queries_to_ask(self.known.queries)
        except MissingExtraError:
            return
        except EvenrankError as error:
            for line in str(error).split("\n"):
                by_option = line.startswith("--")
                yield f"{self._project.name}: {line.removeprefix('--')}" if by_option else line

    def _many_documents(self) -> str | None:
        """The folder or the pattern of the documents, where they are several files of this machine."""
        path = None if self.known.documents is None else self.known.documents.path
        return path if is_many(path) and not is_remote(path or "") else None

    def _runs(self) -> Iterator[str]:
        name = self._project.name
        if not self.known.runs:
            others = any(map(self._project.table, ("debias", "erase", "engines", "systems", "gate")))
            if not others and not any("data.runs" in line for line in self._project.problems()):
                yield f'{name}: names no run: write runs = ["runs/*.trec"] under [data]'
            return
        try:
            names = self.known.names
        except EvenrankError:  # said before
            return
        baseline = self._options.get("baseline")
        if baseline is not None and baseline not in names and not Path(baseline).is_file():
            yield f"{name}: baseline: no run is called {baseline!r}; there are {', '.join(names)}"
        if baseline in names and len(names) == 1:
            yield f"{name}: baseline: {baseline} is the only run, so there is nothing to compare with it"
        system = self._options.get("system")
        if system is not None and system not in names:
            yield f"{name}: report.system: no run is called {system!r}; there are {', '.join(names)}"

    def _used(self) -> list[Measure]:
        """The measures that can be understood."""
        from evenrank.measures import parse_measures

        found: list[Measure] = []
        for text in self._options.get("measures", ()):
            try:
                found += parse_measures([text], check="cutoffs" not in self._options)
            except EvenrankError:  # said by ``_measures``
                continue
        return found

    def _measures(self) -> Iterator[str]:
        from evenrank.measures import parse_measure, parse_measures

        cutoffs = self._options.get("cutoffs")
        for text in self._options.get("measures", ()):
            yield from self._about("measures.use", parse_measures, [text], check=cutoffs is None)
        for measure, _ in self._options.get("rename", ()):
            yield from self._about("measures.labels", parse_measure, measure.partition("[")[0], check=False)

    def _about(self, where: str, tried: Callable[..., object], *given: Any, **more: Any) -> list[str]:
        return [
            line.replace(f"{self._project.name}: ", f"{self._project.name}: {where}: ", 1)
            for line in self._problems_of(lambda: tried(*given, **more))
        ]

    def _report(self) -> Iterator[str]:
        given, name = self._options, f"{self._project.name}: report"
        output = given.get("report_output")
        if output is not None and not output.lower().endswith(REPORTS):
            yield f"{name}.output: the name of a report must end in {' or '.join(REPORTS)}, got {output!r}"
        if "sort_by" in given:
            yield from self._sorted_by(given["sort_by"])
        yield from self._lexicon()

    def _sorted_by(self, written: str) -> Iterator[str]:
        from evenrank.measures import parse_measure

        used, labels = self._used(), dict(self._options.get("rename", ()))
        if written in labels.values():
            return
        wrong = self._about("report.sort_by", parse_measure, written.partition("[")[0], check=False)
        yield from wrong
        if not wrong and used and parse_measure(written.partition("[")[0], check=False) not in used:
            listed = ", ".join(map(repr, used))
            yield f"{self._project.name}: report.sort_by: {written} is not one of the measures: {listed}"

    def _lexicon(self) -> Iterator[str]:
        from evenrank.io.lexicons import read_lexicon

        lexicon = self._options.get("lexicon", self.known.lexicon)
        if lexicon is not None:
            yield from self._about("lexicon", read_lexicon, lexicon)

    def _systems(self) -> Iterator[str]:
        if not self._project.table("systems"):
            return
        from evenrank.inputs.several_files import collecting_problems
        from evenrank.systems.registry import check_system

        with collecting_problems():  # what is no text was said by ``problems``
            systems = self._project.systems()
        for name, given in systems.items():
            yield from self._about(
                f"systems.{name}", partial(check_system, folder=self._project.folder), given
            )

    def _engines(self) -> Iterator[str]:
        if not self._project.table("engines"):
            return
        from evenrank.engines.checking import engine_problems

        if self.known.queries is None and "queries" not in self._project.table("data"):
            way_out = 'write queries = "queries.csv" under [data]'
            yield f"{self._project.name}: an engine needs queries to be asked: {way_out}"
        for name in self._project.table("engines"):
            where = f"{self._project.name}: engines.{name}"
            try:
                table, folder = self._project.engine_table(name)
            except EvenrankError as error:
                yield from self._project.lines(error)
                continue
            yield from engine_problems(table, folder=folder, source=where)

    def next_step(self) -> str:
        """The command that this project is ready for where it is a shop's: engines, or runs with groups."""
        if not self._project.table("engines"):
            return ""
        from evenrank.remote.addresses import is_remote

        asked = [self._project.engine_table(name)[0] for name in self._project.table("engines")]
        addresses = [str(table.get("address", "")) for table in asked]
        lacking = [
            package
            for package in ("httpx2", "psycopg")
            if any(
                is_remote(one) and one.startswith("postgres") == (package == "psycopg") for one in addresses
            )
            and find_spec(package) is None
        ]
        if lacking:
            return f"{installing('engines')}, since asking needs {' and '.join(lacking)}"
        role = (
            "; the role decides what PostgreSQL lets it do: take one that may only read"
            if any(one.startswith("postgres") for one in addresses)
            else ""
        )
        named = f" --project {self._project.name}" if self._project.named else ""
        return f"evenrank audit{named} asks {', '.join(self._project.table('engines'))} who is favoured{role}"

    def _further(self) -> Iterator[str]:
        if self._project.table("gate"):
            yield from self._problems_of(self._gate_measures)
        if self._project.table("debias"):
            from evenrank.neural.config import config_of

            yield from self._problems_of(lambda: config_of(self._project))
        if self._project.table("erase"):
            from evenrank.cli.erase_keys import erase_keys

            yield from self._problems_of(lambda: erase_keys(self._project, ()))

    def _gate_measures(self) -> list[Measure]:
        from evenrank.comparison.gate.config import gate_of

        table = self._project.table("gate")
        return gate_of(table, self._project.name).measures if table else []

    def _evidence(self) -> Iterator[str]:
        """What the measures need and the file does not name."""
        if self.inputs is None or not self.inputs.runs:
            return
        try:
            of_gate: Iterable[Measure] = self._gate_measures()
        except EvenrankError:  # said by ``_further``
            of_gate = ()
        for measure in dict.fromkeys([*self._used(), *of_gate]):
            for line in self._problems_of(partial(_check_evidence, self.inputs, measure)):
                said = line.removeprefix(f"{self._project.name}: ")
                yield line if repr(measure) in line else f"{self._project.name}: {measure!r}: {said}"


def _check_evidence(inputs: Inputs, measure: Measure) -> None:
    from evenrank.inputs.coerce import check_needs

    settled = inputs.settle([measure])
    for term in settled.terms:
        check_needs(term, settled.sources)


def _is_there(path: str) -> bool:
    return path == "-" or path.startswith("ir_datasets:") or Path(path).exists()
