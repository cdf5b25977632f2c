"""The drive explorer: the numbers of `reprieve run`, its faults and mistakes, and its command."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

import reprieve as rp
from reprieve.cli import EXIT_INTERRUPTED, EXIT_MISTAKE, main
from reprieve.cli import ui as command
from reprieve.scenario import Source
from reprieve.simulation import simulate

UI = Path(rp.__file__).parent / "ui"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NODE = shutil.which("node")

needs_core = pytest.mark.skipif(
    not (UI / "reprieve.wasm").exists(), reason="the explorer is not built: make ui"
)
needs_node = pytest.mark.skipif(NODE is None, reason="no node on this machine")

# What a browser cannot do is left out: traces are files.
OF_EXAMPLES = {
    "limits": [],
    "power-loss": [],
    "tail-and-throughput": [],
    "tlc": ["geometry.blocks_per_plane=128"],
    "two-tenants": [],
    "write-heavy-steady": [],
}
DRAWN = 14

# Axes of the drawn scenarios: every value can go with every other.
AXES: dict[str, list[str]] = {
    "device": ["fast12-slc", "fast12-mlc", "mqsim-default-like", "znand-like", "970pro-like"],
    "policy": ["fifo", "rps", "pe0", "pes-ips", "pes-ipc"],
    "ftl.precondition": ["none", "sequential", "steady"],
    "ftl.gc_victim": ["greedy", "d-choices", "fifo", "cost-benefit"],
    "ftl.over_provisioning": ["0.2", "0.3"],
    "workload.read_fraction": ["0.3", "0.7", "0.95"],
    "workload.addresses": ["uniform", "zipf"],
    "workload.queue_depth": ["1", "8", "64"],
    "measure.warmup": ["none", "none", "auto"],
    "seed": ["1", "7"],
}
TEXT = """\
[geometry]
channels = 4
dies_per_channel = 1
chips_per_channel = 1
blocks_per_plane = 48
pages_per_block = 64
[workload]
generator = "mixed"
requests = 3000
request_bytes = 16384
arrivals = "closed"
"""


def drawn() -> list[tuple[str, list[str]]]:
    chance = random.Random(20)
    scenarios = []
    for _ in range(DRAWN):
        chosen = {key: chance.choice(values) for key, values in AXES.items()}
        if chosen["workload.addresses"] == "zipf":
            chosen["workload.zipf_theta"] = "0.9"
        scenarios.append((TEXT, [f"{key}={value}" for key, value in chosen.items()]))
    return scenarios


def of_examples() -> list[tuple[str, list[str]]]:
    few = "workload.requests=4000"
    return [
        ((EXAMPLES / f"{name}.toml").read_text(), [*sets, few])
        for name, sets in OF_EXAMPLES.items()
    ]


def node(folder: Path, *arguments: str, text: str = "") -> str:
    """Run Node beside a copy of the page's files, as modules, and return what it prints."""
    assert NODE is not None
    for each in UI.iterdir():
        shutil.copy(each, folder)
    (folder / "package.json").write_text('{"type": "module"}')
    command = [NODE, *arguments]
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, cwd=folder, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def in_node(asked: list[tuple[str, list[str]]], folder: Path) -> list[dict[str, Any]]:
    """Run scenarios in the WebAssembly core."""
    script = Path(__file__).with_name("explorer_node.mjs")
    answers: list[dict[str, Any]] = json.loads(
        node(folder, str(script), str(folder), text=json.dumps(asked))
    )
    return answers


def natively(text: str, sets: list[str]) -> dict[str, Any]:
    """Return what `reprieve run --requests` writes, without what the machine measures."""
    result = simulate(Source(text, "scenario.toml", tuple(sets)), keep_requests=True)
    summary: dict[str, Any] = json.loads(json.dumps(result.summary))
    return summary


@needs_core
@needs_node
@pytest.mark.seconds(40)
def test_twenty_scenarios_have_the_numbers_of_a_run(tmp_path: Path) -> None:
    asked = of_examples() + drawn()
    assert len(asked) == 20
    for (text, sets), answer in zip(asked, in_node(asked, tmp_path), strict=True):
        assert answer == {"summary": natively(text, sets)}, sets


