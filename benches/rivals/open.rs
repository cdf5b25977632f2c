//! The load `open`: the dies of `main` under Poisson arrivals, without a link that they share.
//!
//! Nothing that one die does changes what another does, so each is simulated from its first request
//! to its last before the next one begins, and its state stays in the caches.

use crate::rivals::closed_loop::{DIES, Die as _};
use crate::rivals::main::Die;
use crate::rivals::{NEVER, Outcome, Request};

/// A request as its die sees it: number in the drive, logical page in the die.
#[derive(Clone, Copy)]
struct Own {
    arrival: u64,
    lpn: u32,
    number: u32,
    is_write: bool,
}

/// Serves all requests, which are in order of arrival, die by die.
pub fn run(dies: &mut [Die], requests: &[Request], is_logged: bool) -> Outcome<3> {
    let mut outcome = Outcome::new(is_logged.then_some(requests.len()));
    let room = requests.len() / DIES * 9 / 8;
    let mut by_die: Vec<Vec<Own>> = (0..DIES).map(|_| Vec::with_capacity(room)).collect();
    for (number, request) in (0..).zip(requests) {
        let Request { arrival, lpn, is_write } = *request;
        let own = Own { arrival, lpn: lpn / DIES as u32, number, is_write };
        by_die[lpn as usize % DIES].push(own);
    }
    // With the first request of all, dies begin to collect what garbage there is.
    let start = requests.first().map_or(0, |request| request.arrival);
    for (die, own) in dies.iter_mut().zip(&by_die) {
        serve(die, own, start, &mut outcome);
        outcome.transactions += die.transactions;
    }
    outcome
}

fn serve(die: &mut Die, requests: &[Own], start: u64, outcome: &mut Outcome<3>) {
    let (mut event, mut arrived, mut completed) = (NEVER, 0, 0);
    let mut now = start;
    while completed < requests.len() {
        if event == now {
            event = NEVER;
            if let Some(done) = die.elapse(now) {
                let request = &requests[done.request as usize];
                let at = (request.arrival, now);
                outcome.completed((request.number, request.is_write), at, done.parts);
                completed += 1;
            }
        }
        while let Some(request) = requests.get(arrived).filter(|next| next.arrival == now) {
            if request.is_write {
                die.write(request.lpn, arrived as u32, now);
            } else if die.read(request.lpn, arrived as u32, now) {
                outcome.completed((request.number, false), (now, now), [0; 3]);
                completed += 1;
            }
            arrived += 1;
        }
        if let Some(next) = die.decide(now) {
            event = next;
        }
        now = event.min(requests.get(arrived).map_or(NEVER, |next| next.arrival));
    }
}
