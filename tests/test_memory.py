"""How much memory may be used is the tightest of all limits."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

from planewise.dask.memory import available_memory

GB = 10**9


def machine(folder, files):
    for name, text in {"proc/meminfo": f"MemTotal: 1 kB\nMemAvailable: {8 * GB // 1024} kB\n", **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 8 * GB // 1024 * 1024),
        (
            {
                "proc/self/cgroup": "0::/job/step\n",
                "sys/fs/cgroup/job/memory.max": f"{4 * GB}\n",  # of a group above
                "sys/fs/cgroup/job/memory.current": f"{GB}\n",
                "sys/fs/cgroup/job/step/memory.max": "max\n",
            },
            3 * GB,
        ),
        (
            {
                "proc/self/cgroup": "5:cpu,cpuacct:/\n4:memory:/docker/abc\n",  # a path of the host's
                "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{2 * GB}\n",
                "sys/fs/cgroup/memory/memory.usage_in_bytes": f"{3 * GB}\n",
            },
            0,
        ),
    ],
    ids=["machine", "group of version 2", "group of version 1"],
)
def test_the_tightest_limit_counts(tmp_path, files, expected):
    if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
        pytest.skip("this process has a limit of its own")
    assert available_memory(machine(tmp_path, files)) == expected


@pytest.mark.skipif(sys.platform != "linux", reason="limits of other systems may not be lowered")
def test_a_limit_of_the_process_counts():
    code = (
        "import resource\nfrom planewise.dask.memory import available_memory\n"
        "resource.setrlimit(resource.RLIMIT_DATA, (2 * 10**9, 2 * 10**9)); print(available_memory())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) <= 2 * 10**9
