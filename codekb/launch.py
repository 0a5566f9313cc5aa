"""Starts JupyterLab on the notebooks: its own folders, a free port, the address printed. Installs nothing."""

from __future__ import annotations

import argparse
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

FIRST_NOTEBOOK = "notebooks/00_start_here.ipynb"
DEFAULT_PORT = 8888
PORTS_TRIED = 50
START_SECONDS = 90
"""A cold start on a slow disk takes about 20 s; after this the log is shown instead."""

SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/docmanager-extension:plugin": {"renameUntitledFileOnSave": False},
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "defer"},
}
"""No news and no update checks: nothing is fetched. `defer` keeps the widgets of cells scrolled out of view."""


class LaunchError(RuntimeError):
    """JupyterLab could not be started; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Running:
    """A JupyterLab of this folder: its address with the token, and its process."""

    url: str
    pid: int


def project_root(start: Path | None = None) -> Path:
    """The folder that holds `notebooks/00_start_here.ipynb`: here, above, or where the package was installed from."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents, Path(__file__).resolve().parents[1]):
        if (folder / FIRST_NOTEBOOK).is_file():
            return folder
    raise LaunchError(f"no {FIRST_NOTEBOOK} in {here} or above: run this in the folder of the project")


def state_folder(root: Path) -> Path:
    """Where Jupyter keeps settings and running servers: in the project, else in the user's cache, else temporary."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    for folder in (root / ".jupyter-run", cache / "codekb" / "jupyter-run"):
        if _writable(folder):
            return folder
    return Path(tempfile.mkdtemp(prefix="codekb-jupyter-"))


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def environment(state: Path, token: str, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables of the server: its own folders and token, so that a user's Jupyter is neither read nor changed."""
    folders = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    made = dict(os.environ if base is None else base)
    made.update({name: str(state / folder) for name, folder in folders.items()})
    made["JUPYTER_TOKEN"] = token
    return made


def write_settings(state: Path) -> None:
    """The settings above as JupyterLab's defaults, where the user's own changes still win."""
    folder = state / "config" / "labconfig"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "default_setting_overrides.json").write_text(json.dumps(SETTINGS, indent=1), encoding="utf-8")


def port_is_free(port: int) -> bool:
    """Whether a server could listen on this port of this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def choose_port(wanted: int | None) -> int:
    """The port asked for, which must be free, or the first free one from 8888 on.

    Raises LaunchError that names the port and what to do.
    """
    if wanted is not None:
        if not port_is_free(wanted):
            raise LaunchError(f"port {wanted} is taken by another program: choose another, or leave the choice to us")
        return wanted
    for port in range(DEFAULT_PORT, DEFAULT_PORT + PORTS_TRIED):
        if port_is_free(port):
            if port != DEFAULT_PORT:
                print(f"Port {DEFAULT_PORT} is taken; using {port}.", flush=True)
            return port
    raise LaunchError(f"no free port from {DEFAULT_PORT} to {DEFAULT_PORT + PORTS_TRIED - 1}: give one with --port")


def find_running(state: Path, root: Path) -> Running | None:
    """The server of this folder that still answers, if any."""
    for path in sorted((state / "runtime").glob("jpserver-*.json")):
        try:
            facts = json.loads(path.read_text(encoding="utf-8"))
            same = Path(facts["root_dir"]).resolve() == root.resolve()
            if same and answers(facts["port"], facts["token"]):
                return Running(address(facts["port"], facts["token"]), int(facts["pid"]))
        except (OSError, ValueError, KeyError):  # a file that a dead server left half written
            continue
    return None


def answers(port: int, token: str) -> bool:
    """Whether a Jupyter server with this token answers on this port."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/api/status", headers={"Authorization": f"token {token}"})
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=2) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def address(port: int, token: str, notebook: str = FIRST_NOTEBOOK) -> str:
    """What to open in a browser."""
    return f"http://127.0.0.1:{port}/lab/tree/{notebook}?token={token}"


