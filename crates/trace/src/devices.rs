//! The devices of a trace, listed in one pass and without the further work of a profile.

use std::collections::BTreeMap;
use std::path::Path;

use reprieve_base::{Op, UserError};
use serde::Serialize;

use crate::formats::RawRequest;
use crate::reading::Reading;
use crate::source::Rows;

/// The devices of a trace, in order of number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceList {
    /// The format given or found.
    pub format: &'static str,
    /// Rows that hold a request, usable or not.
    pub rows: u64,
    /// Each device that has a request.
    pub devices: Vec<DeviceSummary>,
}

/// One device of a trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DeviceSummary {
    /// Its number, as the key `devices` of a scenario selects it.
    pub device: u32,
    /// Its name in the trace, if it is more than its number.
    pub name: Option<String>,
    /// Its requests.
    pub requests: u64,
    /// Of these, reads.
    pub reads: u64,
    /// Of these, writes.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Earliest time, in the trace's own reckoning.
    pub first_ns: u64,
    /// Latest time.
    pub last_ns: u64,
    /// First byte behind its requests.
    pub extent_bytes: u64,
}

impl DeviceList {
    /// Returns a JSON object with keys in the order above.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain numbers and names")
    }
}

/// Reads a whole trace, in the order of its rows, and lists its devices.
pub fn devices(path: &Path, reading: impl Into<Reading>) -> Result<DeviceList, UserError> {
    let mut rows = Rows::open(path, &reading.into())?;
    let mut devices: BTreeMap<u32, DeviceSummary> = BTreeMap::new();
    while let Some(row) = rows.next_row()? {
        let raw = row.raw;
        devices.entry(raw.device).or_default().add(&raw);
    }
    let format = rows.format().entry.name;
    if devices.is_empty() {
        return Err(rows.at_file(format!("holds no request of format {format}")));
    }
    let named =
        |device: DeviceSummary| DeviceSummary { name: rows.device_name(device.device), ..device };
    let devices = devices.into_values().map(named).collect();
    Ok(DeviceList { format, rows: rows.count(), devices })
}

impl DeviceSummary {
    fn add(&mut self, raw: &RawRequest) {
        if self.requests == 0 {
            (self.device, self.first_ns) = (raw.device, raw.time_ns);
        }
        self.requests += 1;
        match raw.op {
            Op::Read => {
                self.reads += 1;
                self.read_bytes += u64::from(raw.bytes);
            }
            Op::Write | Op::Append => {
                self.writes += 1;
                self.written_bytes += u64::from(raw.bytes);
            }
            _ => (),
        }
        self.first_ns = self.first_ns.min(raw.time_ns);
        self.last_ns = self.last_ns.max(raw.time_ns);
        self.extent_bytes = self.extent_bytes.max(raw.end_bytes());
    }
}
