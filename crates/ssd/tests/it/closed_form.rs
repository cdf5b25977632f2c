//! Drives simple enough for a formula: latency, throughput, queueing, suspension, amplification.
//!
//! Expected numbers follow from the configuration. Of a mean of random loads the error is estimated
//! by batch means, and the formula has to lie within four standard errors: of twenty batches a
//! right simulator misses that once in more than a thousand seeds, and the seeds are fixed. A
//! second bound on the standard error itself says how wrong a mean could be without being found
//! out.

use reprieve_base::Op;
use reprieve_nand::Timing;
use reprieve_ssd::scenario::{self, Host, Scenario};

use super::drive::{self, Outcome};

/// Batches of a run whose means are taken to be independent.
const BATCHES: usize = 20;
/// Standard errors within which the formula has to lie.
const ERRORS: f64 = 4.0;

/// One SLC die of FAST 2012 on a channel of its own, without link: read 30 us, program 160 us.
///
/// 4096 blocks of 64 pages, of which the runs below write fewer than are free: no collection.
const ONE_DIE: &str = "device = \"fast12-slc\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\n\
    [ftl]\ngc_background = false\nover_provisioning = 0.2\n\
    [host]\nlink_bytes_per_s = \"none\"\n";

fn service_of_read_ns(timing: &Timing) -> f64 {
    (timing.command + timing.read + timing.bus).ns() as f64
}

fn service_of_program_ns(timing: &Timing) -> f64 {
    let iterations = (timing.program_pulse + timing.verify) * u64::from(timing.program_iterations);
    (timing.command + timing.bus + iterations).ns() as f64
}

fn workload(requests: u64, read_fraction: f64, rate_iops: f64) -> String {
    format!(
        "[workload]\ngenerator = \"mixed\"\nrequests = {requests}\n\
         read_fraction = {read_fraction}\nrequest_bytes = 2048\n\
         arrivals = \"poisson\"\nrate_iops = {rate_iops}\n"
    )
}

/// Mean of a run and its standard error, from batches after the first twentieth.
fn batch_means(values: &[f64]) -> (f64, f64) {
    let steady = &values[values.len() / 20..];
    let length = steady.len() / BATCHES;
    let means: Vec<f64> = steady
        .chunks_exact(length)
        .take(BATCHES)
        .map(|batch| batch.iter().sum::<f64>() / length as f64)
        .collect();
    let mean = means.iter().sum::<f64>() / BATCHES as f64;
    let squares = means.iter().map(|batch| (batch - mean).powi(2)).sum::<f64>();
    let error = (squares / (BATCHES * (BATCHES - 1)) as f64).sqrt();
    (mean, error)
}

/// The formula lies within four standard errors of the mean, and those within `share` of it.
pub fn assert_mean(what: &str, values: &[f64], formula: f64, share: f64) {
    assert_mean_between(what, values, (formula, formula), share);
}

/// The same for a formula that is known between two bounds only.
fn assert_mean_between(what: &str, values: &[f64], (low, high): (f64, f64), share: f64) {
    let (mean, error) = batch_means(values);
    assert!(
        ERRORS * error <= share * high,
        "{what}: {mean:.2} ± {error:.2}, too wide for {high:.2}"
    );
    let far = (mean - high).max(low - mean);
    assert!(far <= ERRORS * error, "{what}: {mean:.2} ± {error:.2}, formula {low:.2} to {high:.2}");
}

fn latencies(outcome: &Outcome, op: Op) -> Vec<f64> {
    outcome.of(op).map(|row| row.latency_ns() as f64).collect()
}

/// Time of a request that has the link to itself, and its command's.
fn link_ns(host: &Host, row: &drive::Row) -> u64 {
    let controller = if row.op == Op::Write { host.controller_write } else { host.controller };
    let commands_ns = (host.command + controller).ns();
    // Without a link nothing takes time on it.
    let Some(rate) = host.link_bytes_per_s else { return commands_ns };
    let crossing_ns = |bytes: u64| {
        let more = host.packets.map_or(0, |packets| {
            let full = bytes / u64::from(packets.payload_bytes_max);
            let part = u64::from(full * u64::from(packets.payload_bytes_max) < bytes || bytes == 0);
            (full + part) * u64::from(packets.overhead_bytes)
        });
        ((bytes + more) * 1_000_000_000).div_ceil(rate)
    };
    // Doorbell, request for the entry, entry, request for a write's data, completion.
    let messages: &[u64] = match (host.commands_cross_link, row.op) {
        (false, _) => &[],
        (true, Op::Write) => &[4, 0, 64, 0, 16],
        (true, _) => &[4, 0, 64, 16],
    };
    let messages_ns: u64 = messages.iter().map(|bytes| crossing_ns(*bytes)).sum();
    commands_ns + messages_ns + crossing_ns(row.bytes)
}

