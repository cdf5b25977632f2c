//! Counters of the translation layer for the summary: wear, bad blocks, the mapping.

/// Erases of the blocks of a drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WearCounts {
    /// Mean.
    pub mean: f64,
    /// Fewest.
    pub min: u32,
    /// Most.
    pub max: u32,
    /// Standard deviation of the population.
    pub stddev: f64,
}

impl WearCounts {
    /// Returns the figures of these erases, one a block; a drive has at least one.
    pub fn of(erases: &[u32]) -> WearCounts {
        let count = erases.len() as f64;
        let mean = erases.iter().map(|erases| f64::from(*erases)).sum::<f64>() / count;
        let square = |erases: &u32| (f64::from(*erases) - mean).powi(2);
        WearCounts {
            mean,
            min: erases.iter().copied().min().expect("a drive has blocks"),
            max: erases.iter().copied().max().expect("a drive has blocks"),
            stddev: (erases.iter().map(square).sum::<f64>() / count).sqrt(),
        }
    }
}

/// Bad blocks, and failures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct BadBlocks {
    /// Factory bad blocks.
    pub factory: u64,
    /// Blocks retired since.
    pub grown: u64,
    /// Programs of host pages that failed.
    pub failed_host_programs: u64,
    /// Programs of garbage collection that failed.
    pub failed_gc_programs: u64,
    /// Programs of pages of the mapping that failed.
    pub failed_map_programs: u64,
    /// Erases that failed.
    pub failed_erases: u64,
}

/// The mapping in flash and its cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct MapCounts {
    /// Pages of requests whose entry was in the cache.
    pub hits: u64,
    /// Pages of requests whose entry had to be read.
    pub misses: u64,
    /// Pages of the mapping written because a changed entry was evicted from the cache.
    pub evicted_pages: u64,
    /// Pages of the mapping written because garbage collection or a trim changed other entries.
    pub updated_pages: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_wear_are_those_of_the_blocks() {
        // Mean 5, squares 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 over 8 blocks: the deviation is 2.
        let wear = WearCounts::of(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!(wear, WearCounts { mean: 5.0, min: 2, max: 9, stddev: 2.0 });
    }
}
