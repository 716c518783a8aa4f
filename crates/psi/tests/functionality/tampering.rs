//! What a party sends is changed on the way: no panic, and in a malicious variant no wrong match.

use super::sets::Sets;
use super::{call_rounds, clear, protocols, relayed};
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Once};
use tacit_math::{Prg, Seed};
use tacit_ot::Adversary;
use tacit_psi::vole_psi::Variant;
use tacit_psi::{Outcome, Protocol, PsiError, Role, Sizes, VolePsi};

/// Panics of threads that run a protocol, which the driver alone would see as an error.
static PANICS: AtomicUsize = AtomicUsize::new(0);

fn count_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let names: HashSet<String> = protocols().iter().map(|(protocol, _)| protocol.name().to_owned()).collect();
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if std::thread::current().name().is_some_and(|name| names.contains(name)) {
                PANICS.fetch_add(1, Ordering::SeqCst);
            }
            before(info);
        }));
    });
}

/// One change of one blob.
fn tamper(blob: &mut Vec<u8>, prg: &mut Prg) {
    let [kind, place, value]: [u64; 3] = prg.vector(3).try_into().expect("three words");
    let place = place as usize % blob.len();
    match kind % 8 {
        0 => blob.truncate(place),
        1 => blob.extend_from_slice(&value.to_le_bytes()),
        2 => drop(blob.drain(place..)),
        3 => blob[place..].fill(value as u8),
        4 => blob[16..].rotate_left(1),
        _ => blob[place] ^= 1 << (value % 8),
    }
}

/// A run in which the `which`-th blob that is not empty is changed, if there is one; also the number of such blobs.
fn run(
    protocol: &Arc<dyn Protocol>,
    sets: &Sets,
    which: Option<usize>,
    prg: &mut Prg,
) -> (Result<[Outcome; 2], PsiError>, usize) {
    let mut parties = [relayed(protocol, Role::Sender), relayed(protocol, Role::Receiver)];
    let mut seen = 0;
    let outcome = call_rounds(&mut parties, sets, |blob| {
        if !blob.is_empty() {
            if which == Some(seen) {
                tamper(blob, prg);
            }
            seen += 1;
        }
    });
    (outcome, seen)
}

#[test]
fn changed_messages_end_in_an_error_or_in_true_matches() {
    count_panics();
    let changes: usize = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(24);
    let seed = Seed::random().expect("randomness");
    println!("seed {:?}", seed.expose());
    let mut prg = Prg::new(&seed);
    let sets = Sets::random(Sizes { sender: 60, receiver: 50 }, 20, 3);
    let common: HashSet<u32> =
        clear::intersection(&sets.sender, &sets.receiver).into_iter().map(|(mine, _)| mine).collect();
    for (protocol, _) in protocols() {
        let (_, blobs) = run(&protocol, &sets, None, &mut prg);
        for change in 0..changes {
            let (outcome, _) = run(&protocol, &sets, Some(change % blobs), &mut prg);
            let Ok([_, Outcome::Receiver(matches)]) = outcome else { continue };
            let wrong = matches.iter().filter(|found| !common.contains(&found.mine)).count();
            let malicious = protocol.adversary() == Adversary::Malicious;
            assert!(!malicious || wrong == 0, "{}: a changed message made a match", protocol.name());
        }
        assert_eq!(PANICS.load(Ordering::SeqCst), 0, "{}: a changed message made a panic", protocol.name());
    }
}

/// Where the sender's last message holds its half of the coins and its tags: after the frame's header.
const COINS: std::ops::Range<usize> = 16..32;
const TAGS: usize = 32;

/// What a sender does to its last message.
type Deviation = fn(&mut Vec<u8>);

/// A malicious run in which the sender's last message is changed.
fn deviating(sets: &Sets, deviate: Deviation) -> Result<[Outcome; 2], PsiError> {
    let protocol: Arc<dyn Protocol> = Arc::new(VolePsi { variant: Variant::Malicious, bins: 1 });
    let (honest, blobs) = run(&protocol, sets, None, &mut Prg::new(&Seed::from_bytes([1; 16])));
    assert!(honest.is_ok());
    let mut parties = [relayed(&protocol, Role::Sender), relayed(&protocol, Role::Receiver)];
    let mut seen = 0;
    call_rounds(&mut parties, sets, |blob| {
        seen += usize::from(!blob.is_empty());
        if seen == blobs && !blob.is_empty() {
            deviate(blob);
        }
    })
}

#[test]
fn a_sender_that_deviates_in_the_malicious_variant_is_caught() {
    let sets = Sets::random(Sizes { sender: 40, receiver: 40 }, 40, 5);
    let deviations: [(&str, Deviation); 2] =
        [("other coins", |blob| blob[COINS][3] ^= 1), ("a tag too few", |blob| blob.truncate(blob.len() - 16))];
    for (what, deviate) in deviations {
        assert!(deviating(&sets, deviate).is_err(), "{what}");
    }
}

/// The adversary picks what it sends in place of its tags; it sees whether the receiver ends the run. What it sees must
/// be the same whatever the receiver has: all of the sender's items, or none.
#[test]
fn whether_a_run_ends_says_nothing_about_the_receivers_items() {
    let sizes = Sizes { sender: 40, receiver: 40 };
    let deviations: [(&str, Deviation); 6] = [
        ("nothing", |_| ()),
        ("a tag twice", |blob| blob.copy_within(TAGS..TAGS + 16, TAGS + 16)),
        ("one tag in all places", |blob| {
            (1..40).for_each(|place| blob.copy_within(TAGS..TAGS + 16, TAGS + 16 * place))
        }),
        ("tags of nothing", |blob| blob[TAGS..].fill(0)),
        ("other coins", |blob| blob[COINS][3] ^= 1),
        ("a tag too few", |blob| blob.truncate(blob.len() - 16)),
    ];
    for (what, deviate) in deviations {
        let seen = [40, 0].map(|common| {
            deviating(&Sets::random(sizes, common, 5), deviate).map(drop).map_err(|error| error.to_string())
        });
        assert_eq!(seen[0], seen[1], "{what}: the sender sees which set the receiver has");
    }
}

#[test]
fn of_a_tag_that_comes_twice_the_first_position_counts() {
    let sets = Sets::random(Sizes { sender: 40, receiver: 40 }, 40, 5);
    let twice = deviating(&sets, |blob| blob.copy_within(TAGS..TAGS + 16, TAGS + 16)).expect("an outcome");
    let [_, Outcome::Receiver(matches)] = twice else { panic!("a receiver's outcome") };
    let mut positions: Vec<u32> = matches.iter().map(|found| found.theirs).collect();
    positions.sort_unstable();
    // The item whose tag was replaced is lost.
    assert!(positions.iter().copied().eq((0..40).filter(|&position| position != 1)), "{positions:?}");
    assert!(matches.is_sorted_by(|a, b| a.mine < b.mine));
}
