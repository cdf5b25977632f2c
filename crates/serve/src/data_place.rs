//! The store that fits on the machine, and the limit on open files.

use std::path::PathBuf;
use std::{env, fs};

use reprieve_base::UserError;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::inject::Injection;
use crate::options::Options;
use crate::store::{Store, System};

/// The place of a drive's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataPlace {
    /// Memory.
    Memory {
        /// Limit, beyond which writes fail.
        limit_bytes: u64,
    },
    /// Into the file that the user names.
    File(PathBuf),
    /// A temporary file, as memory may not suffice.
    TemporaryFile,
    /// Nowhere.
    Discarded,
}

impl DataPlace {
    /// Chooses the place of `bytes` of data on this machine.
    ///
    /// Errors if the options contradict each other.
    pub fn choose(bytes: u64, options: &Options) -> Result<DataPlace, UserError> {
        DataPlace::choose_with(bytes, options, available_bytes())
    }

    fn choose_with(
        bytes: u64,
        options: &Options,
        available_bytes: Option<u64>,
    ) -> Result<DataPlace, UserError> {
        match (&options.store, options.memory_bytes, options.discard_data) {
            (Some(path), None, false) => Ok(DataPlace::File(path.clone())),
            (None, Some(limit_bytes), false) => Ok(DataPlace::Memory { limit_bytes }),
            (None, None, true) => Ok(DataPlace::Discarded),
            (None, None, false) => {
                // A page of the table for each 2 MiB.
                let limit_bytes = bytes + bytes.div_ceil(512);
                Ok(match available_bytes {
                    Some(available) if available < limit_bytes => DataPlace::TemporaryFile,
                    _ => DataPlace::Memory { limit_bytes },
                })
            }
            _ => Err(UserError::new(
                "--store keeps data in a file, --memory-bytes says how much memory it may take up, \
                 and --discard-data keeps none; give one of them",
            )),
        }
    }

    /// Errors at a fault that can never hit, or that would have no visible effect.
    pub fn check_faults(&self, bytes: u64, faults: &[Injection]) -> Result<(), UserError> {
        let keeps = matches!(self, DataPlace::File(_));
        for fault in faults {
            let what = if fault.is_beyond(bytes) {
                format!("first and bytes must be of the drive, which has {bytes} bytes")
            } else if fault.is_power_cut() && !keeps {
                "needs --store FILE, as nothing else is there when the power is back".into()
            } else {
                continue;
            };
            return Err(UserError::new(what).at(format_args!("--fault {}", fault.text)));
        }
        Ok(())
    }

    /// Opens the store of a drive; `volatile_bytes`: the memory before its file that a power loss
    /// clears.
    ///
    /// Errors if its file cannot be opened.
    pub fn open(&self, bytes: u64, volatile_bytes: Option<u64>) -> Result<Store, UserError> {
        match self {
            DataPlace::Memory { limit_bytes } => Ok(Store::in_memory(bytes, *limit_bytes)),
            DataPlace::File(path) => Store::in_file(&System, path, bytes, volatile_bytes),
            DataPlace::TemporaryFile => Store::in_temporary_file(bytes),
            DataPlace::Discarded => Ok(Store::Discarded),
        }
    }

    /// A note on the store for the user, if it is not exactly as the options state.
    pub fn note(&self) -> Option<String> {
        match self {
            DataPlace::Memory { .. } | DataPlace::File(_) => None,
            DataPlace::TemporaryFile => Some(format!(
                "the data is in an unlinked file in {}, as it might not fit into memory; it is \
                 gone when the server ends (--store FILE keeps it)",
                env::temp_dir().display()
            )),
            DataPlace::Discarded => Some("no data is kept: reads give zeros".into()),
        }
    }
}

/// The machine's available memory; `None` if unknown.
fn available_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Raises the limit on open files for `clients` clients.
pub fn allow_files(clients: usize) -> Result<(), UserError> {
    // Other sockets and files of the process.
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

#[cfg(test)]
mod tests;
