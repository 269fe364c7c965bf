"""Write one page a measure from its declaration, here and for the command ``evenrank measures``:
``python docs/build_measures.py``.

The pages are kept in the repository so that they can be read there; a test says when they are stale.
"""

from __future__ import annotations

from pathlib import Path

from evenrank.cli.measure_pages import FILE, all_pages
from evenrank.measures import Measure, all_measures

FOLDER = Path(__file__).parent / "measures"


def page(measure: type[Measure]) -> str:
    facts = measure.describe()
    example = measure()
    low, high = example.range()
    cutoff = "needed" if measure.needs_cutoff else "optional" if measure.takes_cutoff else "none"
    lines = [
        f"# {facts['name']}",
        "",
        facts["summary"],
        "",
        f"    {facts['formula']}",
        "",
        *([facts["text"], ""] if facts["text"] else []),
        f"- Family: {facts['family']}",
        f"- Direction: {facts['direction']}",
        f"- Range: {low:g} to {high:g}",
        f"- Over queries: {facts['aggregation']}",
        f"- Cut-off: {cutoff}",
        f"- Needs: {', '.join(f'`{need}`' for need in sorted(example.needs))}",
        f"- Reference: {facts['reference']}",
        "",
    ]
    if facts["parameters"]:
        lines += ["| parameter | default | must be | meaning |", "|---|---|---|---|"]
        for name, rule in facts["parameters"].items():
            lines.append(f"| `{name}` | `{rule['default']!r}` | {rule['must be']} | {rule['meaning']} |")
        lines.append("")
    lines.append("Undefined when")
    lines += [f"- *{reason}*: {meaning}" for reason, meaning in facts["undefined when"].items()]
    return "\n".join(lines) + "\n"


def index() -> str:
    lines = [
        "# Measures",
        "",
        "These pages are made from the declarations in the code. `evenrank measures NAME` prints the same.",
        "`evenrank measures gender` finds the measures that answer a question, in your own words.",
        "Every other measure of [ir_measures](https://ir-measur.es) is accepted by its name there.",
        "",
        "| measure | family | what it is |",
        "|---|---|---|",
    ]
    for name, measure in all_measures().items():
        lines.append(f"| [{name}]({name}.md) | {measure.family} | {measure.summary()} |")
    return "\n".join(lines) + "\n"


def pages() -> dict[str, str]:
    """The text of every file in the folder, by name."""
    return {"README.md": index()} | {f"{name}.md": page(cls) for name, cls in all_measures().items()}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    wanted = pages()
    for stale in {path.name for path in FOLDER.glob("*.md")} - set(wanted):
        (FOLDER / stale).unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    FILE.write_text(all_pages(), encoding="utf-8")


if __name__ == "__main__":
    main()
