"""Network namespaces: what they hold, and that nothing of them is left."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from workbench import namespaces
from workbench.namespaces import NamespaceError, Namespaces, alone, check_system


def test_a_system_that_forbids_namespaces_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden() -> int:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(namespaces, "_new_namespace", forbidden)
    monkeypatch.setattr(namespaces.shutil, "which", lambda tool: f"/bin/{tool}")
    monkeypatch.setattr(namespaces.sys, "platform", "linux")
    with pytest.raises(NamespaceError, match=r"need root, or a user namespace.*unshare --user"):
        check_system()
    monkeypatch.setattr(namespaces.shutil, "which", lambda tool: None)
    with pytest.raises(NamespaceError, match=r"ip, tc, nsenter, .* must be installed"):
        check_system()
    monkeypatch.setattr(namespaces.sys, "platform", "darwin")
    with pytest.raises(NamespaceError, match="this is darwin"):
        check_system()


@pytest.fixture
def pair() -> Namespaces:
    """Two namespaces, not yet made."""
    try:
        check_system()
    except NamespaceError as error:
        pytest.skip(str(error))
    return Namespaces(["one", "other"])


def test_two_namespaces_are_joined_and_vanish(pair: Namespaces, tmp_path: Path) -> None:
    with pair:
        pair.cable("one", "here", "other", "there")
        assert "here@" in pair.command("one", ["ip", "-brief", "link"])
        assert "there@" in pair.command("other", ["ip", "-brief", "link"])
        descriptor = Path(pair.path("one"))
        assert descriptor.exists()
        agent = pair.agent(tmp_path)
        said = subprocess.run([agent, "other", "hostname"], capture_output=True, text=True)
        assert said.stdout.strip() == "other"
    assert not descriptor.exists()
    assert not Path("/sys/class/net/here").exists()


def test_a_command_that_fails_is_quoted(pair: Namespaces) -> None:
    with (
        pair,
        pytest.raises(NamespaceError, match=r"ip link set .* must succeed in one;"),
    ):
        pair.command("one", ["ip", "link", "set", "dev", "nowhere", "up"])


def test_what_runs_alone_ends_with_all_that_it_started(pair: Namespaces) -> None:
    sleeper = "sleep 1000 & echo started; wait"
    process = subprocess.Popen(alone(["sh", "-c", sleeper]), stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == "started\n"
        process.kill()
        process.wait()
        # The sleeper holds the other end of the pipe until it is gone.
        assert process.stdout.read() == ""
