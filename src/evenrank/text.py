"""Text from outside, made safe to show: on a terminal, in Markdown, in LaTeX and in HTML."""

from __future__ import annotations

import html
import re
import textwrap
import unicodedata

LATEX_ARROWS = {"↑": r"$\uparrow$", "↓": r"$\downarrow$", "±": r"$\pm$", "↔": r"$\leftrightarrow$"}
_LATEX_SPECIALS = {
    "\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\symbol{34}",
    # -- would become a dash; [ and * at the head of a row would be read as arguments of \\
    "-": "{-}", "[": "{[}", "*": "{*}", "`": "{`}",
    **{special: "\\" + special for special in "{}$&#_%"},
    **LATEX_ARROWS,
}  # fmt: skip
# as evenrank scan FILE -o counts.parquet, --groups NAME=FILE, pip install '.[scan]'
_COMMAND = re.compile(
    r"(?:evenrank [a-z]+|pip install)(?: (?:--?[a-z][a-z-]*(?: "
    r"[^\s-]\S*)?|'[^']*'|[A-Z_]{2,}\S*|\S*[./=@]\w\S*))*"
    r"|--[a-z][a-z-]*(?: (?:'[^']*'|[A-Z_]{2,}\S*|\S*[./=@]\w\S*))*"
)
# what stands before the at sign of an address: NAME:PASSWORD, or anything before a host with its port
_USERINFO = re.compile(r"(?:^|(?<=[/=]))(?:[^/\s=]*:.*|[^/\s=]*(?=@[\w.-]+:\d))@", re.DOTALL)
NARROWEST = 40  # columns that a note is wrapped to, however narrow the terminal is


def without_userinfo(text: str) -> str:
    """The name of a file or an address, without a user name and a password that stand in it.

    >>> without_userinfo("me:secret@host:9200/shop"), without_userinfo("http//me:secret@host/shop")
    ('host:9200/shop', 'http//host/shop')
    >>> without_userinfo("https://me:secret@host/shop"), without_userinfo("bm25@10.trec")
    ('https://host/shop', 'bm25@10.trec')
    """
    # a password may hold slashes
    shown = re.sub(r"(://).*@", r"\1", text, flags=re.DOTALL)
    return _USERINFO.sub("", shown)


def printable(text: str) -> str:
    r"""The text on one line, without anything that steers a terminal.

    >>> printable("a\x1b[2Jb\n")
    'a\\x1b[2Jb\\n'
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def escape_latex(text: str) -> str:
    return "".join(_LATEX_SPECIALS.get(character, character) for character in printable(text))


def escape_markdown(text: str) -> str:
    quoted = html.escape(printable(text), quote=False)
    return "".join("\\" + character if character in r"\|*_`[]~$" else character for character in quoted)


def escape_html(text: str) -> str:
    return html.escape(printable(text))


def display_width(text: str) -> int:
    """Columns of a terminal that the text takes.

    >>> display_width("日本 ab")
    7
    """
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.category(character) in ("Mn", "Me") for character in text)


def fit(text: str, width: int) -> str:
    """The text, cut at a word where possible, in at most ``width`` columns of a terminal.

    >>> fit("she 2, her 1; he 1", 12), fit("日本語", 5)
    ('she 2, ...', '日...')
    """
    if display_width(text) <= width:
        return text
    kept = ""
    for character in text:
        if display_width(kept + character) > width - 3:
            break
        kept += character
    head, blank, _ = kept.rpartition(" ")
    return f"{head} ..." if blank and display_width(head) + 4 <= width else f"{kept}..."


def wrapped(text: str, width: int) -> str:
    """A note as lines of a terminal: later lines are indented, and neither words nor commands
    are broken, so that they can be copied.

    >>> print(wrapped("no words are counted: evenrank scan docs.tsv -o counts.parquet", 40))
    no words are counted:
      evenrank scan docs.tsv -o counts.parquet
    """
    kept = _COMMAND.sub(lambda found: found[0].replace(" ", "\0"), printable(text))
    lines = textwrap.fill(
        kept, max(width, NARROWEST), subsequent_indent="  ",
        break_on_hyphens=False, break_long_words=False,
    )  # fmt: skip
    return lines.replace("\0", " ")
