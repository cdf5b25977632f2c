//! The host interface: submission queues, the link, and messages.
//!
//! It returns the next step of the drive for a request, but does not carry it out.

mod link;
mod messages;
mod queues;

use reprieve_base::event::Orders;
use reprieve_base::{Archive, Dur, Op, Slab, Time, parts};
use reprieve_config::Scenario;
use reprieve_policy::txn::{LatencyComponent, LatencyComponents};

use link::Links;
use messages::{Messages, What};
use queues::HostQueues;

/// A host request between its arrival and its completion.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct HostRequest {
    /// Number in order of arrival.
    pub(super) id: u64,
    pub(super) op: Op,
    pub(super) lba: u64,
    pub(super) bytes: u32,
    /// Write with forced unit access: acknowledged when it is programmed.
    pub(super) fua: bool,
    pub(super) arrival: Time,
    /// When the drive started to fetch it from its submission queue; at once without queues.
    pub(super) fetched: Time,
    /// When the drive had it and started it.
    pub(super) begun: Time,
    /// Write: when its data had crossed the link.
    pub(super) received: Time,
    /// Uncorrectable pages, of the request or of old pages under it.
    pub(super) uncorrectable_pages: u32,
    /// Senses beyond the first of each of these pages.
    pub(super) retries: u32,
    /// Pages left.
    pub(super) pages_left: u32,
    /// First and last logical page that it touches.
    pub(super) first_lpn: u32,
    pub(super) last_lpn: u32,
    /// Write: the next page to go into the buffer.
    pub(super) next_lpn: u32,
    /// Write or flush: the flush interval in which it arrived.
    pub(super) interval: u32,
    /// Its load, and the number of the load's own service level.
    pub(super) flow: u32,
    pub(super) service_level: u8,
    /// The placement handle of its data.
    pub(super) handle: u8,
    /// The submission queue that it came through.
    pub(super) queue: u32,
    /// The next one in that queue, or `NONE`.
    pub(super) next: u32,
    /// Components of its last page's time, once that is done.
    pub(super) parts: LatencyComponents,
}

/// Open requests.
pub(super) type HostRequests = Slab<HostRequest>;

impl HostRequest {
    /// Parts of a write that has waited for the buffer until now.
    #[inline]
    pub(super) fn received_parts(&self, now: Time) -> LatencyComponents {
        let mut parts = LatencyComponents::default();
        parts.add(LatencyComponent::Link, (self.received - self.begun).ns());
        parts.add(LatencyComponent::Buffer, (now - self.received).ns());
        parts
    }
}

/// Next step of the drive.
pub(super) enum HostStep {
    /// Start a request whose command has arrived.
    Begin(u32),
    /// Take the data of a write, which has arrived.
    Data(u32),
    /// Start a request that has arrived as a whole.
    Whole(u32),
    /// A request is complete.
    Done(u32),
}

/// Queues and link between host and drive.
pub(super) struct HostInterface {
    pub(super) requests: HostRequests,
    /// `None`: requests go straight to the drive.
    queues: Option<HostQueues>,
    links: Links,
    /// Controller time of every command, in parallel with others.
    controller: Dur,
    /// Controller time of commands other than reads.
    controller_write: Dur,
    /// Commands take time on the link, so that most messages only cause others.
    talks: bool,
    messages: Messages,
}

