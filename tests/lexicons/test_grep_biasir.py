"""What word lists see of texts that people labelled; the table is in docs/reproductions."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from evenrank import Lexicon, read_lexicon
from evenrank.errors import DataError
from evenrank.wordlists.accuracy import accuracy_table, label_accuracy

SIDES = Lexicon.build("sides", {"female": ["she", "her", "mother"], "male": ["he", "his"]})
LABELS = {"M": "male", "F": "female", "N": "nobody"}
PAGE = Path(__file__).resolve().parents[2] / "docs/reproductions/grep-biasir.md"


def test_accuracy_by_hand() -> None:
    texts = [
        ("She and her mother", "female"), ("she and he", "female"), ("his car", "female"),
        ("a car", "female"), ("he and his mother", "male"), ("rain", "nobody"), ("her rain", "nobody"),
    ]  # fmt: skip
    found = label_accuracy(SIDES, texts)
    assert [one[:] for one in found] == [
        ("female", 4, 1, 1, 1, 1), ("male", 1, 1, 0, 0, 0), ("nobody", 2, 1, 0, 1, 0),
    ]  # fmt: skip
    assert found[0].interval == pytest.approx((0.0456, 0.6994), abs=1e-4)  # Wilson's of 1 in 4
    assert accuracy_table(SIDES, found).rows[0][:4] == ("female", 4, 1, 0.25)
    with pytest.raises(DataError, match="'x' is no group of sides: labels are female, male, nobody"):
        label_accuracy(SIDES, [("she", "x")])


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
    found = {one.label: one for one in label_accuracy(lexicon, rows(shared))}
    (line,) = [
        line
        for line in PAGE.read_text("utf-8").splitlines()
        if re.match(rf"\| `?{re.escape(name)}`?[ ,]", line)
    ]
    cells = [cell.strip() for cell in line.split("|")[2:-1]]
    expected = [str(len(lexicon.words(group))) for group in ("female", "male")]
    expected += [
        f"{one.right}, {one.share:.1%} [{100 * one.interval[0]:.1f}, {100 * one.interval[1]:.1f}]"
        for one in (found["male"], found["female"], found["nobody"])
    ]
    assert cells == expected
