//! A network that changes bytes: two honest parties, each of which believes that it speaks with the other.

use crate::pair::{ALICE, BOB};
use std::thread;
use tacit_net::{Direction, Message, NetError, Options, Record, Session, memory};
use tacit_ot::OtError;

const NAMES: [&str; 2] = ["alice", "bob"];

/// The messages of an honest run, as alice saw them. They depend on public sizes alone.
pub fn record(alice: impl Fn(&mut Session) + Send, bob: impl Fn(&mut Session) + Send) -> Vec<Message> {
    let options = Options { record: Record::Sizes, ..Options::default() };
    let [mut a, mut b]: [Session; 2] = memory::mesh(&NAMES, &options).try_into().expect("two parties");
    thread::scope(|scope| {
        scope.spawn(move || {
            bob(&mut b);
            b.close().expect("an orderly end");
        });
        alice(&mut a);
        let messages = a.transcript().expect("a transcript").messages();
        a.close().expect("an orderly end");
        messages
    })
}

/// Runs both parties with a relay between them that passes every message through `tamper`.
pub fn run<A: Send, B: Send>(
    messages: &[Message],
    alice: impl FnOnce(&mut Session) -> Result<A, OtError> + Send,
    bob: impl FnOnce(&mut Session) -> Result<B, OtError> + Send,
    mut tamper: impl FnMut(usize, &mut [u8]),
) -> (Result<A, OtError>, Result<B, OtError>) {
    let pair = || <[Session; 2]>::try_from(memory::mesh(&NAMES, &Options::default())).expect("two parties");
    let ([a, mut towards_a], [mut towards_b, b]) = (pair(), pair());
    thread::scope(|scope| {
        let alice = scope.spawn(move || party(a, alice));
        let bob = scope.spawn(move || party(b, bob));
        if pass_on(messages, &mut towards_a, &mut towards_b, &mut tamper).is_ok() {
            // A party that has failed cannot end well; its own result tells.
            let _ = towards_a.close();
            let _ = towards_b.close();
        } else {
            drop((towards_a, towards_b));
        }
        (alice.join().expect("alice"), bob.join().expect("bob"))
    })
}

fn party<T>(mut session: Session, body: impl FnOnce(&mut Session) -> Result<T, OtError>) -> Result<T, OtError> {
    let result = body(&mut session)?;
    session.close()?;
    Ok(result)
}

fn pass_on(
    messages: &[Message],
    towards_a: &mut Session,
    towards_b: &mut Session,
    tamper: &mut impl FnMut(usize, &mut [u8]),
) -> Result<(), NetError> {
    let mut round = 0;
    for (number, message) in messages.iter().enumerate() {
        for _ in round..message.round {
            towards_a.next_round();
            towards_b.next_round();
        }
        round = message.round;
        let mut bytes = vec![0; message.bytes];
        match message.direction {
            Direction::Sent => {
                towards_a.recv(ALICE, &mut bytes)?;
                tamper(number, &mut bytes);
                towards_b.send(BOB, bytes)?;
            }
            Direction::Received => {
                towards_b.recv(BOB, &mut bytes)?;
                tamper(number, &mut bytes);
                towards_a.send(ALICE, bytes)?;
            }
        }
    }
    Ok(())
}
