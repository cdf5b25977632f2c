//! The collector by hand: bins, borders, and that merging loses nothing.

use proptest::prelude::*;

use super::*;

fn at(ns: u64) -> Time {
    Time::from_ns(ns)
}

fn parts(array_ns: u64, bus_ns: u64) -> LatencyComponents {
    let mut parts = LatencyComponents::default();
    parts.0[6] = array_ns;
    parts.0[8] = bus_ns;
    parts
}

/// One thing that happens at an instant: an arrival, or the completion of a request.
#[derive(Clone, Copy, Debug)]
struct Happening {
    ns: u64,
    completes: Option<(Op, u32, u64)>,
    programs: u64,
}

/// Plays them; the third of the samples counts programs, the eighth all time.
fn play(happenings: &[Happening]) -> Finished {
    let mut series = Series::default();
    let (mut open, mut programs, mut now) = (0, 0, 0);
    let sample = |programs: u64, ns: u64| {
        let mut sample = Sample::default();
        (sample[1], sample[7]) = (programs, ns);
        sample
    };
    for happening in happenings {
        now = happening.ns;
        series.advance(at(now), open, |then| sample(programs, then.ns()));
        programs += happening.programs;
        match happening.completes {
            None => open += 1,
            Some((op, bytes, latency_ns)) => {
                series.record(op, bytes, latency_ns, &parts(latency_ns, 0));
                open = open.saturating_sub(1);
            }
        }
    }
    series.finish(&sample(programs, now))
}

#[test]
fn an_instant_belongs_to_the_bin_that_ends_with_it() {
    // Bins of 1000 ns. One request from 0 to 1000, one from 400 to 2500.
    let read = Happening { ns: 1000, completes: Some((Op::Read, 4096, 1000)), programs: 2 };
    let write = Happening { ns: 2500, completes: Some((Op::Write, 512, 2100)), programs: 1 };
    let arrival = |ns| Happening { ns, completes: None, programs: 0 };
    let done = play(&[arrival(0), arrival(400), read, write]);
    assert_eq!((done.width_ns, done.length_ns_last, done.bins.len()), (1000, 500, 3));
    let reads: Vec<u64> = done.bins.iter().map(|bin| bin.completed[0].count).collect();
    let writes: Vec<u64> = done.bins.iter().map(|bin| bin.completed[1].count).collect();
    let programs: Vec<u64> = done.bins.iter().map(|bin| bin.counted[1]).collect();
    let time: Vec<u64> = done.bins.iter().map(|bin| bin.counted[7]).collect();
    // One open for 400 ns and two for 600; then one.
    let open: Vec<u128> = done.bins.iter().map(|bin| bin.open_request_ns).collect();
    let most: Vec<u64> = done.bins.iter().map(|bin| bin.open_requests_max).collect();
    assert_eq!((reads, writes), (vec![1, 0, 0], vec![0, 0, 1]));
    assert_eq!((programs, time), (vec![2, 0, 1], vec![1000, 1000, 500]));
    assert_eq!((open, most), (vec![1600, 1000, 500], vec![2, 1, 1]));
    let expected = Completed { count: 1, bytes: 512, latency_ns: 2100, latency_ns_max: 2100 };
    assert_eq!(done.bins[2].completed[1], expected);
    let row = &done.latencies[5 * BUCKETS..6 * BUCKETS];
    assert_eq!((row.iter().sum::<u64>(), row[bucket_of(2100)]), (1, 1));
    let class = &done.classes[0][bucket_of(1000)];
    assert_eq!((class.count, class.parts_ns[6], class.parts_ns[8]), (1, 1000, 0));
}

