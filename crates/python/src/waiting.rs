//! Work that takes long: without the GIL, and Ctrl-C ends the wait.

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use tacit_run::contain;

use crate::fault::{Failure, Fault, Result};

/// How often a waiting thread asks Python for signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(100);

/// How long work that was told to stop may take to tell its peers.
const GRACE: Duration = Duration::from_secs(1);

/// Runs `work` on a thread of its own and waits for it without holding the GIL.
///
/// # Errors
/// Those of `work`; a panic in it as an internal error. When a signal handler raises (Ctrl-C), that exception: then
/// `stop` is called, and what `work` still does is left to itself.
pub fn wait_for<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T> + Send + 'static,
    stop: impl FnOnce() + Send,
) -> PyResult<T> {
    let (sender, receiver) = sync_channel(1);
    // A receiver that is gone has been interrupted: nobody wants the outcome.
    let run = move || drop(sender.send(contain(work)));
    thread::Builder::new().name("tacit".into()).spawn(run).map_err(|error| {
        Failure::new(
            Fault::Internal,
            format!("the operating system gives no thread ({error}); free memory and start again"),
        )
    })?;
    let receiver = Mutex::new(receiver);
    loop {
        match py.detach(|| receive(&receiver, SIGNAL_INTERVAL)) {
            Ok(outcome) => return Ok(outcome?),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Failure::new(Fault::Internal, "a native thread vanished").into());
            }
        }
        if let Err(signal) = py.check_signals() {
            py.detach(|| {
                stop();
                drop(receive(&receiver, GRACE));
            });
            return Err(signal);
        }
    }
}

fn receive<T>(receiver: &Mutex<Receiver<T>>, patience: Duration) -> std::result::Result<T, RecvTimeoutError> {
    receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(patience)
}
