//! Every registry in one place: the valid names in a scenario.

use reprieve_base::Entry;
use reprieve_config::{Misfit, Registries, Scenario};

use crate::{arbitrate, dispatch, place, sched, stream, suspend, victim};

/// The registries of this build; `misfit` finds a drive with too few blocks.
pub fn registries(misfit: fn(&Scenario) -> Option<Misfit>) -> Registries {
    Registries {
        schedulers: keep(sched::entries()),
        dispatchers: keep(dispatch::entries()),
        suspend_policies: keep(suspend::entries()),
        placements: keep(place::entries()),
        arbitrations: keep(arbitrate::entries()),
        gc_victims: keep(victim::entries()),
        streams: keep(stream::entries()),
        trace_formats: reprieve_trace::formats(),
        generators: reprieve_trace::generators(),
        misfit,
    }
}

/// Returns a list with static lifetime; each is made once.
fn keep(entries: Vec<Entry>) -> &'static [Entry] {
    entries.leak()
}
