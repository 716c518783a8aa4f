//! Faults of peers and of configurations, as every other party sees them over TCP.

use crate::relay::Relay;
use crate::world::{NAMES, Seat, Transport, seats, with_growing_patience};
use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};
use tacit_net::tcp::{self, Hello, Identity};
use tacit_net::{NetError, Options, PartyId, Security, Session, keys};

/// What "within seconds" means in these tests, on a machine that is busy: before the timeouts that are usual.
const SOON: Duration = Duration::from_secs(25);

pub fn join_all(seats: Vec<Seat>, options: &Options) -> Vec<Result<Session, NetError>> {
    let start = Instant::now();
    let results = thread::scope(|scope| {
        let parties: Vec<_> = seats.into_iter().map(|seat| scope.spawn(|| seat.join(options))).collect();
        parties.into_iter().map(|party| party.join().expect("no party panics")).collect()
    });
    assert!(start.elapsed() < SOON, "it took {:?}", start.elapsed());
    results
}

fn errors(results: Vec<Result<Session, NetError>>) -> Vec<NetError> {
    let errors: Vec<_> = results.into_iter().filter_map(Result::err).collect();
    assert_eq!(errors.len(), NAMES.len(), "every party must end: {errors:?}");
    assert!(errors.iter().all(|error| error.step() == Some("connect")), "{errors:?}");
    errors
}

fn names_peer(error: &NetError, party: usize) -> bool {
    error.peer() == Some(NAMES[party])
}

#[test]
fn a_key_that_was_exchanged_wrongly_is_named_at_both_sides() {
    let mut seats = seats();
    let (_, other) = keys::generate("bob").expect("randomness");
    seats[0].parties[1].certificate_pem = other;
    let errors = errors(join_all(seats, &Options::default()));
    assert!(matches!(&errors[0], NetError::WrongKey { .. }) && names_peer(&errors[0], 1), "{errors:?}");
    assert!(matches!(&errors[1], NetError::WrongKey { .. }) && names_peer(&errors[1], 0), "{errors:?}");
    assert!(matches!(&errors[2], NetError::Aborted { reason, .. } if reason.contains("wrong key")), "{errors:?}");
}

#[test]
fn certificates_swapped_at_one_party_are_a_clear_sentence_at_every_party() {
    let mut seats = seats();
    let [first, second] = [1, 2].map(|party| seats[0].parties[party].certificate_pem.clone());
    seats[0].parties[1].certificate_pem = second;
    seats[0].parties[2].certificate_pem = first;
    let errors = errors(join_all(seats, &Options::default()));
    assert!(matches!(&errors[0], NetError::WrongKey { .. }), "{errors:?}");
    for error in &errors[1..] {
        let told = matches!(error, NetError::WrongKey { .. }) || error.to_string().contains("certificate");
        assert!(told && !error.to_string().contains("Broken pipe"), "{errors:?}");
    }
}

#[test]
fn an_impostor_with_a_key_of_its_own_gets_nowhere() {
    let mut seats = seats();
    let (key, certificate) = keys::generate("carol").expect("randomness");
    seats[2].identity = Identity::from_pem(&key, &certificate).expect("our own PEM");
    seats[2].parties[2].certificate_pem = certificate;
    let errors = errors(join_all(seats, &Options::default()));
    assert!(errors.iter().any(|e| matches!(e, NetError::WrongKey { .. }) && names_peer(e, 2)), "{errors:?}");
    assert!(matches!(&errors[2], NetError::WrongKey { detail, .. } if detail.contains("refuses")), "{errors:?}");
}

