"""The architecture: who may import whom, how light the package is, what is public."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

from promised import all_public_names, inner_names

import evenrank

TESTS = Path(__file__).parent
PACKAGE = Path(evenrank.__file__).parent

# the layer of each top-level module; a module may import its own layer's neighbours only where listed
LAYERS = {
    "_version": 0,
    "errors": 0,
    "modules": 0,
    "arrays": 1,
    "ids": 2,
    "text": 0,
    "files": 1,
    "grammar": 1,
    "tables": 2,
    "attention": 2,
    "data": 3,
    "io": 4,
    "stats": 4,
    "remote": 5,
    "evidence": 5,
    "measures": 6,
    "inputs": 7,
    "scores": 7,
    "evaluation": 8,
    "rerankers": 8,
    "erasure": 8,
    "engines": 8,
    "web": 8,
    "neural": 9,
    "explanation": 9,
    "verdict": 9,
    "comparison": 9,
    "plugins": 9,
    "testing": 9,
    "lexicons": 9,
    "systems": 10,
    "reporting": 10,
    "corpus": 11,
    "counterfactuals": 11,
    "wordlists": 11,
    "queryset": 11,
    "sample": 11,
    "scale": 11,
    "auditing": 12,
    "study": 12,
    "cli": 13,
}
# measures see arrays: of the layer below only the types that hold them
NOT_AT_ALL = {("measures", "io"), ("stats", "io"), ("stats", "evidence"), ("measures", "stats")}


@cache  # several tests look at all of them
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path) -> set[str]:
    tree = tree_of(path)
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            raise AssertionError(f"{path}: relative imports hide what is imported")
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            if node.module == "evenrank":
                names |= {f"evenrank.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("evenrank.")}


def test_every_module_has_a_layer() -> None:
    tops = {
        path.stem if path.suffix else path.name for path in PACKAGE.iterdir() if path.suffix in ("", ".py")
    }
    assert tops - {"__init__", "__main__", "__pycache__"} == set(LAYERS)


def test_imports_point_downwards() -> None:
    broken = []
    for path in PACKAGE.rglob("*.py"):
        own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if own in ("__init__", "__main__"):
            continue
        for other in imports(path) & set(LAYERS):
            allowed = LAYERS[other] < LAYERS[own] or other == own
            if not allowed or (own, other) in NOT_AT_ALL:
                broken.append(f"{path.relative_to(PACKAGE)} imports {other}")
    assert broken == []


def test_report_formats_and_computes_nothing() -> None:
    """Values, lines and correlations come from below; their types may be named."""
    broken = []
    for path in (PACKAGE / "reporting").rglob("*.py"):
        typing = {
            id(node)
            for block in ast.walk(tree_of(path))
            if isinstance(block, ast.If) and getattr(block.test, "id", "") == "TYPE_CHECKING"
            for node in ast.walk(block)
        }
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ImportFrom) and id(node) not in typing:
                module, names = node.module or "", {name.name for name in node.names}
                evaluates = module.startswith("evenrank.evaluation") and any(
                    name.startswith("evaluate") for name in names
                )
                if module.startswith("evenrank.stats") or evaluates:
                    broken.append(f"{path.relative_to(PACKAGE)} imports {', '.join(names)} of {module}")
    assert broken == []


def test_no_class_name_is_used_twice() -> None:
    homes: dict[str, list[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(str(path.relative_to(PACKAGE)))
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def modules_after(statement: str) -> set[str]:
    code = f"{statement}; import sys; sys.stdout.write(' '.join(sys.modules))"
    return set(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
    )


def test_importing_the_package_loads_nothing_heavy() -> None:
    loaded = modules_after("import evenrank")
    heavy = {"numpy", "polars", "pyarrow", "scipy", "pandas", "ir_measures", "pytrec_eval", "argparse"}
    assert loaded & heavy == set()


def test_evaluating_does_not_load_what_it_does_not_use() -> None:
    loaded = modules_after(
        "import evenrank; run = evenrank.Run.build(['q'], ['a'], [1.0]);"
        "evenrank.evaluate(run, 'RR', qrels=evenrank.Qrels.build(['q'], ['a'], [1]))"
    )  # pandas is not in this list: Arrow imports it, where it is installed, to convert Python lists
    assert loaded & {"scipy", "ir_measures", "pytrec_eval", "polars", "numba", "ir_datasets"} == set()


def test_help_and_the_page_of_a_measure_load_no_other_command_and_no_array_library() -> None:
    own = {
        "cli", "cli.commands", "cli.everywhere", "cli.parser", "cli.streams", "errors", "inputs",
        "cli.values", "inputs.file_options", "text",
        "_version",
    }  # fmt: skip
    for words, more in (
        ("--help", set()),
        (
            "measures GF@10",
            {
                "cli.measures",
                "cli.measure_pages",
                "cli.outputs",
                "cli.typed",
                "inputs.description",
                "inputs.group_options",
                "inputs.several_files",
            },
        ),
    ):
        loaded = modules_after(
            "import io, sys; shown, sys.stdout = sys.stdout, io.StringIO(); from evenrank.cli import main;"
            f"main({words.split()}); sys.stdout = shown"
        )
        ours = {name.removeprefix("evenrank.") for name in loaded if name.startswith("evenrank.")}
        assert ours - own == more
        assert loaded & {"numpy", "pyarrow", "polars", "scipy", "ir_measures"} == set()


def test_what_few_commands_need_is_not_loaded_with_re_rankers() -> None:
    loaded = modules_after("import evenrank.rerankers")
    assert loaded & {"scipy.stats", "scipy.optimize"} == set()


def test_importing_has_no_side_effects() -> None:
    code = """
