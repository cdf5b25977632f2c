//! Power-loss flush: pages that are not in flash go to the first free dies while power lasts.

use reprieve_base::{Dur, Time};
use reprieve_config::{PowerLoss, Scenario};

use super::{CutDie, Draw, Powers};

/// Hold-up of the drive after a power failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlushBudget {
    /// Time.
    pub hold_up: Option<Dur>,
    /// Energy in femtojoules.
    pub energy_fj: Option<u128>,
}

/// Result of a power-loss flush.
#[derive(Clone, Debug)]
pub struct PowerLossFlush {
    /// When all is safe, if power lasts.
    pub safe: Time,
    /// Energy until then in femtojoules.
    pub energy_fj: u128,
    /// When the drive stops: all pages are safe, or power has ended.
    pub halt: Time,
    /// Pages saved by then, in flush order.
    pub saved_pages: u64,
    /// Pages saved by each die.
    pub saved_by_die: Vec<u64>,
}

/// A program that saves pages.
struct Batch {
    die: usize,
    pages: u64,
    end: Time,
}

/// Energy of a transfer, drawn at its start.
type Lump = (Time, u128);

/// Saves logical pages from `at` on; `awaited` is the end of the last host program that was not
/// stopped.
pub fn flush_on_power_loss(
    (at, awaited): (Time, Time),
    pages: u64,
    dies: &[CutDie],
    scenario: &Scenario,
    (loss, powers): (&PowerLoss, &Powers),
) -> PowerLossFlush {
    let (geometry, timing) = (scenario.mapping_geometry(), &scenario.timing);
    let mut draws: Vec<Draw> = dies.iter().flat_map(|die| die.draws.iter().copied()).collect();
    let mut lumps = Vec::new();
    let program = loss.program.unwrap_or_else(|| timing.program_array(timing.iterations_of(0)));
    let line = FlushSchedule { dies_per_channel: geometry.dies_per_channel as usize, at };
    // With its own program time a program saves one page a plane; else a wordline, padded.
    let (together, data_in) = match loss.program {
        Some(_) => (u64::from(scenario.units_per_page()), timing.bus),
        None => (u64::from(scenario.units_together()), timing.data_in()),
    };
    let most = u64::from(loss.planes) * together;
    let batches = line.save(pages, most, dies, |from, batch| {
        let planes = batch.pages.div_ceil(together);
        let programs_from = from + (timing.command + data_in) * planes;
        batch.end = programs_from + program;
        let bits = planes * together * u64::from(geometry.page_bytes) * 8;
        lumps.push((from, u128::from(powers.bit_fj) * u128::from(bits)));
        let uw = powers.program.on(planes);
        draws.push(Draw { from: programs_from, to: batch.end, uw });
        programs_from
    });
    let ends = batches.iter().map(|batch| batch.end);
    let safe = ends.max().unwrap_or(at).max(awaited);
    let drawn = Drawn { at, base_uw: powers.base_uw, draws, lumps };
    let budget = FlushBudget { hold_up: loss.hold_up, energy_fj: loss.budget_fj() };
    let halt = match loss.is_protected() {
        true => safe.min(drawn.lasts(budget, safe)),
        false => at,
    };
    let mut saved_by_die = vec![0; dies.len()];
    let saved = batches.iter().filter(|batch| loss.is_protected() && batch.end <= halt);
    saved.for_each(|batch| saved_by_die[batch.die] += batch.pages);
    PowerLossFlush {
        safe,
        energy_fj: drawn.until(safe),
        halt,
        saved_pages: saved_by_die.iter().sum(),
        saved_by_die,
    }
}

/// Assignment of pages to dies.
struct FlushSchedule {
    dies_per_channel: usize,
    at: Time,
}

