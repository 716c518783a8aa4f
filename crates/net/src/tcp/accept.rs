//! Answering whoever dials this party while the group comes together.

use super::callers::Callers;
use super::group::Group;
use super::handshake::Met;
use super::incoming::Incoming;
use crate::error::NetError;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// How often the listener is looked at; it costs nothing once the group is complete.
const PAUSE: Duration = Duration::from_millis(5);

/// Accept until `over`. Every caller has a thread of its own, so that a slow one holds up nobody; `met` is told of
/// each peer, and of each that does not fit.
pub(super) fn accept(
    listener: &TcpListener,
    group: &Arc<Group>,
    over: impl Fn() -> bool,
    met: impl Fn(Result<Met<Incoming>, NetError>) + Clone + Send + 'static,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let callers = Callers::new(group.connections());
    while !over() {
        let accepted = if callers.full() { None } else { listener.accept().ok() };
        let Some((socket, from)) = accepted else {
            thread::sleep(PAUSE);
            continue;
        };
        let Ok(spare) = socket.try_clone() else { continue };
        let place = callers.admit(spare, from);
        let (group, met) = (Arc::clone(group), met.clone());
        let answering = thread::Builder::new().name("a caller".to_owned()).spawn(move || {
            if let Some(result) = group.answer(socket, || place.proven()).transpose() {
                met(result);
            }
        });
        if answering.is_err() {
            // No thread is left: whoever called may dial again when there is one.
            thread::sleep(PAUSE);
        }
    }
    Ok(())
}
