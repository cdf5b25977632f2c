//! The steady state against the reference that needs no cleverness: the same drive, written in
//! order once and then by its own load for five capacities.
//!
//! Both runs are measured over the same number of requests, in twenty batches. For each of write
//! amplification, IOPS and the 99th percentiles of reads and of writes the difference of the means
//! over the batches is held against its own 95 % interval, 2.09 standard errors of a difference of
//! two means of 20 batches (Student's t with 19 degrees of freedom for the larger of the two
//! spreads would be as wide; Welch's with both is between 2.02 and 2.09).

use reprieve_base::{Op, Stream};
use reprieve_sim::{Options, Ssd};

use super::drive::{self, Row};

const BATCHES: usize = 20;
/// Student's t of 19 degrees of freedom, 97.5 %.
const STUDENT: f64 = 2.093;
/// Capacities that the reference is written before it is measured.
const CAPACITIES: u64 = 5;

/// What is compared.
const MEASURES: [&str; 4] = ["WAF", "IOPS", "read p99", "write p99"];

/// One of the drives.
struct Case {
    sets: Vec<String>,
}

/// A measured stretch of a run.
struct Stretch {
    /// Of each measure its value in every batch.
    batches: [Vec<f64>; 4],
    /// The longest latency of the first requests, and of all.
    longest_first_ns: u64,
    longest_ns: u64,
}

const DRIVE: &str = "device = \"fast12-mlc\"\n[geometry]\nchannels = 4\nblocks_per_plane = 64\n\
    pages_per_block = 64\n[workload]\ngenerator = \"mixed\"\nrequests = 1000000000\n\
    request_bytes = 4096\n";

impl Case {
    /// The drive of a number, drawn at random.
    fn draw(number: u64) -> Case {
        let mut stream = Stream::new(2026, "test.equilibrium", number);
        let mut pick =
            |choices: &[&str]| choices[stream.below(choices.len() as u64) as usize].to_string();
        let planes = pick(&["1", "2", "3", "4"]);
        let victim =
            pick(&["greedy", "random", "d-choices", "cost-benefit", "fifo", "windowed-greedy"]);
        let mut sets = vec![
            format!("seed={}", 100 + number),
            format!("geometry.planes_per_die={planes}"),
            format!("ftl.gc_victim={victim}"),
            format!("ftl.over_provisioning={}", pick(&["0.2", "0.28", "0.4"])),
            format!("ftl.gc_background={}", pick(&["true", "false"])),
            format!("policy={}", pick(&["fifo", "rps", "pes-ips", "pes-ipc"])),
            format!("buffer.bytes={}", pick(&["131072", "524288", "2097152"])),
            format!("buffer.acknowledge={}", pick(&["back", "through"])),
            format!("workload.read_fraction={}", pick(&["0.3", "0.5", "0.7"])),
            format!("workload.queue_depth={}", pick(&["8", "32", "64"])),
        ];
        let kind = pick(&["plain", "plain", "streams", "separate", "twins"]);
        match kind.as_str() {
            "streams" => {
                sets.extend(["ftl.stream=hot-cold", "ftl.gc_hard_free_blocks=3"].map(String::from))
            }
            "separate" => sets.push("ftl.gc_stream=separate".to_string()),
            "twins" if planes != "1" => {
                sets.extend(
                    ["ftl.twin_blocks=true", "parallelism.multi_plane=block"].map(String::from),
                );
            }
            _ => {}
        }
        if pick(&["even", "even", "skewed"]) == "skewed" {
            let skewed = [
                "workload.addresses=hot-cold",
                "workload.hot_share=0.2",
                "workload.hot_fraction=0.8",
            ];
            sets.extend(skewed.map(String::from));
        }
        Case { sets }
    }

    fn drive(&self, precondition: &str) -> Ssd {
        let precondition = format!("ftl.precondition={precondition}");
        let sets: Vec<&str> =
            self.sets.iter().map(String::as_str).chain([precondition.as_str()]).collect();
        let options = Options { log_requests: true, ..Options::default() };
        Ssd::with(drive::load_with(DRIVE, &sets), &options).expect("a drive without mistakes")
    }

