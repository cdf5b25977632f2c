//! Submission queues, arbitration, the half-duplex link and PCI Express: every nanosecond by hand.
//!
//! SLC of FAST 2012 on one die: page over the bus 20 us, tR 10, program 20 + 140.

use reprieve_ssd::scenario::{Interface, Pcie};

use super::closed_form::assert_mean;
use super::drive::{self, Outcome, TraceRow};

/// One die without a link.
const SLC: &str = "device = \"fast12-slc\"\npolicy = \"rps\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 64\n\
    [host]\nlink_bytes_per_s = \"none\"\n";

const fn us(us: u64) -> u64 {
    us * 1000
}

/// Reads of neighbouring pages at these times.
fn reads(at_us: &[u64], sets: &[&str]) -> Outcome {
    let rows: Vec<TraceRow> =
        at_us.iter().enumerate().map(|(n, at_us)| (us(*at_us), 'R', 4 * n as u64, 4)).collect();
    drive::replay(SLC, sets, &rows)
}

/// Completions in microseconds, which are whole.
fn done_us(outcome: &Outcome) -> Vec<u64> {
    let done = outcome.rows.iter().map(|row| row.completion_ns);
    done.inspect(|ns| assert_eq!(ns % 1000, 0, "{ns}")).map(|ns| ns / 1000).collect()
}

fn part_us(outcome: &Outcome, name: &str) -> Vec<u64> {
    outcome.rows.iter().map(|row| row.part_ns(name) / 1000).collect()
}

const NVME: &str = "host.interface=nvme";
/// One command at a time, of two queues that take the requests by turns.
const ONE_BY_ONE: [&str; 3] = [NVME, "host.outstanding=1", "host.queues=2"];

#[test]
fn a_request_waits_in_its_queue_until_the_drive_fetches_it() {
    let outcome = reads(&[0, 0, 0, 0], &ONE_BY_ONE);
    assert_eq!(done_us(&outcome), [30, 60, 90, 120]);
    assert_eq!(part_us(&outcome, "host_queue_ns"), [0, 30, 60, 90]);
    assert_eq!(part_us(&outcome, "queue_ns"), [0; 4]);
    assert_eq!(outcome.number("requests.read.components_ns.host_queue"), us(45) as f64);
    // Without queues they wait at the die, and nothing is told of queues.
    let direct = reads(&[0, 0, 0, 0], &[]);
    assert_eq!(done_us(&direct), [30, 60, 90, 120]);
    assert_eq!(part_us(&direct, "queue_ns"), [0, 30, 60, 90]);
    assert!(!direct.summary.to_string().contains("host_queue"));
}

#[test]
fn arbitration_decides_whose_command_is_next() {
    let with = |more: &[&str]| reads(&[0; 6], &[&ONE_BY_ONE[..], more].concat());
    // Queue 0 has requests 0, 2, 4, queue 1 has 1, 3, 5.
    assert_eq!(done_us(&with(&[])), [30, 60, 90, 120, 150, 180]);
    let bursts = with(&["host.arbitration_burst=2"]);
    assert_eq!(done_us(&bursts), [30, 90, 60, 120, 150, 180]);
    let weighted = with(&["host.arbitration=weighted", "host.queue_weights=[1, 2]"]);
    assert_eq!(done_us(&weighted), [30, 60, 120, 90, 180, 150]);
    let one_low = "host.queue_priorities=[\"high\", \"low\"]";
    let classes = ["host.arbitration=weighted-classes", "host.class_weights=[2, 1, 1]", one_low];
    assert_eq!(done_us(&with(&classes)), [30, 90, 60, 150, 120, 180]);
    let urgent = "host.queue_priorities=[\"low\", \"urgent\"]";
    let strict = with(&["host.arbitration=strict-priority", urgent]);
    assert_eq!(done_us(&strict), [120, 30, 150, 60, 180, 90]);
}

#[test]
fn what_arrives_at_one_instant_is_arbitrated_together_and_what_is_fetched_stays() {
    let urgent = "host.queue_priorities=[\"low\", \"urgent\"]";
    let strict = [&ONE_BY_ONE[..], &["host.arbitration=strict-priority", urgent]].concat();
    // The first is under way when the first urgent one comes; the second comes as that one ends.
    assert_eq!(done_us(&reads(&[0, 1, 2, 60], &strict)), [30, 60, 120, 90]);
    assert_eq!(done_us(&reads(&[0, 1, 2, 61], &strict)), [30, 60, 90, 120]);
}

