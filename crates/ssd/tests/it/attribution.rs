//! Wait attribution: loads in which one cause must own a wait, calculated by hand.
//!
//! SLC of FAST 2012 without a link: read 10 and out 20, program 20 and five iterations of pulse 20
//! and verify 8, erase 1508, restore 3. All times in microseconds unless they say ns.

use super::drive::{self, Outcome, TraceRow};

/// One die of one plane; the user has pages 0 to 31, four a block, and eight blocks are free.
const DRIVE: &str = "device = \"fast12-slc\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 16\npages_per_block = 4\n\
    [ftl]\nover_provisioning = 0.5\nprecondition = \"sequential\"\n\
    [host]\nlink_bytes_per_s = \"none\"\n";

/// Two dies, each with a channel of its own: even pages are on die 0.
const TWO: [&str; 1] = ["geometry.channels=2"];

const IPS: &str = "policy=pes-ips";

/// When a request comes, `R` or `W`, and its page.
type Asked = (u64, char, u64);

type Causes = Vec<(&'static str, u64)>;

fn run(sets: &[&str], asked: &[Asked]) -> Outcome {
    let rows: Vec<TraceRow> =
        asked.iter().map(|(at, op, page)| (at * 1000, *op, page * 4, 4)).collect();
    drive::replay(DRIVE, sets, &rows)
}

/// Of each request: when it was done, and what it waited behind, in ns.
fn told(outcome: &Outcome) -> Vec<(u64, Causes)> {
    let rows = outcome.rows.iter();
    rows.map(|row| (row.completion_ns / 1000, row.causes())).collect()
}

fn causes(sets: &[&str], asked: &[Asked]) -> Vec<(u64, Causes)> {
    told(&run(sets, asked))
}

#[test]
fn a_read_behind_a_program_of_the_host() {
    // The program ends at 160, the first read at 190.
    let asked = [(0, 'W', 0), (50, 'R', 20), (60, 'R', 24)];
    let reversed = vec![("host_read", 30_000), ("host_program", 100_000)];
    assert_eq!(
        causes(&["policy=fifo"], &asked),
        [(160, vec![]), (190, vec![("host_program", 110_000)]), (220, reversed)]
    );
}

#[test]
fn reads_and_writes_behind_a_read() {
    let asked = [(0, 'R', 20), (10, 'R', 24), (20, 'W', 0)];
    let expected =
        vec![(30, vec![]), (60, vec![("host_read", 20_000)]), (220, vec![("host_read", 40_000)])];
    assert_eq!(causes(&["policy=rps"], &asked), expected);
}

#[test]
fn an_operation_on_its_way_into_suspension() {
    // The second pulse is from 48 to 68; the read is out at 98, restore to 101, verify and three
    // iterations to 193.
    let asked = [(0, 'W', 0), (61, 'R', 20)];
    let expected = vec![(193, vec![("host_read", 30_000)]), (98, vec![("suspend_entry", 7_000)])];
    assert_eq!(causes(&[IPS], &asked), expected);
}

#[test]
fn a_read_of_the_block_that_is_programmed() {
    let asked = [(0, 'W', 0), (200, 'W', 1), (261, 'R', 0)];
    let of_read = |sets: &[&str]| causes(sets, &asked).remove(2);
    let block = "suspension.same_block=block";
    assert_eq!(of_read(&[IPS, block]), (390, vec![("same_block", 99_000)]));
    // The pulse ends at 268.
    assert_eq!(of_read(&[IPS]), (298, vec![("suspend_entry", 7_000)]));
    // At 355 the last verify runs: what would have stopped at 261 is the block's to the end.
    let two = [(0, 'W', 0), (200, 'W', 1), (261, 'R', 0), (355, 'R', 0)];
    let behind = vec![("host_read", 30_000), ("same_block", 5_000)];
    let rows = causes(&[IPS, block], &two);
    assert_eq!(rows[2..], [(390, vec![("same_block", 99_000)]), (420, behind)]);
    // It would not be suspended for any other read either.
    assert_eq!(of_read(&["policy=rps", block]), (390, vec![("host_program", 99_000)]));
    // Nor by a policy that wants 300 left of it.
    let threshold = ["suspension.policy=threshold", "suspension.min_remaining_us=300"];
    let sets = [&[IPS, block][..], &threshold].concat();
    assert_eq!(of_read(&sets), (390, vec![("host_program", 99_000)]));
    // The read beside it that is not barred is served from 268 to 298, the program goes on to 393.
    let beside = [(0, 'W', 0), (200, 'W', 1), (250, 'R', 0), (261, 'R', 20)];
    let rows = causes(&[IPS, block], &beside);
    let parts = [("host_read", 30_000), ("suspend_entry", 7_000)];
    assert_eq!(rows[3], (298, vec![("suspend_entry", 7_000)]));
    assert_eq!(rows[2].0, 423);
    assert_eq!(rows[2].1[..2], parts);
    // From 250 to 261 and from 298 on it could stop, if not for the page.
    assert_eq!(rows[2].1[2..], [("same_block", 106_000)]);
}

#[test]
fn an_operation_that_has_used_up_its_suspensions() {
    // Out at 98; the program then ends at 193.
    let asked = [(0, 'W', 0), (61, 'R', 20), (99, 'R', 24)];
    let of_read = |sets: &[&str]| causes(sets, &asked).remove(2);
    for limit in ["suspension.max_per_program=1", "suspension.max_per_operation=1"] {
        assert_eq!(of_read(&[IPS, limit]), (223, vec![("limit", 94_000)]), "{limit}");
    }
    // Without a limit the restore to 101 is waited for.
    assert_eq!(of_read(&[IPS]), (131, vec![("suspend_entry", 2_000)]));
    // At 186 the last verify runs: what would have stopped at 99 is the limit's to the end.
    let two = [(0, 'W', 0), (61, 'R', 20), (99, 'R', 24), (186, 'R', 28)];
    let rows = causes(&[IPS, "suspension.max_per_program=1"], &two);
    let behind = vec![("host_read", 30_000), ("limit", 7_000)];
    assert_eq!(rows[2..], [(223, vec![("limit", 94_000)]), (253, behind)]);
    // For a read that comes only then nothing would stop before the end.
    let late = [(0, 'W', 0), (61, 'R', 20), (186, 'R', 24)];
    let rows = causes(&[IPS, "suspension.max_per_program=1"], &late);
    assert_eq!(rows[2], (223, vec![("host_program", 7_000)]));
}

/// Writes, one each millisecond, after which one block of eight is free and block 0 is collected.
const FILL: [u64; 13] = [0, 1, 2, 4, 5, 8, 0, 1, 0, 5, 0, 5, 9];
const TINY: [&str; 4] = [
    "geometry.blocks_per_plane=8",
    "ftl.over_provisioning=0.625",
    "ftl.gc_hard_free_blocks=1",
    "ftl.gc_background=false",
];

fn behind_collection(policy: &str, more: &[Asked]) -> Vec<(u64, Causes)> {
    let writes = FILL.iter().enumerate().map(|(index, page)| (1000 * index as u64, 'W', *page));
    let asked: Vec<Asked> = writes.chain(more.iter().copied()).collect();
    let sets = [&TINY[..], &[policy]].concat();
    causes(&sets, &asked).split_off(FILL.len())
}

#[test]
fn reads_behind_each_step_of_collection() {
    // The page that is valid is read from 12160 to 12190; the first read goes to 12220, then the
    // page is programmed to 12380; the second to 12410, then the erase to 13918.
    let reads = [(12_165, 'R', 10), (12_250, 'R', 10), (12_500, 'R', 10)];
    let expected = vec![
        (12_220, vec![("gc_read", 25_000)]),
        (12_410, vec![("gc_program", 130_000)]),
        (13_948, vec![("erase", 1_418_000)]),
    ];
    assert_eq!(behind_collection("policy=rps", &reads), expected);
}

#[test]
fn a_write_behind_all_of_collection() {
    // Read to 12190, program to 12350, erase to 13858.
    let expected = vec![("gc_read", 10_000), ("gc_program", 160_000), ("erase", 1_508_000)];
    assert_eq!(behind_collection("policy=rps", &[(12_180, 'W', 6)]), [(14_018, expected)]);
}

#[test]
fn the_channel_of_two_dies() {
    // Pages 0 and 1 are on dies 0 and 1. Both are sensed to 10; the first is out at 30, the second
    // at 50, and the data of the write then come in.
    let sets = ["geometry.dies_per_channel=2", "policy=rps"];
    let asked = [(0, 'R', 0), (0, 'R', 1), (35, 'W', 2)];
    let outcome = run(&sets, &asked);
    let expected =
        vec![(30, vec![]), (50, vec![("channel", 20_000)]), (210, vec![("channel", 15_000)])];
    assert_eq!(told(&outcome), expected);
    let dies: Vec<Option<u32>> = outcome.rows.iter().map(|row| row.die).collect();
    assert_eq!(dies, [Some(0), Some(1), Some(0)]);
}

#[test]
fn reads_behind_a_read_that_needs_the_channel() {
    // Pages 0 and 1 are sensed to 10. Page 1 waits for the channel to 30 and is out at 50; the read
    // of page 3, on the same die, waits for its array to 10 and then for its channel.
    let asked = [(0, 'R', 0), (0, 'R', 1), (5, 'R', 3)];
    let of_last = |sets: &[&str]| causes(sets, &asked).remove(2);
    let shared = of_last(&["geometry.dies_per_channel=2", "policy=rps"]);
    assert_eq!(shared, (80, vec![("host_read", 5_000), ("channel", 40_000)]));
    // On a channel of its own, the page leaves to 30 as part of its read.
    let own = of_last(&[TWO[0], "policy=rps"]);
    assert_eq!(own, (60, vec![("host_read", 25_000)]));
}

#[test]
fn waits_behind_a_program_whose_data_cross_a_shared_channel() {
    // The data are in at 20; the program ends at 160.
    let shared = ["geometry.dies_per_channel=2", "policy=rps"];
    let read = causes(&shared, &[(0, 'W', 0), (5, 'R', 2)]).remove(1);
    assert_eq!(read, (190, vec![("host_program", 140_000), ("channel", 15_000)]));
    // A suspension takes effect when the data are in.
    let suspended = causes(&[shared[0], IPS], &[(0, 'W', 0), (5, 'R', 2)]).remove(1);
    assert_eq!(suspended, (50, vec![("channel", 15_000)]));
    let own = causes(&["policy=rps"], &[(0, 'W', 0), (5, 'R', 2)]).remove(1);
    assert_eq!(own, (190, vec![("host_program", 155_000)]));
    // Room for one page in the buffer, until the program ends.
    let sets = [&BACK[..], &shared].concat();
    let write = causes(&sets, &[(0, 'W', 0), (10, 'W', 4)]).remove(1);
    assert_eq!(write, (160, vec![("host_program", 140_000), ("channel", 10_000)]));
}

#[test]
fn a_read_behind_a_read_that_waits_for_power() {
    // Page 1 waits to 10, until page 0 is sensed, and is out at 40.
    let power = ["power.account=on", "power.max_active_dies=1", "policy=rps"];
    let sets = [&TWO[..], &power].concat();
    let behind = causes(&sets, &[(0, 'R', 0), (0, 'R', 1), (2, 'R', 3)]).remove(2);
    assert_eq!(behind, (70, vec![("host_read", 30_000), ("power", 8_000)]));
}

#[test]
fn a_program_that_comes_as_a_page_leaves_the_array() {
    // Half of page 17, on die 1, whose old page is out at 32: then its program comes to die 0. Here
    // page 4 has been sensed from 22 to 32, and is out at 52. Page 12 waits from 28 on, first for
    // the array; from 32 on that is free, and the command, of 2, has to wait for the channel. It is
    // out at 84, and the program, with command, data and 140, is done at 246.
    let sets = ["timing.cache_register=true", "timing.t_command_us=2", "policy=fifo"];
    let sets = [&TWO[..], &sets, &["ftl.placement=dynamic"]].concat();
    let rows = [(0, 'W', 68, 2), (20_000, 'R', 16, 4), (28_000, 'R', 48, 4)];
    let written = vec![("host_read", 84_000)];
    let behind = vec![("host_read", 4000), ("channel", 20_000)];
    let expected = vec![(246, written), (52, vec![]), (84, behind)];
    assert_eq!(told(&drive::replay(DRIVE, &sets, &rows)), expected);
}

#[test]
fn a_budget_of_power() {
    // One die at a time may be at work; a page that crosses the channel is none.
    let power = ["power.account=on", "power.max_active_dies=1", "policy=rps"];
    let sets = [&TWO[..], &power].concat();
    let expected = vec![(30, vec![]), (40, vec![("power", 10_000)])];
    assert_eq!(causes(&sets, &[(0, 'R', 0), (0, 'R', 1)]), expected);
}

#[test]
fn an_entry_of_the_mapping() {
    // The page of the mapping is read first.
    let sets = ["ftl.mapping=demand", "ftl.map_cache_bytes=256", "policy=rps"];
    let rows = causes(&sets, &[(0, 'R', 0)]);
    assert_eq!(rows, [(60, vec![("map", 30_000)])]);
}

#[test]
fn a_wordline_that_is_not_full() {
    // The data of two pages come in to 90, then the array works for 140.
    let sets = ["timing.wordline_pages=2", "ftl.wordline_timeout_us=50", "policy=rps"];
    assert_eq!(causes(&sets, &[(0, 'W', 0)]), [(230, vec![("other", 50_000)])]);
}

#[test]
fn the_rest_of_a_page() {
    // Half of page 20. Its old page is read when the program ends, from 160 to 190.
    let rows = [(0, 'W', 0, 4), (50_000, 'W', 80, 2)];
    let outcome = drive::replay(DRIVE, &["policy=rps"], &rows);
    let behind = vec![("host_read", 30_000), ("host_program", 110_000)];
    assert_eq!(told(&outcome)[1], (350, behind));
    assert_eq!(outcome.rows[1].part_ns("rmw_ns"), 140_000);
}

const BACK: [&str; 2] = ["buffer.acknowledge=back", "buffer.bytes=2048"];

#[test]
fn what_keeps_the_buffer_full() {
    // Room for one page, until its program ends.
    let sets = [&BACK[..], &["policy=rps"]].concat();
    let rows = causes(&sets, &[(0, 'W', 0), (10, 'W', 4)]);
    assert_eq!(rows, [(0, vec![]), (160, vec![("host_program", 150_000)])]);
    // The read has the program suspended from 68 to 98; it ends at 193.
    let sets = [&BACK[..], &[IPS]].concat();
    let rows = causes(&sets, &[(0, 'W', 0), (10, 'W', 4), (61, 'R', 20)]);
    let behind = vec![("host_read", 30_000), ("host_program", 146_000), ("suspend_entry", 7_000)];
    assert_eq!(rows[1], (193, behind));
}

#[test]
fn two_dies_that_keep_the_buffer_full_share_the_time() {
    // Room for two pages, one on each die. That of die 0 is suspended as above; that of die 1 ends
    // at 160. Half of 61 to 98 is what die 0 does.
    let sets = [&TWO[..], &["buffer.acknowledge=back", "buffer.bytes=4096", IPS]].concat();
    let asked = [(0, 'W', 0), (0, 'W', 1), (10, 'W', 2), (61, 'R', 20)];
    let behind = vec![("host_read", 15_000), ("host_program", 131_500), ("suspend_entry", 3_500)];
    assert_eq!(causes(&sets, &asked)[2], (160, behind));
}
