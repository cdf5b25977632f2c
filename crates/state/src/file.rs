//! The file format of a saved state: checksum, identity of the drive, compressed columns.
//!
//! `RPVSTATE`, version (4 bytes), XXH3-64 of all that follows (8), length of the header (4), the
//! header as JSON, then the columns in the header's order. A column is its numbers' first bytes,
//! then their second and so on, compressed as Zstandard. Integers are little-endian.

use std::fs::File;
use std::hash::Hasher;
use std::io::{Read, Write};
use std::path::Path;

use reprieve_base::{SECTOR_BYTES, UserError};
use reprieve_config::Scenario;
use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Map, Value, json};
use twox_hash::XxHash3_64;

use super::State;

/// Incremented with every change of the contents of a state.
pub(super) const VERSION: u32 = 8;

const MAGIC: &[u8; 8] = b"RPVSTATE";
/// Bytes before the checksummed part: magic, version, checksum.
const PREFIX_BYTES: usize = 20;
const WIDTH: usize = size_of::<u32>();

/// The column of dies dedicated to flows; absent if there are none.
const PARTS: &str = "dies of flows";

/// Keys of the scenario, with their values, that a state must match.
fn drive(scenario: &Scenario) -> Map<String, Value> {
    let geometry = &scenario.geometry;
    let parts: Vec<Vec<u32>> = scenario.parts().into_iter().map(|part| part.dies).collect();
    let parts = if parts.is_empty() { Value::Null } else { json!(parts) };
    let pairs = [
        ("geometry.channels", json!(geometry.channels)),
        ("geometry.chips_per_channel", json!(geometry.chips_per_channel)),
        ("geometry.dies_per_channel", json!(geometry.dies_per_channel)),
        ("geometry.planes_per_die", json!(geometry.planes_per_die)),
        ("geometry.blocks_per_plane", json!(geometry.blocks_per_plane)),
        ("geometry.pages_per_block", json!(geometry.pages_per_block)),
        ("geometry.page_bytes", json!(geometry.page_bytes)),
        ("ftl.mapping_bytes", json!(scenario.mapping_bytes())),
        ("ftl.over_provisioning", json!(scenario.ftl.over_provisioning)),
        ("ftl.placement", json!(scenario.ftl.placement)),
        (PARTS, parts),
        ("ftl.twin_blocks", json!(scenario.ftl.twin_blocks)),
    ];
    pairs.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
}

/// The pieces of a file, one after the other.
pub(super) fn encode(state: State, scenario: &Scenario) -> Vec<Vec<u8>> {
    let mut columns = Vec::new();
    let mut pieces = vec![Vec::new(); 2];
    // Each column is dropped once compressed: those of a large drive fill much of memory.
    for (name, column) in state.columns {
        let entries = column.len();
        let bytes = compress_to_vec(&shuffled(column)[..], CompressionLevel::Fastest);
        columns.push(json!({"name": name, "entries": entries, "bytes": bytes.len()}));
        pieces.push(bytes);
    }
    let program = env!("CARGO_PKG_VERSION");
    let header = json!({"program": program, "drive": drive(scenario), "columns": columns});
    let header = header.to_string();
    pieces[1].extend((header.len() as u32).to_le_bytes());
    pieces[1].extend(header.as_bytes());
    let mut checksum = XxHash3_64::new();
    pieces.iter().for_each(|piece| checksum.write(piece));
    pieces[0].extend(MAGIC);
    pieces[0].extend(VERSION.to_le_bytes());
    pieces[0].extend(checksum.finish().to_le_bytes());
    pieces
}

/// Moves a file to its place once all of it is on the disk.
pub(super) fn write(path: &Path, pieces: &[impl AsRef<[u8]>]) -> std::io::Result<()> {
    let name = path.file_name().ok_or(std::io::ErrorKind::IsADirectory)?.to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}.partial", std::process::id()));
    let write_all = |mut file: File| {
        pieces.iter().try_for_each(|piece| file.write_all(piece.as_ref()))?;
        file.sync_all()
    };
    let written = File::create(&temporary)
        .and_then(write_all)
        .and_then(|()| std::fs::rename(&temporary, path));
    // It may not exist; the first error is the one to report.
    written.inspect_err(|_| drop(std::fs::remove_file(&temporary)))
}

