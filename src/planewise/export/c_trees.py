"""Trees, forests and boosting in C."""

from __future__ import annotations

from dataclasses import dataclass
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planewise.export.c_pack import Packed, Terms, pack
from planewise.export.c_text import (
    Table,
    double_literal,
    float_literal,
    number_table,
    unsigned_type,
)
from planewise.export.models import TreeEnsemble
from planewise.trees.target_statistics import statistic_places

MOST_TREES = 2**31 // 2**16 - 1  # of two-byte values that are added up in 32 bits

READ_FLOAT = Template("""\
/* ${n} bytes of the stream as a float, on machines of either byte order. */
static inline float ${name}_read_float(const uint8_t *at)
{
    const uint32_t bits = ${bits};
    float value;
    const uint8_t *from = (const uint8_t *)&bits;
    uint8_t *to = (uint8_t *)&value;
    to[0] = from[0];
    to[1] = from[1];
    to[2] = from[2];
    to[3] = from[3];
    return value;
}

""")

WIDE_ENTRY = Template("""\
        if (head & 128u) {
            at += ${bytes} * code;
            entry = ${entry};
        } else
    """)

WALK = Template("""\
/* The number of the value in which a row ends, from the record of a tree's root. */
static inline unsigned ${name}_walk(const uint8_t *node, const float *x)
{
    for (;;) {
        const uint8_t *at = node;
        unsigned head, code = 0, bit = 1, entry;
        do { /* every plane of the node gives a bit of the code */
            unsigned right;
            head = *at++;
${plane}
            code |= right ? bit : 0u;
            bit <<= 1;
        } while (head & 64u);
${wide}        entry = at[code];
        if (entry & 1u) return entry >> 1;
        node += entry >> 1;
    }
}

""")

BY_NUMBERS = Template("""\
unsigned terms = head & 15u;
float v = 0.0f, threshold;
${many}${threshold}
for (; terms; --terms) {
    const unsigned term = ${term};
    ${decode}
    at += ${width};
}
right = v >= threshold || (v != v && (head & 16u)); /* v != v: a value is missing */""")

BY_CATEGORIES = Template("""\
const float category = x[${feature}];
const unsigned bytes = ${bytes};
at += ${skip};
if (category != category) { /* missing */
    right = head & 16u;
} else if (category >= 0.0f && category < 8.0f * (float)bytes &&
           category == (float)(unsigned)category && /* a number between two categories is not one */
           ((unsigned)at[(unsigned)category >> 3] >> ((unsigned)category & 7u) & 1u)) {
    right = head & 1u;
} else {
    right = head & 2u;
}
at += bytes;""")

RAW = Template("""\
/* Raw scores: what the trees say, added up. */
static inline void ${name}_${raw}(const float *x, ${real} *raw)
{
${declare}
    for (k = 0; k < ${outputs}u; ++k) ${sum}[k] = ${start};
    for (tree = 0; tree < ${trees}u; ++tree) {
        const unsigned leaf = ${first}${name}_walk(${name}_nodes + ${name}_roots[tree], x);
        ${add}
    }
${finish}}

""")

RAW_OF_ONE = Template("""\
/* Raw scores: what the tree says. */
static inline void ${name}_${raw}(const float *x, ${real} *raw)
{
    const unsigned leaf = ${name}_walk(${name}_nodes, x);
    unsigned k;
    for (k = 0; k < ${outputs}u; ++k) raw[k] = ${value};
}

""")


OF_COLUMNS = Template("""\
/* Raw scores: the trees read the columns of x, then statistics of the target by category. */
static inline void ${name}_${raw}(const float *x, ${real} *raw)
{
    float column[${columns}];
    unsigned j;
    for (j = 0; j < ${features}u; ++j) column[j] = x[j];
${statistics}    ${name}_raw_of_columns(column, raw);
}

""")

STATISTIC = Template("""\
    {
        const float category = x[${source}];
        const float *known = ${name}_statistics_${source} + ${n_statistics}u *
            (category >= 0.0f && category < ${n_categories}.0f && category == (float)(unsigned)category
                 ? (unsigned)category : ${n_categories}u); /* the last: a category not seen in fit */
${assign}    }
""")


