"""How much a client and all clients together may ask for."""

from __future__ import annotations

import math
import os
import time
from collections import OrderedDict
from dataclasses import dataclass, fields
from ipaddress import IPv6Address, ip_address

MAX_CLIENTS = 10_000  # of which the rate is known; the one that asked least recently is forgotten first


@dataclass(frozen=True)
class Limits:
    """Limits of the service.

    Parameters
    ----------
    max_bytes : int, default=1,000,000
        Maximum size of a request's body.
    max_rows : int, default=10,000
        Maximum number of rows per request.
    rate : float, default=1,000
        Requests per second of one client, which it may also ask for at once; 0 for no limit.
    seconds : float, default=10
        How long a request may take, waiting included, after its body has arrived; the body has as long to arrive.
    threads : int or None, default=None
        How many requests are predicted at the same time; None for one per processor, at most 4.
    waiting : int, default=100
        How many more requests may wait for their turn; further ones are refused at once.
    """

    max_bytes: int = 1_000_000
    max_rows: int = 10_000
    rate: float = 1_000.0
    seconds: float = 10.0
    threads: int | None = None
    waiting: int = 100

    def __post_init__(self) -> None:
        smallest = {"rate": 0.0, "waiting": 0, "seconds": 0.001}
        for each in fields(self):
            value, least = getattr(self, each.name), smallest.get(each.name, 1)
            if value is None and each.name == "threads":
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value < math.inf:
                raise ValueError(f"{each.name} must be a number of at least {least}; got {value!r}.")

    @property
    def n_threads(self) -> int:
        """How many requests are predicted at the same time."""
        return min(4, os.cpu_count() or 1) if self.threads is None else self.threads


class Rate:
    """One bucket of tokens per client: a request takes one, and they come back at a constant rate."""

    def __init__(self, per_second: float) -> None:
        self.per_second, self.most = per_second, max(1.0, per_second)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, and when they were counted

    def wait(self, client: str) -> float:
        """0 if the client may ask now; else how many seconds until it may."""
        if not self.per_second:
            return 0.0
        now = time.monotonic()
        tokens, counted = self._buckets.get(client, (self.most, now))
        tokens = min(self.most, tokens + (now - counted) * self.per_second)
        allowed = tokens >= 1
        self._buckets[client] = tokens - allowed, now
        self._buckets.move_to_end(client)
        if len(self._buckets) > MAX_CLIENTS:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - tokens) / self.per_second


def client_of(address: str) -> str:
    """Who asks: an address, of IPv6 the network of one customer, which has more addresses than can be counted."""
    if ":" not in address:
        return address
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv6Address) and found.ipv4_mapped is None:
        return found.exploded[:19]
    return str(getattr(found, "ipv4_mapped", None) or found)
