//! Views and runs: named bit strings, by how the party came to know them.

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
}

/// What one party knows after a run, in a fixed order.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct View {
    parts: Vec<Part>,
}

impl View {
    /// What a transcript recorded since this was last asked ([`Transcript::take_seen`]).
    pub fn of(transcript: &Transcript) -> Self {
        Self { parts: transcript.take_seen().into_iter().map(part).collect() }
    }

    /// The view with one part more.
    #[must_use]
    pub fn with(mut self, kind: Kind, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.add(kind, name, bytes);
        self
    }

    /// Adds a part.
    pub fn add(&mut self, kind: Kind, name: &str, bytes: impl Into<Vec<u8>>) {
        self.parts.push(Part { kind, name: name.to_owned(), bytes: bytes.into() });
    }

    /// Adds all parts of another view.
    pub fn extend(&mut self, other: Self) {
        self.parts.extend(other.parts);
    }

    /// The parts.
    pub fn parts(&self) -> &[Part] {
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

    /// Of every 8 bytes the bits that `lanes` has: rows i of each word of a plane, low bits of ring elements. Elimination then
    /// takes a fraction of the time, and sees what is a relation within these lanes. Every part of a [`Run`] must be cut alike.
    #[must_use]
    pub fn lanes(&self, lanes: u64) -> Self {
        let cut = |part: &Part| {
            let chosen = |&i: &usize| lanes >> (i % 64) & 1 == 1;
            let bits = (0..8 * part.bytes.len()).filter(chosen).map(|i| part.bytes[i / 8] >> (i % 8) & 1);
            let mut bytes = vec![0; bits.clone().count().div_ceil(8)];
            bits.enumerate().for_each(|(i, bit)| bytes[i / 8] |= bit << (i % 8));
            Part { bytes, ..part.clone() }
        };
        Self { parts: self.parts.iter().map(cut).collect() }
    }

    /// How many bits it has.
    pub fn bits(&self) -> usize {
        8 * self.parts.iter().map(|part| part.bytes.len()).sum::<usize>()
    }
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.parts.iter().map(|part| (part.kind, &part.name, part.bytes.len()))).finish()
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
    Part { kind, name, bytes: seen.bytes }
}

/// One run, for one party.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// What the party knows after it.
    pub view: View,
    /// What it may know: declared outputs, own inputs, declared disclosures. What follows from these by XOR is no finding.
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
