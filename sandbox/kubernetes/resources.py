"""The kinds of objects that are served, and how their paths, verbs and fields go."""

from dataclasses import dataclass

VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
SUB_VERBS = {"status": ("get", "patch", "update"), "exec": ("create", "get")}


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind; `fields` are the field selectors that it knows beside name and namespace."""

    group: str
    plural: str
    kind: str
    namespaced: bool = True
    short: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    counts_generations: bool = False

    @property
    def version(self) -> str:
        return "v1"

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def qualified_kind(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind


POD_FIELDS = (
    "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
    "spec.hostNetwork", "status.phase", "status.podIP", "status.nominatedNodeName",
)  # fmt: skip
EVENT_FIELDS = (
    "involvedObject.kind", "involvedObject.namespace", "involvedObject.name",
    "involvedObject.uid", "reason", "type", "source", "reportingComponent",
)  # fmt: skip
AUTHORIZATION = "authorization.k8s.io"

NAMESPACES = Resource(
    "", "namespaces", "Namespace", False, ("ns",), ("status",), ("status.phase",)
)  # fmt: skip
NODES = Resource("", "nodes", "Node", False, ("no",), ("status",), ("spec.unschedulable",))
PODS = Resource("", "pods", "Pod", True, ("po",), ("status", "eviction", "exec"), POD_FIELDS, True)
SECRETS = Resource("", "secrets", "Secret", fields=("type",))
CONFIG_MAPS = Resource("", "configmaps", "ConfigMap", short=("cm",))
EVENTS = Resource("", "events", "Event", short=("ev",), fields=EVENT_FIELDS)
REVISIONS = Resource("apps", "controllerrevisions", "ControllerRevision")
DAEMON_SETS = Resource(
    "apps", "daemonsets", "DaemonSet", True, ("ds",), ("status",), counts_generations=True
)
DEPLOYMENTS = Resource(
    "apps", "deployments", "Deployment", True, ("deploy",), ("status",), counts_generations=True
)
LEASES = Resource("coordination.k8s.io", "leases", "Lease")
BUDGETS = Resource(
    "policy", "poddisruptionbudgets", "PodDisruptionBudget", True, ("pdb",), ("status",),
    counts_generations=True,
)  # fmt: skip
ACCESS_REVIEWS = Resource(
    AUTHORIZATION, "selfsubjectaccessreviews", "SelfSubjectAccessReview", False
)
RULES_REVIEWS = Resource(AUTHORIZATION, "selfsubjectrulesreviews", "SelfSubjectRulesReview", False)

STORED = (
    NAMESPACES, NODES, PODS, SECRETS, CONFIG_MAPS, EVENTS, REVISIONS, DAEMON_SETS, DEPLOYMENTS,
    LEASES, BUDGETS,
)  # fmt: skip
REVIEWS = (ACCESS_REVIEWS, RULES_REVIEWS)
BY_PATH = {(one.group, one.version, one.plural): one for one in (*STORED, *REVIEWS)}
GROUPS = sorted({one.group for one in BY_PATH.values() if one.group})
