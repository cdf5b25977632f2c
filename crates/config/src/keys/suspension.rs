//! Keys of parallelism in a die, suspension of operations, and its policy.

use reprieve_base::Dur;
use reprieve_nand::{
    EraseMode, EraseResume, MultiPlane, ProgramSuspension, Restore, ResumeAt, SameBlock, VthReached,
};

use crate::row::*;
use crate::types::*;

const FAST12_4: &str = "Wu and He, FAST 2012, section 4";
const Z21: &str = "Zambelli et al., Electronics 10, 1394 (2021)";

section! {
    /// Parallelism of a die.
    PARALLELISM "parallelism"

    /// The operations of different planes that one read, program or erase takes together.
    multi_plane [parallelism.multi_plane] one_of {
        "none" = MultiPlane::None, "Nothing: a command is of one plane.";
        "page" = MultiPlane::Page, "Pages of the same number in their blocks, or any blocks.";
        "block" = MultiPlane::Block, "As page, with blocks of the same number in their planes.";
    }, or("'none'"), from("data sheets of NAND parts; page alone is the rule of MQSim (FAST 2018)");
    /// When the pages of a multi-plane read are available.
    joint_read_done [parallelism.pages_end_together] one_of {
        "page" = false, "When it has left its die.";
        "command" = true, "When the last of them has.";
    }, or("'page'"), when(&[is("parallelism.multi_plane", &["page", "block"])]),
        from("MBM paper, section I: a read waits for the data of others in its command");
    /// Whether planes read independently of each other.
    independent_plane_reads [parallelism.independent_plane_reads] flag(), or("false"),
        from("Micron data sheets of 3D parts: independent multi-plane reads");
    /// Whether the page of the next program comes in while one runs.
    cache_program [parallelism.cache_program] flag(), or("false"),
        from("data sheets of NAND parts");
}

