//! The presets against the numbers printed in their sources, typed in by hand.

use reprieve_base::{Dur, Geometry};
use reprieve_nand::{
    EraseMode, EraseResume, ProgramSuspension, Restore, ResumeAt, Retention, SameBlock, Suspension,
    Timing, VthReached,
};

use super::super::{Acknowledge, Preset, Scenario, devices, loads, parts, shorthands};
use super::{BASE, bad, good};

const MIB: u64 = 1 << 20;

/// Wu and He, FAST 2012, Table 1: Tbus, Tr_phy, Nw_cycle, Tw_program, Tverify, Terase,
/// Tvoltage_reset, Tbuffer; times in microseconds.
fn table_1(columns: [u64; 8]) -> Timing {
    let [bus, read, iterations, pulse, verify, erase, reset, buffer] = columns;
    Timing {
        command: Dur::ZERO,
        bus: Dur::from_us(bus),
        read: Dur::from_us(read),
        program_iterations: iterations as u32,
        program_pulse: Dur::from_us(pulse),
        verify: Dur::from_us(verify),
        erase: Dur::from_us(erase),
        erase_segments: 1,
        erase_verify: Dur::from_us(verify),
        voltage_reset: Dur::from_us(reset),
        buffer: Dur::from_us(buffer),
        suspend_overhead: Dur::ZERO,
        erase_suspend_overhead: Dur::ZERO,
        ..Timing::default()
    }
}

fn program_us(timing: &Timing) -> u64 {
    let iteration = timing.program_pulse + timing.verify;
    (iteration * u64::from(timing.program_iterations)).ns() / 1000
}

fn raw_bytes(drive: &Scenario) -> u64 {
    drive.geometry.pages() * u64::from(drive.geometry.page_bytes)
}

#[test]
fn fast12_drives_have_the_paper_s_table_and_configuration() {
    let slc = good(BASE, &["device=fast12-slc"]);
    let mlc = good(BASE, &[]);
    assert_eq!(slc.timing, table_1([20, 10, 5, 20, 8, 1500, 4, 3]));
    assert_eq!(mlc.timing, table_1([40, 25, 15, 20, 24, 3300, 4, 3]));
    // The table's own sum, Tw_total.
    assert_eq!((program_us(&slc.timing), program_us(&mlc.timing)), (140, 660));
    for (drive, page_bytes, plane_mib) in [(&slc, 2048, 512), (&mlc, 4096, 1024)] {
        let Geometry { channels, dies_per_channel, planes_per_die, .. } = drive.geometry;
        assert_eq!((channels, dies_per_channel, planes_per_die), (16, 1, 4));
        assert_eq!(drive.geometry.page_bytes, page_bytes);
        assert_eq!(raw_bytes(drive), 64 * plane_mib * MIB);
        assert_eq!(drive.ftl.over_provisioning, 0.30);
        assert_eq!(drive.ftl.placement, "cwdp");
        assert!(drive.ftl.gc_background);
        assert_eq!(drive.ftl.gc_start_free_share, 0.05);
        assert_eq!(drive.buffer.bytes, 64 * MIB);
        assert_eq!(drive.buffer.acknowledge, Acknowledge::Through);
        assert_eq!(drive.host.link_bytes_per_s, Some(2_000_000_000));
        assert_eq!(drive.scheduling.policy, "rps");
        assert_eq!(drive.scheduling.write_queue_limit, None);
        assert_eq!(
            drive.suspension,
            Suspension {
                program: ProgramSuspension::Ipc,
                erase: true,
                erase_resume: EraseResume::Exact,
                erase_mode: EraseMode::Immediate,
                reset_inside_phase: true,
                shadow_buffer: true,
                restore: Restore::Atomic,
                resume_at: ResumeAt::DataOut,
                vth_reached: VthReached::Never,
                same_block: SameBlock::Wordline,
                retention: Retention::NONE,
                ..Suspension::default()
            }
        );
    }
    // 70 % of 16 × 4 × 4096 × 64 and of 16 × 4 × 2048 × 128 pages, both 16,777,216.
    assert_eq!((slc.logical_pages(), mlc.logical_pages()), (11_744_051, 11_744_051));
}

#[test]
fn the_tlc_drive_adds_up_to_its_published_sums() {
    let drive = good(BASE, &["device=tlc3d-1tb"]);
    let timing = &drive.timing;
    // Zambelli et al. 2021, Table 2: tPGM 2 ms, tREAD 80 us, tERS 5 ms.
    assert_eq!(program_us(timing), 2000);
    assert_eq!(timing.read, Dur::from_us(80));
    assert_eq!(timing.erase + timing.erase_verify, Dur::from_us(5000));
    // As above, section 4.2: entering suspension takes 3 to 4 % of tPGM on average.
    let iteration = timing.program_pulse + timing.verify;
    let entry_us = (iteration.ns() / 2 + timing.suspend_overhead.ns()) / 1000;
    assert!((60..=80).contains(&entry_us), "{entry_us} us");
    assert_eq!(drive.suspension.program, ProgramSuspension::Iteration);
    let Suspension { max_per_program, max_per_erase, .. } = drive.suspension;
    assert_eq!((max_per_program, max_per_erase), (Some(10), Some(10)));
    let unit_bytes = drive.mapping_geometry().page_bytes;
    let user_bytes = u64::from(drive.logical_pages()) * u64::from(unit_bytes);
    assert!((1_000_000_000_000..1_002_000_000_000).contains(&user_bytes), "{user_bytes}");
    // PCIe 3.0: 8e9 × 4 × 128 / 130 / 8 = 3,938,461,538.46 bytes a second.
    assert_eq!(drive.host.link_bytes_per_s, Some(3_938_461_538));
}

