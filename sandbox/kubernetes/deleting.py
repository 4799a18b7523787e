"""Delete: preconditions, pods that are told to end, namespaces that go with all that is in them."""

from sandbox.kubernetes import errors, storing
from sandbox.kubernetes.calls import Answer, Call
from sandbox.kubernetes.documents import Doc, at
from sandbox.kubernetes.resources import NAMESPACES, PODS


def delete(call: Call) -> Answer:
    """A pod is told to end and answered; other objects go at once, with a Status."""
    old = call.current()
    options = call.request.body()
    _check_preconditions(call, old, options.get("preconditions") or {})
    if call.resource == PODS:
        return Answer(200, _end_pod(call, old, options))
    if not call.dry_run:
        call.store.remove(call.resource, old)
        if call.resource == NAMESPACES:
            _empty_namespace(call)
    details = {**errors.named(call.resource, call.name), "uid": old["metadata"]["uid"]}
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return Answer(200, {**status, "details": details})


def _check_preconditions(call: Call, old: Doc, wanted: Doc) -> None:
    for field, title in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
        asked, actual = wanted.get(field), old["metadata"][field]
        if asked and asked != actual:
            why = (
                f"Precondition failed: {title} in precondition: {asked}, "
                f"{title} in object meta: {actual}"
            )
            raise errors.conflict(call.resource, call.name, why)


def _end_pod(call: Call, pod: Doc, options: Doc) -> Doc:
    said = options.get("gracePeriodSeconds", call.request.query.get("gracePeriodSeconds"))
    grace = int(at(pod, "spec", "terminationGracePeriodSeconds") if said is None else said)
    if grace == 0 or not at(pod, "spec", "nodeName"):
        ended = storing.ending(pod, 0, [])
        if not call.dry_run:
            call.store.remove(PODS, pod)
        return ended
    ended = storing.ending(pod, grace, [])
    if call.dry_run or ended is pod:
        return ended
    return call.store.put(PODS, ended)


def _empty_namespace(call: Call) -> None:
    for resource, table in call.store.tables.items():
        for doc in [doc for (namespace, _), doc in table.items() if namespace == call.name]:
            call.store.remove(resource, doc)