#[test]
fn a_queue_has_so_many_commands_outstanding() {
    // Each queue has one in the drive: the third follows the first, the fourth the second.
    let outcome = reads(&[0; 4], &[NVME, "host.queues=2", "host.queue_entries=1"]);
    assert_eq!(done_us(&outcome), [30, 60, 90, 120]);
    assert_eq!(part_us(&outcome, "host_queue_ns"), [0, 0, 30, 60]);
    assert_eq!(part_us(&outcome, "queue_ns"), [0, 30, 30, 30]);
}

#[test]
fn commands_are_fetched_one_after_the_other() {
    let outcome = reads(&[0, 0], &[NVME, "host.t_command_us=5"]);
    assert_eq!(done_us(&outcome), [35, 65]);
    assert_eq!(part_us(&outcome, "host_queue_ns"), [0, 5]);
    assert_eq!(part_us(&outcome, "link_ns"), [5, 5]);
    assert_eq!(part_us(&outcome, "queue_ns"), [0, 25]);
}

#[test]
fn the_controller_takes_its_time_with_every_command_at_once() {
    // Both reads spend 7 there, and the second waits for its die alone.
    let outcome = reads(&[0, 0], &[NVME, "host.t_controller_us=7"]);
    assert_eq!(done_us(&outcome), [37, 67]);
    assert_eq!(part_us(&outcome, "link_ns"), [7, 7]);
    assert_eq!(part_us(&outcome, "queue_ns"), [0, 30]);
    assert_eq!(done_us(&reads(&[0, 0], &["host.t_controller_us=7"])), [37, 67]);
    // A write takes as long there, unless its own time is given; programmed until 160.
    let rows = [(0, 'W', 0, 4), (200_000, 'R', 16, 4), (300_000, 'D', 8, 4)];
    let with = |sets: &[&str]| done_us(&drive::replay(SLC, sets, &rows));
    assert_eq!(with(&["host.t_controller_us=7"]), [167, 237, 307]);
    let apart = ["host.t_controller_us=7", "host.t_controller_write_us=2"];
    assert_eq!(with(&apart), [162, 237, 302]);
}

#[test]
fn what_sends_no_data_is_not_told_behind_data() {
    // A page takes 100 on the link: the read has its data at 30 and is told at 130 + 5. The trim of
    // 60 sends none.
    let rows = [(0, 'R', 0, 4), (60_000, 'D', 16, 4)];
    let sets = ["host.link_bytes_per_s=20480000", "host.t_controller_us=5"];
    assert_eq!(done_us(&drive::replay(SLC, &sets, &rows)), [135, 65]);
}

#[test]
fn writes_trims_and_flushes_go_through_the_queues() {
    // The write crosses nothing, is programmed until 165, and the trim is done when it is fetched.
    let rows = [(0, 'W', 0, 4), (0, 'D', 8, 4), (0, 'R', 16, 4)];
    let sets = [NVME, "host.t_command_us=5", "host.outstanding=1"];
    let outcome = drive::replay(SLC, &sets, &rows);
    assert_eq!(done_us(&outcome), [165, 170, 205]);
    assert_eq!(part_us(&outcome, "host_queue_ns"), [0, 165, 170]);
    let flushing = "[workload]\ngenerator = \"mixed\"\nrequests = 4\nread_fraction = 0.0\n\
        request_bytes = 2048\nflush_every_requests = 2\nqueue_depth = 4\n";
    let outcome = drive::run(drive::load_with(&format!("{SLC}{flushing}"), &[NVME]));
    // Both writes are in the drive at once; each flush waits for those before it.
    assert_eq!(done_us(&outcome), [160, 160, 320, 320]);
    let outcome = drive::run(drive::load_with(&format!("{SLC}{flushing}"), &sets));
    // With one command at a time nothing is left to flush.
    assert_eq!(done_us(&outcome), [165, 170, 335, 340]);
}

#[test]
fn sata_has_thirty_two_tags() {
    let outcome = reads(&[0; 40], &["host.interface=sata"]);
    let waits = part_us(&outcome, "host_queue_ns");
    assert_eq!(waits[..32], [0; 32]);
    assert_eq!(waits[32..], [30, 60, 90, 120, 150, 180, 210, 240]);
}