    /// From the first request of a drive in its steady state.
    fn steady(&self, requests: u64) -> Stretch {
        Stretch::measure(&mut self.drive("steady"), requests)
    }

    /// The reference, from the first request after the long run, with its longest latency after
    /// all but the last capacity; and the same drive one capacity later.
    fn long_run(&self, requests: u64) -> (Stretch, Stretch) {
        let mut ssd = self.drive("sequential");
        let capacity = u64::from(ssd.scenario().logical_pages());
        let write_up_to = |ssd: &mut Ssd, capacities: u64| {
            let mut longest_ns = 0;
            while count(ssd, "host_programs") < capacities * capacity {
                ssd.step(1000).expect("a generator without bad rows");
                let mut rows = Vec::new();
                drive::take_rows(&ssd.take_log(), &mut rows);
                longest_ns = longest(&rows).max(longest_ns);
            }
            longest_ns
        };
        write_up_to(&mut ssd, CAPACITIES - 1);
        let longest_ns = write_up_to(&mut ssd, CAPACITIES);
        let stretch = Stretch::measure(&mut ssd, requests);
        write_up_to(&mut ssd, CAPACITIES + 1);
        let later = Stretch::measure(&mut ssd, requests);
        (Stretch { longest_ns: stretch.longest_ns.max(longest_ns), ..stretch }, later)
    }
}

fn count(ssd: &Ssd, name: &str) -> u64 {
    ssd.summary()["flash"][name].as_u64().expect("a count")
}

fn longest(rows: &[Row]) -> u64 {
    rows.iter().map(Row::latency_ns).max().unwrap_or(0)
}

/// The 99th percentile, in nanoseconds.
fn p99_ns(rows: &[Row], op: Op) -> f64 {
    let mut latencies: Vec<u64> =
        rows.iter().filter(|row| row.op == op).map(Row::latency_ns).collect();
    latencies.sort_unstable();
    latencies[(latencies.len() * 99).div_ceil(100) - 1] as f64
}

impl Stretch {
    /// The next so many requests of a drive.
    fn measure(ssd: &mut Ssd, requests: u64) -> Stretch {
        while !ssd.is_preconditioned() {
            ssd.step(1).expect("a drive that settles");
        }
        let mut stretch =
            Stretch { batches: Default::default(), longest_first_ns: 0, longest_ns: 0 };
        let programs = |ssd: &Ssd| (count(ssd, "host_programs"), count(ssd, "gc_programs"));
        let (mut before, mut since_ns) = (programs(ssd), ssd.now().ns());
        let mut first = Vec::new();
        for batch in 0..BATCHES {
            let mut rows: Vec<Row> = Vec::new();
            while (rows.len() as u64) < requests / BATCHES as u64 {
                ssd.step(50).expect("a generator without bad rows");
                drive::take_rows(&ssd.take_log(), &mut rows);
            }
            let (now, now_ns) = (programs(ssd), ssd.now().ns());
            let host = (now.0 - before.0) as f64;
            let moved = (now.1 - before.1) as f64;
            let seconds = (now_ns - since_ns) as f64 / 1e9;
            (before, since_ns) = (now, now_ns);
            let values = [
                1.0 + moved / host,
                rows.len() as f64 / seconds,
                p99_ns(&rows, Op::Read),
                p99_ns(&rows, Op::Write),
            ];
            for (batches, value) in stretch.batches.iter_mut().zip(values) {
                batches.push(value);
            }
            if batch == 0 {
                first = rows.clone();
                first.truncate(1000);
            }
            stretch.longest_ns = stretch.longest_ns.max(longest(&rows));
        }
        stretch.longest_first_ns = longest(&first);
        stretch
    }

    /// Of each measure both means, and whether the interval of their difference holds zero.
    fn against(&self, reference: &Stretch) -> [(f64, f64, bool); 4] {
        let (ours, theirs) = (self.means(), reference.means());
        std::array::from_fn(|index| {
            let ((mean, error), (reference, its_error)) = (ours[index], theirs[index]);
            let agrees = (mean - reference).abs() <= STUDENT * (error + its_error).sqrt();
            (mean, reference, agrees)
        })
    }