#[test]
fn a_different_plan_is_named_at_both_sides() {
    for security in [Security::MutualTls, Security::PlaintextForBenchmarks] {
        let mut seats = seats();
        seats[1].hello = Hello::new([8; 32], "rep3");
        let errors = errors(join_all(seats, &Options { security, ..Options::default() }));
        let concerned = |error: &NetError| {
            matches!(error, NetError::DifferentPlan { .. })
                || matches!(error, NetError::Aborted { reason, .. } if reason.contains("another plan"))
        };
        assert!(errors.iter().all(concerned), "{errors:?}");
        assert!(matches!(&errors[1], NetError::DifferentPlan { .. }), "{errors:?}");
    }
}

#[test]
fn a_party_that_never_comes_is_not_reachable() {
    let mut seats = seats();
    drop(seats.remove(2));
    let options = Options { connect_timeout: Duration::from_secs(3), ..Options::default() };
    for result in join_all(seats, &options) {
        let error = result.expect_err("carol is not there");
        let told = matches!(&error, NetError::Aborted { reason, .. } if reason.contains("\"carol\" is not reachable"));
        let unreachable = matches!(&error, NetError::NotReachable { address, .. } if address.starts_with("127.0.0.1:"));
        assert!(told || unreachable && names_peer(&error, 2), "{error}");
    }
}

#[test]
fn strangers_at_the_door_disturb_nobody() {
    let seats = seats();
    let doors: Vec<_> = seats.iter().map(|seat| seat.listener.local_addr().expect("bound")).collect();
    let strangers: Vec<_> = doors
        .iter()
        .flat_map(|door| [&b""[..], b"GET / HTTP/1.1\r\n\r\n", &[0x16, 3, 1, 255, 255, 1]].map(|words| (door, words)))
        .map(|(door, words)| {
            let mut stranger = TcpStream::connect(door).expect("somebody listens");
            stranger.write_all(words).expect("somebody listens");
            stranger
        })
        .collect();
    let sessions = join_all(seats, &Options::default());
    drop(strangers);
    thread::scope(|scope| {
        for session in sessions {
            scope.spawn(|| session.expect("every party connects").close().expect("nothing happened"));
        }
    });
}

/// All parties, where everything from and to carol passes relays.
fn with_relays(options: &Options) -> (Vec<Session>, Vec<Relay>) {
    let mut seats = seats();
    let addresses: Vec<_> = seats[0].parties.iter().map(|party| party.address.clone()).collect();
    let relays: Vec<_> = addresses.iter().map(|address| Relay::to(address.clone())).collect();
    for seat in &mut seats[..2] {
        seat.parties[2].address = relays[2].address.clone();
    }
    for (party, relay) in seats[2].parties.iter_mut().zip(&relays).take(2) {
        party.address = relay.address.clone();
    }
    let sessions = join_all(seats, options).into_iter().map(|session| session.expect("every party connects"));
    (sessions.collect(), relays)
}

fn stream_for_ever(session: &mut Session) -> NetError {
    session.enter("5.aggregate");
    let peers: Vec<_> = (0..3).map(PartyId).filter(|&peer| peer != session.me()).collect();
    let mut bytes = vec![0; 100_000];
    loop {
        session.next_round();
        for &peer in &peers {
            if let Err(error) = session.send(peer, vec![1; 100_000]) {
                return error;
            }
        }
        for &peer in &peers {
            if let Err(error) = session.recv(peer, &mut bytes) {
                return error;
            }
        }
    }
}

#[test]
fn a_party_that_dies_mid_stream_ends_all_others_within_seconds() {
    let (sessions, relays) = with_relays(&Options::default());
    let start = Instant::now();
    let errors: Vec<_> = thread::scope(|scope| {
        let run = |mut session| stream_for_ever(&mut session);
        let parties: Vec<_> = sessions.into_iter().map(|session| scope.spawn(move || run(session))).collect();
        thread::sleep(Duration::from_millis(200));
        relays.iter().for_each(Relay::cut);
        parties.into_iter().map(|party| party.join().expect("no party panics")).collect()
    });
    assert!(start.elapsed() < SOON);
    for error in &errors {
        assert!(matches!(error, NetError::Gone { .. } | NetError::Aborted { .. }), "{errors:?}");
        assert_eq!(error.step(), Some("5.aggregate"));
    }
    assert!(
        errors[..2].iter().any(|error| matches!(error, NetError::Gone { .. }) && names_peer(error, 2)),
        "{errors:?}"
    );
}