#[test]
fn a_half_duplex_link_goes_one_way_at_a_time() {
    // A page takes 10 us. The read has its data at 30, in the middle of the write's.
    let rate = "host.link_bytes_per_s=204800000";
    let run = |sets: &[&str], write_us: u64| {
        let rows = [(0, 'R', 0, 4), (us(write_us), 'W', 32, 4)];
        done_us(&drive::replay(SLC, sets, &rows))
    };
    assert_eq!(run(&[rate], 25), [40, 35 + 160]);
    assert_eq!(run(&[rate, "host.interface=sata"], 25), [45, 35 + 160]);
    // The other way round the write waits.
    assert_eq!(run(&[rate], 32), [40, 42 + 160]);
    assert_eq!(run(&[rate, "host.interface=sata"], 32), [40, 50 + 160]);
}

#[test]
fn generation_and_lanes_give_the_rate() {
    // 2.5 GT/s x 8/10 / 8; 8 GT/s x 4 x 128/130 / 8; 64 GT/s x 4 x 242/256 / 8.
    for (generation, lanes, bytes_per_s) in [
        (1, 1, 250_000_000),
        (2, 4, 2_000_000_000),
        (3, 4, 3_938_461_538),
        (4, 4, 7_876_923_076),
        (5, 2, 7_876_923_076),
        (6, 4, 30_250_000_000),
    ] {
        assert_eq!(Pcie { generation, lanes }.bytes_per_s(), bytes_per_s);
    }
    // 2,048 bytes at 250 MB/s are 8,192 ns; the device's own rate gives way.
    let sets = ["host.pcie_generation=1", "host.pcie_lanes=1"];
    assert_eq!(reads(&[0], &sets).rows[0].latency_ns(), us(30) + 8192);
    // By default four lanes: 2,048 ns.
    assert_eq!(reads(&[0], &sets[..1]).rows[0].latency_ns(), us(30) + 2048);
}

/// Reads of a drive of sixteen dies, at random.
fn poisson(sets: &[&str], rate_iops: f64) -> Outcome {
    let text = format!(
        "device = \"fast12-slc\"\npolicy = \"rps\"\n[host]\nlink_bytes_per_s = \"none\"\n\
         [workload]\ngenerator = \"mixed\"\nrequests = 300000\nread_fraction = 1.0\n\
         request_bytes = 2048\narrivals = \"poisson\"\nrate_iops = {rate_iops}\n"
    );
    drive::run(drive::load_with(&text, sets))
}

fn host_waits(outcome: &Outcome) -> Vec<f64> {
    outcome.rows.iter().map(|row| row.part_ns("host_queue_ns") as f64).collect()
}

#[test]
fn one_command_at_a_time_is_an_m_d_1_queue_at_the_host() {
    // A read takes 30 us: rho = 0.6, and the mean wait is rho s / (2 (1 - rho)) = 22.5 us.
    let outcome = poisson(&[NVME, "host.outstanding=1"], 20_000.0);
    assert_mean("host queue", &host_waits(&outcome), 22_500.0, 0.05);
    assert!(
        outcome.rows.iter().all(|row| row.latency_ns() == row.part_ns("host_queue_ns") + us(30))
    );
    // So does the order of service not change the mean, if it does not know the service.
    let outcome = poisson(&[NVME, "host.outstanding=1", "host.queues=7"], 20_000.0);
    assert_mean("host queue", &host_waits(&outcome), 22_500.0, 0.05);
}

#[test]
fn fetching_is_an_m_d_1_queue() {
    // 5 us: rho = 0.5, and the mean wait is 2.5 us.
    let outcome = poisson(&[NVME, "host.t_command_us=5"], 100_000.0);
    assert_mean("host queue", &host_waits(&outcome), 2_500.0, 0.05);
}

#[test]
fn queues_of_a_closed_load_stay_full() {
    // Four outstanding at one die, one of them in the drive: the others wait at the host.
    let load = "[workload]\ngenerator = \"mixed\"\nrequests = 100\nread_fraction = 1.0\n\
        request_bytes = 2048\nqueue_depth = 4\n";
    let scenario = drive::load_with(&format!("{SLC}{load}"), &[NVME, "host.outstanding=1"]);
    assert!(matches!(scenario.host.interface, Interface::Nvme(_)));
    let outcome = drive::run(scenario);
    assert_eq!(part_us(&outcome, "host_queue_ns")[4..], [90; 96]);
    assert_eq!(outcome.count("device.simulated_ns"), us(3000));
}

/// A byte takes a nanosecond.
const GIGABYTE: &str = "host.link_bytes_per_s=1000000000";
const SMALL_PACKETS: &str = "host.pcie_max_payload_bytes=128";

