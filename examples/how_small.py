"""
======================
Accuracy by model size
======================

The kernel machines that a search tried, and models of all kinds, by their size and their accuracy on new rows.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from planewise import MCMClassifierCV, SLMBoostClassifier, SLMClassifier, SLMForestClassifier
from planewise.plot import SparsityDisplay

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)
search = MCMClassifierCV(random_state=0, n_repeats=1).fit(X_train, y_train)
models = {
    "MCM, searched": search,
    "SVM": make_pipeline(StandardScaler(), SVC()),
    "SLM tree": SLMClassifier(random_state=0),
    "decision tree": DecisionTreeClassifier(random_state=0),
    "SLM forest": SLMForestClassifier(random_state=0),
    "random forest": RandomForestClassifier(random_state=0),
    "SLM boost": SLMBoostClassifier(random_state=0),
}
models = {name: model if model is search else model.fit(X_train, y_train) for name, model in models.items()}
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
SparsityDisplay.from_search(search).plot(axes[0], title="what the search tried")
SparsityDisplay.from_estimators(models, X_test, y_test).plot(axes[1], title="models by size, on new rows")
plt.show()
