//! Turns and bounds, by counts alone.

use reprieve_base::Op;

use super::*;

fn key(index: u32) -> Key {
    Key { index, generation: 0 }
}

fn read(bytes: u32) -> Split {
    Split::of(Op::Read, 0, u64::from(bytes), false)
}

/// Takes all that there is room for, by client; commands carry their client's number.
fn fill(admission: &mut Admission) -> Vec<(u32, Load)> {
    let next = || admission.next();
    std::iter::from_fn(next).map(|it| (it.command.index, Load::of(&it.request))).collect()
}

#[test]
fn the_model_never_has_more_than_the_bounds() {
    let mut admission = Admission::default();
    for client in 0..16 {
        for _ in 0..256 {
            admission.push(key(client), key(client), read(32 << 20));
        }
    }
    // 64 MiB for all, in pieces of 1 MiB: 4 for each of 16 clients.
    let mut open = fill(&mut admission);
    assert_eq!(open.len(), 64);
    for client in 0..16 {
        assert_eq!(open.iter().filter(|(of, _)| *of == client).count(), 4);
    }
    // One client alone has a quarter of that.
    let mut alone = Admission::default();
    alone.push(key(3), key(3), read(32 << 20));
    assert_eq!(fill(&mut alone).len(), 16);
    // Whatever is completed makes room for as much.
    for _ in 0..1000 {
        let (client, load) = open.remove(0);
        admission.completed(key(client), load);
        let more = fill(&mut admission);
        assert_eq!(more.len(), 1);
        open.extend(more);
        assert_eq!(admission.in_model(), Load { requests: 64, bytes: 64 << 20 });
    }
}

#[test]
fn small_requests_have_a_bound_too() {
    let mut admission = Admission::default();
    for client in 0..9 {
        for _ in 0..2000 {
            admission.push(key(client), key(client), read(1));
        }
    }
    // A request counts as 4 KiB, so that 1,024 are 4 MiB, and eight clients have 8,192.
    let open = fill(&mut admission);
    assert_eq!(open.len(), 8192);
    assert!(open.iter().all(|(_, load)| load.bytes == 4096));
    let of = |client| open.iter().filter(|(of, _)| *of == client).count();
    assert!((0..9).all(|client| of(client) <= 1024));
}

#[test]
fn who_asks_little_waits_for_a_turn_of_each_of_the_others() {
    for flooding in [1, 4, 60] {
        let mut admission = Admission::default();
        for client in 1..=flooding {
            for _ in 0..256 {
                admission.push(key(client), key(client), read(32 << 20));
            }
        }
        let mut open: VecDeque<_> = fill(&mut admission).into();
        for round in 0..500 {
            admission.push(key(0), key(0), read(4096));
            // Bytes that the others submit before it, equal to those that the model completes.
            let mut before_bytes = 0;
            'admitted: loop {
                for (client, load) in fill(&mut admission) {
                    if client == 0 {
                        admission.completed(key(0), load);
                        break 'admitted;
                    }
                    before_bytes += load.bytes;
                    open.push_back((client, load));
                }
                let (client, load) = open.pop_front().expect("the model is full");
                admission.completed(key(client), load);
            }
            // A piece is longer than a turn, so that one in four turns has one.
            let most_bytes = u64::from(flooding) * (TURN_BYTES + (1 << 20));
            assert!(before_bytes <= most_bytes, "{flooding} {round}: {before_bytes}");
        }
    }
}

#[test]
fn each_client_hands_over_as_many_bytes_as_another() {
    let mut admission = Admission::default();
    for (client, bytes) in (0u32..).zip([16 << 10, 64 << 10, 1 << 20, 3 << 20, 512 << 10]) {
        for _ in 0..(512 << 20) / bytes {
            admission.push(key(client), key(client), read(bytes));
        }
    }
    let (mut handed_bytes, mut open) = ([0; 5], VecDeque::new());
    while handed_bytes.iter().sum::<u64>() < 2 << 30 {
        for (client, load) in fill(&mut admission) {
            handed_bytes[client as usize] += load.bytes;
            open.push_back((client, load));
        }
        let (client, load) = open.pop_front().expect("the model is full");
        admission.completed(key(client), load);
    }
    // A client is ahead by what the model has of it and a piece at most.
    let (least, most) = (handed_bytes.iter().min(), handed_bytes.iter().max());
    let ahead_bytes = most.expect("five") - least.expect("five");
    assert!(ahead_bytes <= CLIENT_LOAD.bytes + (1 << 20), "{handed_bytes:?}");
}

#[test]
fn what_a_client_waited_for_goes_with_it() {
    let mut admission = Admission::default();
    admission.push(key(0), key(7), read(32 << 20));
    admission.push(key(0), key(8), read(4096));
    let open: Vec<_> = std::iter::from_fn(|| admission.next()).collect();
    assert_eq!(open.len(), 16);
    assert_eq!(admission.leave(key(0)), [key(7), key(8)]);
    assert_eq!(admission.next(), None);
    assert_eq!(admission.leave(key(0)), []);
    // Whoever has the place after it starts from nothing, and what is still open ends.
    let after = Key { index: 0, generation: 1 };
    admission.push(after, key(9), read(4096));
    assert_eq!(admission.next().expect("there is room").command, key(9));
    for each in open {
        admission.completed(key(0), Load::of(&each.request));
    }
    admission.completed(after, Load { requests: 1, bytes: 4096 });
    assert_eq!(admission.in_model(), Load::default());
}

#[test]
fn every_client_has_a_fair_share_of_the_commands() {
    assert_eq!([0, 1, 16].map(commands_max), [1024; 3]);
    assert_eq!([17, 64, 1024].map(commands_max), [963, 256, 16]);
    assert_eq!(commands_max(100_000), 16);
}
