"""`poolkeeper backup` while a process works, and what comes of starting from the copy."""

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.poolkeeper_support import (
    Installation,
    Process,
    completed,
    installed,
    most_at_once,
    one_profile,
    run_counts,
)
from tests.postgres_support import Postgres
from tests.sandbox_support import Sandbox, wait_until


@pytest.fixture
def there(clearml: Sandbox, tmp_path: Path) -> Iterator[Installation]:
    with installed(clearml, tmp_path / "here") as installation:
        yield installation


def done(clearml: Sandbox, tasks: list[str]) -> int:
    return sum(run_counts(clearml, tasks).values())


def restore(there: Installation, copy: Path) -> None:
    """As the README says it."""
    there.close()
    for end in ("-wal", "-shm"):
        there.path.with_name(there.path.name + end).unlink(missing_ok=True)
    copy.rename(there.path)


@pytest.mark.parametrize("how", ["ended", "killed"])
def test_a_copy_taken_in_the_middle_loses_no_task_and_runs_none_twice(
    there: Installation, how: str
) -> None:
    clearml = there.clearml
    there.apply(one_profile({"metal": 3, "h100": 2}, {"dev": (2, 4), "research": (1, None)}))
    tasks = clearml.bulk_enqueue(there.intake("dev"), 14)
    tasks += clearml.bulk_enqueue(there.intake("research"), 14)
    queues = (there.execution("metal"), there.execution("h100"))
    clearml.start_agents(*queues, slots=5, run_seconds=1.5, poll_seconds=0.1)
    process = there.start("run")
    wait_until(lambda: done(clearml, tasks) >= 5, "some run", 60)

    copy = there.directory / "copy.sqlite3"
    code, said = there.command("backup", str(copy))
    assert code == 0, said
    # However slow the machine was: there is work that the copy does not know, and some at its end.
    at_backup = done(clearml, tasks)
    tasks += clearml.bulk_enqueue(there.intake("research"), 12)
    wait_until(lambda: done(clearml, tasks) >= at_backup + 4, "more run", 60)
    stop(process, how)
    tasks += clearml.bulk_enqueue(there.intake("dev"), 6)
    assert done(clearml, tasks) < len(tasks), "there is something left to do"
    restore(there, copy)
    there.start("run")

    wait_until(lambda: completed(clearml, tasks), "all are done", 120)
    assert run_counts(clearml, tasks) == dict.fromkeys(tasks, 1)
    most = most_at_once(clearml)
    assert most["job on metal"] <= 3
    assert most["job on h100"] <= 2
    wait_until(lambda: not there.entries() and not there.sightings(), "the books are closed", 60)


def stop(process: Process, how: str) -> None:
    if how == "ended":
        assert process.end() == 0
    else:
        process.kill()


def test_the_copy_is_one_file_for_its_owner_and_overwrites_nothing(there: Installation) -> None:
    there.apply(one_profile({"metal": 1}, {"dev": (0, None)}))
    copy = there.directory / "copy.sqlite3"

    code, said = there.command("backup", str(copy))
    before = copy.read_bytes()
    again, refused = there.command("backup", str(copy))

    assert code == 0
    assert "among them 1 version and 0 allocations; verified." in said
    assert stat.S_IMODE(os.stat(copy).st_mode) == 0o600
    assert [path.name for path in there.directory.glob("copy*")] == ["copy.sqlite3"]
    with closing(sqlite3.connect(f"{copy.as_uri()}?mode=ro", uri=True)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert again == 1
    assert "is there already" in refused
    assert copy.read_bytes() == before


@pytest.mark.parametrize(
    ("path", "sentence"),
    [("nowhere/copy", "cannot be written: No such file or directory."), (".", "is there already")],
)
def test_where_no_copy_can_be_it_is_said(there: Installation, path: str, sentence: str) -> None:
    there.apply(one_profile({"metal": 1}, {"dev": (0, None)}))

    code, said = there.command("backup", path)

    assert code == 1
    assert sentence in said


def test_a_database_that_is_damaged_or_not_there_leaves_no_copy(there: Installation) -> None:
    copy = there.directory / "copy.sqlite3"
    absent, nothing = there.command("backup", str(copy))
    there.path.write_bytes(b"no database" * 1000)
    damaged, broken = there.command("backup", str(copy))
    there.path.unlink()
    sqlite3.connect(there.path).execute("CREATE TABLE other (x)")
    foreign, other = there.command("backup", str(copy))

    assert (absent, damaged, foreign) == (1, 1, 1)
    assert "nothing to back up" in nothing
    assert "file is not a database" in broken
    assert "is not Poolkeeper's" in other
    assert not copy.exists()


def test_postgresql_is_referred_to_its_own_means(there: Installation, postgres: Postgres) -> None:
    code, said = there.command("backup", "copy", POOLKEEPER_DATABASE=postgres.database())

    assert code == 1
    assert "say `pg_dump --format=custom --file=copy postgresql://keeper@127.0.0.1" in said
    assert postgres.password not in said
