//! Pairs of features that are refused, read all the same: what their refusal prevents.

use std::panic::{AssertUnwindSafe, catch_unwind};

use reprieve_base::{Stream, Time, UserError};
use reprieve_ssd::scenario::{LET_THROUGH, Scenario, refusals};
use reprieve_ssd::{Options, Ssd};

use super::features::{self, DRIVE, split};
use super::load;
use super::pairs::{cuts, options, words_of};

/// Consequences of a pair that is not refused.
#[derive(Clone, Copy)]
enum Shown {
    /// A law is broken, or the drive panics, with these words.
    Breaks(&'static str),
    /// A key has no effect with the other feature, and has one without it.
    Idle(&'static str),
    /// A key changes the results, although there is nothing that it applies to.
    Matters(&'static str),
    /// Nothing notices, and yet the result would be wrong.
    NotModelled(&'static str),
    /// Nothing breaks, and the result has not been calculated by hand.
    Unchecked(&'static str),
}

use Shown::{Breaks, Idle, Matters, NotModelled, Unchecked};

/// Most instants of a run, of which those below take a tenth.
const INSTANTS_MAX: u32 = 300_000;

/// Scenarios that are drawn until a pair breaks, and those that all agree on a pair that does not.
const DRAWN: usize = 150;
const AGREE: u64 = 8;

/// Each feature of a refused pair, as it is selected.
const FEATURES: &[(&str, &str)] = &[
    ("programs of whole wordlines", "timing.wordline_pages=2 ftl.over_provisioning=0.7"),
    ("mapping units below a page", "ftl.mapping_bytes=1024 ftl.over_provisioning=0.7"),
    ("iterations by page type", "timing.page_types=2 timing.program_iterations_by_type=[2,7]"),
    (
        "wordlines that are programmed twice",
        "timing.wordline_pages=2 ftl.over_provisioning=0.7 timing.coarse_iterations=2",
    ),
    ("iterations by wordline", "timing.program_iterations_weights=[[3,1],[9,2]]"),
    ("cache programs", "parallelism.cache_program=true"),
    ("copybacks", "ftl.copyback=true"),
    ("programs inside suspended erases", "suspension.host_write_suspends=[\"erase\"]"),
    ("several streams", "ftl.stream=hot-cold ftl.over_provisioning=0.7"),
    ("a mapping in flash", "ftl.mapping=demand ftl.map_cache_bytes=64 ftl.over_provisioning=0.7"),
    ("programs that fail", "nand.program_failure=0.005 ftl.over_provisioning=0.7"),
    ("bad blocks", "nand.erase_failure=0.005 ftl.over_provisioning=0.7"),
    ("superblocks + bad blocks", "nand.program_failure=0.01"),
    ("planes that are erased one by one", "parallelism.multi_plane=none"),
    (
        "planes that do nothing at once",
        "parallelism.multi_plane=none parallelism.independent_plane_reads=false",
    ),
    ("no independent plane reads", "parallelism.independent_plane_reads=false"),
    (
        "suspension of single planes",
        "suspension.multi_plane=plane parallelism.independent_plane_reads=true \
         parallelism.multi_plane=page",
    ),
    ("suspended programs without a shadow buffer", "suspension.shadow_buffer=false"),
    ("suspension for reads of collection", "suspension.gc_read_suspends=[\"program\",\"erase\"]"),
    ("a budget of power", "POWERS power.budget_mw=130 parallelism.multi_plane=page"),
    ("a drive that warms up", "POWERS HEAT parallelism.multi_plane=page"),
    ("a limit of power or of dies at work", "POWERS power.max_active_dies=1"),
    ("collection that holds its channel", "ftl.gc_preemptible=false ftl.gc_holds_channel=true"),
    ("superblocks", "ftl.twin_blocks=true parallelism.multi_plane=page"),
    (
        "planes that collect side by side",
        "ftl.gc_parallel_planes=true parallelism.multi_plane=page",
    ),
    (
        "victims that are chosen as a set",
        "ftl.gc_parallel_planes=true ftl.gc_victims_in_step=true ftl.gc_stream=separate \
         parallelism.multi_plane=page",
    ),
    ("another victim than the emptiest", "ftl.gc_victim=fifo"),
    ("moved pages among others", "ftl.gc_stream=shared"),
    ("a dispatcher that weighs planes", "scheduling.dispatch=paq"),
    ("the dispatcher mbm", "scheduling.dispatch=mbm"),
    (
        "blocks in SLC mode",
        "slc_cache.mode=static slc_cache.blocks_per_plane=2 slc_cache.fold=pressure \
         slc_cache.t_slc_read_us=5 slc_cache.slc_program_iterations=2 timing.wordline_pages=2 \
         ftl.over_provisioning=0.7",
    ),
    ("programs of single pages", "timing.wordline_pages=1"),
    (
        "sliced programs",
        "suspension.program=sliced suspension.slice_iterations=1 \
         suspension.t_slice_overhead_us=5",
    ),
    ("a steady state", "ftl.precondition=steady"),
    (
        "a loss of power",
        "power_loss.mode=on power_loss.p_controller_mw=1000 power_loss.hold_up_us=900",
    ),
    (
        "blocks that are refreshed",
        "ftl.scan_period_s=0.02 ftl.refresh_retries=1 reliability.model=power \
         reliability.epsilon=0.008 ecc.code=ldpc",
    ),
    ("static wear levelling", "ftl.static_wear_spread=2"),
    ("a link in order", "NVME host.order=in_order"),
    ("commands that cross the link", "NVME host.commands_cross_link=true"),
];

const POWERS: &str = "power.account=on power.p_sense_mw=20 power.p_program_pulse_mw=40 \
    power.p_program_verify_mw=20 power.p_erase_pulse_mw=30 power.p_erase_verify_mw=20 \
    power.p_idle_mw=1 power.e_io_pj_per_bit=2";
const HEAT: &str = "thermal.model=rc thermal.c_per_w=500 thermal.time_constant_s=0.002 \
    thermal.start_c=40 thermal.light_c=41 thermal.heavy_c=42 thermal.hysteresis_c=1 \
    thermal.poll_us=50 thermal.light_budget_mw=130 thermal.heavy_budget_mw=130";
const NVME: &str = "host.interface=nvme host.pcie_generation=3 host.pcie_lanes=2";

/// Each pair, and what becomes of it.
const PAIRS: &[(&str, &str, Shown)] = &[
    ("programs of whole wordlines", "copybacks", Breaks("does not take these pages")),
    ("superblocks", "programs of whole wordlines", Breaks("does not take these pages")),
    (
        "programs of whole wordlines",
        "programs that fail",
        Breaks("a program goes to an open block"),
    ),
    ("mapping units below a page", "programs that fail", Breaks("a program goes to an open block")),
    ("mapping units below a page", "copybacks", Breaks("refused GcCopy")),
    ("superblocks", "copybacks", Breaks("a copyback stays in its plane")),
    (
        "cache programs",
        "suspended programs without a shadow buffer",
        Breaks("could not be restored"),
    ),
    ("copybacks", "suspended programs without a shadow buffer", Breaks("could not be restored")),
    ("cache programs", "programs that fail", Breaks("is Bad and has")),
    ("a budget of power", "cache programs", Breaks("the budget: ")),
    ("a drive that warms up", "cache programs", Breaks("the budget: ")),
    ("suspension of single planes", "no independent plane reads", Breaks("index out of bounds")),
    (
        "superblocks",
        "planes that are erased one by one",
        Breaks("that the superblock has programmed"),
    ),
    ("superblocks", "mapping units below a page", Breaks("subtract with overflow")),
    ("superblocks", "bad blocks", Breaks("a program goes to an open block")),
    ("blocks in SLC mode", "victims that are chosen as a set", Breaks("requests are not complete")),
    ("blocks in SLC mode", "bad blocks", Breaks("requests are not complete")),
    ("planes that collect side by side", "copybacks", Breaks("requests are not complete")),
    ("blocks in SLC mode", "a steady state", Breaks("is Full and Full")),
    ("blocks in SLC mode", "a loss of power", Breaks("is Free and Free")),
    ("several streams", "the dispatcher mbm", Breaks("sees one next page")),
    (
        "wordlines that are programmed twice",
        "iterations by wordline",
        Idle("timing.coarse_iterations=3"),
    ),
    (
        "iterations by wordline",
        "iterations by page type",
        Idle("timing.program_iterations_by_type=[4,9]"),
    ),
    (
        "suspension of single planes",
        "suspension for reads of collection",
        Idle("suspension.gc_read_suspends=[]"),
    ),
    ("superblocks", "planes that collect side by side", Idle("ftl.gc_parallel_planes=false")),
    (
        "victims that are chosen as a set",
        "another victim than the emptiest",
        Idle("ftl.gc_victim=random"),
    ),
    ("suspension for reads of collection", "copybacks", Matters("suspension.gc_read_suspends=[]")),
    (
        "suspension of single planes",
        "cache programs",
        NotModelled(
            "a page is loaded only while no plane has made way, though its register is free",
        ),
    ),
    (
        "programs of whole wordlines",
        "iterations by page type",
        NotModelled("its pages give one program 2 and 7 iterations"),
    ),
    (
        "wordlines that are programmed twice",
        "programs of single pages",
        NotModelled(
            "the coarse pass of a page would be undone by that of its neighbour in the cells",
        ),
    ),
    (
        "wordlines that are programmed twice",
        "cache programs",
        NotModelled(
            "the fine pass needs the pages before in the buffer that the loaded page takes",
        ),
    ),
    (
        "wordlines that are programmed twice",
        "a mapping in flash",
        NotModelled(
            "a mapping page of the last wordline would be read after its coarse pass alone",
        ),
    ),
    (
        "wordlines that are programmed twice",
        "a loss of power",
        NotModelled("a page after its coarse pass alone would be found after a cut"),
    ),
    (
        "mapping units below a page",
        "the dispatcher mbm",
        NotModelled("mbm counts pages, and a program of two units counts twice"),
    ),
    (
        "suspension of single planes",
        "programs inside suspended erases",
        NotModelled("the other planes still erase, and the die would program beside them"),
    ),
    (
        "superblocks",
        "a dispatcher that weighs planes",
        NotModelled("two planes with one open block are not two places"),
    ),
    (
        "blocks in SLC mode",
        "programs of single pages",
        NotModelled("a block of 8 pages would hold 8 in SLC mode, too"),
    ),
    (
        "blocks in SLC mode",
        "cache programs",
        NotModelled(
            "a page that waits in the register would be of another mode than the program that runs",
        ),
    ),
    (
        "blocks in SLC mode",
        "static wear levelling",
        NotModelled(
            "blocks that are always in SLC mode wear on, whatever is moved, past any spread",
        ),
    ),
    (
        "blocks in SLC mode",
        "a dispatcher that weighs planes",
        NotModelled(
            "the next page of a plane would be that of its open block, not of its SLC block",
        ),
    ),
    (
        "victims that are chosen as a set",
        "moved pages among others",
        NotModelled("a write of the host moves one open block after the distance was counted"),
    ),
    (
        "victims that are chosen as a set",
        "a mapping in flash",
        NotModelled("pages of the mapping go to another open block than the one that was counted"),
    ),
    (
        "blocks that are refreshed",
        "victims that are chosen as a set",
        NotModelled("a block is refreshed alone, and its plane ends out of step"),
    ),
    (
        "a link in order",
        "commands that cross the link",
        NotModelled("a fetched command would pass data that was ready before it"),
    ),
    (
        "blocks in SLC mode",
        "iterations by wordline",
        Unchecked("no test has the iterations of folded wordlines by hand"),
    ),
    (
        "blocks in SLC mode",
        "sliced programs",
        Unchecked("no test has the slices of a program in SLC mode by hand"),
    ),
    (
        "planes that collect side by side",
        "planes that do nothing at once",
        Unchecked("the order of collection would change, and nothing run at once"),
    ),
    (
        "collection that holds its channel",
        "a mapping in flash",
        Unchecked("no test has the wait of mapping pages for a held channel by hand"),
    ),
    (
        "collection that holds its channel",
        "a limit of power or of dies at work",
        Unchecked("no test has the wait of a die with power for a held channel by hand"),
    ),
];

/// Returns the sets that select a feature, or what a pair needs beside its two.
fn select(name: &str) -> Vec<String> {
    let found = FEATURES.iter().find(|(feature, _)| *feature == name);
    let text = found.map_or("", |(_, text)| text);
    split(&text.replace("POWERS", POWERS).replace("HEAT", HEAT).replace("NVME", NVME))
}

/// Returns the sets that select these features together.
fn select_all(names: &[&str]) -> Vec<String> {
    let each = names.iter().flat_map(|name| select(name));
    each.chain(select(&names.join(" + "))).collect()
}

/// Returns a load that makes the drive collect garbage all the time.
fn busy(seed: u64) -> Vec<String> {
    let mut stream = Stream::new(seed, "test.needed", 0);
    let mut sets = vec![
        format!("seed={seed}"),
        format!("workload.requests={}", 900 + stream.below(900)),
        format!("workload.read_fraction=0.{}", 1 + stream.below(5)),
        "workload.trim_fraction=0".to_string(),
        "scheduling.policy=rps".to_string(),
        "suspension.program=ipc".to_string(),
        "suspension.erase=true".to_string(),
    ];
    for set in [
        "workload.request_bytes=[[2048,1],[4096,1]]",
        "workload.request_bytes=[[2048,2],[8192,1],[16384,1]]",
        "buffer.acknowledge=back",
        "geometry.planes_per_die=4",
    ] {
        sets.extend((stream.below(2) == 0).then(|| set.to_string()));
    }
    sets
}

/// Reads a scenario past the refusal of a pair, which has to be the only one.
fn read(pair: [&'static str; 2], sets: &[String]) -> Result<Scenario, UserError> {
    LET_THROUGH.set(Some(pair));
    let read = load(DRIVE, sets);
    LET_THROUGH.set(None);
    read
}

/// Runs under the checker, again from its saved state, and with power cuts; returns all results.
fn run(scenario: &Scenario) -> Result<String, String> {
    let whole = || -> Result<String, UserError> {
        let mut ssd = Ssd::with(scenario.clone(), &options())?;
        while !ssd.is_preconditioned() {
            ssd.step(1)?;
        }
        let place = tempfile::NamedTempFile::new().expect("a file");
        let is_saved = scenario.ftl.slc_cache.is_none();
        if is_saved {
            ssd.save_state(place.path())?;
        }
        let log = end(&mut ssd)?;
        if is_saved {
            let from_state = Some(place.path().to_owned());
            let mut again = Ssd::with(scenario.clone(), &Options { from_state, ..options() })?;
            assert!(end(&mut again)? == log, "a saved state goes on in another way");
        }
        if scenario.power_loss.is_some() {
            cuts(scenario).unwrap_or_else(|what| panic!("{what}"));
        }
        Ok(format!("{}{log}", ssd.summary()))
    };
    match catch_unwind(AssertUnwindSafe(whole)) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(panic) => Err(words_of(&*panic)),
    }
}

/// Runs to the end, which is near, and returns the log of requests.
fn end(ssd: &mut Ssd) -> Result<String, UserError> {
    let mut at = Time::ZERO;
    for _ in 0..INSTANTS_MAX {
        if !ssd.run_until(at)? {
            return Ok(format!("{:?}", ssd.take_log()));
        }
        at = ssd.next_instant();
    }
    panic!("the drive is still at work at {at}");
}

/// Returns the first words with which the pair breaks in scenarios that have other features, too.
fn breaks(pair: [&'static str; 2], words: &str) -> bool {
    let all = features::all();
    let mut stream = Stream::new(1, "test.needed", 1);
    (0..DRAWN as u64).any(|seed| {
        let more = (0..stream.below(3)).map(|_| &all[stream.below(all.len() as u64) as usize]);
        let more: Vec<_> = more.collect();
        let drawn = features::sets(&more, &mut stream);
        let sets = [drawn, busy(seed), select_all(&pair)].concat();
        let ran = read(pair, &sets).map(|scenario| run(&scenario));
        ran.is_ok_and(|ran| ran.is_err_and(|what| what.contains(words)))
    })
}

/// Returns the results of the busy drives with some features, and with another value of a key.
fn with_and_without(pair: [&'static str; 2], names: &[&str], set: &str) -> Vec<[String; 2]> {
    let both = |seed| {
        let sets = [busy(seed), select_all(names)].concat();
        let other = [&sets[..], &[set.to_string()]].concat();
        [sets, other].map(|sets| {
            let scenario = read(pair, &sets).unwrap_or_else(|error| panic!("{error}"));
            run(&scenario).unwrap_or_else(|what| panic!("{pair:?} breaks: {what}"))
        })
    };
    (0..AGREE).map(both).collect()
}

/// Checks what is said of a pair.
fn check(pair: [&'static str; 2], shown: Shown) -> String {
    let differs = |names: &[&str], set| {
        with_and_without(pair, names, set).iter().any(|[one, other]| one != other)
    };
    match shown {
        Breaks(words) => {
            assert!(breaks(pair, words), "{pair:?} does not break with {words:?}");
            format!("breaks: {words}")
        }
        Idle(set) => {
            let key = set.split('=').next().expect("a set has a key");
            let is_of = |set: &String| set.split('=').next() == Some(key);
            let has_key = |name: &&&str| select(name).iter().any(is_of);
            let alone = pair.iter().find(has_key).expect("the key is of one of them");
            assert!(!differs(&pair, set), "{key} has an effect in {pair:?}");
            assert!(differs(&[alone], set), "{key} has no effect by itself");
            format!("{key} has no effect")
        }
        Matters(set) => {
            assert!(differs(&pair, set), "{set} has no effect in {pair:?}");
            format!("{set} has an effect, and nothing to have it on")
        }
        NotModelled(why) => {
            differs(&pair, "seed=99");
            format!("not modelled: {why}")
        }
        Unchecked(why) => {
            differs(&pair, "seed=99");
            format!("nothing breaks: {why}")
        }
    }
}

#[test]
fn every_refusal_of_a_pair_is_needed() {
    let mut wrong = Vec::new();
    let mut left: Vec<_> = PAIRS.iter().collect();
    for refusal in refusals() {
        let pair = refusal.names();
        let place = left.iter().position(|(one, other, _)| [*one, *other] == pair);
        let (.., shown) = left.remove(place.unwrap_or_else(|| panic!("{pair:?} has no row")));
        let said = catch_unwind(AssertUnwindSafe(|| check(pair, *shown)));
        println!("{} + {}: {}", pair[0], pair[1], said.as_deref().unwrap_or("WRONG"));
        wrong.extend(said.err().map(|panic| words_of(&*panic)));
    }
    assert!(left.is_empty(), "no such pair is refused: {} + {}", left[0].0, left[0].1);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
