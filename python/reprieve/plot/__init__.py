"""Charts of results, for notebooks, papers and the report; `figure.save("x.svg")` writes one."""

from collections.abc import Callable

from reprieve._native import UserError
from reprieve.plot import charts, over_time
from reprieve.plot.charts import Chart, finished
from reprieve.plot.paper import Figure
from reprieve.plot.rows import Runs
from reprieve.plot.theme import LIGHT, PAGE, Theme, dashes

__all__ = ["LIGHT", "PAGE", "Chart", "Figure", "Plots", "Theme", "dashes", "finished"]


class Plots:
    """Charts of one run or of several side by side; each returns a `Figure`.

    >>> load = {"generator": "mixed", "requests": 2000, "read_fraction": 0.7, "queue_depth": 8}
    >>> result = rp.run({"device": "fast12-mlc", "workload": load})
    >>> result.plot.tail("read").save("tail.html")
    """

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def cdf(self, op: str = "read") -> Figure:
        """Draw the share of requests at or below each latency, on a log axis in µs.

        Raises UserError if there are no such requests.
        """
        return self._of(charts.cdf, self._has(op))

    def tail(self, op: str = "read") -> Figure:
        """Draw percentile against latency in µs; each further nine has the same height.

        Raises UserError if there are no such requests.
        """
        return self._of(charts.tail, self._has(op))

    def qos(self) -> Figure:
        """Draw percentile against latency in µs for reads, writes and all, in one chart."""
        return self._of(charts.qos)

    def components(self, op: str = "read") -> Figure:
        """Draw the components of the mean latency in µs.

        Raises UserError if there are no such requests.
        """
        return self._of(charts.components, self._has(op))

    def blame(self, op: str = "read") -> Figure:
        """Draw the causes of waiting, of all and of the slowest requests, as shares of latency.

        Raises UserError if no run kept its requests.
        """
        if not any("blame" in result.summary for result in self._runs.values()):
            raise UserError("plot of blame: no run kept its requests; run it with requests=True")
        return self._of(charts.blame, self._has(op))

    def bars(self) -> Figure:
        """Draw mean and tail latencies as multiples of the first run's."""
        return self._of(charts.bars)

    def suspended(self) -> Figure:
        """Draw the shares of programs and erases that were suspended at least once."""
        return self._of(charts.suspended)

    def busy(self) -> Figure:
        """Draw the shares of simulated time for which dies and channels were busy."""
        return self._of(charts.busy)

    def over_time(self, what: str = "read_latency") -> Figure:
        """Draw a quantity over simulated time: latencies, requests, suspensions and more.

        `what`: a key of `COURSES`. One run shows all its lines, several runs the most telling one.

        Raises UserError if there is no such quantity, or if nothing of it happened.
        """
        course = over_time.COURSES.get(what)
        if course is None:
            known = ", ".join(f'"{name}"' for name in over_time.COURSES)
            raise UserError(f'over_time("{what}"): must be one of {known}')
        rows = over_time.rows(self._runs, course)
        if not rows:
            raise UserError(f'over_time("{what}"): there was none of it')
        return Figure(
            lambda theme: finished(over_time.lines(self._runs, course, rows, theme), theme, 200)
        )

    def _of(self, draw: Callable[..., Chart], *op: str) -> Figure:
        return Figure(lambda theme: draw(self._runs, *op, theme))

    def _has(self, op: str) -> str:
        if all(result.latency(op).requests == 0 for result in self._runs.values()):
            raise UserError(f'plot of "{op}": there are no such requests')
        return op
