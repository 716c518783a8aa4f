//! KKRT: intersection by a batched oblivious pseudorandom function from OT extension and cuckoo hashing.
//!
//! **Computes** the intersection for the receiver. **Adversary** semi-honest. **Discloses** the sizes of both sets to
//! both, and to the receiver which of its items the sender has, and where in a fresh random order of the sender's.
//!
//! **Source** Kolesnikov, Kumaresan, Rosulek, Trieu, "Efficient Batched Oblivious PRF with Applications to Private Set
//! Intersection" (CCS 2016), Figures 3 and 7, without a stash.
//!
//! **Steps** Each bin b has a function F(b, .) of its own, a row of an OT extension whose receiver may choose any
//! input, not only a bit. Rows t(b), t'(b) of w bits are random: each column is the stream of a base OT.
//!
//! 1. The receiver puts its n2 items into m bins ([`cuckoo::bins`]), an item y into one of its three bins.
//! 2. It sends u(b) = t(b) ^ t'(b) ^ C(y) for a code C. It knows H(b, t(b)), which is F(b, y), and nothing of F(b, x)
//!    for x other than y, where C(x) and C(y) differ in 128 positions or more.
//! 3. The sender, who has secret bits s and so q(b) = t(b) ^ s t'(b) ^ s t(b), can evaluate F(b, x) = H(b, q(b) ^ s
//!    u(b) ^ s C(x)) at every x. It sends F of every item in each of its three bins.
//! 4. The receiver looks these tags up among its own.
//!
//! **Cost** setup: 512 base OTs, 1 round; the sender of items receives them. Online, if no set is empty: 2 rounds; the
//! receiver sends 16 + m w / 8 bytes, the sender 3 n1 tags of 42 + log2(n1 n2 pairs) bits, in whole bytes. For 2^20
//! items each: 73 + 33 bytes an item.
//!
//! **Parameters** for all pairs of sets of a run together ([`crate::chance`]): no assignment to bins, 2^-45. Code words
//! of the sender's 3 n1 evaluations nearer than 128 to the receiver's, 20 2^-45, which gives w of 448 bits (to 19.9
//! million items in all) or 512. A false match among tags, 2^-42.
//!
//! **Departures** The three tags of an item are sent side by side in one random order instead of three. Items are told
//! apart by the choice in the code, so the tags of an item that the receiver does not have are independent of each
//! other. Those of one that it has tell it the position that it learns anyway. An empty bin has the code word zero: t'
//! masks it alike.

use crate::error::PsiError;
use crate::interface::protocol::{Declared, Held, Item, Outcome, Prepared, Protocol, Sizes};
use crate::interface::role::Role;
use crate::parts::chance;
use crate::parts::cuckoo::{self, CHOICES};
use crate::parts::masking::tag_bytes;
use crate::parts::tag_lookup::Table;
use crate::parts::tags::tag_bits;
use crate::wrong_input::WrongInput;
use tacit_math::pages::vector_on_large_pages;
use tacit_math::{CorrelationRobustHash, Prg, Seed, permutation, transpose};
use tacit_net::{PartyId, Session, Traffic};
use tacit_ot::{Adversary, base};
use zeroize::Zeroizing;

/// Its name in plans and reports, and of its step.
const NAME: &str = "kkrt";

/// Base OTs: columns of the widest rows.
const COLUMNS: usize = 512;

/// Places in which code words must differ: the sender's secret bits that mask a function's value.
const DISTANCE: usize = 128;

/// Rows whose columns are made together: a quarter KiB a column.
const TILE: usize = 2048;

/// Tiles that are one message of about 1 MiB.
const TILES: usize = 8;

/// Items of the sender that are evaluated together.
const BATCH: usize = 1024;

/// Items whose tags are one message of about 1 MiB.
const PIECE: usize = 32 * BATCH;

/// The KKRT protocol.
#[derive(Clone, Copy, Debug)]
pub struct Kkrt {
    /// How many pairs of sets a run has.
    pub bins: usize,
}

