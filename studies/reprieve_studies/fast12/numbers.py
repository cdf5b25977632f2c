"""The numbers of this reproduction by name, which pages and other programs quote."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from reprieve import Result
from reprieve_studies.fast12 import beyond, tables
from reprieve_studies.fast12.alternatives import BASE
from reprieve_studies.fast12.claims import held, measured, names
from reprieve_studies.fast12.experiment import FULL, Outcome, Place
from reprieve_studies.fast12.figures import ratios_to_rps
from reprieve_studies.fast12.loads import CALIBRATED, SETS
from reprieve_studies.fast12.measures import MEASURES, Spot
from reprieve_studies.fast12.paper import DEVICES, SENTENCES, Sentence
from reprieve_studies.loads import Load
from reprieve_studies.verdicts import Verdict


def all_numbers(outcome: Outcome, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return all of them; shares in per cent, times in the unit that ends their name."""
    plan = outcome.plan
    claims = {
        of: {reading.name: _claims(outcome, of, reading.name) for reading in plan.readings(of)}
        for of in plan.sets
    }
    claims[CALIBRATED] |= {each.name: _claims(outcome, CALIBRATED, each.name)
                           for each in plan.alternatives}  # fmt: skip
    counts = held(list(verdicts))
    return {
        "requests": plan.requests,
        "seeds": list(plan.seeds),
        "held": {
            of: {reading.name: dict(zip(("held", "judged"), counts[of, reading.name], strict=True))
                 for reading in plan.readings(of)}
            for of in SETS
        },
        "loads": {of: {load.trace: _load(outcome, of, load) for load in plan.loads(of)}
                  for of in plan.sets},
        "claims": claims,
        "given_by": given_by(claims),
        "moved": {
            name: {device: {measure: found.mean for measure, found in of_device.items()}
                   for device, of_device in by_device.items()}
            for name, by_device in tables.shifts(outcome).items()
        },
        "increase": tables.increases(outcome),
        "variants": {
            device: {
                variant.name: {name: vars(found) for name, found in
                               ratios_to_rps(outcome, device, variant.name)._asdict().items()}
                for variant in (beyond.VARIANTS if plan.beyond else ())
            }
            for device in DEVICES
        },
        "beyond": {
            device: {load.trace: _beyond(outcome, of, device, load.trace)
                     for of in plan.beyond for load in plan.loads(of)}
            for device in DEVICES
        },
    }  # fmt: skip


def _claims(outcome: Outcome, of: str, reading: str) -> dict[str, dict[str, Any]]:
    """Return every measure of the paper by device, and half of its interval over the seeds."""
    found: dict[str, dict[str, Any]] = {}
    for device in DEVICES:
        found[device] = {}
        for name, measure in MEASURES.items():
            if name.endswith("_f1") and "F1" not in names(outcome, of):
                continue
            one = measured(outcome, of, reading, device, measure)
            found[device][name] = one.mean
            if one.high is not None:
                found[device][f"{name}_half"] = one.high - one.mean
    return found


def given_by(claims: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return for each device and measure what the paper says, and what of ours gives it.

    `claims`: measures by set, reading and device. `by`: sets, readings, and their numbers.
    """
    return {
        device: {
            sentence.measure: {
                "paper": sentence.of(device),
                "by": [
                    {"of": of, "reading": reading, "ours": by_device[device][sentence.measure]}
                    for of, readings in claims.items()
                    for reading, by_device in readings.items()
                    if sentence.measure in by_device[device]
                    and _holds(sentence, device, by_device[device][sentence.measure])
                ],
            }
            for sentence in SENTENCES
        }
        for device in DEVICES
    }


def _holds(sentence: Sentence, device: str, ours: float) -> bool:
    verdict = Verdict(
        sentence.claim, sentence.source, sentence.unit, sentence.of(device), ours,
        sentence.tolerance, sentence.relation,
    )  # fmt: skip
    return verdict.reproduced is True


def _load(outcome: Outcome, of: str, load: Load) -> dict[str, Any]:
    found: dict[str, Any] = {"label": load.label, "genuine": load.genuine}
    for device in DEVICES:
        places = [Place(of, device, load.trace, seed) for seed in outcome.plan.seeds_of(load)]
        scales = [outcome.compressions[BASE.name, place] for place in places]
        found[device] = {
            "speed": fmean(scale.speed for scale in scales),
            "drive_idle_percent": 100 * fmean(scale.drive_idle_share for scale in scales),
            "die_idle_percent": 100 * fmean(scale.die_idle_share for scale in scales),
        }
        if of in outcome.plan.beyond:
            full = [outcome.compressions[FULL, place].speed for place in places]
            found[device]["beyond_speed"] = fmean(full)
        for op in ("read", "write"):
            found[device][f"{op}_ms"] = fmean(
                runs[Spot(device, load.trace, "FIFO")].summary["requests"][op]["latency_ns"]["mean"]
                / 1e6
                for runs in outcome.runs(of)
            )
    return found


def _beyond(outcome: Outcome, of: str, device: str, load: str) -> dict[str, Any]:
    return {
        variant.name: _run(
            [runs[Spot(device, load, variant.name)] for runs in outcome.runs(of, beyond.READING)]
        )
        for variant in beyond.VARIANTS
    }


def _run(results: Sequence[Result]) -> dict[str, float]:
    groups = [result.summary["requests"] for result in results]
    reads = [group["read"]["latency_ns"] for group in groups]
    return {
        "reads": min(group["read"]["count"] for group in groups),
        "read_mean_us": fmean(one["mean"] for one in reads) / 1e3,
        "read_p99_99_us": fmean(one["p99_99"] for one in reads) / 1e3,
        "read_us_max": max(one["max"] for one in reads) / 1e3,
        "write_mean_us": fmean(group["write"]["latency_ns"]["mean"] for group in groups) / 1e3,
    }