#[test]
fn each_packet_has_bytes_besides_its_data() {
    // 2,048 bytes: 16 packets of 128 or 8 of 256, each with 24 bytes more.
    let latency = |sets: &[&str]| reads(&[0], &[&[GIGABYTE], sets].concat()).rows[0].latency_ns();
    assert_eq!(latency(&[]), us(30) + 2048);
    assert_eq!(latency(&[SMALL_PACKETS]), us(30) + 2048 + 16 * 24);
    assert_eq!(latency(&["host.pcie_max_payload_bytes=256"]), us(30) + 2048 + 8 * 24);
    let twenty = [SMALL_PACKETS, "host.pcie_packet_bytes=20"];
    assert_eq!(latency(&twenty), us(30) + 2048 + 16 * 20);
    // A packet that is not full has as many: 512 bytes are one and a half of 1,024.
    let part = [(0, 'R', 0, 1)];
    let sets = [GIGABYTE, "host.pcie_max_payload_bytes=1024"];
    assert_eq!(drive::replay(SLC, &sets, &part).rows[0].latency_ns(), us(30) + 512 + 24);
}

const CROSSING: [&str; 3] = [NVME, GIGABYTE, "host.commands_cross_link=true"];

#[test]
fn commands_cross_the_link_besides_data() {
    let with = |sets: &[&str], row| {
        let outcome = drive::replay(SLC, &[&CROSSING[..], sets].concat(), &[row]);
        let part = |name| outcome.rows[0].part_ns(name);
        (outcome.rows[0].latency_ns(), part("host_queue_ns"), part("link_ns"))
    };
    // Doorbell 4, entry 64; 30,000; data 2,048 and completion 16. Asking takes no bytes.
    assert_eq!(with(&[], (0, 'R', 0, 4)), (32_132, 4, 64 + 2048 + 16));
    // A write: asking for the data, which crosses before it is programmed.
    assert_eq!(with(&[], (0, 'W', 0, 4)), (162_132, 4, 64 + 2048 + 16));
    // A trim has no data.
    assert_eq!(with(&[], (0, 'D', 0, 4)), (84, 4, 64 + 16));
    // 24 bytes more for each: doorbell, asking, entry, 16 packets, completion.
    assert_eq!(with(&[SMALL_PACKETS], (0, 'R', 0, 4)).0, 32_132 + 20 * 24);
    // A write asks twice.
    assert_eq!(with(&[SMALL_PACKETS], (0, 'W', 0, 4)).0, 162_132 + 21 * 24);
    assert_eq!(with(&["host.t_command_us=1"], (0, 'R', 0, 4)), (33_132, 4, 1000 + 2128));
}

#[test]
fn a_command_is_asked_for_behind_the_data_of_reads() {
    // The first read has its data at 30,068 and leaves until 32,132. A request of 31,000 rings
    // until 31,004 and asks behind that; the host rings that it has the first until 32,136, and
    // sends the entry until 32,200.
    let rows = [(0, 'R', 0, 4), (31_000, 'R', 4, 4)];
    let outcome = drive::replay(SLC, &CROSSING, &rows);
    let done: Vec<_> = outcome.rows.iter().map(|row| row.completion_ns).collect();
    assert_eq!(done, [32_132, 62_200 + 2064]);
}

#[test]
fn the_next_doorbell_follows_that_of_the_completion_before_it() {
    let load = "[workload]\ngenerator = \"mixed\"\nrequests = 3\nread_fraction = 1.0\n\
        request_bytes = 2048\nqueue_depth = 1\n";
    let outcome = drive::run(drive::load_with(&format!("{SLC}{load}"), &CROSSING));
    let latencies: Vec<_> = outcome.rows.iter().map(|row| row.latency_ns()).collect();
    assert_eq!(latencies, [32_132, 32_136, 32_136]);
}

#[test]
fn flushes_are_answered_across_the_link() {
    // Both ring until 8, entries are in at 72 and 136, data at 2,184, and at 162,184 the page is
    // programmed. Each completion takes 16.
    let load = "[workload]\ngenerator = \"mixed\"\nrequests = 2\nread_fraction = 0.0\n\
        request_bytes = 2048\nflush_every_requests = 2\nqueue_depth = 2\n";
    let outcome = drive::run(drive::load_with(&format!("{SLC}{load}"), &CROSSING));
    let latencies: Vec<_> = outcome.rows.iter().take(2).map(|row| row.latency_ns()).collect();
    assert_eq!(latencies, [162_200, 162_216]);
}

