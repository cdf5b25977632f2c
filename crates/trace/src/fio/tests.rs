//! Meaning of fio files, and refusals by name.

use reprieve_base::{Dur, Op, Request};
use serde_json::{Value, json};

use super::*;
use crate::{Workload, WorkloadConfig};

const MIB: u64 = 1 << 20;

/// An environment with DEPTH, SIZES and an empty EMPTY.
fn environment(name: &str) -> Option<String> {
    let set = [("DEPTH", "4"), ("SIZES", "8k,16k"), ("EMPTY", "")];
    set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
}

fn jobs(text: &str) -> Vec<FioJob> {
    parse(text, "x.fio", 64 * MIB, &environment).expect("a good file")
}

fn error(text: &str) -> String {
    parse(text, "x.fio", 64 * MIB, &environment).expect_err("a mistake").to_string()
}

/// Returns at most `most` requests of a job.
fn requests(job: &FioJob, most: usize) -> Vec<Request> {
    let config = WorkloadConfig::Fio(Box::new(job.clone()));
    let mut workload = Workload::open(&config, 64 * MIB, 7).expect("a job fits");
    std::iter::from_fn(|| workload.next_request().expect("no file behind it")).take(most).collect()
}

fn places(job: &FioJob) -> Vec<(Op, u64, u32)> {
    requests(job, 100_000).iter().map(|r| (r.op, r.lba * 512, r.bytes)).collect()
}

#[test]
fn jobs_take_what_global_says_above_them() {
    let text = "[global]\nbs=8k\nsize=1m\niodepth=4\n[a]\nrw=randread\nbs=4k\n\
                [global]\niodepth=9\n[b]\nrw=write\noffset=2m\n";
    let jobs = jobs(text);
    assert_eq!(jobs.len(), 2);
    let (a, b) = (&jobs[0], &jobs[1]);
    assert_eq!((a.name.as_str(), a.queue_depth, a.ops), ("a", 4, JobOps::Read));
    assert_eq!(a.order, JobOrder::Random);
    assert_eq!(a.sizes[0], [(4096, 1.0)]);
    assert_eq!((a.start_bytes, a.region_bytes, a.amount_bytes), (0, MIB, Some(MIB)));
    assert_eq!((b.name.as_str(), b.queue_depth, b.ops), ("b", 9, JobOps::Write));
    assert_eq!(b.order, JobOrder::Sequential);
    assert_eq!(b.sizes[1], [(8192, 1.0)]);
    assert_eq!(b.start_bytes, 2 * MIB);
}

#[test]
fn a_sequential_mix_has_a_place_for_each_kind() {
    // Reads and writes both begin at 0; 64 KiB in all are 16 requests of 4 KiB.
    let job = &jobs("[a]\nrw=rw\nsize=64k\n")[0];
    let all = places(job);
    assert_eq!(all.len(), 16);
    for op in [Op::Read, Op::Write] {
        let own: Vec<u64> = all.iter().filter(|r| r.0 == op).map(|r| r.1).collect();
        let expected: Vec<u64> = (0..own.len() as u64).map(|k| k * 4096).collect();
        assert_eq!(own, expected, "{op:?}");
    }
}

#[test]
fn a_trim_is_followed_by_the_write_of_its_place() {
    let job = &jobs("[a]\nrw=trimwrite\nsize=16k\nbs=4k\n")[0];
    let expected: Vec<_> =
        (0..4u64).flat_map(|k| [(Op::Trim, k * 4096, 4096), (Op::Write, k * 4096, 4096)]).collect();
    assert_eq!(places(job), expected);
}

