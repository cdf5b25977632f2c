//! The core as WebAssembly: plain functions over numbers and memory, for the page's workers.
//!
//! A question is a JSON object, which the page writes at [`explorer_question`]. The answer is at
//! [`explorer_answer`], [`explorer_answer_bytes`] long: JSON, TOML, the bytes of a timeline, or
//! an error message. An instance has one drive; a page that compares two has two instances. After
//! a panic only [`explorer_fault`] of an instance may be called, which returns the panic's
//! message.

pub mod explorer;
mod waits;

use std::cell::RefCell;
use std::panic;
use std::sync::Mutex;

use explorer::Explorer;
use reprieve_base::UserError;

/// Success, with more to do.
const GOES_ON: u32 = 0;
/// Success, and complete.
const DONE: u32 = 1;
/// A user's mistake: the answer is an error message.
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

/// Message and place of the last panic.
static FAULT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Records panic messages; must be called first.
#[unsafe(no_mangle)]
pub extern "C" fn explorer_begin() {
    panic::set_hook(Box::new(|what| {
        if let Ok(mut fault) = FAULT.lock() {
            *fault = what.to_string().into_bytes();
        }
    }));
}

/// Address of the last panic's message.
#[unsafe(no_mangle)]
pub extern "C" fn explorer_fault() -> *const u8 {
    FAULT.lock().map_or(std::ptr::null(), |fault| fault.as_ptr())
}

/// Length of that message; 0: no panic.
#[unsafe(no_mangle)]
pub extern "C" fn explorer_fault_bytes() -> usize {
    FAULT.lock().map_or(0, |fault| fault.len())
}

/// Allocates a question of `bytes` bytes, and returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn explorer_question(bytes: usize) -> *mut u8 {
    EXCHANGE.with_borrow_mut(|exchange| {
        exchange.question.clear();
        exchange.question.resize(bytes, 0);
        exchange.question.as_mut_ptr()
    })
}

/// Address of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn explorer_answer() -> *const u8 {
    EXCHANGE.with_borrow(|exchange| exchange.answer.as_ptr())
}

/// Length of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn explorer_answer_bytes() -> usize {
    EXCHANGE.with_borrow(|exchange| exchange.answer.len())
}

/// Answers the question, and returns whether there is more to do.
fn ask(what: impl FnOnce(&mut Explorer, &[u8]) -> Result<(Vec<u8>, u32), UserError>) -> u32 {
    EXCHANGE.with_borrow_mut(|Exchange { question, answer, explorer }| {
        let (text, status) = what(explorer, question)
            .unwrap_or_else(|error| (error.to_string().into_bytes(), REFUSED));
        *answer = text;
        status
    })
}

/// Simulates until about `requests` more are complete; the answer is the state of the run.
#[unsafe(no_mangle)]
pub extern "C" fn explorer_step(requests: u32) -> u32 {
    ask(|explorer, _| {
        let status = if explorer.step(u64::from(requests))? { GOES_ON } else { DONE };
        Ok((explorer.snapshot().to_string().into_bytes(), status))
    })
}

/// Defines questions, by the function that answers them with bytes and a status.
macro_rules! questions {
    ($($(#[$doc:meta])* $name:ident = $answer:expr, $status:ident;)*) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> u32 {
            let answer: fn(&mut Explorer, &[u8]) -> Result<Vec<u8>, UserError> = $answer;
            ask(|explorer, question| Ok((answer(explorer, question)?, $status)))
        }
    )*};
}

questions! {
    /// Opens the drive of a scenario; the answer is the resolved scenario.
    explorer_open = |explorer, question| Ok(explorer.open(question)?.into_bytes()), GOES_ON;
    /// The summary, as `reprieve run --requests` writes it.
    explorer_summary = |explorer, _| Ok(explorer.summary()?.to_string().into_bytes()), DONE;
    /// The bytes of the drive's timeline since the last call.
    explorer_timeline = |explorer, _| explorer.timeline(), DONE;
    /// Holds a file, so that scenarios can name a trace or a job file of fio.
    explorer_hold = |_, file| explorer::hold(file).map(|()| Vec::new()), DONE;
    /// The bytes of the timeline of one die with raw commands.
    explorer_rig = |_, question| explorer::rig(question), DONE;
    /// Resolves a scenario, which may have no load.
    explorer_resolve = |_, question| Ok(explorer::resolve(question)?.into_bytes()), DONE;
    /// Devices and policies, and the version.
    explorer_choices = |_, _| Ok(explorer::choices().to_string().into_bytes()), DONE;
}
