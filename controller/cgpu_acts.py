"""Carrying out one step about cGPU: what is meant is written down, then done, then recorded."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from controller import references
from controller.cgpu_events import Events, on_installer, on_node
from controller.kubernetes_ports import Eviction, Kubernetes, Written
from domain.cgpu_cluster import Cluster, InstallerPod, Pod
from domain.cgpu_learning import images_text, selector_text
from domain.cgpu_memory import Change, InstallerMemory, Outcome, Patch, Restart
from domain.cgpu_steps import (
    Act,
    BeginChange,
    BeginRestart,
    Cordon,
    EndChange,
    EndRestart,
    Evict,
    FailRestart,
    NoteBack,
    NoteDrained,
    ReplacePod,
    SetPolicy,
    StopChange,
)
from domain.ledger import AuditRecord, Version
from storage import audit, cgpu
from storage.database import Database, Session


@dataclass(frozen=True, kw_only=True)
class Done:
    """What came of a step. `settles`: looking again at once would show the same, so wait a while.

    `refusals` are sentences about the disruption budgets that refused.
    """

    settles: bool = False
    refusals: tuple[str, ...] = field(default_factory=tuple)


@dataclass(frozen=True, kw_only=True)
class Acts:
    """Carries out steps decided from `cluster`, the last look."""

    door: Kubernetes
    database: Database
    clock: Callable[[], datetime]
    events: Events
    version: Version | None
    cluster: Cluster
    installers: dict[str, InstallerMemory]

    def carry_out(self, act: Act) -> Done:
        """Do it. A `KubernetesError` leaves it open: the next look finds how far it came."""
        match act:
            case SetPolicy():
                return self._set_policy(act)
            case ReplacePod():
                refused = self._evict((act.pod,))
                return Done(settles=True, refusals=refused)
            case Cordon():
                self.door.cordon(act.node, act.restart.mark)
            case Evict():
                return Done(settles=True, refusals=self._evict(act.pods))
            case BeginChange() | EndChange() | StopChange():
                self._keep_change(act)
            case BeginRestart() | NoteDrained() | NoteBack() | FailRestart():
                self._keep_restart(act)
            case EndRestart():
                self._end_restart(act)
        return Done()

    def _set_policy(self, act: SetPolicy) -> Done:
        installer, change = act.installer, act.change
        patch = Patch(change=change.id, installer=installer.uid, before=act.before, at=self.clock())
        with self.database.transaction() as session:
            cgpu.put_patch(session, patch)
        if act.setting is None:
            written = self.door.add_policy(installer, change.policy)
        else:
            written = self.door.set_policy(installer, act.setting, change.policy)
        if written is not Written.DONE:
            return Done()
        with self.database.transaction() as session:
            cgpu.put_patch(session, replace(patch, seen=self.clock()))
            self._record(session, "cgpu set", installer.title, act.says)
        event = on_installer(installer, "CgpuPolicyPatched", act.says, str(change.id))
        self.events.tell(self.door, (event,))
        return Done()

    def _evict(self, pods: Iterable[Pod | InstallerPod]) -> tuple[str, ...]:
        answers = [self.door.evict(pod) for pod in pods]
        return tuple(
            f"{answer.pod} may not leave: {answer.why}"
            for answer in answers
            if answer.outcome is Eviction.REFUSED
        )

    def _keep_change(self, act: BeginChange | EndChange | StopChange) -> None:
        now = self.clock()
        with self.database.transaction() as session:
            match act:
                case BeginChange(policy=policy, replaces=replaced):
                    if replaced is not None:
                        over = replace(replaced, ended_at=now, outcome=Outcome.REPLACED)
                        cgpu.put_change(session, over)
                    cgpu.begin_change(session, self._new_change(policy))
                case EndChange(change=change, outcome=outcome):
                    cgpu.put_change(session, replace(change, ended_at=now, outcome=outcome))
                    if outcome in (Outcome.CONVERGED, Outcome.UNPROVEN):
                        cgpu.accept_installers(session, self._accepted())
                case StopChange(change=change, says=says):
                    cgpu.put_change(session, replace(change, stopped=says))
            self._record(session, "cgpu change", "cgpu", act.says)

    def _new_change(self, policy: int) -> Change:
        version = self.version
        return Change(
            id=0,
            policy=policy,
            version=version.number if version else 0,
            by=version.by if version else "",
            started_at=self.clock(),
        )

    def _accepted(self) -> list[InstallerMemory]:
        return [
            replace(self.installers[one.uid], images=images_text(one), selector=selector_text(one))
            for one in self.cluster.installers
            if one.uid in self.installers
        ]

    def _keep_restart(self, act: BeginRestart | NoteDrained | NoteBack | FailRestart) -> None:
        restart = self._advanced(act)
        with self.database.transaction() as session:
            cgpu.put_restart(session, restart)
            self._record(session, "cgpu restart", restart.node, act.says)
        if isinstance(act, NoteBack):
            event = on_node(act.node, "CgpuRestarted", act.says, act.node.boot)
            self.events.tell(self.door, (event,))

    def _advanced(self, act: BeginRestart | NoteDrained | NoteBack | FailRestart) -> Restart:
        match act:
            case BeginRestart(restart=restart, node=node):
                return replace(
                    restart,
                    uid=node.uid,
                    boot=node.boot,
                    began_at=self.cluster.at,
                    memory=node.memory,
                    cards=node.cards,
                )
            case NoteDrained(restart=restart):
                return replace(restart, drained_at=self.cluster.at)
            case NoteBack(restart=restart):
                return replace(restart, back_at=self.cluster.at)
            case FailRestart(restart=restart, says=says):
                return replace(restart, failed=says)

    def _end_restart(self, act: EndRestart) -> None:
        # Given back before it is forgotten: whoever is killed in between gives it back again.
        if act.node is not None and self.door.uncordon(act.node) is Written.CHANGED:
            return
        with self.database.transaction() as session:
            cgpu.end_restart(session, act.restart)
            self._record(session, "cgpu restart", act.restart.node, act.says)
        node = next((one for one in self.cluster.nodes if one.name == act.restart.node), None)
        if act.done and node is not None:
            event = on_node(node, "CgpuPolicyVerified", act.says, node.boot)
            self.events.tell(self.door, (event,))

    def _record(self, session: Session, action: str, subject: str, detail: str) -> None:
        record = AuditRecord(
            at=self.clock(),
            actor="poolkeeper",
            action=action,
            subject=subject,
            detail=detail,
            reference=references.current(),
        )
        audit.record(session, record)
