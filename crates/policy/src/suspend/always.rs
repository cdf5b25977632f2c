//! Always: every eligible read suspends (FAST'12).

use reprieve_base::Entry;

use super::{Answer, OperationView, SuspendPolicy};

pub(super) const ENTRY: Entry =
    Entry { name: "always", doc: "every read that may suspend the operation in its way does" };

pub(super) struct Always;

impl SuspendPolicy for Always {
    fn suspend(&self, _: &dyn OperationView) -> Answer {
        Answer::Now
    }

    fn wants_all(&self) -> bool {
        true
    }

    fn limits_suspension(&self) -> bool {
        false
    }
}
