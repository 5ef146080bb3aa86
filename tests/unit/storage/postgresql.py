"""A PostgreSQL server, a real one that tests start for themselves; they import the fixtures."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


def binaries() -> Path | None:
    """Return the folder of the newest installed server, None where there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    path = str(found[-1]) if found else shutil.which("initdb")
    return Path(path).parent if path else None


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A server on a socket of its own; the address without a database's name."""
    folder = binaries()
    if folder is None:
        pytest.skip("no PostgreSQL server here; apt-get install postgresql, then it is tested")
    # A socket's path must be short, and a server does not run as root.
    place = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    user: dict[str, object] = {}
    owner = pwd.getpwuid(os.geteuid()).pw_name
    if os.geteuid() == 0:
        other = next((e for e in pwd.getpwall() if e.pw_name in ("postgres", "nobody")), None)
        if other is None:
            pytest.skip("a PostgreSQL server does not run as root, and there is no other user")
        owner = other.pw_name
        os.chown(place, other.pw_uid, other.pw_gid)
        user = {"user": other.pw_uid, "group": other.pw_gid, "extra_groups": []}
    data = place / "data"

    def command(*words: str) -> None:
        run = subprocess.run(words, capture_output=True, text=True, cwd=place, **user)  # type: ignore[call-overload]
        assert run.returncode == 0, run.stderr

    command(str(folder / "initdb"), "-D", str(data), "-A", "trust", "-U", owner, "--no-sync")
    options = f"-c listen_addresses='' -c unix_socket_directories='{place}' -c fsync=off"
    control = str(folder / "pg_ctl")
    command(control, "-D", str(data), "-o", options, "-l", str(place / "log"), "-w", "start")
    try:
        yield f"postgresql://{owner}@/{{}}?host={place}"
    finally:
        command(control, "-D", str(data), "-m", "immediate", "-w", "stop")
        shutil.rmtree(place)


@pytest.fixture
def address(server: str, request: pytest.FixtureRequest) -> str:
    """A new, empty database of that server."""
    import psycopg

    name = f"test_{abs(hash(request.node.name))}"
    with psycopg.connect(server.format("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.format(name)