/// Reads a file; of one that is no state only its first bytes, as a device may have no end.
pub(super) fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let (mut file, mut bytes) = (File::open(path)?, Vec::new());
    (&mut file).take(MAGIC.len() as u64).read_to_end(&mut bytes)?;
    if bytes == MAGIC {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Entries that a column may have: one for each mapping unit, or for each unit of the buffer, or
/// the bits of the sectors of each unit.
fn entries_max(scenario: &Scenario) -> u64 {
    let unit_bytes = u64::from(scenario.mapping_bytes());
    let words = (unit_bytes / SECTOR_BYTES).div_ceil(u64::from(u32::BITS));
    (scenario.mapping_geometry().pages() * words).max(scenario.buffer.bytes / unit_bytes)
}

/// Decodes the state in the bytes of a file, if it matches this scenario.
pub(super) fn decode(bytes: &[u8], scenario: &Scenario) -> Result<State, UserError> {
    if bytes.len() < PREFIX_BYTES || &bytes[..MAGIC.len()] != MAGIC {
        return Err(UserError::new("is not a saved state; name a file that --save-state wrote"));
    }
    let version = number(&bytes[8..12]) as u32;
    if version != VERSION {
        return Err(UserError::new(format!(
            "is a state of version {version}, and this program reads version {VERSION}; save it \
             anew with this program"
        )));
    }
    let rest = &bytes[PREFIX_BYTES..];
    if XxHash3_64::oneshot(rest) != number(&bytes[12..PREFIX_BYTES]) {
        return Err(damaged());
    }
    let header_bytes = rest.get(..WIDTH).map(number).ok_or_else(damaged)? as usize;
    let header = rest.get(WIDTH..WIDTH.saturating_add(header_bytes)).ok_or_else(damaged)?;
    let header: Value = serde_json::from_slice(header).map_err(|_| damaged())?;
    same_drive(&header["drive"], scenario)?;
    let mut state = State::default();
    let mut data = &rest[WIDTH + header_bytes..];
    for column in header["columns"].as_array().ok_or_else(damaged)? {
        let name = column["name"].as_str().ok_or_else(damaged)?;
        let size = |key: &str| column[key].as_u64().ok_or_else(damaged);
        let (entries, bytes) = (size("entries")?, size("bytes")? as usize);
        // No column has more: a longer one is not read into memory.
        if entries > entries_max(scenario) || state.has(name) {
            return Err(UserError::new(format!(
                "the state has {entries} entries in column {name:?}, which a drive of this size \
                 has not, or has it twice; save it anew"
            )));
        }
        let (own, others) = data.split_at_checked(bytes).ok_or_else(damaged)?;
        state.put(name, numbers(own, entries as usize)?);
        data = others;
    }
    if data.is_empty() { Ok(state) } else { Err(damaged()) }
}

fn damaged() -> UserError {
    UserError::new("is damaged or not whole: its checksum does not fit; save it anew")
}

fn same_drive(saved: &Value, scenario: &Scenario) -> Result<(), UserError> {
    for (key, wanted) in drive(scenario) {
        let got = &saved[&key];
        if *got != wanted {
            // No option states which flows have them.
            let or = if key == PARTS { String::new() } else { format!(", or --set {key}={got}") };
            return Err(UserError::new(format!(
                "is the state of a drive with {key} = {got}, and the scenario has {wanted}; use \
                 one scenario for both{or}"
            )));
        }
    }
    Ok(())
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// All lowest bytes, then all second bytes and so on: the high bytes of similar numbers match.
fn shuffled(column: Vec<u32>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(column.len() * WIDTH);
    for place in 0..WIDTH {
        bytes.extend(column.iter().map(|number| number.to_le_bytes()[place]));
    }
    bytes
}

fn numbers(compressed: &[u8], entries: usize) -> Result<Vec<u32>, UserError> {
    let mut bytes = Vec::with_capacity(entries * WIDTH);
    if entries > 0 {
        let decoder = StreamingDecoder::new(compressed).map_err(|_| damaged())?;
        // One extra byte reveals a longer stream.
        let most = (entries * WIDTH) as u64 + 1;
        decoder.take(most).read_to_end(&mut bytes).map_err(|_| damaged())?;
    }
    if bytes.len() != entries * WIDTH {
        return Err(damaged());
    }
    let at =
        |index: usize| u32::from_le_bytes([0, 1, 2, 3].map(|place| bytes[place * entries + index]));
    Ok((0..entries).map(at).collect())
}