section! {
    /// Suspension in the part, and when the controller requests it.
    SUSPENSION "suspension"

    /// How a program stops.
    program [suspension.program] one_of {
        "none" = ProgramSuspension::None, "Never.";
        "ips" = ProgramSuspension::Ips, "At the end of the phase in progress.";
        "ipc" = ProgramSuspension::Ipc,
            "The phase is cancelled; a voltage reset later the array is free.";
        "iteration" = ProgramSuspension::Iteration,
            "At the end of the pulse and verify in progress (3D parts).";
        "sliced" = ProgramSuspension::Sliced,
            "At the end of the slice in progress: the program is cut up.";
    }, or("'none'"), from(FAST12_4);
    /// Iterations of a slice.
    slice_iterations [timing.slices??.iterations] count(1, 1_000),
        when(&[is("suspension.program", &["sliced"])]), from("US patent 9,892,794");
    /// Overhead at the start of every slice.
    t_slice_overhead_us [timing.slices?.overhead] us(),
        when(&[is("suspension.program", &["sliced"])]);
    /// Additional iterations of a program after an early suspension and then a long run.
    retention_iterations [suspension.retention.iterations] count(0, 1_000), or("0"), from(Z21);
    /// Early: before this share of the program's undisturbed array time is done.
    retention_first_share [suspension.retention.first_share_ppm] scaled(1e6, closed(0.0, 1.0)),
        or("0.2"), from(Z21);
    /// Long: a later run without a suspension for at least this share of it.
    retention_second_share [suspension.retention.second_share_ppm] scaled(1e6, closed(0.0, 1.0)),
        or("0.7"), from(Z21);
    /// Whether an erase can be suspended.
    erase [suspension.erase] flag(), or("false");
    /// When an erase is suspended.
    erase_mode [suspension.erase_mode] variant_of {
        "immediate" = EraseMode::Immediate => EraseMode::Immediate,
            "The phase is broken off; a voltage reset later it is free.";
        "deferred" = EraseMode::Deferred => EraseMode::Deferred,
            "At the end of the segment in progress; not in the verify.";
        "timeout" = EraseMode::Timeout(_) => EraseMode::Timeout(Dur::ZERO),
            "Immediate up to an age of the erase, deferred from then on.";
    }, or("'immediate'"), from("Kim et al., USENIX ATC 2019, as reported by others");
    /// An erase is suspended as deferred from this long after the end of its command on.
    erase_timeout_us [suspension.erase_mode as EraseMode::Timeout] us(),
        when(&[is("suspension.erase_mode", &["timeout"])]);
    /// The part of the pulse with which a suspended erase resumes.
    erase_resume [suspension.erase_resume] one_of {
        "exact" = EraseResume::Exact, "With the rest of the pulse (Wu and He, FAST 2012).";
        "redo_phase" = EraseResume::RedoPhase, "With the whole of the phase that was broken off.";
        "restart" = EraseResume::Restart, "From the beginning of the pulse (Samsung OneNAND).";
    }, or("'exact'");
    /// Whether the last t_voltage_reset_us of a phase is its reset; else phases have none.
    reset_inside_phase [suspension.reset_inside_phase] flag(), or("true"),
        from("Wu and He, FAST 2012, section 4.1");
    /// Whether the page buffer is restored on the chip; else over the channel (tBUS).
    shadow_buffer [suspension.shadow_buffer] flag(), or("true"), from(FAST12_4);
    /// Whether a request breaks off a restore from the shadow buffer, or a set-up.
    restore [suspension.restore] one_of {
        "atomic" = Restore::Atomic, "Never: the request takes effect at its end.";
        "interruptible" = Restore::Interruptible,
            "It is broken off, and done anew on the next resume.";
    }, or("'atomic'");
    /// From when on the array is free after a read during a suspension.
    resume_at [suspension.resume_at] one_of {
        "data_out" = ResumeAt::DataOut, "When its page has left over the channel.";
        "array_read" = ResumeAt::ArrayRead,
            "At the end of tR; the page waits in a second register.";
    }, or("'data_out'");
    /// Which planes of an operation are suspended for a read.
    multi_plane [parallelism.plane_suspension] one_of {
        "whole" = false, "All: the operation is suspended whole.";
        "plane" = true, "The plane of the read alone; the others go on meanwhile.";
    }, or("'whole'"), from("US patent 11,687,285");
    /// Whether a cancelled program pulse had already brought the cells to their target.
    vth_reached [suspension.vth_reached] one_of {
        "never" = VthReached::Never, "The worst case: the pulse is done again.";
        "always" = VthReached::Always, "The best case: the next iteration follows.";
        "proportional" = VthReached::Proportional,
            "With a probability of the elapsed share of the pulse.";
    }, or("'never'");
    /// Which reads wait for a program that runs or is suspended; an erase holds its block.
    same_block [suspension.same_block] one_of {
        "block" = SameBlock::Block, "Those of its block.";
        "wordline" = SameBlock::Wordline, "Those of its wordline.";
        "page" = SameBlock::Page, "Those of the page, or pages, that it programs.";
    }, or("'wordline'"), from("US patents 11,698,864 (Micron) and 11,138,102 (Intel)");
    /// A program that was suspended this often runs to its end; absent: no limit.
    max_per_program [suspension.max_per_program] count(1, U32), absent(), while_served();
    /// An erase that was suspended this often runs to its end; absent: no limit.
    max_per_erase [suspension.max_per_erase] count(1, U32), absent(), while_served();
    /// An operation that was suspended this often runs to its end; absent: no limit.
    max_per_operation [] count(1, U32), absent(),
        stands_for(&["suspension.max_per_program", "suspension.max_per_erase"]), while_served();
    /// An operation is not suspended again sooner than this after its resume.
    min_progress_us [suspension.min_progress] us(), or("0"), while_served();
    /// Reads after which a suspended operation resumes, though more wait; absent: once none waits.
    reads_per_suspension [suspend_rules.reads_per_suspension] count(1, U32), absent(),
        while_served();
    /// When the controller requests a suspension. The Python package also takes the policy
    /// `NAME` of a program: `FILE.py:NAME` or `MODULE:NAME`.
    policy [suspend_rules.policy] registered(|all| all.suspend_policies.into()), or("'always'"),
        while_served();
    /// An operation with less than this left is not suspended; absent: no such limit. Where
    /// wordlines differ in iterations, the expected remaining time counts.
    min_remaining_us {suspend_rules.parameters} us(), absent(),
        when(&[is("suspension.policy", &["threshold"])]), while_served();
    /// After this much time in suspension an operation runs to its end; absent: no limit.
    max_suspended_us {suspend_rules.parameters} us(), absent(),
        when(&[is("suspension.policy", &["threshold"])]), while_served();
    /// The operations that a host read may suspend.
    host_read_suspends [suspend_rules.host_read_suspends] operations(),
        or("['program', 'gc_program', 'erase']"), while_served();
    /// The operations that the read of a read-modify-write may suspend.
    rmw_read_suspends [suspend_rules.rmw_read_suspends] operations(), or("[]"), while_served();
    /// The operations that a read of garbage collection may suspend.
    gc_read_suspends [suspend_rules.gc_read_suspends] operations(), or("[]"), while_served();
    /// The operations that a host program may suspend, and run inside: `["erase"]` or `[]`.
    host_write_suspends (
        |s| s.suspend_rules.host_write_suspends.value(),
        |s, value, _| {
            s.suspend_rules.host_write_suspends = of(value);
            // The part need not support a suspension that the controller never requests.
            s.suspension.program_in_erase = s.suspend_rules.host_write_suspends.erase;
        }
    ) operations(), or("[]"), from("Wu, Huang and He, Journal of Systems Architecture 60(4), 2014");
}

