//! A drive as bytes: its scenario, and all that has changed since it was made from that.

use std::hash::Hasher;

use reprieve_base::{Archive, Time, UserError, parts};
use reprieve_ssd::scenario::{self, Scenario, Sources};
use reprieve_ssd::{Ssd, registries};
use twox_hash::XxHash3_64;

use crate::drive::Drive;

const HEAD: &[u8] = b"reprieve drive 4\n";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Bytes of the checksum that follows.
const SUM: usize = size_of::<u64>();

impl Drive {
    /// Saves the drive as bytes, as long as its tables.
    pub fn save(&mut self) -> Vec<u8> {
        let mut archive = Archive::saving([HEAD, &[0; SUM]].concat());
        parts!(archive; VERSION.to_owned(), self.scenario());
        self.archive(&mut archive);
        let mut bytes = archive.into_bytes();
        let (head, body) = bytes.split_at_mut(HEAD.len() + SUM);
        head[HEAD.len()..].copy_from_slice(&checksum(body).to_le_bytes());
        bytes
    }

    /// Restores a saved drive: same time, same open requests, same future.
    ///
    /// Takes as long as reading the bytes. Errors if they are damaged, or are another release's.
    pub fn restore(bytes: &[u8]) -> Result<Drive, UserError> {
        let damaged = || UserError::new("a saved drive: it is cut off or changed; save it anew");
        let rest = bytes.strip_prefix(HEAD).ok_or_else(damaged)?;
        let (sum, body) = rest.split_first_chunk::<SUM>().ok_or_else(damaged)?;
        if checksum(body) != u64::from_le_bytes(*sum) {
            return Err(damaged());
        }
        let mut archive = Archive::loading(body);
        let (mut version, mut text) = (String::new(), String::new());
        parts!(archive; version, text);
        if version != VERSION {
            return Err(UserError::new(format!(
                "a saved drive: Reprieve {version} has saved it, and this is {VERSION}; use that"
            )));
        }
        let sources = Sources { text: &text, path: "the saved drive", sets: &[] };
        Drive::from_archive(scenario::load_served(&sources, registries())?, &mut archive)
    }

    /// Returns a drive that is what this one is, and goes its own way from here.
    ///
    /// Errors if there is no memory for a second one.
    pub fn try_clone(&mut self) -> Result<Drive, UserError> {
        let mut archive = Archive::saving(Vec::new());
        self.archive(&mut archive);
        let bytes = archive.into_bytes();
        Drive::from_archive(self.ssd.scenario().clone(), &mut Archive::loading(&bytes))
    }

    fn archive(&mut self, archive: &mut Archive) {
        parts!(archive; self.now, self.taken);
        self.ssd.archive(archive);
    }

    fn from_archive(scenario: Scenario, archive: &mut Archive) -> Result<Drive, UserError> {
        let (mut now, mut taken) = (Time::ZERO, 0);
        parts!(archive; now, taken);
        let ssd = Ssd::from_archive(scenario, archive);
        let mut drive = Drive::with(ssd.map_err(|error| error.at("a saved drive"))?);
        (drive.now, drive.taken) = (now, taken);
        Ok(drive)
    }
}

fn checksum(bytes: &[u8]) -> u64 {
    let mut hasher = XxHash3_64::new();
    hasher.write(bytes);
    hasher.finish()
}
