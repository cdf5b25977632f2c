//! The C interface, declared and documented in `include/reprieve.h`.
//!
//! A handle is a drive, or the reason why there is none. Each call takes the handle exclusively,
//! catches panics, and turns errors into a status and a message.

#![cfg_attr(not(test), deny(clippy::undocumented_unsafe_blocks))]

/// Sets `*json` to a summary, which the handle keeps, and `*length` to its length.
///
/// # Safety
///
/// Each pointer is null or writable; the handle is null or open.
unsafe fn summary<T>(
    handle: *mut Handle<T>,
    of: impl FnOnce(&T) -> String,
    json: *mut *const c_char,
    length: *mut usize,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        let (json, length) = (json.as_mut(), length.as_mut());
        with(handle, |open| {
            let json = json.ok_or_else(|| invalid("json is a null pointer"))?;
            open.summary = handle::text(of(&open.model));
            *json = open.summary.as_ptr();
            length.into_iter().for_each(|length| *length = open.summary.count_bytes());
            Ok(())
        })
    }
}

/// Returns a number of a drive or an array, 0 if there is none.
///
/// # Safety
///
/// The handle is null or open.
unsafe fn number<T>(handle: *mut Handle<T>, of: impl FnOnce(&T) -> u64) -> u64 {
    let mut found = 0;
    // SAFETY: as the caller promises.
    unsafe {
        with(handle, |open| {
            found = of(&open.model);
            Ok(())
        })
    };
    found
}

/// Exports functions that the header declares and documents.
macro_rules! exports {
    ($(fn $name:ident($($argument:ident: $kind:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => {$(
        /// Does what the header says.
        ///
        /// # Safety
        ///
        /// As the header says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $kind),*) $(-> $result)? $body
    )*};
}

mod c_array;
mod extended;
mod handle;

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;
use std::slice;

use reprieve_base::{Op, Time, UserError};
use reprieve_embed::{Ask, Drive, Error};

pub use c_array::*;
pub use extended::*;
pub use handle::Handle;
use handle::{Refusal, open_with, with};

/// `REPRIEVE_ABI_VERSION`.
pub const ABI_VERSION: u32 = 1;

/// The result of a call: `REPRIEVE_OK` and its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// A wrong argument.
    Invalid = 1,
    /// A time that has passed, or a step that would skip an event.
    Time = 2,
    /// The buffer is too small.
    Space = 3,
    /// Another call for this drive is under way.
    Busy = 4,
    /// A fault of Reprieve.
    Fault = 5,
}

/// `reprieve_request`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Request {
    /// The caller's tag.
    pub tag: u64,
    /// First sector.
    pub lba: u64,
    /// Length.
    pub bytes: u32,
    /// The operation.
    pub op: u8,
    /// Forced unit access.
    pub fua: u8,
    /// 0.
    pub reserved: u16,
}

/// `reprieve_completion`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Completion {
    /// The caller's tag.
    pub tag: u64,
    /// The request's number in order of arrival.
    pub number: u64,
    /// Arrival.
    pub arrival_ns: u64,
    /// Completion.
    pub completion_ns: u64,
    /// Pages that error correction could not restore.
    pub uncorrectable_pages: u32,
    /// The operation.
    pub op: u8,
    /// 0.
    pub reserved: [u8; 3],
}

const _: () = assert!(size_of::<Request>() == 24 && size_of::<Completion>() == 40);

impl From<reprieve_embed::Completion> for Completion {
    #[inline(always)]
    fn from(done: reprieve_embed::Completion) -> Completion {
        Completion {
            tag: done.tag,
            number: done.number,
            arrival_ns: done.arrival.ns(),
            completion_ns: done.completion.ns(),
            uncorrectable_pages: done.uncorrectable_pages,
            op: done.op as u8,
            reserved: [0; 3],
        }
    }
}

fn invalid(what: impl Into<String>) -> Refusal {
    Refusal { status: Status::Invalid, text: what.into() }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        let status = match &error {
            Error::User(_) => Status::Invalid,
            Error::Time(_) => Status::Time,
        };
        Refusal { status, text: error.to_string() }
    }
}

