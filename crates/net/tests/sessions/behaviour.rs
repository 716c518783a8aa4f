//! Bytes, rounds, counts and endings.

use crate::world::{NAMES, Transport, with_growing_patience};
use std::thread;
use std::time::{Duration, Instant};
use tacit_net::{
    Direction, FRAME_HEADER, MAX_FRAME_PAYLOAD, NetError, Options, PartyId, Record, Session, Shape, Source,
};

fn peers(session: &Session) -> Vec<PartyId> {
    (0..session.parties()).map(PartyId).filter(|&party| party != session.me()).collect()
}

/// Everybody sends `length` bytes to everybody, then receives.
fn exchange(session: &mut Session, length: usize) -> Result<(), NetError> {
    session.next_round();
    for peer in peers(session) {
        let mut bytes = session.buffer(length);
        bytes.resize(length, session.me().0 as u8);
        session.send(peer, bytes)?;
    }
    for peer in peers(session) {
        let mut bytes = vec![0xff; length];
        session.recv(peer, &mut bytes)?;
        assert!(bytes.iter().all(|&byte| byte == peer.0 as u8));
    }
    Ok(())
}

#[test]
fn everybody_hears_everybody_at_every_size() {
    for transport in Transport::ALL {
        transport.succeed(&Options::default(), |session| {
            for length in [0, 1, 15, 4096, MAX_FRAME_PAYLOAD, MAX_FRAME_PAYLOAD + 1, 5 << 20] {
                exchange(session, length)?;
            }
            Ok(())
        });
    }
}

#[test]
fn a_round_is_a_stream_whatever_its_messages() {
    for transport in Transport::ALL {
        transport.succeed(&Options::default(), |session| {
            session.next_round();
            let right = PartyId((session.me().0 + 1) % 3);
            let left = PartyId((session.me().0 + 2) % 3);
            for chunk in [&b"oblivious"[..], &b""[..], &b" "[..], &b"sort"[..]] {
                session.send(right, chunk.to_vec())?;
            }
            let (mut first, mut second) = ([0; 3], [0; 11]);
            session.recv(left, &mut first)?;
            session.recv(left, &mut [])?;
            session.recv(left, &mut second)?;
            assert_eq!((&first, &second), (b"obl", b"ivious sort"));
            Ok(())
        });
    }
}

#[test]
fn what_settled_has_left() {
    for transport in [Transport::Plain, Transport::Tls] {
        transport.succeed(&Options::default(), |session| {
            session.next_round();
            let (right, left) = (PartyId((session.me().0 + 1) % 3), PartyId((session.me().0 + 2) % 3));
            let (meter, mut sent) = (session.meter(), 0);
            for length in [3 << 20, 10, 100_000, 0, 1 << 20, 5 << 20, 7] {
                session.send(right, vec![1; length])?;
                sent += length as u64;
                for rest in [1 << 20, 0] {
                    session.settle(right, rest)?;
                    let written = meter.snapshot().wire_sent;
                    assert!(written + rest as u64 >= sent, "{written} of {sent} written, but for {rest}");
                }
            }
            session.recv(left, &mut vec![0; sent as usize])
        });
    }
}

#[test]
fn nobody_settles_in_a_session_that_failed() {
    for transport in Transport::ALL {
        let errors = transport.run(&Options::default(), |mut session| {
            if session.me() == PartyId(1) {
                session.abort("no more");
                return None;
            }
            let until = Instant::now() + Duration::from_secs(20);
            while Instant::now() < until {
                if let Err(error) = session.settle(PartyId(1), 0) {
                    return Some(error);
                }
                std::thread::yield_now();
            }
            None
        });
        for party in [0, 2] {
            let error = errors[party].as_ref().expect("the session has failed");
            assert!(matches!(error, NetError::Aborted { .. }), "{transport:?}: {error}");
        }
    }
}

#[test]
fn the_meter_is_exact_per_step() {
    for transport in Transport::ALL {
        let snapshots = transport.succeed(&Options::default(), |session| {
            session.enter("3.join");
            exchange(session, 10)?;
            session.enter("sort");
            exchange(session, MAX_FRAME_PAYLOAD + 1)?;
            exchange(session, 7)?;
            assert_eq!(session.path(), "3.join/sort");
            session.leave();
            session.next_round();
            session.leave();
            assert_eq!(session.path(), "");
            Ok(session.meter().snapshot())
        });
        for snapshot in snapshots {
            let (join, sort) = (snapshot.step("3.join"), snapshot.step("3.join/sort"));
            assert_eq!((join.bytes_sent, join.bytes_received, join.rounds), (20, 20, 2));
            let bytes = 2 * (MAX_FRAME_PAYLOAD as u64 + 8);
            assert_eq!((sort.bytes_sent, sort.bytes_received, sort.rounds), (bytes, bytes, 2));
            assert_eq!((sort.messages_sent, sort.messages_received), (4, 4));
            assert_eq!(
                (sort.overhead_sent, sort.overhead_received),
                (6 * FRAME_HEADER as u64, 6 * FRAME_HEADER as u64)
            );
            assert_eq!(snapshot.total.bytes_sent, bytes + 20);
            assert_eq!(snapshot.under("3.join").rounds, 4);
            assert!(sort.waiting <= sort.wall);
        }
    }
}

