"""Read numbers with decimal commas, separated thousands and a currency sign."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

CURRENCIES = (
    "€|\\$|£|¥|₹|₽|₩|₺|EUR|USD|GBP|JPY|CHF|CNY|INR|SEK|NOK|DKK|PLN|CZK|HUF|RUB|TRY|BRL|AUD|CAD|NZD|ZAR|MXN|Fr\\.|kr|zł"
)
SPACES = "[ \u00a0\u202f\u2009]"
GROUPS = "[ \u00a0\u202f\u2009'’]"
_CORE = rf"(?:\d{{1,3}}(?:{GROUPS}\d{{3}})+(?:[.,]\d*)?|\d[\d.,]*|[.,]\d+)(?:[eE][+-]?\d+)?"
# Sign, currency, sign, number, currency, and a sign after it, as some systems write; all behind the apostrophe with
# which Excel marks text.
MARKED = (
    rf"^['’]?(\()?([+\-−–]?){SPACES}*((?:{CURRENCIES})?){SPACES}*([+\-−–]?)({_CORE})"
    rf"{SPACES}*((?:{CURRENCIES})?)(-)?(\))?$"
)
COMMA_IS_DECIMAL = r"\.\d{3}[.,]|,(\d{1,2}|\d{4,})?([eE].*)?$|^0,"
EITHER = r"^['’]?[+\-−]?[1-9]\d{0,2}\.\d{3}$"  # a fraction, or thousands
POINT_IS_DECIMAL = r",\d{2,3}[.,]|\.(\d{1,2}|\d{4,})?([eE].*)?$|^0\."
GROUPED = {  # what a number may look like if the mark separates thousands
    ",": r"^\d{1,3}(,\d{3})+(\.\d*)?$|^\d{1,2}(,\d{2})*,\d{3}(\.\d*)?$|^\d*(\.\d*)?([eE][+-]?\d+)?$",
    ".": r"^\d{1,3}(\.\d{3})+(,\d*)?$|^\d*(,\d*)?([eE][+-]?\d+)?$",
}
OTHER = {",": ".", ".": ","}


class NumberForm(NamedTuple):
    """How the numbers of a column are written."""

    decimal: str = "."
    currency: str = ""
    mixed: str = ""  # why the values do not go together
    grouped: bool = False  # thousands are separated

    def in_words(self, usual: str = ".") -> str:
        """What is unusual about it, where the table has a decimal mark that is already said."""
        said = [f"decimal {'comma' if self.decimal == ',' else 'point'}"] if self.decimal != usual else []
        said += ["thousands separated"] if self.grouped else []
        said += [f"in {self.currency}"] if self.currency else []
        return ", ".join(said)


def find_form(words: pl.Series, usual: str, fixed: bool = False) -> NumberForm:
    """How numbers are written that Python cannot read as they are.

    `usual` is the decimal mark where values do not tell; if it is `fixed`, the values are not asked.
    """
    parts = _parts(words)
    core = parts["core"].drop_nulls()
    currencies = _currencies(parts).drop_nulls().unique(maintain_order=True).to_list()
    commas, points = (core.str.contains(form).any() for form in (COMMA_IS_DECIMAL, POINT_IS_DECIMAL))
    mixed = ""
    if commas and points and not fixed:
        one, other = (_example(core, form) for form in (COMMA_IS_DECIMAL, POINT_IS_DECIMAL))
        mixed = f"{one!r} has a decimal comma and {other!r} a decimal point"
    if len(currencies) > 1:
        mixed = f"values are in {currencies[0]!r} and in {currencies[1]!r}"
    decimal = usual if fixed or commas == points else "," if commas else "."
    grouped = bool(core.str.contains(rf"\d{GROUPS}\d").any() or core.str.contains(OTHER[decimal], literal=True).any())
    return NumberForm(decimal, currencies[0] if currencies else "", mixed, grouped)


def looks_like_number(words: pl.Series) -> pl.Series:
    """Whether each text is a number of some form."""
    return words.str.contains(MARKED)


def simple_numbers(words: pl.Series, decimal: str) -> pl.Series | None:
    """Return plain text as float64, null where it is not a number; None if there may be thousands."""
    if decimal == ".":
        return words.cast(pl.Float64, strict=False)
    if words.str.contains(".", literal=True).any():
        return None
    return words.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)


def read_numbers(words: pl.Series, form: NumberForm) -> pl.Series:
    """Text as float64; null where it is not a number of this form."""
    plain = simple_numbers(words, form.decimal)
    if plain is not None and plain.null_count() == words.null_count():
        return plain
    plain = words.cast(pl.Float64, strict=False)
    ask = words.is_not_null() & (plain.is_null() | (words.str.contains(".", literal=True) & (form.decimal == ",")))
    marked = _read_marked(words.filter(ask), form)
    places = ask.arg_true()
    return plain.scatter(places, marked)


def _read_marked(words: pl.Series, form: NumberForm) -> pl.Series:
    parts = _parts(words)
    core = parts["core"].str.replace_all(GROUPS, "")
    core = core.set(~core.str.contains(GROUPED[OTHER[form.decimal]]).fill_null(False), None)
    digits = core.str.replace_all(OTHER[form.decimal], "", literal=True).str.replace(form.decimal, ".", literal=True)
    found = digits.cast(pl.Float64, strict=False)
    negative = pl.select(
        (pl.lit(parts["open"]).is_not_null() & pl.lit(parts["close"]).is_not_null())
        | pl.lit(parts["before"]).str.contains("[-−–]")
        | pl.lit(parts["inner"]).str.contains("[-−–]")
        | pl.lit(parts["after"]).is_not_null()
    ).to_series()
    return pl.select(pl.when(negative).then(-found).otherwise(found)).to_series()


def _parts(words: pl.Series) -> pl.DataFrame:
    """The parts of numbers with marks around them; null where a text is not a number."""
    found = words.str.extract_groups(MARKED).struct.unnest()
    names = ["open", "before", "currency", "inner", "core", "currency_after", "after", "close"]
    return found.rename(dict(zip(found.columns, names, strict=True)))


def _currencies(parts: pl.DataFrame) -> pl.Series:
    chosen = [pl.when(pl.col(name) != "").then(pl.col(name)) for name in ("currency_after", "currency")]
    return parts.select(pl.coalesce(chosen)).to_series()


def _example(core: pl.Series, form: str) -> str:
    return str(core.filter(core.str.contains(form))[0])
