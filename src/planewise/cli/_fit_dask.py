"""planewise fit --dask: learn from a table that the workers of a cluster read."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planewise.cli._everywhere import is_quiet
from planewise.cli._mistakes import MistakeError, refuse_existing
from planewise.cli._show import say, show_json, size_in_words
from planewise.cli._stages import stage

if TYPE_CHECKING:
    from planewise.files import InputTable

ON_A_CLUSTER = "slm, forest, boost or recip"


def fit_on_cluster(
    table: InputTable,
    target: str,
    address: str,
    family: str,
    task: str,
    settings: list[str],
    dropped: list[str],
    *,
    seed: int,
    out: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Fit on all rows of a table on a cluster, and say what was found."""
    from planewise._extras import require_all
    from planewise.table import ON_CLUSTERS, date_of_record, new_record

    date_of_record()  # an error if it is set to none; later, the fit would be lost
    if out is not None:
        refuse_existing(out, force, *(Path(name) for name in table.given))
    if target in dropped:
        raise MistakeError(f"{target!r} is the target; it cannot be dropped.")
    if family in ("auto", "explainable"):
        raise MistakeError(f"--dask needs one kind of model: choose it with --model {ON_A_CLUSTER}.")
    if family not in ON_CLUSTERS:
        raise MistakeError(f"--dask cannot fit --model {family}: choose --model {ON_A_CLUSTER}.")
    require_all("--dask", ("dask", "distributed", "pandas"), "dask")
    from dask.distributed import Client

    from planewise.dask import LostSchedulerError, LostWorkersError, PartitionError, fit_table

    try:
        client = Client(address, timeout=20)
    except (OSError, ValueError) as error:
        raise MistakeError(f"--dask: there is no scheduler at {address!r}: {error}") from None
    with client:
        frame = _frame(table, [target, *dropped]).drop(columns=dropped)
        start = time.perf_counter()
        try:
            with stage(f"fitting {family} on {address}", as_json):
                parsed = _settings(family, task, settings)
                model = fit_table(
                    frame, target, family=family, task=task, settings=parsed, random_state=seed, client=client
                )
        except (LostSchedulerError, LostWorkersError, PartitionError) as error:
            raise MistakeError(str(error)) from error
    model.record_ = new_record(table.given, seed)
    _report(model, out, time.perf_counter() - start, as_json)


def _frame(table: InputTable, named: list[str]) -> Any:
    """The table as a dask data frame."""
    import dask.dataframe as dd

    from planewise.files import BY_ENDING, ending_of
    from planewise.table import require_columns

    names = table.given
    forms = {"Parquet" if Path(name).is_dir() else BY_ENDING.get(ending_of(name), "") for name in names}
    if forms == {"text"}:
        form = _text_form(table)
        frame = dd.read_csv(names, **form)
        dates = _dates_in(frame.head(1000))
        frame = dd.read_csv(names, parse_dates=dates, **form) if dates else frame
    elif forms == {"Parquet"}:
        frame = dd.read_parquet(names)
    else:
        raise MistakeError(
            f"--dask reads CSV and Parquet files, or a folder of Parquet files; got {', '.join(map(repr, names))}."
        )
    require_columns(named, list(frame.columns))
    return frame


def _text_form(table: InputTable) -> dict[str, Any]:
    """How the workers read text: as the first file is written, if this machine can see it."""
    given = table.reading
    if given.date_formats or given.header is False:
        raise MistakeError("--date-format and --no-header do not go with --dask, which reads dates of ISO 8601.")
    form: dict[str, Any] = {"na_values": given.missing_words, "keep_default_na": False}
    if any(Path(name).is_file() for name in table.given):
        dialect = table.dialects[0]
        return form | {
            "sep": dialect.separator,
            "decimal": dialect.decimal,
            "encoding": dialect.encoding,
            "quotechar": dialect.quote,
            "comment": dialect.comment or None,
            "skiprows": dialect.header_line - 1,
        }
    form |= {"sep": given.separator or ",", "decimal": given.decimal or "."}
    return form | {"encoding": given.encoding or "utf-8"}


def _dates_in(first_rows: Any) -> list[str]:
    """The columns of text that hold dates, judged by the first rows."""
    from planewise.table import as_polars, kind_of, with_dates

    read = with_dates(as_polars(first_rows))
    return [name for name in read.columns if kind_of(read[name].dtype) == "date"]


def _settings(family: str, task: str, settings: list[str]) -> dict[str, Any]:
    from planewise.cli._fit import read_settings

    if not settings:
        return {}
    if task == "auto":
        raise MistakeError("--set with --dask needs --task classification or --task regression.")
    return read_settings(family, task, 1, settings)


def _report(model: Any, out: Path | None, seconds: float, as_json: bool) -> None:
    from planewise.cli._choose import file_size
    from planewise.io import save
    from planewise.table import COLUMN_KINDS, FAMILIES

    if out is not None:
        save(model, out)
    answer = {
        "target": model.target_,
        "task": model.task_,
        "classes": model.classes_.tolist() if model.task_ == "classification" else None,
        "columns": [{"name": each.name, "kind": COLUMN_KINDS[each.kind].adjective} for each in model.columns_],
        "left_out": [{"name": each.name, "why": each.why} for each in model.left_out_],
        "model": model.family,
        "estimator": type(model.estimator_).__name__,
        **dict.fromkeys(
            ("split", "quality", "linear", "constant", "confusion", "calibration", "intervals")
        ),  # all rows were used
        "record": model.record_,
        "bytes": out.stat().st_size if out is not None else file_size(model),
        "seconds": seconds,
        "file": None if out is None else str(out),
    }
    if as_json:
        show_json(answer)
    if as_json or is_quiet():
        return
    say(f"target   {answer['target']}: {answer['task']}", f"columns  {len(model.columns_)}")
    for each in model.left_out_:
        say(f"left out {each.name}: {each.why}")
    say(
        "quality  not measured: all rows were used for training",
        f"model    {FAMILIES[model.family]} ({answer['estimator']}), {size_in_words(answer['bytes'])}, fitted in "
        f"{seconds:.2f} s",
        f"file     {answer['file']}" if answer["file"] else "file     none; --out m.planewise saves the model",
    )
