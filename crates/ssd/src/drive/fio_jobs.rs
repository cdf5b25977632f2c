//! Course of a job of a fio file: its start, pacing and end.

use reprieve_base::{Dur, Op, Request, Time};
use reprieve_ftl::Ftl;
use reprieve_trace::{FioJob, JobOps, JobThink};

use super::prefetch::Prefetch;

/// Progress of a job.
#[derive(Clone, Debug)]
pub(super) struct JobCourse {
    /// It starts after the jobs of all lower groups.
    pub(super) group: u32,
    /// The job in the order of the file; clones share it.
    pub(super) job: u32,
    /// The load with the figures of the job: its first clone.
    pub(super) figures: u32,
    delay: Dur,
    ramp: Dur,
    runtime: Option<Dur>,
    think: Option<JobThink>,
    depth: u32,
    /// `None` before its start.
    begins: Option<Time>,
    /// Requests that have been issued or wait for their time, and are not complete.
    outstanding: u32,
    pub(super) issued: u64,
    /// Requests since the last pause, and the pause's end.
    burst: u64,
    resumes: Time,
    /// It resets zones that it writes; its next requests wait for the reset.
    resets_own: bool,
    is_resetting: bool,
    /// Nothing more is issued; it ended at this time, or ends with its last completion after it.
    ended: Option<Time>,
}

/// Next step of a job.
pub(super) enum JobStep {
    /// It issues this request.
    Issue(Request),
    /// It issues this request when it arrives.
    Later(Request),
    /// No request before one of its own completes.
    Nothing,
}

impl JobCourse {
    pub(super) fn new(fio: &FioJob, job: u32, figures: u32) -> JobCourse {
        JobCourse {
            group: fio.course.group,
            job,
            figures,
            delay: fio.course.delay,
            ramp: fio.course.ramp,
            runtime: fio.course.runtime,
            think: fio.course.think,
            depth: fio.queue_depth,
            begins: None,
            outstanding: 0,
            issued: 0,
            burst: 0,
            resumes: Time::ZERO,
            resets_own: fio.ops != JobOps::Trim,
            is_resetting: false,
            ended: None,
        }
    }

    /// Starts its group, though the job may wait for its own delay.
    pub(super) fn begin(&mut self, at: Time) {
        self.begins = Some(at.max(Time::ZERO + self.delay));
    }

    /// Returns the next request out of `feed`, and when it is issued.
    pub(super) fn next(&mut self, feed: &mut Prefetch, ftl: &Ftl, now: Time) -> JobStep {
        let begins = self.begins.expect("a job is looked at when it has begun");
        if self.ended.is_some() || self.outstanding == self.depth {
            return JobStep::Nothing;
        }
        if self.is_resetting && self.outstanding > 0 {
            return JobStep::Nothing;
        }
        if let Some(think) = self.think.filter(|think| self.burst == think.every_requests) {
            if self.outstanding > 0 {
                return JobStep::Nothing;
            }
            self.burst = 0;
            self.resumes = now + think.time;
        }
        let Some(request) = feed.next(ftl) else {
            self.ended = Some(now);
            return JobStep::Nothing;
        };
        let due = begins + Dur::from_ns(request.arrival.ns());
        let at = due.max(self.resumes).max(now);
        let stops = self.runtime.map(|runtime| begins + self.ramp + runtime);
        if let Some(stops) = stops.filter(|stops| at >= *stops) {
            self.ended = Some(stops.max(now));
            return JobStep::Nothing;
        }
        self.is_resetting = self.resets_own && request.op == Op::Reset;
        self.outstanding += 1;
        self.issued += 1;
        self.burst += 1;
        let request = Request { arrival: at, ..request };
        if at == now { JobStep::Issue(request) } else { JobStep::Later(request) }
    }

    /// Counts a completed request.
    pub(super) fn completed(&mut self) {
        self.outstanding -= 1;
    }

    /// Returns when the job ended, if it has.
    pub(super) fn over(&self) -> Option<Time> {
        self.ended.filter(|_| self.outstanding == 0)
    }

    /// Completes its last request at `now`.
    pub(super) fn end_at_least(&mut self, now: Time) {
        self.ended = self.ended.map(|ended| ended.max(now));
    }

    /// Whether a request that arrived then counts in its figures.
    pub(super) fn counts(&self, arrival: Time) -> bool {
        self.begins.is_some_and(|begins| arrival >= begins + self.ramp)
    }
}
