//! Who takes part in a run, each by its own signature: checked by every party before its first session begins.
//!
//! A party signs the run, the plan, what it approved under the plan, and the hash of its ledger's last entry. The run
//! is a hash of those that take part, of the plan, and of numbers that all nodes have just drawn. So a signature of an
//! earlier run, of another plan or of other parties fits none of a later run
//! ([the protocol](../../../docs/protocols/attendance.md)).

use crate::error::NetError;
use crate::testimony::{self, Context};
use rustls::pki_types::CertificateDer;
use rustls::sign::SigningKey;

/// Domain of the names of runs.
const RUN: &str = "tacit 2026-11-26 net: run";

/// Bytes of what a party says when all its links stand: a hash, and a signature behind its length, padded.
pub(crate) const SAID: usize = 32 + 1 + testimony::LONGEST;

/// A run as all its parties have signed it, as far as one of them has links with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attendance {
    /// The name of the run, the same at all parties.
    pub run: [u8; 32],
    /// The plan's hash.
    pub plan_hash: [u8; 32],
    /// The digest of what all approved under it.
    pub approved: [u8; 32],
    /// Those that this party has links with, and itself.
    pub parties: Vec<Present>,
}

/// One party of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Present {
    /// The party's name.
    pub name: String,
    /// The hash of the last entry of its ledger.
    pub head: [u8; 32],
    /// Of [`statement`], by the party's key.
    pub signature: Vec<u8>,
}

/// What a party signs of a run: the run, the plan's hash, what is approved under it, and its ledger's last hash.
pub fn statement(run: &[u8; 32], plan_hash: &[u8; 32], approved: &[u8; 32], head: &[u8; 32]) -> Vec<u8> {
    [run, plan_hash, approved, head].map(|part| &part[..]).concat()
}

/// A run that is about to begin.
#[derive(Clone, Copy)]
pub(crate) struct Roll {
    pub run: [u8; 32],
    pub plan_hash: [u8; 32],
    pub approved: [u8; 32],
}

impl Roll {
    /// Of these parties, with their certificates, and what their nodes have drawn.
    pub fn of(
        [plan_hash, approved, drawn]: [[u8; 32]; 3],
        names: &[String],
        certificates: &[CertificateDer<'_>],
    ) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(RUN);
        hasher.update(&plan_hash).update(&approved).update(&drawn);
        for (name, certificate) in names.iter().zip(certificates) {
            for part in [name.as_bytes(), certificate] {
                hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
            }
        }
        Self { run: *hasher.finalize().as_bytes(), plan_hash, approved }
    }

    fn statement(&self, head: &[u8; 32]) -> Vec<u8> {
        statement(&self.run, &self.plan_hash, &self.approved, head)
    }

    /// A party's own presence.
    ///
    /// # Errors
    /// [`NetError::BadConfiguration`] for a key that does not sign.
    pub fn sign(&self, name: &str, head: [u8; 32], key: &dyn SigningKey) -> Result<Present, NetError> {
        let signature = testimony::sign_with(key, Context::Attendance, &self.statement(&head))?;
        Ok(Present { name: name.to_owned(), head, signature })
    }

    /// What the party `name` has said of itself.
    ///
    /// # Errors
    /// [`NetError::Cheating`] unless it has signed this run with the key of its certificate.
    pub fn check(&self, name: &str, certificate: &CertificateDer<'_>, said: &[u8]) -> Result<Present, NetError> {
        let cheats =
            |detail: &str| NetError::Cheating { peer: name.to_owned(), step: String::new(), detail: detail.to_owned() };
        if said.is_empty() {
            return Err(cheats("it shows no signed approval of this run"));
        }
        let present = Present::read(name, said).ok_or_else(|| cheats("what it shows is no signed approval"))?;
        let statement = self.statement(&present.head);
        if testimony::verify_with(certificate, Context::Attendance, &statement, &present.signature) {
            return Ok(present);
        }
        Err(cheats(
            "its signature is not of this run, plan and approval: it is of another run, or a node has told the \
                    parties different numbers",
        ))
    }
}

impl Present {
    /// As it is said: always equally many bytes.
    pub fn said(&self) -> Vec<u8> {
        let length = u8::try_from(self.signature.len()).expect("a short signature");
        let mut said = [&self.head[..], &[length], &self.signature].concat();
        said.resize(SAID, 0);
        said
    }

    fn read(name: &str, said: &[u8]) -> Option<Self> {
        let (head, rest) = said.split_first_chunk()?;
        let (&length, rest) = rest.split_first()?;
        let (signature, padding) = rest.split_at_checked(usize::from(length))?;
        let whole = said.len() == SAID && padding.iter().all(|&byte| byte == 0);
        whole.then(|| Self { name: name.to_owned(), head: *head, signature: signature.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys;
    use crate::tcp::Identity;
    use proptest::prelude::*;

    fn party(name: &str) -> (Identity, CertificateDer<'static>) {
        let (key, certificate) = keys::generate(name).expect("randomness");
        let identity = Identity::from_pem(&key, &certificate).expect("our own PEM");
        (identity, keys::certificate(&certificate).expect("our own PEM"))
    }

    fn roll(drawn: u8, certificates: &[CertificateDer<'static>]) -> Roll {
        Roll::of([[1; 32], [2; 32], [drawn; 32]], &["a".to_owned(), "b".to_owned()], certificates)
    }

    #[test]
    fn presence_is_of_one_run_plan_approval_and_party() {
        let [(mine, certificate), (_, other)] = ["a", "b"].map(party);
        let certificates = [certificate.clone(), other.clone()];
        let run = roll(3, &certificates);
        let said = run.sign("a", [9; 32], mine.key()).expect("a key").said();
        assert_eq!(run.check("a", &certificate, &said).expect("its own").head, [9; 32]);
        let swapped = [certificates[1].clone(), certificates[0].clone()];
        let others = [
            roll(4, &certificates),
            roll(3, &swapped),
            Roll { plan_hash: [8; 32], ..run },
            Roll { approved: [8; 32], ..run },
        ];
        for (number, other) in others.iter().enumerate() {
            let error = other.check("a", &certificate, &said).expect_err("a replay");
            assert!(matches!(error, NetError::Cheating { .. }), "{number}: {error}");
            assert_eq!(error.peer(), Some("a"));
        }
        assert!(run.check("a", &other, &said).is_err(), "another party's certificate");
        let mut changed = said.clone();
        changed[0] ^= 1;
        assert!(run.check("a", &certificate, &changed).is_err(), "another ledger");
        assert!(run.check("a", &certificate, &[]).is_err(), "nothing");
        assert!(run.check("a", &certificate, &said[..SAID - 1]).is_err(), "cut");
    }

    #[test]
    fn a_testimony_of_another_kind_is_no_presence() {
        let (mine, certificate) = party("a");
        let run = roll(3, std::slice::from_ref(&certificate));
        for context in Context::ALL {
            let signature = testimony::sign_with(mine.key(), context, &run.statement(&[9; 32])).expect("a key");
            let said = Present { name: "a".to_owned(), head: [9; 32], signature }.said();
            assert_eq!(run.check("a", &certificate, &said).is_ok(), context == Context::Attendance, "{context:?}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_no_presence(said: Vec<u8>) {
            let (_, certificate) = party("a");
            prop_assert!(roll(3, std::slice::from_ref(&certificate)).check("a", &certificate, &said).is_err());
        }
    }
}
