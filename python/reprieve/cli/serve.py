"""`reprieve serve` and `reprieve ctl`: the drive as a block device, and its rules meanwhile."""

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from reprieve._native import Server, UserError
from reprieve.cli.console import progress, say, say_at_once, show, table, warn
from reprieve.cli.options import Force, FromState, ScenarioFile, Sets, argument, flag, given
from reprieve.confidence import cell_us
from reprieve.outputs import replace_file
from reprieve.overwriting import inputs_of, may_write, signed
from reprieve.scenario import Source
from reprieve.serving import ServeOptions, ask, server_of

_STATISTICS = {"mean": "mean", "p50": "p50", "p99": "p99", "p99_9": "p99.9", "max": "max"}

# What `serve` takes, an option a row.
Socket = Annotated[
    Path | None, given("Serve at a Unix socket; reprieve.sock if nothing else is asked.")
]
Tcp = Annotated[
    str | None, given("Serve in the network, at HOST:PORT; needs TLS or --insecure.", "ADDRESS")
]
Certificate = Annotated[Path | None, given("The certificate, in PEM.")]
CertificateKey = Annotated[Path | None, given("Its key, in PEM.")]
ClientAuthority = Annotated[
    Path | None, given("CA of the clients' certificates, in PEM; without, they need none.")
]
Insecure = Annotated[bool, flag("--insecure", "No TLS: whoever reaches the port has the data.")]
Store = Annotated[
    Path | None, given("Keep the data in this file; without, it goes with the server.")
]
MemoryBytes = Annotated[
    int | None, given("Memory that the data may take up; writes beyond have no room.", "BYTES")
]
DiscardData = Annotated[bool, flag("--discard-data", "Keep no data: reads give zeros.")]
TimeScale = Annotated[
    str, typer.Option(metavar="X", help="Factor by which the model's clock runs slower.")
]
Record = Annotated[Path | None, given("Record every request; the .toml beside FILE replays it.")]
Metrics = Annotated[
    str | None, given("Tell metrics to Prometheus, at [HOST:]PORT; this host only.", "ADDRESS")
]
Control = Annotated[
    Path | None, given("Where `reprieve ctl` connects; the socket's name with .ctl.")
]
Faults = Annotated[
    list[str] | None,
    given("Let commands meet a fault, as KIND:KEY=VALUE,...; may be repeated.", "FAULT"),
]
Summary = Annotated[Path | None, given("Write the summary, as JSON.")]


def serve(
    scenario: ScenarioFile,
    sets: Sets = None,
    socket: Socket = None,
    tcp: Tcp = None,
    tls_cert: Certificate = None,
    tls_key: CertificateKey = None,
    tls_client_ca: ClientAuthority = None,
    insecure: Insecure = False,
    from_state: FromState = None,
    store: Store = None,
    memory_bytes: MemoryBytes = None,
    discard_data: DiscardData = False,
    time_scale: TimeScale = "1",
    record: Record = None,
    metrics: Metrics = None,
    control: Control = None,
    fault: Faults = None,
    summary: Summary = None,
    force: Force = False,
) -> None:
    """Serve the simulated SSD as a network block device, in real time, until Ctrl-C.

    Every request is answered when the model says, and never before.
    """
    options = ServeOptions(
        socket=socket,
        tcp=tcp,
        tls=_tls(tcp, tls_cert, tls_key, tls_client_ca, insecure),
        tls_client_ca=tls_client_ca,
        insecure=insecure,
        from_state=from_state,
        store=store,
        memory_bytes=memory_bytes,
        discard_data=discard_data,
        time_scale=time_scale,
        record=record,
        metrics=metrics,
        control=control,
        faults=fault or (),
    )
    asked = options.asked("--time-scale")
    source = Source.read(scenario, sets or ())
    keys = (tls_cert, tls_key, tls_client_ca, from_state)
    read = [*inputs_of(source), *(path for path in keys if path is not None)]
    beside = None
    if record is not None and record.suffix != ".toml":  # the server refuses that name
        beside = record.with_suffix(".toml")
    # An image that is there goes on, and the server itself replaces nothing but a dead socket.
    may_write([store, socket, control, record, beside, summary], inputs=read, force=True)
    read += [] if store is None else [store]
    may_write([record, beside, summary], inputs=read, force=force)
    server = server_of(source, asked)
    with progress() as bars:
        while server.prepare():
            bars("preconditioning", None, 0)
    with _until_told(server.stop_fd):
        _say_where(server)
        told = _run(server, [record, beside])
    _show(told)
    if faults := told["served"].get("faults"):
        _say_faults(faults)
    if summary is not None:
        replace_file(summary, json.dumps(told, indent=2) + "\n")
        say(f"wrote {summary}")
    if record is not None and (recording := told["served"].get("recording")):
        _say_recorded(record, from_state, recording)


