//! Answering whoever dials this party while the group comes together.

use super::group::Group;
use super::incoming::Incoming;
use crate::error::NetError;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// How often the listener is looked at; it costs nothing once the group is complete.
const PAUSE: Duration = Duration::from_millis(5);

/// Handshakes under way at once: more callers than any group has are strangers and have to wait.
const CALLERS: usize = 64;

/// Accept until `over`. Every caller has a thread of its own, so that a slow one holds up nobody; `met` is told of
/// each peer, and of each that does not fit.
pub(super) fn accept(
    listener: &TcpListener,
    group: &Arc<Group>,
    over: impl Fn() -> bool,
    met: impl Fn(Result<(usize, usize, Incoming), NetError>) + Clone + Send + 'static,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let callers = Arc::new(AtomicUsize::new(0));
    while !over() {
        match listener.accept() {
            Ok((socket, _)) if callers.load(Ordering::Relaxed) < CALLERS => {
                callers.fetch_add(1, Ordering::Relaxed);
                let (group, met, callers) = (Arc::clone(group), met.clone(), Arc::clone(&callers));
                thread::spawn(move || {
                    if let Some(result) = group.answer(socket).transpose() {
                        met(result);
                    }
                    callers.fetch_sub(1, Ordering::Relaxed);
                });
            }
            Ok(_) => {}
            Err(_) => thread::sleep(PAUSE),
        }
    }
    Ok(())
}
