"""pods/exec over a websocket: the commands by which /proc/cgpu_km is read, and no others.

`cat FILE...`, `ls DIR`, `grep [-H -r -s] PATTERN FILE...`, `head`/`tail FILE...`, `uname -r`, also
behind `nsenter ... --` and in `sh -c`, there with `;`, `&&`, `||`, `2>/dev/null` and globs.
"""

import fnmatch
import json
import re
import shlex
from dataclasses import dataclass

from sandbox.kubernetes.documents import Doc

_SEPARATORS = frozenset((";", "&&", "||"))
CHANNELS = ("v5.channel.k8s.io", "v4.channel.k8s.io")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command wrote, and its exit code."""

    out: str = ""
    err: str = ""
    code: int = 0

    def frames(self) -> list[bytes]:
        """Channel 1 is stdout, 2 stderr, 3 the Status at the end."""
        frames = [b"\x01" + self.out.encode(), b"\x02" + self.err.encode()]
        status = b"\x03" + json.dumps(self.status()).encode()
        return [*(frame for frame in frames if len(frame) > 1), status]

    def status(self) -> Doc:
        if not self.code:
            return {"metadata": {}, "status": "Success"}
        causes = [{"reason": "ExitCode", "message": str(self.code)}]
        return {
            "metadata": {},
            "status": "Failure",
            "message": f"command terminated with non-zero exit code: exit status {self.code}",
            "reason": "NonZeroExitCode",
            "details": {"causes": causes},
        }


def run(command: list[str], files: dict[str, str]) -> Outcome:
    """Runs the command on a machine with these files."""
    if command and command[0].endswith("nsenter"):
        rest = command.index("--") + 1 if "--" in command else len(command)
        command = command[rest:]
    if len(command) >= 3 and command[0].rpartition("/")[2] in ("sh", "bash") and "c" in command[1]:
        return _script(command[2], files)
    return _one(command, files)


def _script(text: str, files: dict[str, str]) -> Outcome:
    lexer = shlex.shlex(text.replace("\n", ";"), posix=True, punctuation_chars=";&|")
    lexer.whitespace_split = True
    words, out, err, code = [*lexer, ";"], "", "", 0
    command: list[str] = []
    before = ";"
    for word in words:
        if word not in _SEPARATORS:
            command.append(word)
            continue
        if command and not (before == "&&" and code) and not (before == "||" and not code):
            quiet = "2>/dev/null" in command
            told = [one for one in command if one != "2>/dev/null"]
            outcome = _one(_expanded(told, files), files)
            out, err, code = out + outcome.out, err + ("" if quiet else outcome.err), outcome.code
        command, before = [], word
    return Outcome(out, err, code)


def _expanded(words: list[str], files: dict[str, str]) -> list[str]:
    known = sorted({*files, *_folders(files)})
    result = []
    for word in words:
        pattern = "^" + fnmatch.translate(word).replace(".*", "[^/]*") if "*" in word else ""
        found = [name for name in known if pattern and re.match(pattern, name)]
        result += found or [word]
    return result


def _folders(files: dict[str, str]) -> set[str]:
    found = {"/proc"}
    for name in files:
        parts = name.split("/")
        found |= {"/".join(parts[:count]) for count in range(2, len(parts))}
    return found


def _one(command: list[str], files: dict[str, str]) -> Outcome:
    if not command:
        return Outcome()
    name, arguments = command[0].rpartition("/")[2], command[1:]
    if name in ("true", "exit"):
        return Outcome()
    if name == "uname":
        return Outcome("5.10.134-16.3.al8.x86_64\n")
    if name == "echo":
        return Outcome(" ".join(arguments) + "\n")
    paths = [one for one in arguments if not one.startswith("-") or one == "-"]
    if name in ("cat", "head", "tail"):
        return _cat(name, [one for one in paths if not one.lstrip("+").isdigit()], files)
    if name == "ls":
        return _ls(paths, files)
    if name == "grep":
        return _grep(arguments, files)
    text = f'exec: "{command[0]}": executable file not found in $PATH'
    return Outcome(err=text, code=127)


def _missing(name: str, path: str) -> str:
    return f"{name}: {path}: No such file or directory\n"


def _cat(name: str, paths: list[str], files: dict[str, str]) -> Outcome:
    out, err = "", ""
    for path in paths:
        if path not in files:
            err += _missing(name, path)
            continue
        if len(paths) > 1 and name != "cat":
            out += f"==> {path} <==\n"
        out += files[path]
    return Outcome(out, err, 1 if err else 0)


def _ls(paths: list[str], files: dict[str, str]) -> Outcome:
    out, err = "", ""
    everything = {*files, *_folders(files)}
    for path in (one.rstrip("/") for one in paths):
        inside = {
            one[len(path) + 1 :].split("/")[0] for one in everything if one.startswith(f"{path}/")
        }
        if path in files:
            out += f"{path}\n"
        elif inside:
            out += "".join(f"{one}\n" for one in sorted(inside))
        else:
            err += f"ls: cannot access '{path}': No such file or directory\n"
    return Outcome(out, err, 2 if err else 0)


def _grep(arguments: list[str], files: dict[str, str]) -> Outcome:
    options = "".join(one[1:] for one in arguments if one.startswith("-"))
    pattern, *paths = [one for one in arguments if not one.startswith("-")]
    recursive = "r" in options or "R" in options
    found: list[str] = []
    err = ""
    for path in paths:
        below = [name for name in sorted(files) if recursive and name.startswith(f"{path}/")]
        if path in files:
            below.append(path)
        if not below:
            err += "" if "s" in options else _missing("grep", path)
        found += below
    named = "h" not in options and ("H" in options or recursive or len(paths) > 1)
    lines = [
        f"{name}:{line}\n" if named else f"{line}\n"
        for name in found
        for line in files[name].splitlines()
        if re.search(pattern, line)
    ]
    return Outcome("".join(lines), err, 0 if lines else 1)