#[test]
fn unloaded_latency_is_the_sum_of_its_steps() {
    for device in scenario::devices() {
        let device = device.name;
        let drive = format!(
            "device = \"{device}\"\n[geometry]\nblocks_per_plane = 80\npages_per_block = 64\n\
             [timing]\nwordline_pages = 1\npage_types = \"none\"\n\
             [ftl]\nover_provisioning = 0.3\ngc_background = false\n\
             partial_write = \"read_modify_write\"\n[zones]\nmodel = \"none\"\n\
             [slc_cache]\nmode = \"none\"\n\
             [channel]\ntransfer_unit_bytes = \"none\"\n\
             [buffer]\nacknowledge = \"through\"\n\
             [workload]\ngenerator = \"mixed\"\nrequests = 500\nread_fraction = 0.5\n\
             arrivals = \"fixed\"\nrate_iops = 100\n"
        );
        let page_bytes = drive::load(&drive).geometry.page_bytes;
        let sizes = format!("{drive}request_bytes = [[512, 1], [{page_bytes}, 1]]");
        let unit = format!("ftl.mapping_bytes={page_bytes}");
        // Decoding takes a time that depends on what is wrong.
        let decodes = drive::load(&drive).ecc.is_some();
        let sets = [&*unit, "ecc.code=none"];
        let scenario = drive::load_with(&sizes, if decodes { &sets } else { &sets[..1] });
        let timing = scenario.timing;
        let host = scenario.host.clone();
        let (read_ns, program_ns) =
            (service_of_read_ns(&timing) as u64, service_of_program_ns(&timing) as u64);
        let outcome = drive::run(scenario);
        for row in &outcome.rows {
            let link_ns = link_ns(&host, row);
            let flash_ns = match row.op {
                Op::Read => read_ns,
                // The rest of the page is read first.
                _ if row.bytes < u64::from(page_bytes) => read_ns + program_ns,
                _ => program_ns,
            };
            assert_eq!(row.latency_ns(), link_ns + flash_ns, "{device}: {row:?}");
        }
    }
}

#[test]
fn saturated_reads_run_at_the_slowest_of_array_bus_and_link() {
    const READS: u64 = 4000;
    // tR and the link's rate: bound by the array, the bus, one after the other, the link.
    let bounds = [(100, None), (10, None), (30, None), (5, Some(20_000_000))];
    for (dies, (read_us, link)) in (1..=4).flat_map(|dies| bounds.map(|bound| (dies, bound))) {
        let link_toml = link.map_or("\"none\"".to_string(), |rate: u64| rate.to_string());
        let scenario = drive::load(&format!(
            "device = \"fast12-slc\"\npolicy = \"rps\"\n\
             [geometry]\nchannels = 1\ndies_per_channel = {dies}\nblocks_per_plane = 64\n\
             [timing]\nt_read_us = {read_us}\n[host]\nlink_bytes_per_s = {link_toml}\n\
             [workload]\ngenerator = \"mixed\"\nrequests = {READS}\nread_fraction = 1.0\n\
             request_bytes = 2048\naddresses = \"sequential\"\nqueue_depth = 64\n"
        ));
        let page_bytes = f64::from(scenario.geometry.page_bytes);
        let (die_ns, bus_ns) =
            (service_of_read_ns(&scenario.timing), scenario.timing.bus.ns() as f64);
        let link_ns = link.map_or(0.0, |rate| page_bytes * 1e9 / rate as f64);
        // Time that a page takes of each; the slowest is never idle once all have begun.
        let page_ns = (die_ns / f64::from(dies)).max(bus_ns).max(link_ns);
        let outcome = drive::run(scenario);
        // At both ends the slowest waits for a page to come through the others.
        let ends_ns = 2.0 * (die_ns + link_ns) + f64::from(dies) * bus_ns;
        let late_ns = outcome.number("device.simulated_ns") - page_ns * READS as f64;
        assert!(
            (0.0..=ends_ns).contains(&late_ns),
            "{dies} dies, tR {read_us}, link {link:?}: {late_ns} ns late"
        );
    }
}