impl FlushSchedule {
    /// Gives up to `most` pages at a time to the die that can start first; ties go to the lowest
    /// number.
    ///
    /// `begin` returns when the channel is free again.
    fn save(
        &self,
        mut pages: u64,
        most: u64,
        dies: &[CutDie],
        mut begin: impl FnMut(Time, &mut Batch) -> Time,
    ) -> Vec<Batch> {
        let mut channels = vec![self.at; dies.len().div_ceil(self.dies_per_channel)];
        let mut free: Vec<Time> = dies.iter().map(|die| die.free_at).collect();
        for (die, cut) in dies.iter().enumerate() {
            let channel = &mut channels[die / self.dies_per_channel];
            *channel = (*channel).max(cut.channel_until);
        }
        let mut batches = Vec::new();
        while pages > 0 {
            let can_begin = |die: usize| free[die].max(channels[die / self.dies_per_channel]);
            let die = (0..dies.len()).min_by_key(|die| can_begin(*die)).expect("there are dies");
            let from = can_begin(die);
            let mut batch = Batch { die, pages: pages.min(most), end: from };
            channels[die / self.dies_per_channel] = begin(from, &mut batch);
            free[die] = batch.end;
            pages -= batch.pages;
            batches.push(batch);
        }
        batches
    }
}

/// Energy drawn after the power failure, in closed form.
struct Drawn {
    at: Time,
    base_uw: u64,
    draws: Vec<Draw>,
    lumps: Vec<Lump>,
}

impl Drawn {
    /// Energy until `to`.
    fn until(&self, to: Time) -> u128 {
        let over = |from: Time, until: Time| {
            let (from, until) = (from.max(self.at), until.min(to));
            if until > from { u128::from((until - from).ns()) } else { 0 }
        };
        let base = u128::from(self.base_uw) * over(self.at, to);
        let draws = self.draws.iter().map(|draw| u128::from(draw.uw) * over(draw.from, draw.to));
        let begun = self.lumps.iter().filter(|(from, _)| *from < to);
        base + draws.sum::<u128>() + begun.map(|(_, fj)| fj).sum::<u128>()
    }

    /// Returns when a budget ends, at most `limit`.
    fn lasts(&self, budget: FlushBudget, limit: Time) -> Time {
        let in_time = budget.hold_up.map_or(limit, |hold_up| limit.min(self.at + hold_up));
        match budget.energy_fj {
            Some(energy_fj) => self.energy_lasts(energy_fj, in_time),
            None => in_time,
        }
    }

    fn energy_lasts(&self, budget_fj: u128, limit: Time) -> Time {
        // Power changes at these instants only.
        let ends = self.draws.iter().flat_map(|draw| [draw.from, draw.to]);
        let begins = self.lumps.iter().map(|(from, _)| *from);
        let mut instants: Vec<Time> =
            ends.chain(begins).chain([limit]).filter(|to| *to > self.at && *to <= limit).collect();
        instants.sort_unstable();
        instants.dedup();
        let mut changes: Vec<(Time, i128)> = self
            .draws
            .iter()
            .flat_map(|draw| {
                let uw = i128::from(draw.uw);
                [(draw.from.max(self.at), uw), (draw.to, -uw)]
            })
            .collect();
        changes.sort_unstable();
        let mut lumps = self.lumps.clone();
        lumps.sort_unstable();
        let (mut changes, mut lumps) =
            (changes.into_iter().peekable(), lumps.into_iter().peekable());
        let (mut now, mut left, mut uw) = (self.at, budget_fj, i128::from(self.base_uw));
        for next in instants {
            while let Some((_, change)) = changes.next_if(|(from, _)| *from <= now) {
                uw += change;
            }
            while let Some((_, fj)) = lumps.next_if(|(from, _)| *from <= now) {
                match left.checked_sub(fj) {
                    Some(rest) => left = rest,
                    None => return now,
                }
            }
            let rate = u128::try_from(uw).expect("powers are not negative");
            let lasts_ns = left.checked_div(rate).unwrap_or(u128::MAX);
            let step = (next - now).ns();
            if lasts_ns < u128::from(step) {
                let lasts_ns = u64::try_from(lasts_ns).expect("less than a step");
                return now + Dur::from_ns(lasts_ns);
            }
            left -= rate * u128::from(step);
            now = next;
        }
        limit
    }
}