import logging, os, sys, warnings
def state():
    loggers = sorted(logging.root.manager.loggerDict)
    return dict(os.environ), list(warnings.filters), list(logging.root.handlers), loggers
before = state()
import evenrank
after = state()
sys.exit(before != after)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_public_names() -> None:
    assert len(evenrank.__all__) < 60
    for name in evenrank.__all__:
        assert getattr(evenrank, name) is not None
    assert set(evenrank.__all__) <= set(dir(evenrank))


def test_typed_names_are_the_lazy_ones() -> None:
    """The names that a type checker sees are those that are loaded on first use."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    seen = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    (above,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "_ABOVE"
    )
    others = {"annotations", "find_spec", "import_module", "TYPE_CHECKING", "Any", "__version__", *above}
    assert seen - others == set(evenrank.__all__) - {"__version__"}


def test_no_pickle_eval_or_shell() -> None:
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names = {a.name for a in node.names} | {getattr(node, "module", None)}
                assert not names & {"pickle", "marshal", "shelve", "subprocess"}, path
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"eval", "exec", "print"}, path
            assert not isinstance(node, ast.Assert), f"{path}: validation by assert is gone under python -O"


STILL_INNER = {
    "test_contract.py": "names them as examples",
    "web/test_web.py": "that answers of a study are on the disk is not seen from outside",
}


def test_tests_use_public_names_only() -> None:
    """So that code may move: a test that breaks shows a promise to users that is broken."""
    public = all_public_names()
    found = {
        str(path.relative_to(TESTS)): names
        for path in TESTS.rglob("*.py")
        if (names := inner_names(path.read_text(encoding="utf-8"), public))
    }
    assert found.keys() == STILL_INNER.keys(), found


def test_inner_names_are_found_however_they_are_reached() -> None:
    code = """
import evenrank as er
import evenrank.io.counts
from evenrank import Run, attention
from evenrank.errors import DataError
from evenrank.testing import check_measure
er.evaluate(Run.build(["q"], ["a"], [1.0]), "RR").means["RR"]
er.errors.DataError, er.measures.base.Result, er._version
patch("evenrank.testing.measures.random_case", None)
script = "import evenrank; from evenrank.stats.tukey import tables; evenrank.evaluate; evenrank.neural.x"
"""
    assert inner_names(code, all_public_names()) == {
        "evenrank._version",
        "evenrank.attention",
        "evenrank.io.counts",
        "evenrank.measures.base",
        "evenrank.neural.x",
        "evenrank.stats.tukey.tables",
        "evenrank.testing.measures.random_case",
    }
