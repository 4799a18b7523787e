"""What the server says about itself: version, health, groups and resources (recordings 01, 25)."""

import re

from sandbox.kubernetes.calls import Answer
from sandbox.kubernetes.documents import Doc
from sandbox.kubernetes.errors import PlainError
from sandbox.kubernetes.resources import BY_PATH, GROUPS, REVIEWS, SUB_VERBS, VERBS, Resource

_HEALTH = frozenset(("/healthz", "/livez", "/readyz"))


def version(git_version: str) -> Doc:
    """What /version says; ACK's own versions carry a suffix and may say `minor` as "18+"."""
    major, minor = re.match(r"v(\d+)\.(\d+\+?)", git_version).groups()  # type: ignore[union-attr]
    number = int(minor.rstrip("+"))
    return {
        "major": major,
        "minor": minor,
        "emulationMajor": major,
        "emulationMinor": minor,
        "minCompatibilityMajor": major,
        "minCompatibilityMinor": str(number - 1),
        "gitVersion": git_version,
        "gitCommit": "98b35193b2ac7a23a673325f5e9b830ecd5ba406",
        "gitTreeState": "clean",
        "buildDate": "2026-12-01T00:00:00Z",
        "goVersion": "go1.26.6",
        "compiler": "gc",
        "platform": "linux/amd64",
    }


def answer(path: str, git_version: str) -> Answer:
    """The answer for a path that is no resource; text/plain 404 for all unknown ones."""
    path = path.rstrip("/")
    if path == "/version":
        return Answer(200, version(git_version))
    if path in _HEALTH:
        return Answer(200, "ok")
    if path == "/api":
        return Answer(200, {"kind": "APIVersions", "versions": ["v1"]})
    if path == "/apis":
        groups = [_group(name) for name in GROUPS]
        return Answer(200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
    steps = path.strip("/").split("/")
    if steps[:1] == ["apis"] and len(steps) == 2 and steps[1] in GROUPS:
        return Answer(200, {"kind": "APIGroup", "apiVersion": "v1", **_group(steps[1])})
    group, found = "/".join(steps[1:-1]), steps[-1]
    known = steps[0] == ("apis" if group else "api") and found == "v1"
    if not known or (group and group not in GROUPS):
        raise PlainError
    return Answer(200, _resources(group))


def _group(name: str) -> Doc:
    version = {"groupVersion": f"{name}/v1", "version": "v1"}
    return {"name": name, "versions": [version], "preferredVersion": version}


def _resources(group: str) -> Doc:
    found = sorted(
        (one for one in BY_PATH.values() if one.group == group), key=lambda one: one.plural
    )
    shown = [part for one in found for part in _shown(one)]
    api_version = f"{group}/v1" if group else "v1"
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": api_version,
        "resources": shown,
    }


def _shown(resource: Resource) -> list[Doc]:
    verbs = ["create"] if resource in REVIEWS else list(VERBS)
    entry: Doc = {"name": resource.plural, "singularName": resource.kind.lower()}
    entry |= {"namespaced": resource.namespaced, "kind": resource.kind, "verbs": verbs}
    if resource.short:
        entry["shortNames"] = list(resource.short)
    if resource.short and resource.group == "apps":
        entry["categories"] = ["all"]
    if resource not in REVIEWS:
        entry["storageVersionHash"] = "sandbox="
    inside = [
        {
            "name": f"{resource.plural}/{sub}",
            "singularName": "",
            "namespaced": resource.namespaced,
            "kind": resource.kind,
            "verbs": list(SUB_VERBS.get(sub, ("create",))),
        }
        for sub in resource.subresources
    ]
    return [entry, *inside]
