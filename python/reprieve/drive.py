"""A drive inside another simulator, and one whose clock is that of SimPy."""

from __future__ import annotations

from typing import Any, Literal

from reprieve._native import Completion, Drive, UserError

__all__ = ["Completion", "Drive", "SimpyDrive"]


class SimpyDrive:
    """A `Drive` in an environment of SimPy, whose unit of time is the nanosecond.

    `yield drive.request("read", lba, 4096)` in a process waits for the completion, and has it as
    its value. SimPy need not be installed for anything else.

    >>> import simpy
    >>> env = simpy.Environment()
    >>> drive = rp.SimpyDrive(env, rp.Drive({"device": "fast12-slc"}))
    >>> def reader():
    ...     done = yield drive.request("read", 0, 4096)
    ...     print(env.now, done.latency_ns)
    >>> process = env.process(reader())
    >>> env.run()
    32048 32048
    """

    def __init__(self, env: Any, drive: Drive) -> None:
        """Give `env`, a `simpy.Environment`, a drive that nothing else advances."""
        self.env = env
        self.drive = drive
        self._waiting: dict[int, Any] = {}
        self._due_ns: int | None = None

    def request(
        self,
        op: Literal["read", "write", "trim", "flush"],
        lba: int = 0,
        bytes: int = 0,
        *,
        fua: bool = False,
    ) -> Any:
        """Send a request now; return the event of its completion.

        `lba`: the first sector of 512 bytes.
        `bytes`: the length, a multiple of 512.
        `fua`: a write completes only when its data is in flash (forced unit access).

        Raises UserError if the request is wrong, or if the time is not a whole number of ns.
        """
        now_ns = int(self.env.now)
        if now_ns != self.env.now:
            what = "the environment's unit is the nanosecond, and its times must be whole"
            raise UserError(f"now = {self.env.now}: {what}")
        tag = self.drive.submit(op, lba, bytes, at_ns=now_ns, fua=fua)
        event = self._waiting[tag] = self.env.event()
        self._plan()
        return event

    def _plan(self) -> None:
        """Have the environment wake the drive at its next instant."""
        next_ns = self.drive.next()
        if next_ns is not None and (self._due_ns is None or next_ns < self._due_ns):
            self._due_ns = next_ns
            self.env.timeout(next_ns - self.env.now).callbacks.append(self._wake)

    def _wake(self, _event: object) -> None:
        # A request that came later may have brought its next instant forward, and this is stale.
        if self._due_ns is None or self._due_ns != self.env.now:
            return
        self.drive.advance(self._due_ns)
        self._due_ns = None
        for completion in self.drive.poll():
            self._waiting.pop(completion.tag).succeed(completion)
        self._plan()
