"""cGPU's policies, versions and fractions, as the facts have them."""

from collections.abc import Mapping
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.cgpu import POLICIES, Honesty, read_policy
from domain.cgpu_cluster import is_installer_image, isolates
from domain.cgpu_fractions import MOST_PODS, fit_findings, fraction_findings, share_of
from domain.cgpu_pools import allocatable, card_memories, pool_nodes
from domain.cgpu_refusing import cgpu_findings
from domain.cgpu_versions import (
    OLDEST_CGPU,
    OLDEST_KUBERNETES,
    Unknown,
    Version,
    image_version,
    kubernetes_version,
)
from domain.configuration import CGPU, Configuration, Link, Pool, Profile
from domain.findings import Severity
from tests.cgpu_clusters import node
from tests.configurations import laws


@pytest.mark.parametrize("raw", [0, 1, 5, "0", "3", " 4 ", "5\n"])
def test_a_policy_is_read_from_what_says_one(raw: object) -> None:
    assert read_policy(raw) == int(str(raw))


@pytest.mark.parametrize(
    "raw", [None, "", " ", "6", -1, 6, True, False, 1.0, "1.0", "01", "+1", "1 2", "٣", [1]]
)
def test_nothing_else_is_a_policy(raw: object) -> None:
    assert read_policy(raw) is None


def test_only_a_fixed_percentage_is_what_a_fraction_says() -> None:
    exact = [policy for policy, facts in POLICIES.items() if facts.honesty is Honesty.EXACT]

    assert sorted(POLICIES) == [0, 1, 2, 3, 4, 5]
    assert exact == [3]


@pytest.mark.parametrize(
    ("tag", "version"),
    [
        ("v1.5.3-8d3fc1b-aliyun", (1, 5, 3)),
        ("v1.0.7-fin", (1, 0, 7)),
        ("v1.0.6", (1, 0, 6)),
        ("v1.0.6-fin", (1, 0, 6)),
        ("V0.8.10", (0, 8, 10)),
        ("v0.8.13", (0, 8, 13)),
        ("v1.0.10", (1, 0, 10)),
        ("v1.5.20", (1, 5, 20)),
        ("v1.0.0-2656995-aliyun", (1, 0, 0)),
        ("v1.0.1-4e418f1-aliyun", (1, 0, 1)),
        ("v2.1.0-7b42b8c", (2, 1, 0)),
        ("v1.0.0.1-12c5eb3-aliyun", (1, 0, 0)),
        ("v1.0.10.368-g2890967-aliyun", (1, 0, 10)),
        ("v21.3.9.0-adecd8a-aliyun", (21, 3, 9)),
        ("0.12.0-5", (0, 12, 0)),
        ("v0.6.3-28-160499f", (0, 6, 3)),
        ("v1.16.9.7be0fa0-windows1809", (1, 16, 9)),
    ],
)
def test_a_tag_is_read_by_its_leading_three_numbers(
    tag: str, version: tuple[int, int, int]
) -> None:
    assert image_version(f"registry-vpc.cn-hongkong.aliyuncs.com/acs/cgpu-installer:{tag}") == (
        Version(*version)
    )


@pytest.mark.parametrize(
    "tag",
    [
        "<image_version>",
        "v2-1.11-aff8a23",
        "1.5-5e0e7c1-aliyun",
        "480c740a4",
        "20200904154738_ask-release-0.13_ad9aafa8",
        "ack-2.4.5-latest",
        "latest",
        "",
        "1.0",
        "v1.0.",
        "٣.٣.٣",
    ],
)
def test_any_other_tag_is_unknown(tag: str) -> None:
    assert isinstance(image_version(f"registry:5000/acs/cgpu-installer:{tag}"), Unknown)


