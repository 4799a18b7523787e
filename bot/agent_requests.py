"""What a task asks of Kubernetes where a pool's nodes share their cards by cGPU.

The amounts are those of facts/cgpu.md 3.1: memory in whole GiB, computing power in steps of 5 %.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import yaml

from bot.blocks import escape, name
from bot.settings import Settings
from controller.cgpu_view import last_view
from domain.amounts import Amount, format_amount
from domain.cgpu_cluster import GPU_MEMORY, SCHEDULE_LABEL
from domain.cgpu_fractions import Share, is_shared, share_of
from domain.cgpu_pools import card_memories
from domain.configuration import Pool, Profile
from storage.database import Session


@dataclass(frozen=True, kw_only=True)
class Shared:
    """A profile on a pool of cGPU nodes. `share` is None for whole GPUs, or while the size of the
    cards is not known; `memory` are the GiB of the smallest card."""

    pool: Pool
    amount: Amount
    memory: int | None
    share: Share | None

    @property
    def label(self) -> str:
        return dict(self.pool.nodes).get(SCHEDULE_LABEL, "cgpu")


def shared_cards(session: Session, settings: Settings) -> Mapping[str, int] | None:
    """GiB of the smallest card of each pool that names its nodes; None without Kubernetes."""
    if not settings.has_kubernetes:
        return None
    view = last_view(session)
    return card_memories(view.pools) if view else {}


def shared_in(pool: Pool, profile: Profile, memory: int | None) -> Shared | None:
    """What the profile's tasks ask for in the pool; None where its nodes share no cards."""
    if not is_shared(pool):
        return None
    share = share_of(profile.allotment, memory or 0)
    return Shared(pool=pool, amount=profile.allotment, memory=memory, share=share)


def cgpu_snippets(queue: str, shared: Shared, most: int) -> list[tuple[str, str]]:
    """(what it is, its text) of the two charts; a daemon cannot ask for a part of a card."""
    assert shared.share is not None, "there is something to ask for"
    template = {
        **_labels(shared.share),
        "nodeSelector": dict(shared.pool.nodes),
        "resources": {"limits": shared.share.limits(shared.label)},
    }
    enterprise = {
        "agentk8sglue": {
            "queues": {
                queue: {
                    "templateOverrides": template,
                    "queueSettings": {"maxPods": max(1, most)},
                }
            }
        }
    }
    open_source = {
        "agentk8sglue": {
            "queue": queue,
            "createQueueIfNotExists": False,
            "basePodTemplate": template,
        }
    }
    return [
        ("ClearML Enterprise chart, values", _yaml(enterprise)),
        ("Open-source chart `clearml-agent`, values of a release of its own", _yaml(open_source)),
    ]


def _labels(share: Share) -> dict[str, object]:
    found = share.pod_labels()
    return {"labels": found} if found else {}


def _yaml(document: object) -> str:
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True).rstrip()


def cgpu_hints(shared: Shared) -> list[str]:
    """What the snippets cannot say by themselves."""
    share, memory = shared.share, shared.memory
    if memory is None:
        return [
            f"The nodes of pool {name(shared.pool.name)} share their cards by cGPU, but how large "
            "these are is not known yet: what is shown asks for whole GPUs, which these nodes do "
            "not give out. Ask again when Kubernetes has been looked at."
        ]
    if share is None:
        return [
            "The nodes of this pool share their cards by cGPU and give out no `nvidia.com/gpu`: "
            f"ask for `{GPU_MEMORY}: {int(shared.amount) * memory}` instead."
        ]
    cards = f"cards of {memory} GiB, the smallest of the pool"
    asked = f"{format_amount(shared.amount)} of a GPU is {share.memory} GiB on {cards}"
    power = f" and {share.percentage} % of computing power" if shared.label == "core_mem" else ""
    return [f"{asked}{power}.", *(f"{escape(note[0].upper() + note[1:])}." for note in share.notes)]
