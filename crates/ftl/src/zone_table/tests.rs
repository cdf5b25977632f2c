//! The table of zones against the state machine of the standard, and against a second one.

use reprieve_base::{Stream, Time};
use reprieve_config::{Sources, load};

use super::*;

/// Zones of eight pages of 2 KiB.
fn table(max_open: u32, max_active: u32) -> ZoneTable {
    let text = format!(
        "device = \"fast12-slc\"\n[geometry]\nchannels = 2\nplanes_per_die = 1\n\
         blocks_per_plane = 16\npages_per_block = 4\n[ftl]\nover_provisioning = 0.5\n\
         [zones]\nmodel = \"host-managed\"\nmax_open = {max_open}\nmax_active = {max_active}\n\
         [workload]\ngenerator = \"mixed\"\nrequests = 1\nread_fraction = 1\n\
         queue_depth = 1\n"
    );
    let sources = Sources { text: &text, path: "zones.toml", sets: &[] };
    let scenario = load(&sources, crate::registries()).expect("the scenario is right");
    *ZoneTable::of(&scenario).expect("it has zones")
}

/// Brings zone 0 into a state.
fn bring(table: &mut ZoneTable, state: ZoneState) {
    match state {
        Empty => {}
        ImplicitlyOpen => _ = table.take_write(0, None, 1).expect("it is empty"),
        ExplicitlyOpen => _ = table.operate(0, Op::Open).expect("it is empty"),
        Closed => {
            table.take_write(0, None, 1).expect("it is empty");
            table.operate(0, Op::Close).expect("it is open");
        }
        Full => _ = table.take_write(0, None, 8).expect("it is empty"),
    }
    assert_eq!(table.zones[0].state, state);
}

/// Does an operation on zone 0; a write is of one page.
fn operate(table: &mut ZoneTable, op: Op) -> Result<ZoneState, String> {
    match op {
        Op::Append => _ = table.take_write(0, None, 1)?,
        _ => _ = table.operate(0, op)?,
    }
    Ok(table.zones[0].state)
}

/// Transitions of the zone state machine: NVM Express Zoned Namespace Command Set Specification
/// 1.1, the figure of the zone state machine and the text on Zone Management Send; `None` is an
/// invalid transition, or a write to a full zone.
const TRANSITIONS: [(ZoneState, [Option<ZoneState>; 5]); 5] = [
    // From, by: write, Open, Close, Finish, Reset.
    (Empty, [Some(ImplicitlyOpen), Some(ExplicitlyOpen), None, Some(Full), Some(Empty)]),
    (
        ImplicitlyOpen,
        [Some(ImplicitlyOpen), Some(ExplicitlyOpen), Some(Closed), Some(Full), Some(Empty)],
    ),
    (
        ExplicitlyOpen,
        [Some(ExplicitlyOpen), Some(ExplicitlyOpen), Some(Closed), Some(Full), Some(Empty)],
    ),
    (Closed, [Some(ImplicitlyOpen), Some(ExplicitlyOpen), Some(Closed), Some(Full), Some(Empty)]),
    (Full, [None, None, None, Some(Full), Some(Empty)]),
];

#[test]
fn every_state_goes_where_the_standard_says() {
    let ops = [Op::Append, Op::Open, Op::Close, Op::Finish, Op::Reset];
    for (from, row) in TRANSITIONS {
        for (op, to) in ops.into_iter().zip(row) {
            let mut table = table(2, 3);
            bring(&mut table, from);
            assert_eq!(operate(&mut table, op).ok(), to, "{from:?} by {op:?}");
            let state = table.zones[0].state;
            assert_eq!(state, to.unwrap_or(from), "a refused {op:?} leaves {from:?}");
            let is_open = matches!(state, ImplicitlyOpen | ExplicitlyOpen);
            let is_active = is_open || state == Closed;
            assert_eq!((table.open, table.active), (is_open.into(), is_active.into()));
        }
    }
}

