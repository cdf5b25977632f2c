//! What the machine has to have room for: the data of a drive, and the sockets of its clients.

use std::fs;

use reprieve_base::UserError;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::server::Options;

/// Memory that the data of a drive of so many bytes may take up.
///
/// Errors if it has to fit into memory and might not.
pub fn memory_for(bytes: u64, options: &Options) -> Result<u64, UserError> {
    // A page of the table for each 2 MiB.
    let whole_bytes = bytes + bytes.div_ceil(512);
    if options.store.is_some() {
        return match options.memory_bytes {
            None => Ok(0),
            Some(_) => Err(UserError::new(
                "--memory-bytes says how much memory data may take up, and --store keeps it in a \
                 file; give one of them",
            )),
        };
    }
    if let Some(limit_bytes) = options.memory_bytes {
        return Ok(limit_bytes);
    }
    match available_bytes() {
        Some(available) if available < whole_bytes => Err(UserError::new(format!(
            "the drive has {bytes} bytes and this machine has memory for {available}; give \
             --store FILE, or --memory-bytes with what data may take up"
        ))),
        _ => Ok(whole_bytes),
    }
}

/// What the machine has to give; `None` if it does not say.
fn available_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Makes sure that so many clients can be connected.
pub fn allow_files(clients: usize) -> Result<(), UserError> {
    // Sockets beside theirs, files, and what the program has open anyway.
    let wanted = clients as u64 + 256;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= wanted) {
        return Ok(());
    }
    let raised = Rlimit { current: Some(wanted), maximum };
    setrlimit(Resource::Nofile, raised).map_err(|error| {
        UserError::new(format!(
            "{wanted} open files are needed and this process may have {}: {error}; raise ulimit -n",
            current.unwrap_or(u64::MAX)
        ))
    })
}
