//! The queue and placement handle of a request, against those that the drive has.

use reprieve_base::{Op, UserError};
use reprieve_ssd::scenario::{Interface, Priority, Scenario};
use reprieve_ssd::{Queue, Route};

/// Errors at a queue, a class or a handle that the drive of this scenario does not have.
pub(crate) fn check(scenario: &Scenario, op: Op, route: Route) -> Result<(), UserError> {
    let (queues, priorities) = match &scenario.host.interface {
        Interface::Direct => (0, &[][..]),
        Interface::Sata => (1, &[][..]),
        Interface::Nvme(nvme) => (nvme.queues, &nvme.priorities[..]),
    };
    let wrong = |what: String| Err(UserError::new(what));
    match route.queue {
        Queue::Number(queue) if queues == 0 => {
            return wrong(format!(
                "queue = {queue}: the drive has none; host.interface = \"nvme\" gives it queues"
            ));
        }
        Queue::Number(queue) if queue >= queues => {
            return wrong(format!("queue = {queue}: must be below host.queues, which is {queues}"));
        }
        Queue::Class(class) => {
            let class = Priority::ALL[usize::from(class)];
            if !priorities.contains(&class) {
                return wrong(format!(
                    "priority = {:?}: no queue of host.queue_priorities has it",
                    class.name()
                ));
            }
        }
        _ => {}
    }
    let Some(handle) = route.handle else { return Ok(()) };
    match scenario.ftl.streams.handles {
        None => wrong(format!(
            "handle = {handle}: the drive has none; ftl.stream = \"placement\" gives it handles"
        )),
        Some(handles) if u32::from(handle) >= handles => wrong(format!(
            "handle = {handle}: must be below ftl.placement_handles, which is {handles}"
        )),
        Some(_) if !op.is_write() => {
            wrong(format!("a {} with a placement handle: only a write has that", op.name()))
        }
        Some(_) => Ok(()),
    }
}