@needs_core
@needs_node
def test_mistakes_are_sentences(tmp_path: Path) -> None:
    trace = 'device = "fast12-mlc"\n[workload]\ntrace = "a.csv"\n'
    typo, file = in_node([(TEXT, ["device=fast12-mlx"]), (trace, [])], tmp_path)
    with pytest.raises(rp.UserError) as wanted:
        natively(TEXT, ["device=fast12-mlx"])
    assert typo == {"mistake": str(wanted.value)}
    assert file["mistake"].startswith('scenario.toml:3: workload.trace = "a.csv"')
    assert file["mistake"].endswith("drop it here, or use a built-in device")


STORIES = """
import { STORIES } from "./stories.js";
console.log(JSON.stringify(STORIES));
"""


@needs_core
@needs_node
@pytest.mark.seconds(30)
def test_the_stories_are_true(tmp_path: Path) -> None:
    """Each story ends in a claim that its page shows; more than one seed has to keep it."""
    (tmp_path / "stories_out.js").write_text(STORIES)
    stories = {story["name"]: story for story in json.loads(node(tmp_path, "stories_out.js"))}
    asked = [
        (story["text"], [f"seed={seed}", *(f"{key}={value}" for key, value in story[setting])])
        for story in stories.values()
        for setting in ("a", "b")
        for seed in (1, 2, 3)
    ]
    answers = iter(in_node(asked, tmp_path))
    for name, story in stories.items():
        assert story["told"].count(". ") + story["told"].endswith(".") == 3, name
        a, b = [[next(answers)["summary"] for _ in range(3)] for _ in "ab"]
        for one, other in zip(a, b, strict=True):
            CLAIMS[name](one, other)


def us(summary: dict[str, Any], percentile: str, kind: str = "read") -> float:
    return float(summary["requests"][kind]["latency_ns"][percentile]) / 1000


def behind(summary: dict[str, Any], cause: str) -> float:
    """Return the share of the slowest reads' time behind a cause."""
    slowest = summary["blame"]["read"]["slowest_1"]
    return float(slowest[f"by_{cause}_ns"] / slowest["latency_ns"])


def suspensions(summary: dict[str, Any]) -> int:
    return int(sum(summary["flash"]["suspensions"].values()))


def erases_are_gone(a: dict[str, Any], b: dict[str, Any]) -> None:
    assert behind(a, "erase") > 0.5
    assert behind(b, "erase") < 0.05
    assert us(b, "p99") < us(a, "p99") / 5


def first_story(a: dict[str, Any], b: dict[str, Any]) -> None:
    erases_are_gone(a, b)
    assert behind(b, "host_read") > 0.3


def tail_story(a: dict[str, Any], b: dict[str, Any]) -> None:
    erases_are_gone(a, b)
    assert us(a, "p99_9") > 3000
    assert us(b, "p50") > 0.95 * us(a, "p50")  # suspended programs in both
    assert us(b, "p99", "write") < 1.1 * us(a, "p99", "write")


def pm9a3_story(a: dict[str, Any], b: dict[str, Any]) -> None:
    assert suspensions(a) == 0
    assert suspensions(b) > 1000
    assert behind(b, "limit") > 0.5


def zambelli_story(a: dict[str, Any], b: dict[str, Any]) -> None:
    assert behind(a, "limit") > 0.5
    waits_ns = [one["blame"]["read"]["slowest_1"]["by_limit_ns"] for one in (a, b)]
    assert waits_ns[1] < waits_ns[0] / 4
    assert us(b, "p99") < us(a, "p99") / 2


def deadline_story(a: dict[str, Any], b: dict[str, Any]) -> None:
    assert us(a, "p99") < us(b, "p99") < 400
    assert suspensions(b) < suspensions(a) / 5


CLAIMS = {
    "first": first_story,
    "tail": tail_story,
    "pm9a3": pm9a3_story,
    "fast12": erases_are_gone,
    "zambelli21": zambelli_story,
    "mbm": erases_are_gone,
    "starblaze": erases_are_gone,
    "deadline": deadline_story,
}

WORDS = """
import { headline } from "./words.js";
const side = (p50, p99) => ({ count: 30000, latency_ns: { p50: p50[1], p99: p99[1] },
  confidence: { p50: [p50[0], p50[2]], p99: [p99[0], p99[2]], p99_9: null } });
const both = (read, write) => ({ requests: { read, write } });
const writes = side([900, 1000, 1100], [1, 1, 1]);
const slow = both(side([100, 100, 100], [13000, 13600, 14000]), writes);
const quick = both(side([100, 100, 100], [900, 1000, 1100]), side([1200, 1210, 1220], [1, 1, 1]));
const none = both({ count: 0, latency_ns: {} }, { count: 5, latency_ns: {}, confidence: null });
console.log(headline(slow, quick, []));
console.log(headline(quick, slow, ["A"]));
console.log(headline(slow, slow, []));
console.log(headline(none, none, []));
const near = both(side([100, 100, 100], [13500, 14000, 14500]), writes);
console.log(headline(slow, near, []));
"""


