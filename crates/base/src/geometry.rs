//! The shape of a drive, and the arithmetic between a flat page number and its place.

/// The shape of a drive. Every count is at least 1 once a scenario has been checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Geometry {
    /// Independent buses between controller and flash.
    pub channels: u32,
    /// Chips (packages, "ways") on a channel; divides `dies_per_channel`.
    pub chips_per_channel: u32,
    /// Dies that share a channel.
    pub dies_per_channel: u32,
    /// Planes of a die.
    pub planes_per_die: u32,
    /// Erase blocks of a plane.
    pub blocks_per_plane: u32,
    /// Pages of a block.
    pub pages_per_block: u32,
    /// User bytes of a page; a multiple of 512.
    pub page_bytes: u32,
}

/// Where a page lies inside its die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PageAddress {
    /// 0..planes_per_die
    pub plane: u32,
    /// 0..blocks_per_plane
    pub block: u32,
    /// 0..pages_per_block
    pub page: u32,
}

impl Geometry {
    /// Dies of the drive. Die `d` sits on channel `d / dies_per_channel`.
    pub fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel
    }

    /// Planes of the drive. Plane `p` belongs to die `p / planes_per_die`.
    pub fn planes(&self) -> u32 {
        self.dies() * self.planes_per_die
    }

    /// Blocks of the drive. Block `b` belongs to plane `b / blocks_per_plane`.
    pub fn blocks(&self) -> u64 {
        u64::from(self.planes()) * u64::from(self.blocks_per_plane)
    }

    /// Physical pages of the drive.
    pub fn pages(&self) -> u64 {
        self.blocks() * u64::from(self.pages_per_block)
    }

    /// The shape of a drive with smaller pages: `parts` take the place of each.
    pub fn divided(self, parts: u32) -> Geometry {
        Geometry {
            pages_per_block: self.pages_per_block * parts,
            page_bytes: self.page_bytes / parts,
            ..self
        }
    }
}
