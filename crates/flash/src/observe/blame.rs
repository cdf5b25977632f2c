//! Who is to blame: clocks of what stands in the way on each die, read when a wait begins and when
//! it ends.

use reprieve_base::{Dur, Time};
use reprieve_observe::blame::{Blamed, Cause};
use reprieve_policy::txn::{Kind, LatencyComponent, LatencyComponents, NONE, Txn};

use super::clocks::{Account, BufferClock, Clock, Side};
use super::{Observe, Scene};

/// What stands in the way on a die or plane, of each [`Side`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InTheWay {
    pub(crate) read: Cause,
    pub(crate) barred: Cause,
}

/// What alone keeps an operation from making way, since it began or went on last.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stands {
    /// For any read: it has used up its suspensions.
    pub(crate) limit: bool,
    /// For a read of what it holds: that.
    pub(crate) bar: bool,
}

/// What is known of a die from one instant to the next.
#[derive(Clone, Copy, Debug)]
struct DieFacts {
    write: Clock,
    /// It stands in the way of those who wait for room in the buffer.
    counts: bool,
    /// On the list of dies that something has happened to.
    touched: bool,
    /// What runs began, or went on, at this instant.
    began: bool,
    /// The chain was asked since then.
    asked: bool,
    /// Which reads are barred may have changed.
    bars_changed: bool,
    /// The first of the reads that wait there and are barred.
    first_barred: Option<u32>,
    /// Reads of old pages, for writes, that are queued.
    old_pages: u32,
}

/// Clocks and accounts of a drive.
pub(crate) struct Blame {
    /// Places of a die at which reads wait for different things: its planes, or one.
    places: u32,
    /// Clocks of reads at each place, and of barred ones.
    reads: Vec<[Clock; 2]>,
    /// What keeps what runs there from making way.
    stands: Vec<Stands>,
    dies: Vec<DieFacts>,
    touched: Vec<u32>,
    buffer: BufferClock,
    /// By transaction.
    accounts: Vec<Account>,
    /// By slot.
    requests: Vec<RequestAccount>,
}

/// What a request is told of.
#[derive(Clone, Copy, Debug, Default)]
struct RequestAccount {
    /// Nothing: `ns` is of an earlier request.
    is_blank: bool,
    /// What its last page was blamed on.
    ns: Blamed,
    /// Where that was read or programmed, if a die did.
    die: Option<u32>,
    /// What the clock of the buffer showed when its data came, while it waits for room there.
    from: Option<Blamed>,
}

impl Blame {
    pub(crate) fn new(dies: u32, places: u32) -> Blame {
        let facts = DieFacts {
            write: Clock::NEW,
            counts: false,
            touched: false,
            began: false,
            asked: false,
            bars_changed: false,
            first_barred: None,
            old_pages: 0,
        };
        Blame {
            places,
            reads: vec![[Clock::NEW; 2]; (dies * places) as usize],
            stands: vec![Stands::default(); (dies * places) as usize],
            dies: vec![facts; dies as usize],
            touched: Vec::with_capacity(dies as usize),
            buffer: BufferClock::NEW,
            accounts: Vec::new(),
            requests: Vec::new(),
        }
    }

    /// Something has happened to a die: what stands in the way there may be something else.
    #[inline]
    fn touch(&mut self, die: u32) -> &mut DieFacts {
        let facts = &mut self.dies[die as usize];
        if !facts.touched {
            facts.touched = true;
            self.touched.push(die);
        }
        facts
    }

    /// A die has decided at this instant.
    #[inline]
    pub(super) fn decided(&mut self, die: u32) {
        let facts = self.touch(die);
        facts.asked |= !facts.began;
    }

    fn place(&self, die: u32, plane: u32) -> usize {
        (die * self.places + if self.places > 1 { plane } else { 0 }) as usize
    }

    #[inline]
    fn account(&mut self, id: u32) -> &mut Account {
        let index = id as usize;
        if index >= self.accounts.len() {
            self.accounts.resize(index + 1, Account::NEW);
        }
        &mut self.accounts[index]
    }

