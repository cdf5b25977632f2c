//! A drive as bytes: its scenario and all its requests, from which it is simulated again.
//!
//! A drive in mid-flight is a function of these. So it is saved exactly, whatever the state of its
//! policies, and its restoration takes as long as its requests took.

use reprieve_base::{Time, UserError};

use crate::drive::{Drive, Error};
use crate::journal::{Fingerprint, Journal, put, take};

const HEAD: &[u8] = b"reprieve drive 1\n";
const VERSION: &str = env!("CARGO_PKG_VERSION");

impl Drive {
    /// Saves the drive as bytes.
    ///
    /// Errors if it keeps no journal: [`Drive::keep_journal`].
    pub fn save(&self) -> Result<Vec<u8>, Error> {
        let Some(journal) = &self.journal else {
            let what =
                "the drive keeps no journal, so it cannot be saved: ask for one at the start";
            return Err(Error::User(UserError::new(what)));
        };
        let mut bytes = HEAD.to_vec();
        for part in [VERSION.as_bytes(), self.scenario().as_bytes(), &journal.bytes] {
            put(&mut bytes, part.len() as u64);
            bytes.extend_from_slice(part);
        }
        let numbers = [u64::from(journal.has_advanced), self.now().ns(), self.taken];
        numbers.into_iter().for_each(|number| put(&mut bytes, number));
        put(&mut bytes, journal.fingerprint.0);
        let checksum = Fingerprint::of(&bytes).0;
        bytes.extend_from_slice(&checksum.to_le_bytes());
        Ok(bytes)
    }

    /// Restores a saved drive: same time, same open requests, same future.
    ///
    /// Simulates all its requests again. Errors if the bytes are damaged, or are those of a program
    /// that simulates otherwise.
    pub fn restore(bytes: &[u8]) -> Result<Drive, UserError> {
        let damaged = || UserError::new("a saved drive: it is cut off or changed; save it anew");
        let parts = Parts::read(bytes).ok_or_else(damaged)?;
        if parts.version != VERSION {
            let version = parts.version;
            return Err(UserError::new(format!(
                "a saved drive: Reprieve {version} has saved it, and this is {VERSION}; use that"
            )));
        }
        let mut drive = Drive::open(parts.scenario, "the saved drive", &[])?;
        drive.keep_journal().map_err(user)?;
        for entry in Journal::entries(parts.journal) {
            let entry = entry.ok_or_else(damaged)?;
            if let Some(now) = entry.now {
                drive.repeat(now, parts.taken).map_err(user)?;
                drive.journal.iter_mut().for_each(Journal::advanced);
            }
            drive.submit(entry.at, entry.ask).map_err(user)?;
        }
        if parts.has_advanced {
            drive.repeat(parts.now, parts.taken).map_err(user)?;
            drive.journal.iter_mut().for_each(Journal::advanced);
        }
        let again = drive.journal.as_ref().map(|journal| journal.fingerprint);
        if again != Some(parts.fingerprint) || drive.taken != parts.taken {
            return Err(UserError::new(
                "a saved drive: its requests do not complete here when they did where it was \
                 saved; use the same build of Reprieve",
            ));
        }
        Ok(drive)
    }
}

fn user(error: Error) -> UserError {
    let (Error::User(error) | Error::Time(error)) = error;
    error.at("a saved drive")
}

/// The contents of a saved drive.
struct Parts<'a> {
    version: &'a str,
    scenario: &'a str,
    journal: &'a [u8],
    has_advanced: bool,
    now: Time,
    taken: u64,
    fingerprint: Fingerprint,
}

impl Parts<'_> {
    /// Returns `None` if the bytes are malformed.
    fn read(bytes: &[u8]) -> Option<Parts<'_>> {
        let (body, checksum) = bytes.split_last_chunk::<8>()?;
        if Fingerprint::of(body).0 != u64::from_le_bytes(*checksum) {
            return None;
        }
        let mut rest = body.strip_prefix(HEAD)?;
        let version = std::str::from_utf8(part(&mut rest)?).ok()?;
        let scenario = std::str::from_utf8(part(&mut rest)?).ok()?;
        let journal = part(&mut rest)?;
        let has_advanced = take(&mut rest)? > 0;
        let now = Time::from_ns(take(&mut rest)?);
        let taken = take(&mut rest)?;
        let fingerprint = Fingerprint(take(&mut rest)?);
        rest.is_empty().then_some(Parts {
            version,
            scenario,
            journal,
            has_advanced,
            now,
            taken,
            fingerprint,
        })
    }
}

fn part<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take(rest)?).ok()?;
    let (part, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(part)
}
