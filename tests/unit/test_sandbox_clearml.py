"""Facts about ClearML that no recorded line shows, in the sandbox's server."""

import base64
import json
import time
from typing import Any

import pytest

from tests.sandbox_support import Sandbox, wait_until


def claims(token: str) -> dict[str, Any]:
    payload = token.split(".")[1]
    decoded: dict[str, Any] = json.loads(
        base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
    )
    return decoded


def bearer(clearml: Sandbox, token: str) -> tuple[int, int]:
    headers = {"Authorization": f"Bearer {token}"}
    _, answer = clearml.wire.send("/queues.get_all", {}, headers)
    return answer["meta"]["result_code"], answer["meta"]["result_subcode"]


@pytest.mark.parametrize(
    ("paging", "found"),
    [
        ({}, 500),
        ({"page_size": 600}, 500),
        ({"page_size": 100_000}, 500),
        ({"page_size": 600, "page": 1}, 171),
        ({"scroll_id": None, "size": 700}, 671),
    ],
    ids=str,
)
def test_lists_are_cut_at_500_before_the_offset_but_scrolls_are_not(
    clearml: Sandbox, paging: dict[str, Any], found: int
) -> None:
    clearml.bulk_enqueue(clearml.create_queue("intake"), 671)

    tasks = clearml.ok("tasks.get_all", only_fields=["id"], order_by=["id"], **paging)["tasks"]

    assert len(tasks) == found


def test_pages_in_order_of_id_hold_every_task_once(clearml: Sandbox) -> None:
    ids = clearml.bulk_enqueue(clearml.create_queue("intake"), 671)

    pages = [
        clearml.ok("tasks.get_all", only_fields=["id"], order_by=["id"], page=page)["tasks"]
        for page in range(3)
    ]

    assert [len(page) for page in pages] == [500, 171, 0]
    assert [task["id"] for page in pages for task in page] == sorted(ids)


def test_a_task_belongs_to_the_user_who_made_it(clearml: Sandbox) -> None:
    queue = clearml.create_queue("intake")
    ada = clearml.add_user("ada", "Ada")

    own = ada.queued_task(queue)
    bulk = clearml.bulk_enqueue(queue, 1, user="ada")[0]

    assert {clearml.task(task)["user"] for task in (own, bulk)} == {"ada"}
    assert clearml.as_user("ada").status(own) == "queued"
    users = clearml.ok("users.get_all")["users"]
    assert {"id": "ada", "name": "Ada"} in users


def test_queues_tagged_for_the_glue_are_hidden_unless_asked_for(clearml: Sandbox) -> None:
    hidden = clearml.create_queue("pool a", system_tags=["k8s-glue"])

    asked: list[dict[str, Any]] = [{"search_hidden": True}, {"id": [hidden]}, {"name": "^pool a$"}]
    shown = [
        hidden in [queue["id"] for queue in clearml.ok("queues.get_all", **body)["queues"]]
        for body in ({}, *asked)
    ]

    assert shown == [False, True, True, True]


def test_an_old_server_ignores_update_execution_queue_silently(clearml: Sandbox) -> None:
    clearml.reset(server_version="1.16.5", api_version="2.30")
    queue = clearml.create_queue("intake")
    draft = clearml.create_task()

    answer = clearml.call("tasks.enqueue", task=draft, queue=queue, update_execution_queue=False)

    assert answer.code == 200
    assert clearml.entries(queue) == [draft]
    login = claims(clearml.ok("auth.login")["token"])
    assert (login["server_version"], login["api_version"]) == ("1.16.5", "2.30")


def test_a_token_names_its_user_and_is_refused_when_it_has_expired(clearml: Sandbox) -> None:
    ada = clearml.add_user("ada", "Ada")

    token = ada.ok("auth.login", expiration_sec=3600)["token"]
    good = bearer(clearml, token)
    clearml.expire_tokens()
    late = bearer(clearml, token)

    identity = claims(token)["identity"]
    assert (identity["user"], identity["user_name"]) == ("ada", "Ada")
    assert claims(token)["exp"] - time.time() == pytest.approx(3600, abs=60)
    assert (good, late) == ((200, 0), (401, 30))