    /// A transaction begins to wait for its die at `since`.
    #[inline]
    fn begin(&mut self, id: u32, txn: &Txn, side: Side, since: Time) {
        let index = id as usize;
        if index >= self.accounts.len() {
            self.accounts.resize(index + 1, Account::NEW);
        }
        let place = self.place(txn.die, txn.at.plane);
        let (from, late_ns) = match side {
            Side::Read => self.reads[place][0].shown(since),
            Side::Barred => self.reads[place][1].shown(since),
            Side::Write => self.dies[txn.die as usize].write.shown(since),
        };
        let account = &mut self.accounts[index];
        (account.side, account.waits, account.since) = (side, true, since);
        (account.die, account.place) = (txn.die, place as u32);
        (account.from, account.late_ns) = (from, late_ns);
    }

    /// It waits no longer.
    #[inline]
    fn settle(&mut self, id: u32, now: Time) {
        let Some(account) = self.accounts.get_mut(id as usize) else { return };
        if !std::mem::take(&mut account.waits) || account.since == now {
            return;
        }
        let (place, die) = (account.place as usize, account.die as usize);
        let shown = match account.side {
            Side::Read => self.reads[place][0].read(now),
            Side::Barred => self.reads[place][1].read(now),
            Side::Write => self.dies[die].write.read(now),
        };
        if std::mem::take(&mut account.is_blank) {
            account.ns.set_since(shown, &account.from);
        } else {
            account.ns.add_since(shown, &account.from);
        }
        account.ns.add(Cause::Other, account.late_ns.min((now - account.since).ns()));
    }

    /// A queued read is barred from now on, or no longer.
    pub(crate) fn bar(&mut self, id: u32, txn: &Txn, is_barred: bool, now: Time) {
        let account = self.account(id);
        let side = if is_barred { Side::Barred } else { Side::Read };
        if account.waits && account.side != side {
            self.settle(id, now);
            self.begin(id, txn, side, now);
        }
    }

    /// Whether somebody wants to know what a transaction waits for.
    #[inline]
    fn is_wanted(txn: &Txn) -> bool {
        let of_host = matches!(txn.kind, Kind::HostRead | Kind::RmwRead | Kind::Program);
        of_host && txn.request != NONE
    }

    /// A transaction waits for its die from `since` on; a read perhaps to be sensed again.
    pub(crate) fn waits(&mut self, id: u32, txn: &Txn, since: Time) {
        if txn.die != NONE {
            self.touch(txn.die).bars_changed = true;
            if Self::is_wanted(txn) {
                if txn.kind == Kind::HostRead && txn.further_senses == 0 {
                    self.account(id).is_blank = true;
                }
                let side = if txn.kind.is_read() { Side::Read } else { Side::Write };
                self.begin(id, txn, side, since);
            }
        }
    }

