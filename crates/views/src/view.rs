//! Views and runs: named bit strings, by how the party came to know them.

use std::sync::Arc;

use tacit_net::{PartyId, Seen, Source, Transcript};

/// How a party knows the bits of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A message to it.
    Received,
    /// A message from it. It follows from the rest of the view, by a function that may not be linear.
    Sent,
    /// Output of a generator that it holds, alone or with a peer.
    Drawn,
    /// Its own input, or its own shares in and out.
    Own,
    /// A value that was opened to it.
    Opened,
    /// What it can decode or evaluate from the rest: the test computes it as an adversary would.
    Derived,
}

/// Some bytes that a party knows.
#[derive(Clone, PartialEq, Eq)]
pub struct Part {
    /// How it knows them.
    pub kind: Kind,
    /// What they are; equal in all runs.
    pub name: String,
    /// The bits, lowest bit of the first byte first; as many in all runs.
    pub bytes: Vec<u8>,
    /// How many of these bits count: all, or the first ones after a cut.
    bits: usize,
}

impl Part {
    fn new(kind: Kind, name: String, bytes: Vec<u8>) -> Self {
        Self { kind, name, bits: 8 * bytes.len(), bytes }
    }

    /// How many bits it has.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// A bit, as zero or one.
    pub fn bit(&self, bit: usize) -> u8 {
        self.bytes[bit / 8] >> (bit % 8) & 1
    }

    /// Of every 64 bits those that `lanes` has.
    fn lanes(&self, lanes: u64) -> Self {
        let mut out = Self::new(self.kind, self.name.clone(), Vec::new());
        for (at, word) in self.bytes.chunks(8).enumerate() {
            let word = word.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
            let bits = self.bits.saturating_sub(64 * at).min(64) as u32;
            let mut left = if bits < 64 { lanes & !(u64::MAX << bits) } else { lanes };
            while left != 0 {
                if out.bits.is_multiple_of(8) {
                    out.bytes.push(0);
                }
                out.bytes[out.bits / 8] |= ((word >> left.trailing_zeros() & 1) as u8) << (out.bits % 8);
                out.bits += 1;
                left &= left - 1;
            }
        }
        out
    }

    /// The bits with these numbers.
    fn cut(&self, keep: impl Fn(usize) -> bool) -> Self {
        let (mut bytes, mut bits) = (Vec::with_capacity(self.bytes.len()), 0);
        for bit in (0..self.bits).filter(|&bit| keep(bit)) {
            if bits % 8 == 0 {
                bytes.push(0);
            }
            bytes[bits / 8] |= self.bit(bit) << (bits % 8);
            bits += 1;
        }
        Self { kind: self.kind, name: self.name.clone(), bytes, bits }
    }
}

/// What one party knows after a run, in a fixed order. Views that were made of one share its parts.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct View {
    parts: Vec<Arc<Part>>,
}

impl View {
    /// What a transcript recorded since this was last asked ([`Transcript::take_seen`]).
    pub fn of(transcript: &Transcript) -> Self {
        Self { parts: transcript.take_seen().into_iter().map(|seen| Arc::new(part(seen))).collect() }
    }

    /// The view with one part more.
    #[must_use]
    pub fn with(mut self, kind: Kind, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.add(kind, name, bytes);
        self
    }

    /// Adds a part.
    pub fn add(&mut self, kind: Kind, name: &str, bytes: impl Into<Vec<u8>>) {
        self.parts.push(Arc::new(Part::new(kind, name.to_owned(), bytes.into())));
    }

    /// Adds all parts of another view.
    pub fn extend(&mut self, other: Self) {
        self.parts.extend(other.parts);
    }

    /// The parts.
    pub fn parts(&self) -> &[Arc<Part>] {
        &self.parts
    }

    /// The parts that a test asks for: `view.filter(|part| part.kind == Kind::Received)`.
    #[must_use]
    pub fn filter(&self, keep: impl Fn(&Part) -> bool) -> Self {
        Self { parts: self.parts.iter().filter(|part| keep(part)).cloned().collect() }
    }

    /// The parts of these kinds.
    #[must_use]
    pub fn only(&self, kinds: &[Kind]) -> Self {
        self.filter(|part| kinds.contains(&part.kind))
    }

    /// Of every 8 bytes the bits that `lanes` has: rows i of each word of a plane, low bits of ring elements.
    /// Elimination then takes a fraction of the time, and sees what is a relation within these lanes. Every part of a
    /// [`Run`] must be cut alike.
    #[must_use]
    pub fn lanes(&self, lanes: u64) -> Self {
        if lanes == u64::MAX {
            return self.clone();
        }
        Self { parts: self.parts.iter().map(|part| Arc::new(part.lanes(lanes))).collect() }
    }

    /// The bits that a test asks for, by the number of their part and their number in it. Every view of a test must be
    /// cut alike.
    #[must_use]
    pub fn cut(&self, keep: impl Fn(usize, usize) -> bool) -> Self {
        let cut = |(number, part): (usize, &Arc<Part>)| {
            let whole = (0..part.bits).all(|bit| keep(number, bit));
            if whole { Arc::clone(part) } else { Arc::new(part.cut(|bit| keep(number, bit))) }
        };
        Self { parts: self.parts.iter().enumerate().map(cut).collect() }
    }

    /// The view with parts of one kind, name and length one behind the other as one part.
    #[must_use]
    pub fn joined(self) -> Self {
        let mut parts: Vec<(usize, Part)> = Vec::new();
        for part in self.parts.into_iter().map(Arc::unwrap_or_clone) {
            assert_eq!(part.bits, 8 * part.bytes.len(), "parts are joined before they are cut");
            let same = |(length, before): &&mut (usize, Part)| {
                *length == part.bytes.len() && before.kind == part.kind && before.name == part.name
            };
            match parts.iter_mut().find(same) {
                Some((_, before)) => {
                    before.bytes.extend(part.bytes);
                    before.bits = 8 * before.bytes.len();
                }
                None => parts.push((part.bytes.len(), part)),
            }
        }
        Self { parts: parts.into_iter().map(|(_, part)| Arc::new(part)).collect() }
    }

    /// How many bits it has.
    pub fn bits(&self) -> usize {
        self.parts.iter().map(|part| part.bits).sum()
    }
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.parts.iter().map(|part| (part.kind, &part.name, part.bits))).finish()
    }
}

fn part(seen: Seen) -> Part {
    let of = |PartyId(peer), word: &str| format!("{word} {peer} in {:?}", seen.step);
    let (kind, name) = match seen.source {
        Source::Sent(peer) => (Kind::Sent, of(peer, "to")),
        Source::Received(peer) => (Kind::Received, of(peer, "from")),
        Source::Opened => (Kind::Opened, format!("in {:?}", seen.step)),
        Source::Drawn => (Kind::Drawn, seen.step),
    };
    Part::new(kind, name, seen.bytes)
}

/// One run, for one party.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// What the party knows after it.
    pub view: View,
    /// What it may know: declared outputs, own inputs, declared disclosures. What follows from these by XOR is no
    /// finding.
    pub known: View,
    /// What it must not learn: the others' inputs, values in between, and their random bits.
    pub secret: View,
}

impl Run {
    /// The run with another view, or a part of it.
    #[must_use]
    pub fn seeing(&self, view: View) -> Self {
        Self { view, ..self.clone() }
    }

    /// All three cut to these lanes ([`View::lanes`]).
    #[must_use]
    pub fn lanes(&self, lanes: u64) -> Self {
        Self { view: self.view.lanes(lanes), known: self.known.lanes(lanes), secret: self.secret.lanes(lanes) }
    }
}