#[test]
fn one_die_without_a_queue_is_idle_when_the_drive_is() {
    let text = format!("policy = \"rps\"\n{ONE_DIE}{}", workload(20_000, 1.0, 10_000.0));
    let scenario = drive::load(&text);
    let timing = scenario.timing;
    let outcome = drive::run(scenario);
    let simulated_ns = outcome.number("device.simulated_ns");
    let reads = outcome.number("flash.host_reads");
    let close = |key: &str, want: f64| {
        let got = outcome.number(&format!("device.{key}"));
        assert!((got - want).abs() < 1e-9, "{key} = {got}, {want} by hand");
    };
    let busy = reads * service_of_read_ns(&timing) / simulated_ns;
    close("die_busy_share", busy);
    close("idle_share", 1.0 - busy);
    close("channel_busy_share", reads * timing.bus.ns() as f64 / simulated_ns);
}

#[test]
fn fifo_reads_wait_as_in_an_m_d_1_queue() {
    // Mean wait of Poisson arrivals at a server of constant time S: rho S / (2 (1 - rho)).
    for (rho, share) in [(0.3, 0.03), (0.6, 0.05), (0.9, 0.25)] {
        let service_ns =
            service_of_read_ns(&drive::load(&format!("{ONE_DIE}{}", workload(1, 1.0, 1.0))).timing);
        let rate = rho / (service_ns * 1e-9);
        let text = format!("policy = \"fifo\"\n{ONE_DIE}{}", workload(400_000, 1.0, rate));
        let outcome = drive::run_text(&text);
        let waits: Vec<f64> =
            latencies(&outcome, Op::Read).iter().map(|ns| ns - service_ns).collect();
        let formula = rho * service_ns / (2.0 * (1.0 - rho));
        assert_mean(&format!("wait at rho {rho}"), &waits, formula, share);
    }
}

/// Reads and programs of one die, with the rates that give them these shares of its time.
struct TwoClasses {
    outcome: Outcome,
    /// Reads, programs.
    service_ns: [f64; 2],
    rho: [f64; 2],
    rate_per_ns: [f64; 2],
}

impl TwoClasses {
    fn run(text: &str, rho: [f64; 2], requests: u64) -> TwoClasses {
        let any = drive::load(&format!("{text}{}", workload(1, 0.5, 1.0)));
        let service_ns = [service_of_read_ns(&any.timing), service_of_program_ns(&any.timing)];
        let rate_per_ns = [rho[0] / service_ns[0], rho[1] / service_ns[1]];
        let rate = rate_per_ns[0] + rate_per_ns[1];
        let load = workload(requests, rate_per_ns[0] / rate, rate * 1e9);
        let scenario = drive::load(&format!("{text}{load}"));
        assert_no_collection(&scenario, requests as f64 * rate_per_ns[1] / rate);
        let outcome = drive::run(scenario);
        assert_eq!(outcome.count("flash.erases"), 0);
        // A read of a page that is just being written is answered from the buffer, at once. At so
        // few the mean cannot tell.
        assert!(outcome.number("device.buffer_hits") < 1e-4 * requests as f64);
        TwoClasses { outcome, service_ns, rho, rate_per_ns }
    }

    /// Mean work found at the die by an arrival: W0 of Cobham.
    fn residual_ns(&self) -> f64 {
        let class = |index: usize| self.rate_per_ns[index] * self.service_ns[index].powi(2) / 2.0;
        class(0) + class(1)
    }

    fn waits(&self, op: Op) -> Vec<f64> {
        let service_ns = self.service_ns[usize::from(op == Op::Write)];
        latencies(&self.outcome, op).iter().map(|ns| ns - service_ns).collect()
    }
}

/// Every program goes to a page that is free from the beginning.
fn assert_no_collection(scenario: &Scenario, programs: f64) {
    let free = scenario.geometry.pages() as f64;
    assert!(1.1 * programs < free, "{programs} programs on {free} pages");
}

#[test]
fn reads_and_programs_share_a_die_in_order() {
    // M/G/1: both classes wait for the same W0 / (1 - rho).
    let both = TwoClasses::run(&format!("policy = \"fifo\"\n{ONE_DIE}"), [0.15, 0.45], 400_000);
    let formula = both.residual_ns() / (1.0 - both.rho[0] - both.rho[1]);
    assert_mean("FIFO read wait", &both.waits(Op::Read), formula, 0.06);
    assert_mean("FIFO write wait", &both.waits(Op::Write), formula, 0.06);
}

