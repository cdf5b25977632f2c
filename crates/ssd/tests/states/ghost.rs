//! A second account of programs and erases on a die: that each ends once, and takes what it has to.

use std::sync::{Arc, Mutex};

use reprieve_base::{Dur, PageAddress, Time};
use reprieve_nand::SameBlock;
use reprieve_policy::txn::Kind;
use reprieve_ssd::observe::{Observe, Scene};
use reprieve_ssd::scenario::Scenario;

/// Where a program or erase stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Runs,
    Entering(Time),
    Suspended(Time),
}

/// A program or erase that has begun.
#[derive(Clone, Debug)]
struct Operation {
    is_erase: bool,
    pages: Vec<PageAddress>,
    started: Time,
    /// Its length if it is not suspended.
    nominal_ns: u64,
    stage: Stage,
    suspended: Dur,
    suspensions: u64,
    /// Reads that began in its present suspension.
    reads: u32,
}

/// Operations and counts of the die so far.
#[derive(Debug, Default)]
pub struct Account {
    open: Vec<Operation>,
    reads_open: i64,
    pub suspensions: u64,
    pub nested: u64,
    pub ended: [u64; 2],
}

/// Times of the part in nanoseconds, and its limits.
struct Terms {
    /// Of command and data for each plane, and of the array.
    preludes_ns: [u64; 2],
    arrays_ns: [u64; 2],
    /// The least and the most that a suspension adds, of programs and of erases.
    costs_ns: [(u64, u64); 2],
    limits: [Option<u32>; 2],
    /// Whether a program holds all pages of its block.
    holds_block: bool,
    reads_per_suspension: Option<u32>,
}

/// An observer that holds what happens against the terms of the part.
pub struct Ghost {
    account: Arc<Mutex<Account>>,
    terms: Terms,
}

impl Ghost {
    /// An observer of a drive whose dies program single pages of one length, and suspend with IPS.
    pub fn of(scenario: &Scenario) -> (Ghost, Arc<Mutex<Account>>) {
        let account = Arc::<Mutex<Account>>::default();
        let (timing, suspension) = (&scenario.timing, &scenario.suspension);
        let phases_ns = (timing.program_pulse + timing.verify).ns();
        let restore = if suspension.shadow_buffer { timing.buffer } else { timing.bus };
        let reset_ns = timing.voltage_reset.ns();
        let terms = Terms {
            preludes_ns: [(timing.command + timing.bus).ns(), timing.command.ns()],
            arrays_ns: [
                phases_ns * u64::from(timing.program_iterations),
                (timing.erase + timing.erase_verify).ns(),
            ],
            costs_ns: [(restore.ns(), restore.ns()), (0, 2 * reset_ns + timing.erase_verify.ns())],
            limits: [suspension.max_per_program, suspension.max_per_erase],
            reads_per_suspension: scenario.suspend_rules.reads_per_suspension,
            holds_block: suspension.same_block == SameBlock::Block,
        };
        (Ghost { account: Arc::clone(&account), terms }, account)
    }

    fn with<T>(&self, each: impl FnOnce(&mut Account) -> T) -> T {
        each(&mut self.account.lock().expect("no test has panicked with it"))
    }
}

impl Account {
    /// The place of the operation that works on the page or block of a transaction.
    fn place(&self, scene: &Scene, id: u32) -> usize {
        let at = scene.txn(id).at;
        let place = self.open.iter().position(|one| one.pages.contains(&at));
        place.expect("it has begun and has not ended")
    }

    fn operation(&mut self, scene: &Scene, id: u32) -> &mut Operation {
        let place = self.place(scene, id);
        &mut self.open[place]
    }

    /// Whether nothing is open that would have to end.
    pub fn is_settled(&self) -> bool {
        self.open.is_empty() && self.reads_open == 0
    }
}

