"""How much memory there is to use: that of the machine, the limits of a container and those of the process."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path("/")


def available_memory(root: Path = ROOT) -> int | None:
    """Bytes that can still be used, by the tightest of all limits; None if the system does not say."""
    found = [_of_machine(root), *_of_groups(root), _of_process()]
    return min((each for each in found if each is not None), default=None)


def _of_machine(root: Path) -> int | None:
    for line in _read(root / "proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows
        return None


def _of_groups(root: Path) -> list[int]:
    """What the control groups of this process (containers, jobs) leave: of version 2, of version 1, and all above."""
    found = []
    for line in _read(root / "proc/self/cgroup").splitlines():
        number, kinds, path = line.split(":", 2)
        if number == "0":
            base, limit, used = root / "sys/fs/cgroup", "memory.max", "memory.current"
        elif "memory" in kinds.split(","):
            base, limit, used = root / "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        own = base / path.strip("/")
        for folder in (own, *own.parents):  # inside a container, the path may be the host's
            if folder == base.parent:
                break
            most, now = _number(folder / limit), _number(folder / used)
            if most is not None:
                found.append(max(0, most - (now or 0)))
    return found


def _of_process() -> int | None:
    """What ``ulimit`` allows."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    return min((each for each in limits if each != resource.RLIM_INFINITY), default=None)


def _number(path: Path) -> int | None:
    text = _read(path).strip()
    return int(text) if text.isdigit() else None  # "max": no limit


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
