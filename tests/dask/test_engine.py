"""Questions to parts on workers, and what happens when workers are lost, added, or hang."""

from __future__ import annotations

import os
import signal
import threading
import time

import dask.array as da
import numpy as np
import pytest
from dask.distributed import Client, LocalCluster
from dask_partitions import frame, model_bytes, wait_for_two_workers

import dask
import planewise
import planewise.dask as on_dask
from local_parts import LocalParts
from planewise.dask import LostSchedulerError, LostWorkersError
from planewise.dask.engine import DaskParts
from planewise.data.chunks import Part

pytestmark = pytest.mark.filterwarnings("ignore:.*:pytest.PytestUnhandledThreadExceptionWarning")
N_PARTS, N_ROWS = 6, 50


def make_part(k):
    rows = np.random.default_rng(k).random((N_ROWS, 3), dtype=np.float32)
    return Part(rows, rows[:, 0].astype(np.float64), np.ones(N_ROWS), k * N_ROWS)


def total(part, factor, own=0, *, n_threads):
    return part.first, factor * float(part.rows.sum()) + own, n_threads


def count_asked(part, *, n_threads):
    part.states["asked"] = part.states.get("asked", 0) + 1
    return part.states["asked"]


def slow_total(part, seconds, *, n_threads):
    time.sleep(seconds)
    return float(part.rows.sum())


def fail_in_one(part, *, n_threads):
    if part.first == 2 * N_ROWS:
        raise ValueError("not this one")
    return 0


class AwkwardError(Exception):
    """Cannot be made again from its arguments, so not from a pickle either."""

    def __init__(self, number, text):
        super().__init__(f"{text} {number}")


def fail_awkwardly(part, *, n_threads):
    raise AwkwardError(3, "no")


def answer_what_cannot_be_sent(part, *, n_threads):
    return threading.Lock()


def one_at_a_time(part, *, n_threads):
    part.states["inside"] = part.states.get("inside", 0) + 1
    time.sleep(0.05)
    most = part.states["inside"]
    part.states["inside"] -= 1
    return most


def process_of(dask_worker):
    return os.getpid()


def parts_on(client):
    return DaskParts(client, client.map(make_part, range(N_PARTS), pure=False), [N_ROWS] * N_PARTS)


LOCAL = LocalParts([make_part(k) for k in range(N_PARTS)])


def test_answers_and_rows_are_those_of_parts_in_one_process(client):
    parts = parts_on(client)
    assert parts.ask(total, 2.0) == LOCAL.ask(total, 2.0)
    assert parts.ask(total, 2.0, each=range(N_PARTS)) == LOCAL.ask(total, 2.0, each=range(N_PARTS))
    rows = np.arange(0, N_PARTS * N_ROWS, 7)
    for mine, theirs in zip(parts.gather_rows(rows), LOCAL.gather_rows(rows), strict=True):
        assert mine.tobytes() == theirs.tobytes()


def test_states_stay_beside_the_rows(client):
    parts = parts_on(client)
    assert [parts.ask(count_asked) for _ in range(3)] == [[1] * N_PARTS, [2] * N_PARTS, [3] * N_PARTS]


def first_rows(part, count, *, n_threads):
    return Part(part.rows[:count], part.target[:count], part.weight[:count], part.first)


@pytest.mark.parametrize("are_found", [True, False])
def test_parts_are_derived_even_if_no_worker_holds_them_this_moment(client, monkeypatch, are_found):
    parts = parts_on(client)
    if not are_found:
        monkeypatch.setattr(parts, "_find_holders", lambda: None)
    derived, local = (each.derive(first_rows, each=range(N_PARTS)) for each in (parts, LOCAL))
    assert derived.sizes == local.sizes == list(range(N_PARTS))
    assert derived.ask(total, 2.0) == local.ask(total, 2.0)


def test_the_error_of_a_question_names_its_partition(client):
    with pytest.raises(ValueError, match="not this one") as told:
        parts_on(client).ask(fail_in_one)
    assert told.value.__notes__ == ["in partition 2"]