def _run(server: Server, made: list[Path | None]) -> dict[str, Any]:
    """Serve until the end; return the summary. Recordings are ours, however that ends."""
    try:
        told: dict[str, Any] = json.loads(server.run(warn))
        return told
    finally:
        for path in made:
            if path is not None:
                signed(path)


def _say_faults(faults: dict[str, Any]) -> None:
    for each in faults["list"]:
        say(f"--fault {each['fault']}: struck {each['struck']:,} of {each['commands']:,} commands")
    cut = faults["power_cut"]
    if cut is not None:
        say(
            f"the power failed ({cut['fault']}): of the blocks of 4 KiB that no flush had brought "
            f"to safety, {cut['lost_blocks']:,} are lost and {cut['kept_blocks']:,} are there"
        )


def _say_recorded(record: Path, from_state: Path | None, recording: dict[str, Any]) -> None:
    state = "" if from_state is None else f" with --from-state {from_state}"
    what = f"wrote {recording['requests']:,} requests to {record}"
    if recording["failure"] is not None:
        what += f" and no more, as it could not be written ({recording['failure']})"
    say(f"{what}; {record.with_suffix('.toml')} replays them{state}")


def _tls(
    tcp: str | None, cert: Path | None, key: Path | None, client_ca: Path | None, insecure: bool
) -> tuple[Path, Path] | None:
    if tcp is None:
        if cert or key or client_ca or insecure:
            options = "--tls-cert, --tls-key, --tls-client-ca and --insecure"
            raise UserError(f"{options} go with --tcp ADDRESS")
        return None
    if client_ca is not None and (cert is None or key is None):
        raise UserError(f"--tls-client-ca {client_ca}: needs --tls-cert and --tls-key")
    if cert is not None and key is not None and not insecure:
        return cert, key
    if insecure and cert is None and key is None:
        return None
    raise UserError(f"--tcp {tcp}: needs --tls-cert and --tls-key, or --insecure instead of them")


def _say_where(server: Server) -> None:
    place, metrics, control = server.open()
    lines = [f"serving {server.bytes:,} bytes at {place}; Ctrl-C ends it"]
    if server.data_note is not None:
        lines.append(server.data_note)
    if metrics is not None:
        lines.append(f"metrics at http://{metrics}/metrics")
    if control is not None:
        lines.append(f"rules: reprieve ctl {control} show")
    say_at_once("\n".join(lines))


@contextmanager
def _until_told(stop_fd: int) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM write to the server's socket instead of stopping Python."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, lambda _number, _frame: None)
    old_fd = signal.set_wakeup_fd(stop_fd)
    try:
        yield
    finally:
        signal.set_wakeup_fd(old_fd)
        for number, handler in before.items():
            signal.signal(number, handler)


def _show(summary: dict[str, Any]) -> None:
    served = summary["served"]
    rows = table("Latency by the model, µs", ["", "commands", "errors", *_STATISTICS.values()])
    for kind, group in served["commands"].items():
        if group["count"]:
            cells = (cell_us(group, key) for key in _STATISTICS)
            counts = (f"{group['count']:,}", f"{group['errors']:,}")
            rows.add_row(kind.replace("_", " "), *counts, *cells)
    late = {"count": served["lateness_ns"]["count"], "latency_ns": served["lateness_ns"]}
    cells = (cell_us(late, key) for key in _STATISTICS)
    rows.add_row("answered later by", f"{late['count']:,}", "", *cells)
    show(rows)
    suspensions = summary["flash"]["suspensions"]
    say(
        f"suspensions: {suspensions['program']:,} of programs, {suspensions['erase']:,} of erases; "
        f"WAF {summary['flash']['waf']:.3f}; clients: {served['connections']:,}"
    )


def ctl(
    where: Annotated[Path, argument("The drive's socket.", "SOCKET")],
    action: Annotated[str, argument("Show the rules, or set one.", "show|set")],
    key: Annotated[str | None, argument("A rule, as `show` lists it.", "[KEY]")] = None,
    value: Annotated[str | None, argument("Its new value.", "[VALUE]")] = None,
) -> None:
    """Show or set the rules of suspension of a drive that serves."""
    if action == "show" and key is None:
        question: dict[str, object] = {"show": True}
    elif action == "set" and key is not None and value is not None:
        question = {"set": [key, value]}
    else:
        raise UserError("reprieve ctl SOCKET takes show, or set KEY VALUE")
    path = where if where.suffix == ".ctl" else where.with_name(where.name + ".ctl")
    answer = ask(path, question)
    for name, rule in answer["rules"].items():
        say(f"{name} = {rule}")
    suspensions = answer["suspensions"]
    say(
        f"{answer['device']}: clients: {answer['connections']:,}, open requests: "
        f"{answer['open_requests']:,}, suspensions: {suspensions['program']:,} of programs, "
        f"{suspensions['erase']:,} of erases"
    )
