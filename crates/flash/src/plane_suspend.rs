//! Plane suspension: a plane is suspended for its own reads while the others run.

use reprieve_base::Dur;
use reprieve_base::event::Schedule;
use reprieve_nand::PlaneWork;
use reprieve_policy::sched::Choice;
use reprieve_policy::txn::{NONE, Txn};
use reprieve_policy::work::Work;

use super::channel::ChannelGrant;
use super::controller::Controller;
use super::lane::LaneId;
use super::multi_plane::PlaneSet;
use super::suspension_request::SuspensionRequest;
use super::{Decisions, FlashEvent};

impl<W: Work, S: Schedule<FlashEvent>> Decisions<'_, W, S> {
    /// Decides for planes during operations: those with reads are suspended, and those without
    /// resume.
    #[cold]
    pub(super) fn decide_lanes(&mut self, die: u32) {
        let dies = &self.flash.controller.dies;
        let at_work = dies[die].operations().next().expect("the array is in use");
        let (unit, operation) = (&dies[die], &dies.txns[at_work]);
        let (operation, unsuspendable) = (operation.kind, operation.unsuspendable);
        let reads_may = !dies.limit.is_reached(unit) && !unsuspendable;
        let mut seen = PlaneSet::default();
        let mut waits = PlaneSet::default();
        let mut next = unit.reads.first().filter(|_| reads_may).unwrap_or(NONE);
        while next != NONE {
            let id = next;
            let Controller { dies, suspension, .. } = &mut self.flash.controller;
            let txn = &mut dies.txns[id];
            next = txn.next;
            self.work.locate(txn);
            let (kind, at) = (txn.kind, txn.at);
            let is_open = !dies[die].die.bars_read(at);
            if !suspension.eligibility.admits(kind, operation) || !is_open || !seen.insert(at.plane)
            {
                continue;
            }
            if self.read_on_lane(id) {
                waits.insert(at.plane);
            }
        }
        let controller = &mut self.flash.controller;
        for plane in 0..controller.dies.facts.geometry.planes_per_die {
            let unit = &controller.dies[die];
            let is_suspended = unit.die.plane_work(plane) == PlaneWork::Suspended;
            if is_suspended && unit.die.plane_reads().is_free(plane) && waits.insert(plane) {
                controller.resume((die, LaneId::of_plane(plane)), self.now, self.out, self.grant);
                self.grant = ChannelGrant::IfIdle;
            }
        }
    }

    /// Starts a read, or requests the suspension of its plane; returns whether the plane is kept.
    fn read_on_lane(&mut self, id: u32) -> bool {
        let controller = &self.flash.controller;
        let Txn { die, at, .. } = controller.dies.txns[id];
        let unit = &controller.dies[die];
        match unit.die.plane_work(at.plane) {
            PlaneWork::Running(_) => {
                let request = SuspensionRequest { read: Some(id), ..SuspensionRequest::default() };
                self.request_suspension((die, LaneId::of_plane(at.plane)), request);
                return true;
            }
            PlaneWork::Suspending(_) => return true,
            PlaneWork::None | PlaneWork::Suspended if !unit.die.plane_reads().is_free(at.plane) => {
                return true;
            }
            PlaneWork::None => {}
            PlaneWork::Suspended => {
                if self.flash.serving.choose_on_lane(controller, id, self.now, self.work)
                    != Choice::Read
                {
                    return false;
                }
            }
        }
        self.start_read(id);
        if self.flash.controller.dies.facts.timing.command > Dur::ZERO {
            self.grant = ChannelGrant::IfIdle;
        }
        true
    }
}
