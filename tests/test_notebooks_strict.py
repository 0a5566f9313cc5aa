"""Every notebook gives its saved outputs again. A file of its own, so that two workers share the notebooks."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from test_notebooks import ROOT, each_notebook


@each_notebook
@pytest.mark.notebook
def test_gives_its_saved_outputs_again_under_strict_comparison(path):
    """A second process with another hash seed, so that an order left to chance shows."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "--nbval",
        str(path),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=os.environ | {"PYTHONHASHSEED": "7"})
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
