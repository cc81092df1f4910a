"""
==================================
Why one tumour gets its prediction
==================================

The projection of RECIP in which it is classified, with the nearest rows of both classes.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from planewise import RECIPClassifier
from planewise.plot import ProjectionDisplay

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
known, patient = X.index >= 100, 54
model = RECIPClassifier(max_projections=4, random_state=0).fit(X[known], y[known])
explanation = model.explain(X.loc[[patient]], units={"worst texture": "grey levels"})[0]
print(explanation.to_text(), "Truth:", y[patient])
ProjectionDisplay.from_explanation(explanation, X[known], y[known]).plot()
plt.show()
