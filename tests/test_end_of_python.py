"""Python may end, or be asked to, while another thread is inside the core."""

import signal
import subprocess
import sys
import textwrap

import pytest

# A daemon thread fits for minutes; the main thread ends once the core is at work there.
FITTING_AT_THE_END = """
    import sys, threading, time
    import numpy as np
    from planewise import _core
    from planewise import MCMClassifier, RECIPClassifier, SLMBoostClassifier, SLMForestClassifier

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4_000, 30)), rng.integers(0, 2, 4_000)
    model = {model}
    work, inside = {core}, threading.Event()

    def watched(*arguments):
        inside.set()
        return work(*arguments)

    def fit():
        while True:
            model.fit(X, y)

    {core} = watched
    sys.setswitchinterval(1e-6)
    threading.Thread(target=fit, daemon=True).start()
    inside.wait()
    for _ in range(100):
        time.sleep(0)  # a turn for the other thread each, which then is inside the core
    print("ending")
"""

FITS = {
    "forest": ("SLMForestClassifier(n_estimators=10**6, n_jobs=2)", "_core.grow_class_trees"),
    "boosting": ("SLMBoostClassifier(n_estimators=10**6)", "_core.Boosting"),
    "views": ("RECIPClassifier()", "_core.NearestWeightsSearch"),
    "machine": ("MCMClassifier(kernel='rbf', C=10.0, mu=1e-5)", "_core.ProgramPath.solve"),
}


def end(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("kind", FITS)
def test_python_ends_quietly_while_a_daemon_thread_fits(kind):
    model, core = FITS[kind]
    done = end(FITTING_AT_THE_END.format(model=model, core=core))
    assert (done.returncode, done.stdout, done.stderr) == (0, "ending\n", "")


# Threads go in and out of the core all the time: at the end some are about to enter, some about to leave.
MANY_SHORT_CALLS = """
    import sys, threading, time
    import numpy as np
    from planewise import SLMClassifier

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
    tree = SLMClassifier(random_state=0).fit(X, y).tree_
    row, called = X[:1].astype(np.float32), threading.Event()

    def ask():
        while True:
            tree.apply(row)
            called.set()

    sys.setswitchinterval(1e-6)
    for _ in range(2):
        threading.Thread(target=ask, daemon=True).start()
    called.wait()
"""


def test_python_ends_quietly_while_daemon_threads_call_the_core_again_and_again():
    codes = {end(MANY_SHORT_CALLS).returncode for _ in range(6)}  # the moment of the end is a matter of luck
    assert codes == {0}


# joblib's threads stay in the core when Ctrl-C ends the search that started them.
INTERRUPTED_SEARCH = """
    import signal, sys, threading, time
    import numpy as np
    from planewise import MCMClassifierCV, _core

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1_500, 10)), rng.integers(0, 2, 1_500)
    follow, inside = _core.ProgramPath.follow, threading.Event()

    def watched(*arguments):
        inside.set()
        return follow(*arguments)

    def press():
        inside.wait()
        for _ in range(100):
            time.sleep(0)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    _core.ProgramPath.follow = watched
    sys.setswitchinterval(1e-6)
    threading.Thread(target=press).start()
    MCMClassifierCV(n_jobs=2).fit(X, y)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends a POSIX signal")
def test_ctrl_c_during_a_search_on_two_threads_ends_python_as_ctrl_c_does():
    done = end(INTERRUPTED_SEARCH)
    assert done.returncode == -signal.SIGINT
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")
