"""Ranking rows of queries: planewise, LightGBM and XGBoost, 100 rounds at a learning rate of 0.1, otherwise defaults.

    python benchmarks/duels/ranking.py [--folder DIR] [--out results.json]

Three kinds of generated queries, five draws each: relevance depends on single columns, on sums and differences of them,
or on columns together with columns that are the same for the whole query. With --folder also the example that comes
with LightGBM (its folder examples/lambdarank: rank.train, rank.test and their .query files). Shown is NDCG at 10 of
queries that no model has seen, with gains 2^y - 1; queries without relevant rows do not count.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROUNDS, AT, DRAWS = 100, 10, 5
KINDS = ("single columns", "sums of columns", "columns of the query")


class Queries(NamedTuple):
    X: np.ndarray
    grade: np.ndarray  # 0 to 4
    size: np.ndarray  # rows of each query, one query after the other

    @property
    def qid(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.size)), self.size)


def make_queries(n_queries: int, kind: str, seed: int) -> Queries:
    """Queries of 5 to 60 rows; the grade is by the place in the query, the best 3% have 4, half of them 0."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    size = rng.integers(5, 61, n_queries)
    qid = np.repeat(np.arange(n_queries), size)
    X = rng.standard_normal((len(qid), 20))
    of_query = rng.standard_normal((n_queries, 4))[qid]
    X[:, :4] = of_query
    if kind == "single columns":
        score = X[:, 4] + np.abs(X[:, 5]) + 2 * (X[:, 6] > 0.5) + np.sin(2 * X[:, 7])
    elif kind == "sums of columns":
        score = 2 * (X[:, 4] - X[:, 5] > 0.3) + np.abs(X[:, 6] + X[:, 7] - X[:, 8]) + np.tanh(X[:, 9] + X[:, 10])
    else:
        score = X[:, 4] * X[:, 0] + X[:, 5] * (X[:, 1] > 0) + np.abs(X[:, 6] - X[:, 2]) + X[:, 7]
    score += rng.standard_normal(len(qid)) + 2 * of_query[:, 3]
    grade = np.empty(len(qid), dtype=np.int64)
    for query in range(n_queries):
        rows = np.flatnonzero(qid == query)
        place = score[rows].argsort().argsort() / len(rows)
        grade[rows] = np.digitize(place, [0.5, 0.75, 0.9, 0.97])
    return Queries(X, grade, size)


def read_example(folder: Path, part: str, n_features: int | None = None) -> Queries:
    """Rows in the format of svmlight, with a file of the sizes of queries."""
    from sklearn.datasets import load_svmlight_file

    X, grade = load_svmlight_file(str(folder / f"rank.{part}"), n_features=n_features)
    return Queries(X.toarray(), grade.astype(np.int64), np.loadtxt(folder / f"rank.{part}.query", dtype=np.int64))


def ndcg(queries: Queries, score: np.ndarray) -> float:
    """The mean over queries; of tied rows the first in the table comes first, as in LightGBM."""
    found, starts = [], np.cumsum(queries.size) - queries.size
    for start, size in zip(starts, queries.size, strict=True):
        rows = slice(start, start + size)
        gain = 2.0 ** queries.grade[rows] - 1
        discount = 1 / np.log2(np.arange(2, size + 2))
        discount[AT:] = 0
        best = (np.sort(gain)[::-1] * discount).sum()
        if best > 0:
            found.append((gain[np.argsort(-score[rows], kind="stable")] * discount).sum() / best)
    return float(np.mean(found))


def fitted(name: str, queries: Queries, seed: int):
    if name == "planewise":
        from planewise import SLMBoostRanker

        return SLMBoostRanker(n_estimators=ROUNDS, random_state=seed).fit(queries.X, queries.grade, qid=queries.qid)
    if name == "lightgbm":
        from lightgbm import LGBMRanker

        model = LGBMRanker(n_estimators=ROUNDS, learning_rate=0.1, n_jobs=1, verbose=-1, random_state=seed)
        return model.fit(queries.X, queries.grade, group=queries.size)
    from xgboost import XGBRanker

    model = XGBRanker(n_estimators=ROUNDS, learning_rate=0.1, n_jobs=1, random_state=seed)
    return model.fit(queries.X, queries.grade, qid=queries.qid)


def tables(folder: Path | None) -> Iterator[tuple[str, int, Queries, Queries]]:
    """Name, draw, queries to learn from and queries to rank."""
    for kind in KINDS:
        for draw in range(DRAWS):
            yield kind, draw, make_queries(200, kind, draw), make_queries(300, kind, 1000 + draw)
    if folder is not None:
        train = read_example(folder, "train")
        yield "LightGBM's example", 0, train, read_example(folder, "test", train.X.shape[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    rows = []
    for table, draw, train, test in tables(args.folder):
        for name in ("planewise", "lightgbm", "xgboost"):
            start = time.perf_counter()
            model = fitted(name, train, draw)
            seconds = time.perf_counter() - start
            rows.append(
                {"table": table, "draw": draw, "model": name, "ndcg": ndcg(test, model.predict(test.X)), "fit": seconds}
            )
            print(f"{table:22} {draw} {name:10} {rows[-1]['ndcg']:.4f}  {seconds:6.1f} s", file=sys.stderr, flush=True)
    print(f"{'NDCG at 10':22} {'planewise':>10} {'lightgbm':>10} {'xgboost':>10}")
    for table in dict.fromkeys(row["table"] for row in rows):
        means = [
            np.mean([row["ndcg"] for row in rows if (row["table"], row["model"]) == (table, name)])
            for name in ("planewise", "lightgbm", "xgboost")
        ]
        print(f"{table:22} " + " ".join(f"{mean:10.4f}" for mean in means))
    if args.out is not None:
        args.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
