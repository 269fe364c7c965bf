"""Work with lists of words that stand for groups. A list is a shipped one by its name, or a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from evenrank.cli import shared
from evenrank.cli.everywhere import Everywhere
from evenrank.cli.printing import Format, TableFile, print_tables
from evenrank.cli.streams import say
from evenrank.cli.typed import Arg, command
from evenrank.errors import ParameterError, counted, few
from evenrank.inputs.file_options import BACKGROUND, QUERIES, RUN, SCANNED, FileOption

if TYPE_CHECKING:
    from evenrank.data.lexicon import Lexicon

NAMES = "gender-en-names"  # which words are first names
# no project file is read here, so no message names one
_RUN, _BACKGROUND, _TEXTS = (replace(form, table=None) for form in (RUN, BACKGROUND, SCANNED))

Name = Annotated[str, Arg("a lexicon, by name or file")]
Texts = Annotated[
    FileOption | None, Arg("documents that show how the words are used", "FILE", read=_TEXTS.parse)
]
VECTORS = Arg(
    "vectors of words, a word and its numbers on each line (GloVe), or an encoder: wordllama, minilm, a "
    "sentence-transformers model",
    "FILE",
)


@command("evenrank lexicon list")
def list_(*, format: Format = None, output: TableFile = None) -> int:
    """List those that come with the package."""
    from evenrank.io.lexicons import SHIPPED
    from evenrank.tables import Column, Table

    rows = []
    for name in SHIPPED:
        lexicon = _read(name)
        sizes = ", ".join(f"{group} {len(lexicon.words(group)):,}" for group in lexicon.groups)
        rows.append((name, len(lexicon), len(lexicon.partners) // 2, sizes))
    table = Table.of(
        ["lexicon", "terms", "pairs", Column("groups", right=False, wraps=True)],
        rows,
        notes=["how each was made, and what it misses: evenrank lexicon show NAME"],
        meaning="The word lists that come with evenrank, with the number of terms of each group; "
        "pairs are words with a counterpart in another group.",
    )
    print_tables([table], format, output)
    return 0


@command("evenrank lexicon show gender-en", "evenrank lexicon show gender-en -o gender.csv")
def show(
    name: Name,
    *,
    format: Format = None,
    output: Annotated[str | None, Arg("write the lexicon: .csv or .json", "FILE", "-o")] = None,
) -> int:
    """Print the words of each group with their weights, or write them to a file."""
    from evenrank.io.lexicons import write_lexicon
    from evenrank.lexicons import described
    from evenrank.tables import Column, Table

    lexicon = _read(name)
    if output is not None:
        write_lexicon(lexicon, output)
        say(f"wrote {output}")
        return 0
    weights = lexicon.to_weights()
    rows = [
        (
            group,
            len(own),
            ", ".join(word if weight == 1 else f"{word} {weight:.2f}" for word, weight in own.items()),
        )
        for group, own in weights.items()
    ]
    table = Table.of(
        [Column("group", right=False), Column("terms"), Column("words", right=False, wraps=True)],
        rows,
        title=repr(lexicon)[1:-1],
        notes=described(lexicon.name),
        records=[
            {"word": word, "group": group, "partner": lexicon.partners.get(word, ""), "weight": weight}
            for group, own in weights.items()
            for word, weight in own.items()
        ],
        meaning="These words count for their group wherever they stand in a document.",
    )
    print_tables([table], format)
    return 0


@command("evenrank lexicon check my-words.csv --documents collection.tsv")
def check(name: Name, *, documents: Texts = None, format: Format = None, output: TableFile = None) -> int:
    """Find missing forms, words with other meanings and uneven groups."""
    from evenrank.wordlists.check import check_lexicon, finding_table

    lexicon = _read(name)
    texts = None if documents is None else _texts(documents)
    found = check_lexicon(lexicon, texts, _read(NAMES).terms)
    print_tables([finding_table(lexicon, found)], format, output)
    return 0


@command("evenrank lexicon compare gender-en my-words.csv")
def compare(
    name: Name,
    other: Annotated[str, Arg("the lexicon to compare it with")],
    *,
    words: Annotated[
        str | None,
        Arg("counts of every term: also compare how documents are seen (evenrank scan --terms)", "FILE"),
    ] = None,
    format: Format = None,
    output: TableFile = None,
) -> int:
    """Count the words that two lists share, and the documents that they see differently."""
    from evenrank.io.counts import read_counts
    from evenrank.wordlists.overlap import disagreement_table, overlap_table

    lexicons = _read(name), _read(other)
    tables = [overlap_table(*lexicons)]
    if words is not None:
        tables.append(disagreement_table(read_counts(words), *lexicons))
    print_tables(tables, format, output)
    return 0


@command("evenrank lexicon expand gender-en --vectors glove.6B.300d.txt --documents collection.tsv")
def expand(
    name: Name,
    *,
    vectors: Annotated[str | None, VECTORS] = None,
    documents: Texts = None,
    format: Format = None,
    output: TableFile = None,
) -> int:
    """Propose further words, for a person to accept. They are found by their vectors, or in documents by what
    stands beside the words of the list."""
    from evenrank.wordlists.expand import candidate_table, frequent_words
    from evenrank.wordlists.expand import expand as expanded

    lexicon = _read(name)
    if vectors is None and documents is None:
        raise ParameterError("lexicon expand finds words by --vectors FILE, by --documents FILE, or both")
    wanted = None  # a file has words of its own
    if vectors is not None and documents is not None and not _is_file(vectors):
        wanted = {*frequent_words(_texts(documents)), *lexicon.terms}
    known = None if vectors is None else _vectors(vectors, wanted)
    found = expanded(lexicon, known, None if documents is None else _texts(documents))
    print_tables([candidate_table(lexicon, found)], format, output)
    return 0


@command("evenrank lexicon weigh gender-en occupations.txt --vectors glove.6B.300d.txt -o weighted.json")
def weigh(
    name: Name,
    words: Annotated[str, Arg("a file with one word on each line")],
    *,
    vectors: Annotated[str, VECTORS],
    format: Format = None,
    output: Annotated[
        str | None, Arg("write a lexicon of these words with their weights: .csv or .json", "FILE", "-o")
    ] = None,
) -> int:
    """Say how strongly other words stand for the groups, by vectors of words."""
    from evenrank.files import read_utf8
    from evenrank.io.lexicons import write_lexicon
    from evenrank.tables import Table
    from evenrank.wordlists.association import associations, weighted_lexicon

    lexicon = _read(name)
    lines = read_utf8(words).splitlines()
    asked = list(dict.fromkeys(line.strip().lower() for line in lines if line.strip()))
    known = _vectors(vectors, {*asked, *lexicon.terms})
    found = associations(lexicon, asked, known)
    unknown = [word for word in asked if word not in known]
    if unknown:
        say(f"{counted(len(unknown), 'word has', 'words have')} no vector and no weight: {few(unknown)}")
    if output is not None:
        write_lexicon(weighted_lexicon(lexicon, found), output)
        say(f"wrote {output}: evenrank scan COLLECTION --lexicon {output} counts with it")
        return 0
    table = Table.of(
        ["word", *lexicon.groups, "nearest words of the list"],
        [(one.word, *one.weights, ", ".join(one.nearest)) for one in found],
        title=f"weights by {vectors}",
        notes=["1: leans to the group as far as a typical word of the list does; 0: not at all"],
        meaning="How far each word leans to each group, by the vectors.",
    )
    print_tables([table], format)
    return 0


@command(
    "evenrank lexicon sensitivity runs/*.trec --words counts.parquet --background bm25 -m 'NFaiRR@10'",
    "evenrank lexicon sensitivity runs/*.trec --words counts.parquet --lexicon other.csv -m 'TExFAIR@10'",
)
def sensitivity(
    runs: Annotated[
        tuple[FileOption, ...], Arg("run files; the first is the baseline", "RUN", read=_RUN.parse)
    ],
    *,
    everywhere: Everywhere,
    words: Annotated[str, Arg("counts of every term, written by evenrank scan --terms", "FILE")],
    measures: Annotated[tuple[str, ...], Arg("measures of content, as 'NFaiRR@10'", "MEASURES", "-m")],
    lexicon: Annotated[
        str | None, Arg("another list, or counts by another tokeniser, to try as well", "NAME")
    ] = None,
    background: Annotated[
        FileOption | None,
        Arg("the documents that NFaiRR is normalised by, as in evaluate", "FILE", read=_BACKGROUND.parse),
    ] = None,
    queries: Annotated[
        FileOption | None, Arg("the queries to score, as in evaluate", "FILE", read=QUERIES.parse)
    ] = None,
    missing: Annotated[
        Literal["error", "neutral", "drop"] | None, Arg("documents without counts, as in evaluate")
    ] = None,
    format: Format = None,
    output: TableFile = None,
) -> int:
    """Say how far scores and verdicts move when words are left out, drawn again or replaced."""
    from evenrank.inputs.description import Description
    from evenrank.io.counts import read_counts
    from evenrank.measures import parse_measures
    from evenrank.wordlists import sensitivity as sensitivity_of

    asked = parse_measures(measures)
    inputs = shared.read_inputs(Description(runs=runs, words=words, background=background, queries=queries))
    others = {}
    if lexicon is not None:
        others[lexicon] = read_counts(lexicon) if lexicon.endswith(".parquet") else _read(lexicon)
    found = sensitivity_of(
        inputs,
        asked,
        names=_read(NAMES).terms,
        others=others,
        seed=everywhere.seed or 0,
        missing=missing,
    )
    print_tables(found.to_tables(), format, output)
    return 0


def _read(name: str) -> Lexicon:
    from evenrank.io.lexicons import read_lexicon

    return read_lexicon(name)


def _texts(documents: FileOption) -> Iterator[str]:
    from evenrank.io.documents import read_documents

    for batch in read_documents(documents.path, format=documents.get("format")):
        yield from batch.column("text").to_pylist()


def _is_file(vectors: str) -> bool:
    """Whether these are no encoder; a pipe is none either."""
    path = Path(vectors)
    return path.exists() and not path.is_dir()


def _vectors(vectors: str, wanted: set[str] | None) -> Any:
    """The vectors of a file, or of the words that an encoder is given."""
    from evenrank.evidence.encoding import as_encoder
    from evenrank.io.word_vectors import read_word_vectors

    if _is_file(vectors):
        return read_word_vectors(vectors, wanted)
    if wanted is None:
        raise ParameterError(
            f"--vectors {vectors}: an encoder has no list of words: add --documents FILE, whose words are "
            "taken, or give a file of vectors"
        )
    words = sorted(wanted)
    return dict(zip(words, as_encoder(vectors).encode(words), strict=True))
