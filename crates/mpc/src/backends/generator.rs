//! Generators that a node holds, as part of its view.

use std::sync::Arc;

use tacit_math::{Prg, Seed};
use tacit_net::Session;

/// The generator of a seed. What it gives is noted under this name where a test records contents: whoever holds it
/// knows it.
pub(in crate::backends) fn generator(session: &Session, name: &'static str, seed: &Seed) -> Prg {
    match session.transcript() {
        Some(transcript) if transcript.has_contents() => {
            Prg::watched(seed, Arc::new(move |bytes| transcript.note_drawn(name, bytes)))
        }
        _ => Prg::new(seed),
    }
}