#[test]
fn the_transcript_lists_every_message_and_opening() {
    let options = Options { record: Record::Sizes, ..Options::default() };
    for transport in Transport::ALL {
        let transcripts = transport.succeed(&options, |session| {
            session.enter("open");
            exchange(session, 5)?;
            let transcript = session.transcript().expect("recording");
            transcript.note_opened(session.path(), &[1, 2]);
            Ok(transcript)
        });
        for (me, transcript) in transcripts.iter().enumerate() {
            let messages = transcript.messages();
            assert_eq!(messages.len(), 4);
            assert!(messages.iter().all(|m| m.step == "open" && m.bytes == 5 && m.round == 1 && m.peer.0 != me));
            assert_eq!(messages.iter().filter(|m| m.direction == Direction::Sent).count(), 2);
            assert_eq!(transcript.opened()[0].bytes, [1, 2]);
            assert!(!format!("{transcript:?}").contains("[1, 2]"));
        }
    }
}

#[test]
fn contents_are_kept_for_tests_alone() {
    let message = |from: usize, to: usize| vec![from as u8, to as u8, 7];
    let contents = Transport::ALL.map(|transport| (Record::ContentsForTests, transport));
    for (record, transport) in contents.into_iter().chain([(Record::Sizes, Transport::Memory)]) {
        let options = Options { record, ..Options::default() };
        let seen = transport.succeed(&options, |session| {
            let me = session.me().0;
            let peers: Vec<_> = (0..session.parties()).filter(|&peer| peer != me).collect();
            session.enter("all");
            session.next_round();
            peers.iter().try_for_each(|&peer| session.send(PartyId(peer), message(me, peer)))?;
            peers.iter().try_for_each(|&peer| session.recv(PartyId(peer), &mut [0; 3]))?;
            let transcript = session.transcript().expect("recording");
            transcript.note_drawn("coins", &[9]);
            assert!(!format!("{transcript:?}").contains("[9]"));
            Ok((transcript.take_seen(), transcript.take_seen()))
        });
        for (me, (seen, rest)) in seen.into_iter().enumerate() {
            assert!(rest.is_empty(), "what was taken is gone");
            if record == Record::Sizes {
                assert!(seen.is_empty());
                continue;
            }
            let peers = || (0..NAMES.len()).filter(|&peer| peer != me).map(PartyId);
            let expected = peers().map(|peer| (Source::Sent(peer), message(me, peer.0)));
            let expected = expected.chain(peers().map(|peer| (Source::Received(peer), message(peer.0, me))));
            let expected: Vec<_> = expected.chain([(Source::Drawn, vec![9])]).collect();
            assert_eq!(seen.into_iter().map(|seen| (seen.source, seen.bytes)).collect::<Vec<_>>(), expected);
        }
    }
}

/// These `exchanges` take 100 ms, and no try takes less. A machine that is busy makes them longer, but not every time.
fn take_100_ms(shape: Shape, exchanges: usize, length: usize) {
    let options = Options { shape, ..Options::default() };
    for transport in Transport::ALL {
        let longest = || {
            let times = transport.succeed(&options, |session| {
                let start = Instant::now();
                (0..exchanges).try_for_each(|_| exchange(session, length))?;
                Ok(start.elapsed())
            });
            assert!(times.iter().all(|&taken| taken >= Duration::from_millis(100)), "{times:?}");
            times.into_iter().max()
        };
        let soon = |taken: Option<Duration>| taken.is_some_and(|taken| taken < Duration::from_millis(250));
        assert!((0..20).any(|_| soon(longest())), "{transport:?}");
    }
}

#[test]
fn latency_adds_up_per_round() {
    take_100_ms(Shape { latency: Duration::from_millis(20), bandwidth: None }, 5, 8);
}

#[test]
fn bandwidth_is_shared_by_the_messages_of_a_link() {
    take_100_ms(Shape { latency: Duration::ZERO, bandwidth: Some(1_000_000) }, 2, 50_000);
}

