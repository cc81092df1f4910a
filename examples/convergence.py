"""
==============================
How quickly ensembles converge
==============================

Accuracy of forests and log loss of boosting by the number of trees: Figure 5 of the SLM paper.

The data are Wine and breast cancer from scikit-learn. Curves are means over four splits, and bands are one standard
error. scikit-learn's gradient boosting replaces the XGBoost of the paper.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import train_test_split

from planewise import SLMBoostClassifier, SLMForestClassifier
from planewise.plot import ConvergenceDisplay

SETS = {"Wine": load_wine, "breast cancer": load_breast_cancer}
TREES, SEEDS = 40, 4


def curves(X, y, seed):
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=seed, stratify=y)
    forests = {
        "SLM forest": SLMForestClassifier(n_estimators=TREES, random_state=seed),
        "random forest": RandomForestClassifier(TREES, random_state=seed),
    }
    boosts = {
        "SLM boost": SLMBoostClassifier(n_estimators=TREES, random_state=seed),
        "gradient boosting": GradientBoostingClassifier(n_estimators=TREES, random_state=seed),
    }
    return tuple(
        ConvergenceDisplay.from_estimators(
            {name: model.fit(X_train, y_train) for name, model in models.items()}, X_test, y_test, measure=measure
        )
        for models, measure in ((forests, "accuracy"), (boosts, "log_loss"))
    )


figure, axes = plt.subplots(2, len(SETS), figsize=(3.6 * len(SETS), 6), layout="constrained")
for column, (title, load) in enumerate(SETS.items()):
    runs = [curves(*load(return_X_y=True), seed) for seed in range(SEEDS)]
    for row, displays in enumerate(zip(*runs, strict=True)):
        ConvergenceDisplay.joined(displays).plot(axes[row, column], title=title)
plt.show()