#[test]
fn read_priority_follows_cobham() {
    // Two classes without preemption (Cobham 1954).
    let both = TwoClasses::run(&format!("policy = \"rps\"\n{ONE_DIE}"), [0.15, 0.45], 400_000);
    let reads = both.residual_ns() / (1.0 - both.rho[0]);
    assert_mean("RPS read wait", &both.waits(Op::Read), reads, 0.03);
    let writes = reads / (1.0 - both.rho[0] - both.rho[1]);
    assert_mean("RPS write wait", &both.waits(Op::Write), writes, 0.06);
    // The same in other words: the die is busy for rho, by Little's law.
    let busy = both.outcome.number("device.die_busy_share");
    assert!((busy - 0.6).abs() < 0.01, "{busy}");
}

/// One die whose programs can be suspended at once and without cost: 1000 phases, nothing to reset,
/// nothing to restore, no time on the bus.
const IDEAL_TIMES: &str = "\
    [timing]\nt_bus_us = 0\nt_read_us = 30\nprogram_iterations = 1000\nt_program_pulse_us = 0.16\n\
    t_verify_us = 0\nt_voltage_reset_us = 0\nt_buffer_us = 0\n";

#[test]
fn ideal_suspension_is_preemptive_resume() {
    let both = TwoClasses::run(
        &format!("policy = \"pes-ips\"\n{ONE_DIE}{IDEAL_TIMES}"),
        [0.15, 0.45],
        400_000,
    );
    let ([s1, s2], [rho1, rho2]) = (both.service_ns, both.rho);
    let phase_ns = s2 / 1000.0;
    let read_wait = both.rate_per_ns[0] * s1 * s1 / (2.0 * (1.0 - rho1));
    // A read may have to wait for the end of a phase.
    let reads = (read_wait, read_wait + phase_ns);
    assert_mean_between("read wait", &both.waits(Op::Read), reads, 0.05);
    let write_latency =
        s2 / (1.0 - rho1) + both.residual_ns() / ((1.0 - rho1) * (1.0 - rho1 - rho2));
    let latencies = latencies(&both.outcome, Op::Write);
    assert_mean("write latency", &latencies, write_latency, 0.05);

    // A program is suspended by each read that arrives while it runs.
    let programs = both.outcome.number("flash.host_programs");
    let suspensions = both.outcome.number("flash.suspensions.program") / programs;
    let mean = both.rate_per_ns[0] * s2;
    // Of n Poisson counts of that mean the average has a variance of mean / n, of n draws with
    // probability p the share one of p (1 - p) / n. A read that comes within the last phase, one of
    // a thousand, finds that the program ends by itself.
    let error = ERRORS * (mean / programs).sqrt() + mean / 1000.0;
    assert!((suspensions - mean).abs() < error, "{suspensions} suspensions, {mean} by formula");
    let share = both.outcome.number("flash.suspended_share.program");
    let formula = 1.0 - (-mean).exp();
    let error = ERRORS * (formula * (1.0 - formula) / programs).sqrt() + mean / 1000.0;
    assert!((share - formula).abs() < error, "{share} suspended, {formula} by formula");
}

/// Mean time from a random instant of a program's phases until the array is free.
///
/// `wait` gives mean and mean square of it within one phase of a length.
fn over_phases(timing: &Timing, wait: impl Fn(f64) -> (f64, f64)) -> (f64, f64) {
    let phases = [timing.program_pulse.ns() as f64, timing.verify.ns() as f64];
    let whole: f64 = phases.iter().sum();
    let share = |pick: fn((f64, f64)) -> f64| {
        phases.iter().map(|length| length / whole * pick(wait(*length))).sum()
    };
    (share(|wait| wait.0), share(|wait| wait.1))
}

/// Within a phase, until it ends: uniform.
fn until_end(length_ns: f64) -> (f64, f64) {
    (length_ns / 2.0, length_ns * length_ns / 3.0)
}

/// Within a phase, until it ends or until a reset has ended, whatever is first.
fn until_reset(length_ns: f64, reset_ns: f64) -> (f64, f64) {
    let last = reset_ns / length_ns;
    let (mean, square) = until_end(reset_ns);
    ((1.0 - last) * reset_ns + last * mean, (1.0 - last) * reset_ns.powi(2) + last * square)
}