#[test]
fn a_party_in_another_round_is_noticed_by_everyone() {
    for transport in Transport::ALL {
        let errors = transport.run(&Options::default(), |mut session| {
            session.enter("sort");
            if session.me().0 == 1 {
                session.next_round();
            }
            loop {
                if let Err(error) = exchange(&mut session, 4) {
                    return error;
                }
            }
        });
        assert!(errors.iter().any(|error| matches!(error, NetError::Desynchronised { step, .. } if step == "sort")));
        assert!(
            errors.iter().all(|e| matches!(e, NetError::Desynchronised { .. } | NetError::Aborted { .. })),
            "{errors:?}"
        );
    }
}

#[test]
fn an_abort_reaches_a_party_that_waits_for_another_one() {
    for transport in Transport::ALL {
        let errors = transport.run(&Options::default(), |mut session| {
            session.enter("2.filter");
            if session.me().0 == 2 {
                session.abort("the policy\nforbids it");
                return None;
            }
            session.next_round();
            let other = PartyId(1 - session.me().0);
            session.recv(other, &mut [0; 8]).err()
        });
        let expected = |error: &Option<NetError>| {
            matches!(error, Some(NetError::Aborted { peer, step, reason }) if step == "2.filter"
                && (peer == NAMES[2] && reason == "the policy forbids it" || reason.contains("the policy forbids it")))
        };
        assert!(expected(&errors[0]) && expected(&errors[1]), "{errors:?}");
    }
}

#[test]
fn a_dropped_session_ends_all_others() {
    for transport in Transport::ALL {
        let errors = transport.run(&Options::default(), |mut session| {
            for round in 0.. {
                if session.me().0 == 0 && round == 3 {
                    return None;
                }
                if let Err(error) = exchange(&mut session, 1000) {
                    return Some(error);
                }
            }
            None
        });
        assert!(errors[0].is_none());
        assert!(errors[1..].iter().all(|e| matches!(e, Some(NetError::Aborted { .. }))), "{errors:?}");
    }
}

#[test]
fn parties_that_wait_in_a_circle_do_not_hang() {
    for transport in Transport::ALL {
        with_growing_patience(Duration::from_millis(60), |idle_timeout| {
            let start = Instant::now();
            let errors = transport.run(&Options { idle_timeout, ..Options::default() }, |mut session| {
                session.next_round();
                let next = PartyId((session.me().0 + 1) % 3);
                session.recv(next, &mut [0]).expect_err("nobody sends")
            });
            let noticed = errors.iter().any(|error| error.to_string().contains("wait for each other"));
            assert!(!noticed || start.elapsed() > 13 * idle_timeout, "a standstill is 15 times as long");
            if noticed { Ok(()) } else { Err(errors) }
        });
    }
}

#[test]
fn an_answer_to_a_party_that_was_slow_may_take_its_time() {
    // Waiting in a circle would be a fault after 450 ms, and the peer's words count for 30.
    let options = Options { idle_timeout: Duration::from_millis(30), ..Options::default() };
    let errors = Transport::Memory.run(&options, |mut session| {
        let me = session.me();
        let program = |session: &mut Session| {
            session.next_round();
            if me.0 == 0 {
                thread::sleep(Duration::from_millis(700));
                session.send(PartyId(1), vec![1])?;
                session.recv(PartyId(1), &mut [0])?;
                return session.send(PartyId(2), vec![1]);
            }
            session.recv(PartyId(0), &mut [0])?;
            if me.0 == 1 {
                thread::sleep(Duration::from_millis(20));
                session.send(PartyId(0), vec![1])?;
            }
            Ok(())
        };
        program(&mut session).and_then(|()| session.close()).err()
    });
    assert!(errors.iter().all(Option::is_none), "{errors:?}");
}

#[test]
fn closing_needs_everyone_and_nothing_unread() {
    for transport in Transport::ALL {
        let results = transport.run(&Options::default(), |mut session| {
            session.next_round();
            if session.me().0 == 0 {
                session.send(PartyId(1), vec![1])?;
            }
            session.close()
        });
        assert!(matches!(&results[1], Err(NetError::Desynchronised { peer, .. }) if peer == NAMES[0]), "{results:?}");
    }
}

#[test]
fn sending_to_oneself_or_to_nobody_is_the_callers_fault() {
    for transport in Transport::ALL {
        transport.succeed(&Options::default(), |session| {
            for party in [session.me(), PartyId(3)] {
                assert!(matches!(session.send(party, vec![1]), Err(NetError::BadConfiguration { .. })));
                assert!(matches!(session.recv(party, &mut [0]), Err(NetError::BadConfiguration { .. })));
            }
            Ok(())
        });
    }
}
