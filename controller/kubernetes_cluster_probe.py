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
    "nsenter", "-t", "1", "-m", "--", "sh", "-c",
    "cd /proc/cgpu_km 2>/dev/null || { echo absent; exit 0; }; "
    "grep -rH . version [0-9]*/policy [0-9]*/*/id 2>/dev/null; echo end",
]  # fmt: skip
"""Every file as `path:content`, a line each; `end` says that nothing is missing."""

_POLICY: Final = re.compile(r"(\d+)/policy:(.*)")
_CONTAINER: Final = re.compile(r"\d+/[^/]+/id:")


def parsed(output: str, boot: str) -> Probe:
    """The reading that the command's output is, made at this boot of the node."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    if lines == ["absent"]:
        return Reading(boot=boot)
    if not lines or lines[-1] != "end":
        return Unknown("the answer of its /proc/cgpu_km was cut short")
    versions = [line.partition(":")[2].strip() for line in lines if line.startswith("version:")]
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
