//! The store of prepared states: one prepares and others get it; a file that is wrong is none.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use super::*;

const MIB: u64 = 1 << 20;

fn key(drive: u128) -> Key {
    Key { drive, build: 7 }
}

fn claimed(store: &Arc<Store>, key: Key) -> Claim {
    match store.find(key) {
        Found::Absent(claim) => claim,
        other => panic!("{key:?} is {other:?}"),
    }
}

/// Keeps a state of one number.
fn keep(store: &Arc<Store>, key: Key, mut number: u64, is_costly: bool) {
    let claim = claimed(store, key);
    let mut archive = claim.archive();
    archive.part(&mut number);
    archive.table(&mut [3; 1000]);
    claim.keep(archive, is_costly);
}

/// The number of a state; `None`: it is not there.
fn number(store: &Arc<Store>, key: Key) -> Option<u64> {
    let Found::State(prepared) = store.find(key) else { return None };
    let (mut number, mut table) = (0, [0; 1000]);
    let mut archive = prepared.parts();
    archive.part(&mut number);
    archive.table(&mut table);
    archive.check().expect("all of it is taken");
    assert_eq!(table, [3; 1000]);
    Some(number)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

#[test]
fn the_least_recently_used_leave() {
    let store = Store::new(None, 2_500, MIB);
    keep(&store, key(1), 10, false);
    keep(&store, key(2), 20, false);
    assert_eq!(number(&store, key(1)), Some(10));
    keep(&store, key(3), 30, false);
    let found = [1, 2, 3].map(|drive| number(&store, key(drive)));
    assert_eq!(found, [Some(10), None, Some(30)]);
}

#[test]
fn one_prepares_and_the_others_wait() {
    let store = Store::new(None, MIB, MIB);
    let prepared = AtomicU64::new(0);
    let prepare = || loop {
        match store.find(key(1)) {
            Found::State(_) => return number(&store, key(1)),
            Found::Awaited(_) => {}
            Found::Absent(claim) => {
                let number = prepared.fetch_add(1, Ordering::Relaxed);
                // The first fails.
                assert!(number > 0, "on purpose");
                let mut archive = claim.archive();
                archive.part(&mut 99u64);
                archive.table(&mut [3; 1000]);
                thread::sleep(WAIT * 2);
                claim.keep(archive, false);
            }
        }
    };
    let found = thread::scope(|scope| {
        let caught = || catch_unwind(AssertUnwindSafe(prepare)).ok().flatten();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(caught)).collect();
        threads.into_iter().map(|it| it.join().expect("it is caught")).collect::<Vec<_>>()
    });
    assert_eq!(found.iter().filter(|found| **found == Some(99)).count(), 7, "{found:?}");
    assert_eq!(prepared.into_inner(), 2);
}

#[test]
fn steps_of_a_claim_are_seen() {
    let store = Store::new(None, MIB, MIB);
    let claim = claimed(&store, key(1));
    assert!(matches!(store.find(key(1)), Found::Awaited(0)));
    claim.step();
    claim.step();
    assert!(matches!(store.find(key(1)), Found::Awaited(2)));
    drop(claim);
    drop(claimed(&store, key(1)));
}

#[test]
fn what_was_costly_is_there_for_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("new/states");
    let new = || Store::new(Some(place.clone()), MIB, MIB);
    keep(&new(), key(1), 10, true);
    keep(&new(), key(2), 20, false);
    assert_eq!([1, 2].map(|drive| number(&new(), key(drive))), [Some(10), None]);
    assert_eq!(files(&place).len(), 1);
}

#[test]
fn a_file_that_is_wrong_is_none_and_is_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let new = || Store::new(Some(folder.path().to_owned()), MIB, MIB);
    keep(&new(), key(1), 10, true);
    let [path] = &files(folder.path())[..] else { panic!("one file") };
    let whole = fs::read(path).expect("a file");
    let mut wrong: Vec<Vec<u8>> =
        [0, 7, 8, 15, 16, 39, 40, whole.len() - 1].map(|length| whole[..length].to_vec()).into();
    for byte in 0..whole.len() {
        let mut changed = whole.clone();
        changed[byte] ^= 1;
        wrong.push(changed);
    }
    wrong.push([&whole[..], &[0]].concat());
    for bytes in wrong {
        fs::write(path, &bytes).expect("a file");
        assert_eq!(number(&new(), key(1)), None, "{} bytes", bytes.len());
    }
    keep(&new(), key(1), 11, true);
    assert_eq!(number(&new(), key(1)), Some(11));
    // Another build has the same drive, and another drive could have the same file.
    assert_eq!(number(&new(), Key { build: 8, ..key(1) }), None);
    fs::copy(path, folder.path().join(file_name(key(2)))).expect("a copy");
    assert_eq!(number(&new(), key(2)), None);
    keep(&new(), Key { build: 8, ..key(1) }, 12, true);
    assert_eq!([7, 8].map(|build| number(&new(), Key { build, drive: 1 })), [None, Some(12)]);
}

