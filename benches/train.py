"""Runs some devices as users do, for a compiler that optimises the wheel by what such runs take.

`make wheel PGO=1` runs it within an instrumented build; nothing of what it simulates is kept.
"""

import itertools

import reprieve as rp

DEVICES = ("fast12-mlc", "mqsim-default-like", "tlc-nvme", "tlc-enterprise")
POLICIES = ("fifo", "pes-ipc")
# So small that what comes before the load does not take most of the time.
GEOMETRY = {"channels": 2, "blocks_per_plane": 64}
FTL = {"over_provisioning": 0.15, "precondition": "steady"}
LOAD = {
    "generator": "mixed",
    "requests": 20_000,
    "read_fraction": 0.7,
    "request_bytes": 4096,
    "arrivals": "closed",
    "queue_depth": 16,
}


def main() -> None:
    """Run each device under both policies, with the log of requests and without."""
    for device, policy, requests in itertools.product(DEVICES, POLICIES, (False, True)):
        scenario = {
            "device": device,
            "policy": policy,
            "geometry": GEOMETRY,
            "ftl": FTL,
            "workload": LOAD,
        }
        result = rp.run(scenario, requests=requests)
        log = ", log of requests" if requests else ""
        print(f"{device}, {policy}{log}: {result.summary['run']['page_transactions']} pages")


if __name__ == "__main__":
    main()
