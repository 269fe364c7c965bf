"""The tables of two reproduction pages, from the data to the page:

    python benchmarks/audit_tables.py DATA [FOLDER]

DATA is a folder with msmarco_trecdl, pair_wikibalance_audit and touche22_task2. FOLDER (default: audits)
keeps runs, vectors and scores: a run that is there is not made again, so that the command continues where it
ended. The dense system mpnet is read from FOLDER/mpnet. Every table of pair-audit.md and texfair-table1.md in
docs/reproductions stands below a comment that names it, and is replaced; the exit status is 1 where a page
changed.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import os
import re
import runpy
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

os.environ.setdefault("OMP_NUM_THREADS", "1")

from evenrank.cli import main
from evenrank.comparison.audits import marked, methods_view
from evenrank.tables import cells, number

BENCHMARKS = Path(__file__).parent
PAGES = BENCHMARKS.parent / "docs" / "reproductions"
MARK = "<!-- audit_tables.py: {} -->"
BIAS = "nDCG@1 nDCG@10 rND(min_grade=1)@10 rKL(min_grade=1)@10 DUO(min_grade=1)@10"
DUO = "DUO(min_grade=1)@10"


class System(NamedTuple):
    """What a system is called in tables, its class, and the term that ``evenrank retrieve`` takes."""

    label: str
    kind: str
    term: str = ""


AUDITED = {
    "bm25": System("BM25", "lexical", "BM25"),
    "rm3": System("RM3", "lexical", "RM3"),
    "tantivy": System("Tantivy (stemmed)", "lexical", "Tantivy(analyzer=stemmed)"),
    "wordllama": System("wordllama", "dense", "Dense(model=wordllama)"),
    "minilm": System("MiniLM", "dense", "Dense(model=minilm)"),
    "mpnet": System("mpnet", "dense", "Dense(model='{folder}/mpnet')"),
    "maxsim": System("MaxSim over MiniLM", "late interaction", "LateInteraction(model=minilm)"),
    "nanoranker": System("Nanoranker (BM25 first)", "re-ranker", "Nanoranker(depth=100)"),
    "rrf": System("RRF(BM25 wordllama)", "fusion", "RRF(BM25,Dense(model=wordllama))"),
}
GIVEN = {
    "BM25": System("BM25", "lexical"),
    "BM25_RM3": System("BM25+RM3", "lexical"),
    "SPLADE_P_P_ENSEMBLE_DISTIL": System("SPLADE++", "sparse"),
    "D_BERT_KD_TASB": System("TAS-B", "dense"),
    "OPEN_AI_ADA2": System("Ada2", "dense"),
    "REP_LLAMA": System("RepLLaMA", "dense"),
}
OWN = {
    "bm25": System("BM25 (passages)", "lexical", "BM25@100"),
    "rm3": System("RM3 (passages)", "lexical", "RM3@100"),
    "tantivy": System("Tantivy stemmed (passages)", "lexical", "Tantivy(analyzer=stemmed)@100"),
    "wordllama": System("wordllama (passages)", "dense", "Dense(model=wordllama)@100"),
    "minilm": System("MiniLM (passages)", "dense", "Dense(model=minilm)@100"),
    "rrf": System("RRF(BM25 wordllama) (passages)", "fusion", "RRF(BM25,Dense(model=wordllama))@100"),
}
FAIR = {
    "BM25": System("BM25", "lexical"),
    "RM3": System("RM3 PRF", "lexical"),
    "match_pyramid": System("MP", "re-ranker"),
    "knrm": System("KNRM", "re-ranker"),
    "conv_knrm": System("C-KNRM", "re-ranker"),
    "tk": System("TK", "re-ranker"),
    "bert_L2": System("BERT L2", "re-ranker"),
    "advbert_L2": System("BERT ADV L2", "re-ranker"),
    "bert_L4": System("BERT L4", "re-ranker"),
    "advbert_L4": System("BERT ADV L4", "re-ranker"),
}
ENCODERS = {"MiniLM": "minilm", "wordllama": "wordllama", "GloVe": "glove"}


def command(*words: object) -> str:
    """What a command of evenrank prints."""
    given = [str(word) for word in words]
    print("evenrank", *given[:6], "..." if len(given) > 6 else "", file=sys.stderr)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        status = main(given if "--project" in given else [*given, "--no-project"])
    if status:
        raise SystemExit(f"evenrank {given[0]} ended with {status}")
    return printed.getvalue()


def retrieved(folder: Path, work: Path, systems: Mapping[str, System], documents: Path) -> Path:
    """The runs of these systems in folder/runs, for folder/queries.tsv."""
    for name, system in systems.items():
        run = folder / "runs" / f"{name}.trec"
        if not run.is_file():
            term = system.term.format(folder=work)
            command("retrieve", term, "--documents", documents, "--queries", folder / "queries.tsv",
                    "-o", run, "--cache", work / "cache")  # fmt: skip
    return folder / "runs"


def described(file: Path, *lines: str) -> list[str]:
    """A project file with these lines, as the command line takes it."""
    file.write_text("\n".join(lines), encoding="utf-8")
    return ["--project", str(file)]


def named(systems: Mapping[str, System], path: Callable[[str], Path]) -> list[str]:
    """Runs as a project file has them, with label and class."""
    return [
        f"data.runs.{json.dumps(system.label)} = {{ file = {json.dumps(str(path(name).absolute()))}, "
        f"class = {json.dumps(system.kind)} }}"
        for name, system in systems.items()
    ]


def labels(file: Path, positive: str, negative: str, more: str) -> str:
    """Labels as polarity, as a project file has them."""
    return (
        f"data.polarity = {{ file = {json.dumps(str(file.absolute()))}, positive = {json.dumps(positive)}, "
        f"negative = {json.dumps(negative)}, {more} }}"
    )


@contextlib.contextmanager
def three_decimals() -> Iterator[None]:
    """Values in tables with three decimals, as pages have room for, and not rounded twice; p keeps four."""

    def shorter(value: float | None, **settings: Any) -> str:
        text = number(value, **settings)
        return re.sub(r"\d+\.\d{4}$", f"{abs(value or 0.0):.3f}", text)

    def ends(low: float, high: float, **settings: Any) -> str:
        settings.pop("undefined", None)
        return "" if math.isnan(low) else f"[{shorter(low, **settings)}, {shorter(high, **settings)}]"

    with contextlib.ExitStack() as patches:
        for module in (cells, methods_view, marked):
            patches.enter_context(mock.patch.object(module, "number", shorter))
        patches.enter_context(mock.patch.object(cells, "interval", ends))
        yield


def markdown(*words: object) -> list[str]:
    """The tables that ``compare`` prints: three decimals, without what every heading repeats."""
    with three_decimals():
        text = command("compare", *words, "--format", "markdown")
    text = text.replace(r"min\_grade", "min_grade").replace("(step=2,min_grade=1)", ", step 2")
    text = text.replace("(min_grade=1)", "").replace(" :--- ", " --- ").replace(" ---: ", " --- ")
    parts = re.split(r"\n(?!\|)", text)
    return [part[part.index("|") :].strip() for part in parts if "|" in part and "---" in part]


def scored(*corpora: tuple[str, Path]) -> list[str]:
    return [word for name, path in corpora for word in ("--scores", f"{name}={path}")]


def columns(table: str, kept: Iterable[int]) -> str:
    """Some columns of a table."""
    places = list(kept)
    rows = [line.strip().strip("|").split("|") for line in table.splitlines()]
    return "\n".join("|" + "|".join(row[place] for place in places) + "|" for row in rows)


def balance_tables(data: Path, work: Path) -> dict[str, str]:
    prepare = runpy.run_path(str(BENCHMARKS / "audits.py"))
    prepare["balance"](work)
    prepare["audit"](work, data / "pair_wikibalance_audit")
    scores = {}
    for name in ("balance", "with-distractors", "audit44"):
        folder, scores[name] = work / name, work / f"{name}.jsonl"
        systems = {key: one for key, one in AUDITED.items() if (name, key) != ("audit44", "mpnet")}
        runs = retrieved(folder, work, systems, folder / "documents.tsv")
        lines = named(systems, lambda key, runs=runs: runs / f"{key}.trec")
        sides = labels(folder / "sides.csv", "p1", "p2", 'column = "side"')
        command("evaluate", *described(work / f"{name}.toml", *lines, sides),
                "--qrels", folder / "qrels.txt", "-m", BIAS, "-o", scores[name])  # fmt: skip
    both = scored(("balance", scores["balance"]), ("distractors", scores["with-distractors"]))
    (systems_table,) = markdown(*both, "--view", "systems")
    (orders,) = markdown(*both, "--view", f"orders:{DUO}")
    (agreement,) = markdown(*scored(("balance", scores["balance"])), "--view", "agreement")
    domains = markdown(*scored(("balance", scores["balance"])), "--by", work / "balance" / "domains.csv",
                       "--view", f"domains:{DUO}")  # fmt: skip
    (audit,) = markdown(*scored(("audit44", scores["audit44"])), "--view", "systems")
    return {
        "systems": columns(systems_table, range(7)),
        "systems with distractors": columns(systems_table, [0, 1, *range(7, 12)]),
        "orders": orders,
        "agreement": agreement,
        "domains": "\n\n".join(domains),
        "the 44 questions": audit,
        **encoder_tables(work),
        **audit_orders(work, scores["audit44"]),
    }


def vectors_of(work: Path, encoder: str) -> str:
    """What ``polarise --encoder`` takes: vectors of all documents in FOLDER/vectors, or a model."""
    kept = work / "vectors" / f"{encoder}.parquet"
    if kept.is_file() or encoder != "glove":
        return str(kept) if kept.is_file() else encoder
    import pyarrow as pa
    import pyarrow.parquet as pq

    from evenrank.corpus import read_balance

    made = runpy.run_path(str(BENCHMARKS / "balance.py"))["glove"]()
    corpus = read_balance()
    texts = {record["document"]: record["text"] for record in (*corpus.documents, *corpus.distractors)}
    kept.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(
        pa.table({"document": list(texts), "vector": made.encode(list(texts.values())).tolist()}), kept
    )
    return str(kept)


def encoder_tables(work: Path) -> dict[str, str]:
    """DUO by labels and by the axis of each encoder, as it is and without the direction of distractors."""
    folder = work / "balance"
    polarities = {"labels": labels(folder / "sides.csv", "p1", "p2", 'column = "side"')}
    for label, encoder in ENCODERS.items():
        given = ["polarise", "balance-en", "--encoder", vectors_of(work, encoder), "--cache", work / "cache"]
        for suffix, further in (("", []), (" without distractors", ["--distractors", "balance-en"])):
            written = work / f"{encoder}{suffix.replace(' ', '-')}.parquet"
            command(*given, *further, "-o", written)
            polarities[label + suffix] = f"data.polarity = {json.dumps(str(written.absolute()))}"
    files = []
    for label, polarity in polarities.items():
        files.append((label, work / f"duo-{label.replace(' ', '-')}.jsonl"))
        lines = named(AUDITED, lambda key: folder / "runs" / f"{key}.trec")
        command("evaluate", *described(work / "encoder.toml", *lines, polarity),
                "--qrels", folder / "qrels.txt",
                "-m", f"{DUO} DUO(step=2,min_grade=1)@10", "-o", files[-1][1])  # fmt: skip
    plain = [one for one in files if "without" not in one[0]]
    (steps,) = markdown(*scored(*plain), "--view", "systems")
    (orders,) = markdown(*scored(*files), "--view", f"orders:{DUO}")
    return {
        "steps": re.sub(r" \[0\.\d+, [01]\.\d+\]", "", steps),
        "orders of encoders": orders,
    }


def audit_orders(work: Path, labels: Path) -> dict[str, str]:
    """The same lines for the 44 questions; distractors are the documents of questions with one side."""
    folder = work / "audit44"
    with (folder / "sides.csv").open(encoding="utf-8", newline="") as file:
        judged = {row["document"] for row in csv.DictReader(file)}
    rows: dict[bool, list[tuple[str, str, str, str]]] = {True: [], False: []}
    for line in (folder / "documents.tsv").read_text(encoding="utf-8").splitlines():
        document, text = line.split("\t", 1)
        page, number, side, _ = document.split("_")
        rows[document in judged].append((f"{page}_{number}", document, side, text))
    for name, kept in (("fit", rows[True]), ("others", rows[False])):
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("query", "document", "perspective", "text"), *kept])
    systems = {key: one for key, one in AUDITED.items() if key != "mpnet"}
    files = [("labels", labels)]
    for suffix, further in (("", []), (" without distractors", ["--distractors", folder / "others.csv"])):
        polarity = folder / f"minilm{suffix.replace(' ', '-')}.parquet"
        command("polarise", folder / "fit.csv", "--encoder", "minilm", "--cache", work / "cache",
                *further, "-o", polarity)  # fmt: skip
        files.append((f"MiniLM{suffix}", folder / f"duo{suffix.replace(' ', '-')}.jsonl"))
        lines = named(systems, lambda key: folder / "runs" / f"{key}.trec")
        command("evaluate", *described(work / "systems.toml", *lines),
                "--qrels", folder / "qrels.txt", "--polarity", polarity, "-m", DUO,
                "-o", files[-1][1])  # fmt: skip
    (orders,) = markdown(*scored(*files), "--view", f"orders:{DUO}")
    return {"orders of the 44 questions": orders}


def touche_tables(data: Path, work: Path) -> dict[str, str]:
    folder, scores = data / "touche22_task2", work / "touche.jsonl"
    judged = folder / "qrels"
    runs = sorted((folder / "runs").glob("*.txt"))
    stances = judged / "touche-task2-2022-stance.qrels"
    sides = labels(stances, "FIRST", "SECOND", 'neutral = ["NEUTRAL", "NO"]')
    command("evaluate", *(f"{path.name.partition('.')[0]}={path}" for path in runs),
            *described(work / "touche.toml", sides), "--missing", "drop", "-o", scores,
            "--qrels", judged / "touche-task2-2022-relevance.qrels",
            "-m", "nDCG@1 nDCG@10 rND@10 rKL@10 DUO@10")  # fmt: skip
    (table,) = markdown(*scored(("touche", scores)), "--view", "systems")
    (agreement,) = markdown(*scored(("touche", scores)), "--view", "agreement")
    return {"touche": re.sub(r" \[[01]\.\d+, [01]\.\d+\]", "", table), "touche agreement": agreement}


def methods_tables(data: Path, work: Path) -> dict[str, str]:
    source = data / "msmarco_trecdl"
    counts = work / "counts.parquet"
    if not counts.is_file():
        command("scan", source / "passages.tsv", "--lexicon",
                source / "wordlist_gender_representative.txt", "-o", counts)  # fmt: skip
    asked = [line.split("\t") for line in (source / "queries.tsv").read_text(encoding="utf-8").splitlines()]
    files, published = [], source / "runs_rankllm"
    for year in ("dl19", "dl20"):
        folder = work / year
        folder.mkdir(parents=True, exist_ok=True)
        lines = [f"{query}\t{text}\n" for own, query, text in asked if own == year]
        (folder / "queries.tsv").write_text("".join(lines), encoding="utf-8")
        runs = retrieved(folder, work, OWN, source / "passages.tsv")
        files.append((year.upper(), work / f"{year}.jsonl"))
        lines = named(GIVEN, lambda key, year=year: published / f"{key}.{year}.trec")
        lines += named(OWN, lambda key, runs=runs: runs / f"{key}.trec")
        command("evaluate", *described(work / f"{year}.toml", *lines),
                "--qrels", source / f"qrels.{year}-passage.txt", "--words", counts,
                "--background", f"{published}/BM25.{year}.trec:depth=100", "--missing", "neutral",
                "-m", "RR(rel=2)@10 nDCG@10 NFaiRR@10 TExFAIR@10", "-o", files[-1][1])  # fmt: skip
    (methods,) = markdown(*scored(*files), "--view", "methods", "--baseline", "BM25")
    (agreement,) = markdown(*scored(*files), "--view", "agreement")
    lines = agreement.splitlines()
    between = [*lines[:2], *(line for line in lines if "DL19" in line and "DL20" in line)]
    return {
        "methods": methods,
        "methods between sets": "\n".join(between),
        **fair_tables(source, work, counts),
    }


def fair_tables(source: Path, work: Path, counts: Path) -> dict[str, str]:
    """The ten published runs on the fair subset, and the same with the judged relevant documents first."""
    given = source / "runs_cpjku_dl19fair"
    common = ["--qrels", source / "qrels.dl19-passage.txt", "--words", counts, "--background",
              f"{given}/BM25.run", "--queries", source / "trecdeep19_passage.fair.tsv", "--missing",
              "neutral"]  # fmt: skip
    first = work / "qrels-first"
    for name in FAIR:
        if not (first / f"{name}.run").is_file():
            first.mkdir(parents=True, exist_ok=True)
            command("rerank", given / f"{name}.run", "--with", "Oracle(insert=True)", "--qrels",
                    source / "qrels.dl19-passage.txt", "-o", first / f"{name}.run")  # fmt: skip
    fair, changed = work / "fair.jsonl", work / "fair-qrels.jsonl"
    lines = named(FAIR, lambda key: given / f"{key}.run")
    command("evaluate", *described(work / "fair.toml", *lines), *common, "-o", fair,
            "-m", "RR(rel=2)@10 nDCG@10 NFaiRR@10 TExFAIR@10")  # fmt: skip
    lines = named(FAIR, lambda key: first / f"{key}.run")
    command("evaluate", *described(work / "changed.toml", *lines), *common, "-o", changed,
            "-m", "NFaiRR@10")  # fmt: skip
    (methods,) = markdown(*scored(("fair", fair)), "--view", "methods", "--baseline", "BM25")
    over = "BERT ADV L2>BERT L2,BERT ADV L4>BERT L4"
    (changes,) = markdown(*scored(("DLfair", fair), ("DLfair+QRels", changed)),
                          "--view", f"changes:NFaiRR@10:over={over}", "--baseline", "BM25")  # fmt: skip
    return {"fair subset": methods, "changes": changes}


def replaced(page: str, tables: Mapping[str, str]) -> str:
    """The page with these tables below their marks; a table that the page has no mark for is not shown."""
    for name, table in tables.items():
        mark = MARK.format(name)
        before, found, after = page.partition(mark + "\n")
        if found:
            rest = re.sub(r"\A(\n*\|[^\n]*\n)+", "", after)
            page = f"{before}{mark}\n\n{table}\n{rest}"
    return page


def build(arguments: Sequence[str]) -> int:
    data = Path(arguments[0])
    work = Path(arguments[1] if len(arguments) > 1 else "audits")
    work.mkdir(parents=True, exist_ok=True)
    pages = {
        "pair-audit.md": {**balance_tables(data, work), **touche_tables(data, work)},
        "texfair-table1.md": methods_tables(data, work),
    }
    changed = False
    for name, tables in pages.items():
        path = PAGES / name
        page = path.read_text(encoding="utf-8")
        for table in tables:
            if MARK.format(table) not in page:
                print(f"{name} does not show: {table}\n{tables[table]}", file=sys.stderr)
        new = replaced(page, tables)
        changed = changed or new != page
        path.write_text(new, encoding="utf-8")
        print(f"{name}: {'changed' if new != page else 'as it was'}")
    return int(changed)


if __name__ == "__main__":
    sys.exit(build(sys.argv[1:]))