/// Returns the bytes of a caller's buffer.
///
/// # Safety
///
/// `length` bytes can be read at `bytes`, which may be null if there are none.
unsafe fn bytes_of<'a>(bytes: *const u8, length: usize) -> Option<&'a [u8]> {
    match (bytes.is_null(), length) {
        (true, 0) => Some(&[]),
        (true, _) => None,
        // SAFETY: as the caller promises.
        (false, _) => Some(unsafe { slice::from_raw_parts(bytes, length) }),
    }
}

fn scenario_of(text: Option<&[u8]>) -> Result<&str, UserError> {
    let text = text.ok_or_else(|| UserError::new("the scenario is a null pointer"))?;
    std::str::from_utf8(text)
        .map_err(|error| UserError::new(format!("the scenario is no UTF-8: {error}")))
}

/// `reprieve_abi_version`.
#[unsafe(no_mangle)]
pub extern "C" fn reprieve_abi_version() -> u32 {
    ABI_VERSION
}

/// `reprieve_version`.
#[unsafe(no_mangle)]
pub extern "C" fn reprieve_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

#[inline(always)]
fn ask(request: &Request) -> Result<Ask, Refusal> {
    let Request { tag, lba, bytes, op, fua, reserved } = *request;
    match [Op::Read, Op::Write, Op::Trim, Op::Flush].get(usize::from(op)) {
        Some(&op) if fua <= 1 && reserved == 0 => Ok(Ask { tag, op, lba, bytes, fua: fua == 1 }),
        _ => Err(not_a_request(request)),
    }
}

#[cold]
fn not_a_request(request: &Request) -> Refusal {
    let Request { op, fua, reserved, .. } = *request;
    if op > Op::Flush as u8 {
        return invalid(format!("op = {op}: must be at most 3, REPRIEVE_FLUSH"));
    }
    invalid(format!(
        "fua = {fua}, reserved = {reserved}: must be 0 or 1, and 0; is the request set whole?"
    ))
}

