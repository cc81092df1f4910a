"""How many bytes each kind of model takes in C: code and constants of a function that returns the class.

    python benchmarks/duels/c_size_by_model.py

The models are fitted on two thirds of scikit-learn's breast cancer data; the accuracy is that on the last third. The
headers are compiled with -Os. Cortex-M sizes need arm-none-eabi-gcc (Debian: gcc-arm-none-eabi).
"""

from __future__ import annotations

import shutil

from benchmarks.duels.c_size import object_bytes
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from planewise import MCMClassifier, SLMBoostClassifier, SLMClassifier, SLMForestClassifier
from planewise.export import to_c

MODELS = {
    "SLMClassifier": SLMClassifier(random_state=0),
    "SLMForestClassifier(n_estimators=20)": SLMForestClassifier(n_estimators=20, random_state=0),
    "SLMBoostClassifier, 100 rounds": SLMBoostClassifier(random_state=0),
    'MCMClassifier(kernel="linear", relaxation=1)': MCMClassifier(kernel="linear", relaxation=1),
    "MCMClassifier(relaxation=1)": MCMClassifier(relaxation=1),
}
PROCESSORS = ("cortex-m0", "cortex-m4")
ANSWER = "\nint answer(const float *x);\nint answer(const float *x) { return model_predict(x); }\n"


def compiled(header, processor):
    compiler = ["arm-none-eabi-gcc", f"-mcpu={processor}", "-mthumb"]
    return object_bytes(header + ANSWER, compiler) if shutil.which(compiler[0]) else None


def main():
    X, y = load_breast_cancer(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=1 / 3, random_state=0, stratify=y)
    for name, model in MODELS.items():
        model.fit(X, y)
        print(f"{name}: {100 * model.score(X_test, y_test):.1f}%")
        for values in ("exact", "compact"):
            header = to_c(model, values=values)
            tables = int(header.split("Tables: ")[1].split()[0])
            sizes = ", ".join(f"{processor} {compiled(header, processor)}" for processor in PROCESSORS)
            print(f"  {values}: tables {tables}, {sizes}")


if __name__ == "__main__":
    main()