    /// The dies that something has happened to, at the end of the instant.
    pub(crate) fn take_touched(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.touched)
    }

    /// Takes the list back when it has been gone through.
    pub(crate) fn give_back(&mut self, mut touched: Vec<u32>) {
        for die in &touched {
            let facts = &mut self.dies[*die as usize];
            (facts.touched, facts.began, facts.bars_changed) = (false, false, false);
        }
        touched.clear();
        self.touched = touched;
    }

    /// Whether the chain was asked about what runs on a die.
    pub(crate) fn was_asked(&self, die: u32) -> bool {
        self.dies[die as usize].asked
    }

    /// What keeps what runs on a plane, or on all of a die, from making way.
    pub(crate) fn stands(&mut self, die: u32, plane: Option<u32>) -> &mut Stands {
        let place = self.place(die, plane.unwrap_or(0));
        &mut self.stands[place]
    }

    /// Whether reads may be barred that were not, or the other way round.
    pub(crate) fn bars_changed(&self, die: u32) -> bool {
        self.dies[die as usize].bars_changed
    }

    /// The first of the reads that wait at a die and are barred.
    pub(crate) fn first_barred(&self, die: u32) -> Option<u32> {
        self.dies[die as usize].first_barred
    }

    pub(crate) fn set_first_barred(&mut self, die: u32, read: Option<u32>) {
        self.dies[die as usize].first_barred = read;
    }

    /// Whether the old page of a write waits for a die.
    pub(crate) fn old_page_waits(&self, die: u32) -> bool {
        self.dies[die as usize].old_pages > 0
    }

    /// What stands in the way of reads at a place from `now` on.
    pub(crate) fn set_reads(&mut self, place: (u32, u32), way: InTheWay, now: Time) {
        let place = self.place(place.0, place.1);
        let [read, barred] = &mut self.reads[place];
        read.turn(way.read, now);
        barred.turn(way.barred, now);
    }

    /// What stands in the way of programs on a die, and whether it does in that of the buffer.
    pub(crate) fn set_writes(&mut self, die: u32, cause: Cause, counts: bool, now: Time) {
        let facts = &mut self.dies[die as usize];
        let before = facts.counts.then_some(facts.write.cause());
        facts.write.turn(cause, now);
        if self.buffer.runs() {
            facts.counts = counts;
            self.buffer.move_die(before, counts.then_some(cause), now);
        }
    }

    /// Whether somebody waits for room in the buffer.
    #[inline]
    pub(crate) fn buffer_is_wanted(&self) -> bool {
        self.buffer.runs()
    }

    /// Whether that is so since this instant: then every die has to say what stands in the way.
    pub(crate) fn take_awakes(&mut self) -> bool {
        let awakes = self.buffer.take_awakes();
        if awakes {
            self.dies.iter_mut().for_each(|facts| facts.counts = false);
        }
        awakes
    }

    fn request(&mut self, request: u32) -> &mut RequestAccount {
        let index = request as usize;
        if index >= self.requests.len() {
            self.requests.resize(index + 1, RequestAccount::default());
        }
        &mut self.requests[index]
    }

    /// A request begins to wait for the buffer.
    pub(crate) fn buffer_begins(&mut self, request: u32, now: Time) {
        let shown = self.buffer.join(now);
        self.request(request).from = Some(shown);
    }

    /// A page of it waits no longer, that of `id` or one without its own; it was the last.
    pub(crate) fn buffer_ends(&mut self, request: u32, id: Option<u32>, is_last: bool, now: Time) {
        let account = self.request(request);
        (account.is_blank, account.die) = (true, None);
        if let Some(from) = account.from {
            if is_last {
                account.from = None;
            }
            let shown = self.buffer.read(now);
            let account = &mut self.requests[request as usize];
            account.is_blank = false;
            account.ns.set_since(shown, &from);
            if is_last {
                self.buffer.leave();
            }
        }
        if let Some(id) = id {
            let RequestAccount { ns, is_blank, .. } = self.requests[request as usize];
            let account = self.account(id);
            (account.waits, account.is_blank, account.loaded_ns) = (false, is_blank, 0);
            if !is_blank {
                account.ns = ns;
            }
        }
    }

    /// The request is open no longer: what its last page was blamed on, and its die if it has one.
    pub(crate) fn close(&mut self, request: u32) -> (Blamed, Option<u32>) {
        let account = self.request(request);
        let ns = if account.is_blank { Blamed::default() } else { account.ns };
        account.is_blank = true;
        let die = account.die.take();
        if account.from.take().is_some() {
            self.buffer.leave();
        }
        (ns, die)
    }

    /// The old page of a write has been read, or another write's that it waited for: what is not
    /// blamed on anything yet went behind that read.
    pub(crate) fn old_page_read(&mut self, id: u32, parts: &LatencyComponents) {
        let [buffer_ns, rmw_ns] =
            [LatencyComponent::Buffer, LatencyComponent::Rmw].map(|part| parts.0[part as usize]);
        let ns = self.account(id).own();
        let waited_ns = buffer_ns + rmw_ns;
        let rest_ns = waited_ns.checked_sub(ns.sum_ns()).unwrap_or_else(|| {
            panic!("transaction {id} is blamed {ns:?} for {waited_ns} ns until its old page")
        });
        ns.add(Cause::HostRead, rest_ns);
    }

    /// A page of a request is complete: that of a transaction and its die, or one without flash.
    pub(crate) fn page_ends(&mut self, request: u32, page: Option<(u32, u32)>) {
        self.request(request);
        let account = &mut self.requests[request as usize];
        (account.is_blank, account.die) = (true, page.map(|(_, die)| die));
        if let Some(of) = page.and_then(|(id, _)| self.accounts.get(id as usize)) {
            account.is_blank = of.is_blank;
            if !of.is_blank {
                account.ns = of.ns;
            }
        }
    }

    /// A read is sensed on a die that is one lane.
    #[inline]
    pub(crate) fn sensed(&mut self, id: u32, txn: &Txn, now: Time) {
        let facts = self.touch(txn.die);
        let is_old_page = txn.kind == Kind::RmwRead && txn.further_senses == 0;
        facts.old_pages -= u32::from(is_old_page);
        if Self::is_wanted(txn) {
            self.settle(id, now);
        }
    }
}