#[test]
fn random_covers_its_region_before_it_repeats() {
    let job = &jobs("[a]\nrw=randwrite\nsize=1m\noffset=1m\nbs=4k\nloops=2\n")[0];
    let all = places(job);
    assert_eq!(all.len(), 512);
    let sorted = |half: &[(Op, u64, u32)]| {
        let mut lbas: Vec<u64> = half.iter().map(|r| r.1).collect();
        lbas.sort_unstable();
        lbas
    };
    let every: Vec<u64> = (0..256).map(|k| MIB + k * 4096).collect();
    assert_eq!((sorted(&all[..256]), sorted(&all[256..])), (every.clone(), every));
    // Of 256 draws that may repeat, 256 (1 - 1/e) = 161.8 places differ; standard deviation 5.
    let again = &jobs("[a]\nrw=randwrite\nsize=1m\nbs=4k\nnorandommap\n")[0];
    let mut lbas = sorted(&places(again));
    lbas.dedup();
    assert!((lbas.len() as f64 - 161.8).abs() < 25.0, "{} places", lbas.len());
}

#[test]
fn sizes_and_amounts_follow_the_file() {
    // 16 KiB of region, 40 KiB asked for: ten requests that go round two and a half times.
    let round = &jobs("[a]\nrw=read\nsize=16k\nio_size=40k\nbs=4k\n")[0];
    let lbas: Vec<u64> = places(round).iter().map(|r| r.1 / 4096).collect();
    assert_eq!(lbas, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1]);
    let few = &jobs("[a]\nrw=read\nsize=16k\nnumber_ios=3\nbs=4k\n")[0];
    assert_eq!(places(few).len(), 3);
    // Half of the drive from its first quarter on.
    let part = &jobs("[a]\nrw=read\nsize=50%\noffset=25%\n")[0];
    assert_eq!((part.start_bytes, part.region_bytes), (16 * MIB, 32 * MIB));
    let mixed = &jobs("[a]\nrw=randrw\nsize=64m\nbs=4k,8k\nrwmixread=70\n")[0];
    assert!(places(mixed).iter().all(|r| r.2 == if r.0 == Op::Read { 4096 } else { 8192 }));
}

#[test]
fn shares_are_those_of_the_file() {
    let text = "[a]\nrw=randrw\nsize=64m\nrwmixread=70\nbssplit=4k/60:16k/40\nnorandommap\n\
                runtime=10\ntime_based\n";
    let all = requests(&jobs(text)[0], 100_000);
    let share = |wanted: &dyn Fn(&Request) -> bool| {
        all.iter().filter(|r| wanted(r)).count() as f64 / all.len() as f64
    };
    // Standard errors: sqrt(0.7 x 0.3 / 100,000) = 0.00145 and sqrt(0.6 x 0.4 / 1e5) = 0.00155.
    assert!((share(&|r| r.op == Op::Read) - 0.7).abs() < 5.0 * 0.00145);
    assert!((share(&|r| r.bytes == 4096) - 0.6).abs() < 5.0 * 0.00155);
}

#[test]
fn pareto_and_zones_put_requests_where_they_say() {
    // Pareto 0.2: a share 0.8 of the requests goes to a share 0.2 of the places.
    let text = "[a]\nrw=randread\nsize=64m\nbs=4k\nruntime=1\ntime_based\n";
    let pareto = jobs(&format!("{text}random_distribution=pareto:0.2\n"));
    let mut counts = vec![0u32; 16_384];
    requests(&pareto[0], 200_000).iter().for_each(|r| counts[(r.lba / 8) as usize] += 1);
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let hot: u32 = counts[..3277].iter().sum();
    // The busiest fifth is chosen after the fact, which adds a little.
    assert!((0.795..0.83).contains(&(f64::from(hot) / 2e5)), "{hot} of 200000");
    // Half to the first twentieth, 0.3 to the next 0.15, the rest to the rest.
    let zoned = jobs(&format!("{text}random_distribution=zoned:50/5:30/15:20/\n"));
    let mut zones = [0f64; 3];
    for request in requests(&zoned[0], 100_000) {
        let place = request.lba as f64 * 512.0 / (64 * MIB) as f64;
        zones[if place < 0.05 {
            0
        } else if place < 0.2 {
            1
        } else {
            2
        }] += 1e-5;
    }
    for (share, wanted) in zones.into_iter().zip([0.5, 0.3, 0.2]) {
        // Standard error at most sqrt(0.25 / 1e5) = 0.0016; a boundary is off by one place.
        assert!((share - wanted).abs() < 0.009, "{zones:?}");
    }
}

