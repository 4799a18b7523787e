"""pods/exec: the commands by which /proc/cgpu_km is read, in a shell that can do no more.

cat, head, tail, ls, grep, echo, uname, cd and exit; also behind `nsenter ... --` and in `sh -c`,
there with `;`, `&&`, `||`, `{ ...; }`, `2>/dev/null` and globs.
"""

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from sandbox.kubernetes.documents import Doc

CHANNELS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
_LINKS = frozenset((";", "&&", "||"))
_TRUE = ("true", "True", "1")
_QUIET = "2>/dev/null"
_KERNEL = "5.10.134-16.3.al8.x86_64"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command wrote, and its exit code."""

    out: str = ""
    err: str = ""
    code: int = 0

    def frames(self, asked: Mapping[str, str]) -> list[bytes]:
        """Channel 1 is stdout, 2 stderr, where they are asked for; 3 the Status at the end."""
        frames = []
        if self.out and asked.get("stdout") in _TRUE:
            frames.append(b"\x01" + self.out.encode())
        if self.err and asked.get("stderr") in _TRUE:
            frames.append(b"\x02" + self.err.encode())
        return [*frames, b"\x03" + json.dumps(self.status()).encode()]

    def status(self) -> Doc:
        if not self.code:
            return {"metadata": {}, "status": "Success"}
        return {
            "metadata": {},
            "status": "Failure",
            "message": f"command terminated with non-zero exit code: exit status {self.code}",
            "reason": "NonZeroExitCode",
            "details": {"causes": [{"reason": "ExitCode", "message": str(self.code)}]},
        }


def run(command: list[str], files: dict[str, str]) -> Outcome:
    """Runs the command on a machine with these files."""
    if command and command[0].endswith("nsenter"):
        command = command[command.index("--") + 1 :] if "--" in command else []
    if len(command) == 3 and command[0].rpartition("/")[2] in ("sh", "bash"):
        lexer = shlex.shlex(command[2].replace("\n", ";"), posix=True, punctuation_chars=";&|")
        lexer.whitespace_split = True
        shell = _Shell(files)
        shell.run(list(lexer))
        return Outcome(shell.out, shell.err, shell.code)
    return _performed(command, files)


@dataclass(slots=True)
class _Shell:
    """A script on its way; `view` has the files by their names from where it stands."""

    files: dict[str, str]
    out: str = ""
    err: str = ""
    code: int = 0
    over: bool = False
    view: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.view = self.files

    def run(self, words: list[str]) -> None:
        link, statement, depth = ";", list[str](), 0
        for word in [*words, ";"]:
            depth += (word == "{") - (word == "}")
            if word not in _LINKS or depth:
                statement.append(word)
                continue
            if statement and self._goes_on(link):
                self._perform(statement)
            link, statement = word, []

    def _goes_on(self, link: str) -> bool:
        return not self.over and (link == ";" or (link == "&&") == (self.code == 0))

    def _perform(self, statement: list[str]) -> None:
        if statement[0] == "{":
            self.run(statement[1 : statement.index("}")])
            return
        quiet = _QUIET in statement
        words = [word for word in statement if word != _QUIET]
        if words[0] == "exit":
            self.over, self.code = True, int(words[1]) if words[1:] else self.code
            return
        outcome = self._enter(words[1]) if words[0] == "cd" else self._simple(words)
        self.out, self.code = self.out + outcome.out, outcome.code
        self.err += "" if quiet else outcome.err

    def _enter(self, folder: str) -> Outcome:
        folder = folder.rstrip("/")
        below = {
            name[len(folder) + 1 :]: text
            for name, text in self.files.items()
            if name.startswith(f"{folder}/")
        }
        if not below:
            return Outcome(err=f"sh: 1: cd: can't cd to {folder}\n", code=2)
        self.view = {**self.files, **below}
        return Outcome()

    def _simple(self, words: list[str]) -> Outcome:
        known = sorted({*self.view, *_folders(self.view)})
        expanded = []
        for word in words:
            pattern = _pattern(word) if "*" in word or "?" in word else None
            found = [name for name in known if pattern and pattern.fullmatch(name)]
            expanded += found or [word]
        return _performed(expanded, self.view)


def _pattern(glob: str) -> re.Pattern[str]:
    parts = re.findall(r"\*|\?|\[[^\]]+\]|[^*?\[]+", glob)
    said = {"*": "[^/]*", "?": "[^/]"}
    return re.compile(
        "".join(part if part.startswith("[") else said.get(part, re.escape(part)) for part in parts)
    )


def _folders(files: dict[str, str]) -> set[str]:
    """All folders that the files lie in."""
    found = {"/proc"}
    for name in files:
        parts = name.split("/")
        found |= {"/".join(parts[:count]) for count in range(1, len(parts))} - {""}
    return found


def _performed(command: list[str], files: dict[str, str]) -> Outcome:
    name, arguments = (command[0].rpartition("/")[2], command[1:]) if command else ("true", [])
    paths = [one for one in arguments if not one.startswith("-")]
    if name == "true":
        return Outcome()
    if name == "uname":
        return Outcome(f"{_KERNEL}\n")
    if name == "echo":
        return Outcome(" ".join(arguments) + "\n")
    if name in ("cat", "head", "tail"):
        return _cat(name, [one for one in paths if not one.lstrip("+").isdigit()], files)
    if name == "ls":
        return _ls(paths, files)
    if name == "grep":
        return _grep(arguments, files)
    return Outcome(err=f'exec: "{command[0]}": executable file not found in $PATH', code=127)


def _missing(name: str, path: str) -> str:
    return f"{name}: {path}: No such file or directory\n"


def _cat(name: str, paths: list[str], files: dict[str, str]) -> Outcome:
    out, err = "", ""
    for path in paths:
        if path not in files:
            err += _missing(name, path)
            continue
        titled = len(paths) > 1 and name != "cat"
        out += (f"==> {path} <==\n" if titled else "") + files[path]
    return Outcome(out, err, 1 if err else 0)


def _ls(paths: list[str], files: dict[str, str]) -> Outcome:
    out, err = "", ""
    everything = {*files, *_folders(files)}
    for path in (one.rstrip("/") for one in paths):
        below = [one[len(path) + 1 :] for one in everything if one.startswith(f"{path}/")]
        inside = sorted({one.split("/")[0] for one in below})
        if path in files:
            out += f"{path}\n"
        elif inside:
            out += "".join(f"{one}\n" for one in inside)
        else:
            err += f"ls: cannot access '{path}': No such file or directory\n"
    return Outcome(out, err, 2 if err else 0)


def _grep(arguments: list[str], files: dict[str, str]) -> Outcome:
    options = "".join(one[1:] for one in arguments if one.startswith("-"))
    pattern, *paths = [one for one in arguments if not one.startswith("-")]
    found: list[str] = []
    err = ""
    for path in paths:
        below = [name for name in sorted(files) if "r" in options and name.startswith(f"{path}/")]
        below += [path] if path in files else []
        if not below and "s" not in options:
            err += _missing("grep", path)
        found += below
    named = "H" in options or "r" in options or len(paths) > 1
    lines = [
        f"{name}:{line}\n" if named else f"{line}\n"
        for name in found
        for line in files[name].splitlines()
        if re.search(pattern, line)
    ]
    return Outcome("".join(lines), err, 2 if err else 0 if lines else 1)