impl Protocol for Kkrt {
    fn name(&self) -> &'static str {
        NAME
    }

    fn adversary(&self) -> Adversary {
        Adversary::SemiHonest
    }

    fn held(&self, held: &mut Held) {
        held.number(self.bins);
    }

    fn declared(&self, sizes: Sizes) -> Declared {
        let setup = Traffic {
            rounds: base::ROUNDS,
            sender: base::bytes_of_receiver(COLUMNS),
            receiver: base::bytes_of_sender(COLUMNS),
        };
        let parameters = Parameters { sizes, pairs: self.bins };
        if parameters.empty() {
            return Declared { setup, online: Traffic::default() };
        }
        let rows = 8 * parameters.code_words() * parameters.bins();
        let tags = CHOICES * parameters.tag_bytes() * sizes.sender;
        Declared { setup, online: Traffic { rounds: 2, sender: tags as u64, receiver: (SEED + rows) as u64 } }
    }

    fn setup(&self, role: Role, session: &mut Session, peer: PartyId) -> Result<Box<dyn Prepared>, PsiError> {
        session.enter(NAME);
        let prepared: Box<dyn Prepared> = match role {
            Role::Sender => Box::new(Sender::setup(session, peer, self.bins)?),
            Role::Receiver => Box::new(Receiver::setup(session, peer, self.bins)?),
        };
        session.leave();
        Ok(prepared)
    }
}

/// What both parties derive from the sizes.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    /// Of one pair of sets.
    pub sizes: Sizes,
    /// Pairs of such sets in the run: the statistical bounds hold for all of them together.
    pub pairs: usize,
}

impl Parameters {
    /// Whether nothing can match, and so nothing is sent.
    fn empty(self) -> bool {
        self.sizes.sender == 0 || self.sizes.receiver == 0
    }

    /// Bins of the receiver's table.
    pub fn bins(self) -> usize {
        cuckoo::bins(self.sizes.receiver, self.pairs)
    }

    /// Bits of a tag.
    pub fn tag_bits(self) -> u32 {
        tag_bits(self.sizes.pairs(self.pairs))
    }

    /// Bytes of a tag that travels whole.
    fn tag_bytes(self) -> usize {
        tag_bytes(self.tag_bits())
    }

    /// Width of the code in words of 64 bits: 7 if that keeps the code words of all evaluations far enough apart,
    /// else 8.
    pub fn code_words(self) -> usize {
        let evaluations = (CHOICES * self.sizes.sender) as f64 * self.pairs as f64;
        let near = |words: usize| (near_log2(64 * words) + evaluations.log2()) <= -chance::step_bits();
        if near(7) { 7 } else { 8 }
    }
}

/// The binary logarithm of the probability that two random code words differ in fewer than 128 of `width` positions.
pub fn near_log2(width: usize) -> f64 {
    let (mut term, mut sum) = (1.0, 0.0);
    for place in 0..DISTANCE {
        sum += term;
        term *= (width - place) as f64 / (place + 1) as f64;
    }
    f64::log2(sum) - width as f64
}

/// Bytes of the seed of one run.
const SEED: usize = 16;

/// The public functions of one run, from a seed that the receiver draws when the items are fixed.
struct Run {
    parameters: Parameters,
    bins: u128,
    code: [[u128; COLUMNS / 128]; CHOICES],
    tag: [u8; 32],
}

impl Run {
    fn new(seed: &Seed, parameters: Parameters) -> Self {
        let bins = u128::from_le_bytes(*seed.derive("bins").expose());
        let mut code = [[0u128; COLUMNS / 128]; CHOICES];
        Prg::new(&seed.derive("code")).fill(code.as_flattened_mut());
        let tag = blake3::derive_key("tacit 2026 psi: kkrt tags", seed.expose());
        Self { parameters, bins, code, tag }
    }

    /// The numbers of items that say which bins are theirs.
    fn numbers(&self, items: &[Item]) -> Vec<u128> {
        let mut numbers: Vec<u128> = items.iter().map(|item| item ^ self.bins).collect();
        // Correlation robust for the key as offset: it was drawn after the items. Nothing is added to the hashes.
        CorrelationRobustHash::new().hash_blocks(&mut numbers);
        numbers
    }

