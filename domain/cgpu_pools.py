"""What the nodes of a pool have: whole GPUs to give out, and the size of their cards."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from domain.amounts import Amount, format_amount
from domain.cgpu_cluster import Node
from domain.configuration import Configuration, Pool
from domain.names import listing, quoted


@dataclass(frozen=True, kw_only=True)
class PoolNodes:
    """The nodes that a pool's labels select. `gpus` are their allocatable whole GPUs, None where a
    node does not say how many it has; `card_memory` the GiB of the smallest card that is shared.
    """

    pool: str
    nodes: int
    gpus: int | None
    card_memory: int | None = None
    silent: tuple[str, ...] = ()


def pool_nodes(configuration: Configuration, nodes: Iterable[Node]) -> tuple[PoolNodes, ...]:
    """One for each pool that names its nodes."""
    seen = tuple(nodes)
    return tuple(_of(pool, seen) for pool in configuration.pools if pool.nodes)


def allocatable(found: Iterable[PoolNodes]) -> dict[str, Amount]:
    """For `domain.validation.Observed`: the GPUs by pool, those that are not known left out."""
    return {one.pool: Fraction(one.gpus) for one in found if one.gpus is not None}


def card_memories(found: Iterable[PoolNodes]) -> dict[str, int]:
    """GiB of the smallest card, by pool, where it is known."""
    return {one.pool: one.card_memory for one in found if one.card_memory is not None}


def gpus_of(node: Node) -> int | None:
    """A node's whole GPUs: as given out, or its cards where it shares them; None where unknown.

    On sharing nodes `nvidia.com/gpu` is 0 (facts/cgpu.md, 1.3).
    """
    if node.isolates or (node.memory or 0) > 0:
        return node.cards
    if node.whole is not None:
        return node.whole
    return node.cards


def selects(labels: Mapping[str, str], pool: Pool) -> bool:
    """Whether a node with these labels is one of the pool's."""
    return all(labels.get(key) == value for key, value in pool.nodes)


def _of(pool: Pool, nodes: Iterable[Node]) -> PoolNodes:
    chosen = [node for node in nodes if selects(node.labels, pool)]
    counts = {node.name: gpus_of(node) for node in chosen}
    silent = tuple(name for name, count in counts.items() if count is None)
    memories = [memory for node in chosen if (memory := node.card_memory)]
    known = sum(count for count in counts.values() if count is not None)
    return PoolNodes(
        pool=pool.name,
        nodes=len(chosen),
        gpus=None if silent else known,
        card_memory=min(memories, default=None),
        silent=silent,
    )


def size_notes(configuration: Configuration, found: Iterable[PoolNodes]) -> tuple[str, ...]:
    """A sentence for each pool whose size is not what its nodes have, or whose nodes do not say."""
    notes = []
    for one in found:
        pool = configuration.pool_by_name.get(one.pool)
        if pool is None:
            continue
        if one.silent:
            names = listing(one.silent)
            notes.append(f"How many GPUs pool {quoted(one.pool)} has is unknown: {names} say not.")
        elif one.gpus != pool.resources:
            notes.append(
                f"Pool {quoted(one.pool)} has {format_amount(pool.resources)} resources, but its "
                f"{one.nodes} nodes have {one.gpus} allocatable GPUs."
            )
    return tuple(notes)
