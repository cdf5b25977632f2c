//! Features that exclude each other: one row for each pair, with the sentence that refuses it.

#[cfg(feature = "testing")]
use std::cell::Cell;

use reprieve_base::UserError;
use reprieve_nand::{MultiPlane, ProgramSuspension};

use crate::resolve::Resolved;
use crate::types::{LinkOrder, OperationSet, Power, Precondition};

/// A feature that a scenario may select.
#[derive(Clone, Copy)]
pub struct Feature {
    /// Its name.
    pub name: &'static str,
    is_on: fn(&Resolved) -> bool,
}

/// Two features of which a scenario may select one.
#[derive(Clone, Copy)]
pub struct Refusal {
    /// The refused key.
    pub key: &'static str,
    /// One of them.
    pub one: Feature,
    /// The other.
    pub other: Feature,
    /// The reason, and the right value of the key.
    pub what: &'static str,
}

/// Features by name.
macro_rules! features {
    ($($id:ident $name:literal |$s:ident| $is_on:expr;)+) => {
        $(const $id: Feature = Feature { name: $name, is_on: |$s| $is_on };)+
    };
}

features! {
    WORDLINES "programs of whole wordlines" |s| s.timing.wordline.is_some();
    UNITS "mapping units below a page" |s| s.units_per_page() > 1;
    BY_TYPE "iterations by page type" |s|
        s.values.contains_key("timing.program_iterations_by_type");
    TWO_PASSES "wordlines that are programmed twice" |s| s.timing.coarse_iterations.is_some();
    SPREAD "iterations by wordline" |s| s.timing.spread.is_some();
    CACHE_PROGRAM "cache programs" |s| s.parallelism.cache_program;
    COPYBACK "copybacks" |s| s.ftl.copyback;
    NESTED "programs inside suspended erases" |s| s.suspend_rules.host_write_suspends.erase;
    STREAMS "several streams" |s| s.ftl.streams.policy != "single";
    DEMAND "a mapping in flash" |s| s.ftl.demand.is_some();
    FAILED_PROGRAMS "programs that fail" |s| s.ftl.faults.program_failure > 0.0;
    FAULTS "bad blocks" |s| s.ftl.faults.any();
    SINGLE_PLANE "planes that are erased one by one" |s|
        s.parallelism.multi_plane == MultiPlane::None && s.geometry.planes_per_die > 1;
    NO_PARALLEL_PLANES "planes that do nothing at once" |s|
        s.parallelism.multi_plane == MultiPlane::None && !s.parallelism.independent_plane_reads;
    NO_INDEPENDENT_READS "no independent plane reads" |s| !s.parallelism.independent_plane_reads;
    PLANE_SUSPENSION "suspension of single planes" |s| s.parallelism.plane_suspension;
    NO_SHADOW "suspended programs without a shadow buffer" |s|
        s.suspension.program != ProgramSuspension::None && !s.suspension.shadow_buffer;
    GC_READS "suspension for reads of collection" |s|
        s.suspend_rules.gc_read_suspends != OperationSet::default();
    BUDGET "a budget of power" |s|
        s.power.as_ref().is_some_and(|power| power.budget_uw.is_some());
    HEAT "a drive that warms up" |s|
        s.power.as_ref().is_some_and(|power| power.thermal.is_some());
    POWER_LIMIT "a limit of power or of dies at work" |s|
        s.power.as_ref().is_some_and(Power::limits_something);
    GC_HOLDS "collection that holds its channel" |s| s.ftl.gc.holds_channel;
    TWIN_BLOCKS "superblocks" |s| s.ftl.twin_blocks;
    GC_PLANES "planes that collect side by side" |s| s.ftl.gc.parallel_planes;
    IN_STEP "victims that are chosen as a set" |s| s.ftl.gc.victims_in_step;
    NOT_GREEDY "another victim than the emptiest" |s| s.ftl.gc_victim != "greedy";
    MOVES_AMONG_WRITES "moved pages among others" |s| !s.ftl.streams.gc_separate;
    PLANE_DISPATCH "a dispatcher that weighs planes" |s|
        ["fcfs", "mbm", "paq", "vas"].contains(&&*s.scheduling.dispatch.policy);
    MBM "the dispatcher mbm" |s| s.scheduling.dispatch.mbm.is_some();
    SLC_CACHE "blocks in SLC mode" |s| s.ftl.slc_cache.is_some();
    NO_WORDLINES "programs of single pages" |s| s.timing.wordline.is_none();
    SLICED "sliced programs" |s| s.suspension.program == ProgramSuspension::Sliced;
    STEADY "a steady state" |s| s.ftl.precondition == Precondition::Steady;
    POWER_LOSS "a loss of power" |s| s.power_loss.is_some();
    REFRESH "blocks that are refreshed" |s|
        s.ftl.scan.is_some_and(|scan| scan.refresh_retries.is_some());
    LEVELLING "static wear levelling" |s| s.ftl.wear.static_spread.is_some();
    IN_ORDER "a link in order" |s| s.host.order == LinkOrder::InOrder;
    COMMANDS_CROSS "commands that cross the link" |s| s.host.commands_cross_link;
}

