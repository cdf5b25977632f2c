//! Every registry in one place: what the names in a scenario may be.

use std::sync::LazyLock;

use reprieve_base::Entry;

use crate::scenario::Registries;
use crate::{arbitrate, dispatch, ftl, place, sched, stream, suspend, victim};

/// The registries of this build.
pub fn registries() -> &'static Registries {
    static ALL: LazyLock<Registries> = LazyLock::new(|| Registries {
        schedulers: keep(sched::entries()),
        dispatchers: keep(dispatch::entries()),
        suspend_policies: keep(suspend::entries()),
        placements: keep(place::entries()),
        arbitrations: keep(arbitrate::entries()),
        gc_victims: keep(victim::entries()),
        streams: keep(stream::entries()),
        trace_formats: reprieve_trace::formats(),
        generators: reprieve_trace::generators(),
        misfit: ftl::misfit,
    });
    &ALL
}

/// The list for the rest of the process's life; each is made once.
fn keep(entries: Vec<Entry>) -> &'static [Entry] {
    entries.leak()
}