#[test]
fn a_suspension_takes_the_rest_of_a_phase() {
    // FAST 2012, equation 1: (Tp^2 + Tv^2) / (2 (Tp + Tv)), 8.29 us for SLC; with cancellation at
    // most a reset. Reads are so few that they nearly never meet each other.
    for policy in ["pes-ips", "pes-ipc"] {
        let text = format!("policy = \"{policy}\"\n{ONE_DIE}");
        let both = TwoClasses::run(&text, [0.006, 0.3], 190_000 * 10 / 9);
        let timing = drive::load(&format!("{text}{}", workload(1, 0.5, 1.0))).timing;
        let reset_ns = timing.voltage_reset.ns() as f64;
        let phase = match policy {
            "pes-ips" => over_phases(&timing, until_end),
            _ => over_phases(&timing, |length| until_reset(length, reset_ns)),
        };
        let data_in = until_end(timing.bus.ns() as f64);
        let bus = timing.bus.ns() as f64 / both.service_ns[1];
        let found = bus * data_in.0 + (1.0 - bus) * phase.0;
        // An M/G/1 queue whose busy period begins with a set-up: the die's time until it is free.
        // What a suspension adds to the programs' share of time is within the tolerance: at most
        // one read in fifty programs, and a fifth of a program each.
        let busy = both.rho[1] / (1.0 - both.rho[0]);
        let read_wait =
            both.rate_per_ns[0] * both.service_ns[0].powi(2) / (2.0 * (1.0 - both.rho[0]));
        let squares = bus * data_in.1 + (1.0 - bus) * phase.1;
        let (d1, d2, rate) = (busy * found, busy * squares, both.rate_per_ns[0]);
        let formula = read_wait + (2.0 * d1 + rate * d2) / (2.0 * (1.0 + rate * d1));
        assert_mean_between(policy, &both.waits(Op::Read), (formula, 1.01 * formula), 0.15);
    }
}

/// Write amplification of greedy collection in the limit of many blocks of `pages` pages, with
/// `alpha` physical pages for each logical one.
///
/// Mean-field equation of Van Houdt (SIGMETRICS 2013) with d to infinity: a share c / k of the
/// blocks has k valid pages, from the full ones down to level j, where the blocks are exhausted.
fn greedy_amplification(alpha: f64, pages: u32) -> f64 {
    let (full, valid) = (f64::from(pages), f64::from(pages) / alpha);
    for level in (0..pages).rev() {
        let above: f64 = (level + 1..=pages).map(|k| 1.0 / f64::from(k)).sum();
        let level = f64::from(level);
        // Shares add up to 1 and valid pages to `valid`; c is what is left to choose.
        let c = (valid - level) / (full - level - level * above);
        let rest = 1.0 - c * above;
        if c > 0.0 && rest >= 0.0 && rest * level <= c {
            // c = valid / w with w host writes for each collection, and A = pages / w.
            return full * c / valid;
        }
    }
    panic!("no level holds the rest of the blocks at alpha {alpha}");
}

/// Where a falling function crosses zero.
fn root(mut low: f64, mut high: f64, falling: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if falling(middle) > 0.0 { low = middle } else { high = middle }
    }
    low
}

/// The same for the emptiest of `choices` blocks drawn at random.
///
/// With S_k the share of blocks with at least k valid pages a victim has fewer than k with
/// probability p_k = (1 - S_k^d) / (1 - S_b^d) if a set from which nothing is gained is drawn
/// `again`, and without the divisor if it is taken, as Van Houdt has it. As many blocks come back
/// full as host writes, w for each victim, take from k to k - 1: p_k = w k (S_k - S_(k+1)) / valid.
/// A victim gains w pages.
fn d_choices_amplification(alpha: f64, pages: u32, choices: i32, again: bool) -> f64 {
    let valid = f64::from(pages) / alpha;
    let gained = |writes: f64| {
        let gainless = (valid / (writes * f64::from(pages))).powi(choices);
        let some = if again { 1.0 - gainless } else { 1.0 };
        let below = |at_least: f64| (1.0 - at_least.powi(choices)) / some;
        let mut at_least = 0.0;
        let mut gained = 0.0;
        for level in (1..=pages).rev() {
            let taken = valid / (writes * f64::from(level));
            at_least = root(at_least, 1.0, |next| taken * below(next) - (next - at_least));
            gained += below(at_least);
        }
        gained
    };
    let pages = f64::from(pages);
    pages / root(pages / alpha / 10.0, pages, |writes| gained(writes) - writes)
}

