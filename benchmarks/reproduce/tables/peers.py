"""Duels of our own: what a user might take instead, on public data. Each peer takes turns with planewise."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from benchmarks.duels.turns import Turns

from .. import methods as m
from ..claims import geometric
from ..data import PEER_CLASSES, PEER_NUMBERS, PEER_VIEWS
from ..declaration import Data, Edge, Experiment, Method, Table

PLUS_ONE = "Loss is the error rate, (errors + 1) / test rows. One is added so that ratios are always defined."
RATIOS = {"fit": "time to fit", "predict": "time to predict", "size": "size"}


def duel(
    name: str,
    title: str,
    ours: Method,
    peers: tuple[Method, ...],
    data: tuple[Data, ...],
    note: str,
    not_run: Mapping[tuple[str, str], str] = MappingProxyType({}),
    **more: bool,
) -> Table:
    """Rows: losses, then our times and sizes divided by each peer's."""
    experiment = Experiment(name, Turns(ours, **more), data, (ours, *peers), 1, 1, not_run=not_run)
    return Table(
        name,
        title,
        experiment,
        rows=(
            *(Edge(f"loss, {method.name}", method=method.name, metric="loss", digits=4) for method in (ours, *peers)),
            *(
                Edge(f"{words}, planewise / {peer.name}", method=peer.name, metric=metric)
                for metric, words in RATIOS.items()
                for peer in peers
            ),
        ),
        columns=tuple(Edge(each.name, data=each.name) for each in data),
        notes=(
            "One seed: one 60/40 split of at most 5,000 rows, one thread. planewise and the other library take turns, "
            "so times are ratios within one run; they vary from run to run. Sizes are those of compressed pickles.",
            note,
        ),
        claims=tuple(geometric(f"loss, {ours.name}", f"loss, {peer.name}", peer.name, RATIOS) for peer in peers),
    )


TABLES = (
    duel(
        "peers-boosting",
        "Boosting: RMSE or log-loss after 100 rounds at learning rate 0.1, otherwise with defaults",
        m.PEER_BOOST,
        (m.LIGHTGBM, m.XGBOOST_DEFAULTS, m.CATBOOST, m.HISTOGRAM_BOOSTING, m.YDF),
        PEER_CLASSES + PEER_NUMBERS,
        "Nothing is tuned.",
        by_chances=True,
    ),
    duel(
        "peers-machines",
        "Kernel machines: error rate",
        m.PEER_MACHINE,
        (m.PEER_SVC,),
        PEER_CLASSES,
        f"{PLUS_ONE} Both are tuned on three folds of the training part: planewise by its own search, which draws the "
        "folds four times, and SVC by a grid of 18 points. Both times include the search.",
    ),
    duel(
        "peers-views",
        "Views: error rate",
        m.PEER_VIEWS,
        (m.PEER_NEIGHBOURS, m.EBM),
        PEER_VIEWS,
        f"{PLUS_ONE} KNN is tuned over four grid points on three folds of the training part, and its time includes "
        "that search. planewise and EBM use their defaults.",
        not_run={
            (
                "banknote_authentication",
                "EBM",
            ): "stopped after 150 seconds on one core; ours takes less than one second",
            ("sonar", "EBM"): "stopped after 100 seconds on one core; ours takes less than one second",
        },
    ),
)
