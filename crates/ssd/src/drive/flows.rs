//! The loads of a drive: one, or several at once, each with its requests, queues and figures.

use reprieve_base::{Archive, Dur, Request, Time, UserError, parts};
use reprieve_config::{Interface, Priority, Scenario};
use reprieve_ftl::Ftl;
use reprieve_observe::stats::FlowStats;
use reprieve_trace::{Counts, FioJob, Load, Workload, WorkloadConfig};

use super::fio_jobs::{JobCourse, JobStep};
use super::handover::{Handover, Queue, Route};
use super::interface::HostRequest;
use super::prefetch::Prefetch;

/// Submission queues that take turns.
struct QueueTurns {
    queues: Vec<u32>,
    turn: usize,
}

impl QueueTurns {
    fn of(queues: Vec<u32>) -> QueueTurns {
        QueueTurns { queues, turn: 0 }
    }

    fn next(&mut self) -> u32 {
        let queue = self.queues[self.turn];
        self.turn = (self.turn + 1) % self.queues.len();
        queue
    }
}

/// One load.
pub(super) struct LoadState {
    feed: Prefetch,
    /// The request that arrives next; requests of a closed loop are pulled instead.
    next: Option<Request>,
    /// Requests of a closed loop that may arrive now.
    to_pull: u32,
    /// Submission queues of its requests; none without any.
    queues: QueueTurns,
    /// Place of its service level, see [`reprieve_policy::txn::Txn::service_level`].
    service_level: u8,
    /// The placement handle of its writes.
    handle: u8,
    /// The course of a job of fio; `None`: a load that issues its requests in order of arrival.
    course: Option<Box<JobCourse>>,
    /// `None`: its figures are the drive's, as it is the only load, or those of another clone of
    /// the job.
    pub(super) stats: Option<Box<FlowStats>>,
}

impl LoadState {
    /// Creates a load that is not read yet, without figures, level or course.
    fn new(feed: Prefetch, queues: Vec<u32>) -> LoadState {
        LoadState {
            feed,
            next: None,
            to_pull: 0,
            queues: QueueTurns::of(queues),
            service_level: 0,
            handle: 0,
            course: None,
            stats: None,
        }
    }
}

/// All loads.
pub(super) struct Flows {
    pub(super) list: Vec<LoadState>,
    /// Arrival of the next request and its load, the first among equals; `NEVER` if there is none.
    next: (Time, u32),
    /// Requests of all closed loops that may arrive now.
    to_pull: u32,
    /// The last group of jobs that has started.
    group: u32,
    /// Loads have separate figures.
    pub(super) have_stats: bool,
    /// Some loads have their own service levels.
    have_service_levels: bool,
    /// One load, whose requests are offered one by one.
    pub(super) is_served: bool,
    /// They are handed over before they arrive.
    pub(super) handover: Option<Box<Handover>>,
    /// The queue of the last request that has arrived, if requests are handed over.
    queue: Queue,
    /// Queues by priority class, in the order of `Priority::ALL`.
    classes: [QueueTurns; Priority::ALL.len()],
}