/// The same for the block that was filled longest ago, of any size (Desnoyers, SYSTOR 2012): a
/// share u = e^(-(1 - u) alpha) of its pages is still valid.
fn fifo_amplification(alpha: f64) -> f64 {
    let valid = root(0.0, 1.0 - 1e-9, |u| (-(1.0 - u) * alpha).exp() - u);
    1.0 / (1.0 - valid)
}

#[test]
fn the_mean_field_equations_give_their_known_values() {
    // Rows of their tables for 64 pages: over-provisioning of 7 and 30 % of the user's space, 15
    // and 30 % of the whole.
    let known = [
        (1.07, 7.010, 10.28, 7.323, 7.817),
        (1.3, 2.293, 3.085, 2.357, 2.364),
        (1.0 / 0.85, 3.354, 4.648, 3.464, 3.519),
        (1.0 / 0.7, 1.833, 2.413, 1.880, 1.876),
    ];
    for (alpha, greedy, two, ten, fifo) in known {
        let close = |got: f64, known: f64, share: f64| {
            assert!((got / known - 1.0).abs() < share, "{got} at alpha {alpha}, {known} known");
        };
        close(greedy_amplification(alpha, 64), greedy, 0.0003);
        close(d_choices_amplification(alpha, 64, 2, false), two, 0.0003);
        close(d_choices_amplification(alpha, 64, 10, false), ten, 0.0003);
        close(fifo_amplification(alpha), fifo, 0.0003);
    }
}

type Amplification = fn(f64) -> f64;

/// One plane of 1024 blocks of 64 pages, written at random without background collection.
const ONE_PLANE: &str = "device = \"fast12-slc\"\npolicy = \"rps\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 1024\n\
    [ftl]\nover_provisioning = 0.2\ngc_background = false\nprecondition = \"steady\"\n\
    [workload]\ngenerator = \"mixed\"\nrequests = 200000\nread_fraction = 0.0\n\
    request_bytes = 2048\nqueue_depth = 4\n";

#[test]
fn a_front_of_moved_pages_and_bad_blocks_only_take_spare_pages() {
    // Uniform writes: moved pages are rewritten as soon as others, wherever they lie. Half of their
    // open block holds data on average. Of bad blocks, none does.
    for (set, share, open_blocks) in
        [("ftl.gc_stream=separate", 0.0, 1.5), ("ftl.factory_bad_share=0.04", 0.04, 1.0)]
    {
        let scenario = drive::load_with(ONE_PLANE, &[set]);
        let logical = f64::from(scenario.logical_pages());
        let reserve = f64::from(scenario.ftl.gc_hard_free_blocks);
        let outcome = drive::run(scenario);
        let bad = outcome.summary["flash"]["bad_blocks"]["factory"].as_f64().unwrap_or(0.0);
        // Of 1024 draws: four deviations on either side.
        let deviation = (1024.0f64 * share * (1.0 - share)).sqrt();
        assert!((bad - 1024.0 * share).abs() <= 4.0 * deviation, "{bad} bad blocks");
        let holding = (1024.0 - bad - reserve - open_blocks) * 64.0;
        let formula = greedy_amplification(holding / logical, 64);
        let got = outcome.number("flash.gc_waf");
        assert!((got / formula - 1.0).abs() < 0.01, "{set}: {got}, {formula} by theory");
    }
}

#[test]
fn hot_and_cold_apart_are_amplified_as_if_all_were_alike() {
    // A fifth of the pages get nine tenths of the writes. Apart, each part is a system of uniform
    // writes. Greedy collection takes victims as full of either, and how full they are follows
    // from the spare pages of a system alone: so both have the same share, and amplify as
    // uniform writes to the whole drive. What is told apart by age is wrong now and then, for a
    // page's intervals are random, until the page is moved.
    let load =
        ["workload.addresses=hot-cold", "workload.hot_share=0.2", "workload.hot_fraction=0.9"];
    let small = ["geometry.blocks_per_plane=256", "workload.requests=1000000"];
    let mixed = drive::load_with(ONE_PLANE, &[&load[..], &small].concat());
    let logical = f64::from(mixed.logical_pages());
    let mixed = drive::run(mixed).number("flash.gc_waf");
    let apart = ["ftl.stream=hot-cold", "ftl.hot_window_share=1"];
    let apart = drive::run(drive::load_with(ONE_PLANE, &[&load[..], &small, &apart].concat()));
    let apart = apart.number("flash.gc_waf");
    let formula = greedy_amplification((256.0 - 2.0 - 1.5) * 64.0 / logical, 64);
    assert!((apart / formula - 1.0).abs() < 0.04, "{apart} apart, {formula} by theory");
    assert!(mixed > 1.1 * apart, "{mixed} mixed, {apart} apart");
}

