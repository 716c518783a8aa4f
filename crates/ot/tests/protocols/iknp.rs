use crate::pair::{ALICE, BOB, cost, run};
use crate::softspoken::assert_correlated;
use tacit_net::Session;
use tacit_ot::Adversary;
use tacit_ot::iknp::{Receiver, Sender, extension_cost, setup_cost};

#[test]
fn batches_are_correlated_and_cost_what_is_declared() {
    for adversary in [Adversary::SemiHonest, Adversary::Malicious] {
        for n in [0, 1, 64, 4097] {
            let alice = |session: &mut Session| {
                Sender::setup(session, BOB, adversary).and_then(|mut sender| sender.extend(session, n))
            };
            let bob = |session: &mut Session| {
                Receiver::setup(session, ALICE, adversary).and_then(|mut receiver| receiver.extend(session, n))
            };
            let ((sent, a), (received, b)) = run(alice, bob);
            assert_correlated(&sent.expect("an honest peer"), &received.expect("an honest peer"), n);
            let (setup, extension) = (setup_cost(adversary), extension_cost(adversary, n));
            assert_eq!(cost(&a), (setup.rounds + extension.rounds, setup.sender + extension.sender));
            assert_eq!(cost(&b), (setup.rounds + extension.rounds, setup.receiver + extension.receiver));
            let words = n.div_ceil(64) as u64 + u64::from(adversary == Adversary::Malicious);
            let proof = if adversary == Adversary::Malicious { 1032 } else { 0 };
            assert_eq!(extension.receiver, if n == 0 { 0 } else { 1016 * words + proof });
        }
    }
}
