//! Metrics and control connections, timeouts, and shutdown.

use reprieve_base::UserError;
use rustix::event::epoll::EventFlags;
use serde_json::{Value, json};

use super::{END_NS, Server};
use crate::admin::{self, AdminConnection, Received, Topic};
use crate::clock::Wall;
use crate::control::{self, ControlCommand};
use crate::inject::InjectedFault;
use crate::protocol::Request;
use crate::recorder::Recorded;
use crate::report;
use crate::slots::Key;
use crate::token::Token;
use crate::transport::Socket;

/// Limit on metrics and control connections.
const ADMINS_MAX: usize = 16;

impl Server {
    pub(crate) fn accept_admin(&mut self, topic: Topic) {
        let token = match topic {
            Topic::Metrics => Token::Metrics,
            Topic::Control => Token::Control,
        };
        let Some(listener) = self.sockets.listener(token) else { return };
        // The fault is the other side's.
        if let Ok(Some(socket)) = listener.accept() {
            self.welcome_admin(topic, socket);
        }
    }

    /// Awaits the request of a connection.
    pub(super) fn welcome_admin(&mut self, topic: Topic, socket: Box<dyn Socket>) {
        let is_full = self.admins.len() >= ADMINS_MAX;
        self.metrics.refused += u64::from(is_full);
        if is_full {
            // The oldest without a request goes first, so that none that has sent one waits.
            let keys = self.admins.keys().into_iter();
            let order = |admin: &mut AdminConnection| (admin.is_answered, admin.opened);
            let first = keys.min_by_key(|key| self.admins.get_mut(*key).map(order));
            first.map(|key| self.admins.remove(key));
        }
        let admin = AdminConnection::new(topic, socket, self.drive.clock.now());
        let key = self.admins.insert(admin);
        let socket = &self.admins.get_mut(key).expect("just put there").transport.socket;
        let poll = &self.sockets.poll;
        if socket.watch(poll, Token::Admin(key), EventFlags::IN, true).is_err() {
            self.admins.remove(key);
        }
    }

    /// Handles input on a metrics or control connection.
    pub(crate) fn serve_admin(&mut self, key: Key) {
        let Some(mut admin) = self.admins.take(key) else { return };
        let is_over = if admin.is_answered {
            admin.send().unwrap_or(true)
        } else {
            match admin.receive() {
                Received::Part => false,
                Received::Nothing => true,
                Received::Request(request) => {
                    let answer = self.answer_to(admin.topic, &request);
                    admin.answer(&answer).is_err() || admin.send().unwrap_or(true)
                }
            }
        };
        let (poll, socket) = (&self.sockets.poll, &admin.transport.socket);
        let wanted = if admin.is_answered { EventFlags::OUT } else { EventFlags::IN };
        if is_over || socket.watch(poll, Token::Admin(key), wanted, false).is_err() {
            self.admins.remove(key);
        } else {
            self.admins.put_back(key, admin);
        }
    }

    fn answer_to(&mut self, topic: Topic, request: &str) -> String {
        match topic {
            Topic::Metrics => admin::http(request, || {
                let clients = self.clients.connections.len();
                let handed = self.in_flight.admission.in_model();
                let memory_bytes = self.store.memory_bytes();
                self.metrics.text(report::figures(&self.drive.ssd, clients, memory_bytes, handed))
            }),
            Topic::Control => {
                let answer = match self.obey(request) {
                    Ok(answer) => answer,
                    Err(error) => json!({"error": error.to_string()}),
                };
                format!("{answer}\n")
            }
        }
    }

    fn obey(&mut self, request: &str) -> Result<Value, UserError> {
        if let ControlCommand::Set { key, value } = control::parse(request)? {
            if self.drive.recorder.is_some() {
                let what = "what a drive does is being recorded, and one scenario replays it; \
                            serve without --record to change rules";
                return Err(UserError::new(format!("{key} = {value}: {what}")));
            }
            let (source, scenario) =
                control::changed(&self.source, self.drive.ssd.scenario(), &key, &value)?;
            self.drive.advance()?;
            self.drive.ssd.set_rules(scenario);
            self.source = source;
        }
        let activity = self.drive.ssd.activity();
        let [programs, erases] = activity.suspensions;
        Ok(json!({
            "device": self.drive.ssd.scenario().device,
            "rules": control::rules(self.drive.ssd.scenario()),
            "connections": self.clients.connections.len(),
            "open_requests": activity.open_requests,
            "suspensions": {"program": programs, "erase": erases},
        }))
    }

    /// Stops accepting input; open commands are still answered.
    pub(crate) fn begin_end(&mut self) {
        self.sockets.take_stop();
        if self.ends.is_some() {
            // A second request: at once.
            self.ends = Some(Wall(0));
            return;
        }
        self.ends = Some(Wall(self.drive.clock.now().0 + END_NS));
        self.sockets.close();
        self.clients.end();
    }

    /// Bytes of a write that are stored before the power loss, if it hits one.
    pub(crate) fn stored_bytes(&self, request: &Request, strike: InjectedFault) -> u64 {
        let cut = strike.power_cut.map(|place| self.injections.power_cut(place));
        cut.map_or(0, |cut| cut.stored_bytes(request))
    }

    /// Simulates the power loss: nothing more is accepted or answered, and volatile data except
    /// these bytes may be lost.
    pub(crate) fn power_fails(
        &mut self,
        place: usize,
        but: Option<(u64, u64)>,
    ) -> Result<(), UserError> {
        let is_kept = self.injections.power_cut(place).keeps();
        let losses = self.store.lose(but, is_kept).map_err(|_| unsafe_data())?;
        self.injections.has_cut(place, losses);
        Ok(())
    }

    /// Closes everything, and returns the summary.
    pub(crate) fn end(&mut self, say: &mut dyn FnMut(&str)) -> Result<Value, UserError> {
        self.clients.close();
        self.store.close().map_err(|_| unsafe_data())?;
        if let Some(recorder) = &mut self.drive.recorder {
            recorder.finish();
            let now = self.drive.clock.now();
            self.look_after_recording(now, say);
        }
        if let Some(recorder) = self.drive.recorder.take() {
            self.recorded = Some(Recorded { requests: recorder.rows_written(), failure: None });
        }
        let scale = self.options.scale_thousandths as f64 / 1000.0;
        let mut summary = report::summary(&self.drive.ssd, &self.metrics, scale);
        if let Some(faults) = self.injections.summary() {
            summary["served"]["faults"] = faults;
        }
        if let Some(Recorded { requests, failure }) = &self.recorded {
            summary["served"]["recording"] = json!({"requests": requests, "failure": failure});
        }
        Ok(summary)
    }

    /// Writes recorded rows; if that fails, ends the recording and reports it.
    pub(crate) fn look_after_recording(&mut self, now: Wall, say: &mut dyn FnMut(&str)) {
        let Some(recorder) = &mut self.drive.recorder else { return };
        recorder.tick(now);
        let Some(failure) = recorder.failure() else { return };
        let path = self.options.record.as_ref().expect("it is recorded").display();
        say(&format!(
            "--record {path}: cannot be written: {failure}; the rows written so far stay, \
             nothing more is recorded, and the drive goes on"
        ));
        let (requests, failure) = (recorder.rows_written(), Some(failure.to_owned()));
        self.recorded = Some(Recorded { requests, failure });
        self.drive.recorder = None;
    }
}

fn unsafe_data() -> UserError {
    UserError::new("the data could not be brought to safety: the disk has failed")
}
