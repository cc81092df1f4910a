"""
==================================
Projections of the published RECIP
==================================

The projections that the paper names, and the projections that the published method finds: Figure 1 of the RECIP paper.

The data are like the synthetic data of the paper: two batches of rows, each of which can be classified in its own pair
of features. If ``PLANEWISE_DATA`` names a folder with the papers' data sets, this uses the spam data of the paper.
"""

import os

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from planewise.plot import ProjectionDisplay
from planewise.published import recip, recip_known

if os.environ.get("PLANEWISE_DATA"):
    from benchmarks.data import load  # in a clone

    data = load("spambase")
    X, y, names = data.data, np.where(data.target == data.target.max(), "spam", "not spam"), list(data.feature_names)
    words = ("capital_run_length_longest", "word_freq_your")
    known = [(names.index(word), names.index("capital_run_length_total")) for word in words]
else:
    rng = np.random.default_rng(1)
    X, y, known = rng.uniform(size=(1300, 7)), np.empty(1300, dtype=int), [(0, 1), (2, 3)]
    for rows, pair in zip((slice(650), slice(650, 1300)), known, strict=True):
        y[rows] = np.logical_xor(*(X[rows, pair] > 0.5).T)
        X[rows, pair] += 1
    y, names = np.array(["no", "yes"])[y], [f"feature {j}" for j in range(X.shape[1])]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0, stratify=y)
figure, axes = plt.subplots(2, 2, figsize=(8.4, 7.6), layout="constrained")
for row, words, model in zip(axes, ("known", "found"), (recip_known(known), recip()), strict=True):
    model.fit(X_train, y_train)
    print(f"{words}: {len(model.projections_)} projections, accuracy {model.score(X_test, y_test):.1%} on test rows")
    ProjectionDisplay.from_estimator(
        model, X_train, y_train, X_test, y_test, n_views=2, max_queries=200, feature_names=names
    ).plot(row, with_key=words == "known")
    for ax in row:
        ax.title.set_text(f"{words}: {ax.get_title()}")
plt.show()