    /// The code words of items, each told apart by the number of a choice. The code is random: a random permutation of
    /// the item, moved by keys that were drawn after it.
    fn code<const W: usize>(&self, inputs: impl Iterator<Item = (Item, u8)>) -> Vec<[u64; W]> {
        let mut blocks: Vec<u128> = Vec::with_capacity(inputs.size_hint().0 * COLUMNS / 128);
        for (item, choice) in inputs {
            blocks.extend_from_slice(&self.code[usize::from(choice)].map(|key| item ^ key));
        }
        // Correlation robust for the keys as offsets; nothing is added to the hashes.
        CorrelationRobustHash::new().hash_blocks(&mut blocks);
        let words: &[u64] = bytemuck::cast_slice(&blocks);
        words.as_chunks::<{ COLUMNS / 64 }>().0.iter().map(|words| std::array::from_fn(|i| words[i])).collect()
    }

    /// The value of a bin's function, from its row: the tag that is sent or compared.
    fn tag<const W: usize>(&self, bin: usize, row: &[u64; W]) -> u128 {
        let mut words = [0u64; 1 + COLUMNS / 64];
        words[0] = bin as u64;
        words[1..=W].copy_from_slice(row);
        let digest = blake3::keyed_hash(&self.tag, bytemuck::cast_slice(&words[..=W]));
        let mut low = [0; 16];
        low.copy_from_slice(&digest.as_bytes()[..16]);
        // Sent, or looked up among those that were: by design addresses follow from tags.
        tacit_marks::published(u128::from_le_bytes(low) & (u128::MAX >> (128 - self.parameters.tag_bits())))
    }
}

/// The sender of items, who chose one stream of each column.
struct Sender {
    peer: PartyId,
    pairs: usize,
    /// s.
    secret: Zeroizing<[u64; COLUMNS / 64]>,
    /// Of each column the stream that its bit of s asks for.
    streams: Vec<Prg>,
}

impl Sender {
    fn setup(session: &mut Session, peer: PartyId, pairs: usize) -> Result<Self, PsiError> {
        let mut secret = Zeroizing::new([0; COLUMNS / 64]);
        Prg::new(&Seed::random()?).fill(&mut secret[..]);
        let choices = Zeroizing::new((0..COLUMNS).map(|i| secret[i / 64] >> (i % 64) & 1 == 1).collect::<Vec<_>>());
        let seeds = base::receive(session, peer, &choices)?;
        Ok(Self { peer, pairs, secret, streams: seeds.into_iter().map(stream).collect() })
    }

    /// Receives the corrections, sends the tags of all items.
    fn send<const W: usize>(
        &mut self,
        session: &mut Session,
        items: &[Item],
        parameters: Parameters,
    ) -> Result<Outcome, PsiError> {
        let order = permutation::random(items.len(), &mut Prg::new(&Seed::random()?));
        session.next_round();
        let mut seed = [0; SEED];
        session.recv(self.peer, &mut seed)?;
        let run = Run::new(&Seed::from_bytes(seed), parameters);
        // Step 2: q(b) ^ s u(b) of all bins; then step 3.
        let rows = self.rows::<W>(session, parameters.bins())?;
        session.next_round();
        for piece in order.chunks(PIECE) {
            let mut message = session.buffer(CHOICES * parameters.tag_bytes() * piece.len() + 16);
            for batch in piece.chunks(BATCH) {
                self.evaluate(&run, &rows, &permutation::gather(items, batch), &mut message);
            }
            session.send(self.peer, message)?;
        }
        Ok(Outcome::Sender { order })
    }

    /// The rows q(b) ^ s u(b) of all bins.
    fn rows<const W: usize>(&mut self, session: &mut Session, bins: usize) -> Result<Vec<[u64; W]>, PsiError> {
        let mut rows = vector_on_large_pages(bins.next_multiple_of(64));
        rows.resize(bins.next_multiple_of(64), [0; W]);
        let mut columns = vec![0; W * TILE];
        let mut corrections = vec![[0; W]; TILE.min(bins)];
        for (number, tile) in rows.chunks_mut(TILE).enumerate() {
            let columns = &mut columns[..W * tile.len()];
            fill(self.streams.iter_mut(), columns, tile.len() / 64);
            transpose::rows_of_columns(columns, tile);
            let corrections = &mut corrections[..tile.len().min(bins - number * TILE)];
            session.recv(self.peer, bytemuck::cast_slice_mut(corrections.as_flattened_mut()))?;
            for (q, u) in tile.iter_mut().zip(corrections) {
                add_masked(q, &self.secret, u);
            }
        }
        Ok(rows)
    }