#[test]
fn published_drives_have_the_published_sums() {
    let giga_bytes = |drive: &Scenario| {
        let unit_bytes = drive.mapping_geometry().page_bytes;
        u64::from(drive.logical_pages()) * u64::from(unit_bytes) / 1_000_000_000
    };
    let gib = |drive: &Scenario| raw_bytes(drive) / (1024 * MIB);
    // NVMeVirt: 16 dies, NAND_PROG_LATENCY 185000, reads of 36013 -+ 6000.
    let mlc = good(BASE, &["device=970pro-like"]);
    assert_eq!((mlc.geometry.dies(), gib(&mlc), giga_bytes(&mlc)), (16, 512, 511));
    assert_eq!((program_us(&mlc.timing), mlc.timing.read.ns()), (185, (30_013 + 42_013) / 2));
    // ISSCC 2018: 64 Gbit, tR 3 us, tPROG 100 us; sold as 480 GB.
    let slc = good(BASE, &["device=znand-like"]);
    assert_eq!((raw_bytes(&slc) >> 20) / u64::from(slc.geometry.dies()), 8 * 1024 + 4);
    assert_eq!((giga_bytes(&slc), program_us(&slc.timing)), (480, 100));
    // Zambelli et al. 2021, Table 1: 16 channels, 8 targets, 2048 blocks of 256 pages of 16 KiB.
    let tlc = good(BASE, &["device=tlc-enterprise"]);
    assert_eq!((tlc.geometry.dies(), gib(&tlc)), (128, 1024));
    assert_eq!(tlc.geometry.blocks_per_plane * tlc.geometry.planes_per_die, 2048);
    // 1 Tbit a die, sold as 3.84 TB; FEMU's read times; four planes of 16 KiB at 30 MB/s.
    let qlc = good(BASE, &["device=qlc-enterprise"]);
    assert_eq!((gib(&qlc), giga_bytes(&qlc)), (32 * 128, 3839));
    assert_eq!(qlc.timing.read.ns() * 4, (59 + 85 + 127 + 170) * 1000);
    let bytes_per_us = 4 * u64::from(qlc.geometry.page_bytes) / program_us(&qlc.timing);
    assert_eq!(bytes_per_us, 29);
}

#[test]
fn parts_of_wordlines_have_the_published_sums() {
    let part = |name: &str| good(BASE, &[&format!("part={name}")]);
    let mean = |part: &Scenario| {
        let spread = part.timing.spread.expect("wordlines differ");
        let entries = spread.entries().iter().map(|pair| (u32::from(pair.0), u32::from(pair.1)));
        let (sum, weights) = entries
            .fold((0, 0), |(sum, weights), (n, weight)| (sum + n * weight, weights + weight));
        assert_eq!(sum % weights, 0);
        sum / weights
    };
    // Zambelli et al. 2021: 2048 blocks of 256 wordlines, 2 ms, 80 us, 5 ms, ten suspensions.
    let tlc = part("tlc3d-zambelli");
    assert_eq!(tlc.geometry.blocks_per_plane * tlc.geometry.planes_per_die, 2048);
    assert_eq!(tlc.geometry.pages_per_block, 256 * tlc.timing.pages_together());
    assert_eq!((program_us(&tlc.timing), mean(&tlc)), (2_001, tlc.timing.program_iterations));
    assert_eq!(tlc.timing.read, Dur::from_us(80));
    assert_eq!(tlc.timing.erase + tlc.timing.erase_verify, Dur::from_us(5_000));
    assert_eq!(tlc.suspension.max_per_program, Some(10));
    // Bytes in 40.96 us at 400 million a second; three loads and two gaps.
    assert_eq!(tlc.timing.bus.ns() * 4 / 10, 16_384);
    assert_eq!(tlc.timing.data_in(), Dur::from_ns(3 * 40_960 + 2 * 1_000));
    // Section 4.2: half an iteration of 69 us and 35 us are 69.5 us of 2001, 3 to 4 %.
    let iteration = tlc.timing.program_pulse + tlc.timing.verify;
    let entry_ns = iteration.ns() / 2 + tlc.timing.suspend_overhead.ns();
    assert_eq!(entry_ns, 69_500);
    assert!((0.03..=0.04).contains(&(entry_ns as f64 / 2_001_000.0)));
    // 16 pages of 16 KiB in 8.7 ms are 30.1 MB/s; a slice has three of the 87 iterations.
    let qlc = part("qlc3d-wordline");
    assert_eq!((program_us(&qlc.timing), mean(&qlc)), (8_700, 87));
    assert_eq!(16 * 16_384 / program_us(&qlc.timing), 30);
    let sliced = part("qlc3d-sliced");
    assert_eq!(sliced.timing.program_array(87), Dur::from_us(29 * 320));
    let suspend_overhead = Dur::from_us(30);
    assert_eq!(Timing { slices: None, suspend_overhead, ..sliced.timing }, qlc.timing);
}

