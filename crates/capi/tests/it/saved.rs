//! Drives that are saved in mid-flight, and go on as if they had not been.

use reprieve::reprieve_now;
use reprieve_ssd::scenario::{self, Sources};
use reprieve_ssd::{Options, Ssd, registries};

use super::c_drive::{Drive, INVALID, OK};
use super::same::{DRIVE, Draws, requests};

/// Submits, steps and takes at random; the same for every drive that it is done with.
fn disturb(drive: &Drive, seed: u64, rounds: u64) -> Vec<u64> {
    let mut draws = Draws(seed);
    let mut seen = Vec::new();
    let asked = requests(2_000, rounds, seed);
    for (_, request) in asked {
        let now_ns = unsafe { reprieve_now(drive.0) };
        let later = [0, 0, 1, 5_000, 400_000][draws.below(5) as usize];
        assert_eq!(drive.submit(now_ns + later, request), OK, "{}", drive.error());
        for _ in 0..draws.below(6) {
            match draws.below(3) {
                0 => assert_eq!(drive.advance(drive.next()), OK, "{}", drive.error()),
                1 => seen.push(drive.run(drive.next().min(now_ns + 1_000_000))),
                _ => {
                    assert_eq!(
                        drive.advance(
                            (now_ns + 100)
                                .clamp(unsafe { reprieve_now(drive.0) }, drive.next().max(now_ns))
                        ),
                        OK,
                        "{}",
                        drive.error()
                    );
                }
            }
            if drive.next() == super::c_drive::NEVER {
                break;
            }
        }
        if draws.below(3) == 0 {
            seen.extend(drive.poll().iter().flat_map(|told| [told.0, told.1, told.3]));
        }
    }
    seen
}

#[test]
fn a_restored_drive_and_a_clone_do_what_the_saved_one_does() {
    for seed in 0..12 {
        let policy = ["fifo", "rps", "pes-ips", "pes-ipc"][seed as usize % 4];
        let drive = Drive::open(&format!("seed = {seed}\npolicy = \"{policy}\"\n{DRIVE}"));
        disturb(&drive, seed, 40 + 30 * seed);
        let saved = drive.save();
        let restored = Drive::try_restore(&saved).expect("it is whole");
        assert_eq!(restored.save(), saved);
        assert_eq!(restored.next(), drive.next());
        assert_eq!(restored.summary(), drive.summary());
        let clone = drive.try_clone();
        let all = [&drive, &restored, &clone].map(|drive| {
            let seen = disturb(drive, seed + 100, 60);
            (seen, drive.save(), drive.finish(), drive.summary())
        });
        assert!(all[0] == all[1] && all[0] == all[2], "seed {seed}");
        let twice = Drive::try_restore(&all[0].1).expect("a restored drive is saved whole");
        assert_eq!(twice.finish(), all[0].2, "seed {seed}");
    }
}

#[test]
fn a_drive_opens_in_a_saved_state() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("drive.state");
    let text = format!("seed = 4\n{DRIVE}");
    let sources = Sources { text: &text, path: "test.toml", sets: &[] };
    let scenario = scenario::load_served(&sources, registries()).expect("a drive");
    let mut ssd =
        Ssd::with(scenario, &Options { served: true, ..Options::default() }).expect("fits");
    while !ssd.is_preconditioned() {
        ssd.step(1).expect("it is preconditioned");
    }
    ssd.save_state(&file).expect("it is written");
    let (own, from) = (Drive::open(&text), Drive::open_state(&text, &file).expect("its state"));
    let seen = [&own, &from].map(|drive| (disturb(drive, 9, 80), drive.finish()));
    assert_eq!(seen[0], seen[1]);
    let (status, error) =
        Drive::open_state(&text.replace("= 24", "= 32"), &file).err().expect("other");
    assert_eq!(status, INVALID);
    assert!(error.starts_with(&file.display().to_string()), "{error}");
}

#[test]
fn what_is_damaged_is_refused() {
    let drive = Drive::open(DRIVE);
    disturb(&drive, 3, 20);
    let saved = drive.save();
    for place in (0..saved.len()).step_by(997) {
        let mut changed = saved.clone();
        changed[place] ^= 4;
        for bytes in [&changed[..], &saved[..place]] {
            let (status, error) = Drive::try_restore(bytes).err().expect("it is refused");
            assert_eq!(status, INVALID);
            assert_eq!(error, "a saved drive: it is cut off or changed; save it anew");
        }
    }
}
