"""What an engine file may say, and a table ``[engines.NAME]`` of a project file: its keys and their types."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, Strict

from evenrank.io.settings import BY_KIND, LIST, TEXT, FileName, FileText, Positive, SettingsTable, Text

Names = Annotated[
    Annotated[Text, TEXT] | Annotated[tuple[Text, ...], Strict(False), LIST], BY_KIND
]  # one name may stand without the brackets


def _pointer(value: str) -> str:
    if value and not value.startswith("/"):
        raise ValueError("must be a JSON pointer such as /hits/0/id")
    return value


def _upper(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


Pointer = Annotated[str, AfterValidator(_pointer)]
Setting = str | bool | int | float


class HitsTable(SettingsTable):
    """JSON pointers into an answer."""

    list: Pointer = "/hits"
    id: Pointer = "/id"
    score: Pointer = "/score"
    document: Pointer = ""
    total: Pointer = "/total"
    error: Pointer = "/error"


class PagingTable(SettingsTable):
    """How long lists are asked for in pages."""

    size: Positive | None = None
    most: Positive | None = None
    first_page: Annotated[int, Field(ge=0, le=1)] = 1


class AboutPlace(SettingsTable):
    """A request, and where in its answer something stands."""

    path: Text
    at: Pointer


class AboutTable(SettingsTable):
    """Where the engine tells its version, its number of documents and its state."""

    version: AboutPlace | None = None
    documents: AboutPlace | None = None
    state: AboutPlace | None = None


class CredentialsTable(SettingsTable):
    """Names of environment variables, never the secrets themselves."""

    user: Text | None = None
    password: Text | None = None
    api_key: Text | None = None
    bearer: Text | None = None


class EngineTable(SettingsTable):
    """A search engine. Each kind of engine uses some of the keys."""

    engine: Text | None = Field(default=None, description="the kind of engine")
    address: FileText | None = Field(default=None, description="http://host:9200/index, or a database file")
    name: FileName | None = Field(default=None, description="what the run is called")
    id: Text | None = Field(default=None, description="the field with a document's id, or a JSON pointer")
    fields: Names = Field(default=(), description="fields to keep")
    text: Names = Field(default=(), description="fields with the text of a document")
    body: dict[str, JsonValue] | None = Field(
        default=None, description='the request: a table, with "{query}" where the query\'s text goes'
    )
    body_file: FileText | None = Field(default=None, description="the same as a JSON file")
    sql: Text | None = Field(default=None, description="the SELECT, with parameters for query and depth")
    table: Text | None = Field(default=None, description="the table to search, where there is no sql")
    parameters: dict[str, JsonValue] = Field(default={}, description="parameters of the URL")
    headers: dict[str, Setting] = Field(default={}, description="further headers, without secrets")
    method: Annotated[Literal["GET", "POST"], BeforeValidator(_upper)] | None = Field(
        default=None, description="GET or POST"
    )
    path: Text | None = Field(default=None, description="the path of the search request")
    hits: HitsTable = Field(default=HitsTable(), description="JSON pointers into the answer")
    paging: PagingTable = Field(default=PagingTable(), description="how long lists are asked for in pages")
    about: AboutTable = Field(default=AboutTable(), description="where the engine tells what it is")
    api_key_header: Text | None = Field(default=None, description="the header that carries the API key")
    tls: bool = Field(default=True, description="false for a PostgreSQL server without TLS")
    query_by: Names = Field(default=(), description="the fields that Typesense searches")
    batch: Positive | None = Field(default=None, description="queries in one request")
    certificates: FileText | None = Field(default=None, description="the certificates of your own authority")
    credentials: CredentialsTable = Field(
        default=CredentialsTable(), description="names of environment variables"
    )
    timeout: Annotated[float, Field(gt=0, allow_inf_nan=True)] = Field(
        default=30.0, description="seconds that an answer may take"
    )
    retries: Annotated[int, Field(ge=0)] = Field(default=4, description="attempts after the first")
    rate: Annotated[float, Field(gt=0, allow_inf_nan=True)] = Field(
        default=5.0, description="requests a second"
    )
    concurrency: Positive = Field(default=1, description="requests at a time")
    answer_bytes: Positive = Field(default=64 << 20, description="the most that an answer may hold")


CREDENTIALS = tuple(CredentialsTable.model_fields)
LISTS = ("fields", "text", "query_by")
_TABLES = ("body", "parameters", "headers", "hits", "paging", "about", "credentials")
IN_ADDRESS = tuple(
    key for key in EngineTable.model_fields if key not in (*_TABLES, "engine", "address", "sql")
)


def given_of(engine: EngineTable) -> dict[str, Any]:
    """The keys that were given, with plain values."""
    return engine.model_dump(exclude_unset=True)