    /// Appends the three tags of every item.
    fn evaluate<const W: usize>(&self, run: &Run, rows: &[[u64; W]], items: &[Item], message: &mut Vec<u8>) {
        let width = run.parameters.tag_bytes();
        let code = run.code::<W>(items.iter().flat_map(|&item| (0..CHOICES as u8).map(move |choice| (item, choice))));
        let m = run.parameters.bins();
        let bins: Vec<[usize; CHOICES]> = run.numbers(items).iter().map(|&number| cuckoo::choices(number, m)).collect();
        // Rows lie all over the memory: copied first, many are on their way at once.
        let mut own: Vec<[u64; W]> = bins.as_flattened().iter().map(|&bin| rows[bin]).collect();
        for ((row, &bin), code) in own.iter_mut().zip(bins.as_flattened()).zip(&code) {
            // q(b) ^ s u(b) ^ s C(x).
            add_masked(row, &self.secret, code);
            message.extend_from_slice(&run.tag(bin, row).to_le_bytes());
            message.truncate(message.len() - (16 - width));
        }
    }
}

impl Prepared for Sender {
    fn online(&mut self, session: &mut Session, items: &[Item], sizes: Sizes) -> Result<Outcome, PsiError> {
        check_count(items, sizes.sender)?;
        let parameters = Parameters { sizes, pairs: self.pairs };
        if parameters.empty() {
            let order = permutation::random(items.len(), &mut Prg::new(&Seed::random()?));
            return Ok(Outcome::Sender { order });
        }
        session.enter(NAME);
        let outcome = match parameters.code_words() {
            7 => self.send::<7>(session, items, parameters),
            _ => self.send::<8>(session, items, parameters),
        };
        session.leave();
        outcome
    }
}

/// What is in a bin: an item's index and which of its choices the bin is.
#[derive(Clone, Copy)]
struct Placed {
    item: u32,
    choice: u8,
}

/// The receiver of the intersection, who has both streams of each column.
struct Receiver {
    peer: PartyId,
    pairs: usize,
    /// Of each column the streams of t and of t'.
    streams: Vec<[Prg; 2]>,
}

impl Receiver {
    fn setup(session: &mut Session, peer: PartyId, pairs: usize) -> Result<Self, PsiError> {
        let seeds = base::send(session, peer, COLUMNS)?;
        Ok(Self { peer, pairs, streams: seeds.into_iter().map(|pair| pair.map(stream)).collect() })
    }

    /// Sends the corrections, receives the tags of the sender's items.
    fn receive<const W: usize>(
        &mut self,
        session: &mut Session,
        items: &[Item],
        parameters: Parameters,
    ) -> Result<Outcome, PsiError> {
        // Step 1.
        let (seed, run, table) = assign(items, parameters)?;
        session.next_round();
        // Step 2, then step 4.
        session.send(self.peer, seed.expose().to_vec())?;
        let tags = self.tags::<W>(session, &run, items, &table)?;
        session.next_round();
        find(session, self.peer, parameters, &table, &tags)
    }

    /// Sends the corrections of all bins; the tag of every item.
    fn tags<const W: usize>(
        &mut self,
        session: &mut Session,
        run: &Run,
        items: &[Item],
        table: &[Option<Placed>],
    ) -> Result<Vec<u128>, PsiError> {
        let mut tags = vec![0; items.len()];
        let mut columns = vec![0; W * TILE];
        let mut rows = [vec![[0; W]; TILE], vec![[0; W]; TILE]];
        for (piece, bins) in table.chunks(TILES * TILE).enumerate() {
            let mut message = session.buffer(8 * W * bins.len());
            for (tile, bins) in bins.chunks(TILE).enumerate() {
                let words = bins.len().div_ceil(64);
                for (side, rows) in rows.iter_mut().enumerate() {
                    let columns = &mut columns[..64 * W * words];
                    fill(self.streams.iter_mut().map(|pair| &mut pair[side]), columns, words);
                    transpose::rows_of_columns(columns, &mut rows[..64 * words]);
                }
                // u = t ^ t', and ^ C(y) where the bin has an item.
                let [t, u] = &mut rows;
                u.iter_mut().zip(t.iter()).for_each(|(u, t)| add(u, t));
                let placed = || bins.iter().enumerate().filter_map(|(row, placed)| Some((row, (*placed)?)));
                let code = run.code::<W>(placed().map(|(_, placed)| (items[placed.item as usize], placed.choice)));
                for ((row, placed), code) in placed().zip(&code) {
                    add(&mut u[row], code);
                    tags[placed.item as usize] = run.tag((piece * TILES + tile) * TILE + row, &t[row]);
                }
                message.extend_from_slice(bytemuck::cast_slice(u[..bins.len()].as_flattened()));
            }
            session.send(self.peer, message)?;
        }
        Ok(tags)
    }
}

