"""The report: one HTML file that holds everything it shows and needs no network."""

import json
from collections.abc import Mapping
from typing import Any

import jinja2
from markupsafe import Markup

from reprieve import _native
from reprieve.plot.paper import vega_lite_version
from reprieve.plot.rows import Runs
from reprieve.plot.theme import BLAME, COMPONENTS, RUNS_DARK, RUNS_LIGHT
from reprieve.report import tables
from reprieve.report.figures import figures, swatches
from reprieve.report.library import library
from reprieve.roles import bound_runs

__all__ = ["page", "vega_lite_version"]

_TITLE_LETTERS = 60


def render(runs: Runs, command: str) -> str:
    """Return the page over these runs; the first is the base, and `command` repeats it all."""
    drawn = figures(runs)
    first = next(iter(runs.values()))
    return page(
        "page.html",
        title=_title(runs, first.device),
        command=command,
        facts=tables.facts(first),
        specs={name: figure.spec for name, figure in drawn.items()},
        runs=swatches(list(runs), bound_runs(runs)),
        lead=tables.lead(runs),
        headline=tables.headline(runs),
        notes=[*tables.measured(runs), *tables.unknown(runs)],
        verdicts=tables.decided(runs),
        suspensions=tables.suspensions(runs),
        power=tables.power(runs),
        figures=drawn,
        scenarios={label: result.scenario for label, result in runs.items()},
    )


def _title(runs: Runs, device: str) -> str:
    if len(runs) == 1:
        return device
    names = ", ".join(runs)
    return f"{device}: {names if len(names) <= _TITLE_LETTERS else f'{len(runs)} runs'}"


def page(
    template: str,
    *,
    title: str,
    command: str,
    facts: Mapping[str, str],
    specs: Mapping[str, Any],
    package: str = "reprieve.report",
    **values: Any,
) -> str:
    """Fill in a template that extends `base.html`, and return the page, which needs no network.

    `template`: a file of `package`. `command`: repeats the run. `specs`: its charts, each as the
    dictionary of Vega-Lite, by the name of the element `chart-NAME` that it is drawn in. `values`:
    the template's other variables. Text is escaped unless it is marked as safe.
    """
    folders = [jinja2.PackageLoader(each, ".") for each in dict.fromkeys((package, __package__))]
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(folders),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    # "<" occurs in JSON only inside strings; escaped, it cannot end the script element.
    text = json.dumps(specs, ensure_ascii=False, separators=(",", ":"))
    return environment.get_template(template).render(
        title=title,
        version=_native.__version__,
        command=command,
        facts=facts,
        palettes={"light": _palette(dark=False), "dark": _palette(dark=True)},
        specs=Markup(text.replace("<", "\\u003c")),
        library=library() if specs else Markup(""),
        **values,
    )


def _palette(*, dark: bool) -> dict[str, str]:
    """Return the style sheet's names for the charts' colours, on light or on dark pages."""
    colours = {f"run-{i}": colour for i, colour in enumerate(RUNS_DARK if dark else RUNS_LIGHT)}
    for name, (_, on_light, on_dark) in (COMPONENTS | BLAME).items():
        colours[name.replace("_", "-")] = on_dark if dark else on_light
    return colours