#[test]
fn uniform_random_writes_are_amplified_as_theory_predicts() {
    const BLOCKS: u32 = 1024;
    const PAGES: u32 = 64;
    let policies: [(&str, Amplification); 5] = [
        ("gc_victim = \"greedy\"", |alpha| greedy_amplification(alpha, PAGES)),
        ("gc_victim = \"fifo\"", fifo_amplification),
        ("gc_victim = \"d-choices\"", |alpha| d_choices_amplification(alpha, PAGES, 10, true)),
        ("gc_victim = \"d-choices\"\ngc_choices = 2", |alpha| {
            d_choices_amplification(alpha, PAGES, 2, true)
        }),
        ("gc_victim = \"random\"", |alpha| d_choices_amplification(alpha, PAGES, 1, true)),
    ];
    for (over_provisioning, (policy, amplification)) in
        [0.3 / 1.3, 0.15].into_iter().flat_map(|share| policies.map(|policy| (share, policy)))
    {
        let text = format!(
            "device = \"fast12-slc\"\npolicy = \"rps\"\n\
             [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = {BLOCKS}\n\
             [ftl]\nover_provisioning = {over_provisioning}\ngc_background = false\n\
             {policy}\nprecondition = \"steady\"\n\
             [workload]\ngenerator = \"mixed\"\nrequests = 200000\nread_fraction = 0.0\n\
             request_bytes = 2048\nqueue_depth = 4\n"
        );
        let scenario = drive::load(&text);
        assert_eq!(scenario.geometry.pages_per_block, PAGES);
        // When a victim is chosen the reserve is free and one block has just been opened: only the
        // others hold the data.
        let reserve = scenario.ftl.gc_hard_free_blocks;
        let holding = f64::from((BLOCKS - reserve - 1) * PAGES);
        let alpha = holding / f64::from(scenario.logical_pages());
        let outcome = drive::run(scenario);
        let (got, formula) = (outcome.number("flash.gc_waf"), amplification(alpha));
        // Published simulations of the equation agree within 0.4 %; ours writes the drive three
        // times over, which leaves as much again to chance and to the start. Victims drawn one by
        // one differ the most: over seeds the deviation is 0.8 %.
        let share = if policy.contains("random") { 0.03 } else { 0.01 };
        assert!(
            (got / formula - 1.0).abs() < share,
            "{policy}: {got} at alpha {alpha}, {formula} by theory"
        );
        // Of each block erased, what was valid was moved.
        let erases = outcome.number("flash.erases");
        let moved = outcome.number("flash.gc_programs");
        let victims = moved / (erases * f64::from(PAGES));
        assert!((victims - (1.0 - 1.0 / got)).abs() < 0.001, "{victims} of a victim was valid");
    }
}

#[test]
fn units_of_a_page_are_amplified_as_pages_of_their_size() {
    // Blocks of 16 pages of four units: as of 64 pages, as what is moved fills its pages.
    const SLOTS: u32 = 64;
    let policies: [(&str, Amplification); 3] = [
        ("ftl.gc_victim=greedy", |alpha| greedy_amplification(alpha, SLOTS)),
        ("ftl.gc_choices=10", |alpha| d_choices_amplification(alpha, SLOTS, 10, true)),
        ("ftl.gc_choices=2", |alpha| d_choices_amplification(alpha, SLOTS, 2, true)),
    ];
    let page = ["geometry.page_bytes=8192", "geometry.pages_per_block=16"];
    let own = ["ftl.mapping_bytes=2048", "buffer.acknowledge=back", "buffer.bytes=65536"];
    for (over_provisioning, (policy, amplification)) in
        ["0.23", "0.15"].into_iter().flat_map(|share| policies.map(|policy| (share, policy)))
    {
        let spare = format!("ftl.over_provisioning={over_provisioning}");
        let victim = if policy.contains("choices") { "ftl.gc_victim=d-choices" } else { policy };
        let sets = [&page[..], &own, &[&spare, victim, policy]].concat();
        let scenario = drive::load_with(ONE_PLANE, &sets);
        let reserve = scenario.ftl.gc_hard_free_blocks;
        let holding = f64::from((1024 - reserve - 1) * SLOTS);
        let alpha = holding / f64::from(scenario.logical_pages());
        let outcome = drive::run(scenario);
        let formula = amplification(alpha);
        let (by_pages, in_bytes) = (outcome.number("flash.gc_waf"), outcome.number("flash.waf"));
        for got in [by_pages, in_bytes] {
            assert!((got / formula - 1.0).abs() < 0.01, "{sets:?}: {got}, {formula} by theory");
        }
        let programs = outcome.number("flash.programs");
        let padded = outcome.number("flash.padded_units") / (4.0 * programs);
        assert!(padded < 0.001, "{sets:?}: {padded} of the units are padding");
    }
}