@pytest.mark.parametrize(
    ("image", "why"),
    [
        ("registry:5000/acs/cgpu-installer", "has no tag"),
        ("registry/acs/cgpu-installer@sha256:0f1e", "has only a digest"),
    ],
)
def test_an_image_without_a_tag_is_unknown_with_its_reason(image: str, why: str) -> None:
    version = image_version(image)

    assert isinstance(version, Unknown)
    assert why in version.why


def test_a_registrys_port_and_a_digest_do_not_disturb_the_tag() -> None:
    image = "registry:5000/acs/cgpu-installer:v1.5.3-8d3fc1b-aliyun@sha256:0f1e"

    assert image_version(image) == Version(1, 5, 3)


@pytest.mark.parametrize(
    ("text", "enough"),
    [
        ("v1.18.8-aliyun.1", True),
        ("v1.16.9-aliyun.1", False),
        ("v1.20.4-aliyun.1", True),
        ("v1.20.4-ack-3.0", True),
        ("v1.36.2-aliyun.1", True),
        ("v1.18.7", False),
        ("1.18+", None),
        ("", None),
    ],
)
def test_versions_of_kubernetes_compare_by_numbers(text: str, enough: bool | None) -> None:
    version = kubernetes_version(text)

    assert (
        enough is None if isinstance(version, Unknown) else enough is (version >= OLDEST_KUBERNETES)
    )


def test_ten_is_more_than_six() -> None:
    assert Version(1, 0, 10) > OLDEST_CGPU


@pytest.mark.parametrize(
    ("image", "installs"),
    [
        ("registry/acs/cgpu-installer:v1.5.3", True),
        ("registry/acs/ack-cgpu-core-installer", True),
        ("CGPU-Installer:v1.0.6", True),
        ("registry/acs/gpushare-device-plugin:v2.1.0", False),
        ("registry/cgpu-installer/pause:3", False),
    ],
)
def test_an_installer_is_known_by_the_name_of_its_image(image: str, installs: bool) -> None:
    assert is_installer_image(image) is installs


@pytest.mark.parametrize(
    ("labels", "loads"),
    [
        ({"ack.node.gpu.schedule": "cgpu"}, True),
        ({"ack.node.gpu.schedule": "core_mem"}, True),
        ({"cgpu": "true"}, True),
        ({"ack.node.gpu.schedule": "share"}, False),
        ({"ack.node.gpu.schedule": "default"}, False),
        ({"cgpu": "false"}, False),
        ({}, False),
    ],
)
def test_nodes_load_the_module_by_any_of_their_labels(
    labels: Mapping[str, str], loads: bool
) -> None:
    assert isolates(labels) is loads


@pytest.mark.parametrize(
    ("amount", "card", "memory", "percentage", "fits"),
    [
        ("1/2", 24, 12, 50, 2),
        ("1/2", 15, 7, 50, 2),
        ("1/4", 44, 11, 25, 4),
        ("1/7", 80, 11, 10, 7),
        ("0.29", 22, 6, 25, 3),
        ("1/20", 80, 4, 5, 20),
        ("1/40", 80, 2, 5, 20),
        ("1/20", 15, 1, 5, 15),
        ("3/2", 16, 24, 150, 1),
    ],
)
def test_a_fraction_asks_for_whole_gib_and_steps_of_five_percent(
    amount: str, card: int, memory: int, percentage: int, fits: int
) -> None:
    share = share_of(Fraction(amount), card)

    assert share is not None
    assert (share.memory, share.percentage, share.fits) == (memory, percentage, fits)


def test_whole_gpus_need_no_share() -> None:
    assert share_of(Fraction(4), 16) is None


@laws
@given(
    amount=st.fractions(min_value=Fraction(1, 30), max_value=8, max_denominator=60),
    card=st.integers(1, 200),
)
def test_what_is_asked_for_fits_the_card_and_never_exceeds_the_fraction(
    amount: Fraction, card: int
) -> None:
    share = share_of(amount, card)
    if share is None:
        return

    memory, percentage = share.memory // share.cards, share.percentage // share.cards
    assert share.memory % share.cards == share.percentage % share.cards == 0
    assert share.fits * memory <= card or memory == 1
    assert share.fits * percentage <= 100
    assert share.fits <= MOST_PODS
    assert memory == 1 or memory <= amount / share.cards * card
    assert percentage % 5 == 0


