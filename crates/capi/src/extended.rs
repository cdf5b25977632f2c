//! Requests with queue, class and handle, completions with details, and the measured part.
//!
//! The structures grow at their ends. A caller says what size it knows.

use std::ffi::c_int;

use reprieve_base::Time;
use reprieve_embed::{Ask, CAUSE_NAMES, PART_NAMES, Priority, Queue, Route};

use crate::handle::{Handle, Refusal, with};
use crate::{Completion, Request, Status, ask, bytes_of, invalid};

/// `reprieve_request2`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Request2 {
    /// The request.
    pub request: Request,
    /// Which of the following count.
    pub with: u32,
    /// The submission queue.
    pub queue: u32,
    /// The priority class.
    pub priority: u8,
    /// The placement handle.
    pub handle: u8,
    /// 0.
    pub reserved: [u8; 6],
}

/// `reprieve_completion2`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Completion2 {
    /// The completion.
    pub completion: Completion,
    /// Components of the latency, in the order of `PART_NAMES`.
    pub components_ns: [u64; PART_NAMES.len()],
    /// Causes of the waits, in the order of `CAUSE_NAMES`.
    pub causes_ns: [u64; CAUSE_NAMES.len()],
    /// The die, or `REPRIEVE_NO_DIE`.
    pub die: u32,
    /// Senses beyond the first of each page.
    pub retries: u32,
}

const _: () = assert!(size_of::<Request2>() == 40 && size_of::<Completion2>() == 248);

/// The request and route of a caller's bytes, of which a program that knew fewer fields has fewer.
fn ask2(given: &[u8]) -> Result<(Ask, Route), Refusal> {
    const SIZE: usize = size_of::<Request2>();
    if given.len() < SIZE {
        return Err(invalid(format!("size = {}: must be at least {SIZE}", given.len())));
    }
    if given[SIZE..].iter().any(|byte| *byte != 0) {
        return Err(invalid("the request has fields that this release does not know"));
    }
    // SAFETY: as long as the structure, which any bytes are a value of.
    let request: Request2 = unsafe { given.as_ptr().cast::<Request2>().read_unaligned() };
    let Request2 { request, with, queue, priority, handle, reserved } = request;
    if with >= 8 || with & 3 == 3 || reserved != [0; 6] {
        return Err(invalid(format!(
            "with = {with}, reserved = {reserved:?}: must be a queue or a priority, a handle, or \
             both, and 0"
        )));
    }
    let queue = match with & 3 {
        1 => Queue::Number(queue),
        2 if usize::from(priority) < Priority::ALL.len() => Queue::Class(priority),
        2 => {
            return Err(invalid(format!("priority = {priority}: must be at most 3, REPRIEVE_LOW")));
        }
        _ => Queue::Any,
    };
    Ok((ask(&request)?, Route { queue, handle: (with & 4 > 0).then_some(handle) }))
}

exports! {
    fn reprieve_submit2(
        drive: *mut Handle,
        at_ns: u64,
        request: *const Request2,
        size: usize,
    ) -> c_int {
        // SAFETY: the request is null or has its size; the handle is null or open.
        unsafe {
            let request = bytes_of(request.cast(), size);
            with(drive, |open| {
                let request = request.ok_or_else(|| invalid("the request is a null pointer"))?;
                let (ask, route) = ask2(request)?;
                Ok(open.model.submit_by(Time::from_ns(at_ns), ask, route)?)
            })
        }
    }

    fn reprieve_keep_details(drive: *mut Handle) -> c_int {
        // SAFETY: the handle is null or open.
        unsafe { with(drive, |open| Ok(open.model.keep_details()?)) }
    }

    fn reprieve_measure_from(drive: *mut Handle, at_ns: u64) -> c_int {
        // SAFETY: the handle is null or open.
        unsafe { with(drive, |open| Ok(open.model.measure_from(Time::from_ns(at_ns))?)) }
    }

    fn reprieve_poll2(
        drive: *mut Handle,
        completions: *mut Completion2,
        size: usize,
        max: usize,
    ) -> i64 {
        let mut count = 0;
        // SAFETY: the handle is null or open.
        let status = unsafe {
            with(drive, |open| {
                if completions.is_null() && max > 0 {
                    return Err(invalid("completions is a null pointer"));
                }
                if size < size_of::<Completion2>() {
                    let least = size_of::<Completion2>();
                    return Err(invalid(format!("size = {size}: must be at least {least}")));
                }
                if !open.model.keeps_details() {
                    return Err(invalid("details are not kept; reprieve_keep_details begins that"));
                }
                while count < max {
                    let Some(details) = open.model.details().copied() else { break };
                    let Some(done) = open.model.poll() else { break };
                    let completion = Completion2 {
                        completion: done.into(),
                        components_ns: details.parts.0,
                        causes_ns: details.causes.0,
                        die: details.die.unwrap_or(u32::MAX),
                        retries: details.retries,
                    };
                    // SAFETY: the caller has room for `max` of this size, and `count` is less.
                    let place = completions.cast::<u8>().add(count * size);
                    let known = size_of::<Completion2>();
                    place.copy_from_nonoverlapping((&raw const completion).cast(), known);
                    place.add(known).write_bytes(0, size - known);
                    count += 1;
                }
                Ok(())
            })
        };
        if status == Status::Ok as c_int { count as i64 } else { -i64::from(status) }
    }
}
