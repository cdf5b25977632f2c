//! The entries of the threat model that take bytes, and what holds of each.

mod explorer;
mod tls;

use std::io::Write as _;

use reprieve_base::{Op, Time};
use reprieve_embed::{Ask, Drive};
use reprieve_ssd::scenario::{self, Sources};
use reprieve_ssd::{Options, Ssd, registries};
use reprieve_trace::{Reading, fio_jobs, formats, head};
use tempfile::NamedTempFile;
use twox_hash::XxHash3_64;

/// An entry's name, and the function that takes its bytes.
pub type Entry = (&'static str, fn(&[u8]));

/// Every entry.
pub const ALL: &[Entry] = &[
    ("scenario", scenario),
    ("trace", trace),
    ("fio", fio),
    ("state", state),
    ("nbd", reprieve_serve::testing::nbd),
    ("control", control),
    ("tls", tls::tls),
    ("explorer", explorer::explorer),
    ("embed", embed),
];

/// Feeds bytes to an entry. Panics if there is none of that name, or at a fault.
pub fn take(name: &str, data: &[u8]) {
    let found = ALL.iter().find(|(entry, _)| *entry == name);
    found.unwrap_or_else(|| panic!("no entry is called {name}")).1(data);
}

/// A drive that is small enough to be made thousands of times a second.
const DRIVE: &str = "seed = 7\ndevice = \"fast12-slc\"\npolicy = \"pes-ipc\"\n\
    [geometry]\nchannels = 1\ndies_per_channel = 2\nplanes_per_die = 1\nblocks_per_plane = 12\n\
    pages_per_block = 4\n[ftl]\nover_provisioning = 0.5\n\
    [buffer]\nacknowledge = \"back\"\nbytes = 16384\n";

/// A file in memory, for readers that want a path; it is gone when this is dropped.
fn file(data: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new_in("/dev/shm").expect("a file in memory");
    file.write_all(data).expect("room in memory");
    file
}

/// A scenario that is accepted is printed as one that is accepted and equal.
fn scenario(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    // Files that a scenario names are input of another kind.
    if ["trace", "fio", "/", "\\"].iter().any(|word| text.contains(word)) {
        return;
    }
    let load = |text: &str| {
        let sources = Sources { text, path: "fuzz.toml", sets: &[] };
        scenario::load(&sources, registries())
    };
    if let Ok(loaded) = load(text) {
        let printed = scenario::print(&loaded);
        let again = load(&printed).expect("what is printed is accepted");
        assert!(again == loaded, "what is printed is another scenario:\n{printed}");
    }
}

/// A trace of any format gives rows or a sentence; the first byte chooses the format.
fn trace(data: &[u8]) {
    let Some((choice, content)) = data.split_first() else { return };
    let file = file(content);
    let all = formats();
    let format = all[usize::from(*choice) % all.len()].name;
    let mut reading = Reading::from(format);
    let needed: &[&str] = match format {
        "arc" => &["row_op=read", "row_interval_us=1"],
        "columns" => &["columns=time_s,device,sector,bytes,op"],
        "oracle-general" => &["row_op=write"],
        _ => &[],
    };
    needed.iter().for_each(|set| reading.options.set(set).expect("a key of readings"));
    let _rows = head(file.path(), reading, 64);
    if choice & 0x80 != 0 {
        let _rows = head(file.path(), "auto", 64);
    }
}

/// A job file of fio gives jobs or a sentence.
fn fio(data: &[u8]) {
    let _jobs = fio_jobs(file(data).path(), 1 << 30);
}

/// A state that is accepted runs; its checksum is made right, so that its tables are looked at.
fn state(data: &[u8]) {
    const PREFIX_BYTES: usize = 20;
    if data.len() < PREFIX_BYTES {
        return;
    }
    let mut whole = data.to_vec();
    let sum = XxHash3_64::oneshot(&whole[PREFIX_BYTES..]);
    whole[12..PREFIX_BYTES].copy_from_slice(&sum.to_le_bytes());
    let file = file(&whole);
    let text = format!(
        "{DRIVE}[workload]\ngenerator = \"mixed\"\nrequests = 40\nread_fraction = 0.5\n\
         queue_depth = 2\n"
    );
    let sources = Sources { text: &text, path: "fuzz.toml", sets: &[] };
    let loaded = scenario::load(&sources, registries()).expect("a good scenario");
    let options = Options { from_state: Some(file.path().to_owned()), ..Options::default() };
    if let Ok(mut ssd) = Ssd::with(loaded, &options) {
        while ssd.step(64).is_ok_and(|goes_on| goes_on) {}
    }
}

/// A line of the control socket is a command or a sentence.
fn control(data: &[u8]) {
    if let Ok(line) = std::str::from_utf8(data) {
        reprieve_serve::testing::control(line);
    }
}

/// Calls of the C interface in any order are refused or served, and a saved drive opens.
fn embed(data: &[u8]) {
    let mut drive = Drive::open(DRIVE, "fuzz.toml", &[]).expect("a good scenario");
    for call in data.chunks_exact(8).take(200) {
        let [kind, op, lba, sectors, tag, ahead, ..] = *call else { continue };
        let at = Time::from_ns(drive.now().ns() + u64::from(ahead) * 700);
        match kind % 4 {
            0 | 1 => {
                let op = [Op::Read, Op::Write, Op::Trim, Op::Flush][usize::from(op) % 4];
                let bytes = u32::from(sectors) * 512;
                let ask =
                    Ask { tag: tag.into(), op, lba: lba.into(), bytes, fua: call[6] & 1 == 1 };
                let _refused = drive.submit(at, ask);
            }
            2 => {
                let _refused = drive.advance(at);
            }
            _ => while drive.poll().is_some() {},
        }
    }
    let _end = drive.run(Time::from_ns(1 << 40), usize::MAX);
    assert_eq!(drive.open_requests(), 0, "requests are not complete");
}
