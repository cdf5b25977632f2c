//! Keys of parallel work inside a die: what they mean and what does not go together.

use reprieve_base::Dur;
use reprieve_nand::{IterationSpread, Retention, Slices};

use super::{BASE, bad, good};

/// Asserts the error of all sets given together.
fn refused(sets: &[&str], error: &str) {
    assert_eq!(bad(BASE, sets), error, "{sets:?}");
}

#[test]
fn page_types_take_their_times_from_lists_or_from_the_part() {
    assert_eq!(good(BASE, &[]).timing.page_types, None);
    let sets = ["timing.page_types=3", "timing.t_read_us_by_type=[56.5, 77.5, 106]"];
    let timing = good(BASE, &sets).timing;
    let reads: Vec<_> = (0..4).map(|page| timing.read_of(page).ns()).collect();
    assert_eq!(reads, [56_500, 77_500, 106_000, 56_500]);
    // The part has 15 iterations, and they hold for all pages if nothing else is said.
    assert_eq!((0..3).map(|page| timing.iterations_of(page)).collect::<Vec<_>>(), [15, 15, 15]);
    let sets = ["timing.page_types=2", "timing.program_iterations_by_type=[7, 20]"];
    let timing = good(BASE, &sets).timing;
    assert_eq!((timing.iterations_of(0), timing.iterations_of(1)), (7, 20));
    assert_eq!(timing.read_of(1), Dur::from_us(25));
}

#[test]
fn lists_have_an_entry_for_each_type() {
    refused(
        &["timing.page_types=3", "timing.t_read_us_by_type=[1, 2]"],
        "--set: timing.t_read_us_by_type = [1, 2]: must have one entry for each of \
         timing.page_types = 3",
    );
    refused(
        &["timing.page_types=2", "timing.program_iterations_by_type=[1, 2, 3]"],
        "--set: timing.program_iterations_by_type = [1, 2, 3]: must have one entry for each of \
         timing.page_types = 2",
    );
    refused(
        &["timing.page_types=2", "timing.program_iterations_by_type=[0, 2]"],
        "--set: timing.program_iterations_by_type = [0, 2]: must be a list of integers from 1 to \
         1000, or \"none\"",
    );
    refused(
        &["timing.page_types=2", "timing.t_read_us_by_type=25"],
        "--set: timing.t_read_us_by_type = 25: must be a list of times in microseconds, whole in \
         nanoseconds, from 0 to 10000000000, or \"none\"",
    );
    refused(
        &["timing.page_types=2", "timing.page_type_order=interleaved"],
        "--set: timing.page_type_order = \"interleaved\": is an order of three types; must be \
         \"modulo\" with 2",
    );
}

#[test]
fn iterations_by_wordline_are_different_counts_with_weights() {
    let key = "timing.program_iterations_weights";
    let timing = good(BASE, &[&format!("{key}=[[14, 1], [15, 3]]")]).timing;
    assert_eq!(timing.spread, Some(IterationSpread::new(&[(14, 1), (15, 3)])));
    assert_eq!(good(BASE, &[]).timing.spread, None);
    let seventeen: Vec<String> = (1..=17).map(|count| format!("[{count}, 1]")).collect();
    let seventeen = seventeen.join(", ");
    for wrong in ["[0, 1]", "[1001, 1]", "[5, 0]", "[5, 1], [5, 2]", "5, 1", &seventeen] {
        let error = bad(BASE, &[&format!("{key}=[{wrong}]")]);
        let right = "must be a list of 1 to 16 pairs [integer from 1 to 1000, weight from 1 to \
                     65535] of different integers, or \"none\"";
        assert!(error.ends_with(right), "{error}");
    }
    refused(
        &[
            "timing.page_types=2",
            "timing.program_iterations_by_type=[1, 2]",
            "timing.program_iterations_weights=[[1, 1]]",
        ],
        "--set: timing.program_iterations_weights = [[1, 1]]: iterations go by type already; must \
         be absent with timing.program_iterations_by_type",
    );
}

#[test]
fn retention_and_slices_are_read_as_they_stand() {
    let sets = ["suspension.retention_iterations=3", "suspension.retention_second_share=0.55"];
    let retention = good(BASE, &sets).suspension.retention;
    let wanted = Retention { iterations: 3, first_share_ppm: 200_000, second_share_ppm: 550_000 };
    assert_eq!(retention, wanted);
    refused(
        &["suspension.retention_first_share=0.1234567"],
        "--set: suspension.retention_first_share = 0.1234567: must have at most six decimals",
    );
    let slices = ["suspension.slice_iterations=4", "suspension.t_slice_overhead_us=1.5"];
    let sliced = [&slices[..], &["suspension.program=sliced"]].concat();
    let slices_of = |sets: &[&str]| good(BASE, sets).timing.slices;
    let wanted = Slices { iterations: 4, overhead: Dur::from_ns(1_500) };
    assert_eq!(slices_of(&sliced), Some(wanted));
    // A part that cuts its programs does not where nothing is suspended.
    assert_eq!(slices_of(&["part=qlc3d-sliced", "policy=rps"]), None);
    assert!(slices_of(&["part=qlc3d-sliced"]).is_some());
    assert!(bad(BASE, &slices).contains("only while suspension.program is \"sliced\""));
    assert!(bad(BASE, &["suspension.program=sliced"]).contains("slice_iterations is missing"));
}

