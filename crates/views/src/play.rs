//! Running a protocol many times between parties of one process.

use std::sync::Arc;
use std::thread;

use tacit_net::{Options, Record, Session, Transcript, memory};

use crate::View;

/// Runs a protocol `runs` times, each in a session of its own, and gives for each party, for each run, what it saw and
/// what it returned. `party` gets its session, which it hands back for the end, and the number of the run.
///
/// # Panics
/// If a party panics or a session fails: views of a run that went wrong are not looked at.
pub fn play<T: Send>(
    names: &[&str],
    runs: usize,
    party: impl Fn(Session, usize) -> (Session, T) + Sync,
) -> Vec<Vec<(View, T)>> {
    let options = Options { record: Record::ContentsForTests, ..Options::default() };
    let mut sessions: Vec<Vec<Session>> = names.iter().map(|_| Vec::with_capacity(runs)).collect();
    for _ in 0..runs {
        sessions.iter_mut().zip(memory::mesh(names, &options)).for_each(|(own, session)| own.push(session));
    }
    let run = |(number, session): (usize, Session)| {
        let transcript: Arc<Transcript> = session.transcript().expect("contents are recorded");
        let (session, returned) = party(session, number);
        session.close().expect("an orderly end");
        (View::of(&transcript), returned)
    };
    thread::scope(|scope| {
        let each = |own: Vec<Session>| scope.spawn(|| own.into_iter().enumerate().map(run).collect());
        let threads: Vec<_> = sessions.into_iter().map(each).collect();
        threads.into_iter().map(|thread| thread.join().expect("a party")).collect()
    })
}