LESS_ORIGINS = Template("""\
/* Raw scores: the trees read floats, from the origin of a column where float would not resolve its values. */
static inline void ${name}_raw(const double *x, ${real} *raw)
{
    float column[${features}];
    unsigned j;
    for (j = 0; j < ${features}u; ++j) column[j] = (float)x[j];
${origins}    ${name}_raw_of_floats(column, raw);
}

""")


@dataclass(frozen=True)
class RawScores:
    """The part of a header that makes raw scores of a row."""

    tables: list[Table]
    code: str
    real: str  # type of the scores
    remarks: list[str]


def tree_scores(model: TreeEnsemble, name: str, compact: bool) -> RawScores:
    """The tables, the function that walks them, and the one that adds up."""
    values = kept_values(model, compact)
    packed = pack(model.forest, values.kept, model.n_columns, compact)
    tables = [
        *_statistic_tables(model, name),
        number_table("uint8_t", f"{name}_nodes", list(packed.stream), "one record per node: planes, then where to go"),
        *_term_tables(packed.terms, name),
    ]
    if packed.thresholds is not None:
        tables.append(number_table("float", f"{name}_thresholds", packed.thresholds, "of the planes, shared"))
    what = f"in leaves, {packed.values.shape[1]} each" + (f", in steps of {values.step:.6g}" if compact else "")
    tables.append(number_table(values.kind, f"{name}_values", packed.values.ravel(), what))
    if model.forest.n_trees > 1:
        tables.append(_offsets(f"{name}_roots", packed.roots, "where each tree begins"))
    if any(packed.first_value):
        tables.append(_offsets(f"{name}_first_value", packed.first_value, "each tree's first value"))
    real = "float" if compact or model.forest.n_trees == 1 else "double"
    if model.n_outputs > 1 and model.base.any():
        tables.append(number_table(real, f"{name}_base", model.base, "scores before any tree"))
    code = _walk(packed, name) + _raw(model, packed, name, real, values.step if compact else None)
    if model.statistics:
        code += _of_columns(model, name, real)
    if model.origins:
        code += _less_origins(model, name, real)
    remarks = []
    if compact:
        remarks = [
            f"Leaf values have two bytes, in steps of {values.step:.3g}; that can change a raw score by "
            f"{values.error:.2g} at most. Thresholds are rounded to 17 bits.",
        ]
    return RawScores(tables, code, real, remarks)


@dataclass(frozen=True)
class KeptValues:
    """Node values as a header keeps them."""

    kept: NDArray[Any]
    kind: str  # type in C
    step: float = 1.0
    error: float = 0.0  # by which rounding can change a raw score


def kept_values(model: TreeEnsemble, compact: bool) -> KeptValues:
    """float32; or, compact, two bytes in steps of a power of two, which floats multiply with exactly."""
    value = np.asarray(model.forest.value, np.float64)
    if not compact:
        with np.errstate(over="ignore"):  # refused when it is written
            rounded = value.astype(np.float32)
        return KeptValues(_keep_choice(value, rounded, 0.5, model), "float")
    if model.forest.n_trees > MOST_TREES:
        raise ValueError(
            f"values='compact' adds up at most {MOST_TREES} trees in 32 bits; this model has {model.forest.n_trees}: "
            "use values='exact'."
        )
    signed = bool((value < 0).any())
    largest = float(np.abs(value).max(initial=0))
    step = float(2.0 ** np.ceil(np.log2(largest / (32767 if signed else 65535)))) if largest > 0 else 1.0
    steps = np.rint(value / step).astype(np.int16 if signed else np.uint16)
    kept = _keep_choice(value, steps, 0.5 / step, model)
    apart = np.abs(kept * step - value).max(axis=1, initial=0)
    spans = zip(model.forest.node_start, model.forest.node_start[1:], strict=False)
    error = sum(float(apart[first:last].max()) for first, last in spans) / model.divisor
    return KeptValues(kept, "int16_t" if signed else "uint16_t", step, error)


