//! Random: any full block with an invalid page, with equal probability.

use reprieve_base::Entry;
use reprieve_config::Scenario;

use super::d_choices::DChoices;

pub(super) const ENTRY: Entry =
    Entry { name: "random", doc: "a full block drawn at random: one choice" };

pub(super) fn of(scenario: &Scenario) -> DChoices {
    DChoices::new(scenario, 1)
}
