//! A dispatcher on a drive: it sees all that waits, places writes late and orders the queues.
//!
//! SLC of FAST 2012 without a host link: a read takes 30 us, a write 160.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::{Arc, Mutex};

use reprieve_base::Time;
use reprieve_ssd::Ssd;
use reprieve_ssd::dispatch::{Dispatcher, DriveView, Queued};

use super::drive;

/// Two dies with a channel each, of 16 blocks of 4 pages, of which the user has half.
const SLC: &str = "device = \"fast12-slc\"\npolicy = \"rps\"\n\
    [geometry]\nchannels = 2\nplanes_per_die = 1\nblocks_per_plane = 16\npages_per_block = 4\n\
    [ftl]\nover_provisioning = 0.5\n[host]\nlink_bytes_per_s = \"none\"\n";

/// What the dispatcher saw when it was asked to place: instant, unplaced, waiting at each die.
type Seen = Arc<Mutex<Vec<(u64, Vec<Queued>, [Vec<Queued>; 2])>>>;

/// Gives the oldest write to the first die that is idle, and lets the youngest read go first.
struct IdleDies {
    seen: Seen,
}

impl Dispatcher for IdleDies {
    fn place(&mut self, drive: &dyn DriveView) -> Option<(u32, u32)> {
        let mut unplaced = Vec::new();
        drive.for_each_unplaced(&mut |queued| unplaced.push(*queued));
        let at = [0, 1].map(|die| {
            let mut waiting = Vec::new();
            drive.for_each_at(die, &mut |queued| waiting.push(*queued));
            waiting
        });
        let oldest = unplaced.first().map(|queued| queued.id);
        self.seen.lock().expect("one thread").push((drive.now().ns(), unplaced, at));
        let planes_per_die = drive.geometry().planes_per_die;
        let idle = (0..drive.geometry().planes())
            .find(|plane| drive.is_idle(plane / planes_per_die) && drive.has_room(*plane))?;
        Some((oldest?, idle))
    }

    fn head(&mut self, die: u32, reads: bool, drive: &dyn DriveView) -> Option<u32> {
        let mut youngest: Option<Queued> = None;
        drive.for_each_at(die, &mut |queued| {
            if queued.is_read && youngest.is_none_or(|found| queued.since > found.since) {
                youngest = Some(*queued);
            }
        });
        youngest.filter(|_| reads).map(|queued| queued.id)
    }
}

/// Runs the rows `(us, op, page)` and says when each is done in us, and what was seen.
fn run(rows: &[(u64, char, u64)], dispatched: bool) -> (Vec<u64>, Seen) {
    let mut trace = String::new();
    for (us, op, page) in rows {
        writeln!(trace, "0.{us:06} ; {} ; 4 ; {op} ; 0.0 ; 0.0", 4 * page).expect("it takes text");
    }
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(trace.as_bytes()).expect("room for a few rows");
    let path = file.path().display();
    let text = format!("{SLC}[workload]\ntrace = '{path}'\nformat = \"blkreplay\"\n");
    let seen = Seen::default();
    let scenario = drive::load(&text);
    let mut ssd = if dispatched {
        let dispatcher = Box::new(IdleDies { seen: Arc::clone(&seen) });
        Ssd::with_dispatcher(scenario, true, dispatcher).expect("it fits into memory")
    } else {
        Ssd::new(scenario, true).expect("it fits into memory")
    };
    while ssd.step(1000).expect("a good trace") {}
    let log = ssd.take_log();
    let mut done: Vec<_> = log.id.iter().zip(&log.completion_ns).collect();
    done.sort();
    (done.into_iter().map(|(_, ns)| *ns as u64 / 1000).collect(), seen)
}

#[test]
fn writes_go_where_there_is_room_when_they_can_begin() {
    // Pages 0, 2 and 4 all belong to die 0 by their numbers: one after the other.
    let rows = [(0, 'W', 0), (0, 'W', 2), (0, 'W', 4)];
    assert_eq!(run(&rows, false).0, [160, 320, 480]);
    // Either die takes one at once, and the first that is free again the third.
    assert_eq!(run(&rows, true).0, [160, 160, 320]);
    // What is read then lies where it was written: both at once, on both dies.
    let rows = [(0, 'W', 0), (0, 'W', 2), (500, 'R', 0), (500, 'R', 2)];
    assert_eq!(run(&rows, true).0, [160, 160, 530, 530]);
}

