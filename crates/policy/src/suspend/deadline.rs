//! Deadline: a suspension at the last instant at which it still saves a read from being late.

use reprieve_base::{Dur, Entry, Time};
use reprieve_config::SuspendRules;

use super::batch::{is_due, scaled};
use super::{Answer, OperationView, Reason, SuspendPolicy};

pub(super) const ENTRY: Entry = Entry {
    name: "deadline",
    doc: "at the last instant that keeps a read within suspension.deadline.read_slo_us",
};

pub(super) struct LatestInstant {
    given_slo: Dur,
    /// Deadline of reads under the budget.
    read_slo: Dur,
    patience: f64,
    margin_reads: u64,
    price: f64,
    backlog_weight: f64,
}

impl LatestInstant {
    pub(super) fn new(rules: &SuspendRules) -> LatestInstant {
        let given = "the scenario has checked that it is given";
        let of = |name| rules.parameters.number(name).expect(given);
        let slo = rules.parameters.dur("suspension.deadline.read_slo_us").expect(given);
        LatestInstant {
            given_slo: slo,
            read_slo: slo,
            patience: 1.0,
            margin_reads: rules.parameters.count("suspension.deadline.margin_reads").expect(given),
            price: of("suspension.deadline.price"),
            backlog_weight: of("suspension.deadline.backlog_weight"),
        }
    }

    /// Returns the service level of a read, which its load may have set.
    fn slo(&self, own: Option<Dur>) -> Dur {
        own.map_or(self.read_slo, |own| scaled(own, self.patience))
    }

    /// Fewest reads that a suspension has to save.
    fn reads_wanted(&self, operation: &dyn OperationView) -> f64 {
        if self.backlog_weight == 0.0 {
            return self.price;
        }
        self.price * (1.0 + self.backlog_weight * operation.waiting_writes() as f64)
    }
}

impl SuspendPolicy for LatestInstant {
    fn suspend(&self, operation: &dyn OperationView) -> Answer {
        let Some(entry) = operation.entry_cost() else { return Answer::No(Reason::Policy) };
        if is_due(operation) {
            return Answer::No(Reason::Policy);
        }
        let (now, ends) = (operation.now(), operation.now() + operation.longest_remaining());
        let (read, longest_entry) = (operation.read_time(), operation.longest_entry_cost());
        let arrivals = operation.read_arrivals();
        let of_loads = operation.read_slos().into_iter();
        let slos: Vec<Dur> = of_loads.map(|own| self.slo(own)).collect();
        // The last instants at which the array has to be free for each read that can be saved: in
        // time after a suspension now, and late after the end of a long operation.
        let free_by = arrivals.iter().zip(&slos).zip(1_u64..).filter_map(|((came, slo), place)| {
            let due_ns = (*came + *slo).ns();
            let free_by = Time::from_ns(due_ns.checked_sub(read.ns() * place)?);
            (now + entry <= free_by && ends > free_by).then_some(free_by)
        });
        let saved: Vec<Time> = free_by.collect();
        let Some(first) = saved.iter().min() else { return Answer::No(Reason::Policy) };
        if (saved.len() as f64) < self.reads_wanted(operation) {
            return Answer::No(Reason::Policy);
        }
        // For any position of the next phases, a request by then is early enough.
        let last = Time::from_ns(first.ns().saturating_sub(longest_entry.ns()));
        let shortest = slos.into_iter().min().unwrap_or(self.read_slo);
        let all = read * (arrivals.len() as u64 + self.margin_reads);
        match last <= now || longest_entry + all > shortest {
            true => Answer::Now,
            false => Answer::At(last),
        }
    }

    fn limits_suspension(&self) -> bool {
        false
    }

    fn set_patience(&mut self, patience: f64) {
        self.read_slo = scaled(self.given_slo, patience);
        self.patience = patience;
    }
}
