"""From raw scores to answers in C: the class, its probability, or the number."""

from __future__ import annotations

from string import Template

from planewise.export.c_text import float_literal

NUMBER = Template("""\
/* The predicted number of a row. */
static inline float ${name}_predict(const ${row} *x)
{
    ${real} raw[1];
    ${name}_raw(x, raw);
    return ${answer};
}
""")

CONSTANT = Template("""\
/* The class of a row: there is only one. */
static inline int ${name}_predict(const ${row} *x)
{
    (void)x;
    return 0;
}

/* Its probability. */
static inline void ${name}_predict_proba(const ${row} *x, float *probability)
{
    (void)x;
    probability[0] = 1.0f;
}
""")

ONE_OF_TWO = Template("""\
/* The number of a row's class, 0 or 1. */
static inline int ${name}_predict(const ${row} *x)
{
    ${real} raw[1];
    ${name}_raw(x, raw);
    return raw[0] ${above};
}
""")

ONE_OF_MANY = Template("""\
/* The number of a row's class, 0 to ${last}. */
static inline int ${name}_predict(const ${row} *x)
{
    ${real} raw[${classes}];
    int k, best = 0;
    ${name}_raw(x, raw);
    for (k = 1; k < ${classes}; ++k)
        if (raw[k] > raw[best]${tie}) best = k;
    return best;
}
""")

PROBABILITY_OF_TWO = Template("""\

/* The probabilities of both classes. */
static inline void ${name}_predict_proba(const ${row} *x, float *probability)
{
    ${real} raw[1];
    ${name}_raw(x, raw);
    probability[1] = ${second};
    probability[0] = ${first};
}
""")

PROBABILITY_OF_MANY = Template("""\

/* The probability of each class. */
static inline void ${name}_predict_proba(const ${row} *x, float *probability)
{
    ${real} raw[${classes}];
    unsigned k;
    ${name}_raw(x, raw);
    for (k = 0; k < ${classes}u; ++k) probability[k] = ${cast}raw[k];
}
""")

SOFTMAX = Template("""\

/* The probability of each class. */
static inline void ${name}_predict_proba(const ${row} *x, float *probability)
{
    ${real} raw[${classes}], largest;
    float total = 0.0f;
    unsigned k;
    ${name}_raw(x, raw);
    largest = raw[0];
    for (k = 1; k < ${classes}u; ++k)
        if (raw[k] > largest) largest = raw[k];
    for (k = 0; k < ${classes}u; ++k) {
        probability[k] = expf(${scaled});
        total += probability[k];
    }
    for (k = 0; k < ${classes}u; ++k) probability[k] /= total;
}
""")


def number_answer(name: str, real: str, link: str, row: str = "float") -> str:
    """The function of a regressor, for rows of float or double."""
    value = ("" if real == "float" else "(float)") + "raw[0]"
    answer = f"expf({value})" if link == "exp" else value
    return NUMBER.substitute(name=name, row=row, real=real, answer=answer)


def class_answer(
    name: str,
    real: str,
    link: str,
    n_classes: int,
    above: str,
    slope: float | None = 1.0,
    tie: str = "",
    row: str = "float",
) -> str:
    """The functions of a classifier, for rows of float or double.

    Of two classes the second one's raw score must be `above`; of several, the first wins among those whose scores are
    no more than a `tie` apart. Without a slope there are no probabilities.
    """
    if link == "constant":
        return CONSTANT.substitute(name=name, row=row)
    cast = "" if real == "float" else "(float)"
    if n_classes == 2:
        text = ONE_OF_TWO.substitute(name=name, row=row, real=real, above=above)
        if slope is None:
            return text
        if link == "probability":
            second, first = f"{cast}raw[0]", f"{cast}(1 - raw[0])"
        else:
            # Each by itself: one minus a probability near one would lose the digits of the other.
            steep = "" if slope == 1 else f"{float_literal(slope)} * "
            second = f"1.0f / (1.0f + expf({_negative(steep, cast)}))"
            first = f"1.0f / (1.0f + expf({steep}{cast}raw[0]))"
        return text + PROBABILITY_OF_TWO.substitute(name=name, row=row, real=real, second=second, first=first)
    text = ONE_OF_MANY.substitute(name=name, row=row, real=real, classes=n_classes, last=n_classes - 1, tie=tie)
    if slope is None:
        return text
    if link == "probability":
        return text + PROBABILITY_OF_MANY.substitute(name=name, row=row, real=real, classes=n_classes, cast=cast)
    apart = f"{cast}(raw[k] - largest)"
    scaled = apart if slope == 1 else f"{float_literal(slope)} * {apart}"
    return text + SOFTMAX.substitute(name=name, row=row, real=real, classes=n_classes, scaled=scaled)


def _negative(steep: str, cast: str) -> str:
    return f"-{steep}{cast}raw[0]" if steep else f"-{cast}raw[0]"


def needs_math(link: str, slope: float | None = 1.0) -> bool:
    """Whether an answer takes an exponential."""
    return link == "exp" or (link in ("logistic", "softmax") and slope is not None)