#[test]
fn addresses_of_the_host_and_of_pages_lead_to_each_other() {
    let mut table = table(2, 3);
    // Zones of 16 KiB, 20 KiB apart.
    table.size_bytes = 20_480;
    let read = |lba| Request { arrival: Time::ZERO, op: Op::Read, lba, bytes: 2048, fua: false };
    for zone in 0..8 {
        for sector in [0, 4, 28] {
            let (host, pages) = (zone * 40 + sector, zone * 32 + sector);
            assert_eq!(table.to_pages(read(host)).expect("it holds data").lba, pages);
            assert_eq!(table.host_sector(pages), host);
        }
        assert!(table.to_pages(read(zone * 40 + 32)).is_err(), "beyond the capacity");
    }
}

/// A second table: the states of zones alone, limits counted anew at each step.
struct Reference {
    states: [(ZoneState, u32); 8],
    opened: Vec<usize>,
}

impl Reference {
    fn count(&self, states: &[ZoneState]) -> usize {
        self.states.iter().filter(|(state, _)| states.contains(state)).count()
    }

    /// Takes one step by the standard's table. Returns whether it is allowed.
    fn step(&mut self, zone: usize, op: Op, pages: u32) -> bool {
        let open = [ImplicitlyOpen, ExplicitlyOpen];
        let (state, pointer) = self.states[zone];
        let next = match op {
            Op::Append if state == Full || pointer + pages > 8 => return false,
            Op::Append if state == ExplicitlyOpen => ExplicitlyOpen,
            Op::Append => ImplicitlyOpen,
            Op::Open if state == Full => return false,
            Op::Open => ExplicitlyOpen,
            Op::Close if [Empty, Full].contains(&state) => return false,
            Op::Close => Closed,
            Op::Finish => Full,
            _ => Empty,
        };
        if open.contains(&next) && !open.contains(&state) {
            if state == Empty && self.count(&open) + self.count(&[Closed]) == 3 {
                return false;
            }
            if self.count(&open) == 2 {
                let Some(oldest) = self.opened.first().copied() else { return false };
                self.states[oldest].0 = Closed;
            }
        }
        let was_implicit = self.states[zone].0 == ImplicitlyOpen;
        self.states[zone].0 = next;
        self.states[zone].1 += if op == Op::Append { pages } else { 0 };
        match op {
            Op::Append if self.states[zone].1 == 8 => self.states[zone].0 = Full,
            Op::Reset => self.states[zone].1 = 0,
            _ => {}
        }
        let states = self.states;
        self.opened.retain(|zone| states[*zone].0 == ImplicitlyOpen);
        if states[zone].0 == ImplicitlyOpen && !(was_implicit && self.opened.contains(&zone)) {
            self.opened.push(zone);
        }
        true
    }
}

#[test]
fn random_operations_do_what_a_second_table_says() {
    let mut stream = Stream::new(11, "test.zone_table", 0);
    let mut table = table(2, 3);
    let mut reference = Reference { states: [(Empty, 0); 8], opened: Vec::new() };
    let (mut allowed, mut refused) = (0, 0);
    for step in 0..20_000 {
        let zone = stream.below(5) as u32;
        let ops = [Op::Append, Op::Append, Op::Open, Op::Close, Op::Finish, Op::Reset];
        let (op, pages) = (ops[stream.below(6) as usize], 1 + stream.below(4) as u32);
        let got = match op {
            Op::Append => table.take_write(zone, None, pages).is_ok(),
            _ => table.operate(zone, op).is_ok(),
        };
        assert_eq!(got, reference.step(zone as usize, op, pages), "step {step}: {op:?} of {zone}");
        let states: Vec<_> = table.zones.iter().map(|zone| (zone.state, zone.pages)).collect();
        assert_eq!(states, reference.states, "step {step}: {op:?} of {zone}");
        if got { allowed += 1 } else { refused += 1 }
    }
    assert!(allowed > 5000 && refused > 2000, "{allowed} and {refused}");
}