#[test]
fn a_party_that_waits_for_another_one_notices_the_death_of_the_third() {
    let (sessions, relays) = with_relays(&Options::default());
    let start = Instant::now();
    let errors: Vec<_> = thread::scope(|scope| {
        let parties: Vec<_> = sessions
            .into_iter()
            .map(|mut session| {
                scope.spawn(move || {
                    session.next_round();
                    let other = PartyId(if session.me().0 == 0 { 1 } else { 0 });
                    session.recv(other, &mut [0]).expect_err("nobody sends")
                })
            })
            .collect();
        thread::sleep(Duration::from_millis(200));
        relays.iter().for_each(Relay::cut);
        parties.into_iter().map(|party| party.join().expect("no party panics")).collect()
    });
    assert!(start.elapsed() < SOON);
    assert!(errors.iter().all(|e| matches!(e, NetError::Gone { .. } | NetError::Aborted { .. })), "{errors:?}");
}

#[test]
fn a_host_that_falls_silent_is_noticed_after_the_idle_timeout() {
    let options = Options { idle_timeout: Duration::from_secs(2), ..Options::default() };
    let (sessions, relays) = with_relays(&options);
    relays.iter().for_each(Relay::freeze);
    let start = Instant::now();
    let errors: Vec<_> = thread::scope(|scope| {
        let run = |mut session| stream_for_ever(&mut session);
        let parties: Vec<_> = sessions.into_iter().map(|session| scope.spawn(move || run(session))).collect();
        parties.into_iter().map(|party| party.join().expect("no party panics")).collect()
    });
    assert!(start.elapsed() < SOON, "it took {:?}", start.elapsed());
    assert!(
        errors[..2].iter().any(|error| matches!(error, NetError::TimedOut { .. }) && names_peer(error, 2)),
        "{errors:?}"
    );
    assert!(errors.iter().all(|e| matches!(e, NetError::TimedOut { .. } | NetError::Aborted { .. })), "{errors:?}");
}

#[test]
fn long_computation_is_no_silence() {
    for transport in Transport::ALL {
        with_growing_patience(Duration::from_millis(300), |idle_timeout| {
            transport.attempt(&Options { idle_timeout, ..Options::default() }, |session| {
                session.next_round();
                if session.me().0 == 0 {
                    thread::sleep(4 * idle_timeout);
                    session.send(PartyId(1), vec![1])?;
                } else if session.me().0 == 1 {
                    session.recv(PartyId(0), &mut [0])?;
                }
                Ok(())
            })
        });
    }
}

#[test]
fn a_configuration_that_cannot_work_is_refused_before_anything_is_sent() {
    let refused = |change: &dyn Fn(&mut Seat)| {
        let mut seat = seats().swap_remove(0);
        change(&mut seat);
        let error = seat.join(&Options::default()).expect_err("it cannot work");
        assert!(matches!(error, NetError::BadConfiguration { .. }), "{error}");
    };
    refused(&|seat| seat.me = 3);
    refused(&|seat| seat.parties[1].name = NAMES[0].to_owned());
    refused(&|seat| seat.parties[1].certificate_pem = seat.parties[2].certificate_pem.clone());
    refused(&|seat| seat.parties[2].certificate_pem = "nonsense".to_owned());
    refused(&|seat| {
        let (key, certificate) = keys::generate("alice").expect("randomness");
        seat.identity = Identity::from_pem(&key, &certificate).expect("our own PEM");
    });
    for address in ["127.0.0.1:0", "nowhere", "127.0.0.1"] {
        assert!(matches!(tcp::listen(address), Err(NetError::BadConfiguration { .. })), "{address}");
    }
}