const PASSES_KEY: &str = "timing.coarse_iterations";

/// Rows of a table: the key that is refused, the features, and the sentence. Rows that share a
/// feature and a sentence are grouped under it.
macro_rules! rows {
    (pairs { $($key:literal: $one:ident + $other:ident, $what:literal;)+ }) => {
        &[$(Refusal { key: $key, one: $one, other: $other, what: $what }),+]
    };
    (slc { $($other:ident, $why:literal;)+ }) => {
        &[$(Refusal { key: "slc_cache.mode", one: SLC_CACHE, other: $other, what: concat!(
            "blocks in SLC mode are not modelled with this: ", $why, "; must be \"none\" with it"
        ) }),+]
    };
    (passes { $($other:ident, $why:literal;)+ }) => {
        &[$(Refusal { key: PASSES_KEY, one: TWO_PASSES, other: $other, what: concat!(
            "programs in two passes are not modelled with this: ", $why, "; must be absent with it"
        ) }),+]
    };
    (superblocks { $($other:ident, $why:literal;)+ }) => {
        &[$(Refusal { key: "ftl.twin_blocks", one: TWIN_BLOCKS, other: $other, what: concat!(
            "twin blocks are not modelled with this: ", $why, "; must be false with it"
        ) }),+]
    };
}

#[cfg(feature = "testing")]
thread_local! {
    /// The names of two features that are read all the same, to see what their refusal prevents.
    pub static LET_THROUGH: Cell<Option<[&'static str; 2]>> = const { Cell::new(None) };
}

#[cfg(feature = "testing")]
impl Refusal {
    /// Returns the names of the two features.
    pub fn names(&self) -> [&'static str; 2] {
        [self.one.name, self.other.name]
    }
}

/// The scope of a refusal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// The rig too.
    Part,
    /// A drive with a mapping.
    Drive,
}

/// Every refusal, in order of evaluation.
macro_rules! table {
    ($($of:ident $form:ident $rows:tt)+) => {
        const TABLE: &[(Of, &[Refusal])] = &[$((Of::$of, rows!($form $rows))),+];
    };
}

