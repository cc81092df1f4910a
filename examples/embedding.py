"""
============================
What a conformal kernel does
============================

Rows in the data space, in the kernel space and in the optimised kernel space: Figure 2 of the MCM paper.

The parameters are those of the paper: C = 2, gamma = .002 and gamma_c = .0078. The data are two of
scikit-learn's wines.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from planewise import MCMClassifier
from planewise.plot import EmbeddingDisplay

data = load_wine()
chosen = data.target < 2
X, y = data.data[chosen], data.target_names[data.target[chosen]]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)

# The paper penalises the sum of the slacks, planewise their mean: C = 2 is 2 n here. mu > 0 makes the machine sparse.
machine = MCMClassifier(
    C=2 * len(y_train),
    mu=0.01,
    gamma=0.002,
    relaxation=1.0,
    conformal="signed",
    gamma_conformal=0.0078,
    scaling="standard",
).fit(X_train, y_train)
print(f"{len(machine.support_)} support vectors, accuracy {machine.score(X_test, y_test):.1%} on test rows")
EmbeddingDisplay.from_estimator(machine, X_train, y_train, X_test=X_test, y_test=y_test).plot()
plt.show()
