"""
=================
An additive model
=================

The views of an additive model of tumours, with one undecided row.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from planewise import AdditiveClassifier
from planewise.plot import ViewsDisplay

data = load_breast_cancer(as_frame=True)
X, X_test, y, y_test = train_test_split(data.data, data.target_names[data.target], random_state=0)
model = AdditiveClassifier(max_views=4, random_state=0).fit(X, y)
undecided = [each for each in model.explain(X_test) if each.undecided]
ViewsDisplay.from_estimator(model, case=undecided[0]).plot(title=f"{model.score(X_test, y_test):.1%} correct")
plt.show()
