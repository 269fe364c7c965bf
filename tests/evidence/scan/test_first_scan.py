"""The first scan on a machine: what is not compiled yet is compiled once, and changes no count."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evenrank.evidence.scan import scan_file

pytestmark = pytest.mark.needs("numba")

TEXTS = ["She saw his mother in law.", "\u0130 he HE \u00e9t\u00e9", "", "nobody", "her\u00a0his \u03a3he"]


@pytest.mark.slow
def test_the_file_is_the_same_whichever_way_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part by plain Python and the rest by what was compiled meanwhile, or all by one of them."""
    monkeypatch.chdir(tmp_path)
    texts = [f"{TEXTS[number % 5]} {'he ' * 320}" for number in range(18_000)]
    Path("c.tsv").write_text("".join(f"{number}\t{text}\n" for number, text in enumerate(texts)))
    rows = [json.dumps({"id": str(number), "text": text}) for number, text in enumerate(texts)]
    Path("c.jsonl").write_text("\n".join(rows))
    code = """
import sys
if sys.argv[1] == "plain":
    sys.modules["numba"] = None
from evenrank.evidence.scan import scan_file
for form in ("jsonl", "tsv"):
    scan_file(f"c.{form}", "gender-en", f"{sys.argv[1]}.{form}.parquet", terms=True)
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "numba")}
    for way in ("first", "second", "plain"):
        subprocess.run([sys.executable, "-c", code, way], check=True, capture_output=True, env=environment)
    for form in ("jsonl", "tsv"):
        scan_file(f"c.{form}", "gender-en", f"here.{form}.parquet", terms=True)
        assert len({file.read_bytes() for file in tmp_path.glob(f"*.{form}.parquet")}) == 1


def test_a_small_collection_needs_no_compiler(tmp_path: Path) -> None:
    """Neither from a file nor from a list, and with the hash of the file."""
    (tmp_path / "c.tsv").write_text("".join(f"{n}\t{text}\n" for n, text in enumerate(TEXTS, 1)))
    code = """
import sys, evenrank
evenrank.scan([("a", "he and she")], "gender-en")
evenrank.scan("c.tsv", "gender-en", "o.parquet")
sys.exit("numba" in sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