def _keep_choice(value: NDArray[np.float64], rounded: NDArray[Any], half: float, model: TreeEnsemble) -> NDArray[Any]:
    """Rounded class probabilities whose largest is still that of the same class, where a tree decides alone."""
    if model.link != "probability" or model.forest.n_trees > 1:
        return rounded
    best, rows = value.argmax(axis=1), np.arange(len(value))
    if value.shape[1] == 1:
        lost, best = (value[:, 0] > 0.5) & (rounded[:, 0] <= half), np.zeros(len(value), np.intp)
    else:
        lost = rounded.argmax(axis=1) != best
    now = rounded[rows, best]
    more = np.nextafter(now, np.float32(2)) if rounded.dtype.kind == "f" else now + 1
    rounded[rows[lost], best[lost]] = more[lost]
    return rounded


def _raw(model: TreeEnsemble, packed: Packed, name: str, real: str, step: float | None) -> str:
    """The function that adds up; `step` is that of compact values."""
    literal = float_literal if real == "float" else double_literal
    raw = "raw_of_columns" if model.statistics else _raw_of_floats(model)
    one, has_base = model.n_outputs == 1, bool(model.base.any())
    base = literal(model.base[0]) if one else f"{name}_base[k]"
    shape = packed.values.shape[1]
    if model.forest.n_trees == 1:
        value = f"{name}_values[{shape}u * leaf + k]" if shape > 1 else f"{name}_values[leaf]"
        value = value if step is None else f"(float){value} * {float_literal(step)}"
        return RAW_OF_ONE.substitute(
            name=name, raw=raw, real=real, outputs=model.n_outputs, value=f"{base} + {value}" if has_base else value
        )
    total = "raw" if step is None else "sum"
    if shape > 1:
        add = f"for (k = 0; k < {shape}u; ++k) {total}[k] += {name}_values[{shape}u * leaf + k];"
    else:
        add = f"{total}[{'0' if one else f'tree % {model.n_outputs}u'}] += {name}_values[leaf];"
    declare, finish, start = "    unsigned tree, k;", "", "0"
    if step is not None:
        declare = f"    int32_t sum[{model.n_outputs}];\n" + declare
    before = f"{base} + " if has_base else ""
    if step is None and model.divisor == 1 and has_base:
        start = base
    elif step is not None or model.divisor > 1:
        score = f"{total}[k]" if step is None else f"(float)sum[k] * {float_literal(step)}"
        score += f" / {literal(model.divisor)}" if model.divisor > 1 else ""
        finish = f"    for (k = 0; k < {model.n_outputs}u; ++k) raw[k] = {before}{score};\n"
    return RAW.substitute(
        name=name,
        raw=raw,
        real=real,
        declare=declare,
        outputs=model.n_outputs,
        sum=total,
        start=start,
        trees=model.forest.n_trees,
        first=f"(unsigned){name}_first_value[tree] + " if any(packed.first_value) else "",
        add=add,
        finish=finish,
    )


def _statistic_tables(model: TreeEnsemble, name: str) -> list[Table]:
    """Of each column with target statistics: those of every category, and the prior at the end."""
    return [
        number_table(
            "float",
            f"{name}_statistics_{column}",
            np.vstack([known.values, known.prior]).ravel(),
            f"of the target, by category of x[{column}]: {known.n_statistics} each, the last for new categories",
        )
        for column, known in sorted(model.statistics.items())
    ]


def _raw_of_floats(model: TreeEnsemble) -> str:
    return "raw_of_floats" if model.origins else "raw"


def _less_origins(model: TreeEnsemble, name: str, real: str) -> str:
    lines = [
        f"    column[{j}] = (float)(x[{j}] - {double_literal(origin)});\n"
        for j, origin in sorted(model.origins.items())
    ]
    return LESS_ORIGINS.substitute(name=name, real=real, features=model.n_features, origins="".join(lines))


def _of_columns(model: TreeEnsemble, name: str, real: str) -> str:
    """The function that adds statistics to the columns of a row, then adds up."""
    assign: dict[int, str] = {}
    for column, (source, k) in enumerate(statistic_places(model.statistics), start=model.n_features):
        line = f"        column[{column}] = category != category ? category : known[{k}];\n"
        assign[source] = assign.get(source, "") + line
    statistics = "".join(
        STATISTIC.substitute(
            name=name,
            source=source,
            n_statistics=model.statistics[source].n_statistics,
            n_categories=len(model.statistics[source].values),
            assign=lines,
        )
        for source, lines in assign.items()
    )
    return OF_COLUMNS.substitute(
        name=name,
        raw=_raw_of_floats(model),
        real=real,
        columns=model.n_columns,
        features=model.n_features,
        statistics=statistics,
    )


