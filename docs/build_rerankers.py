"""Write one page a re-ranker from its declaration: ``python docs/build_rerankers.py``.

The pages are kept in the repository so that they can be read there; a test says when they are stale.
"""

from __future__ import annotations

from pathlib import Path

from evenrank.rerankers import all_rerankers
from evenrank.rerankers.base import Reranker

FOLDER = Path(__file__).parent / "rerankers"


def page(reranker: type[Reranker]) -> str:
    facts = reranker.describe()
    lines = [
        f"# {facts['name']}",
        "",
        facts["summary"],
        "",
        *([facts["text"], ""] if facts["text"] else []),
        f"- Needs: {'; '.join(facts['needs']) or 'nothing beside the run'}",
        f"- Documents of the new list: {facts['documents']}",
        f"- Leaves something to chance: {'yes, by its seed (`--repeat`)' if facts['random'] else 'no'}",
        "- Cut-off: optional; with it only so many ranks change",
        f"- Reference: {facts['reference']}",
        "",
    ]
    if facts["parameters"]:
        lines += ["| parameter | default | must be | meaning |", "|---|---|---|---|"]
        for name, rule in facts["parameters"].items():
            lines.append(f"| `{name}` | `{rule['default']!r}` | {rule['must be']} | {rule['meaning']} |")
        lines.append("")
    return "\n".join(lines)


def index() -> str:
    lines = [
        "# Re-rankers",
        "",
        "These pages are made from the declarations in the code; `evenrank rerank --with` prints the same.",
        "How they are used: [the guide](../guides/rerank.md). What each does to fairness and to utility:",
        "[the table](../reproductions/rerankers.md).",
        "",
        "| re-ranker | needs | what it does |",
        "|---|---|---|",
    ]
    for name, cls in all_rerankers().items():
        facts = cls.describe()
        lines.append(
            f"| [{name}]({name}.md) | {'; '.join(facts['needs']) or 'the run'} | {facts['summary']} |"
        )
    return "\n".join(lines) + "\n"


def pages() -> dict[str, str]:
    """The text of every file in the folder, by name."""
    return {"README.md": index()} | {f"{name}.md": page(cls) for name, cls in all_rerankers().items()}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    wanted = pages()
    for stale in {path.name for path in FOLDER.glob("*.md")} - set(wanted):
        (FOLDER / stale).unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