#[test]
fn copyback_goes_without_what_it_cannot_do() {
    assert!(!good(BASE, &[]).ftl.copyback);
    assert!(good(BASE, &["ftl.copyback=true", "policy=pes-ipc"]).ftl.copyback);
    refused(
        &["ftl.copyback=true", "policy=pes-ips", "suspension.shadow_buffer=false"],
        "--set: ftl.copyback = true: the page of a suspended copyback could not be restored over \
         the channel; must be false with suspension.shadow_buffer = false",
    );
    refused(
        &["ftl.copyback=true", "suspension.gc_read_suspends=[\"erase\"]"],
        "--set: suspension.gc_read_suspends = [\"erase\"]: a copyback is no read of garbage \
         collection, and suspends nothing; must be [] with ftl.copyback = true",
    );
    // Without suspension nothing has to be restored.
    let bare = ["ftl.copyback=true", "policy=rps", "suspension.shadow_buffer=false"];
    assert!(good(BASE, &bare).ftl.copyback);
}

#[test]
fn planes_collect_side_by_side_where_a_die_takes_several() {
    let parallel = "ftl.gc_parallel_planes=true";
    assert!(!good(BASE, &[]).ftl.gc.parallel_planes);
    assert!(good(BASE, &[parallel, "parallelism.multi_plane=page"]).ftl.gc.parallel_planes);
    assert!(
        good(BASE, &[parallel, "parallelism.independent_plane_reads=true"]).ftl.gc.parallel_planes
    );
    refused(
        &[parallel],
        "--set: ftl.gc_parallel_planes = true: a die does nothing on several planes at once; must \
         be false with parallelism.multi_plane = \"none\" and \
         parallelism.independent_plane_reads = false",
    );
    let page = "parallelism.multi_plane=page";
    refused(
        &[parallel, page, "ftl.copyback=true", "suspension.shadow_buffer=true"],
        "--set: ftl.gc_parallel_planes = true: copybacks of several planes are not modelled; must \
         be false with ftl.copyback = true",
    );
}

