//! The worked examples of the model, computed by hand, on the rig.

use reprieve_base::{PageAddress, Time};
use reprieve_ssd::rig::{self, RigCommand, RigOp};
use reprieve_ssd::{registries, scenario};

/// Completions in nanoseconds of the commands `(arrival_us, op, block)` on a device.
fn completions(device: &str, policy: &str, commands: &[(u64, RigOp, u32)]) -> Vec<u64> {
    let sets = [format!("policy={policy}")];
    let scenario = scenario::load_rig(device, &sets, registries()).expect("a built-in device");
    let commands: Vec<RigCommand> = commands
        .iter()
        .map(|(arrival_us, op, block)| RigCommand {
            arrival: Time::from_ns(arrival_us * 1000),
            op: *op,
            at: PageAddress { plane: 0, block: *block, page: 0 },
        })
        .collect();
    let results = rig::run(&scenario, &commands).expect("legal commands");
    results.iter().map(|result| result.completion.ns()).collect()
}

/// A program at 0 and a read of another block at 61 us: (read done, program done) in us.
fn program_and_read(device: &str, policy: &str) -> (u64, u64) {
    let commands = [(0, RigOp::Program, 0), (61, RigOp::Read, 1)];
    let done = completions(device, policy, &commands);
    assert!(done.iter().all(|ns| ns % 1000 == 0), "{done:?}");
    (done[1] / 1000, done[0] / 1000)
}

#[test]
fn an_erase_takes_longer_with_the_cycles_of_its_block() {
    // Erases of one block at 10, 11 and 12 cycles, of another at 10; a loop takes 1000.
    let sets = [
        "reliability.model=power",
        "reliability.cycles_at_start=10",
        "timing.t_erase_loops_us=[1000]",
        "timing.t_erase_us_by_cycles=[[10, [[1000, 1]]], [14, [[3000, 1]]]]",
    ];
    let sets = sets.map(str::to_string);
    let scenario =
        scenario::load_rig("fast12-slc", &sets, registries()).expect("a built-in device");
    let erase = |arrival_us: u64, block| RigCommand {
        arrival: Time::from_ns(arrival_us * 1000),
        op: RigOp::Erase,
        at: PageAddress { plane: 0, block, page: 0 },
    };
    let commands = [erase(0, 1), erase(0, 1), erase(0, 1), erase(10_000, 2)];
    let results = rig::run(&scenario, &commands).expect("legal commands");
    let done: Vec<_> = results.iter().map(|result| result.completion.ns()).collect();
    assert_eq!(done, [1_000_000, 2_500_000, 4_500_000, 11_000_000]);
}

#[test]
fn a_read_waits_for_the_program_without_suspension() {
    // 20 data in + 5 x 28 = 160; then 10 + 20.
    assert_eq!(program_and_read("fast12-slc", "fifo"), (190, 160));
    assert_eq!(program_and_read("fast12-slc", "rps"), (190, 160));
    // 40 + 15 x 44 = 700; then 25 + 40.
    assert_eq!(program_and_read("fast12-mlc", "fifo"), (765, 700));
    assert_eq!(program_and_read("fast12-mlc", "rps"), (765, 700));
}

#[test]
fn a_read_waits_for_a_hypothetical_program() {
    // PER: 20 + 10, idle at 61; PE0: 20.
    assert_eq!(program_and_read("fast12-slc", "per"), (91, 30));
    assert_eq!(program_and_read("fast12-slc", "pe0"), (91, 20));
}

#[test]
fn inter_phase_suspension() {
    assert_eq!(program_and_read("fast12-slc", "pes-ips"), (98, 193));
    assert_eq!(program_and_read("fast12-mlc", "pes-ips"), (149, 768));
}

#[test]
fn intra_phase_cancellation() {
    assert_eq!(program_and_read("fast12-slc", "pes-ipc"), (95, 218));
    assert_eq!(program_and_read("fast12-mlc", "pes-ipc"), (130, 773));
}

#[test]
fn an_erase_suspended_twice() {
    let commands = [(0, RigOp::Erase, 0), (500, RigOp::Read, 1), (900, RigOp::Read, 2)];
    for policy in ["pes-ips", "pes-ipc"] {
        let done = completions("fast12-slc", policy, &commands);
        assert_eq!(done, [1_584_000, 534_000, 934_000], "{policy}");
    }
    let done = completions("fast12-slc", "rps", &commands);
    assert_eq!(done, [1_508_000, 1_538_000, 1_568_000]);
}
