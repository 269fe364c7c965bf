"""How large a report of a thousand queries of ten systems is, and how fast it opens and changes systems.

``python benchmarks/report.py NEW.html [OLD.html] [--times 5]`` opens the files in turn in Chromium with the
processor slowed down fourfold, as a slow laptop has it. ``--write NEW.html`` makes the report first. A report
of another version is made by that version's ``tests/support/pages.py``.

Reported is the fastest of all times, which other work on the machine disturbs least: seconds until the
queries can be used, the processor's part of it, and seconds from choosing another system until the list is
drawn.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SLOWER = 4
SYSTEMS = (3, 7, 2)
LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd / 1000"
SWITCH = """async system => {
    const chosen = document.getElementById("choose-system");
    const began = performance.now();
    chosen.value = String(system);
    chosen.dispatchEvent(new Event("change"));
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0))));
    return (performance.now() - began) / 1000;
}"""


def opened(playwright: Any, path: Path) -> tuple[float, float, float]:
    """Seconds to load, seconds of the processor in that, and the median seconds to change the system."""
    browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    tools = context.new_cdp_session(page)
    tools.send("Performance.enable", {"timeDomain": "threadTicks"})
    tools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    page.goto(path.resolve().as_uri(), timeout=300_000)
    load = page.evaluate(LOADED)  # the scripts have run, and the first queries stand there
    metrics = {one["name"]: one["value"] for one in tools.send("Performance.getMetrics")["metrics"]}
    switches = [page.evaluate(SWITCH, system) for system in SYSTEMS]
    browser.close()
    return load, metrics["TaskDuration"], statistics.median(switches)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="make the first file before it is opened")
    arguments = parser.parse_args()
    if arguments.write:
        sys.path.insert(0, str(ROOT / "tests/support"))
        import pages

        pages.large_report(arguments.files[0])
    from playwright.sync_api import sync_playwright

    found: dict[Path, list[tuple[float, float, float]]] = {path: [] for path in arguments.files}
    with sync_playwright() as playwright:
        for _ in range(arguments.times):
            for path in arguments.files:  # in turn, so that both see the same machine
                found[path].append(opened(playwright, path))
    sys.stdout.write("| file | MB | load, s | processor, s | change of system, s |\n|---|---|---|---|---|\n")
    for path, rows in found.items():
        load, processor, switch = (min(column) for column in zip(*rows, strict=True))
        size = path.stat().st_size / 1e6
        sys.stdout.write(f"| {path.name} | {size:.1f} | {load:.2f} | {processor:.2f} | {switch:.3f} |\n")


if __name__ == "__main__":
    main()
