//! Base address of each device of a trace in the drive's address space.

use std::collections::BTreeMap;

use reprieve_base::UserError;

use super::sectors::widen;
use crate::config::DeviceSelection;
use crate::formats::RawRequest;
use crate::source::Rows;
use crate::wrong;

/// Extents are rounded up to this, so that addresses aligned in a device stay aligned.
const EXTENT_STEP_BYTES: u64 = 4096;

/// The extent of each device.
#[derive(Debug, Default)]
pub(crate) struct Extents(BTreeMap<u32, u64>);

impl Extents {
    /// Reads a whole trace, even if only a part is replayed: so a row has the same address in
    /// every part.
    pub(crate) fn scan(mut rows: Rows) -> Result<Extents, UserError> {
        let mut extents = Extents::default();
        while let Some(row) = rows.next_row()? {
            extents.include(&row.raw);
        }
        Ok(extents)
    }

    fn include(&mut self, raw: &RawRequest) {
        let end = widen(*raw).0.end_bytes();
        let extent = self.0.entry(raw.device).or_insert(0);
        *extent = (*extent).max(end.next_multiple_of(EXTENT_STEP_BYTES));
    }

    fn listed(&self) -> String {
        let names: Vec<String> = self.0.keys().map(u32::to_string).collect();
        names.join(", ")
    }
}

/// The first byte of each device, for those that are replayed.
#[derive(Debug)]
pub(crate) enum Bases {
    /// Every device at 0.
    Shared,
    /// By device, in order of number.
    Own(Vec<(u32, u64)>),
}

impl Bases {
    /// Lays the selected devices one behind the other; also the extent of the whole.
    pub(crate) fn lay(
        devices: &DeviceSelection,
        extents: &Extents,
    ) -> Result<(Bases, u64), UserError> {
        let order: Vec<u32> = match devices {
            DeviceSelection::Concatenate => extents.0.keys().copied().collect(),
            DeviceSelection::Only(list) => list.clone(),
            DeviceSelection::Merge => {
                let widest = extents.0.values().copied().max();
                return Ok((Bases::Shared, widest.unwrap_or(0)));
            }
        };
        let mut bases = Vec::with_capacity(order.len());
        let mut base_bytes = 0u64;
        for device in order {
            bases.push((device, base_bytes));
            let Some(extent) = extents.0.get(&device) else {
                let what = format!("is not in the trace, which has {}", extents.listed());
                return Err(wrong("devices", device, &what));
            };
            base_bytes = base_bytes.checked_add(*extent).ok_or_else(|| {
                let what = "one behind the other the devices take more than 2^64 bytes";
                wrong("devices", device, what)
            })?;
        }
        bases.sort_unstable();
        Ok((Bases::Own(bases), base_bytes))
    }

    /// A single device, at 0, whatever its extent.
    pub(crate) fn single(device: u32) -> Bases {
        Bases::Own(vec![(device, 0)])
    }

    /// First byte of a device; `None` if it is not replayed.
    #[inline]
    pub(crate) fn of(&self, device: u32) -> Option<u64> {
        match self {
            Bases::Shared => Some(0),
            Bases::Own(bases) => {
                let index = bases.binary_search_by_key(&device, |(number, _)| *number).ok()?;
                Some(bases[index].1)
            }
        }
    }
}
