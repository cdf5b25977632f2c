//! Keys of the blocks that a multi-level drive programs as SLC: a cache of writes.

use crate::row::*;
use crate::types::*;

const ON: &[Need] = &[is("slc_cache.mode", &["static", "dynamic"])];

section! {
    /// Blocks in SLC mode, which take the host's writes and are folded into the others.
    SLC_CACHE "slc_cache"

    /// Which blocks are programmed as SLC.
    mode [ftl.slc_cache] variant_of {
        "none" = None => None, "None.";
        "static" = Some(SlcCache { is_dynamic: false, .. }) => Some(SlcCache::default()),
            "Some of each plane, which are nothing else.";
        "dynamic" = Some(SlcCache { is_dynamic: true, .. }) =>
            Some(SlcCache { is_dynamic: true, ..SlcCache::default() }),
            "Free blocks while there are enough.";
    }, or("'none'"),
        from("Micron, Optimized Client Computing With Dynamic Write Acceleration, for \"dynamic\"");
    /// Blocks of each plane that are always in SLC mode; the user does not see them.
    blocks_per_plane [ftl.slc_cache?.blocks_per_plane] count(1, 1 << 16),
        when(&[is("slc_cache.mode", &["static"])]);
    /// A free block is opened in SLC mode while more than this share of its plane's are free.
    min_free_share [ftl.slc_cache?.min_free_share] below(0.0, 1.0), or("0.1"),
        when(&[is("slc_cache.mode", &["dynamic"])]);
    /// When the pages of a full block in SLC mode are moved to other blocks.
    fold [ftl.slc_cache?.folds_under_pressure] one_of {
        "idle" = false, "In idle time; writes go past them while they are full.";
        "pressure" = true, "Also when a write needs room: all writes go through them.";
    }, or("'idle'"), when(ON);
    /// Array read of a page of such a block.
    t_slc_read_us [timing.slc??.read] us(), when(ON);
    /// Iterations of a program there, each as long as one of the part.
    slc_program_iterations [timing.slc?.program_iterations] count(1, 1_000), when(ON);
    /// Whether reads may suspend a program there.
    program_suspends [ftl.slc_cache?.suspends] flag(), or("true"), when(ON);
    /// Share of a cycle that an erase of such a block costs it.
    wear_per_erase [ftl.slc_cache?.wear_per_erase] closed(0.0, 1.0), or("1"), when(ON);
    /// Factor of the rate of raw bit errors there.
    rber_factor [ftl.slc_cache?.rber_factor] closed(0.0, 1000.0), or("1"), when(ON);
}
