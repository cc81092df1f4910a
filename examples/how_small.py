"""
=====================================
Accuracy by number of support vectors
=====================================

The kernel machines that a search tried in all folds, by their support vectors and their accuracy, and the one that it
chose by its log-loss.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from planewise import MCMClassifierCV

X, y = load_breast_cancer(return_X_y=True)
search = MCMClassifierCV(random_state=0, n_repeats=1).fit(X, y)
results = search.cv_results_
whole = np.all([np.isfinite(results[f"split{fold}_test_score"]) for fold in range(search.cv)], axis=0)
size, score = results["mean_n_support"], results["mean_test_score"]

figure, ax = plt.subplots(figsize=(5.2, 3.6), layout="constrained")
ax.scatter(size[whole], score[whole], s=14, alpha=0.4, label="tried")
ax.scatter(size[search.best_index_], score[search.best_index_], s=120, marker="*", color="C3", label="chosen")
ax.set(xscale="log", ylim=(0.9, 1.0), xlabel="support vectors, mean over folds", ylabel="accuracy, mean over folds")
ax.legend()
plt.show()
