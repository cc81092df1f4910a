"""Minimal complexity machines in C."""

from __future__ import annotations

from string import Template
from typing import Any

import numpy as np

from planewise.export.c_text import (
    Table,
    double_literal,
    float_literal,
    number_table,
    unsigned_type,
)
from planewise.export.c_trees import RawScores
from planewise.export.machine_scores import float_is_enough, pairs
from planewise.export.models import Floats, KernelMachine, Reading
from planewise.machines.columns import MISSING, NUMBER

READ = Template("""\
/* What the machine reads of a row: a number, the usual one if it is missing (v != v); or whether it is a category. */
static inline ${real} ${name}_read(const float *x, unsigned j)
{
    const float v = x[${name}_source[j]];
${by_kind}}

""")

LINEAR = Template("""\
/* Raw scores of a row. */
static inline void ${name}_raw(const float *x, ${real} *raw)
{
    unsigned j, m;
${declare}    for (m = 0; m < ${machines}u; ++m) ${score}[m] = ${name}_intercept[m];
    for (j = 0; j < ${used}u; ++j) {
        const ${real} centred = ${given} - ${name}_mean[j];
        for (m = 0; m < ${machines}u; ++m) ${score}[m] += ${name}_weights[${machines}u * j + m] * centred;
    }
${votes}}

""")

KERNEL = Template("""\
/* Raw scores of a row: weighted kernel values with the vectors. */
static inline void ${name}_raw(const float *x, ${real} *raw)
{
    ${real} z[${features}];
    unsigned j, v, m;
${declare}    for (j = 0; j < ${features}u; ++j) {
        z[j] = (${given} - ${name}_mean[j]) * ${name}_over_spread[j];
${tails}    }
    for (m = 0; m < ${machines}u; ++m) ${score}[m] = 0;
    for (v = 0; v < ${vectors}u; ++v) {
        ${real} s = 0;
        for (j = 0; j < ${features}u; ++j) {
            const ${real} c = ${name}_vectors[${features}u * v + j];
${term}
        }
${value}
        for (m = 0; m < ${machines}u; ++m) ${score}[m] += ${name}_coefficients[${machines}u * v + m] * s;
    }
${factor}    for (m = 0; m < ${machines}u; ++m) ${score}[m] += ${name}_intercept[m];
${votes}}

""")

FACTOR = Template("""\
    { /* the conformal factor r(x) */
        ${real} r = ${constant};
        for (v = 0; v < ${cores}u; ++v) {
            ${real} s = 0;
            for (j = 0; j < ${features}u; ++j) {
                const ${real} d = z[j] - ${name}_cores[${features}u * v + j];
                s += d * d;
            }
            r += ${name}_core_weights[v] * ${exp}(-${gamma} * s);
        }
        r = ${rest} + ${shrinkage} * r;
        for (m = 0; m < ${machines}u; ++m) ${score}[m] *= r;
    }
""")

VOTES = Template("""\
    { /* every machine is a duel of two classes: won duels count, margins only part equal counts */
        ${real} margin[${classes}];
        for (m = 0; m < ${classes}u; ++m) raw[m] = margin[m] = 0;
        for (m = 0; m < ${machines}u; ++m) {
            const unsigned a = ${name}_duels[2u * m], b = ${name}_duels[2u * m + 1u];
            raw[score[m] >= 0 ? a : b] += 1;
            margin[a] += score[m];
            margin[b] -= score[m];
        }
        for (m = 0; m < ${classes}u; ++m)
            raw[m] += margin[m] / (3 * ((margin[m] < 0 ? -margin[m] : margin[m]) + 1));
    }
""")


