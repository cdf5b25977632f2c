"""Charts of results, for notebooks, papers and the report; `chart.save("x.svg")` writes one."""

from __future__ import annotations

from reprieve._native import UserError
from reprieve.plot import charts, over_time
from reprieve.plot.charts import Chart, finished
from reprieve.plot.rows import Runs
from reprieve.plot.theme import LIGHT, PAGE, Theme, dashes

__all__ = ["LIGHT", "PAGE", "Chart", "Plots", "Theme", "dashes", "finished"]


class Plots:
    """Charts of one run or of several side by side; each returns an Altair chart.

    >>> load = {"generator": "mixed", "requests": 2000, "read_fraction": 0.7, "queue_depth": 8}
    >>> result = rp.run({"device": "fast12-mlc", "workload": load})
    >>> result.plot.tail("read").save("tail.html")
    """

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def cdf(self, op: str = "read") -> Chart:
        """Draw the share of requests at or below each latency, on a log axis in µs.

        Raises UserError if there are no such requests.
        """
        return charts.cdf(self._runs, self._has(op), LIGHT)

    def tail(self, op: str = "read") -> Chart:
        """Draw percentile against latency in µs; each further nine has the same height.

        Raises UserError if there are no such requests.
        """
        return charts.tail(self._runs, self._has(op), LIGHT)

    def qos(self) -> Chart:
        """Draw percentile against latency in µs for reads, writes and all, in one chart."""
        return charts.qos(self._runs, LIGHT)

    def components(self, op: str = "read") -> Chart:
        """Draw the components of the mean latency in µs.

        Raises UserError if there are no such requests.
        """
        return charts.components(self._runs, self._has(op), LIGHT)

    def blame(self, op: str = "read") -> Chart:
        """Draw the causes of waiting, of all and of the slowest requests, as shares of latency.

        Raises UserError if no run kept its requests.
        """
        if not any("blame" in result.summary for result in self._runs.values()):
            raise UserError("plot of blame: no run kept its requests; run it with requests=True")
        return charts.blame(self._runs, self._has(op), LIGHT)

    def bars(self) -> Chart:
        """Draw mean and tail latencies as multiples of the first run's."""
        return charts.bars(self._runs, LIGHT)

    def suspended(self) -> Chart:
        """Draw the shares of programs and erases that were suspended at least once."""
        return charts.suspended(self._runs, LIGHT)

    def busy(self) -> Chart:
        """Draw the shares of simulated time for which dies and channels were busy."""
        return charts.busy(self._runs, LIGHT)

    def over_time(self, what: str = "read_latency") -> Chart:
        """Draw a quantity over simulated time: latencies, requests, suspensions and more.

        `what`: a key of `COURSES`. One run shows all its lines, several runs the most telling one.

        Raises UserError if there is no such quantity, or if nothing of it happened.
        """
        course = over_time.course_of(what)
        rows = over_time.rows(self._runs, course)
        if not rows:
            raise UserError(f'over_time("{what}"): there was none of it')
        return finished(over_time.lines(self._runs, course, rows, LIGHT), LIGHT, 200)

    def _has(self, op: str) -> str:
        if all(result.latency(op).requests == 0 for result in self._runs.values()):
            raise UserError(f'plot of "{op}": there are no such requests')
        return op