def test_limits_depend_on_the_nodes_label() -> None:
    share = share_of(Fraction(3, 2), 16)

    assert share is not None
    assert share.limits("cgpu") == {"aliyun.com/gpu-mem": "24"}
    assert share.limits("core_mem") == {
        "aliyun.com/gpu-mem": "24",
        "aliyun.com/gpu-core.percentage": "150",
    }
    assert share.pod_labels() == {"aliyun.com/gpu-count": "2"}


def shared(policy: int | None, allotment: str = "1/2", label: str = "cgpu") -> Configuration:
    pool = Pool(
        name="t4",
        resources=Fraction(6),
        profiles=("half",),
        nodes=(("ack.node.gpu.schedule", label),),
    )
    profile = Profile(
        name="half", allotment=Fraction(allotment), pools=(Link(pool="t4", name="half on t4"),)
    )
    cgpu = None if policy is None else CGPU(policy=policy)
    return Configuration(pools=(pool,), profiles=(profile,), cgpu=cgpu)


@pytest.mark.parametrize(("policy", "warned"), [(0, 1), (1, 1), (2, 1), (3, 0), (4, 1), (5, 1)])
def test_a_policy_under_which_a_fraction_is_not_what_pods_get_is_warned_of(
    policy: int, warned: int
) -> None:
    codes = [finding.code for finding in fraction_findings(shared(policy))]

    assert codes == ["fraction_not_honoured"] * warned


def test_whole_gpus_and_other_pools_are_not_warned_of() -> None:
    assert list(fraction_findings(shared(1, allotment="2"))) == []
    assert list(fraction_findings(shared(1, label="default"))) == []


def test_a_fraction_that_does_not_fit_its_cards_is_warned_of() -> None:
    (finding,) = fit_findings(shared(3, allotment="1/20"), {"t4": 15})

    assert finding.code == "fraction_does_not_fit"
    assert "only 15 of these fit a card, not 20" in finding.message


def test_a_policy_without_kubernetes_is_refused_with_the_reason() -> None:
    (finding,) = cgpu_findings(shared(0, allotment="1"), {}, connected=False)

    assert finding.severity is Severity.ERROR
    assert "Poolkeeper is not connected to Kubernetes" in str(finding)
    assert list(cgpu_findings(shared(0, allotment="1"), {}, connected=True)) == []
    assert list(cgpu_findings(shared(None), {}, connected=False)) == []


def test_a_pools_gpus_are_those_of_its_nodes() -> None:
    nodes = (
        node("a", labels={"pool": "x", "ack.node.gpu.schedule": "cgpu"}, cards=2, memory=30),
        node("b", labels={"pool": "x"}, cards=None, memory=None, whole=8),
        node("c", labels={"pool": "y"}, cards=None, memory=None, whole=4),
    )
    configuration = Configuration(
        pools=(Pool(name="x", resources=Fraction(10), nodes=(("pool", "x"),)),)
    )

    (found,) = pool_nodes(configuration, nodes)

    assert (found.nodes, found.gpus, found.card_memory) == (2, 10, 15)
    assert allocatable([found]) == {"x": 10}
    assert card_memories([found]) == {"x": 15}


def test_a_node_that_does_not_say_how_many_gpus_it_has_leaves_the_pool_unknown() -> None:
    nodes = (node("a", labels={"pool": "x"}, cards=None, memory=None, whole=None),)
    configuration = Configuration(
        pools=(Pool(name="x", resources=Fraction(10), nodes=(("pool", "x"),)),)
    )

    (found,) = pool_nodes(configuration, nodes)

    assert found.silent == ("a",)
    assert allocatable([found]) == {}
