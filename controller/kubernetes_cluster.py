"""The door to Kubernetes: looks, guarded writes, evictions (`controller.kubernetes_ports`).

POLICY is written by a JSON patch that tests the variable's name and old value: a rollout's status
writes do not disturb it, and a value that somebody changed meanwhile makes it fail
(facts/kubernetes.md, "The safest write of POLICY").
"""

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from controller import kubernetes_cluster_helm as helm
from controller import kubernetes_cluster_probe as probe
from controller import kubernetes_cluster_reading as reading
from controller.kubernetes_cluster_errors import Blocked
from controller.kubernetes_cluster_locks import held
from controller.kubernetes_cluster_session import (
    JSON_PATCH,
    MANAGER,
    STRATEGIC_MERGE,
    Call,
    KubernetesSession,
)
from controller.kubernetes_ports import (
    Declined,
    Evicted,
    Eviction,
    Forbidden,
    KubernetesAway,
    KubernetesError,
    Rule,
    Told,
    Written,
)
from domain.cgpu_cluster import (
    CORDON_MARK,
    Cluster,
    Installer,
    InstallerPod,
    Node,
    Pod,
    Probe,
    Release,
    Setting,
)
from domain.cgpu_versions import Unknown

Doc = dict[str, Any]

_APPS: Final = "/apis/apps/v1"
_CORE: Final = "/api/v1"
_PAGE: Final = 500
_PODS_PAGE: Final = 1000
_SECRETS_PAGE: Final = 100
"""Fewer, for a release may take a megabyte."""

_REVIEWS: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_CONFLICT: Final = 409
_GONE: Final = 404
_INVALID: Final = 422