#[test]
fn writes_to_several_open_blocks_are_refused() {
    let text = format!(
        "{SLC}stream = \"hot-cold\"\n[workload]\ngenerator = \"mixed\"\nrequests = 1\n\
         read_fraction = 0.5\nqueue_depth = 1\n"
    )
    .replace("[host]\nlink_bytes_per_s = \"none\"\n", "");
    let dispatcher = Box::new(IdleDies { seen: Seen::default() });
    let error = Ssd::with_dispatcher(drive::load(&text), true, dispatcher).err();
    let error = error.expect("there are two next pages").to_string();
    assert!(error.starts_with("ftl.stream = \"hot-cold\": a dispatcher sees"), "{error}");
}

#[test]
fn what_waits_can_be_put_in_another_order() {
    // Reads of die 0 at 0, 5, 10 and 15: the youngest of those that wait goes first.
    let rows = [(0, 'R', 0), (5, 'R', 2), (10, 'R', 4), (15, 'R', 6)];
    assert_eq!(run(&rows, false).0, [30, 60, 90, 120]);
    assert_eq!(run(&rows, true).0, [30, 120, 90, 60]);
}

#[test]
fn all_that_waits_is_in_view() {
    let rows = [(0, 'R', 0), (0, 'R', 1), (5, 'R', 2), (10, 'W', 7), (12, 'R', 3)];
    let (_, seen) = run(&rows, true);
    let seen = seen.lock().expect("one thread");
    let (_, unplaced, at) =
        seen.iter().find(|(ns, ..)| *ns == 12_000).expect("asked at every instant");
    let waiting = |queued: &Queued| (queued.is_read, queued.plane, queued.lpn, queued.since);
    let us = |us: u64| Time::from_ns(us * 1000);
    // Both dies are reading; a write waits for either, and at each a read.
    assert_eq!(unplaced.iter().map(waiting).collect::<Vec<_>>(), [(false, None, 7, us(10))]);
    assert_eq!(at[0].iter().map(waiting).collect::<Vec<_>>(), [(true, Some(0), 2, us(5))]);
    assert_eq!(at[1].iter().map(waiting).collect::<Vec<_>>(), [(true, Some(1), 3, us(12))]);
    // Pages 2 and 3 are the second of their planes in an image written in order.
    assert_eq!((at[0][0].page, at[1][0].page, unplaced[0].page), (Some(1), Some(1), None));
    let requests = [at[0][0].request, at[1][0].request, unplaced[0].request];
    assert!(requests.iter().all(Option::is_some), "{requests:?}");
}

#[test]
fn a_full_drive_is_collected_under_a_dispatcher() {
    let text = format!(
        "{SLC}[workload]\ngenerator = \"mixed\"\nrequests = 3000\nread_fraction = 0.3\n\
         request_bytes = [[512, 1], [6144, 3]]\n\
         align_bytes = 512\nqueue_depth = 8\n"
    );
    let through = vec!["buffer.acknowledge=through"];
    let back = vec!["buffer.acknowledge=back"];
    // Dirty pages that stay wait for a plane only when they go, and writes by force drop some.
    let held = vec![
        "buffer.acknowledge=back",
        "buffer.replacement=lru",
        "workload.fua_fraction=0.2",
        "workload.footprint_bytes=65536",
    ];
    for mut set in [through, back, held] {
        set.extend(["ftl.precondition=steady", "buffer.bytes=16384"]);
        let scenario = drive::load_with(&text, &set);
        let dispatcher = Box::new(IdleDies { seen: Seen::default() });
        let mut ssd = Ssd::with_dispatcher(scenario, true, dispatcher).expect("it fits");
        while ssd.step(1000).expect("a generator") {}
        let summary = ssd.summary();
        let count = |path: &str| summary.pointer(path).and_then(serde_json::Value::as_u64);
        assert_eq!(count("/requests/total/count"), Some(3000), "{set:?}");
        assert!(count("/flash/erases") > Some(100), "{set:?}: {summary}");
        let dropped = count("/device/dropped_writes");
        let is_held = set.contains(&"buffer.replacement=lru");
        assert_eq!(dropped.is_some_and(|pages| pages > 50), is_held, "{summary}");
    }
}
