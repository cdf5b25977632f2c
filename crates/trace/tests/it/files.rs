//! Trace files for the tests, each under a name of its own in the build directory.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use reprieve_base::Dur;
use reprieve_trace::{AddressPolicy, DeviceSelection, Reading, TraceConfig};

/// A name in the tests' directory that no other test has.
pub fn fresh_path(name: &str) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let unique = format!("{}-{count}-{name}", std::process::id());
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(unique)
}

/// A file that goes away with the test.
pub struct TestFile(pub PathBuf);

impl TestFile {
    /// A file with this content; only errors show its name.
    pub fn new(name: &str, content: impl AsRef<[u8]>) -> TestFile {
        let path = fresh_path(name);
        std::fs::write(&path, content).expect("the build directory can be written");
        TestFile(path)
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).expect("the test's own file");
    }
}

/// The whole trace, unchanged.
pub fn whole(file: &TestFile) -> TraceConfig {
    TraceConfig {
        path: file.0.clone(),
        reading: Reading::from("auto"),
        queue_depth: None,
        time_scale: 1.0,
        clock: None,
        start: Dur::ZERO,
        duration: None,
        repeat: 1,
        max_requests: None,
        devices: DeviceSelection::Concatenate,
        address: AddressPolicy::Error,
        drop_duplicates_within: None,
        sort_window_requests: 0,
    }
}
