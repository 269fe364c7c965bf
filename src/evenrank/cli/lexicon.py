"""``evenrank lexicon``: word lists: which there are, what is wrong with one, how far scores depend on it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from evenrank.cli import shared
from evenrank.cli.outputs import check_output
from evenrank.cli.parser import add_command
from evenrank.cli.streams import put, say, terminal_width
from evenrank.errors import ParameterError
from evenrank.inputs.file_options import BACKGROUND, DOCUMENTS, RUN

if TYPE_CHECKING:
    from evenrank.cli.parser import Commands
    from evenrank.data.lexicon import Lexicon
    from evenrank.data.words import WordCounts
    from evenrank.tables import Table

NAMES = "gender-en-names"  # which words are first names


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "lexicon",
        """Work with lists of words that stand for groups. ACTION is list (those that come with the package),
        show NAME, check NAME (duplicates, missing forms, other meanings, uneven groups), compare NAME NAME
        (shared words and, with --words, documents that they see differently), expand NAME (candidates, for a
        person to accept), weigh NAME FILE (how strongly other words stand for the groups), or sensitivity
        RUN.. (how far scores and verdicts move when words are left out, drawn again or replaced).""",
        """
        evenrank lexicon list
        evenrank lexicon show gender-en
        evenrank lexicon check my-words.csv --documents collection.tsv
        evenrank lexicon compare gender-en my-words.csv
        evenrank lexicon expand gender-en --vectors glove.6B.300d.txt --documents collection.tsv
        evenrank lexicon weigh gender-en occupations.txt --vectors glove.6B.300d.txt -o weighted.json
        evenrank lexicon sensitivity runs/*.trec --words counts.parquet --background bm25 -m 'NFaiRR@10'
        evenrank lexicon sensitivity runs/*.trec --words counts.parquet --lexicon other.csv -m 'TExFAIR@10'
        """,
    )
    parser.add_argument("action", choices=tuple(ACTIONS), metavar="ACTION", help=", ".join(ACTIONS))
    parser.add_argument(
        "names", nargs="*", metavar="NAME",
        help="lexicons, by name or file; for sensitivity run files, of which the first is the baseline",
    )  # fmt: skip
    shared.add_lexicon(parser, "sensitivity: another list, or counts by another tokeniser, to try as well")
    parser.add_argument(
        "--words", metavar="FILE", help="counts of every term, written by evenrank scan --terms"
    )
    parser.add_argument(
        "--documents", type=shared.option(DOCUMENTS.parse), metavar="FILE",
        help="check, expand: texts that show how the words are used",
    )  # fmt: skip
    parser.add_argument(
        "--vectors", metavar="FILE",
        help="expand, weigh: vectors of words, a word and its numbers on each line (GloVe), or an encoder: "
        "wordllama, minilm, a sentence-transformers model",
    )  # fmt: skip
    shared.add_measures(parser)
    parser.add_argument(
        "--background", type=shared.option(BACKGROUND.parse), metavar="FILE",
        help="sensitivity: the documents that NFaiRR is normalised by, as in evaluate",
    )  # fmt: skip
    parser.add_argument("--queries", metavar="FILE", help="sensitivity: the queries to score, as in evaluate")
    parser.add_argument(
        "--missing", choices=("error", "neutral", "drop"),
        help="sensitivity: documents without counts, as in evaluate",
    )  # fmt: skip
    shared.add_format(parser)
    shared.add_output(parser, "write the lexicon (show) or the tables as .jsonl, .csv, .tsv, .md or .tex")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    check_output(arguments.output)
    ACTIONS[arguments.action](arguments)
    return 0


def _names(arguments: argparse.Namespace, count: int) -> list[Lexicon]:
    from evenrank.io.lexicons import read_lexicon

    _check_number(arguments, count)
    return [read_lexicon(name) for name in arguments.names]


def _check_number(arguments: argparse.Namespace, count: int) -> None:
    if len(arguments.names) != count:
        what = "one lexicon" if count == 1 else f"{count} lexicons"
        raise ParameterError(
            f"lexicon {arguments.action} takes {what}, got {len(arguments.names)}: "
            f"evenrank lexicon {arguments.action} {' '.join(['gender-en', 'my-words.csv'][:count])}"
        )


def _show(arguments: argparse.Namespace, tables: list[Table]) -> None:
    from evenrank.io.atomic import atomic_write
    from evenrank.scores.files import file_format
    from evenrank.tables import printed

    if arguments.output is not None:
        form = file_format(arguments.output, None, ("jsonl", "csv", "tsv", "markdown", "latex"))
        with atomic_write(arguments.output) as file:
            file.write(printed(tables, form).encode())
        say(f"wrote {arguments.output}")
    if arguments.output is None or arguments.format is not None:
        put(printed(tables, arguments.format or "table", terminal_width()))


def _list(arguments: argparse.Namespace) -> None:
    from evenrank.io.lexicons import SHIPPED, read_lexicon
    from evenrank.tables import Column, Table

    if arguments.names:
        raise ParameterError("lexicon list takes no name: evenrank lexicon show NAME shows one")
    rows = []
    for name in SHIPPED:
        lexicon = read_lexicon(name)
        sizes = ", ".join(f"{group} {len(lexicon.words(group)):,}" for group in lexicon.groups)
        rows.append((name, len(lexicon), len(lexicon.partners) // 2, sizes))
    note = "how each was made, and what it misses: evenrank lexicon show NAME"
    _show(
        arguments,
        [
            Table.of(
                ["lexicon", "terms", "pairs", Column("groups", right=False, wraps=True)],
                rows,
                notes=[note],
                meaning=(
                    "The word lists that come with evenrank, with the number of terms of each group;"
                    " pairs are words with a counterpart in another group."
                ),
            )
        ],
    )


def _show_one(arguments: argparse.Namespace) -> None:
    from evenrank.io.lexicons import write_lexicon
    from evenrank.lexicons import described
    from evenrank.tables import Column, Table

    (lexicon,) = _names(arguments, 1)
    if arguments.output is not None:
        write_lexicon(lexicon, arguments.output)
        say(f"wrote {arguments.output}")
        return
    rows = []
    weights = lexicon.to_weights()
    for group in lexicon.groups:
        for word, weight in weights[group].items():
            rows.append((word, group, lexicon.partners.get(word, ""), weight))
    records = [dict(zip(("word", "group", "partner", "weight"), row, strict=True)) for row in rows]
    if arguments.format not in (None, "table"):
        _show(
            arguments,
            [
                Table.of(
                    ["word", "group", "partner", "weight"],
                    rows,
                    words=3,
                    records=records,
                    meaning=(
                        "A word counts for its group by its weight; the partner is the word that it "
                        "is swapped for."
                    ),
                )
            ],
        )
        return
    listed = {
        group: [word if weight == 1 else f"{word} {weight:.2f}" for word, weight in own.items()]
        for group, own in weights.items()
    }
    groups = [(group, len(own), ", ".join(own)) for group, own in listed.items()]
    head = [Column("group", right=False), Column("terms"), Column("words", right=False, wraps=True)]
    _show(
        arguments,
        [
            Table.of(
                head,
                groups,
                title=repr(lexicon)[1:-1],
                notes=described(lexicon.name),
                meaning="These words count for their group wherever they stand in a document.",
            )
        ],
    )


def _check(arguments: argparse.Namespace) -> None:
    from evenrank.io.lexicons import read_lexicon, read_lexicon_with_repeats
    from evenrank.wordlists.check import check_lexicon, finding_table

    _check_number(arguments, 1)
    lexicon, repeats = read_lexicon_with_repeats(arguments.names[0])
    texts = None if arguments.documents is None else _texts(arguments.documents)
    found = check_lexicon(lexicon, texts, read_lexicon(NAMES).terms, repeats)
    _show(arguments, [finding_table(lexicon, found)])


def _texts(documents: Any) -> Iterator[str]:
    from evenrank.io.documents import read_documents

    for batch in read_documents(documents.path, format=documents.get("format")):
        yield from batch.column("text").to_pylist()


def _compare(arguments: argparse.Namespace) -> None:
    from evenrank.io.counts import read_counts
    from evenrank.wordlists.overlap import disagreement_table, overlap_table

    one, other = _names(arguments, 2)
    tables = [overlap_table(one, other)]
    if arguments.words is not None:
        tables.append(disagreement_table(read_counts(arguments.words), one, other))
    _show(arguments, tables)


def _is_file(vectors: str) -> bool:
    """Whether these are no encoder; a pipe is none either."""
    from pathlib import Path

    path = Path(vectors)
    return path.exists() and not path.is_dir()


def _vectors(arguments: argparse.Namespace, wanted: set[str] | None) -> Any:
    """The vectors of a file, or of the words that an encoder is given."""
    from evenrank.io.word_vectors import read_word_vectors

    if _is_file(arguments.vectors):
        return read_word_vectors(arguments.vectors, wanted)
    if wanted is None:
        raise ParameterError(
            f"--vectors {arguments.vectors}: an encoder has no list of words: add --documents FILE, whose "
            "words are taken, or give a file of vectors"
        )
    from evenrank.evidence.encoding import as_encoder

    words = sorted(wanted)
    return dict(zip(words, as_encoder(arguments.vectors).encode(words), strict=True))


def _expand(arguments: argparse.Namespace) -> None:
    from evenrank.wordlists.expand import candidate_table, expand, frequent_words

    (lexicon,) = _names(arguments, 1)
    if arguments.vectors is None and arguments.documents is None:
        raise ParameterError(
            "lexicon expand finds words by vectors or by what stands beside the words of the list: add "
            "--vectors FILE, --documents FILE, or both"
        )
    wanted = None  # a file has words of its own
    if arguments.vectors is not None and not _is_file(arguments.vectors) and arguments.documents:
        wanted = {*frequent_words(_texts(arguments.documents)), *lexicon.terms}
    vectors = None if arguments.vectors is None else _vectors(arguments, wanted)
    texts = None if arguments.documents is None else _texts(arguments.documents)
    _show(arguments, [candidate_table(lexicon, expand(lexicon, vectors, texts))])


def _weigh(arguments: argparse.Namespace) -> None:

    from evenrank.errors import counted, few
    from evenrank.files import read_utf8
    from evenrank.io.lexicons import read_lexicon, write_lexicon
    from evenrank.tables import Table
    from evenrank.wordlists.association import associations, weighted_lexicon

    if len(arguments.names) != 2 or arguments.vectors is None:
        raise ParameterError(
            "lexicon weigh takes a lexicon, a file with one word a line, and vectors: evenrank lexicon weigh "
            "gender-en occupations.txt --vectors glove.6B.300d.txt -o weighted.json"
        )
    lexicon = read_lexicon(arguments.names[0])
    lines = read_utf8(arguments.names[1]).splitlines()
    words = list(dict.fromkeys(line.strip().lower() for line in lines if line.strip()))
    vectors = _vectors(arguments, {*words, *lexicon.terms})
    found = associations(lexicon, words, vectors)
    unknown = [word for word in words if word not in vectors]
    if unknown:
        say(f"{counted(len(unknown), 'word has', 'words have')} no vector and no weight: {few(unknown)}")
    if arguments.output is not None:
        write_lexicon(weighted_lexicon(lexicon, found), arguments.output)
        say(f"wrote {arguments.output}: evenrank scan COLLECTION --lexicon {arguments.output} counts with it")
        return
    rows = [(one.word, *one.weights, ", ".join(one.nearest)) for one in found]
    head = ["word", *lexicon.groups, "nearest words of the list"]
    note = "1: leans to the group as far as a typical word of the list does; 0: not at all"
    _show(
        arguments,
        [
            Table.of(
                head,
                rows,
                title=f"weights by {arguments.vectors}",
                notes=[note],
                meaning="How far each word leans to each group, by the vectors.",
            )
        ],
    )


def _sensitivity(arguments: argparse.Namespace) -> None:
    from evenrank.inputs.description import Description
    from evenrank.io.lexicons import read_lexicon
    from evenrank.wordlists import sensitivity

    known = Description(
        runs=tuple(map(RUN.parse, arguments.names)),
        words=arguments.words,
        background=arguments.background,
        queries=arguments.queries,
    )
    shared.need_runs(known)
    if arguments.words is None:
        raise ParameterError(
            "lexicon sensitivity needs the counts of every term: evenrank scan COLLECTION --lexicon NAME "
            "--terms -o counts.parquet, then add --words counts.parquet"
        )
    shared.named_measures(arguments)
    inputs = shared.read_inputs(known)
    found = sensitivity(
        inputs,
        shared.chosen_measures(arguments, inputs),
        names=read_lexicon(NAMES).terms,
        others={} if arguments.lexicon is None else {arguments.lexicon: _other(arguments.lexicon)},
        seed=shared.seed_of(arguments),
        missing=arguments.missing,
    )
    _show(arguments, found.to_tables())


def _other(name: str) -> Lexicon | WordCounts:
    from evenrank.io.counts import read_counts
    from evenrank.io.lexicons import read_lexicon

    return read_counts(name) if name.endswith(".parquet") else read_lexicon(name)


ACTIONS: dict[str, Callable[[argparse.Namespace], None]] = {
    "list": _list,
    "show": _show_one,
    "check": _check,
    "compare": _compare,
    "expand": _expand,
    "weigh": _weigh,
    "sensitivity": _sensitivity,
}