def machine_scores(model: KernelMachine, name: str, compact: bool) -> RawScores:
    """The tables and the function that makes raw scores of a row; in double where float would change answers."""
    real = "float" if compact or float_is_enough(model) else "double"
    writer = _Writer(model, name, real)
    if model.kernel == "linear":
        tables, code = writer.linear()
    else:
        tables, code = writer.by_vectors()
    if model.reading is not None:
        read_tables, read_code = writer.read(model.reading)
        tables, code = read_tables + tables, read_code + code
    remarks = ["In double: with float its answers would change by more than they may."] if real == "double" else []
    return RawScores(tables, code, real, remarks)


class _Writer:
    """Writes one machine; `real` is the type of its numbers."""

    def __init__(self, model: KernelMachine, name: str, real: str) -> None:
        self.model, self.name, self.real = model, name, real
        self.literal = float_literal if real == "float" else double_literal
        self.n_machines = len(model.intercept)
        n_classes = 0 if model.classes is None else len(model.classes)
        self.duels = pairs(n_classes) if model.multi_class == "ovo" and n_classes > 2 else []
        self.score = "score" if self.duels else "raw"

    def function(self, name: str) -> str:
        """The function of math.h for this type."""
        return name + "f" if self.real == "float" else name

    def table(self, name: str, values: Any, comment: str) -> Table:
        return number_table(self.real, f"{self.name}_{name}", np.asarray(values).ravel(), comment)

    def given(self, j: str) -> str:
        """Column `j` of the machine, of a row x."""
        return f"x[{j}]" if self.model.reading is None else f"{self.name}_read(x, {j})"

    def read(self, reading: Reading) -> tuple[list[Table], str]:
        """The tables and the function that make a machine's columns of a table's."""
        name, category = self.name, reading.category
        kind = unsigned_type(int(reading.source.max()))[0]
        tables = [number_table(kind, f"{name}_source", reading.source, "of which x[] a column of the machine is made")]
        lines = []
        if (category != NUMBER).any():
            kind = "int16_t" if category.max() < 2**15 else "int32_t"
            what = "by column of the machine: the category that makes it 1; -1: it is a number; -2: 1 if missing"
            tables.append(number_table(kind, f"{name}_category", category, what))
            lines.append(f"    if ({name}_category[j] >= 0) return v == (float){name}_category[j] ? 1 : 0;\n")
            if (category == MISSING).any():
                lines.append(f"    if ({name}_category[j] == {MISSING}) return v != v ? 1 : 0;\n")
        tables.append(self.table("usual", reading.usual, "by column of the machine: what a missing number is read as"))
        lines.append(f"    return v != v ? {name}_usual[j] : v;\n")
        return tables, READ.substitute(name=name, real=self.real, by_kind="".join(lines))

    def shared(self) -> dict[str, Any]:
        declare = f"    {self.real} score[{self.n_machines}];\n" if self.duels else ""
        return {
            "name": self.name,
            "real": self.real,
            "machines": self.n_machines,
            "score": self.score,
            "declare": declare,
            "votes": self.votes(),
        }

    def votes(self) -> str:
        if not self.duels:
            return ""
        assert self.model.classes is not None
        return VOTES.substitute(
            name=self.name, real=self.real, classes=len(self.model.classes), machines=self.n_machines
        )

    def duel_tables(self) -> list[Table]:
        if not self.duels:
            return []
        flat = [each for pair in self.duels for each in pair]
        return [number_table(unsigned_type(max(flat))[0], f"{self.name}_duels", flat, "the two classes of a machine")]

    def linear(self) -> tuple[list[Table], str]:
        model = self.model
        weights = model.coefficients / model.spread
        used = np.flatnonzero(weights.any(axis=0))
        tables = [
            self.table("intercept", model.intercept, "scores of a row of means"),
            *self.duel_tables(),
        ]
        column, n_used = "j", len(used)
        if n_used == 0:  # a table cannot be empty
            used, n_used = np.array([0]), 1
        if n_used < model.n_features:
            kind = unsigned_type(int(used.max()))[0]
            tables.append(number_table(kind, f"{self.name}_columns", used, "those with a weight"))
            column = f"{self.name}_columns[j]"
        tables.append(self.table("mean", model.mean[used], "of these columns"))
        tables.append(self.table("weights", weights[:, used].T, f"{self.n_machines} a column"))
        return tables, LINEAR.substitute(self.shared(), used=n_used, given=self.given(column))

    def by_vectors(self) -> tuple[list[Table], str]:
        model = self.model
        n = len(model.vectors)
        vectors, coefficients = (model.vectors, model.coefficients) if n else self.nothing()
        tables = [
            self.table("mean", model.mean, "by column"),
            self.table("over_spread", 1 / model.spread, "by column: one over its spread"),
        ]
        tails = ""
        if model.tails is not None:
            tables += [
                self.table("tail_mean", model.tails[0], "by column, after long tails are compressed"),
                self.table("over_tail_spread", 1 / model.tails[1], "by column"),
            ]
            tails = (
                f"        z[j] = ({self.function('asinh')}(2 * z[j]) - {self.name}_tail_mean[j])"
                f" * {self.name}_over_tail_spread[j];\n"
            )
        if model.metric is not None:
            tables.append(self.table("metric", model.metric, "by column: what squared differences are worth"))
        what = f"vectors, in standard units, {model.n_features} numbers each"
        tables.append(self.table("vectors", vectors, what))
        tables.append(self.table("coefficients", coefficients.T, f"of the vectors, {self.n_machines} each"))
        tables.append(self.table("intercept", model.intercept, "of each machine"))
        tables += self.duel_tables()
        factor = ""
        if model.factor is not None and len(model.factor.cores):
            tables.append(self.table("cores", model.factor.cores, "of the conformal factor"))
            tables.append(self.table("core_weights", model.factor.coef, "of the cores"))
            factor = self.factor()
        elif model.factor is not None:
            blended = 1 - model.factor.shrinkage + model.factor.shrinkage * model.factor.constant
            factor = f"    for (m = 0; m < {self.n_machines}u; ++m) {self.score}[m] *= {self.literal(blended)};\n"
        term, value = self.kernel()
        code = KERNEL.substitute(
            self.shared(),
            features=model.n_features,
            vectors=max(n, 1),
            given=self.given("j"),
            tails=tails,
            term=term,
            value=value,
            factor=factor,
        )
        return tables, code

    def nothing(self) -> tuple[Floats, Floats]:
        """One vector of weight zero: a table cannot be empty."""
        return np.zeros((1, self.model.n_features)), np.zeros((self.n_machines, 1))

    def kernel(self) -> tuple[str, str]:
        """What a column adds to s, and what becomes of s."""
        model, gamma = self.model, self.literal(self.model.gamma)
        if model.kernel == "rbf":
            size = "d * d" if model.metric is None else f"{self.name}_metric[j] * d * d"
            term = f"            const {self.real} d = z[j] - c;\n            s += {size};"
            scaled = "-s" if model.gamma == 1 else f"-{gamma} * s"
            return term, f"        s = {self.function('exp')}({scaled});"
        term = "            s += z[j] * c;"
        if model.kernel == "product":
            return term, ""
        inner = f"{gamma} * s + {self.literal(model.coef0)}"  # "poly"
        value = f"        {{\n            const {self.real} base = {inner};\n            s = base;\n"
        value += f"            for (j = 1; j < {model.degree}u; ++j) s *= base;\n        }}"
        return term, value

    def factor(self) -> str:
        bumps = self.model.factor
        assert bumps is not None
        return FACTOR.substitute(
            name=self.name,
            real=self.real,
            machines=self.n_machines,
            score=self.score,
            features=self.model.n_features,
            constant=self.literal(bumps.constant),
            cores=len(bumps.cores),
            exp=self.function("exp"),
            gamma=self.literal(bumps.gamma),
            rest=self.literal(1 - bumps.shrinkage),
            shrinkage=self.literal(bumps.shrinkage),
        )
