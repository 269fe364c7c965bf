"""Everything that the documents show is run."""

from __future__ import annotations

import ast
import doctest
import importlib
import pkgutil
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import study_walks
from documents import all_blocks, blocks, commands_of, expanded, is_project, lines_of
from effort import some
from promised import WHOLE, all_public_names, public_names

import evenrank
from evenrank.cli import main

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")])
SHOWN = re.compile(r"^```\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)  # right below another block


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def pages_with_blocks() -> list[object]:
    """Of ``make test`` the README; ``make test-full`` runs the others."""
    pages = [page for page in PAGES if blocks(page, "sh") or blocks(page, "python")]
    return some(sorted(pages, key=lambda page: page != README))


@pytest.mark.parametrize("page", pages_with_blocks(), ids=name)
def test_blocks_run_and_print_what_stands_below_them(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """In an empty folder, those of the shell one after the other, then those of Python as one script."""
    monkeypatch.chdir(tmp_path)
    found = all_blocks(page)
    printed = ""
    for kind, text in found:
        if is_project(kind, text):
            Path("evenrank.toml").write_text(text, encoding="utf-8")
        if kind == "sh":
            printed += "".join(run_line(line, monkeypatch, capfd) for line in lines_of(text))
    if code := "\n".join(text for kind, text in found if kind == "python"):
        script = tmp_path / "page.py"
        script.write_text(code, encoding="utf-8")
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        printed += done.stdout
    for shown in SHOWN.findall(page.read_text(encoding="utf-8")):
        assert shown in printed


def run_line(line: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> str:
    """Run a line of a shell, here in this process, and return what it printed."""
    words = shlex.split(line, comments=True)
    if words[0] == "make":
        assert re.search(f"^{words[1]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE), line
    elif words[0] == "mkdir":
        Path(words[1]).mkdir()
    elif words[0] == "cd":
        monkeypatch.chdir(words[1])
    elif words[:3] == ["evenrank", "study", "serve"]:
        study_walks.serve_and_visit(Path(words[3]))
    elif words[0] == "python":
        subprocess.run([sys.executable, *words[1:]], check=True)
    else:
        assert words[0] == "evenrank", line
        code = main([found for word in words[1:] for found in expanded(word, Path())])
        out, err = capfd.readouterr()
        assert code == 0, f"{line}: {err}"
        assert out or "wrote" in err, line
        return out
    return ""


@pytest.mark.parametrize("page", [page for page in PAGES if commands_of(page)], ids=name)
def test_every_command_of_a_page_is_understood(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Those of blocks that are not run, too: each command, action, option and value is one that there is.

    Nothing that they name is there, nor is a project file, so that they end when they have been understood.
    """
    for number, words in enumerate(commands_of(page)):
        if "--accuracy" in words:  # of the shipped corpus, which takes long
            continue
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        main([*(word for word in words[1:] if word != "..."), "--project", "none.toml"])
        assert "(try: evenrank" not in capfd.readouterr().err, shlex.join(words)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if not target.startswith("https://"):
            assert (page.parent / target).exists(), target


def test_measure_pages_are_up_to_date() -> None:
    """Those of the documents, and those that the command prints."""
    builder = runpy.run_path(str(ROOT / "docs/build_measures.py"))
    there = {page.name: page.read_text(encoding="utf-8") for page in (ROOT / "docs/measures").glob("*.md")}
    assert there == builder["pages"](), "run python docs/build_measures.py"
    assert builder["FILE"].read_text(encoding="utf-8") == builder["all_pages"](), (
        "run python docs/build_measures.py"
    )


def test_reranker_pages_are_up_to_date() -> None:
    built = runpy.run_path(str(ROOT / "docs/build_rerankers.py"))["pages"]()
    there = {page.name: page.read_text(encoding="utf-8") for page in (ROOT / "docs/rerankers").glob("*.md")}
    assert there == built, "run python docs/build_rerankers.py"


def test_the_readme_is_short_and_its_picture_is_there() -> None:
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 120
    (picture,) = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)
    assert (ROOT / picture).read_bytes().startswith(b"\x89PNG")
    guide = (ROOT / "docs/guides/shop.md").read_text(encoding="utf-8")
    ((share, seen),) = re.findall(r"are (\d+)% of the catalogue but get (\d+)% of the attention", text)
    sentence = f"small is {share}% of the catalogue but gets {seen}% of the attention in the first 10 places"
    assert sentence in " ".join(guide.split())


def test_the_citation_is_of_this_version() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    keys = dict(re.findall(r'^([\w-]+): *"?(.*?)"?$', text, re.MULTILINE))
    assert keys.keys() >= {"cff-version", "message", "title", "authors", "license", "abstract"}
    assert (keys["cff-version"], keys["version"]) == ("1.2.0", evenrank.__version__)


MODULES = [
    module.name
    for module in pkgutil.walk_packages(evenrank.__path__, "evenrank.")
    if not module.name.startswith(("evenrank.plugins", "evenrank.__main__"))
]


@pytest.mark.parametrize("module", MODULES)
def test_docstring_examples(module: str) -> None:
    if module.startswith("evenrank.neural"):
        pytest.importorskip("torch", reason="needs pip install '.[train]'")
    assert doctest.testmod(importlib.import_module(module)).failed == 0


@pytest.mark.slow
def test_the_architecture_is_up_to_date() -> None:
    built = runpy.run_path(str(ROOT / "docs/build_architecture.py"))
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    stale = "run python docs/build_architecture.py"
    assert built["picture"]() == (ROOT / "docs/architecture.svg").read_text(encoding="utf-8"), stale
    assert built["page"](page) == page, stale
    assert built["reduced"]({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == {"a": ["b"], "b": ["c"], "c": []}


def names_by_module() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for given in set(public_names()) - WHOLE:
        module, _, own = given.rpartition(".")
        found.setdefault(module, set()).add(own)
    return found


def test_every_public_name_has_one_stability() -> None:
    stated = public_names()
    assert len(stated) == len(set(stated))
    assert set(stated) > WHOLE


@pytest.mark.parametrize("module", sorted({*names_by_module(), *WHOLE}))
def test_what_is_promised_is_there_and_nothing_else(module: str) -> None:
    """What a module declares as its own, ``__all__``, is promised by name here, or at the top."""
    if module.startswith("evenrank.plugins."):
        pytest.importorskip("pandas")
    loaded = importlib.import_module(module)
    promised = names_by_module().get(module, set())
    for own in promised:
        assert hasattr(loaded, own)
    declared = set(getattr(loaded, "__all__", promised))
    assert promised <= declared
    if module == "evenrank":
        assert promised == declared
    if module not in WHOLE:
        assert {
            own for own in declared - promised if getattr(evenrank, own, None) is not getattr(loaded, own)
        } == set()


def test_the_guides_use_public_names_only() -> None:
    used = set()
    for page in PAGES:
        for text in blocks(page, "python"):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "evenrank":
                    used |= {(page.name, f"{node.module}.{alias.name}") for alias in node.names}
                if (
                    isinstance(node, ast.Attribute)
                    and isinstance(node.value, ast.Name)
                    and node.value.id == "er"
                ):
                    used.add((page.name, f"evenrank.{node.attr}"))
    public = all_public_names()
    assert {(page, name) for page, name in used if name not in public} == set()