impl HostInterface {
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        parts!(archive; self.requests, self.messages);
        self.links.archive(archive);
        if let Some(queues) = &mut self.queues {
            queues.archive(archive);
        }
    }

    pub(super) fn new(scenario: &Scenario) -> HostInterface {
        let links = Links::new(&scenario.host);
        HostInterface {
            requests: Slab::with_capacity(4096),
            queues: HostQueues::of(&scenario.host),
            talks: links.carries_commands && links.takes_time(),
            links,
            controller: scenario.host.controller,
            controller_write: scenario.host.controller_write,
            messages: Messages::new(),
        }
    }

    /// Returns the number of submission queues; none if requests go straight to the drive.
    pub(super) fn queue_count(&self) -> u32 {
        self.queues.as_ref().map_or(0, HostQueues::count)
    }

    /// Whether requests use submission queues.
    #[inline(always)]
    pub(super) fn has_queues(&self) -> bool {
        self.queues.is_some()
    }

    /// Whether one request at a time crosses the link.
    #[inline(always)]
    pub(super) fn is_in_order(&self) -> bool {
        self.links.in_order
    }

    /// Returns when the next message arrives; `NEVER` if none does.
    #[inline(always)]
    pub(super) fn next_time(&self) -> Time {
        self.messages.next_time()
    }

    /// Returns the order of the next message, shared with events of the drive.
    #[inline]
    pub(super) fn next_order(&self) -> u64 {
        self.messages.next_order()
    }

    /// Drops all messages, in both directions.
    pub(super) fn cut_off(&mut self) {
        self.messages.clear();
    }

    /// Handles the arrival of a request; returns whether the drive has it at once.
    #[inline(always)]
    pub(super) fn arrive(&mut self, id: u32, queue: u32, now: Time, orders: &mut Orders) -> bool {
        let Some(queues) = &mut self.queues else { return true };
        self.requests[id].queue = queue;
        if self.links.carries_commands {
            queues.ringing += 1;
            self.messages.send(self.links.ring(now), What::Doorbell, id, orders);
        } else {
            queues.push(id, &mut self.requests);
        }
        false
    }

    /// Takes the message at `now`; returns the next step of the drive, if any.
    #[inline(always)]
    pub(super) fn receive(&mut self, now: Time, orders: &mut Orders) -> Option<HostStep> {
        let (what, id) = self.messages.take();
        match what {
            What::Data => return Some(HostStep::Data(id)),
            What::Whole => return Some(HostStep::Whole(id)),
            What::Answer => return Some(HostStep::Done(id)),
            What::Command => return Some(self.command_here(id, now)),
            What::CommandRequest => {
                self.messages.send(self.links.submission(now), What::Command, id, orders);
            }
            What::DataRequest => {
                if self.data_comes(id, now, orders) {
                    return Some(HostStep::Data(id));
                }
            }
            What::Doorbell => {
                let queues = self.queues.as_mut().expect("doorbells belong to queues");
                queues.ringing -= 1;
                queues.push(id, &mut self.requests);
            }
            What::Fetched => {
                let queues = self.queues.as_mut().expect("commands are fetched from queues");
                queues.is_fetching = false;
                return self.take_command(id, now, orders);
            }
        }
        None
    }

    /// Whether a command may be fetched.
    #[inline(always)]
    pub(super) fn may_fetch(&self) -> bool {
        self.queues.as_ref().is_some_and(HostQueues::may_fetch)
    }

    /// Handles messages before `until`, up to one that gives the drive work.
    #[inline(always)]
    pub(super) fn run_to(&mut self, until: Time, orders: &mut Orders) {
        if self.talks && self.only_leads_on(until) {
            self.pass_on(until, orders);
        }
    }

    /// Whether the next message arrives before `until` and only causes another one.
    #[inline(always)]
    fn only_leads_on(&self, until: Time) -> bool {
        self.next_time() < until && !self.messages.gives_work()
    }

    fn pass_on(&mut self, until: Time, orders: &mut Orders) {
        while self.only_leads_on(until) {
            let now = self.next_time();
            let step = self.receive(now, orders);
            debug_assert!(step.is_none(), "the drive has something to do at {now}");
            // After the last message of an instant the drive fetches from its queues.
            if self.next_time() > now && self.may_fetch() {
                let here = self.fetch(now, orders);
                debug_assert!(here.is_none(), "a command that crosses a link is here later");
            }
        }
    }

    /// Fetches commands from the submission queues at this instant, up to one that is available at
    /// once.
    #[inline(always)]
    pub(super) fn fetch(&mut self, now: Time, orders: &mut Orders) -> Option<u32> {
        while let Some(queues) = &mut self.queues {
            let id = queues.fetch(&self.requests)?;
            let command = queues.command;
            self.requests[id].fetched = now;
            if command > Dur::ZERO {
                // One at a time: the next fetch follows when this one is complete.
                self.messages.send(now + command, What::Fetched, id, orders);
                return None;
            }
            if self.take_command(id, now, orders).is_some() {
                return Some(id);
            }
        }
        None
    }

    /// Starts a command: the drive has it, or reads it from host memory.
    #[inline(always)]
    fn take_command(&mut self, id: u32, now: Time, orders: &mut Orders) -> Option<HostStep> {
        if self.links.carries_commands {
            self.messages.send(self.links.ask(now), What::CommandRequest, id, orders);
            return None;
        }
        Some(self.command_here(id, now))
    }

    #[inline]
    fn command_here(&mut self, id: u32, now: Time) -> HostStep {
        self.requests[id].begun = now;
        HostStep::Begin(id)
    }

    /// Sends a request over a link that keeps requests in order, a write with its data; returns
    /// whether it has crossed at once.
    pub(super) fn cross_whole(&mut self, id: u32, now: Time, orders: &mut Orders) -> bool {
        let request = &self.requests[id];
        let crossed = match request.op {
            Op::Write | Op::Append => self.links.cross_in(now, u64::from(request.bytes)),
            _ => self.links.turn(now),
        };
        if crossed > now {
            self.messages.send(crossed, What::Whole, id, orders);
        }
        crossed == now
    }

    /// Requests the data of a write; returns whether it is available at once.
    #[inline]
    pub(super) fn want_data(&mut self, id: u32, now: Time, orders: &mut Orders) -> bool {
        if self.links.carries_commands {
            self.messages.send(self.links.ask(now), What::DataRequest, id, orders);
            return false;
        }
        self.data_comes(id, now, orders)
    }

    /// Sends the data of a write from the host; returns whether it is available at once.
    #[inline(always)]
    fn data_comes(&mut self, id: u32, now: Time, orders: &mut Orders) -> bool {
        let received = self.links.cross_in(now, u64::from(self.requests[id].bytes));
        self.requests[id].received = received;
        if received > now {
            self.messages.send(received, What::Data, id, orders);
        }
        received == now
    }

    /// Sends a page of a read to the host; returns when the read is complete with the last of them,
    /// or `None`.
    #[inline]
    pub(super) fn send_page(&mut self, id: u32, bytes: u32, now: Time) -> Option<Time> {
        let request = &mut self.requests[id];
        request.pages_left -= 1;
        let pages_left = request.pages_left;
        if self.links.in_order {
            // With the last page all data has crossed such a link.
            let bytes = u64::from(request.bytes);
            return (pages_left == 0).then(|| self.links.cross_out(now, bytes) + self.controller);
        }
        let crossed = self.links.cross_out(now, u64::from(bytes));
        if pages_left > 0 {
            return None;
        }
        let told = if self.links.carries_commands { self.links.completion(now) } else { crossed };
        Some(told + self.controller)
    }

    /// Returns when the host has the completion of a request other than a read.
    #[inline]
    pub(super) fn completion(&mut self, now: Time) -> Time {
        let told = if self.links.carries_commands { self.links.completion(now) } else { now };
        told + self.controller_write
    }

    /// Sends the completion of a request, whose last data crosses the link at `crossed`.
    ///
    /// The link is first in, first out: the last page to enter it leaves it last.
    #[inline]
    pub(super) fn answer(&mut self, id: u32, now: Time, crossed: Time, orders: &mut Orders) {
        self.requests[id].parts.add(LatencyComponent::Link, (crossed - now).ns());
        self.messages.send(crossed, What::Answer, id, orders);
    }

    /// Completes a request, so that its queue may send another. The time before the drive started
    /// it is added to its components, by queue and link.
    #[inline]
    pub(super) fn close(&mut self, id: u32, now: Time) -> &HostRequest {
        let request = &mut self.requests[id];
        if let Some(queues) = &mut self.queues {
            queues.answered(request.queue);
            if self.links.carries_commands {
                self.links.ring(now);
            }
            request
                .parts
                .add(LatencyComponent::HostQueue, (request.fetched - request.arrival).ns());
            request.parts.add(LatencyComponent::Link, (request.begun - request.fetched).ns());
        } else if self.links.in_order {
            request.parts.add(LatencyComponent::Link, (request.begun - request.arrival).ns());
        }
        request
    }

    /// Checks the queues against the open requests and the limits.
    pub(super) fn verify(&self) -> Result<(), String> {
        self.queues.as_ref().map_or(Ok(()), |queues| queues.verify(&self.requests))
    }

    #[cfg(test)]
    pub(in crate::drive) fn host_queues(&mut self) -> &mut HostQueues {
        self.queues.as_mut().expect("there are queues")
    }
}
