//! The rig against the independent second implementation: every time and every count equal.

use reprieve_base::{Dur, Geometry, PageAddress, Stream, Time};
use reprieve_nand::{
    EraseMode, EraseResume, ProgramSuspension, Restore, ResumeAt, Retention, SameBlock, Suspension,
    Timing, VthReached,
};
use reprieve_ssd::rig::{self, RigCommand, RigOp};
use reprieve_ssd::scenario::{self, Scenario};

use super::oracle::{self, Command, Kind, Policy};
use super::oracle_gen::{self as generate, Case};

/// Command sequences for each policy and kind of timing.
const CASES: u64 = 10_000;

fn base_scenario() -> Scenario {
    let registries = reprieve_ssd::registries();
    scenario::load_rig("fast12-slc", &[], registries).expect("a built-in device")
}

/// Runs one case on the rig and in the oracle; panics where they differ.
fn compare(base: &Scenario, case: &Case, policy: Policy, seed: u64) {
    let mut scenario = base.clone();
    scenario.seed = seed;
    scenario.timing = case.timing;
    scenario.suspension = case.suspension;
    scenario.suspend_rules.host_write_suspends.erase = case.suspension.program_in_erase;
    scenario.geometry = Geometry {
        planes_per_die: generate::PLANES,
        blocks_per_plane: generate::BLOCKS_PER_PLANE,
        pages_per_block: generate::PAGES_PER_BLOCK,
        ..base.geometry
    };
    scenario.scheduling.write_queue_limit = case.write_queue_limit;
    scenario.scheduling.policy = match policy {
        Policy::Fifo => "fifo",
        Policy::Rps => "rps",
        Policy::Per => "per",
        Policy::Pe0 => "pe0",
    }
    .to_string();
    let commands: Vec<RigCommand> = case.commands.iter().map(rig_command).collect();
    let got = rig::run(&scenario, &commands).expect("the generator's commands are legal");
    let want = oracle::run(
        &case.timing,
        &case.suspension,
        policy,
        case.write_queue_limit,
        seed,
        &case.commands,
    );
    for (row, (got, want)) in got.iter().zip(&want).enumerate() {
        let got = (got.start.ns(), got.completion.ns(), got.suspensions);
        let want = (want.start_ns, want.completion_ns, want.suspensions);
        assert_eq!(
            got, want,
            "case {seed}, {policy:?}, command {row} (start, completion, suspensions) of {case:#?}"
        );
    }
}

fn rig_command(command: &Command) -> RigCommand {
    RigCommand {
        arrival: Time::from_ns(command.arrival_ns),
        op: match command.kind {
            Kind::Read => RigOp::Read,
            Kind::Program => RigOp::Program,
            Kind::Erase => RigOp::Erase,
        },
        at: PageAddress { plane: command.plane, block: command.block, page: command.page },
    }
}

/// The timing of table 1 of Wu and He, FAST 2012.
fn fast12(slc: bool) -> Timing {
    let us = Dur::from_us;
    let (bus, read, verify, program_iterations, erase) =
        if slc { (20, 10, 8, 5, 1_500) } else { (40, 25, 24, 15, 3_300) };
    Timing {
        command: Dur::ZERO,
        bus: us(bus),
        read: us(read),
        program_iterations,
        program_pulse: us(20),
        verify: us(verify),
        erase: us(erase),
        erase_segments: 1,
        erase_verify: us(verify),
        voltage_reset: us(4),
        buffer: us(3),
        suspend_overhead: Dur::ZERO,
        erase_suspend_overhead: Dur::ZERO,
        ..Timing::default()
    }
}

fn pes(program: ProgramSuspension) -> Suspension {
    Suspension {
        program,
        erase: true,
        erase_resume: EraseResume::Exact,
        erase_mode: EraseMode::Immediate,
        reset_inside_phase: true,
        shadow_buffer: true,
        restore: Restore::Atomic,
        resume_at: ResumeAt::DataOut,
        vth_reached: VthReached::Never,
        same_block: SameBlock::Block,
        retention: Retention::NONE,
        ..Suspension::default()
    }
}

/// One policy on SLC, on MLC and on random timings.
fn compare_policy(policy: Policy, program: Option<ProgramSuspension>) {
    let base = base_scenario();
    for seed in 0..CASES {
        for slc in [true, false] {
            let mut timing = fast12(slc);
            let mut stream = Stream::new(seed, "test.fast12", u64::from(slc));
            let commands = generate::random_commands(&mut stream, &timing);
            let mut suspension = pes(ProgramSuspension::None);
            suspension.erase = program.is_some();
            if let Some(program) = program {
                generate::set_program(seed, program, &mut timing, &mut suspension);
            }
            let case = Case { timing, suspension, write_queue_limit: None, commands };
            compare(&base, &case, policy, seed);
        }
        if let Some(program) = program {
            compare_modes_of_a_real_part(&base, program, seed);
        }
        let mut case = generate::random_case(seed);
        if let Some(program) = program {
            generate::set_program(seed, program, &mut case.timing, &mut case.suspension);
        }
        compare(&base, &case, policy, seed);
    }
}

/// The settings that the paper's parts do not have, on those parts.
fn compare_modes_of_a_real_part(base: &Scenario, program: ProgramSuspension, seed: u64) {
    let mut stream = Stream::new(seed, "test.fast12.modes", 0);
    let mut timing = fast12(stream.below(2) == 0);
    let mut suspension = pes(program);
    generate::set_modes(&mut stream, &mut timing, &mut suspension);
    generate::set_same_block(&mut stream, &mut timing, &mut suspension);
    generate::set_program(seed, program, &mut timing, &mut suspension);
    let commands = generate::random_commands(&mut stream, &timing);
    let case = Case { timing, suspension, write_queue_limit: None, commands };
    compare(base, &case, Policy::Rps, seed);
}

#[test]
fn fifo() {
    compare_policy(Policy::Fifo, None);
}

#[test]
fn rps() {
    compare_policy(Policy::Rps, None);
}

#[test]
fn per() {
    compare_policy(Policy::Per, None);
}

#[test]
fn pe0() {
    compare_policy(Policy::Pe0, None);
}

#[test]
fn pes_ips() {
    compare_policy(Policy::Rps, Some(ProgramSuspension::Ips));
}

#[test]
fn pes_ipc() {
    compare_policy(Policy::Rps, Some(ProgramSuspension::Ipc));
}

#[test]
fn atomic_iterations() {
    compare_policy(Policy::Rps, Some(ProgramSuspension::Iteration));
}

#[test]
fn sliced_programs() {
    compare_policy(Policy::Rps, Some(ProgramSuspension::Sliced));
}
