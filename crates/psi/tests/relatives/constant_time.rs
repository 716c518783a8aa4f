//! No branch and no address depends on a key, a mask or a random choice of these protocols, under memcheck. A party's own items steer its local
//! computations by design (docs/security/constant-time.md): they are not marked.

use crate::pair::{RECEIVER, SENDER, generator, run, sets};
use tacit_marks::{findings, secret};
use tacit_math::permutation;
use tacit_net::Session;
use tacit_psi::permute_share::{Owner, Permuter};
use tacit_psi::unbalanced::{PreparedSet, PublishedSet, receive_set, send_set};
use tacit_psi::vole_psi::Variant;
use tacit_psi::{DhPsi, Kkrt, Protocol, PsiError, Role, Sizes, VolePsi, tokens};

/// Items of both parties, and of both at once.
const ITEMS: ((usize, usize), usize) = ((12, 9), 4);

/// What memcheck finds in a run of two parties.
fn found<A: Send, B: Send>(
    name: &str,
    sender: impl FnOnce(&mut Session) -> Result<A, PsiError> + Send,
    receiver: impl FnOnce(&mut Session) -> Result<B, PsiError> + Send,
) -> Vec<(String, usize)> {
    let count = findings(name, || {
        let (a, b) = run(sender, receiver);
        assert!(a.result.is_ok() && b.result.is_ok(), "{name}: {:?}, {:?}", a.result.err(), b.result.err());
    });
    (count > 0).then(|| (name.to_owned(), count)).into_iter().collect()
}

fn of<O: Send + 'static>(name: &str, protocol: impl Protocol<O>) -> Vec<(String, usize)> {
    let (sender, receiver) = sets(&mut generator(name), ITEMS.0, ITEMS.1);
    let sizes = Sizes { sender: sender.len(), receiver: receiver.len() };
    found(
        name,
        |session| protocol.setup(Role::Sender, session, RECEIVER)?.online(session, &sender, sizes),
        |session| protocol.setup(Role::Receiver, session, SENDER)?.online(session, &receiver, sizes),
    )
}

fn marked(mut values: Vec<u64>) -> Vec<u64> {
    secret(&mut values);
    values
}

#[test]
fn intersections() {
    let vole = |variant| of(&format!("{variant:?} vole"), VolePsi { variant, bins: 1 });
    let all = [
        of("dh", DhPsi { bins: 1 }),
        of("kkrt", Kkrt { bins: 1 }),
        vole(Variant::Fast),
        vole(Variant::Compact),
        vole(Variant::Malicious),
    ];
    assert_eq!(all.concat(), []);
}

#[test]
fn permuted_shares() {
    let data = marked((0..12).collect());
    let order = permutation::random(12, &mut generator("an order"));
    let found = found(
        "permute and share",
        |session| Owner::setup(session, RECEIVER)?.share(session, RECEIVER, &data),
        |session| Permuter::setup(session, SENDER)?.share(session, SENDER, &order),
    );
    assert_eq!(found, []);
}

#[test]
fn prepared_sets() {
    let (items, asked) = sets(&mut generator("prepared"), ITEMS.0, ITEMS.1);
    let found = found(
        "prepared set",
        |session| {
            let (mut set, published) = PreparedSet::prepare(&items, 100)?;
            send_set(session, RECEIVER, &published)?;
            set.answer(session, RECEIVER, asked.len())
        },
        |session| {
            let bytes = receive_set(session, SENDER, 100)?;
            PublishedSet::from_bytes(&bytes)?.query(session, SENDER, &asked)
        },
    );
    assert_eq!(found, []);
}

#[test]
fn keys_of_tokens() {
    let party = |session: &mut Session| {
        let key = tokens::agree_key(session)?;
        let mut items = vec![];
        tokens::TokenHash::new(&key).hash_rows(b"a row another", &[5, 13], &mut items);
        Ok(())
    };
    assert_eq!(found("token key", party, party), []);
}
