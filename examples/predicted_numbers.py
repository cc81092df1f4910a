"""
==========================
Regression on two features
==========================

The predictions of one tree, a forest, boosting and a kernel machine.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_friedman1

from planewise import MCMRegressor, SLMBoostRegressor, SLMForestRegressor, SLMRegressor
from planewise.plot import PartitionDisplay

X, y = make_friedman1(1000, random_state=0)
X_train, y_train, X_test, y_test = X[:600], y[:600], X[600:], y[600:]
MODELS = {
    "one tree": SLMRegressor(random_state=0),
    "forest": SLMForestRegressor(random_state=0),
    "boosting": SLMBoostRegressor(random_state=0),
    "kernel machine": MCMRegressor(),
}
figure, axes = plt.subplots(2, 2, figsize=(8, 6.4), dpi=90, layout="constrained")
for place, (ax, (name, model)) in enumerate(zip(axes.ravel(), MODELS.items(), strict=True)):
    score = model.fit(X_train, y_train).score(X_test, y_test)
    display = PartitionDisplay.from_estimator(model, X_train, y_train, target_name="y")
    display.plot(ax, title=f"{name}: R² {score:.2f} on new rows", with_key=place % 2 == 1)
plt.show()
