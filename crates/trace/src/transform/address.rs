//! Requests made to fit a drive: the address policies.

use reprieve_base::SECTOR_BYTES;

use crate::config::AddressPolicy;

/// Unit of `AddressPolicy::Scale`: addresses aligned to it stay aligned.
const SCALE_SECTORS: u64 = 4096 / SECTOR_BYTES;

/// The policy, for one drive and one trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddressFit {
    policy: AddressPolicy,
    capacity_sectors: u64,
    /// Of the trace, in units of `SCALE_SECTORS`; used by `Scale` only.
    extent_units: u64,
}

impl AddressFit {
    /// Only `Scale` uses `extent_bytes`.
    pub(crate) fn new(policy: AddressPolicy, capacity_bytes: u64, extent_bytes: u64) -> AddressFit {
        let extent_units = extent_bytes.div_ceil(SCALE_SECTORS * SECTOR_BYTES).max(1);
        AddressFit { policy, capacity_sectors: capacity_bytes / SECTOR_BYTES, extent_units }
    }

    /// The place of `sectors` sectors at `sector`, `None` if they are dropped; errors say why they
    /// do not fit.
    #[inline]
    pub(crate) fn place(&self, sector: u64, sectors: u64) -> Result<Option<u64>, String> {
        if sectors > self.capacity_sectors && self.policy != AddressPolicy::Drop {
            return Err(format!(
                "a request of {} bytes is larger than the drive, which has {}",
                sectors * SECTOR_BYTES,
                self.capacity_sectors * SECTOR_BYTES
            ));
        }
        let Some(last_sector) = self.capacity_sectors.checked_sub(sectors) else {
            return Ok(None);
        };
        match self.policy {
            AddressPolicy::Modulo => Ok(Some((sector % self.capacity_sectors).min(last_sector))),
            AddressPolicy::Scale => Ok(Some(self.scaled(sector).min(last_sector))),
            AddressPolicy::Clamp => Ok(Some(sector.min(last_sector))),
            AddressPolicy::Drop => Ok((sector <= last_sector).then_some(sector)),
            AddressPolicy::Error if sector <= last_sector => Ok(Some(sector)),
            AddressPolicy::Error => Err(format!(
                "sector {sector} and the {sectors} from it go past the end of the drive at \
                 sector {}; with address = \"modulo\" or \"scale\" they would be moved",
                self.capacity_sectors
            )),
        }
    }

    fn scaled(&self, sector: u64) -> u64 {
        let unit = u128::from(sector / SCALE_SECTORS);
        let capacity_units = u128::from(self.capacity_sectors / SCALE_SECTORS);
        let scaled = unit * capacity_units / u128::from(self.extent_units);
        let scaled = u64::try_from(scaled).expect("an address within the extent");
        scaled * SCALE_SECTORS + sector % SCALE_SECTORS
    }
}
