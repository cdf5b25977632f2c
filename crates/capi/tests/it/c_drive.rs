//! A drive behind the C interface, as the tests use it.

use std::ffi::{CStr, CString, c_char, c_int};
use std::path::Path;
use std::ptr::null_mut;

use reprieve::{Completion, Handle, Request, reprieve_advance, reprieve_close, reprieve_error};
use reprieve::{reprieve_clone, reprieve_next, reprieve_open, reprieve_open_state, reprieve_poll};
use reprieve::{reprieve_restore, reprieve_run, reprieve_save, reprieve_submit, reprieve_summary};

pub const OK: c_int = 0;
pub const INVALID: c_int = 1;
pub const TIME: c_int = 2;
pub const SPACE: c_int = 3;
pub const NEVER: u64 = u64::MAX;

/// A request and when it arrives.
pub type Asked = (u64, Request);

pub fn request(op: u8, lba: u64, bytes: u32) -> Request {
    Request { tag: 0, lba, bytes, op, fua: 0, reserved: 0 }
}

/// What tests compare of a completion: tag, number, arrival, completion.
pub type Told = (u64, u64, u64, u64);

/// A drive, closed at its end.
pub struct Drive(pub *mut Handle);

// A drive may be used by any thread, one at a time.
unsafe impl Send for Drive {}

impl Drop for Drive {
    fn drop(&mut self) {
        unsafe { reprieve_close(self.0) }
    }
}

impl Drive {
    /// Opens a drive, or says why that cannot be.
    pub fn try_open(toml: &str) -> Result<Drive, (c_int, String)> {
        let mut handle = null_mut();
        let text = toml.as_ptr().cast::<c_char>();
        let status = unsafe { reprieve_open(text, toml.len(), &raw mut handle) };
        Drive(handle).or_error(status)
    }

    pub fn open(toml: &str) -> Drive {
        Drive::try_open(toml).unwrap_or_else(|(status, error)| panic!("{status}: {error}\n{toml}"))
    }

    pub fn open_state(toml: &str, state: &Path) -> Result<Drive, (c_int, String)> {
        let mut handle = null_mut();
        let path = CString::new(state.to_str().expect("a path")).expect("without zeros");
        let (text, path) = (toml.as_ptr().cast::<c_char>(), path.as_ptr());
        let status = unsafe { reprieve_open_state(text, toml.len(), path, &raw mut handle) };
        Drive(handle).or_error(status)
    }

    pub fn try_restore(bytes: &[u8]) -> Result<Drive, (c_int, String)> {
        let mut handle = null_mut();
        let status =
            unsafe { reprieve_restore(bytes.as_ptr().cast(), bytes.len(), &raw mut handle) };
        Drive(handle).or_error(status)
    }

    fn or_error(self, status: c_int) -> Result<Drive, (c_int, String)> {
        if status == OK { Ok(self) } else { Err((status, self.error())) }
    }

    pub fn error(&self) -> String {
        let text = unsafe { CStr::from_ptr(reprieve_error(self.0)) };
        text.to_str().expect("sentences are UTF-8").to_string()
    }

    pub fn submit(&self, at_ns: u64, request: Request) -> c_int {
        unsafe { reprieve_submit(self.0, at_ns, &raw const request) }
    }

    pub fn next(&self) -> u64 {
        let mut at_ns = 1;
        let status = unsafe { reprieve_next(self.0, &raw mut at_ns) };
        assert_eq!(status, OK, "{}", self.error());
        at_ns
    }

    pub fn advance(&self, to_ns: u64) -> c_int {
        unsafe { reprieve_advance(self.0, to_ns) }
    }

    pub fn run(&self, until_ns: u64) -> u64 {
        self.run_to(until_ns, 1)
    }

    pub fn run_to(&self, until_ns: u64, completions: usize) -> u64 {
        let mut now_ns = 0;
        let status = unsafe { reprieve_run(self.0, until_ns, completions, &raw mut now_ns) };
        assert_eq!(status, OK, "{}", self.error());
        now_ns
    }

    /// All completions that wait, taken three at a time.
    pub fn poll(&self) -> Vec<Told> {
        let mut told = Vec::new();
        loop {
            let mut some: [Completion; 3] = unsafe { std::mem::zeroed() };
            let count = unsafe { reprieve_poll(self.0, some.as_mut_ptr(), 3) };
            assert!((0..=3).contains(&count), "{}", self.error());
            for one in &some[..count as usize] {
                told.push((one.tag, one.number, one.arrival_ns, one.completion_ns));
            }
            if count < 3 {
                return told;
            }
        }
    }

    /// The drive's steps from here to its rest, and what is complete at each.
    pub fn finish(&self) -> Vec<(u64, Vec<Told>)> {
        let mut steps = Vec::new();
        while self.next() != NEVER {
            let at_ns = self.next();
            assert_eq!(self.advance(at_ns), OK, "{}", self.error());
            steps.push((at_ns, self.poll()));
        }
        steps
    }

    pub fn save(&self) -> Vec<u8> {
        let mut size = 0;
        let status = unsafe { reprieve_save(self.0, null_mut(), 0, &raw mut size) };
        assert_eq!(status, SPACE, "{}", self.error());
        let mut bytes = vec![0; size];
        let status =
            unsafe { reprieve_save(self.0, bytes.as_mut_ptr().cast(), size, &raw mut size) };
        assert_eq!(status, OK, "{}", self.error());
        bytes
    }

    pub fn try_clone(&self) -> Drive {
        let mut clone = null_mut();
        let status = unsafe { reprieve_clone(self.0, &raw mut clone) };
        let clone = Drive(clone);
        assert_eq!(status, OK, "{}", clone.error());
        clone
    }

    pub fn summary(&self) -> serde_json::Value {
        let (mut json, mut length) = (std::ptr::null(), 0);
        let status = unsafe { reprieve_summary(self.0, &raw mut json, &raw mut length) };
        assert_eq!(status, OK, "{}", self.error());
        let text = unsafe { CStr::from_ptr(json) };
        assert_eq!(text.count_bytes(), length);
        serde_json::from_slice(text.to_bytes()).expect("a summary is JSON")
    }
}
