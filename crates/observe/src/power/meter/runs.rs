//! Programs and erases in the meter, lane by lane.

use reprieve_base::Time;
use reprieve_nand::{Run, Segment};

use reprieve_base::event::Schedule;

use super::{Class, DueChange, Meter, MeteredLane, OpenOperation, Place};

impl Meter {
    pub(super) fn lane(&self, (die, lane): Place) -> &MeteredLane {
        &self.dies[die as usize].lanes[lane]
    }

    fn lane_mut(&mut self, (die, lane): Place) -> &mut MeteredLane {
        &mut self.dies[die as usize].lanes[lane]
    }

    /// Starts a program or erase with a run, perhaps inside a suspended operation.
    pub fn begin(&mut self, now: Time, die: u32, (class, page): (Class, u32), run: Run) {
        self.advance(now);
        let page_type = self.page_type(page);
        let open = self.ledger.begin(class, page_type, run);
        let lane = self.lane_mut((die, 0));
        lane.open.push(open);
        lane.page_type = page_type;
        self.start_run((die, 0), run);
    }

    /// Resumes the last suspended operation of a lane with a run.
    pub fn resume(&mut self, now: Time, place: Place, run: Run) {
        self.advance(now);
        self.settle(place.0);
        let lane = &mut self.dies[place.0 as usize].lanes[place.1];
        let open = lane.open.last_mut().expect("something is suspended");
        self.ledger.resume(open, now, run);
        lane.suspended -= 1;
        self.drawn.core_uw -= self.power.suspended_excess_uw();
        self.ledger.core_fj[Class::Suspension as usize] += u128::from(self.resume_fj);
        self.drawn.take_at_once(self.resume_fj);
        self.start_run(place, run);
    }

    fn start_run(&mut self, place: Place, run: Run) {
        self.settle(place.0);
        self.lane_mut(place).runs += 1;
        self.enter(place, run, run.first());
    }

    /// Ends the segment with this number of a lane's run.
    pub(super) fn go_on(&mut self, place: Place, number: u32) {
        let lane = self.lane(place);
        let Some((run, segment)) = lane.run.as_ref().filter(|_| lane.runs == number) else {
            return;
        };
        let Some(next) = run.after(segment, &self.part.timing) else { return };
        self.settle(place.0);
        self.change(place, |lane| {
            let (_, segment) = lane.run.as_mut().expect("it runs");
            *segment = next;
        });
    }

    /// Starts the next segment of a lane's run.
    pub(super) fn enter(&mut self, place: Place, run: Run, segment: Segment) {
        self.change(place, |lane| lane.run = Some((run, segment)));
    }

    /// Changes the segment of a lane, and with it the power of its run above an idle die.
    fn change(&mut self, place: Place, change: impl FnOnce(&mut MeteredLane)) {
        let lane = &mut self.dies[place.0 as usize].lanes[place.1];
        change(lane);
        let (run, segment) = lane.run.as_ref().expect("a stretch begins");
        let run_uw = segment.activity.map_or(0, |activity| {
            let power = self.power.of(activity, lane.page_type);
            match lane.open.last().is_some_and(OpenOperation::shares_base) {
                true => power.plane_uw * u64::from(run.planes()),
                false => power.on(run.planes()),
            }
        });
        self.drawn.core_uw += run_uw;
        self.drawn.core_uw -= std::mem::replace(&mut lane.run_uw, run_uw);
        self.due.schedule(segment.end, DueChange::Segment { place, run: lane.runs });
    }

    pub(super) fn leave(&mut self, place: Place) {
        self.settle(place.0);
        let lane = self.lane_mut(place);
        lane.run = None;
        self.drawn.core_uw -= std::mem::take(&mut lane.run_uw);
    }

    /// Splits the run on a plane off from the lane of all planes, to be suspended there alone.
    ///
    /// Until its suspension the other planes draw the base of the command.
    pub fn split(&mut self, now: Time, (die, apart): Place) {
        self.advance(now);
        let (run, segment) = self.lane((die, 0)).run.expect("something runs");
        self.leave((die, 0));
        let lanes = &mut self.dies[die as usize].lanes;
        if lanes.len() <= apart {
            lanes.resize_with(apart + 1, MeteredLane::default);
        }
        let whole = &mut lanes[0];
        whole.runs += 1;
        let page_type = whole.page_type;
        let open = match run.planes() {
            1 => whole.open.pop().expect("something runs"),
            _ => whole.open.last_mut().expect("something runs").split(),
        };
        lanes[apart].page_type = page_type;
        lanes[apart].open.push(open);
        if run.planes() > 1 {
            self.enter((die, 0), run.on_planes(run.planes() - 1), segment);
        }
        self.enter((die, apart), run.on_planes(1), segment);
    }

    /// Suspends the run of a lane by a request at `now`, with the array free at `free_at`.
    pub fn stop(&mut self, now: Time, place: Place, free_at: Time) {
        self.advance(now);
        self.leave(place);
        let open = self.dies[place.0 as usize].lanes[place.1].open.last_mut();
        let open = open.expect("something runs");
        self.ledger.stop(open, now, free_at);
        let run = open.run();
        let mut segment = run.first();
        while segment.end < now {
            let next = run.after(&segment, &self.part.timing);
            segment = next.expect("a stopped run lasts until its stop has taken effect");
        }
        self.lane_mut(place).runs += 1;
        self.enter(place, run, segment);
    }

    /// Suspends the running operation of a lane.
    pub fn suspended(&mut self, now: Time, place: Place) {
        self.advance(now);
        self.leave(place);
        self.drawn.core_uw += self.power.suspended_excess_uw();
        let lane = &mut self.dies[place.0 as usize].lanes[place.1];
        lane.runs += 1;
        lane.suspended += 1;
        let open = lane.open.last_mut().expect("something ran");
        self.ledger.suspend(open, now);
    }

    /// Ends the operation of a lane; one around it is suspended as before.
    pub fn ended(&mut self, now: Time, place: Place) {
        self.advance(now);
        self.leave(place);
        let lane = self.lane_mut(place);
        lane.runs += 1;
        let open = lane.open.pop().expect("something ran");
        self.ledger.end(&open, now);
    }
}
