//! Measurements as tables on the terminal.

use reprieve_base::UserError;
use reprieve_ssd::Options;
use serde_json::{Value, json};

use crate::load::{FIXED, Load, MAIN, Sample, resident_bytes};

/// Requests of a window, and windows after the warm-up.
const WINDOW: u64 = 1_000_000;
const WINDOWS: u64 = 7;

/// Page transactions in flight for each die of the scaling loads.
const QUEUE_DEPTH_PER_DIE: u32 = 4;
/// The FAST'12 drive has 2.0 GB/s for 16 dies.
const LINK_BYTES_PER_S_PER_DIE: u64 = 125_000_000;

fn samples(load: &mut Load) -> Result<Vec<Sample>, UserError> {
    load.window(WINDOW / 2)?;
    let windows = (0..WINDOWS).map(|_| load.window(WINDOW));
    let mut samples: Vec<Sample> = windows.collect::<Result<_, _>>()?;
    samples.sort_by(|a, b| a.ns_per_transaction().total_cmp(&b.ns_per_transaction()));
    Ok(samples)
}

fn load(sets: &[String]) -> Result<(Load, Vec<Sample>), UserError> {
    let mut load = Load::new(sets, WINDOW * (WINDOWS + 1))?;
    let samples = samples(&mut load)?;
    Ok((load, samples))
}

/// Page transactions a second of the main load, and the memory it takes.
pub fn main_load() -> Result<Value, UserError> {
    let before = resident_bytes();
    let (load, samples) = load(&[])?;
    let pages = load.scenario.geometry.pages();
    println!("Main load: {}; {pages} pages", MAIN.what);
    println!("  preconditioned in {:.1} s", load.precondition_s);
    println!("  {WINDOWS} windows of {WINDOW} requests on one core, best, median and worst:");
    for (name, sample) in [
        ("best", samples[0]),
        ("median", samples[samples.len() / 2]),
        ("worst", samples[samples.len() - 1]),
    ] {
        println!(
            "  {name:>6}: {:.2} million page transactions a second ({:.2} million requests), \
             {:.0} ns each",
            1e3 / sample.ns_per_transaction(),
            sample.requests as f64 / sample.seconds / 1e6,
            sample.ns_per_transaction()
        );
    }
    let summary = load.summary();
    println!(
        "  of the transactions in all: {} host reads, {} host programs, {} GC reads, \
         {} GC programs; {} erases; {} suspensions of programs, {} of erases",
        summary["flash"]["host_reads"],
        summary["flash"]["host_programs"],
        summary["flash"]["gc_reads"],
        summary["flash"]["gc_programs"],
        summary["flash"]["erases"],
        summary["flash"]["suspensions"]["program"],
        summary["flash"]["suspensions"]["erase"],
    );
    if let (Some(before), Some(after)) = (before, resident_bytes()) {
        let bytes = after - before;
        println!(
            "  memory: {} MiB resident, {:.2} bytes a physical page, or {:.2} beyond 50 MiB",
            bytes >> 20,
            bytes as f64 / pages as f64,
            bytes.saturating_sub(50 << 20) as f64 / pages as f64
        );
    }
    println!();
    Ok(json!({
        "best": samples[0].ns_per_transaction(),
        "median": samples[samples.len() / 2].ns_per_transaction(),
        "worst": samples[samples.len() - 1].ns_per_transaction(),
    }))
}

/// The other fixed loads: what a transaction and a request of each cost.
pub fn others() -> Result<Value, UserError> {
    println!("Other loads: best and median of {WINDOWS} windows of {WINDOW} requests");
    let mut rows = Vec::new();
    for fixed in FIXED.iter().filter(|fixed| fixed.name != MAIN.name) {
        let mut load = Load::fixed(fixed, &[], WINDOW * (WINDOWS + 1), &Options::default())?;
        let samples = samples(&mut load)?;
        let [best, median] = [samples[0], samples[samples.len() / 2]];
        let per_request = |sample: Sample| sample.seconds * 1e9 / sample.requests as f64;
        println!("  {}: {}", fixed.name, fixed.what);
        println!(
            "  {:>10}  {:.0} and {:.0} ns a transaction, {:.0} and {:.0} ns a request",
            "",
            best.ns_per_transaction(),
            median.ns_per_transaction(),
            per_request(best),
            per_request(median)
        );
        rows.push(json!({
            "of": fixed.name,
            "best": best.ns_per_transaction(),
            "median": median.ns_per_transaction(),
            "best_a_request": per_request(best),
            "median_a_request": per_request(median),
        }));
    }
    println!();
    Ok(Value::Array(rows))
}

