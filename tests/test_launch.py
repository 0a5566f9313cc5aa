"""`make lab` without a browser: ports, folders, settings, a second start, messages that say what to do."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from codekb import launch

NOBODY = 65534
"""A user without rights of its own; permissions mean nothing to root."""


@pytest.fixture
def project(tmp_path):
    notebook = tmp_path / launch.FIRST_NOTEBOOK
    notebook.parent.mkdir()
    notebook.write_text("{}")
    return tmp_path


@pytest.fixture
def taken_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


@pytest.fixture
def everyones_folder():
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to other users
        Path(name).chmod(0o777)
        yield Path(name)


def test_project_is_found_from_a_folder_inside_it(project):
    assert launch.project_root(project / "notebooks") == project.resolve()


def test_project_that_is_nowhere_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(launch, "FIRST_NOTEBOOK", "notebooks/no_such.ipynb")
    with pytest.raises(launch.LaunchError, match="run this in the folder of the project"):
        launch.project_root(tmp_path)


def test_port_asked_for_and_taken_is_refused(taken_port):
    with pytest.raises(launch.LaunchError, match=f"port {taken_port} is taken"):
        launch.choose_port(taken_port)


def test_default_port_taken_moves_on_and_says_so(taken_port, monkeypatch, capsys):
    monkeypatch.setattr(launch, "DEFAULT_PORT", taken_port)
    chosen = launch.choose_port(None)
    assert chosen > taken_port and f"Port {taken_port} is taken; using {chosen}" in capsys.readouterr().out


def test_no_free_port_is_told(taken_port, monkeypatch):
    monkeypatch.setattr(launch, "DEFAULT_PORT", taken_port)
    monkeypatch.setattr(launch, "PORTS_TRIED", 1)
    with pytest.raises(launch.LaunchError, match="no free port"):
        launch.choose_port(None)


def test_state_stands_in_the_project(project):
    assert launch.state_folder(project) == project / ".jupyter-run"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX permissions")
def test_state_stands_with_the_user_where_the_project_is_not_writable(everyones_folder):
    cache = everyones_folder
    code = (
        "import os, sys; from pathlib import Path; from codekb import launch\n"
        f"os.geteuid() == 0 and os.setuid({NOBODY})\n"
        f"os.environ['XDG_CACHE_HOME'] = {str(cache)!r}\n"
        "print(launch.state_folder(Path('/proc')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(cache / "codekb" / "jupyter-run")


def test_settings_fetch_no_news(project):
    launch.write_settings(project)
    written = json.loads((project / "config/labconfig/default_setting_overrides.json").read_text())
    notification = written["@jupyterlab/apputils-extension:notification"]
    assert notification == {"fetchNews": "false", "checkForUpdates": False}


def test_server_gets_folders_of_its_own_and_the_token_by_environment_only(project):
    made = launch.environment(project, "secret", base={"PATH": "x"})
    assert made["JUPYTER_TOKEN"] == "secret" and made["PATH"] == "x"
    own = {k: v for k, v in made.items() if k.startswith(("JUPYTER", "IPYTHON")) and k != "JUPYTER_TOKEN"}
    assert len(own) == 6 and all(Path(v).parent == project for v in own.values())
    assert "secret" not in " ".join(launch.command(project, 1))


def test_missing_browser_is_told(monkeypatch, capsys):
    monkeypatch.setattr(launch.webbrowser, "open", lambda _: False)
    monkeypatch.setenv("DISPLAY", ":9")
    assert launch.open_browser("http://127.0.0.1:1") is False
    assert "open the address above yourself" in capsys.readouterr().out


def test_dead_servers_are_not_taken_for_running(project, taken_port):
    folder = project / "runtime"
    folder.mkdir()
    (folder / "jpserver-1.json").write_text("{")
    facts = {"root_dir": str(project), "port": 1, "token": "t", "pid": 1}
    (folder / "jpserver-2.json").write_text(json.dumps(facts))
    assert launch.find_running(project, project) is None


def test_running_server_is_used_again(project, monkeypatch, capsys):
    monkeypatch.chdir(project)
    folder = project / ".jupyter-run" / "runtime"
    folder.mkdir(parents=True)
    facts = {"root_dir": str(project), "port": 8899, "token": "t", "pid": 1}
    (folder / "jpserver-2.json").write_text(json.dumps(facts))
    monkeypatch.setattr(launch, "answers", lambda port, token: (port, token) == (8899, "t"))
    assert launch.main(["--no-browser"]) == 0
    assert "already runs at" in capsys.readouterr().out


def test_server_that_dies_shows_its_last_words(project):
    log = project / "log"
    log.write_text("no such option")
    server = subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"])
    with pytest.raises(launch.LaunchError, match=r"(?s)stopped with code 3.*no such option"):
        launch.wait_until_answering(server, 1, "t", log)


def test_bad_start_is_one_message_and_code_one(monkeypatch, capsys, project, taken_port):
    monkeypatch.chdir(project)
    assert launch.main(["--port", str(taken_port), "--no-browser"]) == 1
    assert capsys.readouterr().err.startswith(f"port {taken_port} is taken")


def test_missing_jupyterlab_names_the_install(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(launch.LaunchError, match=r"pip install -e '\.\[notebook\]'"):
        launch._require_jupyterlab()


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_server_ends_with_the_launcher(project, name):
    with (project / "out").open("w+") as out:
        launcher = subprocess.Popen(
            [sys.executable, "-m", "codekb.launch", "--no-browser"], cwd=project, stdout=out, stderr=out
        )
        try:
            state = project / ".jupyter-run"
            _until(lambda: "token=" in (project / "out").read_text(encoding="utf-8"), launcher)
            running = launch.find_running(state, project)
            assert running is not None
            launcher.send_signal(getattr(signal, name))
            assert launcher.wait(timeout=30) == 0
            assert launch.find_running(state, project) is None
        finally:
            launcher.kill()
            launcher.wait()


def _until(holds, process, seconds=launch.START_SECONDS):
    end = time.monotonic() + seconds
    while not holds():
        assert process.poll() is None, "the launcher ended early"
        assert time.monotonic() < end, "the launcher said nothing"
        time.sleep(0.1)