impl Prepared for Receiver {
    fn online(&mut self, session: &mut Session, items: &[Item], sizes: Sizes) -> Result<Outcome, PsiError> {
        check_count(items, sizes.receiver)?;
        let parameters = Parameters { sizes, pairs: self.pairs };
        if parameters.empty() {
            return Ok(Outcome::Receiver(Vec::new()));
        }
        session.enter(NAME);
        let outcome = match parameters.code_words() {
            7 => self.receive::<7>(session, items, parameters),
            _ => self.receive::<8>(session, items, parameters),
        };
        session.leave();
        outcome
    }
}

/// A seed, its functions, and an assignment of the items to bins. A seed without an assignment is drawn with
/// probability 2^-45 and thrown away before anyone sees it.
fn assign(items: &[Item], parameters: Parameters) -> Result<(Seed, Run, Vec<Option<Placed>>), PsiError> {
    for _ in 0..3 {
        let seed = Seed::random()?.published();
        let run = Run::new(&seed, parameters);
        let numbers = run.numbers(items);
        if let Some(table) = cuckoo::table(&numbers, parameters.bins()) {
            let placed = |(bin, &item): (usize, &u32)| {
                let choices = cuckoo::choices(*numbers.get(item as usize)?, table.len());
                Some(Placed { item, choice: choices.iter().position(|&choice| choice == bin)? as u8 })
            };
            return Ok((seed, run, table.iter().enumerate().map(placed).collect()));
        }
    }
    Err(WrongInput::EqualItems.into())
}

/// Receives the tags of the sender's items and looks up each among those of the items that are in their bins by the
/// same choice.
fn find(
    session: &mut Session,
    peer: PartyId,
    parameters: Parameters,
    table: &[Option<Placed>],
    tags: &[u128],
) -> Result<Outcome, PsiError> {
    let mut members: [Vec<u32>; CHOICES] = Default::default();
    table.iter().flatten().for_each(|placed| members[usize::from(placed.choice)].push(placed.item));
    let sizes = parameters.sizes;
    let own = members.each_ref().map(|members| Table::new(&permutation::gather(tags, members), parameters.tag_bits()));
    let width = parameters.tag_bytes();
    let mut bytes = vec![0; CHOICES * width * BATCH.min(sizes.sender)];
    let mut matches = Vec::new();
    for first in (0..sizes.sender).step_by(BATCH) {
        let bytes = &mut bytes[..CHOICES * width * BATCH.min(sizes.sender - first)];
        session.recv(peer, bytes)?;
        for (choice, (own, members)) in own.iter().zip(&members).enumerate() {
            let tag = |triple: &[u8]| {
                let mut tag = [0; 16];
                tag[..width].copy_from_slice(&triple[choice * width..][..width]);
                u128::from_le_bytes(tag)
            };
            let theirs: Vec<u128> = bytes.chunks_exact(CHOICES * width).map(tag).collect();
            let found = matches.len();
            own.look_up(&theirs, first as u32, &mut matches);
            matches[found..].iter_mut().for_each(|found| found.mine = members[found.mine as usize]);
        }
    }
    matches.sort_unstable();
    Ok(Outcome::Receiver(matches))
}

fn check_count(items: &[Item], announced: usize) -> Result<(), PsiError> {
    match items.len() == announced {
        true => Ok(()),
        false => Err(WrongInput::Items { given: items.len(), announced }.into()),
    }
}

fn stream(key: u128) -> Prg {
    Prg::new(&Seed::from_bytes(key.to_le_bytes()))
}

/// The next words of every stream, as columns one after the other.
fn fill<'a>(streams: impl Iterator<Item = &'a mut Prg>, columns: &mut [u64], words: usize) {
    streams.zip(columns.chunks_exact_mut(words)).for_each(|(stream, column)| stream.fill(column));
}