#[test]
fn bins_pair_up_when_a_run_outgrows_them() {
    // A request a bin: after 512 of them come 256 of twice the length, and the next is the 257th.
    let at_ns = |index: u64| 1000 * index + 500;
    let rows: Vec<Happening> = (0..513)
        .map(|index| Happening {
            ns: at_ns(index),
            completes: Some((Op::Read, 1, index)),
            programs: index,
        })
        .collect();
    let whole = play(&rows[..512]);
    assert_eq!((whole.width_ns, whole.length_ns_last, whole.bins.len()), (1000, 500, 512));
    let done = play(&rows);
    assert_eq!((done.width_ns, done.length_ns_last, done.bins.len()), (2000, 500, 257));
    for (index, bin) in (0..).zip(&done.bins[..256]) {
        let [read, _] = bin.completed;
        let (first, second) = (2 * index, 2 * index + 1);
        assert_eq!((read.count, read.latency_ns_max, bin.counted[1]), (2, second, first + second));
    }
    assert_eq!(done.bins[256].completed[0].count, 1);
}

#[test]
fn a_run_in_which_nothing_happened_has_no_bins() {
    let done = Series::default().finish(&Sample::default());
    assert_eq!((done.bins.len(), done.latencies.len(), done.length_ns_last), (0, 0, 0));
    // One whose only request took no time has one, of no length.
    let done = play(&[Happening { ns: 0, completes: Some((Op::Write, 512, 0)), programs: 0 }]);
    assert_eq!((done.bins.len(), done.length_ns_last), (1, 0));
    assert_eq!(done.bins[0].completed[1].count, 1);
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    // Up to 300 steps of up to half a second: bins of a millisecond and more.
    let one = (0u32..29, any::<u64>(), any::<Option<(bool, u32, u32)>>(), 0..3u64);
    prop::collection::vec(one, 1..300).prop_map(|steps| {
        let mut ns = 0;
        let step =
            |(bits, draw, completes, programs): (u32, u64, Option<(bool, u32, u32)>, u64)| {
                ns += draw & ((1 << bits) - 1);
                let op = |is_read: bool| if is_read { Op::Read } else { Op::Write };
                let completes = completes.map(|(is, bytes, ns)| (op(is), bytes, u64::from(ns)));
                Happening { ns, completes, programs }
            };
        steps.into_iter().map(step).collect()
    })
}

proptest! {
    /// Each bin against a pass over everything that happened in its time, which knows no merging.
    #[test]
    fn bins_hold_what_happened_in_their_time(happenings in happenings()) {
        let done = play(&happenings);
        for (index, bin) in (0u64..).zip(&done.bins) {
            let (from, to) = (index * done.width_ns, (index + 1) * done.width_ns);
            let inside: Vec<&Happening> = happenings
                .iter()
                .filter(|h| (from < h.ns || h.ns == 0 && index == 0) && h.ns <= to)
                .collect();
            let programs: u64 = inside.iter().map(|h| h.programs).sum();
            prop_assert_eq!(bin.counted[1], programs);
            for (kind, op) in [(0, Op::Read), (1, Op::Write)] {
                let own: Vec<_> =
                    inside.iter().filter_map(|h| h.completes).filter(|c| c.0 == op).collect();
                let expected = Completed {
                    count: own.len() as u64,
                    bytes: own.iter().map(|c| u64::from(c.1)).sum(),
                    latency_ns: own.iter().map(|c| u128::from(c.2)).sum(),
                    latency_ns_max: own.iter().map(|c| c.2).max().unwrap_or(0),
                };
                prop_assert_eq!(bin.completed[kind], expected);
                let first = (2 * index as usize + kind) * BUCKETS;
                let row = &done.latencies[first..first + BUCKETS];
                let mut counted = vec![0u64; BUCKETS];
                own.iter().for_each(|c| counted[bucket_of(c.2)] += 1);
                prop_assert_eq!(row, &counted[..]);
            }
        }
        let end_ns = happenings.last().expect("there is one").ns;
        if done.bins.is_empty() {
            let is_nothing = |h: &Happening| h.completes.is_none() && h.programs == 0;
            prop_assert!(end_ns == 0 && happenings.iter().all(is_nothing));
            return Ok(());
        }
        let last = done.bins.len() as u64 - 1;
        prop_assert_eq!(last * done.width_ns + done.length_ns_last, end_ns);
        let time: u64 = done.bins.iter().map(|bin| bin.counted[7]).sum();
        prop_assert_eq!(time, end_ns);
    }
}
