//! Random drives with parallel work inside their dies: nothing is lost, nothing is counted twice.

use proptest::prelude::*;

use super::cases::{Case, case, many};
use super::conservation::{check_classes, check_flash, check_log, check_pages};
use super::drive;

/// Runs a case and checks all of it but the time on the channels.
fn check_pages_of(case: &Case, sets: &[&str]) {
    let outcome = drive::run_drawn(&case.toml(), sets);
    check_log(case, &outcome);
    check_classes(&outcome);
    check_pages(case, &outcome);
    check_flash(case, &outcome);
}

/// Ways of parallel work inside a die that every drive here can have.
const PARALLEL: [&[&str]; 11] = [
    &["parallelism.multi_plane=page"],
    &["parallelism.multi_plane=block", "ftl.placement=aligned", "timing.page_types=3"],
    &["parallelism.independent_plane_reads=true", "parallelism.multi_plane=page"],
    &["parallelism.cache_program=true", "suspension.shadow_buffer=true"],
    &["ftl.copyback=true", "suspension.shadow_buffer=true", "suspension.gc_read_suspends=[]"],
    &[
        "parallelism.multi_plane=page",
        "parallelism.cache_program=true",
        "parallelism.independent_plane_reads=true",
        "ftl.copyback=true",
        "suspension.shadow_buffer=true",
        "suspension.gc_read_suspends=[]",
    ],
    &["ftl.gc_parallel_planes=true", "parallelism.multi_plane=page", "ftl.placement=aligned"],
    &["ftl.gc_parallel_planes=true", "parallelism.multi_plane=block"],
    &["ftl.gc_parallel_planes=true", "parallelism.independent_plane_reads=true"],
    &[
        "parallelism.independent_plane_reads=true",
        "parallelism.multi_plane=page",
        "suspension.multi_plane=plane",
        "suspension.shadow_buffer=true",
        "suspension.gc_read_suspends=[]",
        "ftl.gc_preemptible=true",
        "power.account=off",
    ],
    &[
        "ftl.gc_parallel_planes=true",
        "parallelism.independent_plane_reads=true",
        "parallelism.multi_plane=page",
        "suspension.multi_plane=plane",
        "suspension.shadow_buffer=true",
        "suspension.gc_read_suspends=[]",
        "ftl.gc_preemptible=true",
        "power.account=off",
    ],
];

/// Those whose power is accounted for.
pub(super) const METERED: &[&[&str]] = PARALLEL.split_at(9).0;

proptest! {
    #![proptest_config(many(300))]

    #[test]
    fn parallel_work_in_a_die_is_conserved(case in case(), way in 0..PARALLEL.len()) {
        let sets = [PARALLEL[way], &["suspension.host_write_suspends=[]"]].concat();
        check_pages_of(&case, &sets);
    }

    #[test]
    fn parallel_work_and_a_mapping_in_flash_lose_nothing(
        mut case in case(),
        way in 0..PARALLEL.len(),
        entries in 8..200u64,
    ) {
        case.make_room_for_mapping();
        let cache = format!("ftl.map_cache_bytes={}", 8 * entries);
        let more = ["suspension.host_write_suspends=[]", "ftl.mapping=demand", &cache];
        check_pages_of(&case, &[PARALLEL[way], &more].concat());
    }

    #[test]
    fn parallel_work_survives_failures(
        mut case in case(),
        way in 0..PARALLEL.len(),
        demand in any::<bool>(),
    ) {
        case.expect_failures();
        let mut sets = PARALLEL[way].to_vec();
        sets.extend([
            "suspension.host_write_suspends=[]",
            "ftl.precondition=sequential",
            "ftl.factory_bad_share=0.05",
            "nand.erase_failure=0.005",
        ]);
        if !sets.contains(&"parallelism.cache_program=true") {
            sets.push("nand.program_failure=0.0005");
        }
        if demand {
            case.make_room_for_mapping();
            sets.extend(["ftl.mapping=demand", "ftl.map_cache_bytes=256"]);
        }
        check_pages_of(&case, &sets);
    }

    #[test]
    fn planes_that_collect_in_step_lose_nothing(mut case in case(), fails in any::<bool>()) {
        // The open block for moved pages is one of its own.
        case.shape.more_fronts += 1;
        let mut sets = vec![
            "suspension.host_write_suspends=[]",
            "parallelism.multi_plane=page",
            "ftl.gc_parallel_planes=true",
            "ftl.gc_victim=greedy",
            "ftl.gc_stream=separate",
            "ftl.gc_victims_in_step=true",
        ];
        if fails {
            case.expect_failures();
            sets.extend(["ftl.factory_bad_share=0.05", "nand.erase_failure=0.005"]);
            sets.extend(["ftl.precondition=sequential", "nand.program_failure=0.0005"]);
        }
        check_pages_of(&case, &sets);
    }

    #[test]
    fn programs_of_whole_wordlines_are_conserved(mut case in case(), planes in 0..4u32) {
        // So much room that collection can pad, and blocks of whole wordlines.
        case.shape.pages = 4 * case.shape.pages.div_ceil(4);
        case.shape.extra_spare = case.shape.blocks.max(16);
        case.shape.blocks = 2 * case.shape.extra_spare;
        let waits = planes == 3;
        let (parallel, beside) = match planes {
            0 => ("parallelism.multi_plane=none", "ftl.gc_parallel_planes=false"),
            1 => ("parallelism.multi_plane=page", "ftl.gc_parallel_planes=false"),
            _ => ("parallelism.multi_plane=page", "ftl.gc_parallel_planes=true"),
        };
        let sets = [
            "suspension.host_write_suspends=[]",
            "ftl.stream=single",
            "timing.wordline_pages=2",
            "ftl.wordline_timeout_us=300",
            if waits { "ftl.wait_for_planes=true" } else { "ftl.copyback=false" },
            parallel,
            beside,
        ];
        let outcome = drive::run_drawn(&case.toml(), &sets);
        check_log(&case, &outcome);
        check_classes(&outcome);
        check_pages(&case, &outcome);
    }
}
