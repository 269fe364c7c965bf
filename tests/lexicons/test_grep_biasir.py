"""What word lists see of texts that people labelled; the table is in docs/reproductions."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from evenrank import Lexicon, read_lexicon, scan

LABELS = {"M": "male", "F": "female", "N": "nobody"}
PAGE = Path(__file__).resolve().parents[2] / "docs/reproductions/grep-biasir.md"


def rows(shared: Path) -> list[tuple[str, str]]:
    found: list[dict[str, str]] = []
    for path in sorted((shared / "data/grepbiasir").glob("queries-documents_*.csv")):
        with path.open(encoding="utf-8-sig", newline="") as file:
            found += csv.DictReader(file)
    assert len(found) == 702
    return [
        (f"{row['doc_title']} {row['document']}", LABELS[row["content_gender"].strip()])
        for row in found
        if row["content_gender"].strip() in LABELS  # five are labelled as both
    ]


def sides(name: str, female: Iterable[str], male: Iterable[str]) -> Lexicon:
    """A published list of two sides; what it has on both is in neither."""
    one, other = ({word.strip().lower().replace("_", " ") for word in own} for own in (female, male))
    return Lexicon.build(name, {"female": sorted(one - other), "male": sorted(other - one)})


def published(shared: Path, name: str) -> Lexicon:
    folder = shared / "data/gender_lexicons"
    if name == "nfairc-advbert-2021":
        file = shared / "data/msmarco_trecdl/wordlist_gender_representative.txt"
    elif name == "Rekabsaz and Schedl 2020":
        file = folder / "rekabsaz2020_wordlist_genderspecific.txt"
    elif name == "GN-GloVe":
        texts = [(folder / f"gn_glove_{side}_word_file.txt").read_text() for side in ("female", "male")]
        return sides(name, *(text.splitlines() for text in texts))
    elif name == "counterfactual data substitution":
        pairs = json.loads((folder / "cds_cda_default_pairs.json").read_text())
        return sides(name, [pair[1] for pair in pairs], [pair[0] for pair in pairs])
    else:
        pairs = json.loads((folder / "debiaswe_definitional_pairs.json").read_text())
        return sides(name, *zip(*pairs, strict=True))
    words = read_lexicon(file)
    names = {group[0]: words.words(group) for group in words.groups}
    return sides(name, names["f"], names["m"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "gender-en", "gender-en+gender-en-names", "nfairc-advbert-2021", "Rekabsaz and Schedl 2020",
        "GN-GloVe", "counterfactual data substitution", "definitional pairs of debiaswe",
    ],
)  # fmt: skip
def test_every_list_as_on_the_page(shared: Path, name: str) -> None:
    lexicon = read_lexicon(name) if name.startswith("gender-en") else published(shared, name)
    labelled = rows(shared)
    counts = scan([(str(place), text) for place, (text, _) in enumerate(labelled)], lexicon).counts
    most = counts.max(axis=1)
    leads = np.where(counts[:, 0] == most, "female", "male")
    leads = np.where((counts == most[:, None]).all(axis=1), np.where(most == 0, "nobody", "tie"), leads)
    (line,) = [
        line
        for line in PAGE.read_text("utf-8").splitlines()
        if re.match(rf"\| `?{re.escape(name)}`?[ ,]", line)
    ]
    cells = [cell.strip() for cell in line.split("|")[2:-1]]
    expected = [str(len(lexicon.words(group))) for group in ("female", "male")]
    for label in ("male", "female", "nobody"):
        own = leads[np.array([given for _, given in labelled]) == label]
        expected.append(share_with_interval(int((own == label).sum()), len(own)))
    assert cells == expected


def share_with_interval(right: int, texts: int) -> str:
    """Wilson's interval of 95%."""
    low, high = scipy.stats.binomtest(right, texts).proportion_ci(method="wilson")
    return f"{right}, {right / texts:.1%} [{100 * low:.1f}, {100 * high:.1f}]"