impl Flows {
    /// Saves or restores the state of its one load, whose requests are handed over.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        assert!(self.is_served, "a drive is saved that reads its load");
        let [load] = &mut self.list[..] else { unreachable!("a served drive has one load") };
        parts!(archive; load.next, load.to_pull, self.next, self.to_pull, self.handover);
        let turns = std::iter::once(&mut load.queues).chain(&mut self.classes);
        turns.for_each(|queues| archive.part(&mut queues.turn));
    }

    /// Opens the loads of a scenario for its drive, with these submission queues and this seed.
    ///
    /// Errors if there is none, or one cannot be opened.
    pub(super) fn open(scenario: &Scenario, queues: u32, seed: u64) -> Result<Flows, UserError> {
        let page_bytes = scenario.mapping_bytes();
        let mut levels: u8 = 0;
        let mut open = |workload, queues, stats, slo: Option<Dur>| {
            let feed = Prefetch::new(workload, page_bytes);
            levels = levels.checked_add(u8::from(slo.is_some())).ok_or_else(|| {
                let what = "workload.read_slo_us: at most 255 loads may have one of their own";
                UserError::new(what)
            })?;
            let service_level = slo.map_or(0, |_| levels);
            Ok(LoadState { service_level, stats, ..LoadState::new(feed, queues) })
        };
        let all = 0..scenario.capacity_bytes();
        let whole = |config| Load { config, seed, bytes: all.clone() };
        let mut loads: Vec<Load> = scenario.workload.iter().map(whole).collect();
        let mut courses: Vec<Option<JobCourse>> = loads.iter().map(|_| None).collect();
        for (place, flow) in scenario.flows.iter().enumerate() {
            let course = course(&flow.workload, &courses);
            let clone = course.as_ref().map_or(0, |course| place as u32 - course.figures);
            loads.push(Load {
                config: &flow.workload,
                seed: flow.seed(seed, u64::from(clone)),
                bytes: scenario.bytes_of(flow),
            });
            courses.push(course);
        }
        let mut opened = Workload::open_all(&loads)?.into_iter().zip(courses);
        let mut next = || opened.next().expect("one for each load");
        let mut list: Vec<LoadState> = Vec::with_capacity(scenario.flows.len().max(1));
        if scenario.workload.is_some() {
            let all = if scenario.queues.is_empty() {
                (0..queues).collect()
            } else {
                scenario.queues.clone()
            };
            let opened = open(next().0, all, None, scenario.read_slo)?;
            list.push(LoadState { handle: scenario.handle as u8, ..opened });
        }
        for (place, flow) in scenario.flows.iter().enumerate() {
            let (workload, course) = next();
            let own = match flow.queues.is_empty() {
                true => (queues > 0).then(|| place as u32 % queues).into_iter().collect(),
                false => flow.queues.clone(),
            };
            let is_first = course.as_ref().is_none_or(|course| course.figures == place as u32);
            let stats = is_first.then(|| Box::new(FlowStats::new(&flow.name)));
            let opened = open(workload, own, stats, flow.read_slo)?;
            let handle = flow.handle as u8;
            list.push(LoadState { course: course.map(Box::new), handle, ..opened });
        }
        if list.is_empty() {
            let what = "workload: missing; a run needs workload.trace, .generator or .fio";
            return Err(UserError::new(what));
        }
        let have_stats = list.iter().any(|flow| flow.stats.is_some());
        Ok(Flows {
            list,
            next: (Time::NEVER, 0),
            to_pull: 0,
            group: 0,
            have_stats,
            have_service_levels: levels > 0,
            is_served: false,
            handover: None,
            queue: Queue::Any,
            classes: classes(scenario),
        })
    }

    /// Creates one load whose requests are offered one by one, or handed over before they arrive.
    pub(super) fn served(scenario: &Scenario, queues: u32, handed_over: bool) -> Flows {
        let feed = Prefetch::offered(scenario.mapping_bytes());
        let queues = (0..queues).collect();
        let list = vec![LoadState::new(feed, queues)];
        Flows {
            list,
            next: (Time::NEVER, 0),
            to_pull: 0,
            group: 0,
            have_stats: false,
            have_service_levels: false,
            is_served: true,
            handover: handed_over.then(|| Box::new(Handover::new())),
            queue: Queue::Any,
            classes: classes(scenario),
        }
    }

    /// Returns the service level of a load, see [`reprieve_policy::txn::Txn::service_level`].
    #[inline]
    pub(super) fn service_level(&self, flow: u32) -> u8 {
        if self.have_service_levels { self.list[flow as usize].service_level } else { 0 }
    }

    /// Returns the placement handle of a load's writes.
    #[inline]
    pub(super) fn handle(&self, flow: u32) -> u8 {
        self.list[flow as usize].handle
    }

    /// Offers the request that arrives next, or another one that arrives with it.
    pub(super) fn offer(&mut self, request: Request) {
        assert!(
            self.is_served
                && self.handover.is_none()
                && [Time::NEVER, request.arrival].contains(&self.next_time()),
            "a request is offered once those of another instant are taken"
        );
        if self.next_time() == Time::NEVER {
            self.list[0].next = Some(request);
            self.next = (request.arrival, 0);
        } else {
            self.list[0].feed.offer(request);
        }
    }

    /// Hands over a request that arrives later, or now.
    #[inline(always)]
    pub(super) fn hand_over(&mut self, request: Request, tag: u64, route: Route) {
        let handover = self.handover.as_mut().expect("requests of the drive are handed over");
        handover.add(request, tag, route);
        if request.arrival < self.next.0 {
            self.next = (request.arrival, 0);
        }
    }

    /// Reads the first request of each open load, and fills the queue depth of each closed one.
    pub(super) fn start(&mut self, ftl: &Ftl) {
        self.begin_group(0, Time::ZERO);
        for flow in self.list.iter_mut().filter(|flow| flow.course.is_none()) {
            match flow.feed.queue_depth() {
                Some(depth) => {
                    flow.to_pull = depth;
                    self.to_pull += depth;
                }
                None => flow.next = flow.feed.next(ftl),
            }
        }
        self.find_next();
    }

    /// Returns when the next request of an open load arrives; `NEVER` if none does.
    #[inline(always)]
    pub(super) fn next_time(&self) -> Time {
        self.next.0
    }

    /// Takes the next request of an open load, and its load.
    pub(super) fn take(&mut self, ftl: &Ftl) -> (Request, u32) {
        if let Some(handover) = &mut self.handover {
            let (request, route, behind) = handover.arrive();
            self.next = (behind, 0);
            self.queue = route.queue;
            self.list[0].handle = route.handle.unwrap_or(0);
            return (request, 0);
        }
        let (_, number) = self.next;
        let flow = &mut self.list[number as usize];
        let request = flow.next.take().expect("the next request is there");
        match flow.course {
            None => flow.next = flow.feed.next(ftl),
            Some(_) => {
                flow.to_pull += 1;
                self.to_pull += 1;
            }
        }
        self.find_next();
        (request, number)
    }

    /// Errors at a row that could not be read, once the requests before it have been handed out.
    #[cold]
    pub(super) fn check(&mut self) -> Result<(), UserError> {
        self.list.iter_mut().find_map(|flow| flow.feed.take_error()).map_or(Ok(()), Err)
    }

    fn find_next(&mut self) {
        let all = self.list.iter().zip(0..);
        let all = all.filter_map(|(flow, number)| Some((flow.next?.arrival, number)));
        self.next = all.min().unwrap_or((Time::NEVER, 0));
    }

    /// Whether a closed load may send a request now.
    #[inline]
    pub(super) fn may_pull(&self) -> bool {
        self.to_pull > 0
    }

    /// Returns a request that a closed load may send now, and its load.
    #[inline]
    pub(super) fn pull(&mut self, ftl: &Ftl, now: Time) -> Option<(Request, u32)> {
        let [flow] = &mut self.list[..] else { return self.pull_any(ftl, now) };
        if flow.course.is_some() {
            return self.pull_any(ftl, now);
        }
        while self.to_pull > 0 {
            flow.to_pull -= 1;
            self.to_pull -= 1;
            if let Some(request) = flow.feed.next(ftl) {
                return Some((request, 0));
            }
        }
        None
    }

    fn pull_any(&mut self, ftl: &Ftl, now: Time) -> Option<(Request, u32)> {
        // More than one round, as the end of a job may start an earlier one in the list.
        let mut places = (0..self.list.len()).cycle();
        while self.to_pull > 0 {
            let place = places.next().expect("there is a load");
            while self.list[place].to_pull > 0 {
                let flow = &mut self.list[place];
                flow.to_pull -= 1;
                self.to_pull -= 1;
                let request = match flow.course {
                    None => flow.feed.next(ftl),
                    Some(_) => self.pull_job(place as u32, ftl, now),
                };
                if let Some(request) = request {
                    return Some((request, place as u32));
                }
            }
        }
        None
    }

    /// Returns the request that a job issues now, if any.
    #[cold]
    fn pull_job(&mut self, number: u32, ftl: &Ftl, now: Time) -> Option<Request> {
        let flow = &mut self.list[number as usize];
        let course = flow.course.as_mut().expect("it is a job");
        if flow.next.is_some() {
            return None;
        }
        match course.next(&mut flow.feed, ftl, now) {
            JobStep::Issue(request) => {
                flow.to_pull += 1;
                self.to_pull += 1;
                return Some(request);
            }
            JobStep::Later(request) => {
                flow.next = Some(request);
                self.find_next();
            }
            JobStep::Nothing if course.over().is_some() => {
                course.end_at_least(now);
                let group = course.group;
                self.group_over(group);
            }
            JobStep::Nothing => {}
        }
        None
    }

    /// Counts a job of this group that has ended; after the last, the next group starts.
    fn group_over(&mut self, group: u32) {
        if group != self.group {
            return;
        }
        let jobs = self.list.iter().filter_map(|flow| flow.course.as_deref());
        let ends = jobs.filter(|course| course.group == group).map(JobCourse::over);
        if let Some(end) = ends.reduce(|one, other| Some(one?.max(other?))).flatten() {
            self.begin_group(group + 1, end);
        }
    }

    /// Starts the jobs of a group.
    fn begin_group(&mut self, group: u32, at: Time) {
        self.group = group;
        for flow in &mut self.list {
            if let Some(course) = flow.course.as_mut().filter(|course| course.group == group) {
                course.begin(at);
                flow.to_pull = 1;
                self.to_pull += 1;
            }
        }
    }

    /// Counts the arrival of a request in the figures of its load.
    #[cold]
    pub(super) fn count_arrival(&mut self, number: u32, now: Time) {
        if let Some(stats) = self.figures(number, now) {
            stats.arrived(now);
        }
    }

    /// Counts a completed request in the figures of its load.
    #[cold]
    pub(super) fn count(&mut self, request: &HostRequest, now: Time) {
        let Some(stats) = self.figures(request.flow, request.arrival) else { return };
        let latency_ns = (now - request.arrival).ns();
        stats.completed(request.op, request.fua, request.bytes, latency_ns, &request.parts);
        stats.ended(now);
    }

    /// Returns the figures of a load, unless they exclude a request that arrived then.
    fn figures(&mut self, number: u32, arrival: Time) -> Option<&mut FlowStats> {
        let place = match &self.list[number as usize].course {
            None => number,
            Some(course) if course.counts(arrival) => course.figures,
            Some(_) => return None,
        };
        let stats = self.list[place as usize].stats.as_mut();
        Some(stats.expect("all loads have figures or none"))
    }

    /// Returns the number of a load in the results, which clones of a job share.
    pub(super) fn number(&self, number: u32) -> u32 {
        self.list[number as usize].course.as_ref().map_or(number, |course| course.job)
    }

    /// Counts a completed request of this load.
    #[inline]
    pub(super) fn completed(&mut self, number: u32) {
        let flow = &mut self.list[number as usize];
        if let Some(course) = &mut flow.course {
            course.completed();
        }
        let is_closed = u32::from(flow.feed.queue_depth().is_some());
        flow.to_pull += is_closed;
        self.to_pull += is_closed;
    }

    /// Returns the submission queue of the next request of a load.
    pub(super) fn queue(&mut self, number: u32) -> u32 {
        match self.queue {
            Queue::Any => self.list[number as usize].queues.next(),
            Queue::Number(queue) => queue,
            Queue::Class(class) => self.classes[usize::from(class)].next(),
        }
    }

    /// Returns the share of the loads that has been read: the mean of the known ones.
    pub(super) fn progress(&self) -> Option<f64> {
        let shares: Vec<f64> = self.list.iter().filter_map(|flow| flow.feed.progress()).collect();
        (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
    }

    /// Returns how many rows of all loads have been read and skipped.
    pub(super) fn counts(&self) -> Counts {
        let mut all = Counts::default();
        for flow in &self.list {
            let counts = flow.feed.counts();
            // Requests that a job has read ahead at its end are never sent.
            let issued = flow.course.as_ref().map(|course| course.issued);
            all.add(&Counts { requests: issued.unwrap_or(counts.requests), ..counts });
        }
        all
    }
}

/// The submission queues of each priority class.
fn classes(scenario: &Scenario) -> [QueueTurns; Priority::ALL.len()] {
    let of_all = match &scenario.host.interface {
        Interface::Nvme(nvme) => &nvme.priorities[..],
        _ => &[],
    };
    Priority::ALL.map(|class| {
        let own = (0..).zip(of_all).filter(|(_, of)| **of == class);
        QueueTurns::of(own.map(|(queue, _)| queue).collect())
    })
}

/// Returns the course of a job after these loads; `None` for another load.
fn course(config: &WorkloadConfig, before: &[Option<JobCourse>]) -> Option<JobCourse> {
    let WorkloadConfig::Fio(job) = config else { return None };
    let FioJob { clone, .. } = **job;
    let place = before.len() as u32;
    let last = before.last().and_then(Option::as_ref);
    let number = last.map_or(0, |last| if clone == 0 { last.job + 1 } else { last.job });
    Some(JobCourse::new(job, number, place - clone))
}
