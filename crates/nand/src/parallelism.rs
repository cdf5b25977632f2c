//! Parallelism of a part: several planes, and array and registers.

/// Which pages or blocks of different planes one command can take together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MultiPlane {
    /// None: one plane a command.
    #[default]
    None,
    /// Pages with the same number in their blocks; any blocks.
    Page,
    /// Pages or blocks with the same number in their planes.
    Block,
}

/// Parallelism of a die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parallelism {
    /// Planes in a command.
    pub multi_plane: MultiPlane,
    /// The pages of a read are complete together, with the last transfer; else one by one.
    pub pages_end_together: bool,
    /// Independent plane reads: each plane reads into its own page buffer while others read.
    pub independent_plane_reads: bool,
    /// Cache program: the data of the next program comes in while one runs, into a second register.
    pub cache_program: bool,
    /// Plane suspension: a plane is suspended for its own reads only, and the others continue. Only
    /// with independent plane reads.
    pub plane_suspension: bool,
}

impl Parallelism {
    /// One operation at a time.
    pub const NONE: Parallelism = Parallelism {
        multi_plane: MultiPlane::None,
        pages_end_together: false,
        independent_plane_reads: false,
        cache_program: false,
        plane_suspension: false,
    };
}
