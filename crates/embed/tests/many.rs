//! Drives that are opened together, with tables of few changes, beside one that is opened alone.

use reprieve_base::{Op, Stream, Time};
use reprieve_embed::{Ask, Drive, LAST};

/// Sixteen million pages, so that the tables are large enough to be sparse.
const DRIVE: &str = "device = \"fast12-mlc\"\n[ftl]\nprecondition = ";

fn completions(drive: &mut Drive) -> Vec<(u64, Time)> {
    let mut stream = Stream::new(3, "test.many", 0);
    let (sectors, mut at) = (drive.capacity_bytes() / 512, 0);
    for tag in 0..3_000 {
        at += stream.below(300_000);
        let op = [Op::Read, Op::Write, Op::Write, Op::Trim][stream.below(4) as usize];
        let lba = 8 * stream.below(sectors / 8 - 4);
        let ask = Ask { tag, op, lba, bytes: 4096 * (1 + stream.below(4) as u32), fua: false };
        drive.submit(Time::from_ns(at), ask).expect("a good request");
    }
    drive.run(LAST, 3_000).expect("the drive lasts");
    std::iter::from_fn(|| drive.poll()).map(|done| (done.tag, done.completion)).collect()
}

#[test]
fn a_drive_of_many_is_the_drive() {
    for precondition in ["none", "sequential", "steady"] {
        let text = format!("{DRIVE}\"{precondition}\"\n");
        let many = Drive::open_many(&text, "test.toml", |_| Vec::new(), 2).expect("two drives");
        let mut alone = Drive::open(&text, "test.toml", &[]).expect("a drive");
        let expected = (completions(&mut alone), alone.summary());
        for (number, mut drive) in many.into_iter().enumerate() {
            let mut twin = drive.try_clone().expect("there is memory");
            let found = (completions(&mut drive), drive.summary());
            assert_eq!(found == expected, number == 0, "drive {number}, {precondition}");
            assert_eq!((completions(&mut twin), twin.summary()), found, "{precondition}");
        }
    }
}