@pytest.fixture(scope="module")
def processes():
    """Workers in processes of their own, which nannies start again."""
    with LocalCluster(processes=True, n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture
def far_client(processes):
    with Client(processes, set_as_default=False) as connected:
        wait_for_two_workers(processes, connected)
        yield connected


def signal_one(client, number, which=0):
    """Send a signal to a worker's process."""
    pids = client.run(process_of)
    os.kill(sorted(pids.values())[which], number)


def asked_meanwhile(work):
    """Start a thread that does the work; its result is in the list when it has ended."""
    found = []

    def run():
        try:
            found.append(work())
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, found


@pytest.mark.parametrize("moment", [0.0, 0.1, 0.35])
def test_parts_of_a_killed_worker_are_asked_again_elsewhere(far_client, moment):
    parts = parts_on(far_client)
    parts.ask(total, 1.0)
    thread, found = asked_meanwhile(lambda: [parts.ask(slow_total, 0.02) for _ in range(4)])
    time.sleep(moment)
    signal_one(far_client, signal.SIGKILL)
    thread.join(120)
    assert found == [[LOCAL.ask(slow_total, 0) for _ in range(4)]]


def test_a_worker_that_is_added_changes_nothing(processes, far_client):
    parts = parts_on(far_client)
    thread, found = asked_meanwhile(lambda: [parts.ask(slow_total, 0.05) for _ in range(8)])
    before = len(far_client.scheduler_info(n_workers=-1)["workers"])
    processes.scale(len(processes.workers) + 1)
    far_client.wait_for_workers(before + 1, timeout=120)
    thread.join(120)
    assert found == [[LOCAL.ask(slow_total, 0) for _ in range(8)]]


def delayed_rows(table, sizes, seconds):
    def wait(part):
        time.sleep(seconds)
        return part

    return frame(table, sizes).map_partitions(wait, meta=table.iloc[:0])


@pytest.mark.parametrize("name", ["SLMForestClassifier", "SLMBoostClassifier"])
@pytest.mark.parametrize("moment", [0.1, 0.5])
def test_a_fit_goes_on_to_the_same_bytes_when_a_worker_is_killed(far_client, table, name, moment):
    X, y = table[:2]
    sizes = [100] * 6
    local = getattr(planewise, name)(n_estimators=8, random_state=0).fit(X, y)
    remote = getattr(on_dask, name)(n_estimators=8, random_state=0, client=far_client)
    thread, found = asked_meanwhile(lambda: remote.fit(delayed_rows(X, sizes, 0.1), frame(y, sizes)))
    time.sleep(moment)
    signal_one(far_client, signal.SIGKILL)
    thread.join(120)
    assert found == [remote]
    assert model_bytes(remote) == model_bytes(local)


def test_a_fit_that_runs_on_the_only_worker_is_run_again_when_that_is_killed(table):
    options = {"processes": True, "n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    X, y = table[0], table[2]
    settings = {"n_projections": 8_000, "random_state": 0}
    with LocalCluster(**options) as cluster, Client(cluster, set_as_default=False) as lonely:
        model = on_dask.SLMRegressor(client=lonely, **settings)
        thread, found = asked_meanwhile(lambda: model.fit(frame(X, [300, 300]), frame(y, [300, 300])))
        while thread.is_alive() and not any("planewise-fit" in str(keys) for keys in lonely.processing().values()):
            time.sleep(0.01)
        assert thread.is_alive()
        signal_one(lonely, signal.SIGKILL)
        thread.join(120)
    assert found == [model]
    assert model_bytes(model) == model_bytes(planewise.SLMRegressor(**settings).fit(X, y))


def test_a_worker_that_hangs_ends_the_question_with_its_address(far_client):
    parts = parts_on(far_client)
    parts.ask(total, 1.0)
    pid = sorted(far_client.run(process_of).values())[0]
    os.kill(pid, signal.SIGSTOP)
    try:
        told = pytest.raises(LostWorkersError, match=r"No answer for 2 s from tcp://.* about . of 6 partitions")
        with dask.config.set({"planewise.timeout": "2s"}), told:
            parts.ask(total, 1.0)
    finally:
        os.kill(pid, signal.SIGKILL)


def test_a_partition_that_never_ends_is_named(far_client, table):
    X = delayed_rows(table[0], [600], 30)
    model = on_dask.SLMClassifier(client=far_client)
    told = pytest.raises(LostWorkersError, match=r"No progress for 1 s while computing partition 0 of X")
    with dask.config.set({"planewise.timeout": "1s"}), told:
        model.fit(X, frame(table[1], [600]))


def test_no_workers_at_all(table):
    options = {"processes": False, "n_workers": 0, "dashboard_address": ":0"}
    told = pytest.raises(LostWorkersError, match="The cluster has had no workers for 1 s")
    with LocalCluster(**options) as cluster, Client(cluster, set_as_default=False) as lonely:
        model = on_dask.SLMClassifier(client=lonely)
        with dask.config.set({"planewise.timeout": "1s"}), told:
            model.fit(frame(table[0], [600]), frame(table[1], [600]))


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_goes_ends_the_fit(table):
    options = {"processes": False, "n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    cluster = LocalCluster(**options)
    lonely = Client(cluster, set_as_default=False)
    model = on_dask.SLMClassifier(client=lonely)
    thread, found = asked_meanwhile(
        lambda: model.fit(delayed_rows(table[0], [300, 300], 1), frame(table[1], [300, 300]))
    )
    time.sleep(0.5)
    cluster.close()
    thread.join(120)
    lonely.close()
    assert len(found) == 1 and isinstance(found[0], LostSchedulerError)


def test_a_client_that_is_restarted_ends_the_fit(far_client, table):
    model = on_dask.SLMClassifier(client=far_client)
    thread, found = asked_meanwhile(lambda: model.fit(delayed_rows(table[0], [600], 20), frame(table[1], [600])))
    time.sleep(0.5)
    far_client.restart(wait_for_workers=False)
    thread.join(120)
    assert len(found) == 1 and isinstance(found[0], LostSchedulerError)
    assert "no longer computes partition 0 of X" in str(found[0])


def test_a_part_answers_one_question_at_a_time(client):
    parts, found = parts_on(client), []
    parts.ask(total, 1.0)
    asking = [threading.Thread(target=lambda: found.extend(parts.ask(one_at_a_time))) for _ in range(4)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert found == [1] * (4 * N_PARTS)


def test_errors_and_answers_that_cannot_be_sent_are_told_at_once(client):
    parts = parts_on(client)
    with pytest.raises(RuntimeError, match="AwkwardError: no 3"):
        parts.ask(fail_awkwardly)
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as other,
        pytest.raises(TypeError, match=r"pickle|serialize"),
    ):
        parts_on(other).ask(answer_what_cannot_be_sent)


def test_a_worker_that_is_busy_with_other_tasks_answers(client):
    parts = parts_on(client)
    parts.ask(total, 1.0)
    tasks = client.map(lambda k: time.sleep(3), range(4), pure=False)
    start = time.monotonic()
    parts.ask(total, 1.0)
    assert not all(task.done() for task in tasks), time.monotonic() - start
    client.cancel(tasks)


def test_derived_parts_are_released_with_their_origin(client):
    parts = parts_on(client)
    parts.derive(copied, each=[None] * N_PARTS)

    def are_held():
        return any(key.startswith("planewise-copied") for key in client.futures)

    assert are_held()
    parts.release()
    until = time.monotonic() + 10  # the client lets go of them in a thread of its own
    while are_held() and time.monotonic() < until:
        time.sleep(0.01)
    assert not are_held()


def copied(part, _, *, n_threads):
    return Part(part.rows, part.target, part.weight, part.first)


@pytest.mark.parametrize("labels", [np.array([3, 5], np.int32), np.array(["no", "yes"]), np.array([False, True])])
def test_classes_have_the_type_of_the_labels_in_memory(client, labels):
    rng = np.random.default_rng(0)
    X, y = rng.random((700, 3)), labels[rng.integers(0, 2, 700)]
    model = on_dask.SLMBoostClassifier(n_estimators=2, max_rows_per_tree=256, client=client, random_state=0)
    model.fit(da.from_array(X, chunks=(200, 3)), da.from_array(y, chunks=200))
    local = planewise.SLMBoostClassifier(n_estimators=2, max_rows_per_tree=256, random_state=0).fit(X, y)
    assert model.classes_.dtype == local.classes_.dtype
    assert model.classes_.tolist() == local.classes_.tolist()