#[test]
fn victims_are_chosen_as_a_set_where_moved_pages_are_alone() {
    let planes = ["parallelism.multi_plane=page", "ftl.gc_parallel_planes=true"];
    let own = "ftl.gc_stream=separate";
    let in_step = "ftl.gc_victims_in_step=true";
    let with = |more: &[&'static str]| [&planes[..], &[in_step], more].concat();
    assert!(!good(BASE, &[&planes[..], &[own]].concat()).ftl.gc.victims_in_step);
    assert!(good(BASE, &with(&[own])).ftl.gc.victims_in_step);
    assert!(bad(BASE, &[own, in_step]).contains("only while ftl.gc_parallel_planes is true"));
    let reasons: [(&[&'static str], &str); 3] = [
        (
            &[own, "ftl.gc_victim=random"],
            "another victim than the emptiest is chosen plane by plane; must be false unless \
             ftl.gc_victim = \"greedy\"",
        ),
        (
            &[],
            "pages of the host would move the open blocks, too; must be false with \
             ftl.gc_stream = \"shared\"",
        ),
        (
            &[own, "ftl.mapping=demand"],
            "pages of the mapping are moved to open blocks of their own; must be false with \
             ftl.mapping = \"demand\"",
        ),
    ];
    for (more, why) in reasons {
        refused(&with(more), &format!("--set: ftl.gc_victims_in_step = true: {why}"));
    }
}

#[test]
fn collection_holds_a_channel_where_nothing_waits_behind_it_for_ever() {
    let holds = ["ftl.gc_preemptible=false", "ftl.gc_holds_channel=true"];
    assert!(!good(BASE, &holds[..1]).ftl.gc.holds_channel);
    assert!(good(BASE, &holds).ftl.gc.holds_channel);
    assert!(
        bad(BASE, &holds[1..])
            .contains("only while ftl.gc_preemptible is false, but by default it is true")
    );
    refused(
        &[&holds[..], &["ftl.mapping=demand"]].concat(),
        "--set: ftl.gc_holds_channel = true: collection would wait for pages of the mapping behind \
         the channel that it holds; must be false with ftl.mapping = \"demand\"",
    );
    let joint = "parallelism.joint_read_done=command";
    assert!(bad(BASE, &[joint]).contains("only while parallelism.multi_plane is"));
}

#[test]
fn multi_plane_commands_go_without_what_is_not_modelled() {
    refused(
        &["geometry.planes_per_die=129"],
        "--set: geometry.planes_per_die = 129: must be an integer from 1 to 128",
    );
    assert!(bad(BASE, &["parallelism.multi_plane=true"]).contains("must be one of \"none\""));
}

#[test]
fn cache_programs_go_without_what_is_not_modelled() {
    refused(
        &["parallelism.cache_program=true", "policy=pes-ips", "suspension.shadow_buffer=false"],
        "--set: parallelism.cache_program = true: the page of a suspended program could not come \
         back past that of the next; must be false with suspension.shadow_buffer = false",
    );
    refused(
        &["parallelism.cache_program=true", "nand.program_failure=0.001"],
        "--set: parallelism.cache_program = true: a page that is loaded for a block on which the \
         program before it fails is not modelled; must be false with nand.program_failure above 0",
    );
    let bare = ["parallelism.cache_program=true", "policy=rps", "suspension.shadow_buffer=false"];
    assert!(good(BASE, &bare).parallelism.cache_program);
}

#[test]
fn a_wordline_is_part_of_a_block_with_one_program() {
    assert_eq!(good(BASE, &[]).timing.wordline, None);
    let wordline = good(BASE, &["timing.wordline_pages=4", "timing.t_load_gap_us=2"]).timing;
    let us = Dur::from_us;
    // Four transfers of 40 and three gaps.
    assert_eq!((wordline.data_in(), wordline.pages_together()), (us(166), 4));
    assert_eq!(wordline.undisturbed_program(false, 15), us(166 + 15 * 44));
    refused(
        &["timing.t_load_gap_us=2"],
        "--set: timing.t_load_gap_us = 2: one page has no gap; must be 0 with \
         timing.wordline_pages = 1",
    );
    refused(
        &["timing.wordline_pages=3"],
        "--set: timing.wordline_pages = 3: must divide geometry.pages_per_block = 128",
    );
    for (sets, what) in [
        (
            &["timing.page_types=2", "timing.program_iterations_by_type=[1, 2]"][..],
            "a wordline has one program, and timing.program_iterations_by_type gives several",
        ),
        (
            &["ftl.copyback=true"],
            "a copyback programs the page that it has read, and a program of a whole wordline \
             takes all its pages (ftl.copyback)",
        ),
    ] {
        let sets = [sets, &["timing.wordline_pages=2"]].concat();
        let error = format!("--set: timing.wordline_pages = 2: {what}; must be 1 with it");
        refused(&sets, &error);
    }
    refused(
        &["nand.program_failure=0.01", "timing.wordline_pages=2"],
        "--set: nand.program_failure = 0.01: is not modelled with programs of whole wordlines; \
         must be 0 with timing.wordline_pages above 1",
    );
    // 100 blocks of 4 pages, half of them the user's: 96 blocks have room for 384, of which 300
    // may have to be padded.
    refused(
        &[
            "timing.wordline_pages=4",
            "geometry.pages_per_block=4",
            "geometry.blocks_per_plane=100",
            "ftl.over_provisioning=0.5",
        ],
        "--set: ftl.over_provisioning = 0.5: leaves 200 pages of the user in a plane, and with \
         timing.wordline_pages = 4, of which collection may have to pad all but one in each \
         block, there is room for 84; must be larger",
    );
}

#[test]
fn planes_make_way_alone_where_nothing_comes_between() {
    assert!(!good(BASE, &[]).parallelism.plane_suspension);
    let plane = "suspension.multi_plane=plane";
    let own = "parallelism.independent_plane_reads=true";
    assert!(good(BASE, &[plane, own, "policy=pes-ipc"]).parallelism.plane_suspension);
    refused(
        &[plane],
        "--set: suspension.multi_plane = \"plane\": a plane that makes way alone reads into a page \
         buffer of its own; must be \"whole\" with parallelism.independent_plane_reads = false",
    );
    good(BASE, &[plane, own, "policy=pes-ips", "suspension.shadow_buffer=false"]);
    refused(
        &[plane, own, "parallelism.cache_program=true"],
        "--set: suspension.multi_plane = \"plane\": a page is not loaded here beside planes that \
         are suspended; must be \"whole\" with parallelism.cache_program = true",
    );
    refused(
        &[plane, own, "policy=pes-ipc", "suspension.host_write_suspends=[\"erase\"]"],
        "--set: suspension.multi_plane = \"plane\": programs inside erases of which one plane is \
         suspended are not modelled; must be \"whole\" with suspension.host_write_suspends = \
         [\"erase\"]",
    );
    refused(
        &[plane, own, "suspension.gc_read_suspends=[\"program\"]"],
        "--set: suspension.multi_plane = \"plane\": reads of garbage collection suspend no single \
         planes here; must be \"whole\" unless suspension.gc_read_suspends = []",
    );
}