fn row(name: &str, samples: &[Sample], precondition_s: f64, first: &mut Option<f64>) -> Value {
    let best = samples[0].ns_per_transaction();
    let median = samples[samples.len() / 2].ns_per_transaction();
    let base = *first.get_or_insert(best);
    println!(
        "  {name:>10}  {best:>7.0}  {median:>7.0}  {:>8.2}  {precondition_s:>8.1}",
        best / base
    );
    json!({"of": name, "best": best, "median": median, "precondition_s": precondition_s})
}

fn header(what: &str) {
    println!("  {what:>10}  best ns  median ns  to first  precond. s");
}

/// Cost of a transaction by number of dies: the same capacity, the same load a die.
pub fn dies() -> Result<Value, UserError> {
    println!("Cost of a transaction by dies: 128 GiB in all, {QUEUE_DEPTH_PER_DIE} requests a die");
    header("dies");
    let mut first = None;
    let mut rows = Vec::new();
    for dies in [1u32, 4, 16, 64, 256, 1024, 4096] {
        // As many as 4,096 dies need to have six to spare in each plane.
        let blocks = 65_536 / dies;
        let sets = [
            format!("geometry.channels={dies}"),
            format!("geometry.blocks_per_plane={blocks}"),
            // The reserve and the open block come on top, so that garbage collection does the same
            // work for a page in planes of many blocks and of few.
            format!("ftl.over_provisioning={}", 0.3 + 2.5 / f64::from(blocks)),
            format!("workload.queue_depth={}", dies * QUEUE_DEPTH_PER_DIE),
            // A link for as many dies, or a thousand of them would wait for the one of sixteen.
            format!("host.link_bytes_per_s={}", u64::from(dies) * LINK_BYTES_PER_S_PER_DIE),
        ];
        let (load, samples) = load(&sets)?;
        rows.push(row(&dies.to_string(), &samples, load.precondition_s, &mut first));
    }
    println!();
    Ok(Value::Array(rows))
}

/// Cost of a transaction by capacity, with 16 dies and everything else alike.
pub fn capacity() -> Result<Value, UserError> {
    println!("Cost of a transaction by capacity: 16 dies");
    header("GiB");
    let mut first = None;
    let mut rows = Vec::new();
    for gib in [1u32, 4, 16, 64, 256, 1024, 4096] {
        let sets = [format!("geometry.blocks_per_plane={}", 32 * gib)];
        let (load, samples) = load(&sets)?;
        rows.push(row(&gib.to_string(), &samples, load.precondition_s, &mut first));
    }
    println!();
    Ok(Value::Array(rows))
}

/// How long it takes to bring drives of 64 GiB to 1 TiB into their steady state.
pub fn precondition() -> Result<Value, UserError> {
    println!("Preconditioning to the steady state");
    let mut rows = Vec::new();
    for (name, sets) in [
        ("64 GiB, 4 KiB pages", &[][..]),
        ("1 TiB, 4 KiB pages", &["geometry.blocks_per_plane=32768"]),
        ("1 TiB, 16 KiB pages", &["device=tlc3d-1tb", "policy=rps"]),
    ] {
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        let load = Load::new(&sets, 1)?;
        let pages = load.scenario.logical_pages();
        println!("  {name:>20}: {:.1} s for {pages} logical pages", load.precondition_s);
        rows.push(json!({"of": name, "pages": pages, "precondition_s": load.precondition_s}));
    }
    println!();
    Ok(Value::Array(rows))
}
