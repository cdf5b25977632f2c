//! The registries, with the check that a drive has enough blocks.

use std::sync::LazyLock;

use reprieve_config::Registries;

use crate::needed_blocks::misfit;

/// The registries of this build.
pub fn registries() -> &'static Registries {
    static ALL: LazyLock<Registries> = LazyLock::new(|| reprieve_policy::registries(misfit));
    &ALL
}
