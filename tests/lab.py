"""A real JupyterLab in a real Chromium for tests: started on a folder of notebooks, driven by Playwright."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from codekb import launch

CHROMIUM_FLAGS = [
    f"--{flag}"
    for flag in (
        "no-sandbox",
        "disable-gpu",
        "disable-quic",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
    )
]
CANDIDATES = ("chromium", "chromium-browser", "google-chrome")
READY = ".jp-StatusBar-Widget :text('| Idle')"
RUN_ALL = "li.lm-Menu-item[data-command='runmenu:run-all']"
PATIENCE_MS = 240_000
"""A page of the course takes 5-15 s on an idle machine; a machine shared by many tests is no failure."""


def chromium_path() -> str:
    """Chromium's path, or a skip with one line; a failure where CODEKB_REQUIRE_BROWSER=1."""
    given = os.environ.get("CODEKB_CHROMIUM")
    found = given or next((p for p in map(shutil.which, CANDIDATES) if p), None)
    if found:
        return found
    reason = f"no Chromium ({', '.join(CANDIDATES)}) in PATH; set CODEKB_CHROMIUM to its path"
    if os.environ.get("CODEKB_REQUIRE_BROWSER") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@contextmanager
def running_lab(root: Path, state: Path) -> Iterator[str]:
    """A JupyterLab over `root` with folders of its own below `state`: yields its base address with `{path}`."""
    port, token = launch.choose_port(None), secrets.token_hex(8)
    launch.write_settings(state)
    log = state / "log"
    with log.open("wb") as sink:
        server = subprocess.Popen(
            launch.command(root, port), env=launch.environment(state, token), stdout=sink, stderr=sink, cwd=root
        )
    try:
        launch.wait_until_answering(server, port, token, log)
        yield launch.address(port, token, "{path}")
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/api/shutdown", method="POST", headers={"Authorization": f"token {token}"}
        )
        with urllib.request.urlopen(request, timeout=10):
            pass
        server.wait(timeout=15)
    finally:
        launch.stop(server)


@contextmanager
def running_chromium() -> Iterator[Any]:
    """A Chromium without a window; one at a time in a process."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def new_page(browser: Any, *, width: int = 1300, height: int = 1000) -> Any:
    """A page of its own, at the width of a small screen."""
    page = browser.new_page(viewport={"width": width, "height": height})
    page.set_default_timeout(PATIENCE_MS)
    return page


def open_and_run(page, address: str, path: str) -> None:
    """Open a notebook, wait for its kernel, run all cells, wait until it is idle again."""
    page.goto(address.format(path=path))
    page.wait_for_selector(READY)
    page.click("text=Run >> nth=0")
    page.click(RUN_ALL)
    page.wait_for_selector(READY)