def command(root: Path, port: int) -> list[str]:
    """The command that starts the server; it opens no browser by itself."""
    as_root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", f"--port={port}",
        "--ServerApp.port_retries=0", f"--ServerApp.root_dir={root}", "--LabApp.extension_manager=readonly",
        "--log-level=WARN", *as_root,
    ]  # fmt: skip


def open_browser(url: str) -> bool:
    """Open the address in the user's browser; False, with a line saying so, where there is none."""
    headless = sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    try:
        opened = not headless and webbrowser.open(url)
    except webbrowser.Error:
        opened = False
    if not opened:
        print("No browser could be opened here: open the address above yourself.", flush=True)
    return opened


def wait_until_answering(server: subprocess.Popen[bytes], port: int, token: str, log: Path) -> None:
    """Return once the server answers. Raises LaunchError with the end of its log where it does not."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and server.poll() is None:
        if answers(port, token):
            return
        time.sleep(0.1)
    told = log.read_text(encoding="utf-8", errors="replace")[-2000:]
    state = f"stopped with code {server.returncode}" if server.poll() is not None else "does not answer"
    server.terminate()
    raise LaunchError(f"JupyterLab {state}. Its last words:\n{told}")


def start(root: Path, state: Path, port: int, browser: bool) -> int:
    """Start the server, print its address, stay until it ends or is told to. Returns its exit code."""
    _stop_on_hangup()
    token = secrets.token_urlsafe(24)
    write_settings(state)
    log = state / "jupyterlab.log"
    with log.open("wb") as sink:
        server = subprocess.Popen(command(root, port), env=environment(state, token), stdout=sink, stderr=sink)
    try:
        wait_until_answering(server, port, token, log)
        url = address(port, token)
        print(f"JupyterLab runs at\n\n    {url}\n\nCtrl-C stops it. Its log is {log}.", flush=True)
        if browser:
            open_browser(url)
        return server.wait()
    except KeyboardInterrupt:
        print("Stopping JupyterLab …", flush=True)
        return 0
    finally:
        stop(server)


def _stop_on_hangup() -> None:
    """A closed terminal and `kill` end like Ctrl-C: the server must not be left behind."""
    for name in ("SIGTERM", "SIGHUP"):  # Windows has no SIGHUP
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.default_int_handler)


def stop(server: subprocess.Popen[bytes]) -> None:
    """End the server kindly, then firmly."""
    for end, seconds in ((server.terminate, 10), (server.kill, 5)):
        if server.poll() is not None:
            return
        end()
        try:
            server.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            continue


def main(arguments: Sequence[str] | None = None) -> int:
    """`python -m codekb.launch [--port N] [--no-browser]`; exit code 1 with one clear message where it cannot start."""
    parser = argparse.ArgumentParser(prog="python -m codekb.launch", description=__doc__)
    parser.add_argument("--port", type=int, help=f"the port to listen on (default: the first free from {DEFAULT_PORT})")
    parser.add_argument("--no-browser", action="store_true", help="print the address and open nothing")
    options = parser.parse_args(arguments)
    try:
        return launch(options.port, browser=not options.no_browser)
    except LaunchError as error:
        print(error, file=sys.stderr, flush=True)
        return 1


def launch(port: int | None = None, *, browser: bool = True) -> int:
    """Use the JupyterLab of this folder that already runs, or start one."""
    root = project_root()
    state = state_folder(root)
    if not os.access(root / "notebooks", os.W_OK):
        print(
            f"{root / 'notebooks'} is not writable: notebooks run, but changes to them cannot be saved here.",
            flush=True,
        )
    running = find_running(state, root)
    if running is not None:
        print(f"JupyterLab of this folder already runs at\n\n    {running.url}\n", flush=True)
        if browser:
            open_browser(running.url)
        return 0
    _require_jupyterlab()
    return start(root, state, choose_port(port), browser)


def _require_jupyterlab() -> None:
    from importlib.util import find_spec

    missing = [name for name in ("jupyterlab", "ipywidgets", "anywidget") if find_spec(name) is None]
    if missing:
        raise LaunchError(f"{', '.join(missing)} not installed in {sys.prefix}: pip install -e '.[notebook]'")


if __name__ == "__main__":
    sys.exit(main())
