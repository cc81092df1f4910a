"""The reasons for one answer as a plain page of HTML that needs nothing else."""

from __future__ import annotations

from html import escape
from typing import Any

from planewise.cli._reasons import Reasons

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #ddd; vertical-align: top; }
.bar { display: inline-block; height: .8rem; } .for { background: #0072b2; } .against { background: #d55e00; }
"""


def page(answer: dict[str, Any], reasons: Reasons, estimator: str) -> str:
    """The whole page."""
    head = "".join(
        f"<th scope=col>{escape(name)}</th>" for name in [*reasons.header, *([""] if reasons.weights else [])]
    )
    longest = max((abs(weight) for weight in reasons.weights), default=0.0)
    body = []
    for number, row in enumerate(reasons.rows):
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in row)
        if reasons.weights:
            cells += f"<td>{_bar(reasons.weights[number], longest)}</td>"
        body.append(f"<tr>{cells}</tr>")
    shares = "".join(
        f"<li>{escape(str(label))}: {100 * share:.1f} %</li>" for label, share in (answer["probability"] or {}).items()
    )
    prediction = answer["prediction"]
    shown = f"{prediction:.4g}" if isinstance(prediction, float) else str(prediction)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Row {answer["row"]}: {escape(shown)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head><body>
<h1>Row {answer["row"]}: {escape(answer["target"])} is {escape(shown)}</h1>
<p>By {escape(estimator)}, planewise.</p>
<ul>{shares}</ul>
<h2>{escape(reasons.title[:1].upper() + reasons.title[1:])}</h2>
<table><thead><tr>{head}</tr></thead><tbody>
{"".join(body)}
</tbody></table>
</body></html>
"""


def _bar(weight: float, longest: float) -> str:
    width = 0 if longest == 0 else round(100 * abs(weight) / longest)
    side = "for" if weight > 0 else "against"
    return f'<span class="bar {side}" style="width: {width * 0.12:.2f}rem" title="{weight:+.4g}"></span>'
