"""Versions of cGPU and of Kubernetes, compared by their leading three numbers.

ACK's tags (`v1.5.3-8d3fc1b-aliyun`, `v1.0.7-fin`) and versions (`v1.18.8-aliyun.1`) are neither
SemVer nor PEP 440, which would refuse the very minimums that the documentation names
(facts/cgpu.md, finding 3 and 2.3). What cannot be read is Unknown, and Unknown never passes.
"""

import re
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias


class Version(NamedTuple):
    """The three numbers that count."""

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


@dataclass(frozen=True)
class Unknown:
    """Something that could not be read; `why` is a clause such as `the tag 'latest' names none`."""

    why: str


Read: TypeAlias = Version | Unknown

OLDEST_KUBERNETES: Final = Version(1, 18, 8)
OLDEST_CGPU: Final = Version(1, 0, 6)
SAFE_CGPU: Final = Version(1, 5, 10)
"""Before it a deadlock in the kernel module can bring a node down (facts/cgpu.md, finding 4)."""

_LEADING: Final = re.compile(r"[vV]?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?!\d)", re.ASCII)


def read_version(text: str) -> Version | None:
    """The leading three numbers; None where there are not three."""
    match = _LEADING.match(text.strip())
    return Version(*map(int, match.groups())) if match else None


def image_version(image: str) -> Read:
    """The cGPU version that an image's tag names, whatever its registry."""
    tag = image_tag(image)
    if tag is None:
        said = "only a digest" if "@" in image else "no tag"
        return Unknown(f"the image {image!r} has {said}, which names no version")
    found = read_version(tag)
    return found or Unknown(f"the tag {tag!r} names no version of three numbers")


def image_tag(image: str) -> str | None:
    """The tag of an image, None where it has none; a registry's port is no tag."""
    name = image.partition("@")[0].rpartition("/")[2]
    _, colon, tag = name.partition(":")
    return tag if colon and tag else None


def image_name(image: str) -> str:
    """The last part of an image's repository.

    >>> image_name("registry:5000/acs/cgpu-installer:v1.0.6@sha256:0f")
    'cgpu-installer'
    """
    return image.partition("@")[0].rpartition("/")[2].partition(":")[0]


def kubernetes_version(git_version: str) -> Read:
    """An API server's version, such as `v1.20.4-aliyun.1`."""
    found = read_version(git_version)
    return found or Unknown(f"the API server calls its version {git_version!r}")
