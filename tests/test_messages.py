"""Messages stay readable whatever was given."""

from __future__ import annotations

from pathlib import Path

import pytest

import evenrank as er
from evenrank import cli, errors
from evenrank.cli import parser, streams
from evenrank.cli.streams import say
from evenrank.errors import DataError, EvenrankError, EvenrankWarning, for_reader, read_in_a_shell, readable

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


def test_the_command_shortens_a_message_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An error and a warning are readable when they are made; what others say, before it is printed."""
    calls = []
    for module in (errors, cli, parser):
        monkeypatch.setattr(module, "readable", lambda text: (calls.append(text), readable(text))[1])
    for words, code in (([ENDLESS], 2), (["evaluate", ENDLESS, "-m", "P@1"], 1), (["rank", ENDLESS], 2)):
        calls.clear()
        assert cli.main(words) == code
        said = capsys.readouterr().err
        assert 0 < len(said) < 1000
        assert len([text for text in calls if len(text) > 90]) <= 1, said


def test_a_line_of_many_words_loses_its_middle(capsys: pytest.CaptureFixture[str]) -> None:
    say("begin " + "of many words " * 1000 + "end")
    said = capsys.readouterr().err
    assert said.startswith("evenrank: begin of many")
    assert said.endswith("words end\n")
    assert "...(12,009 characters left out)..." in said
    say("x" * 2000)
    assert capsys.readouterr().err == f"evenrank: {'x' * 2000}\n"


@pytest.mark.parametrize("width", [40, 60, 80])
def test_messages_are_wrapped_on_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int
) -> None:
    """A command stays in one line, so that it can be copied; so does everything in a file."""
    command = "evenrank scan FILE --lexicon gender-en -o counts.parquet"
    message = f"the measure NFaiRR@10 needs counts of words, which are missing: count them by {command} first"
    say(message)
    assert capsys.readouterr().err == f"evenrank: {message}\n"
    monkeypatch.setattr(streams, "is_terminal", lambda: True)
    monkeypatch.setattr(streams, "message_width", lambda: width)
    say(message)
    lines = capsys.readouterr().err.splitlines()
    assert " ".join(line.strip() for line in lines) == f"evenrank: {message}"
    assert len(lines) > 1
    assert all(len(line) <= width or line.strip() == command for line in lines)
    assert any(command in line for line in lines)


BOTH = [
    ("pass qrels= (--qrels FILE)", "pass qrels=", "pass --qrels FILE"),
    (
        "needs judgements (qrels=, --qrels); or not",
        "needs judgements (qrels=); or not",
        "needs judgements (--qrels); or not",
    ),
    ("by cutoffs=[5, 10] (--cutoffs 5,10)", "by cutoffs=[5, 10]", "by --cutoffs 5,10"),
    (
        "pass intents=read_qrels(FILE, diversity=True) (--qrels FILE:intents)",
        "pass intents=read_qrels(FILE, diversity=True)",
        "pass --qrels FILE:intents",
    ),
    ("with columns={'id': ...} (--columns id=NAME)", "with columns={'id': ...}", "with --columns id=NAME"),
    (
        "background='collection' (--background collection)",
        "background='collection'",
        "--background collection",
    ),
    ("words= (--words) or missing= (--missing drop)", "words= or missing=", "--words or --missing drop"),
    (
        "a.csv: x=1 (a note), 'f(y=2)' -- and no option",
        *2 * ("a.csv: x=1 (a note), 'f(y=2)' -- and no option",),
    ),
]


@pytest.mark.parametrize(("message", "python", "shell"), BOTH)
def test_messages_name_what_their_reader_can_use(message: str, python: str, shell: str) -> None:
    assert for_reader(message) == str(DataError(message)) == python
    with read_in_a_shell():
        assert for_reader(message) == str(DataError(message)) == shell
        assert str(DataError(f"x: {DataError(message)}")) == f"x: {shell}"  # one within another
    assert for_reader(message) == python


def test_a_shell_is_told_of_options_and_python_of_keywords(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = tmp_path / "run.trec"
    run.write_text("q Q0 d 1 1.0 x\n")
    assert cli.main(["evaluate", str(run), "-m", "RR"]) == 2
    assert capfd.readouterr().err == "evenrank: RR needs judgements: pass --qrels FILE\n"
    with pytest.raises(EvenrankError, match=r"RR needs judgements: pass qrels=$"):
        er.evaluate(er.read_run(run), "RR")