fn add<const W: usize>(row: &mut [u64; W], other: &[u64; W]) {
    row.iter_mut().zip(other).for_each(|(a, b)| *a ^= b);
}

/// Adds the other row where the secret has ones.
fn add_masked<const W: usize>(row: &mut [u64; W], secret: &[u64; COLUMNS / 64], other: &[u64; W]) {
    row.iter_mut().zip(secret).zip(other).for_each(|((a, s), b)| *a ^= s & b);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use tacit_net::{Options, memory};

    #[test]
    fn code_words_are_far_apart() {
        let of_run = |n: usize, pairs| Parameters { sizes: Sizes { sender: n, receiver: 1 }, pairs }.code_words();
        let words = |n: usize| of_run(n, 1);
        assert_eq!([1, 1 << 16, 1 << 20].map(words), [7, 7, 7]);
        assert_eq!([8, 1000].map(|pairs| of_run(1 << 20, pairs)), [7, 8]);
        // Even 2^32 items are served by 512 bits.
        assert_eq!(words(1 << 32), 8);
        assert!(near_log2(512) + (3f64 * 2f64.powi(32)).log2() <= -chance::step_bits());
        // Fewer than 128 of 128 places: all but one word of 2^128.
        assert!(near_log2(128).abs() < 1e-9);
    }

    /// Sessions of a sender and a receiver, and what either does with its own.
    fn run<S: Send, R: Send>(
        sender: impl FnOnce(&mut Session) -> S + Send,
        receiver: impl FnOnce(&mut Session) -> R + Send,
    ) -> (S, R) {
        let [mut a, mut b]: [Session; 2] =
            memory::mesh(&["sender", "receiver"], &Options::default()).try_into().expect("two parties");
        std::thread::scope(|scope| {
            let sender = scope.spawn(move || (sender(&mut a), a));
            let receiver = scope.spawn(move || (receiver(&mut b), b));
            let ((sender, _a), (receiver, _b)) = (sender.join().expect("sender"), receiver.join().expect("receiver"));
            (sender, receiver)
        })
    }

    #[test]
    fn of_three_tags_side_by_side_one_can_be_read_at_most() {
        const COUNT: usize = 500;
        let all: Vec<Item> = Prg::new(&Seed::from_bytes([9; 16])).vector(COUNT + COUNT / 2);
        let (theirs, mine) = (&all[..COUNT], &all[COUNT / 2..]);
        let parameters = Parameters { sizes: Sizes { sender: COUNT, receiver: COUNT }, pairs: 1 };
        let send = |session: &mut Session| {
            let mut sender = Sender::setup(session, PartyId(1), 1).expect("base OTs");
            sender.send::<7>(session, theirs, parameters).expect("sent")
        };
        // The receiver's messages; then whatever it reads of the tags with all functions that it has, whichever choice
        // they are for.
        let curious = |session: &mut Session| {
            let mut receiver = Receiver::setup(session, PartyId(0), 1).expect("base OTs");
            let (seed, run, table) = assign(mine, parameters).expect("an assignment");
            session.next_round();
            session.send(PartyId(0), seed.expose().to_vec()).expect("sent");
            let tags: HashSet<u128> =
                receiver.tags::<7>(session, &run, mine, &table).expect("sent").into_iter().collect();
            session.next_round();
            let width = parameters.tag_bytes();
            let mut bytes = vec![0; CHOICES * width * COUNT];
            session.recv(PartyId(0), &mut bytes).expect("tags");
            let tag = |bytes: &[u8]| {
                let mut tag = [0; 16];
                tag[..width].copy_from_slice(bytes);
                u128::from_le_bytes(tag)
            };
            let theirs: Vec<u128> = bytes.chunks_exact(width).map(tag).collect();
            assert_eq!(theirs.iter().collect::<HashSet<_>>().len(), CHOICES * COUNT, "no tag comes twice");
            theirs
                .chunks_exact(CHOICES)
                .map(|tags_of| tags_of.iter().filter(|tag| tags.contains(tag)).count())
                .collect()
        };
        let (_, read): (Outcome, Vec<usize>) = run(send, curious);
        assert!(read.iter().all(|&read| read <= 1));
        assert_eq!(read.iter().sum::<usize>(), COUNT / 2, "what is in both sets, and nothing else");
    }
}
