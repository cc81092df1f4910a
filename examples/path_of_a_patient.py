"""
======================================
The path of one patient through a tree
======================================

A whole classifier on one page, and the path of one row through it.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from planewise import SLMClassifier
from planewise.plot import TreeDisplay

data = load_breast_cancer(as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(data.data, data.target, random_state=0)
tree = SLMClassifier(random_state=0, noise_margin=0.2).fit(X_train, y_train)
row = X_test.iloc[[3]]
told = data.target_names[tree.predict(row)[0]]
display = TreeDisplay.from_estimator(tree, row=row, class_names=data.target_names)
display.plot(title=f"{tree.score(X_test, y_test):.1%} of new rows right; the marked patient: {told}")
plt.show()
