"""Reading /proc/cgpu_km on a node, through the installer's pod there (facts/cgpu.md, 1.5).

The layout is that of version 0.8.8, the only one whose source is public; names that are not known
are passed over, and what does not look like it is Unknown.
"""

import re
from typing import Final

from domain.cgpu import read_policy
from domain.cgpu_cluster import Probe, Reading
from domain.cgpu_versions import Unknown, read_version

COMMAND: Final = [
    "nsenter", "-t", "1", "-i", "-p", "-n", "-u", "-m", "--",
    "sh", "-c", "ls /proc/cgpu_km; grep -rHs . /proc/cgpu_km; echo end",
]  # fmt: skip
"""What is there, then every file as `path:content`, a line each; `end` says that all was said.

The documentation enters the node's namespaces in the same way.
"""

_VERSION: Final = re.compile(r"/proc/cgpu_km/version:(.*)")
_POLICY: Final = re.compile(r"/proc/cgpu_km/(\d+)/policy:(.*)")
_CONTAINER: Final = re.compile(r"/proc/cgpu_km/\d+/[^/]+/id:")


def parsed(output: str, boot: str) -> Probe:
    """The reading that the command's output is, made at this boot of the node."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    if lines == ["end"]:
        return Reading(boot=boot)
    if not lines or lines[-1] != "end":
        return Unknown("the answer of its /proc/cgpu_km was cut short")
    versions = [match[1].strip() for line in lines if (match := _VERSION.fullmatch(line))]
    if len(versions) != 1 or read_version(versions[0]) is None:
        return Unknown("its /proc/cgpu_km names no version")
    found = {
        int(match[1]): read_policy(match[2]) for line in lines if (match := _POLICY.fullmatch(line))
    }
    return Reading(
        boot=boot,
        version=versions[0],
        policies=tuple(found[gpu] for gpu in sorted(found)),
        containers=sum(bool(_CONTAINER.match(line)) for line in lines),
    )
