//! Every message of a match besides those of its protocol, against changed ones; and whatever passes leads to a choice
//! or a refusal.

#[path = "../../ot/tests/fuzz/tampered.rs"]
mod tampered;

use std::panic::RefUnwindSafe;

use tacit_linkage::MatchError;
use tacit_linkage::choice::bins::{Asked, Offer, Protocol};
use tacit_linkage::choice::whole::Revealed;
use tacit_linkage::choice::{Terms, bins, leader, whole};
use tacit_linkage::messages::{self, Announcement, Kind, Message, Numbers, Offered, Point, Resume, RunName, exchange};
use tacit_math::Seed;
use tacit_net::{Link, PartyId, Session};
use tacit_psi::Prices;
use tampered::{Network, Target, fuzz};

/// A target of two parties that do the same, each by its number.
fn target(
    party: impl Fn(&mut Session) -> Result<(), MatchError> + Send + Sync + Copy + RefUnwindSafe + 'static,
) -> Target {
    Box::new(move |network: &Network<'_>| {
        let (first, second) = network.run(party, party);
        first.is_ok() && second.is_ok()
    })
}

fn announcement() -> Announcement {
    Announcement {
        rows: 1 << 20,
        memory: 3 << 30,
        workers: 2,
        kinds: vec![Kind::Text, Kind::Number],
        columns: vec!["amount".to_owned(), "visits".to_owned()],
        resume: Some(Resume { run: RunName([7; 16]), done: (0..21).map(|bin| bin % 3 == 0).collect() }),
    }
}

/// Every choice that can be made from what was announced.
fn choose(told: &[Announcement]) {
    let terms = Terms::of(Link::UNDECLARED, Prices::default());
    let rows = [0, 1].map(|party| told[party].rows as usize);
    let offers = [0, 1].map(|party: usize| {
        let told = &told[party];
        Offer { rows: told.rows as usize, memory: told.memory, workers: told.workers as usize }
    });
    for protocol in [Protocol::Fastest, Protocol::Named("vole-malicious"), Protocol::Elsewhere("magic")] {
        let _ = bins::choose(&Asked { protocol, alone: None, bins: None }, offers, &terms);
    }
    let columns = [0, 1].map(|party: usize| told[party].columns.len());
    let numbers = Revealed::Numbers { receiver: 1, summed: true };
    for revealed in [Revealed::Ids(None), Revealed::IdsByKeys, Revealed::Shares(columns), numbers] {
        let _ = whole::choose(revealed, rows, 2, &terms);
    }
    let _ = leader::choose(&rows, &[0, 1], &terms);
    let _ = told[0].resumes_with(&told[1], 21);
}

fn answer_and_ask(session: &mut Session) -> Result<(), MatchError> {
    let asked = messages::Asked { rows: 3, has: Some([1; 32]) };
    let offered = Offered {
        rows: 10,
        most: 5,
        budget: 9,
        kinds: vec![Kind::Text],
        published: [7; 32],
        token_key: Seed::from_bytes([9; 16]),
    };
    match session.me() {
        PartyId(0) => messages::swap::<_, messages::Asked>(session, PartyId(1), &offered).map(drop),
        _ => messages::swap::<_, Offered>(session, PartyId(0), &asked).map(drop),
    }
}

fn tell_numbers(session: &mut Session) -> Result<(), MatchError> {
    let numbers = Numbers { keys: 12, sum: Some(-3) };
    match session.me() {
        PartyId(0) => messages::tell(session, PartyId(1), &numbers),
        _ => messages::hear::<Numbers>(session, PartyId(0)).map(drop),
    }
}

#[test]
fn no_message_of_a_peer_makes_a_panic() {
    fuzz(&[
        ("announcements", target(|session| exchange(session, announcement()).map(|told| choose(&told)))),
        ("points", target(|session| exchange(session, Point::Ready).map(drop))),
        ("a prepared table", target(answer_and_ask)),
        ("numbers", target(tell_numbers)),
    ]);
}

#[test]
fn any_bytes_are_a_message_or_refused() {
    bolero::check!().with_type::<Vec<u8>>().for_each(|bytes| {
        if let Ok(told) = Announcement::read(bytes) {
            assert_eq!(told.check(), Ok(()));
            assert_eq!(&told.write(), bytes);
            choose(&[told, announcement()]);
        }
        assert!(Numbers::read(bytes).is_err() || bytes.len() == 17);
        assert!(Point::read(bytes).is_err() || bytes.len() == 1);
        let _ = (messages::Asked::read(bytes), Offered::read(bytes));
    });
}
