"""Messages stay readable whatever was given."""

from __future__ import annotations

import pytest

import evenrank as er
from evenrank.errors import DataError, EvenrankError, EvenrankWarning, readable

ENDLESS = "x" * 100_000


@pytest.mark.parametrize(
    "do",
    [
        lambda: er.read_run(ENDLESS),
        lambda: er.read_run({"q": {ENDLESS: 1.0}}),
        lambda: er.read_run({"q": {ENDLESS: float("nan")}}),
        lambda: er.read_run({"q": {"d": ENDLESS}}),
        lambda: er.read_qrels({"q": {ENDLESS: 0.5}}),
        lambda: er.evaluate({"q": {"d": 1.0}}, [ENDLESS]),
        lambda: er.evaluate({"q": {"d": 1.0}}, [f"P(rel={ENDLESS})@1"]),
        lambda: er.read_groups({"d": "a", "e": ENDLESS}, "g", values=["a", "b"]),
        lambda: er.read_groups({"d": "a", "e": "b"}, ENDLESS + "("),
        lambda: er.rerank({"q": {"d": 1.0}}, ENDLESS),
        lambda: er.read_lexicon(ENDLESS),
    ],
)
def test_an_error_does_not_repeat_endless_input(do: object) -> None:
    with pytest.raises(EvenrankError) as caught:
        do()  # type: ignore[operator]
    assert len(str(caught.value)) < 2000
    assert str(caught.value).strip()


def test_only_endless_pieces_are_shortened() -> None:
    prose = "the run's own documents are 'a' and " + "b, " * 400 + "which is the user's choice of 'c'"
    assert str(DataError(prose)) == prose
    assert readable(f"no {'d' * 300!r} here") == f"no '{'d' * 197}...' here"
    assert readable("/" + "d" * 600 + ":7: bad") == "/" + "d" * 199 + "..." + "d" * 97 + ":7: bad".replace(
        " bad", " bad"
    )
    assert len(str(EvenrankWarning(repr(ENDLESS)))) < 300