/// The table of timing parameters of Starblaze's slides: tErase in ms, tProg in us, tRead in us,
/// each typical and maximum.
const STARBLAZE: [(&str, [[u64; 2]; 3]); 4] = [
    ("slc2d-starblaze", [[5, 10], [300, 3_000], [35, 50]]),
    ("mlc2d-starblaze", [[5, 10], [1_400, 3_000], [50, 85]]),
    ("slc3d-starblaze", [[10, 25], [250, 600], [37, 65]]),
    ("tlc3d-starblaze", [[10, 25], [2_300, 11_000], [67, 100]]),
];

#[test]
fn parts_of_the_slides_have_typical_and_maximum_times() {
    for (name, [erase_ms, program, read]) in STARBLAZE {
        for (values, of) in [("typical", 0), ("maximum", 1)] {
            let sets = [format!("part={name}"), format!("timing.values={values}")];
            let Scenario { timing, .. } = good(BASE, &sets.each_ref().map(String::as_str));
            assert_eq!(timing.erase + timing.erase_verify, Dur::from_us(1000 * erase_ms[of]));
            assert_eq!(program_us(&timing), program[of], "{name}, {values}");
            assert_eq!(timing.read, Dur::from_us(read[of]), "{name}, {values}");
        }
    }
    // A part without maxima has none to ask for, and types have times of their own.
    let none = bad(BASE, &["timing.values=maximum"]);
    assert!(none.contains("the part has no maximum"), "{none}");
    let sets = ["part=tlc3d-starblaze", "timing.values=maximum", "timing.page_types=3"];
    let typed = bad(BASE, &[&sets[..], &["timing.t_read_us_by_type=[50, 60, 70]"]].concat());
    assert!(typed.contains("types of pages have one time each"), "{typed}");
    // One of them is enough; the others are as they are.
    let one = good(BASE, &["timing.values=maximum", "timing.t_read_us_max=70"]);
    let usual = good(BASE, &[]).timing;
    assert_eq!(one.timing, Timing { read: Dur::from_us(70), ..usual });
}

#[test]
fn every_preset_loads_and_says_what_it_is() {
    for device in devices() {
        for policy in shorthands().iter().map(|entry| entry.name) {
            // A drive with zones is not overwritten.
            let (device, policy) = (format!("device={}", device.name), format!("policy={policy}"));
            good(BASE, &[&*device, &policy, "workload.read_fraction=1"]);
        }
    }
    for part in parts() {
        good(BASE, &[&format!("part={}", part.name)]);
    }
    for Preset { name, toml } in devices().iter().chain(parts()).chain(loads()) {
        assert!(toml.starts_with("# "), "{name} opens with a sentence");
        // A long value has its source on the line before; the name of the part needs none.
        let lines: Vec<_> = toml.lines().collect();
        let sourced = |pair: &[&str]| {
            let key = pair[1].split(" = ").next().unwrap_or_default();
            pair[1].contains('#') || pair[0].starts_with(&format!("# {key}: ")) || key == "part"
        };
        let unsourced: Vec<_> =
            lines.windows(2).filter(|pair| pair[1].contains(" = ") && !sourced(pair)).collect();
        assert!(unsourced.is_empty(), "{name}: {unsourced:?}");
    }
    assert_eq!(
        devices()[1].doc(),
        "The MLC drive of Wu and He, FAST 2012: 16 chips, each with a channel of its own."
    );
}

#[test]
fn the_drive_of_the_mbm_paper_has_its_table_1() {
    let drive = good(BASE, &["device=mbm"]);
    let Geometry { channels, chips_per_channel, dies_per_channel, .. } = drive.geometry;
    assert_eq!((channels, chips_per_channel, dies_per_channel), (4, 2, 2 * 2));
    let Geometry { planes_per_die, pages_per_block, page_bytes, .. } = drive.geometry;
    assert_eq!((planes_per_die, pages_per_block, page_bytes), (2, 1024, 8192));
    let timing = &drive.timing;
    assert_eq!((timing.command, timing.bus), (Dur::from_ns(7 * 10), Dur::from_ns(10 * 8192)));
    assert_eq!((timing.read, program_us(timing)), (Dur::from_us(78), 1300));
    assert_eq!(timing.erase + timing.erase_verify, Dur::from_us(15_000));
}