section! {
    /// When the policy "batch" suspends: for enough reads, or for one that has waited long enough.
    BATCH "suspension.batch"

    /// Suspend once this many reads wait at the die; absent: any number.
    reads {suspend_rules.parameters} count(1, U32), absent(),
        when(&[is("suspension.policy", &["batch"])]),
        from("(N, n) preemption, as in Drekic and Stanford, Queueing Systems 35, 2000"),
        while_served();
    /// Suspend once the oldest of them has waited this long; absent: any time.
    oldest_us {suspend_rules.parameters} us(), absent(),
        when(&[is("suspension.policy", &["batch"])]), while_served();
}

section! {
    /// When the policy "deadline" suspends: at the last instant at which it still saves a read.
    DEADLINE "suspension.deadline"

    /// Latency objective of a read, from its arrival at the die.
    read_slo_us {suspend_rules.parameters} us(), when(&[is("suspension.policy", &["deadline"])]),
        while_served();
    /// Margin for this many reads that may arrive in addition.
    margin_reads {suspend_rules.parameters} count(0, U32), or("0"),
        when(&[is("suspension.policy", &["deadline"])]), while_served();
    /// Reads that a suspension must save at least.
    price {suspend_rules.parameters} closed(0.0, 1e9), or("1"),
        when(&[is("suspension.policy", &["deadline"])]), while_served();
    /// Rise of the price with the programs and erases that wait at the die: it is multiplied by
    /// 1 and this for each of them.
    backlog_weight {suspend_rules.parameters} closed(0.0, 1e9), or("0"),
        when(&[is("suspension.policy", &["deadline"])]), while_served();
}

/// The policies that wait, and wait longer while suspensions exceed their budget.
const WAITING: &[Need] = &[is("suspension.policy", &["batch", "deadline"])];

section! {
    /// The budget of suspensions: every 0.2 s of simulated time the policy becomes more patient if
    /// more was spent, and less if less was.
    BUDGET "suspension.budget"

    /// Suspensions a second, of all dies together; absent: no limit.
    suspensions_per_s {suspend_rules.parameters} above(0.0, 1e9), absent(), when(WAITING),
        while_served();
    /// Cycles of wear that suspensions cost all blocks together in a day; absent: no limit.
    wear_per_day {suspend_rules.parameters} above(0.0, 1e15), absent(), when(WAITING),
        while_served();
    /// Share of the time of all dies for which programs and erases are suspended; absent: no
    /// limit.
    lost_write_share {suspend_rules.parameters} above(0.0, 1.0), absent(), when(WAITING),
        while_served();
}