impl Observe for Blame {
    fn queued(&mut self, scene: &Scene, id: u32) {
        let txn = scene.txn(id);
        let facts = self.touch(txn.die);
        facts.bars_changed |= txn.kind.is_read();
        facts.old_pages += u32::from(txn.kind == Kind::RmwRead);
        // What a dispatcher held back waits already.
        if Self::is_wanted(txn) && !self.account(id).waits {
            self.waits(id, txn, scene.now());
        }
    }

    fn sensing(&mut self, scene: &Scene, id: u32, _: Time) {
        let mut each = id;
        while each != NONE {
            let txn = scene.txn(each);
            self.sensed(each, txn, scene.now());
            each = txn.next;
        }
    }

    fn started(&mut self, scene: &Scene, id: u32, data_in: Option<(Dur, u64)>) {
        for (each, txn) in scene.numbered(id) {
            if !Self::is_wanted(txn) {
                continue;
            }
            self.settle(each, scene.now());
            if data_in.is_none() {
                // It was in the register, behind the program before it.
                let queue_ns = txn.parts.0[LatencyComponent::Queue as usize];
                let account = self.account(each);
                let behind_ns = queue_ns - account.loaded_ns;
                account.own().add(Cause::HostProgram, behind_ns);
            }
        }
        self.runs(scene.txn(id).die);
    }

    fn loaded(&mut self, scene: &Scene, id: u32, _: (Dur, u64)) {
        for (each, txn) in scene.numbered(id) {
            self.touch(txn.die);
            if Self::is_wanted(txn) {
                self.settle(each, scene.now());
                let queue_ns = txn.parts.0[LatencyComponent::Queue as usize];
                self.account(each).loaded_ns = queue_ns;
            }
        }
    }

    fn suspending(&mut self, scene: &Scene, id: u32, _: Time) {
        self.touch(scene.txn(id).die);
    }

    fn suspended(&mut self, scene: &Scene, id: u32) {
        for (each, txn) in scene.numbered(id) {
            self.touch(txn.die);
            if Self::is_wanted(txn) {
                self.begin(each, txn, Side::Write, scene.now());
            }
        }
    }

    fn resumed(&mut self, scene: &Scene, id: u32, _: Option<Dur>) {
        for (each, txn) in scene.numbered(id) {
            if Self::is_wanted(txn) {
                self.settle(each, scene.now());
            }
        }
        self.runs(scene.txn(id).die);
    }

    fn completed(&mut self, scene: &Scene, id: u32) {
        self.touch(scene.txn(id).die).bars_changed = true;
    }
}

impl Blame {
    /// An operation begins or goes on: the chain has not been asked about it.
    fn runs(&mut self, die: u32) {
        let facts = self.touch(die);
        (facts.began, facts.asked, facts.bars_changed) = (true, false, true);
        let first = self.place(die, 0);
        self.stands[first..][..self.places as usize].fill(Stands::default());
    }
}