exports! {
    fn reprieve_open(
        toml: *const c_char,
        length: usize,
        drive: *mut *mut Handle,
    ) -> c_int {
        // SAFETY: as the header demands of the caller.
        let text = unsafe { bytes_of(toml.cast(), length) };
        let open = || Drive::open(scenario_of(text)?, "the scenario", &[]);
        // SAFETY: as above.
        unsafe { open_with(drive, open) }
    }

    fn reprieve_restore(
        buffer: *const c_void,
        size: usize,
        drive: *mut *mut Handle,
    ) -> c_int {
        // SAFETY: as the header demands of the caller.
        let bytes = unsafe { bytes_of(buffer.cast(), size) };
        let restore = || {
            let bytes = bytes.ok_or_else(|| UserError::new("the saved drive is a null pointer"))?;
            Drive::restore(bytes)
        };
        // SAFETY: as above.
        unsafe { open_with(drive, restore) }
    }

    fn reprieve_open_state(
        toml: *const c_char,
        length: usize,
        state: *const c_char,
        drive: *mut *mut Handle,
    ) -> c_int {
        // SAFETY: as the header demands of the caller.
        let (text, state) = unsafe {
            (bytes_of(toml.cast(), length), (!state.is_null()).then(|| CStr::from_ptr(state)))
        };
        let open = || {
            let state = state.ok_or_else(|| UserError::new("the path is a null pointer"))?;
            let state = state
                .to_str()
                .map_err(|error| UserError::new(format!("the path is no UTF-8: {error}")))?;
            Drive::open_state(scenario_of(text)?, "the scenario", &[], Path::new(state))
        };
        // SAFETY: as above.
        unsafe { open_with(drive, open) }
    }

    fn reprieve_clone(drive: *mut Handle, clone: *mut *mut Handle) -> c_int {
        let mut made = None;
        // SAFETY: the handle is null or open.
        let status = unsafe {
            with(drive, |open| {
                made = Some(open.model.try_clone());
                Ok(())
            })
        };
        match made {
            // SAFETY: the place is null or writable.
            Some(made) => unsafe { open_with(clone, || made) },
            None => status,
        }
    }

    fn reprieve_close(drive: *mut Handle) {
        // SAFETY: a handle is made by `open_with`, and closed once.
        unsafe { handle::close(drive) }
    }

    fn reprieve_error(drive: *const Handle) -> *const c_char {
        // SAFETY: the handle is null or open.
        unsafe { drive.as_ref() }.map_or(c"the drive is a null pointer".as_ptr(), Handle::message)
    }

    fn reprieve_capacity_bytes(drive: *mut Handle) -> u64 {
        // SAFETY: the handle is null or open.
        unsafe { number(drive, Drive::capacity_bytes) }
    }

    fn reprieve_now(drive: *mut Handle) -> u64 {
        // SAFETY: the handle is null or open.
        unsafe { number(drive, |drive| drive.now().ns()) }
    }

    fn reprieve_submit(
        drive: *mut Handle,
        at_ns: u64,
        request: *const Request,
    ) -> c_int {
        // SAFETY: the request is null or readable; the handle is null or open.
        unsafe {
            let request = request.as_ref();
            with(drive, |open| {
                let request = request.ok_or_else(|| invalid("the request is a null pointer"))?;
                Ok(open.model.submit(Time::from_ns(at_ns), ask(request)?)?)
            })
        }
    }

    fn reprieve_next(drive: *mut Handle, at_ns: *mut u64) -> c_int {
        // SAFETY: the number is null or writable; the handle is null or open.
        unsafe {
            let at_ns = at_ns.as_mut();
            with(drive, |open| {
                let at_ns = at_ns.ok_or_else(|| invalid("at_ns is a null pointer"))?;
                *at_ns = open.model.next().ns();
                Ok(())
            })
        }
    }

    fn reprieve_advance(drive: *mut Handle, to_ns: u64) -> c_int {
        // SAFETY: the handle is null or open.
        unsafe { with(drive, |open| Ok(open.model.advance(Time::from_ns(to_ns))?)) }
    }

    fn reprieve_run(
        drive: *mut Handle,
        until_ns: u64,
        completions: usize,
        now_ns: *mut u64,
    ) -> c_int {
        // SAFETY: the number is null or writable; the handle is null or open.
        unsafe {
            let now_ns = now_ns.as_mut();
            with(drive, |open| {
                let reached = open.model.run(Time::from_ns(until_ns), completions)?;
                now_ns.into_iter().for_each(|now_ns| *now_ns = reached.ns());
                Ok(())
            })
        }
    }

    fn reprieve_poll(
        drive: *mut Handle,
        completions: *mut Completion,
        max: usize,
    ) -> i64 {
        let mut count = 0;
        // SAFETY: the handle is null or open.
        let status = unsafe {
            with(drive, |open| {
                if completions.is_null() && max > 0 {
                    return Err(invalid("completions is a null pointer"));
                }
                while count < max {
                    let Some(done) = open.model.poll() else { break };
                    // SAFETY: the caller has room for `max`, and `count` is less.
                    completions.add(count).write(done.into());
                    count += 1;
                }
                Ok(())
            })
        };
        if status == Status::Ok as c_int { count as i64 } else { -i64::from(status) }
    }

    fn reprieve_keep_journal(drive: *mut Handle) -> c_int {
        // SAFETY: the handle is null or open.
        unsafe { with(drive, |_| Ok(())) }
    }

    fn reprieve_save(
        drive: *mut Handle,
        buffer: *mut c_void,
        capacity: usize,
        size: *mut usize,
    ) -> c_int {
        // SAFETY: the size is null or writable, the buffer has its capacity; the handle is null or
        // open.
        unsafe {
            let size = size.as_mut();
            with(drive, |open| {
                let size = size.ok_or_else(|| invalid("size is a null pointer"))?;
                let bytes = open.model.save();
                *size = bytes.len();
                if capacity < bytes.len() {
                    let text = format!("the drive takes {} bytes, not {capacity}", bytes.len());
                    return Err(Refusal { status: Status::Space, text });
                }
                if buffer.is_null() {
                    return Err(invalid("buffer is a null pointer"));
                }
                buffer.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
                Ok(())
            })
        }
    }

    fn reprieve_summary(
        drive: *mut Handle,
        json: *mut *const c_char,
        length: *mut usize,
    ) -> c_int {
        // SAFETY: each pointer is null or writable; the handle is null or open.
        unsafe { summary(drive, Drive::summary, json, length) }
    }
}
