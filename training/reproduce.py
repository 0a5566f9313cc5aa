"""From the pinned package list to the weights and their figures on the development packages, in one command.

The steps are in collect.py, train.py and report.py. Functions or pairs that lie in the work folder already are used
again, so that an interrupted run goes on.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
WEIGHTS = HERE.parent / "codekb" / "encoders" / "static.bin"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="folder for downloads and results, outside the tree")
    parser.add_argument("--out", type=Path, default=WEIGHTS, help="weight file to write (default: the package's)")
    options = parser.parse_args()
    work, out = options.work.resolve(), options.out.resolve()
    collected = all((work / f"functions-{language}-0.jsonl.gz").exists() for language in ("python", "go"))
    report = ["report.py", "--packages", "development", "--without", "minilm,wordllama", "--weights", out]
    steps: list[tuple[str, list[str | Path]]] = [
        *([] if collected else [("collect", ["collect.py"])]),
        ("train", ["train.py", "--out", out]),
        ("evaluate, Python", [*report, "--language", "python"]),
        ("evaluate, Go", [*report, "--language", "go"]),
    ]
    for name, (script, *arguments) in steps:
        started = time.monotonic()
        subprocess.run([sys.executable, HERE / script, "--work", work, *arguments], check=True)
        print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