@needs_node
def test_the_headline_says_what_the_intervals_do(tmp_path: Path) -> None:
    (tmp_path / "words_out.js").write_text(WORDS)
    assert node(tmp_path, "words_out.js").splitlines() == [
        "Under B, reads are 14 × faster at p99 (13.6 → 1 µs); "
        "writes are 21 % slower at p50 (1 → 1.21 µs).",
        "Under B, reads are 14 × slower at p99 (1 → 13.6 µs); "
        "writes are 17 % faster at p50 (1.21 → 1 µs). "
        "A is a bound: no drive programs in no time.",
        "Under B, reads do not differ significantly at p99 (13.6 → 13.6 µs); "
        "writes do not differ significantly at p50 (1 → 1 µs).",
        "Under B, there are no reads to compare; there are too few writes to compare.",
        # Intervals of 1 µs each are parted when both are as narrow as 0.4 µs: (1 / 0.4)².
        "Under B, reads do not differ significantly at p99 (13.6 → 14 µs); "
        "about 6.3 × as many requests would, if they stay so; "
        "writes do not differ significantly at p50 (1 → 1 µs).",
    ]


PANICS = """
import { Core, Fault } from "./core.js";
const memory = { buffer: new TextEncoder().encode("die 3 refuses").buffer };
const stops = () => { throw new WebAssembly.RuntimeError("unreachable"); };
for (const length of [13, 0]) {
  const core = new Core({
    memory, explorer_begin() {}, explorer_fault: () => 0, explorer_fault_bytes: () => length,
    explorer_step: stops,
  });
  try { core.step(1); } catch (error) { console.log(error instanceof Fault, error.message); }
}
"""


@needs_node
def test_a_panic_becomes_a_message(tmp_path: Path) -> None:
    (tmp_path / "panics.js").write_text(PANICS)
    assert node(tmp_path, "panics.js").splitlines() == [
        "true internal fault, please report it: die 3 refuses",
        "true the simulation stopped, probably for lack of memory; try a smaller drive "
        "(unreachable)",
    ]


def test_the_command_says_how_to_build_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "FOLDER", tmp_path)
    assert main(["ui", "--no-open"]) == EXIT_MISTAKE
    assert capsys.readouterr().err == (
        f"{tmp_path}/reprieve.wasm: the simulator for the browser is not built; "
        "run `make ui` in the sources of Reprieve\n"
    )


def asked_for(address: str, host: str) -> tuple[int, str]:
    """Return status and type of an answer to a request under this name."""
    request = urllib.request.Request(address, headers={"Host": host})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.headers["Content-Type"]
    except urllib.error.HTTPError as error:
        return error.code, ""


@needs_core
def test_the_command_serves_the_page_until_it_is_interrupted(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server = subprocess.Popen(
        [program, "ui", "--port", "0", "--no-open"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    assert server.stdout is not None
    said = server.stdout.readline()
    address = said.split()[5].rstrip(";")
    host = address.removeprefix("http://").rstrip("/")
    assert said == f"the drive explorer is at http://{host}/; Ctrl-C ends it\n"
    assert asked_for(address, host) == (200, "text/html")
    assert asked_for(f"{address}reprieve.wasm", "localhost:1") == (200, "application/wasm")
    assert asked_for(address, "elsewhere.example:80")[0] == 403
    assert asked_for(f"{address}../cli/ui.py", host)[0] == 404
    port = host.rpartition(":")[2]
    assert main(["ui", "--port", port, "--no-open"]) == EXIT_MISTAKE
    assert capsys.readouterr().err.startswith(f"--port {port}: cannot serve there: ")
    server.send_signal(signal.SIGINT)
    assert server.communicate() == ("", "")
    assert server.returncode == EXIT_INTERRUPTED


def test_the_page_is_small() -> None:
    assert sum(path.stat().st_size for path in UI.iterdir()) < 4_000_000
