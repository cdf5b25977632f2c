//! Parallelism of a part: on several planes, and in array and registers.

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
    /// Planes that one command can take together.
    pub multi_plane: MultiPlane,
    /// The pages of a read are complete together, when the last has left; else each by itself.
    pub pages_end_together: bool,
    /// Each plane reads by itself while others read, into its own page buffer.
    pub independent_plane_reads: bool,
    /// The data of the next program comes in while one runs, into a second register.
    pub cache_program: bool,
    /// A plane makes way for its own reads and for no others: what runs on the others goes on.
    /// Only with planes that read by themselves.
    pub plane_suspension: bool,
}

impl Parallelism {
    /// One thing at a time.
    pub const NONE: Parallelism = Parallelism {
        multi_plane: MultiPlane::None,
        pages_end_together: false,
        independent_plane_reads: false,
        cache_program: false,
        plane_suspension: false,
    };
}
