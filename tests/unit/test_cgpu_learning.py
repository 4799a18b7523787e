"""What proves which policy a module has, and what proves nothing."""

from dataclasses import replace

import pytest

from domain.cgpu_cluster import Cluster, Reading
from domain.cgpu_learning import learn
from domain.cgpu_memory import Memory, NodeMemory, Proof
from domain.cgpu_versions import Unknown
from tests.cgpu_clusters import START, installer, look, node, pod

OLD = look(0)
PATCHED = {"installers": (installer("3", 2),)}


def after(*looks: Cluster) -> NodeMemory | None:
    """What is known of the node after these looks."""
    memory = Memory()
    for one in looks:
        memory = learn(memory, one)
    return memory.nodes.get("gpu-1")


def known(*looks: Cluster) -> tuple[int | None, Proof | None]:
    found = after(*looks)
    assert found is not None
    return found.loaded, found.proof


def rolled(minutes: float, **given: object) -> Cluster:
    """A look at which the installer is set to 3, and its pod too."""
    return look(minutes, **{**PATCHED, "installer_pods": (pod(3),), **given})


BOOTED = {"nodes": (node(boot="gpu-1-second"),)}


def test_a_node_that_was_there_at_the_first_look_is_presumed() -> None:
    assert known(OLD) == (1, Proof.PRESUMED)


def test_a_new_setting_alone_loads_nothing() -> None:
    assert known(OLD, rolled(1)) == (1, Proof.PRESUMED)


def test_a_boot_under_the_new_setting_loads_it() -> None:
    assert known(OLD, rolled(1), rolled(2, **BOOTED)) == (3, Proof.BOOTED)


def test_a_boot_between_two_looks_at_different_settings_proves_nothing() -> None:
    assert known(OLD, rolled(1, **BOOTED)) == (None, None)


def test_a_boot_while_the_setting_went_there_and_back_proves_nothing() -> None:
    there_and_back = look(1, installers=(installer("1", 3),), **BOOTED)

    assert known(OLD, there_and_back) == (None, None)


def test_a_boot_while_the_controller_lags_proves_nothing() -> None:
    lagging = look(1, installers=(installer("3", 2, observed_generation=1),))
    booted = rolled(2, **BOOTED)

    assert known(OLD, lagging, booted) == (None, None)


def test_a_boot_at_which_the_pod_was_replaced_proves_nothing() -> None:
    before = look(1, **PATCHED)  # with OnDelete: the pod still has the old setting

    assert known(OLD, before, rolled(2, **BOOTED)) == (None, None)


def test_a_boot_with_a_pod_that_was_not_replaced_loads_its_old_setting() -> None:
    before = look(1, **PATCHED)
    booted = look(2, **PATCHED, **BOOTED)

    assert known(OLD, before, booted) == (1, Proof.BOOTED)


def test_a_node_that_is_ready_again_with_the_same_boot_has_not_restarted() -> None:
    lost = rolled(2, nodes=(node(ready=False),))

    assert known(OLD, rolled(1), lost, rolled(3)) == (1, Proof.PRESUMED)


def test_nothing_is_learnt_until_the_pod_is_ready() -> None:
    starting = rolled(2, **BOOTED, installer_pods=(pod(3, ready=False),))
    before = after(OLD, rolled(1))

    assert after(OLD, rolled(1), starting) == before
    assert known(OLD, rolled(1), starting, rolled(3, **BOOTED)) == (3, Proof.BOOTED)


def test_a_node_made_while_the_setting_held_has_joined_with_it() -> None:
    before = look(0, nodes=(), installer_pods=())
    joined = look(2, nodes=(node(created_at=look(1).at),))

    assert known(before, joined) == (1, Proof.JOINED)


def test_a_node_made_before_the_setting_was_seen_is_presumed() -> None:
    before = look(5, nodes=(), installer_pods=())
    late = look(6, nodes=(node(created_at=look(4).at),))

    assert known(before, late) == (1, Proof.PRESUMED)


def test_a_node_of_the_same_name_and_another_uid_is_another() -> None:
    again = rolled(2, nodes=(node(uid="another", boot="another", created_at=START),))

    assert known(OLD, rolled(1), again) == (3, Proof.PRESUMED)


def test_a_node_that_is_gone_is_forgotten() -> None:
    assert after(OLD, look(1, nodes=(), installer_pods=())) is None


def reading(*policies: int | None) -> dict[str, dict[str, Reading | Unknown]]:
    return {"readings": {"gpu-1": Reading(boot="gpu-1-first", version="1.5.13", policies=policies)}}


def test_what_is_read_is_known() -> None:
    assert known(look(0, **reading(4, 4))) == (4, Proof.READ)


@pytest.mark.parametrize("policies", [(1, 2), (1, None), (None,), ()])
def test_gpus_that_differ_or_cannot_be_read_leave_the_node_unknown(
    policies: tuple[int | None, ...],
) -> None:
    assert known(look(0, **reading(*policies))) == (None, None)


def test_what_was_proven_stays_what_later_readings_are_held_against() -> None:
    assert known(look(0, **reading(1, 1)), look(1, **reading(4, 4))) == (1, Proof.READ)


def test_a_reading_of_another_boot_says_nothing() -> None:
    stale = {"gpu-1": Reading(boot="before", version="1.5.13", policies=(4,))}

    assert known(look(0, readings=stale)) == (1, Proof.PRESUMED)


def test_a_node_that_could_not_be_read_is_as_it_was() -> None:
    assert known(look(0, readings={"gpu-1": Unknown("denied")})) == (1, Proof.PRESUMED)


def test_a_setting_that_is_no_policy_teaches_nothing() -> None:
    assert known(replace(OLD, installer_pods=(pod(None),))) == (None, None)
