//! Jobs on a drive with zones: its zones in place of the region's bytes.

use reprieve_base::UserError;

use super::JobFit;
use super::job::{DriveZones, JobOps};

/// The place of trims among reads, writes and trims.
const TRIM: usize = 2;

impl JobFit<'_> {
    /// Returns the zones of a job with `zonemode=zbd`. Its region then has their capacities only,
    /// and it trims whole zones.
    pub(super) fn drive_zones(
        &self,
        sizes: &mut [Vec<(u32, f64)>; 3],
        start_bytes: u64,
        region_bytes: &mut u64,
    ) -> Result<Option<DriveZones>, UserError> {
        let draft = &self.section.draft;
        if !draft.has_zones {
            return Ok(None);
        }
        let Some(size_bytes) = draft.zone_bytes else {
            let what = "needs the size of a zone; must be given with zonemode = zbd";
            return Err(self.fault(&["zonesize"], what));
        };
        let capacity_bytes = draft.zone_capacity.unwrap_or(size_bytes);
        if capacity_bytes > size_bytes || capacity_bytes % 512 + size_bytes % 512 > 0 {
            let what = format!("must be at most zonesize = {size_bytes}, both multiples of 512");
            return Err(self.fault(&["zonecapacity", "zonesize"], &what));
        }
        let size = u64::from(size_bytes);
        for (name, bytes) in [("offset", start_bytes), ("size", *region_bytes)] {
            if bytes % size > 0 || bytes == 0 && name == "size" {
                let what = format!("is {bytes} bytes; must be whole zones of {size_bytes}");
                return Err(self.fault(&[name], &what));
            }
        }
        *region_bytes = *region_bytes / size * u64::from(capacity_bytes);
        let mut reset_bytes = 0;
        if draft.ops() == JobOps::Trim {
            reset_bytes = sizes[TRIM][0].0;
            let is_zone = [size_bytes, capacity_bytes].contains(&reset_bytes);
            if sizes[TRIM].len() > 1 || !is_zone {
                let what = format!("resets zones; must be a zone of {size_bytes} bytes");
                return Err(self.fault(&["bs"], &what));
            }
            sizes[TRIM] = vec![(capacity_bytes, 1.0)];
        } else if draft.ops() == JobOps::TrimWrite {
            let what = "resets a zone for each write; must be write, which resets full ones";
            return Err(self.fault(&["rw"], what));
        }
        let writes = draft.ops() != JobOps::Read && draft.ops() != JobOps::Trim;
        if writes && draft.is_random && draft.open_zones_max.is_none() {
            let what =
                "limits the zones that random writes go to; must be given with zonemode = zbd";
            return Err(self.fault(&["max_open_zones"], what));
        }
        let open_max = draft.open_zones_max.filter(|_| draft.is_random).unwrap_or(1);
        Ok(Some(DriveZones { size_bytes, capacity_bytes, open_max, reset_bytes }))
    }
}
