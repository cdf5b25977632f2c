"""Checks the charts of a page against the schema of Vega-Lite, which those who draw them do not."""

from __future__ import annotations

import json
import re
from pathlib import Path

import altair as alt
from altair.utils.schemapi import validate_jsonschema

_SPECS = re.compile(r'<script type="application/json" id="specs">(.*?)</script>', re.DOTALL)


def check_charts(page: Path) -> None:
    """Fail if a chart of a page is not valid, or if it has none."""
    specs = _SPECS.search(page.read_text(encoding="utf-8"))
    assert specs is not None, f"{page} has no charts"
    charts = json.loads(specs[1])
    assert charts
    schema = alt.load_schema()
    for spec in charts.values():
        validate_jsonschema(spec, schema)
