"""What does not fit together in a configuration document: names, references, priority lists.

It looks at the document as parsed, not at what the models made of it: so that a wrong amount does
not hide an unknown pool. Parts of a wrong shape are passed over here, the models name them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from storage.document_problems import Problem, nearest, shown

_KINDS = {"pools": "pool", "profiles": "profile", "policies": "policy"}


@dataclass(frozen=True)
class _Named:
    """The entries of one top-level list: place → entry, and every name with its places."""

    kind: str
    entries: Mapping[str, Mapping[object, object]]
    places: Mapping[str, list[str]] = field(default_factory=dict)
    is_complete: bool = True

    def unknown(self, where: str, name: str) -> Iterator[Problem]:
        """The problem of referring to something by a name that nothing has."""
        # With an unreadable name among them the list cannot tell what is unknown.
        if name in self.places or not self.is_complete:
            return
        close = nearest(name, self.places)
        remedy = f"did you mean {shown(close)}?" if close else f"add it or take {where} away"
        yield Problem(where, f"there is no {self.kind} {shown(name)}", remedy)


def misfits(tree: object) -> Iterator[Problem]:
    """Duplicate names, unknown references and priority lists that do not match the links."""
    pools, profiles, policies = (_named(tree, key) for key in _KINDS)
    yield from _duplicates(pools)
    yield from _duplicates(profiles)
    yield from _duplicates(policies)
    yield from _duplicates(_inner(profiles, "pools", "link", "link"))
    yield from _duplicates(_inner(policies, "queues", "queue", "queue"))
    yield from _links(pools, profiles)
    yield from _intakes(profiles, policies)


def _links(pools: _Named, profiles: _Named) -> Iterator[Problem]:
    linked: dict[str, set[str]] = {}
    for place, entry in profiles.entries.items():
        for where, link in _mappings(entry, "pools", place):
            for pool in _texts(link.get("pool")):
                yield from pools.unknown(f"{where}.pool", pool)
                linked.setdefault(pool, set()).update(_texts(entry.get("name")))
    for place, entry in pools.entries.items():
        for name in _texts(entry.get("name")):
            where = f"{place}.profiles"
            yield from _order(where, entry.get("profiles"), linked.get(name, set()), profiles)


def _intakes(profiles: _Named, policies: _Named) -> Iterator[Problem]:
    using: dict[str, set[str]] = {}
    for place, entry in policies.entries.items():
        seen: set[str] = set()
        for where, queue in _mappings(entry, "queues", place):
            for profile in _texts(queue.get("profile")):
                yield from profiles.unknown(f"{where}.profile", profile)
                using.setdefault(profile, set()).update(_texts(entry.get("name")))
                if profile in seen:
                    what = f"the policy has another queue for the profile {shown(profile)}"
                    yield Problem(f"{where}.profile", what, "leave one queue a profile")
                seen.add(profile)
    for place, entry in profiles.entries.items():
        for name in _texts(entry.get("name")):
            where = f"{place}.policies"
            yield from _order(where, entry.get("policies"), using.get(name, set()), policies)


def _order(where: str, raw: object, wanted: set[str], named: _Named) -> Iterator[Problem]:
    """The problems of a priority list that is to have each name of `wanted` exactly once."""
    if not (raw is None or isinstance(raw, list)):
        return
    connection = "linked to this pool" if named.kind == "profile" else "using this profile"
    given = Counter(name for item in raw or () for name in _texts(item))
    for name, times in given.items():
        if times > 1:
            what = f"the {named.kind} {shown(name)} stands here {times} times"
            yield Problem(where, what, "name it once")
        if name not in named.places:
            yield from named.unknown(where, name)
        elif name not in wanted:
            what = f"the {named.kind} {shown(name)} is not {connection}"
            yield Problem(where, what, "take it away or connect it")
    for name in sorted(wanted - given.keys()):
        if name in named.places:
            what = f"the {named.kind} {shown(name)}, {connection}, is not in the list"
            yield Problem(where, what, "name each exactly once, in the order of priority")


def _duplicates(named: _Named) -> Iterator[Problem]:
    for name, places in named.places.items():
        for place in places[1:]:
            what = f"the {named.kind} {shown(name)} is there already, as {places[0]}"
            yield Problem(place, what, "give one of them another name")


def _named(tree: object, key: str) -> _Named:
    entries = dict(_mappings(tree, key, ""))
    return _gathered(_KINDS[key], entries, "name")


def _inner(outer: _Named, key: str, kind: str, name_key: str) -> _Named:
    entries = {
        where: entry
        for place, parent in outer.entries.items()
        for where, entry in _mappings(parent, key, place)
    }
    return _gathered(kind, entries, name_key)


def _gathered(kind: str, entries: Mapping[str, Mapping[object, object]], name_key: str) -> _Named:
    places: dict[str, list[str]] = {}
    for place, entry in entries.items():
        for name in _texts(entry.get(name_key)):
            places.setdefault(name, []).append(f"{place}.{name_key}")
    count = sum(map(len, places.values()))
    return _Named(kind, entries, places, count == len(entries))


def _mappings(tree: object, key: str, place: str) -> Iterator[tuple[str, Mapping[object, object]]]:
    """The mappings in the list under `key` of `tree`, each with its place."""
    items = tree.get(key) if isinstance(tree, dict) else None
    for index, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict):
            yield f"{place}.{key}[{index}]".removeprefix("."), item


def _texts(value: object) -> Iterable[str]:
    return (value,) if isinstance(value, str) else ()
