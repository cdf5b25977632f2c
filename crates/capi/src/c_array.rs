//! Arrays of drives through C.

use std::ffi::{c_char, c_int};
use std::slice;

use reprieve_array::{self as of, Array, Options};
use reprieve_base::{Op, Time, UserError};

use crate::handle::{self, Handle, Refusal, open_with, with};
use crate::{Status, bytes_of, invalid, number, scenario_of, summary};

/// `reprieve_array_request`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct ArrayRequest {
    /// Arrival.
    pub arrival_ns: u64,
    /// First byte.
    pub offset: u64,
    /// Length.
    pub bytes: u64,
    /// Operation, 0 to 3: read, write, trim, flush.
    pub op: u8,
    /// 0.
    pub reserved: [u8; 7],
}

/// `reprieve_array_row`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct ArrayRow {
    /// The request.
    pub request: ArrayRequest,
    /// Completion.
    pub completion_ns: u64,
    /// Reads of drives.
    pub reads: u32,
    /// Writes of drives.
    pub writes: u32,
    /// Chunks read from other drives at once.
    pub reconstructed: u32,
    /// Chunks read from other drives as well.
    pub hedged: u32,
}

const _: () = assert!(size_of::<ArrayRequest>() == 32 && size_of::<ArrayRow>() == 56);

/// An array, and how many requests wait for its run.
pub struct OpenArray {
    array: Array,
    requests: usize,
}

fn request(given: &ArrayRequest) -> Result<of::Request, Refusal> {
    let ArrayRequest { arrival_ns, offset, bytes, op, reserved } = *given;
    if op > Op::Flush as u8 || reserved != [0; 7] {
        return Err(invalid(format!(
            "op = {op}, reserved = {reserved:?}: must be at most 3, and 0; is the request set \
             whole?"
        )));
    }
    let op = Op::ALL[usize::from(op)];
    Ok(of::Request { arrival: Time::from_ns(arrival_ns), op, offset, bytes })
}

fn row(row: &of::Row) -> ArrayRow {
    let of::Request { arrival, op, offset, bytes } = row.request;
    ArrayRow {
        request: ArrayRequest {
            arrival_ns: arrival.ns(),
            offset,
            bytes,
            op: op as u8,
            reserved: [0; 7],
        },
        completion_ns: row.completion.ns(),
        reads: row.reads,
        writes: row.writes,
        reconstructed: row.reconstructed,
        hedged: row.hedged,
    }
}

exports! {
    fn reprieve_array_open(
        toml: *const c_char,
        length: usize,
        options: *const c_char,
        options_length: usize,
        array: *mut *mut Handle<OpenArray>,
    ) -> c_int {
        // SAFETY: as the header demands of the caller.
        let (text, options) =
            unsafe { (bytes_of(toml.cast(), length), bytes_of(options.cast(), options_length)) };
        let open = || {
            let options = options.ok_or_else(|| UserError::new("the options are a null pointer"))?;
            let options = std::str::from_utf8(options)
                .map_err(|error| UserError::new(format!("the options are no UTF-8: {error}")))?;
            let options = Options::parse(options)?;
            let array = Array::open(scenario_of(text)?, "the scenario", &[], &options)?;
            Ok(OpenArray { array, requests: 0 })
        };
        // SAFETY: as above.
        unsafe { open_with(array, open) }
    }

    fn reprieve_array_close(array: *mut Handle<OpenArray>) {
        // SAFETY: a handle is made by `open_with`, and closed once.
        unsafe { handle::close(array) }
    }

    fn reprieve_array_error(array: *const Handle<OpenArray>) -> *const c_char {
        // SAFETY: the handle is null or open.
        unsafe { array.as_ref() }.map_or(c"the array is a null pointer".as_ptr(), Handle::message)
    }

    fn reprieve_array_capacity_bytes(array: *mut Handle<OpenArray>) -> u64 {
        // SAFETY: the handle is null or open.
        unsafe { number(array, |open| open.array.capacity_bytes()) }
    }

    fn reprieve_array_now(array: *mut Handle<OpenArray>) -> u64 {
        // SAFETY: the handle is null or open.
        unsafe { number(array, |open| open.array.now().ns()) }
    }

    fn reprieve_array_submit(
        array: *mut Handle<OpenArray>,
        requests: *const ArrayRequest,
        count: usize,
    ) -> c_int {
        // SAFETY: as many requests can be read; the handle is null or open.
        unsafe {
            with(array, |open| {
                if requests.is_null() && count > 0 {
                    return Err(invalid("requests is a null pointer"));
                }
                let given = if count > 0 { slice::from_raw_parts(requests, count) } else { &[] };
                let given: Result<Vec<of::Request>, Refusal> = given.iter().map(request).collect();
                open.model.array.submit(given?).map_err(|error| invalid(error.to_string()))?;
                open.model.requests += count;
                Ok(())
            })
        }
    }

    fn reprieve_array_run(
        array: *mut Handle<OpenArray>,
        until_rebuilt: c_int,
        rows: *mut ArrayRow,
        capacity: usize,
        count: *mut usize,
    ) -> c_int {
        // SAFETY: the count is null or writable, the rows have their capacity; the handle is null
        // or open.
        unsafe {
            let count = count.as_mut();
            with(array, |open| {
                let OpenArray { array, requests } = &mut open.model;
                let count = count.ok_or_else(|| invalid("count is a null pointer"))?;
                *count = *requests;
                if capacity < *requests {
                    let text = format!("the run has {requests} rows, and capacity = {capacity}");
                    return Err(Refusal { status: Status::Space, text });
                }
                if rows.is_null() && *requests > 0 {
                    return Err(invalid("rows is a null pointer"));
                }
                let done = array.run_watched(until_rebuilt != 0, &mut |_| true);
                let done = done.map_err(|error| invalid(error.to_string()))?;
                *requests = 0;
                for (place, done) in done.iter().enumerate() {
                    // SAFETY: the caller has room for `capacity`, which is no less than all rows.
                    rows.add(place).write(row(done));
                }
                Ok(())
            })
        }
    }

    fn reprieve_array_summary(
        array: *mut Handle<OpenArray>,
        json: *mut *const c_char,
        length: *mut usize,
    ) -> c_int {
        // SAFETY: each pointer is null or writable; the handle is null or open.
        unsafe { summary(array, |waiting| waiting.array.summary(), json, length) }
    }
}