def test_a_forged_token_is_refused(clearml: Sandbox) -> None:
    header, payload, signature = clearml.ok("auth.login")["token"].split(".")

    answer = bearer(clearml, f"{header}.{payload}.{signature[::-1]}")

    assert answer == (401, 30)


def test_a_get_with_a_json_body_is_a_call_like_any_other(clearml: Sandbox) -> None:
    queue = clearml.create_queue("intake")
    keys = base64.b64encode(f"{clearml.access_key}:{clearml.secret_key}".encode()).decode()

    status, answer = clearml.wire.exchange(
        "GET",
        "/v2.23/queues.get_by_id",
        json.dumps({"queue": queue}).encode(),
        {"Authorization": f"Basic {keys}"},
    )

    assert status == 200
    assert answer["data"]["queue"]["name"] == "intake"
    endpoint = answer["meta"]["endpoint"]
    assert (endpoint["requested_version"], endpoint["actual_version"]) == ("2.23", "2.23")


def test_deleting_a_queue_by_force_makes_drafts_of_its_own_tasks_only(clearml: Sandbox) -> None:
    queue, other = clearml.create_queue("doomed"), clearml.create_queue("other")
    own, guest = clearml.queued_task(queue), clearml.queued_task(other)
    clearml.ok("queues.add_task", queue=queue, task=guest, update_execution_queue=False)

    clearml.ok("queues.delete", queue=queue, force=True)

    assert (clearml.status(own), clearml.execution_queue(own)) == ("created", None)
    assert (clearml.status(guest), clearml.execution_queue(guest)) == ("queued", other)
    assert clearml.queues_holding(guest) == [other]


def test_a_reset_leaves_nothing_of_the_test_before(clearml: Sandbox) -> None:
    queue = clearml.create_queue("intake")
    clearml.queued_task(queue)
    clearml.add_user("ada")
    clearml.fault("error_before", "debug.ping", nth=0)
    clearml.outage("503")

    clearml.reset()

    state = clearml.dump()
    assert [found["name"] for found in state["queues"].values()] == ["default"]
    assert (state["tasks"], state["lives"]) == ({}, {})
    assert clearml.call("debug.ping").code == 200
    assert clearml.as_user("ada").call("users.get_current_user").subcode == 22


def test_a_worker_shows_the_queue_of_its_task_only_if_it_listens_there(clearml: Sandbox) -> None:
    listened, other = clearml.create_queue("listened"), clearml.create_queue("other")
    now = int(time.time() * 1000)
    report = {"timestamp": now, "queues": [listened]}

    clearml.ok("workers.status_report", worker="one", queue=listened, **report)
    clearml.ok("workers.status_report", worker="two", queue=other, **report)

    workers = {worker["id"]: worker for worker in clearml.ok("workers.get_all")["workers"]}
    assert workers["one"]["queue"]["id"] == listened
    assert "queue" not in workers["two"]


def test_a_silent_worker_is_forgotten_after_its_timeout(clearml: Sandbox) -> None:
    queue = clearml.create_queue("intake")
    clearml.ok("workers.register", worker="brief", queues=[queue], timeout=1)
    clearml.ok("workers.register", worker="lasting", queues=[queue], timeout=600)

    def names() -> list[str]:
        return [worker["id"] for worker in clearml.ok("workers.get_all")["workers"]]

    before = names()
    wait_until(lambda: names() == ["lasting"], "the silent worker is forgotten")
    assert before == ["brief", "lasting"]


def test_what_breaks_a_call_is_an_internal_error_in_an_envelope(clearml: Sandbox) -> None:
    task = clearml.create_task()

    answer = clearml.call("tasks.edit_hyper_params", task=task, hyperparams=[{"value": "1"}])

    assert (answer.code, answer.subcode) == (500, 1)
    assert clearml.call("debug.ping").code == 200