class KubernetesCluster:
    """The door, on one session."""

    def __init__(self, session: KubernetesSession, clock: Callable[[], datetime]) -> None:
        self._session = session
        self._clock = clock
        self._releases = helm.Releases()

    def look(self) -> Cluster:
        """The cluster as it is now; its time is the API server's own."""
        version = str(self._session.read("/version/").get("gitVersion") or "")
        at = self._session.server_time or self._clock()
        nodes = self._list(f"{_CORE}/nodes", reading.node_of)
        daemon_sets: list[Doc] = []
        for page in self._session.pages(f"{_APPS}/daemonsets", _PAGE):
            daemon_sets += page
        installers = tuple(self._installers(daemon_sets))
        pods, installer_pods = self._pods(nodes, installers)
        return Cluster(
            at=at.astimezone(UTC),
            version=version,
            nodes=nodes,
            installers=installers,
            installer_pods=installer_pods,
            pods=pods,
            releases=self._helm(),
            reboot_lock=held(daemon_sets, at),
        )

    def server_time(self) -> datetime | None:
        """As of the last answer."""
        return self._session.server_time

    def read_module(self, pod: InstallerPod, node: Node) -> Probe:
        """What the module on the node says, asked in the installer's pod."""
        try:
            output = self._ask(pod)
        except Forbidden as error:
            return Unknown(f"it cannot be read: add the rule {error.rule}")
        except KubernetesError as error:
            return Unknown(f"it could not be read: {error}")
        return probe.parsed(output, node.boot)

    def set_policy(self, installer: Installer, setting: Setting, policy: int) -> Written:
        """Replace the value of this very POLICY, if it stands there as it was seen."""
        return self._patch_installer(
            installer,
            [
                {"op": "test", "path": f"{setting.path}/name", "value": "POLICY"},
                {"op": "test", "path": f"{setting.path}/value", "value": setting.value},
                {"op": "replace", "path": f"{setting.path}/value", "value": str(policy)},
            ],
        )

    def add_policy(self, installer: Installer, policy: int) -> Written:
        """Add POLICY to the installing container, if its variables are as they were seen."""
        bare = installer.bare
        assert bare is not None
        path = f"/spec/template/spec/{bare.place}/{bare.index}"
        variable = {"name": "POLICY", "value": str(policy)}
        guard: list[Doc] = [{"op": "test", "path": f"{path}/name", "value": bare.container}]
        if bare.env is None:
            return self._patch_installer(
                installer, [*guard, {"op": "add", "path": f"{path}/env", "value": [variable]}]
            )
        guard.append({"op": "test", "path": f"{path}/env", "value": json.loads(bare.env)})
        return self._patch_installer(
            installer, [*guard, {"op": "add", "path": f"{path}/env/-", "value": variable}]
        )

    def cordon(self, node: Node, mark: str) -> Written:
        """Make the node unschedulable with our mark, if it is as it was seen."""
        return self._patch_node(node, mark, {"unschedulable": True})

    def uncordon(self, node: Node) -> Written:
        """Make it schedulable and take the mark away, if it is as it was seen."""
        return self._patch_node(node, None, {"unschedulable": None})

    def evict(self, pod: Pod | InstallerPod) -> Evicted:
        """Ask that the pod leave."""
        title = f"{pod.namespace}/{pod.name}"
        path = f"{_CORE}/namespaces/{pod.namespace}/pods/{pod.name}/eviction"
        metadata = {"name": pod.name, "namespace": pod.namespace}
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
        try:
            self._session.write(Call(method="POST", path=path, body=body))
        except Blocked as error:
            return Evicted(pod=title, outcome=Eviction.REFUSED, why=error.why)
        except Declined as error:
            if error.code == _GONE:
                return Evicted(pod=title, outcome=Eviction.GONE)
            raise
        return Evicted(pod=title, outcome=Eviction.LEAVING)

    def missing(self, rules: Iterable[Rule]) -> tuple[Rule, ...]:
        """Those of the rules that our role does not allow; asking needs no rule."""
        return tuple(rule for rule in rules if not self._allowed(rule))

    def tell(self, told: Told) -> None:
        """Make the event; its name is made of its cause, so that it is told once."""
        namespace = told.namespace or "default"
        digest = hashlib.sha256(told.cause.encode()).hexdigest()[:16]
        now = self._clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        api = "apps/v1" if told.kind == "DaemonSet" else "v1"
        body = {
            "metadata": {"name": f"{told.name}.{digest}", "namespace": namespace},
            "involvedObject": {
                "apiVersion": api,
                "kind": told.kind,
                "name": told.name,
                "namespace": told.namespace,
                "uid": told.uid,
            },
            "reason": told.reason,
            "message": told.message[:1000],
            "type": "Warning" if told.warning else "Normal",
            "source": {"component": MANAGER},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
        }
        path = f"{_CORE}/namespaces/{namespace}/events"
        try:
            self._session.write(Call(method="POST", path=path, body=body))
        except Declined as error:
            if error.code != _CONFLICT:
                raise

    def _ask(self, pod: InstallerPod) -> str:
        where = (pod.namespace, pod.name, pod.container)
        try:
            return self._session.run(*where, probe.COMMAND)
        except KubernetesAway:
            return self._session.run(*where, probe.COMMAND)  # it only reads: once more

    def _list(self, path: str, value: Callable[[Doc], Node]) -> tuple[Node, ...]:
        return tuple(value(doc) for page in self._session.pages(path, _PAGE) for doc in page)

    def _installers(self, daemon_sets: Iterable[Doc]) -> Iterable[Installer]:
        for doc in daemon_sets:
            installer = reading.installer_of(doc)
            if installer is not None:
                path = f"{_APPS}/namespaces/{installer.namespace}/controllerrevisions"
                selector = reading.selector_of(doc)
                revisions: list[Doc] = []
                for page in self._session.pages(path, _PAGE, labelSelector=selector):
                    revisions += page
                yield replace(installer, revision=reading.newest_revision(revisions, installer.uid))

    def _pods(
        self, nodes: Iterable[Node], installers: Iterable[Installer]
    ) -> tuple[tuple[Pod, ...], tuple[InstallerPod, ...]]:
        """Those on nodes that share cards, and the installers'; the rest is let go of by page."""
        by_uid = {installer.uid: installer for installer in installers}
        sharing = {node.name for node in nodes if node.isolates}
        pods, installer_pods = [], []
        for page in self._session.pages(f"{_CORE}/pods", _PODS_PAGE):
            for doc in page:
                own = reading.installer_pod_of(doc, by_uid)
                if own is not None:
                    installer_pods.append(own)
                elif doc["spec"].get("nodeName") in sharing and (pod := reading.pod_of(doc)):
                    pods.append(pod)
        return tuple(pods), tuple(installer_pods)

    def _helm(self) -> tuple[Release, ...] | Unknown:
        query = {"fieldSelector": helm.TYPE, "labelSelector": helm.SELECTOR}
        try:
            pages = self._session.pages(f"{_CORE}/secrets", _SECRETS_PAGE, **query)
            return self._releases.read(doc for page in pages for doc in page)
        except Forbidden as error:
            return Unknown(f"add the rule {error.rule}")

    def _patch_installer(self, installer: Installer, operations: list[Doc]) -> Written:
        path = f"{_APPS}/namespaces/{installer.namespace}/daemonsets/{installer.name}"
        # A DaemonSet that was deleted and made again under its name is not the one that was seen.
        guard = {"op": "test", "path": "/metadata/uid", "value": installer.uid}
        return self._patch(path, [guard, *operations], JSON_PATCH)

    def _patch_node(self, node: Node, mark: str | None, spec: Doc) -> Written:
        metadata = {
            "resourceVersion": node.resource_version,
            "annotations": {CORDON_MARK: mark},
        }
        body = {"metadata": metadata, "spec": spec}
        return self._patch(f"{_CORE}/nodes/{node.name}", body, STRATEGIC_MERGE)

    def _patch(self, path: str, body: object, content_type: str) -> Written:
        query = {"fieldManager": MANAGER}
        call = Call(method="PATCH", path=path, query=query, body=body, content_type=content_type)
        try:
            self._session.write(call)
        except Declined as error:
            if error.code in (_CONFLICT, _INVALID):
                return Written.CHANGED
            if error.code == _GONE:
                return Written.GONE
            raise
        return Written.DONE

    def _allowed(self, rule: Rule) -> bool:
        resource, _, subresource = rule.resource.partition("/")
        attributes = {
            "verb": rule.verb,
            "group": rule.group,
            "resource": resource,
            "subresource": subresource,
            "namespace": rule.namespace,
        }
        body = {"spec": {"resourceAttributes": {k: v for k, v in attributes.items() if v}}}
        answer = self._session.write(Call(method="POST", path=_REVIEWS, body=body))
        return (answer.get("status") or {}).get("allowed") is True
