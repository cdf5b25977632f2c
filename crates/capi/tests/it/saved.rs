//! Drives that are saved in mid-flight, and go on as if they had not been.

use reprieve::{reprieve_keep_journal, reprieve_now};

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
fn a_restored_drive_does_what_the_saved_one_does() {
    for seed in 0..12 {
        let policy = ["fifo", "rps", "pes-ips", "pes-ipc"][seed as usize % 4];
        let drive = Drive::open(&format!("seed = {seed}\npolicy = \"{policy}\"\n{DRIVE}"));
        assert_eq!(unsafe { reprieve_keep_journal(drive.0) }, OK);
        disturb(&drive, seed, 40 + 30 * seed);
        let saved = drive.save().expect("it keeps a journal");
        let restored = Drive::try_restore(&saved).expect("it is whole");
        assert_eq!(restored.save().expect("its journal goes on"), saved);
        assert_eq!(restored.next(), drive.next());
        assert_eq!(restored.summary(), drive.summary());
        let both = [&drive, &restored].map(|drive| {
            let seen = disturb(drive, seed + 100, 60);
            let again = drive.save().expect("its journal goes on");
            (seen, again, drive.finish(), drive.summary())
        });
        assert_eq!(both[0], both[1], "seed {seed}");
        let twice = Drive::try_restore(&both[0].1).expect("a restored drive is saved whole");
        assert_eq!(twice.finish(), both[0].2, "seed {seed}");
    }
}

#[test]
fn what_is_damaged_is_refused() {
    let drive = Drive::open(DRIVE);
    assert_eq!(unsafe { reprieve_keep_journal(drive.0) }, OK);
    disturb(&drive, 3, 20);
    let saved = drive.save().expect("it keeps a journal");
    for place in (0..saved.len()).step_by(97) {
        let mut changed = saved.clone();
        changed[place] ^= 4;
        for bytes in [&changed[..], &saved[..place]] {
            let (status, error) = Drive::try_restore(bytes).err().expect("it is refused");
            assert_eq!(status, INVALID);
            assert_eq!(error, "a saved drive: it is cut off or changed; save it anew");
        }
    }
}

#[test]
fn only_what_is_kept_is_saved() {
    let drive = Drive::open(DRIVE);
    let (status, error) = drive.save().expect_err("it keeps no journal");
    assert_eq!(status, INVALID);
    assert!(error.contains("keeps no journal"), "{error}");
    disturb(&drive, 1, 1);
    assert_eq!(unsafe { reprieve_keep_journal(drive.0) }, INVALID);
    assert!(drive.error().contains("before the first request"), "{}", drive.error());
}