/// Shares of the requests of an operation that lie between bounds in MiB.
fn shares_between<const N: usize>(all: &[Request], op: Op, bounds: [u64; N]) -> Vec<f64> {
    let own: Vec<u64> = all.iter().filter(|r| r.op == op).map(|r| r.lba * 512 / MIB).collect();
    let below = |bound: u64| own.iter().filter(|mib| **mib < bound).count() as f64;
    bounds.windows(2).map(|pair| (below(pair[1]) - below(pair[0])) / own.len() as f64).collect()
}

#[test]
fn zones_have_lengths_in_bytes_and_lists_by_direction() {
    let text = "[a]\nrw=randrw\nsize=64m\nbs=4k\nruntime=1\ntime_based\n";
    // Of 100,000 requests half are reads; a share has a standard error of at most 0.0022.
    let near = |found: Vec<f64>, wanted: &[f64]| {
        assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 0.011), "{found:?}");
    };
    // fio 3.33 puts 0.60, 0.30 and 0.10 of 20,000 requests there, and none behind them.
    let absolute = jobs(&format!("{text}random_distribution=zoned_abs:60/1m:30/5m:10/10m\n"));
    let all = requests(&absolute[0], 100_000);
    near(shares_between(&all, Op::Read, [0, 1, 6, 16, 64]), &[0.6, 0.3, 0.1, 0.0]);
    near(shares_between(&all, Op::Write, [0, 1, 6, 16, 64]), &[0.6, 0.3, 0.1, 0.0]);
    let law = "zoned:50/25:50/75,90/50:10/50";
    let by_direction = jobs(&format!("{text}random_distribution={law}\n"));
    let all = requests(&by_direction[0], 100_000);
    near(shares_between(&all, Op::Read, [0, 16, 64]), &[0.5, 0.5]);
    near(shares_between(&all, Op::Write, [0, 32, 64]), &[0.9, 0.1]);
    for (law, part) in [
        ("zoned_abs:60/1m:40/64m", "its zones take 68157440 bytes; must be at most the 67108864"),
        ("zoned_abs:60/1m:40", "each zone must have a length"),
        ("zoned_abs:60/1m:50/2m", "percentages of 110"),
        ("zoned_abs:60/2k:40/2m", "room for a request of 4096 bytes"),
        ("zoned:50/5:50/95,", "zones for each kind"),
        ("zoned:50/5:50/95,60/50:50/50", "percentages of 110"),
    ] {
        let error = error(&format!("{text}random_distribution={law}\n"));
        assert!(error.starts_with("x.fio:7: random_distribution = "), "{error}");
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn variables_come_from_the_environment() {
    let text = "[a]\nrw=randrw\nsize=1m\nbs=${SIZES}\niodepth=1${DEPTH}\nfilename=${DRIVE}\n";
    let job = &jobs(text)[0];
    assert_eq!(job.queue_depth, 14);
    assert_eq!(job.sizes[..2], [vec![(8192, 1.0)], vec![(16384, 1.0)]]);
    for (value, sentence) in [
        ("${DRIVE}", "iodepth = ${DRIVE}: DRIVE is not set in the environment; must have a value"),
        ("${EMPTY}", "iodepth = ${EMPTY}: EMPTY is not set in the environment"),
        ("${DEPTH", "iodepth = ${DEPTH: has a variable without an end"),
        ("${DEPTH}x", "iodepth = 4x: must be a whole number"),
    ] {
        let error = error(&format!("[a]\nsize=1m\niodepth={value}\n"));
        assert!(error.starts_with(&format!("x.fio:3: {sentence}")), "{error}");
    }
}

/// Options as a result of fio has them.
fn recorded(settings: &[(&str, &str)]) -> Result<Value, String> {
    let owned = |(name, value): &(&str, &str)| (name.to_string(), value.to_string());
    let settings: Vec<_> = settings.iter().map(owned).collect();
    fio_options(&settings).map_err(|error| error.to_string())
}

#[test]
fn options_of_a_result_are_read_by_the_table_of_job_files() {
    let settings = [
        ("ioengine", "libaio"),
        ("filename", "${DEVICE}"),
        ("rw", "randrw"),
        ("bs", "4k,8k"),
        ("iodepth", "16"),
        ("numjobs", "2"),
        ("size", "3t"),
        ("runtime", "3m"),
        ("rate", ",10m"),
        ("group_reporting", "1"),
    ];
    let found = recorded(&settings).expect("good options");
    assert_eq!((&found["read_share"], &found["queue_depth"]), (&json!(0.5), &json!(16)));
    assert_eq!((&found["clones"], &found["size_bytes"]), (&json!(2), &json!(3u64 << 40)));
    assert_eq!(found["sizes"], json!({"read": [[4096, 1.0]], "write": [[8192, 1.0]]}));
    assert_eq!(found["bytes_per_s"], json!({"write": 10 << 20}));
    assert_eq!((&found["runtime_s"], &found["is_plain"]), (&json!(180.0), &json!(true)));
    assert_eq!((&found["is_time_based"], &found["of_zones"]), (&json!(false), &json!([])));
    let zoned = recorded(&[("zonemode", "zbd"), ("size", "400z")]).expect("left out by name");
    assert_eq!(zoned["of_zones"], json!(["zonemode=zbd", "size=400z"]));
}

#[test]
fn what_a_job_file_refuses_a_result_refuses() {
    for (name, value, part) in [
        ("bsrange", "4k-64k", "no option that is simulated"),
        ("percentage_random", "50", "must be one of 100"),
        ("zonemode", "strided", "must be one of none"),
        ("iodepth", "0", "must be between 1 and 65536"),
    ] {
        let refused = recorded(&[("rw", "read"), (name, value)]).expect_err("refused");
        assert!(refused.starts_with(&format!("{name}={value}: ")), "{refused}");
        let of_file = error(&format!("[a]\n{name}={value}\n"));
        assert!(refused.contains(part) && of_file.contains(part), "{refused} and {of_file}");
    }
    let variable = recorded(&[("iodepth", "${QD}")]).expect_err("a variable has no value");
    assert!(variable.contains("must be the value that the job ran with, and no variable"));
    for (name, value) in [("zone_reset_frequency", "0.5"), ("size", "400z")] {
        let error = error(&format!("[a]\n{name}={value}\n"));
        assert!(error.contains("is of zoned drives, and not simulated"), "{error}");
    }
    // With the size of its zones a job is simulated on them.
    let sized = recorded(&[("zonemode", "zbd"), ("zonesize", "1m"), ("max_open_zones", "3")]);
    assert_eq!(sized.expect("good options")["of_zones"], json!([]));
}

/// Four zones of 1 MiB of which the first 768 KiB are written.
const ZONED: &str = "[a]\nsize=4m\nzonemode=zbd\nzonesize=1m\nzonecapacity=768k\n";

#[test]
fn sequential_writes_go_from_zone_to_zone_and_reset_each_before_its_first() {
    let jobs = jobs(&format!("{ZONED}rw=write\nbs=512k\nio_size=4m\n"));
    let (reset, write) = (
        |mib: u64| (Op::Reset, mib * MIB, 0),
        |kib: u64, of: u32| (Op::Write, kib * 1024, of << 10),
    );
    // The rest of a zone is written with its last request: 512 and 256 KiB each. After 3 MiB
    // all zones are full, and the first is reset again; 1 MiB is 768 KiB of it and 256 of the next.
    let expected = [
        reset(0),
        write(0, 512),
        write(512, 256),
        reset(1),
        write(1024, 512),
        write(1536, 256),
        reset(2),
        write(2048, 512),
        write(2560, 256),
        reset(3),
        write(3072, 512),
        write(3584, 256),
        reset(0),
        write(0, 512),
        write(512, 256),
        reset(1),
        write(1024, 512),
    ];
    assert_eq!(places(&jobs[0]), expected);
}

#[test]
fn random_writes_fill_as_many_zones_as_may_be_open() {
    let jobs = jobs(&format!("{ZONED}rw=randwrite\nbs=64k\nio_size=64m\nmax_open_zones=2\n"));
    let mut written = [0; 4];
    let mut open = std::collections::BTreeSet::new();
    for (op, at, bytes) in places(&jobs[0]) {
        let zone = (at / MIB) as usize;
        if op == Op::Reset {
            assert_eq!(at % MIB, 0);
            assert!(open.insert(zone) && open.len() <= 2, "{open:?}");
            written[zone] = 0;
            continue;
        }
        assert_eq!((op, at % MIB), (Op::Write, written[zone]), "off the write pointer");
        written[zone] += u64::from(bytes);
        if written[zone] == 768 << 10 {
            open.remove(&zone);
        }
    }
}

#[test]
fn trims_reset_zones_and_reads_stay_within_capacities() {
    let trims = jobs(&format!("{ZONED}rw=trim\nbs=1m\nrate=,,2m\n"));
    let requests = requests(&trims[0], 6);
    // A zone of 1 MiB at 2 MiB a second each half second, in order.
    let got: Vec<_> = requests.iter().map(|r| (r.op, r.lba * 512, r.arrival.ns())).collect();
    let expected = [0, 1, 2].map(|zone| (Op::Reset, zone * MIB, zone * 500_000_000));
    assert_eq!(got[..3], expected);
    let reads = jobs(&format!("{ZONED}rw=randread\nbs=64k\nnorandommap\nio_size=64m\n"));
    let places = places(&reads[0]);
    assert!(places.iter().all(|(op, at, _)| *op == Op::Read && at % MIB <= 704 << 10));
    assert!(places.iter().any(|(_, at, _)| *at == 3 * MIB + (704 << 10)), "the last place");
}

#[test]
fn zones_of_a_job_are_whole_and_known() {
    for (options, said) in [
        ("zonemode=zbd", "[a]: zonesize: needs the size of a zone"),
        (
            "zonemode=zbd\nzonesize=3m",
            "size = 4m: is 4194304 bytes; must be whole zones of 3145728",
        ),
        ("zonemode=zbd\nzonesize=1m\nzonecapacity=2m", "must be at most zonesize = 1048576"),
        ("zonemode=zbd\nzonesize=1m\nrw=randwrite", "max_open_zones: limits the zones"),
        ("zonemode=zbd\nzonesize=1m\nrw=trim\nbs=64k", "bs = 64k: resets zones; must be a zone"),
        ("zonemode=zbd\nzonesize=1m\nrw=trimwrite", "rw = trimwrite: resets a zone for each write"),
    ] {
        let error = error(&format!("[a]\nsize=4m\n{options}\n"));
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn a_rate_is_kept_to_the_nanosecond() {
    // 4 KiB at 4,096,000 bytes a second: one each millisecond.
    let text = "[a]\nrw=read\nsize=1m\nbs=4k\nrate=4096000\n";
    let at: Vec<u64> = requests(&jobs(text)[0], 4).iter().map(|r| r.arrival.ns()).collect();
    assert_eq!(at, [0, 1_000_000, 2_000_000, 3_000_000]);
    // 3 a second: a third of a second, rounded up; reads are free of a rate of writes.
    let text = "[a]\nrw=write\nsize=1m\nbs=4k\nrate_iops=,3\n";
    let at: Vec<u64> = requests(&jobs(text)[0], 4).iter().map(|r| r.arrival.ns()).collect();
    assert_eq!(at, [0, 333_333_334, 666_666_667, 1_000_000_000]);
    // 1000 reads and 250 writes a second: the rates settle the mix, as 1250 requests are asked
    // for in any second, whatever rwmixread = 50 draws.
    let text = "[a]\nrw=randrw\nsize=64m\nbs=4k\nrate_iops=1000,250\n";
    let first = requests(&jobs(text)[0], 1250);
    let reads = first.iter().filter(|r| r.op == Op::Read).count();
    assert!((999..=1001).contains(&reads), "{reads} reads of 1250 in a second");
    assert!(first.windows(2).all(|pair| pair[0].arrival <= pair[1].arrival));
}

#[test]
fn flushes_come_between_writes_and_not_behind_the_last() {
    let job = &jobs("[a]\nrw=write\nsize=16k\nbs=4k\nfsync=2\nsync=1\n")[0];
    let all = requests(job, 100);
    let ops: Vec<Op> = all.iter().map(|r| r.op).collect();
    // As fio 3.33 writes them into its log of the same job.
    assert_eq!(ops, [Op::Write, Op::Write, Op::Flush, Op::Write, Op::Write]);
    assert!(all.iter().all(|r| r.fua == (r.op == Op::Write)));
}

#[test]
fn clones_and_stonewalls_make_groups() {
    let text = "[global]\nsize=1m\nruntime=5\n[a]\nnumjobs=3\noffset_increment=2m\n\
                [b]\n[c]\nstonewall\nramp_time=1\nstartdelay=2\nthinktime=50\nthinktime_blocks=4\n";
    let jobs = jobs(text);
    let seen: Vec<_> =
        jobs.iter().map(|j| (j.name.as_str(), j.clone, j.course.group, j.start_bytes)).collect();
    let step = 2 * MIB;
    assert_eq!(
        seen,
        [("a", 0, 0, 0), ("a", 1, 0, step), ("a", 2, 0, 2 * step), ("b", 0, 0, 0), ("c", 0, 1, 0)]
    );
    let second = |n: u64| Dur::from_ns(n * 1_000_000_000);
    let think = JobThink { time: Dur::from_us(50), every_requests: 4 };
    assert_eq!(
        jobs[4].course,
        JobCourse {
            group: 1,
            delay: second(2),
            ramp: second(1),
            runtime: Some(second(5)),
            think: Some(think)
        }
    );
}

#[test]
fn mistakes_are_named_with_file_and_line() {
    for (text, place, parts) in [
        ("[a]\nsize=1m\nverify=md5\n", "x.fio:3", &["verify = md5", "no option"][..]),
        ("[a]\nsize=1m\niodpeth=4\n", "x.fio:3", &["did you mean iodepth?"]),
        ("[a]\nsize=1m\nrw=randwrit\n", "x.fio:3", &["randwrit", "one of read, write"]),
        ("[a]\nsize=1m\nbs=1000\n", "x.fio:3", &["bs = 1000", "multiple of 512"]),
        ("[a]\nsize=1m\nbssplit=4k/60:8k/50\n", "x.fio:3", &["110", "must be 100"]),
        ("[a]\nsize=1m\nrwmixread=101\n", "x.fio:3", &["between 0 and 100"]),
        ("[a]\nsize=1m\nrandom_distribution=zipf\n", "x.fio:3", &["decimal number"]),
        ("[a]\nsize=1m\nrandom_distribution=gauss:1\n", "x.fio:3", &["zipf, pareto"]),
        ("[a]\nrw=read\n", "x.fio:1", &["[a]", "size", "missing", "runtime"]),
        ("[a]\nsize=1m\ntime_based\n", "x.fio:3", &["time_based", "runtime"]),
        ("[a]\nsize=65m\n", "x.fio:2", &["at most 67108864"]),
        ("[a]\nsize=1m\noffset=100%\n", "x.fio:3", &["past the end", "67108864"]),
        ("[a]\nsize=2k\n", "x.fio:2", &["4096 bytes"]),
        ("[a]\nsize=1m\nioengine=psync\niodepth=8\n", "x.fio:4", &["libaio"]),
        ("[a]\nsize=1m\n[a]\nsize=1m\n", "x.fio:3", &["[a]", "own"]),
        ("[global]\nsize=1m\n", "x.fio", &["has no job"]),
        ("[a]\nsize=1m\nruntime=soon\n", "x.fio:3", &["runtime = soon"]),
        ("[a]\nsize=1m\nrate=fast\n", "x.fio:3", &["rate = fast", "whole number"]),
    ] {
        let error = error(text);
        assert!(error.starts_with(place), "{error}");
        for part in parts {
            assert!(error.contains(part), "{error} lacks {part}");
        }
    }
    let missing = fio_jobs(Path::new("no-such.fio"), MIB).expect_err("no file").to_string();
    assert!(missing.contains("no-such.fio") && missing.contains("cannot be read"), "{missing}");
}
