"""Ratios, ours divided by a peer's, and their means over data sets."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from .families import Family

CLIP = 2.0  # a ratio of losses counts at most this, and at least its inverse
TINY = 1e-12  # no ratio divides by zero

Entry = dict[str, Any]


def geometric_mean(values: Iterable[float]) -> float:
    logarithms = [math.log(value) for value in values]
    return math.exp(sum(logarithms) / len(logarithms)) if logarithms else math.nan


def clipped(ratio: float) -> float:
    return min(CLIP, max(1 / CLIP, ratio))


def ratio(entry: Entry, ours: str, peer: str, key: str) -> float:
    """Our time, size or count divided by the peer's."""
    contenders = entry["contenders"]
    shift = 1 if key == "vectors" else TINY  # a machine may have no support vector at all
    return (contenders[ours][key] + shift) / (contenders[peer][key] + shift)


def loss_ratio(entry: Entry, ours: str, peers: Iterable[str]) -> float:
    """Our loss divided by that of the best of these peers, clipped; if we failed, it is the worst there is."""
    contenders = entry["contenders"]
    if ours not in contenders:
        return CLIP
    best = min(contenders[peer]["loss"] for peer in peers if peer in contenders)
    return clipped((contenders[ours]["loss"] + TINY) / (best + TINY))


def peers_of(family: Family, entries: list[Entry]) -> list[str]:
    """Peers that finished on at least one data set, in the order of the family."""
    met = {name for entry in entries for name in entry["contenders"]}
    return [name for name in family.contenders if name in met and not family.is_ours(name)]


def summarise(family: Family, entries: list[Entry]) -> dict[str, float]:
    """Geometric means over data sets; a data set on which a peer failed does not count for that peer."""
    ours, peers = family.ours, peers_of(family, entries)
    against_any = [entry for entry in entries if any(peer in entry["contenders"] for peer in peers)]
    best = [loss_ratio(entry, ours, peers) for entry in against_any]
    out: dict[str, float] = {
        "sets": len(entries),
        "best peer: loss": geometric_mean(best),
        "best peer: wins": sum(each <= 1 for each in best),
    }
    for peer in peers:
        out |= {f"{peer}: {key}": value for key, value in _against(family, entries, peer).items()}
    if "planewise-100" in family.contenders and "randomforest" in peers:
        met = [entry for entry in entries if "randomforest" in entry["contenders"]]
        out["100 trees each: loss"] = geometric_mean(
            loss_ratio(entry, "planewise-100", ["randomforest"]) for entry in met
        )
    return out


def _against(family: Family, entries: list[Entry], peer: str) -> dict[str, float]:
    ours = family.ours
    met = [entry for entry in entries if peer in entry["contenders"]]
    both = [entry for entry in met if ours in entry["contenders"]]
    out = {"loss": geometric_mean(loss_ratio(entry, ours, [peer]) for entry in met)}
    if not both:
        return out
    measured = both[0]["contenders"][peer]
    for key in ("fit", "predict", "bytes", "parameters", "vectors"):
        if key in measured:
            out[key] = geometric_mean(ratio(entry, ours, peer, key) for entry in both)
    if "vectors" in measured:
        points = [100 * (entry["contenders"][peer]["loss"] - entry["contenders"][ours]["loss"]) for entry in both]
        out["accuracy_points"], out["worst_points"] = sum(points) / len(points), min(points)
        out["worst fit"] = max(ratio(entry, ours, peer, "fit") for entry in both)
    return out