#[test]
fn writes_fill_a_die_to_the_last_nanosecond() {
    // Closed loop of programs: the die is always at work, one program after the other.
    let text = format!(
        "policy = \"fifo\"\n{ONE_DIE}[workload]\ngenerator = \"mixed\"\nrequests = 10000\n\
         read_fraction = 0.0\nrequest_bytes = 2048\nqueue_depth = 8\n"
    );
    let scenario = drive::load(&text);
    let program_ns = service_of_program_ns(&scenario.timing);
    let page_bytes = u64::from(scenario.geometry.page_bytes);
    let outcome = drive::run(scenario);
    assert_eq!(outcome.number("device.simulated_ns"), 10_000.0 * program_ns);
    assert_eq!(outcome.number("device.die_busy_share"), 1.0);
    assert_eq!(outcome.number("device.idle_share"), 0.0);
    // Eight outstanding, one at a time: each waits for seven before it, Little's law to the letter.
    let steady = outcome.rows.iter().skip(8);
    assert!(steady.into_iter().all(|row| row.latency_ns() as f64 == 8.0 * program_ns));
    let bytes_per_s = page_bytes as f64 / (program_ns * 1e-9);
    let got = outcome.number("device.bandwidth_bytes_per_s");
    assert!((got / bytes_per_s - 1.0).abs() < 1e-9, "{got} bytes/s of {bytes_per_s}");
}

#[test]
fn reads_of_exponential_length_on_one_die_queue_as_mm1() {
    // One server: with tR = 10 us alone, at 60,000 a second, it is used to 0.6. M/M/1: the mean
    // time in the system is 10 / (1 - 0.6) = 25 us.
    let text = format!(
        "{ONE_DIE}[timing]\nt_bus_us = 0\nread_law = \"exponential\"\n{}",
        workload(400_000, 1.0, 60_000.0)
    );
    let outcome = drive::run(drive::load(&text));
    assert_mean("M/M/1", &latencies(&outcome, Op::Read), 25_000.0, 0.05);
}

#[test]
fn a_closed_load_on_dies_of_exponential_reads_is_a_closed_queueing_network() {
    // 4 dies of one service time and equal shares, 8 requests: of the N - 1 others that a request
    // meets, a share of 1 / 4 is at its die, so that it takes 10 x (1 + 7 / 4) us (arrival theorem
    // of Reiser and Lavenberg, Journal of the ACM, 1980, for a balanced network).
    let text = "device = \"fast12-slc\"\npolicy = \"rps\"\n\
        [geometry]\nchannels = 4\nplanes_per_die = 1\nblocks_per_plane = 64\n\
        [timing]\nt_bus_us = 0\nread_law = \"exponential\"\n\
        [host]\nlink_bytes_per_s = \"none\"\n\
        [workload]\ngenerator = \"mixed\"\nrequests = 400000\nread_fraction = 1\n\
        request_bytes = 2048\narrivals = \"closed\"\nqueue_depth = 8\n";
    let outcome = drive::run(drive::load(text));
    assert_mean("closed network", &latencies(&outcome, Op::Read), 27_500.0, 0.02);
    let fixed = drive::run(drive::load(&text.replace("exponential", "fixed")));
    let mean_ns = latencies(&fixed, Op::Read).iter().sum::<f64>() / 400_000.0;
    // By more than the bound above.
    assert!(mean_ns < 0.98 * 27_500.0, "reads of one length wait less: {mean_ns}");
}