def _offsets(name: str, starts: list[int], comment: str) -> Table:
    return number_table(unsigned_type(max(starts))[0], name, starts, comment)


def _term_tables(terms: Terms, name: str) -> list[Table]:
    if terms.scale is not None:
        what = "by column: what coefficients are divided by" if terms.divides else "by column: weights of coefficients"
        return [number_table("float", f"{name}_scale", terms.scale, what)]
    assert terms.pair_feature is not None and terms.pair_weight is not None
    if len(terms.pair_feature) == 0:
        return []
    kind = unsigned_type(int(terms.pair_feature.max()))[0]
    return [
        number_table(kind, f"{name}_term_feature", terms.pair_feature, "the column of a term"),
        number_table("float", f"{name}_term_weight", terms.pair_weight, "its weight"),
    ]


def _bytes(at: str, width: int) -> str:
    """So many bytes of the stream as an unsigned number."""
    parts = [f"(unsigned){at}[{k}]" + (f" << {8 * k}" if k else "") for k in range(width)]
    return " | ".join(parts) if width > 1 else f"{at}[0]"


def _walk(packed: Packed, name: str) -> str:
    plane = _indent(_by_numbers(packed, name), 12)
    if packed.has_sets:
        by_categories = BY_CATEGORIES.substitute(
            feature=_bytes("at", packed.set_bytes),
            bytes=_bytes(f"(at + {packed.set_bytes})", packed.set_bytes),
            skip=2 * packed.set_bytes,
        )
        plane = f"            if (head & 32u) {{\n{_indent(by_categories, 16)}\n            }} else {{\n"
        plane += f"{_indent(_by_numbers(packed, name), 16)}\n            }}"
    wide = WIDE_ENTRY.substitute(bytes=packed.wide, entry=_bytes("at", packed.wide)) if packed.wide else ""
    walk = WALK.substitute(name=name, plane=plane, wide=wide)
    if packed.thresholds is not None:
        return walk
    n = packed.threshold_bytes
    parts = [f"(uint32_t)at[{k}] << {8 * (k + 4 - n)}" for k in range(n)]
    return READ_FLOAT.substitute(name=name, n=n, bits=" | ".join(parts).replace(" << 0", "")) + walk


def _by_numbers(packed: Packed, name: str) -> str:
    terms = packed.terms
    if packed.thresholds is None:
        threshold = f"threshold = {name}_read_float(at);\nat += {packed.threshold_bytes};"
    else:
        width = 1 if len(packed.thresholds) <= 2**8 else 2 if len(packed.thresholds) <= 2**16 else 3
        threshold = f"threshold = {name}_thresholds[{_bytes('at', width)}];\nat += {width};"
    if terms.scale is not None:
        sign = "/" if terms.divides else "*"
        decode = (
            f"const unsigned feature = term / {2 * terms.most}u;\n"
            f"    const int side = (int)(term % {2 * terms.most}u) - {terms.most};\n"
            f"    const float coefficient = (float)(side < 0 ? side : side + 1);\n"
            f"    v += coefficient {sign} {name}_scale[feature] * x[feature];"
        )
    elif terms.pair_feature is not None and len(terms.pair_feature):
        decode = f"v += {name}_term_weight[term] * x[{name}_term_feature[term]];"
    else:
        decode = "(void)term;\n    (void)x;"
    many = (
        "if (terms == 15u) {\n    terms = (unsigned)at[0] | (unsigned)at[1] << 8;\n    at += 2;\n}\n"
        if packed.has_many_terms
        else ""
    )
    return BY_NUMBERS.substitute(
        many=many, threshold=threshold, term=_bytes("at", terms.width), decode=decode, width=terms.width
    )


def _indent(text: str, by: int) -> str:
    return "\n".join(" " * by + line if line else line for line in text.splitlines())
