//! Where secrets begin: random bytes of the operating system, or, on a thread that says so, of a seed that gives them
//! again.

use std::cell::RefCell;

use crate::{Prg, Seed};

thread_local! {
    static REPLAYED: RefCell<Option<Prg>> = const { RefCell::new(None) };
}

/// Fills the bytes with fresh randomness.
///
/// # Errors
/// When the operating system gives none.
pub fn fill(out: &mut [u8]) -> Result<(), getrandom::Error> {
    REPLAYED.with_borrow_mut(|replayed| match replayed {
        Some(generator) => {
            generator.fill(out);
            Ok(())
        }
        None => getrandom::fill(out),
    })?;
    tacit_marks::secret(out);
    Ok(())
}

impl Seed {
    /// A fresh seed ([`fill`]).
    ///
    /// # Errors
    /// When the operating system gives no randomness.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        fill(&mut bytes)?;
        Ok(Self::from_bytes(bytes))
    }
}

/// Does `work` on this thread with all its randomness from a seed, so that the same work can be done again. What
/// [`fill`] and what follows from it give is a function of the seed and of the order of calls. Threads that `work`
/// starts have the operating system's.
///
/// The seed is then as secret as everything that `work` draws. Two works that differ must never have the same seed:
/// what is secret in one would be shown by the difference. For runs that move between processes alone
/// (`tacit_psi::Relayed`).
pub fn replayed<T>(seed: &Seed, work: impl FnOnce() -> T) -> T {
    /// Gives the thread its source back, after a panic too.
    struct Before(Option<Prg>);
    impl Drop for Before {
        fn drop(&mut self) {
            REPLAYED.set(self.0.take());
        }
    }
    let _before = Before(REPLAYED.replace(Some(Prg::new(seed))));
    work()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn() -> [u8; 40] {
        let mut bytes = [0; 40];
        fill(&mut bytes).expect("randomness");
        bytes
    }

    #[test]
    fn a_seed_gives_the_same_again_on_its_thread_alone() {
        let seed = Seed::from_bytes([9; 16]);
        let twice = || replayed(&seed, || (drawn(), *Seed::random().expect("randomness").expose(), drawn()));
        let (first, again) = (twice(), twice());
        assert_eq!(first, again);
        assert_ne!(first.0, first.2);
        assert_ne!(replayed(&Seed::from_bytes([8; 16]), drawn), first.0);
        let other = replayed(&seed, || std::thread::spawn(drawn).join().expect("no panic"));
        assert_ne!(other, first.0);
    }

    #[test]
    fn afterwards_it_is_fresh_again_whatever_happens() {
        let seed = Seed::from_bytes([9; 16]);
        let inside = replayed(&seed, drawn);
        assert_ne!(drawn(), inside);
        let panicked = std::panic::catch_unwind(|| replayed(&seed, || panic!("work fails")));
        assert!(panicked.is_err());
        assert_ne!(drawn(), inside);
        assert_ne!(drawn(), drawn());
    }
}
