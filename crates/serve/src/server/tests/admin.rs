//! Simulated connections for metrics and control, each with one request and one answer.

use std::sync::{Arc, Mutex};

use reprieve_base::Stream;
use serde_json::Value;

use super::disk::Machine;
use super::wire::{SimulatedSocket, Wire};
use crate::admin::Topic;
use crate::server::Server;

/// A connection, and what it has received.
struct Asked {
    topic: Topic,
    wire: Arc<Mutex<Wire>>,
    answer: Vec<u8>,
}

/// The connections that wait for an answer.
#[derive(Default)]
pub struct Admins(Vec<Asked>);

impl Admins {
    /// Sends a request: for metrics, for the rules, or to change one.
    pub fn ask(&mut self, server: &mut Server, machine: &Arc<Mutex<Machine>>, draw: &mut Stream) {
        let (topic, request) = match draw.below(3) {
            0 => (Topic::Metrics, "GET /metrics HTTP/1.1\r\n\r\n".to_string()),
            1 => (Topic::Control, "{\"show\": true}\n".to_string()),
            _ => {
                let most = 1 + draw.below(9);
                let rule = format!("[\"suspension.max_per_operation\", \"{most}\"]");
                (Topic::Control, format!("{{\"set\": {rule}}}\n"))
            }
        };
        let to_server = request.into_bytes().into();
        let wire = Arc::new(Mutex::new(Wire { to_server, ..Wire::default() }));
        let socket = SimulatedSocket { wire: Arc::clone(&wire), machine: Arc::clone(machine) };
        server.welcome_admin(topic, Box::new(socket));
        self.0.push(Asked { topic, wire, answer: Vec::new() });
    }

    pub fn wires(&self) -> impl Iterator<Item = &Arc<Mutex<Wire>>> {
        self.0.iter().map(|asked| &asked.wire)
    }

    /// Takes what the server has sent; `is_patient`: none is closed before it is answered.
    ///
    /// Errors if an answer is wrong, or not whole when the server closes the connection.
    pub fn take_answers(&mut self, is_patient: bool) -> Result<(), String> {
        for asked in &mut self.0 {
            let mut wire = asked.wire.lock().expect("no panic");
            asked.answer.extend(wire.to_client.drain(..));
            if wire.is_dropped && is_patient {
                let text = String::from_utf8_lossy(&asked.answer);
                if !is_whole(asked.topic, &text) {
                    return Err(format!("a request of {:?} is answered {text:?}", asked.topic));
                }
            }
        }
        self.0.retain(|asked| !asked.wire.lock().expect("no panic").is_dropped);
        Ok(())
    }
}

/// Whether an answer is all there, and no error.
fn is_whole(topic: Topic, text: &str) -> bool {
    match topic {
        Topic::Metrics => text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            head.starts_with("HTTP/1.1 200 ")
                && head.contains(&format!("Content-Length: {}\r\n", body.len()))
        }),
        Topic::Control => serde_json::from_str(text)
            .is_ok_and(|answer: Value| answer.get("rules").is_some() && text.ends_with('\n')),
    }
}