impl Observe for Ghost {
    fn sensing(&mut self, scene: &Scene, id: u32, _: Time) {
        let Terms { holds_block, reads_per_suspension, .. } = self.terms;
        let at: Vec<PageAddress> = scene.command(id).map(|txn| txn.at).collect();
        self.with(|account| {
            account.reads_open += at.len() as i64;
            for one in account.open.iter_mut() {
                one.reads += u32::from(matches!(one.stage, Stage::Suspended(_)));
                assert!(reads_per_suspension.is_none_or(|most| one.reads <= most), "{one:?}");
            }
            for (operation, own) in
                account.open.iter().flat_map(|one| one.pages.iter().map(move |own| (one, own)))
            {
                let held = |at: &&PageAddress| {
                    (at.plane, at.block) == (own.plane, own.block)
                        && (operation.is_erase || holds_block || at.page == own.page)
                };
                assert_eq!(at.iter().find(held), None, "a read of what {operation:?} holds");
            }
        });
    }

    fn read_done(&mut self, _: &Scene, _: u32) {
        self.with(|account| account.reads_open -= 1);
    }

    fn started(&mut self, scene: &Scene, id: u32, _: Option<(Dur, u64)>) {
        let pages: Vec<PageAddress> = scene.command(id).map(|txn| txn.at).collect();
        let is_erase = scene.txn(id).kind == Kind::Erase;
        let (class, planes) = (usize::from(is_erase), pages.len() as u64);
        let operation = Operation {
            is_erase,
            pages,
            nominal_ns: self.terms.preludes_ns[class] * planes + self.terms.arrays_ns[class],
            started: scene.now(),
            stage: Stage::Runs,
            suspended: Dur::ZERO,
            suspensions: 0,
            reads: 0,
        };
        self.with(|account| {
            let others = account.open.iter();
            let suspended = others.filter(|one| matches!(one.stage, Stage::Suspended(_))).count();
            assert_eq!(suspended, account.open.len(), "{operation:?} begins beside another");
            account.nested += u64::from(suspended > 0);
            let twice = account.open.iter().any(|one| one.pages == operation.pages);
            assert!(!twice, "{operation:?} begins twice");
            account.open.push(operation);
        });
    }

    fn split(&mut self, scene: &Scene, id: u32) {
        let own = scene.txn(id).at;
        self.with(|account| {
            let whole = account.operation(scene, id);
            let piece = Operation { pages: vec![own], ..whole.clone() };
            whole.pages.retain(|at| *at != own);
            account.open.retain(|one| !one.pages.is_empty());
            account.open.push(piece);
        });
    }

    fn suspending(&mut self, scene: &Scene, id: u32, free_at: Time) {
        let limits = self.terms.limits;
        self.with(|account| {
            account.suspensions += 1;
            let operation = account.operation(scene, id);
            assert_eq!(operation.stage, Stage::Runs, "{operation:?}");
            operation.stage = Stage::Entering(free_at);
            operation.suspensions += 1;
            let limit = limits[usize::from(operation.is_erase)];
            let within = limit.is_none_or(|most| operation.suspensions <= u64::from(most));
            assert!(within, "{operation:?}");
        });
    }

    fn suspended(&mut self, scene: &Scene, id: u32) {
        self.with(|account| {
            let operation = account.operation(scene, id);
            assert_eq!(operation.stage, Stage::Entering(scene.now()), "{operation:?}");
            operation.stage = Stage::Suspended(scene.now());
            operation.reads = 0;
        });
    }

    fn resumed(&mut self, scene: &Scene, id: u32, _: Option<Dur>) {
        self.with(|account| {
            let operation = account.operation(scene, id);
            let Stage::Suspended(since) = operation.stage else { panic!("{operation:?}") };
            operation.suspended += scene.now() - since;
            operation.stage = Stage::Runs;
        });
    }

    fn completed(&mut self, scene: &Scene, id: u32) {
        let costs_ns = self.terms.costs_ns;
        self.with(|account| {
            let place = account.place(scene, id);
            let one = account.open.remove(place);
            assert_eq!(one.stage, Stage::Runs, "{one:?}");
            assert_eq!(scene.txn(id).suspended_ns, one.suspended.ns(), "{one:?}");
            let class = usize::from(one.is_erase);
            account.ended[class] += 1;
            let took_ns = (scene.now() - one.started - one.suspended).ns();
            let (least_ns, most_ns) = costs_ns[class];
            let of = |cost_ns| one.nominal_ns + cost_ns * one.suspensions;
            let range = of(least_ns)..=of(most_ns);
            assert!(range.contains(&took_ns), "{took_ns} ns, not {range:?}: {one:?}");
        });
    }
}
