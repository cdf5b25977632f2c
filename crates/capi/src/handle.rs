//! The contents of a `reprieve_drive` or `reprieve_array`, and how calls access it.

use std::any::Any;
use std::cell::UnsafeCell;
use std::ffi::{CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use reprieve_array::Array;
use reprieve_base::UserError;
use reprieve_embed::Drive;

use crate::Status;

/// A drive or an array as C sees it, or the reason why there is none.
pub struct Handle<T = Drive> {
    /// A call is running.
    is_busy: AtomicBool,
    inner: UnsafeCell<Inner<T>>,
}

struct Inner<T> {
    /// `None`: it could not be opened, or has failed.
    open: Option<Open<T>>,
    /// The status of calls when there is none.
    ended: Status,
    /// The message of the last call that failed.
    message: CString,
}

/// An open drive or array.
pub(crate) struct Open<T = Drive> {
    pub(crate) model: T,
    pub(crate) summary: CString,
}

// One thread at a time, any, uses a drive; C callers rely on this.
const fn is_send<T: Send>() {}
const _: () = {
    is_send::<Drive>();
    is_send::<Array>();
};

/// The reason why a call is refused.
pub(crate) struct Refusal {
    pub(crate) status: Status,
    pub(crate) text: String,
}

/// Converts the text to a C string; zero bytes within it are left out.
pub(crate) fn text(text: String) -> CString {
    let bytes: Vec<u8> = text.into_bytes().into_iter().filter(|byte| *byte != 0).collect();
    CString::new(bytes).expect("zeros are left out")
}

fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("no words");
    format!("a fault of Reprieve, which is to be reported: {text}")
}

/// Opens a drive or an array, and sets `*handle` to it, or to the reason why there is none.
///
/// # Safety
///
/// `handle` is null or writable.
pub(crate) unsafe fn open_with<T>(
    handle: *mut *mut Handle<T>,
    open: impl FnOnce() -> Result<T, UserError>,
) -> c_int {
    if handle.is_null() {
        return Status::Invalid as c_int;
    }
    let (open, ended, message) = match catch_unwind(AssertUnwindSafe(open)) {
        Ok(Ok(model)) => {
            (Some(Open { model, summary: CString::default() }), Status::Ok, CString::default())
        }
        Ok(Err(error)) => (None, Status::Invalid, text(error.to_string())),
        Err(payload) => (None, Status::Fault, text(panic_text(&*payload))),
    };
    let inner = UnsafeCell::new(Inner { open, ended, message });
    let made = Box::new(Handle { is_busy: AtomicBool::new(false), inner });
    // SAFETY: it is writable.
    unsafe { handle.write(Box::into_raw(made)) };
    ended as c_int
}

/// Closes a handle; panics on the way are ignored.
///
/// # Safety
///
/// `handle` is null, or is open and not used again.
pub(crate) unsafe fn close<T>(handle: *mut Handle<T>) {
    if !handle.is_null() {
        // SAFETY: it comes from a box of `open_with`, and is closed once.
        let handle = unsafe { Box::from_raw(handle) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(handle)));
    }
}

/// Makes a call with exclusive access to the drive or array; catches panics, and returns a status.
///
/// # Safety
///
/// `handle` is null or open.
#[inline]
pub(crate) unsafe fn with<T>(
    handle: *mut Handle<T>,
    call: impl FnOnce(&mut Open<T>) -> Result<(), Refusal>,
) -> c_int {
    // SAFETY: it is null or open.
    let Some(handle) = (unsafe { handle.as_ref() }) else { return Status::Invalid as c_int };
    if handle.is_busy.swap(true, Ordering::Acquire) {
        return Status::Busy as c_int;
    }
    // SAFETY: this call alone has set `is_busy`, so nothing else has a reference to the inside.
    let status = make(unsafe { &mut *handle.inner.get() }, call);
    handle.is_busy.store(false, Ordering::Release);
    status as c_int
}

#[inline]
fn make<T>(inner: &mut Inner<T>, call: impl FnOnce(&mut Open<T>) -> Result<(), Refusal>) -> Status {
    let Some(open) = &mut inner.open else { return inner.ended };
    match catch_unwind(AssertUnwindSafe(|| call(open))) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(refusal)) => {
            inner.message = text(refusal.text);
            refusal.status
        }
        Err(payload) => end(inner, &*payload),
    }
}

/// Marks the drive as failed; it is not used again.
#[cold]
fn end<T>(inner: &mut Inner<T>, payload: &(dyn Any + Send)) -> Status {
    inner.message = text(panic_text(payload));
    inner.ended = Status::Fault;
    let failed = inner.open.take();
    let _ = catch_unwind(AssertUnwindSafe(|| drop(failed)));
    inner.ended
}

impl<T> Handle<T> {
    /// The message of the last call that failed.
    pub(crate) fn message(&self) -> *const c_char {
        // SAFETY: no other call for this drive is under way, as the header demands.
        unsafe { (*self.inner.get()).message.as_ptr() }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;
    use std::ptr::null_mut;

    use super::*;

    const TOML: &str = "device = \"fast12-slc\"\n[geometry]\nchannels = 1\nblocks_per_plane = 64\n";

    fn opened() -> *mut Handle {
        let mut handle = null_mut();
        let status = unsafe { open_with(&raw mut handle, || Drive::open(TOML, "a test", &[])) };
        assert_eq!(status, Status::Ok as c_int);
        handle
    }

    fn message(handle: *mut Handle) -> String {
        let text = unsafe { CStr::from_ptr((*handle).message()) };
        text.to_str().expect("it is UTF-8").to_string()
    }

    #[test]
    fn a_panic_ends_one_drive_and_leaves_the_library_as_a_sentence() {
        let (one, other) = (opened(), opened());
        let fault = Status::Fault as c_int;
        unsafe {
            assert_eq!(with(one, |_| panic!("at {} die 3", "7 ns")), fault);
            let told = "a fault of Reprieve, which is to be reported: at 7 ns die 3";
            assert_eq!(message(one), told);
            assert_eq!(with(one, |_| Ok(())), fault);
            assert_eq!(message(one), told);
            assert_eq!(with(other, |_| Ok(())), Status::Ok as c_int);
            close(one);
            close(other);
            let mut none: *mut Handle = null_mut();
            assert_eq!(open_with(&raw mut none, || panic!("no words")), fault);
            assert!(message(none).ends_with("no words"));
            close(none);
        }
    }

    #[test]
    fn two_calls_at_once_are_refused() {
        let drive = opened();
        unsafe {
            let mut within = Status::Ok as c_int;
            let outside = with(drive, |_| {
                within = with(drive, |_| unreachable!("the drive is in use"));
                Ok(())
            });
            assert_eq!((outside, within), (Status::Ok as c_int, Status::Busy as c_int));
            assert_eq!(with(drive, |_| Ok(())), Status::Ok as c_int);
            close(drive);
        }
    }

    #[test]
    fn a_zero_ends_no_sentence() {
        assert_eq!(text("a\0b".to_string()).as_c_str(), c"ab");
    }
}