const IN_ORDER: &str = "host.order=in_order";
/// A page takes 10 us.
const SLOW: &str = "host.link_bytes_per_s=204800000";

/// Completions of a trace on a link that keeps requests in order, and on one that does not.
fn both_orders(policy: &str, rows: &[TraceRow]) -> (Vec<u64>, Vec<u64>) {
    let run = |sets: &[&str]| done_us(&drive::replay(SLC, &[&[SLOW, policy], sets].concat(), rows));
    (run(&[IN_ORDER]), run(&[]))
}

#[test]
fn a_read_does_not_overtake_a_write_of_the_same_instant_on_a_link_in_order() {
    // Free: the read is at its die at 0, senses and leaves until 30, crosses until 40; the data of
    // the write is in at 10, and programmed from 30. In order both are at their die at 10.
    let rows = [(0, 'W', 32, 4), (0, 'R', 0, 4)];
    assert_eq!(both_orders("policy=rps", &rows), (vec![200, 50], vec![190, 40]));
    assert_eq!(both_orders("policy=fifo", &rows), (vec![170, 210], vec![190, 40]));
    // The other way round the read goes ahead: its command takes no time.
    let rows = [(0, 'R', 0, 4), (0, 'W', 32, 4)];
    assert_eq!(both_orders("policy=rps", &rows), (vec![40, 190], vec![40, 190]));
    // Its wait for the write's data is time on the link.
    let sets = [SLOW, IN_ORDER];
    let outcome = drive::replay(SLC, &sets, &[(0, 'W', 32, 4), (0, 'R', 0, 4)]);
    assert_eq!(part_us(&outcome, "link_ns"), [10, 20]);
    assert_eq!(part_us(&outcome, "queue_ns"), [30, 0]);
}

#[test]
fn a_link_in_order_carries_one_request_at_a_time() {
    // The first read crosses from 30 to 40. The write waits for it and crosses until 50, and so
    // long waits the command of the read behind it: 50 to 80, and to 90. The program follows it.
    let rows = [(0, 'R', 0, 4), (us(32), 'W', 32, 4), (us(33), 'R', 64, 4)];
    assert_eq!(both_orders("policy=rps", &rows), (vec![40, 240, 90], vec![40, 223, 73]));
    // Two pages of a read are there at 30 and 60, and cross as one; else each as it comes.
    assert_eq!(both_orders("policy=rps", &[(0, 'R', 0, 8)]), (vec![80], vec![70]));
    // Between them the link is free for others.
    let rows = [(0, 'R', 0, 8), (us(35), 'W', 32, 4)];
    assert_eq!(both_orders("policy=rps", &rows).0, [80, 60 + 160]);
}

#[test]
fn trims_and_flushes_keep_their_place_on_a_link_in_order() {
    let rows = [(0, 'W', 0, 4), (0, 'D', 64, 4), (us(1), 'R', 32, 4)];
    // The trim is done when the write has crossed, as is the read's command, which goes first.
    assert_eq!(both_orders("policy=rps", &rows), (vec![200, 10, 50], vec![191, 0, 41]));
    // Write, flush, write, flush: each flush waits for what is ahead of it, and for no more.
    let flushing = "[workload]\ngenerator = \"mixed\"\nrequests = 4\nread_fraction = 0.0\n\
        request_bytes = 2048\nflush_every_requests = 2\nqueue_depth = 4\n";
    let sets = [SLOW, IN_ORDER];
    let outcome = drive::run(drive::load_with(&format!("{SLC}{flushing}"), &sets));
    assert_eq!(done_us(&outcome), [170, 170, 330, 330]);
    assert_eq!(part_us(&outcome, "link_ns"), [10, 10, 20, 20]);
}

#[test]
fn a_link_in_order_takes_requests_as_they_are_fetched() {
    let rows = [(0, 'W', 32, 4), (0, 'R', 0, 4)];
    let run = |sets: &[&str]| drive::replay(SLC, &[&[SLOW, IN_ORDER], sets].concat(), &rows);
    for interface in [NVME, "host.interface=sata"] {
        assert_eq!(done_us(&run(&[interface])), [200, 50], "{interface}");
    }
    // Commands are there at 5 and 10: the write crosses from 5 to 15, and the read comes with it.
    let outcome = run(&[NVME, "host.t_command_us=5"]);
    assert_eq!(done_us(&outcome), [205, 55]);
    assert_eq!(part_us(&outcome, "host_queue_ns"), [0, 5]);
    assert_eq!(part_us(&outcome, "link_ns"), [15, 20]);
}
