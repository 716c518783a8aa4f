//! A panic stays inside: it becomes an internal error that names the place in tacit's source and nothing else.
//!
//! A panic's own message may quote values (`assert_eq!` prints both sides), so it is neither printed nor passed on.

use std::cell::RefCell;
use std::io::Write;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::{Mutex, PoisonError};

thread_local! {
    /// Where the last panic of this thread happened.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Where the last panic of this process happened: a thread that computes for another one may be the one that panics.
static ANYWHERE: Mutex<Option<String>> = Mutex::new(None);

/// The code panicked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("internal error at {place}; the run has ended; please report this place and what was run")]
pub struct Panicked {
    /// The place in tacit's source.
    pub place: String,
}

/// From now on panics of this module print their place only. Other modules of the process have hooks of their own.
pub fn install_hook() {
    panic::set_hook(Box::new(|panic: &PanicHookInfo<'_>| {
        let place = panic.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
        // Not eprintln!: it panics itself when nobody reads, and a panic here ends the process.
        let _unread = writeln!(std::io::stderr(), "tacit: internal error at {place}");
        *ANYWHERE.lock().unwrap_or_else(PoisonError::into_inner) = Some(place.clone());
        PLACE.with_borrow_mut(|last| *last = Some(place));
    }));
}

/// Runs `body`. A panic becomes an internal error.
///
/// What `body` was changing may be left half changed: the caller does not use it again, except to end it.
pub fn contain<T, E: From<Panicked>>(body: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    panic::catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_content| {
        let anywhere = || ANYWHERE.lock().unwrap_or_else(PoisonError::into_inner).take();
        let place = PLACE.take().or_else(anywhere).unwrap_or_else(|| "an unknown place".to_owned());
        Err(Panicked { place }.into())
    })
}
