//! The core as WebAssembly: plain functions over numbers and memory, for the worker of the page.
//!
//! A question is a JSON object that the page writes where [`question_at`] says; the answer lies
//! where [`answer_at`] says, [`answer_bytes`] long: JSON, the bytes of a timeline, or the sentence
//! that says what is wrong. An instance simulates one drive; who compares two has two instances.

mod explorer;

use std::cell::RefCell;
use std::panic;
use std::sync::Mutex;

use explorer::Explorer;

/// All is well, and the workload goes on.
const GOES_ON: u32 = 0;
/// All is well, and the workload is done.
const DONE: u32 = 1;
/// A mistake in what was asked: the answer is a sentence.
const REFUSED: u32 = 2;

#[derive(Default)]
struct Exchange {
    question: Vec<u8>,
    answer: Vec<u8>,
    explorer: Explorer,
}

thread_local! {
    static EXCHANGE: RefCell<Exchange> = RefCell::default();
}

/// What panicked last: the page reads it when the call has ended.
static FAULT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Has what panics leave its sentence; called once, before anything else.
#[unsafe(no_mangle)]
pub extern "C" fn begin() {
    panic::set_hook(Box::new(|what| {
        if let Ok(mut fault) = FAULT.lock() {
            *fault = what.to_string().into_bytes();
        }
    }));
}

/// Where the sentence of what panicked lies.
#[unsafe(no_mangle)]
pub extern "C" fn fault_at() -> *const u8 {
    FAULT.lock().map_or(std::ptr::null(), |fault| fault.as_ptr())
}

/// How long it is; 0: nothing did.
#[unsafe(no_mangle)]
pub extern "C" fn fault_bytes() -> usize {
    FAULT.lock().map_or(0, |fault| fault.len())
}

/// Makes room for a question of so many bytes, and says where.
#[unsafe(no_mangle)]
pub extern "C" fn question_at(bytes: usize) -> *mut u8 {
    EXCHANGE.with_borrow_mut(|exchange| {
        exchange.question.clear();
        exchange.question.resize(bytes, 0);
        exchange.question.as_mut_ptr()
    })
}

/// Where the last answer lies.
#[unsafe(no_mangle)]
pub extern "C" fn answer_at() -> *const u8 {
    EXCHANGE.with_borrow(|exchange| exchange.answer.as_ptr())
}

/// How long it is.
#[unsafe(no_mangle)]
pub extern "C" fn answer_bytes() -> usize {
    EXCHANGE.with_borrow(|exchange| exchange.answer.len())
}

/// Asks something of the explorer.
fn ask(
    what: impl FnOnce(&mut Explorer, &[u8]) -> Result<(Vec<u8>, bool), reprieve_base::UserError>,
) -> u32 {
    EXCHANGE.with_borrow_mut(|exchange| {
        let Exchange { question, answer, explorer } = exchange;
        match what(explorer, question) {
            Ok((text, goes_on)) => {
                *answer = text;
                if goes_on { GOES_ON } else { DONE }
            }
            Err(error) => {
                *answer = error.to_string().into_bytes();
                REFUSED
            }
        }
    })
}

/// Opens the drive of a scenario; the answer is the scenario with every value.
#[unsafe(no_mangle)]
pub extern "C" fn open() -> u32 {
    ask(|explorer, question| Ok((explorer.open(question)?.into_bytes(), true)))
}

/// Lets so many requests more complete; the answer is what there is to see meanwhile.
#[unsafe(no_mangle)]
pub extern "C" fn step(requests: u32) -> u32 {
    ask(|explorer, _| {
        let goes_on = explorer.step(u64::from(requests))?;
        Ok((explorer.glance().to_string().into_bytes(), goes_on))
    })
}

/// The summary, as `reprieve run` writes it, and what the slowest waited behind.
#[unsafe(no_mangle)]
pub extern "C" fn summary() -> u32 {
    ask(|explorer, _| Ok((explorer.summary()?.to_string().into_bytes(), false)))
}

/// The bytes of the timeline since the last call.
#[unsafe(no_mangle)]
pub extern "C" fn timeline() -> u32 {
    ask(|explorer, _| Ok((explorer.timeline()?, true)))
}

/// One die with raw commands: the bytes of its timeline, with the phases of its operations.
#[unsafe(no_mangle)]
pub extern "C" fn rig() -> u32 {
    ask(|_, question| Ok((explorer::rig(question)?, false)))
}

/// Devices, parts, policies and causes: what the page lets one choose from.
#[unsafe(no_mangle)]
pub extern "C" fn choices() -> u32 {
    ask(|_, _| Ok((explorer::choices().to_string().into_bytes(), false)))
}
