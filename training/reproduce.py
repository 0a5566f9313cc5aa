"""From the pinned package list to the shipped weights in one command. The steps are in collect.py and train.py."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
WEIGHTS = HERE.parent / "codekb" / "encoders" / "static.bin"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="folder for downloads and results, outside the tree")
    parser.add_argument("--out", type=Path, default=WEIGHTS, help="weight file to write (default: the package's)")
    options = parser.parse_args()
    work = str(options.work.resolve())
    for command in (
        ["collect.py", "--work", work],
        ["train.py", "--work", work, "--out", str(options.out.resolve())],
    ):
        subprocess.run([sys.executable, str(HERE / command[0]), *command[1:]], check=True)


if __name__ == "__main__":
    main()