table! {
    Part pairs {
        "timing.wordline_pages": WORDLINES + BY_TYPE,
            "a wordline has one program, and timing.program_iterations_by_type gives several; \
             must be 1 with it";
        "timing.wordline_pages": WORDLINES + COPYBACK,
            "a copyback programs the page that it has read, and a program of a whole wordline \
             takes all its pages (ftl.copyback); must be 1 with it";
    }
    Part passes {
        NO_WORDLINES, "timing.wordline_pages = 1, where a program is not of a whole cell";
        SPREAD, "timing.program_iterations_weights, which has one program a wordline";
        CACHE_PROGRAM, "parallelism.cache_program";
    }
    Drive passes {
        DEMAND, "ftl.mapping = \"demand\", whose pages are read as they are written";
        POWER_LOSS, "power_loss.mode = \"on\", which would save wordlines of one pass";
    }
    Drive pairs {
        "nand.program_failure": WORDLINES + FAILED_PROGRAMS,
            "is not modelled with programs of whole wordlines; must be 0 with \
             timing.wordline_pages above 1";
        "nand.program_failure": UNITS + FAILED_PROGRAMS,
            "is not modelled with ftl.mapping_bytes below geometry.page_bytes; must be 0 with it";
        "ftl.mapping_bytes": UNITS + COPYBACK,
            "a copyback moves whole pages; must be geometry.page_bytes with ftl.copyback";
        "ftl.mapping_bytes": UNITS + MBM,
            "mbm places pages; must be geometry.page_bytes with scheduling.dispatch = \"mbm\"";
    }
    Part pairs {
        "timing.program_iterations_weights": SPREAD + BY_TYPE,
            "iterations go by type already; must be absent with timing.program_iterations_by_type";
        "parallelism.cache_program": CACHE_PROGRAM + NO_SHADOW,
            "the page of a suspended program could not come back past that of the next; must be \
             false with suspension.shadow_buffer = false";
        "parallelism.cache_program": CACHE_PROGRAM + FAILED_PROGRAMS,
            "a page that is loaded for a block on which the program before it fails is not \
             modelled; must be false with nand.program_failure above 0";
        "power.budget_mw": BUDGET + CACHE_PROGRAM,
            "cannot be kept with parallelism.cache_program: a program that is loaded begins by \
             itself; leave one of them out, or limit power.max_active_dies";
        "thermal.model": HEAT + CACHE_PROGRAM,
            "limits power, which a program that is loaded and begins by itself would break; must \
             be \"none\" with parallelism.cache_program";
        "suspension.multi_plane": PLANE_SUSPENSION + NO_INDEPENDENT_READS,
            "a plane that makes way alone reads into a page buffer of its own; must be \"whole\" \
             with parallelism.independent_plane_reads = false";
        "suspension.multi_plane": PLANE_SUSPENSION + CACHE_PROGRAM,
            "a page is not loaded here beside planes that are suspended; must be \"whole\" with \
             parallelism.cache_program = true";
        "suspension.multi_plane": PLANE_SUSPENSION + NESTED,
            "programs inside erases of which one plane is suspended are not modelled; must be \
             \"whole\" with suspension.host_write_suspends = [\"erase\"]";
        "suspension.multi_plane": PLANE_SUSPENSION + GC_READS,
            "reads of garbage collection suspend no single planes here; must be \"whole\" unless \
             suspension.gc_read_suspends = []";
    }
    Drive pairs {
        "ftl.copyback": COPYBACK + NO_SHADOW,
            "the page of a suspended copyback could not be restored over the channel; must be \
             false with suspension.shadow_buffer = false";
        "suspension.gc_read_suspends": GC_READS + COPYBACK,
            "a copyback is no read of garbage collection, and suspends nothing; must be [] with \
             ftl.copyback = true";
    }
    Drive superblocks {
        SINGLE_PLANE,
            "the planes of a die are erased together, and parallelism.multi_plane = \"none\"";
        WORDLINES, "timing.wordline_pages above 1";
        UNITS, "ftl.mapping_bytes below geometry.page_bytes";
        COPYBACK, "ftl.copyback = true";
        GC_PLANES, "ftl.gc_parallel_planes = true";
        FAULTS, "bad blocks, programs or erases that fail";
        PLANE_DISPATCH, "a dispatcher that weighs the planes of a die";
    }
    Drive slc {
        NO_WORDLINES, "timing.wordline_pages = 1, where a program is not of a whole cell";
        SPREAD, "timing.program_iterations_weights";
        SLICED, "suspension.program = \"sliced\"";
        CACHE_PROGRAM, "parallelism.cache_program = true";
        IN_STEP, "ftl.gc_victims_in_step = true";
        LEVELLING, "ftl.static_wear_spread";
        FAULTS, "bad blocks, programs or erases that fail";
        STEADY, "ftl.precondition = \"steady\"";
        PLANE_DISPATCH, "a dispatcher that weighs the planes of a die";
        POWER_LOSS, "power_loss.mode = \"on\"";
    }
    Drive pairs {
        "ftl.gc_parallel_planes": GC_PLANES + COPYBACK,
            "copybacks of several planes are not modelled; must be false with ftl.copyback = true";
        "ftl.gc_parallel_planes": GC_PLANES + NO_PARALLEL_PLANES,
            "a die does nothing on several planes at once; must be false with \
             parallelism.multi_plane = \"none\" and parallelism.independent_plane_reads = false";
        "ftl.gc_victims_in_step": IN_STEP + NOT_GREEDY,
            "another victim than the emptiest is chosen plane by plane; must be false unless \
             ftl.gc_victim = \"greedy\"";
        "ftl.gc_victims_in_step": IN_STEP + MOVES_AMONG_WRITES,
            "pages of the host would move the open blocks, too; must be false with \
             ftl.gc_stream = \"shared\"";
        "ftl.gc_victims_in_step": IN_STEP + DEMAND,
            "pages of the mapping are moved to open blocks of their own; must be false with \
             ftl.mapping = \"demand\"";
        "ftl.refresh_retries": REFRESH + IN_STEP,
            "victims that are chosen as a set are the emptiest; must be absent with \
             ftl.gc_victims_in_step";
        "ftl.gc_holds_channel": GC_HOLDS + DEMAND,
            "collection would wait for pages of the mapping behind the channel that it holds; must \
             be false with ftl.mapping = \"demand\"";
        "ftl.gc_holds_channel": GC_HOLDS + POWER_LIMIT,
            "a die that waits for the channel would keep the power that collection waits for; must \
             be false with power.budget_mw, power.max_active_dies or thermal.model";
        "host.order": IN_ORDER + COMMANDS_CROSS,
            "the exchanges of several commands share the link; must be \"free\" with \
             host.commands_cross_link = true";
        "ftl.stream": STREAMS + MBM,
            "a dispatcher that places writes sees one next page of a plane; must be \"single\" \
             with scheduling.dispatch = \"mbm\"";
    }
}

/// The pairs of features that are refused.
pub fn refusals() -> impl Iterator<Item = &'static Refusal> {
    TABLE.iter().flat_map(|(_, refusals)| *refusals)
}

/// Refuses two features that exclude each other.
pub(super) fn check(resolved: &Resolved, has_mapping: bool) -> Result<(), UserError> {
    let tables = TABLE.iter().filter(|(of, _)| has_mapping || *of == Of::Part);
    let asked =
        |refusal: &&Refusal| (refusal.one.is_on)(resolved) && (refusal.other.is_on)(resolved);
    #[cfg(feature = "testing")]
    let asked = |refusal: &&Refusal| asked(refusal) && LET_THROUGH.get() != Some(refusal.names());
    let found = tables.flat_map(|(_, refusals)| *refusals).find(asked);
    found.map_or(Ok(()), |refusal| Err(resolved.fault(refusal.key, refusal.what)))
}