    /// Mean and square of its standard error of each measure.
    fn means(&self) -> [(f64, f64); 4] {
        self.batches.each_ref().map(|values| {
            let count = values.len() as f64;
            let mean = values.iter().sum::<f64>() / count;
            let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
            (mean, squares / (count - 1.0) / count)
        })
    }
}

/// What many drives come to.
#[derive(Default)]
struct Tally {
    all: usize,
    agree: usize,
    /// The same of the reference against itself, one capacity later: what chance makes of it.
    control_agrees: usize,
    /// The greatest ratio of the longest of the first requests to the longest of the long run.
    first_ratio: f64,
    /// Logarithms of the ratios of IOPS.
    iops: Vec<f64>,
}

impl Tally {
    fn add(&mut self, number: u64, requests: u64) {
        let case = Case::draw(number);
        let (steady, (long, later)) = (case.steady(requests), case.long_run(requests));
        let first_ratio = steady.longest_first_ns as f64 / long.longest_ns as f64;
        let mut line = format!("{number:>3}");
        let (ours, control) = (steady.against(&long), later.against(&long));
        for (name, (ours, theirs, agrees)) in MEASURES.iter().zip(ours) {
            let mark = if agrees { ' ' } else { '!' };
            let percent = (ours / theirs - 1.0) * 100.0;
            line += &format!(" | {name} {ours:.4e} / {theirs:.4e} {percent:>6.1} %{mark}");
            if *name == "IOPS" {
                self.iops.push((ours / theirs).ln());
            }
        }
        let agreeing = |found: [(f64, f64, bool); 4]| found.iter().filter(|one| one.2).count();
        self.all += MEASURES.len();
        self.agree += agreeing(ours);
        self.control_agrees += agreeing(control);
        self.first_ratio = self.first_ratio.max(first_ratio);
        println!("{line} | first {first_ratio:.2} | {}", case.sets.join(" "));
    }

    /// Mean ratio of IOPS over the drives, and half of its 95 % interval.
    fn iops_ratio(&self) -> (f64, f64) {
        let count = self.iops.len() as f64;
        let mean = self.iops.iter().sum::<f64>() / count;
        let squares = self.iops.iter().map(|one| (one - mean).powi(2)).sum::<f64>();
        (mean, 2.0 * (squares / (count - 1.0) / count).sqrt())
    }

    fn print(&self) {
        let Tally { all, agree, control_agrees, first_ratio, .. } = self;
        let (mean, half) = self.iops_ratio();
        println!(
            "{agree} of {all} agree, and {control_agrees} of the reference with itself one \
             capacity later; the longest of the first requests is at most {first_ratio:.2} of the \
             longest; IOPS {:+.2} % +- {:.2} over the drives",
            100.0 * mean,
            100.0 * half
        );
    }
}

fn compare(numbers: impl Iterator<Item = u64>, requests: u64) -> Tally {
    let mut tally = Tally::default();
    numbers.for_each(|number| tally.add(number, requests));
    tally.print();
    tally
}

#[test]
#[ignore = "minutes: make long"]
fn forty_drives_start_as_they_run() {
    let from = std::env::var("CASE").ok().and_then(|value| value.parse().ok()).unwrap_or(0);
    let to = std::env::var("CASES").ok().and_then(|value| value.parse().ok()).unwrap_or(40);
    let tally = compare(from..to, 60_000);
    assert!(tally.agree * 20 >= tally.all * 19, "{} of {}", tally.agree, tally.all);
    assert!(tally.first_ratio <= 1.5, "{}", tally.first_ratio);
    // Drives that begin too slow, or too fast, by as little as this would all do so.
    let (mean, half) = tally.iops_ratio();
    assert!(mean.abs() <= half.max(0.01), "{mean} +- {half}");
}

/// Drives of one, two, three and four planes; collection in the background and not, a buffer that
/// writes back and one that writes through, an open block for moved pages, twins, uneven loads.
const SOME: [u64; 4] = [0, 1, 2, 3];

#[test]
fn a_drive_starts_as_it_runs() {
    let tally = compare(SOME.into_iter(), 20_000);
    assert!(tally.agree + 2 >= tally.all, "{} of {}", tally.agree, tally.all);
    assert!(tally.first_ratio <= 1.5, "{}", tally.first_ratio);
}