#[test]
fn a_folder_that_cannot_be_written_does_no_harm() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, b"no folder").expect("a file");
    for place in [file.join("states"), file] {
        let store = Store::new(Some(place), MIB, MIB);
        keep(&store, key(1), 10, true);
        assert_eq!(number(&store, key(1)), Some(10));
    }
}

#[test]
fn the_oldest_files_go_and_foreign_ones_stay() {
    let folder = tempfile::tempdir().expect("a folder");
    let new = || Store::new(Some(folder.path().to_owned()), MIB, 2_500);
    let age = |drive, seconds: u64| {
        let path = folder.path().join(file_name(key(drive)));
        let file = fs::File::options().write(true).open(path).expect("a file");
        let before = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        file.set_modified(before).expect("a time");
    };
    let foreign = ["thesis.txt", "thesis.prepared"].map(|name| folder.path().join(name));
    for path in &foreign {
        fs::write(path, vec![0; 9_000]).expect("a file");
        let file = fs::File::options().write(true).open(path).expect("a file");
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).expect("a time");
    }
    // A writer was killed in the middle, long ago.
    let partial = folder.path().join(format!(".{}.1.partial", file_name(key(9))));
    fs::write(&partial, vec![0; 500]).expect("a file");
    let file = fs::File::options().write(true).open(&partial).expect("a file");
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).expect("a time");
    keep(&new(), key(1), 10, true);
    keep(&new(), key(2), 20, true);
    assert!(!partial.exists() || files(folder.path()).len() == 5);
    age(1, 100);
    age(2, 200);
    // Used, the first is the younger.
    assert_eq!(number(&new(), key(1)), Some(10));
    keep(&new(), key(3), 30, true);
    let found = [1, 2, 3].map(|drive| number(&new(), key(drive)));
    assert_eq!(found, [Some(10), None, Some(30)]);
    assert!(foreign.iter().all(|path| path.exists()) && !partial.exists());
    // One that has no room at all is not written.
    keep(&Store::new(Some(folder.path().to_owned()), MIB, 100), key(4), 40, true);
    assert_eq!(number(&new(), key(4)), None);
    assert_eq!(number(&new(), key(1)), Some(10));
}

/// With two places and three drives in turn, each would else displace the one that is next.
#[test]
fn a_process_displaces_no_file_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let new = |memory| Store::new(Some(folder.path().to_owned()), memory, 2_500);
    let store = new(1);
    for (drive, number) in [(1, 10), (2, 20), (3, 30), (1, 11), (2, 21), (3, 31)] {
        if self::number(&store, key(drive)).is_none() {
            keep(&store, key(drive), number, true);
        }
    }
    let found = [1, 2, 3].map(|drive| number(&new(MIB), key(drive)));
    assert_eq!(found, [Some(10), Some(20), None]);
    // Another process has used none of them.
    keep(&new(1), key(3), 32, true);
    assert_eq!(number(&new(MIB), key(3)), Some(32));
    assert_eq!(files(folder.path()).len(), 2);
}

#[test]
fn the_place_is_that_of_the_user() {
    let place = |variables: &[(&str, &str)]| {
        let variable = |name: &str| {
            let found = variables.iter().find(|(own, _)| *own == name);
            found.map(|(_, value)| OsString::from(value))
        };
        folder(variable).map(|place| place.map(|path| path.display().to_string()))
    };
    let some = |path: &str| Some(Some(path.to_owned()));
    let (home, cache) = (("HOME", "/h"), ("XDG_CACHE_HOME", "/c"));
    assert_eq!(place(&[home, cache]), some("/c/reprieve/states"));
    assert_eq!(place(&[home]), some("/h/.cache/reprieve/states"));
    assert_eq!(
        place(&[home, ("XDG_CACHE_HOME", "not/absolute")]),
        some("/h/.cache/reprieve/states")
    );
    assert_eq!(place(&[]), Some(None));
    assert_eq!(place(&[home, ("REPRIEVE_STATES", "off")]), None);
    assert_eq!(place(&[home, ("REPRIEVE_STATES", "")]), some("/h/.cache/reprieve/states"));
    assert_eq!(place(&[home, ("REPRIEVE_STATES", "here")]), some("here"));
}
