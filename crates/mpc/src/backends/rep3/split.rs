//! Split products: a sum of products of what one node knows and what two nodes know.
//!
//! Functionality: of numbers x = s + t, the sum over i of u_i(s) w_i(t), plus what s and t give alone, as a fresh
//! sharing. It takes shares: s and t are functions of them. Discloses nothing. Each node is the dealer of a third of
//! the rows: p of third p. The dealer knows s = x_p + x_(p+1), nodes p + 1 and p + 2 know t = x_(p+2):
//!
//! 1. the dealer shares u_i = q_i + (u_i - q_i): q_i is from its generator with node p + 2, the rest goes to node
//!    p + 1. It shares its own summand, if it has one, in the same way;
//! 2. nodes p + 1 and p + 2 have d_1 = sum of (u_i - q_i) w_i and d_2 = sum of q_i w_i;
//! 3. the result's components h_p and h_(p+1) are from the dealer's generators with nodes p + 2 and p + 1. Nodes p + 1
//!    and p + 2 send each other d_1 - h_(p+1) and d_2 - h_p, whose sum is h_(p+2).
//!
//! Every word is masked by a position of a generator that its receiver lacks, which serves nothing else. The game and
//! the simulators are in docs/protocols/arrays.md.
//!
//! Source: ABY3, section 5.4.1, for one product. **Departures** any number of products of any functions; the words of
//! products may be of a smaller ring than the result; nodes deal in turn.
//!
//! Rounds: 2. Bytes in all: for each row a word for each product and two more, and an element for a dealer's summand.

mod scratch;

use std::ops::Range;

use tacit_math::simd::{Kernel, dispatch};
use tacit_math::{Ring, lanes};
use tacit_net::{PartyId, Received};

use self::scratch::{Cut, PIECE, Scratches, narrow_bytes, piece_of};
use super::{NODES, Rep3, Share};
use crate::backends::numbers::Numbers;
use crate::backends::waves::{Wave, pieces, send_all_masked, waves};
use crate::split::assert_products;
use crate::{Result, Split};

/// Numbers as sums s + t.
pub(super) enum Summands<'a, R> {
    /// A shared vector.
    Shared(&'a Share<Vec<R>>),
    /// s of the third that this node deals, and t of those of the previous and the next node.
    Masked { rows: usize, s: Vec<R>, of_previous: Vec<R>, of_next: Vec<R> },
}

/// Whose third of the rows it is, to a node that knows t.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dealer {
    /// Of the previous node: this one is p + 1 and receives what is dealt.
    Previous,
    /// Of the next node: this one is p + 2 and draws it.
    Next,
}

/// What is dealt of every number: a summand of its own, if there is one, and words of a ring that may be smaller. Its
/// loops are compiled for each vector unit, if they are `#[inline(always)]`.
pub(super) trait Dealt<R: Ring>: Sync {
    /// The ring of the products.
    type Word: Ring;

    /// Whether the dealer has a summand of its own.
    const SUMMAND: bool;

    /// How many products there are.
    fn products(&self) -> usize;

    /// The bytes of a word that are sent.
    fn width(&self) -> usize;

    /// The dealer's summand and its words, product by product, from s.
    fn first(&self, s: &[R], summand: &mut [R], words: &mut [Self::Word]);

    /// The others' summand and their words, from t.
    fn second(&self, t: &[R], summand: &mut [R], words: &mut [Self::Word]);

    /// Adds to elements what words stand for. Linear.
    fn add_to(&self, out: &mut [R], words: &[Self::Word]);

    /// Bytes of what is dealt of a number.
    fn dealt_bytes(&self) -> usize {
        summand_bytes::<R>(Self::SUMMAND) + self.products() * self.width()
    }

    /// Sizes of what the dealer and node p + 2 draw for a number: the mask of a summand, those of words, h_p.
    fn masks(&self) -> [usize; 3] {
        let word = size_of::<Self::Word>();
        [summand_bytes::<R>(Self::SUMMAND), self.products() * word, word]
    }
}

fn summand_bytes<R>(has: bool) -> usize {
    if has { size_of::<R>() } else { 0 }
}

/// The rows of a vector that a node deals.
pub(super) fn third(rows: usize, dealer: usize) -> Range<usize> {
    dealer * rows / NODES..(dealer + 1) * rows / NODES
}

impl<R: Ring> Summands<'_, R> {
    pub fn rows(&self) -> usize {
        match self {
            Self::Shared(x) => x.mine.len(),
            Self::Masked { rows, .. } => *rows,
        }
    }

    /// s of a piece of the third that this node deals.
    pub fn s(&self, third: &Range<usize>, piece: Range<usize>, s: &mut [R]) {
        match self {
            Self::Shared(x) => {
                let at = third.start + piece.start..third.start + piece.end;
                dispatch(Sum { x: &x.mine[at.clone()], y: &x.next[at], out: s });
            }
            Self::Masked { s: known, .. } => s.copy_from_slice(&known[piece]),
        }
    }

    /// t of a third.
    pub fn t(&self, third: Range<usize>, dealer: Dealer) -> &[R] {
        match (self, dealer) {
            (Self::Shared(x), Dealer::Previous) => &x.next[third],
            (Self::Shared(x), Dealer::Next) => &x.mine[third],
            (Self::Masked { of_previous, .. }, Dealer::Previous) => of_previous,
            (Self::Masked { of_next, .. }, Dealer::Next) => of_next,
        }
    }
}

/// A third of this node's shares: both components of each vector.
struct Third<'a, R> {
    mine: Vec<&'a mut [R]>,
    next: Vec<&'a mut [R]>,
}

impl<'a, R: Ring> Third<'a, R> {
    fn of(shares: &'a mut [Share<Vec<R>>], dealer: usize) -> Self {
        let each = shares.iter_mut().map(|share| {
            let rows = third(share.mine.len(), dealer);
            (&mut share.mine[rows.clone()], &mut share.next[rows])
        });
        let (mine, next) = each.unzip();
        Self { mine, next }
    }

    fn slices(&mut self, wave: &Wave) -> impl Iterator<Item = (&mut [R], &mut [R])> {
        let [mine, next] = [&mut self.mine, &mut self.next].map(|side| wave.slices(side.iter_mut().map(|x| &mut **x)));
        mine.into_iter().zip(next)
    }
}

/// A split product of which a node has sent its part: what lacks is that of the other node of a third.
pub(super) struct Begun<R, W> {
    out: Vec<Share<Vec<R>>>,
    of_previous: Vec<Vec<W>>,
    of_next: Vec<Vec<W>>,
}

impl Rep3 {
    /// Shares of what is dealt of each number and of what its words' products stand for.
    pub(super) fn split<R: Ring, D: Dealt<R>>(&mut self, x: &[Summands<'_, R>], f: &D) -> Result<Vec<Share<Vec<R>>>> {
        let begun = self.begin_split(x, f)?;
        self.finish_split(begun, f)
    }

    /// All that a node sends of a split product.
    pub(super) fn begin_split<R: Ring, D: Dealt<R>>(
        &mut self,
        x: &[Summands<'_, R>],
        f: &D,
    ) -> Result<Begun<R, D::Word>> {
        self.session.next_round();
        let zeros = |x: &Summands<'_, R>| vec![R::ZERO; x.rows()];
        let mut out: Vec<Share<Vec<R>>> = x.iter().map(|x| Share { mine: zeros(x), next: zeros(x) }).collect();
        // In the order in which a generator's two holders use it: first for the later node's third.
        let of_next = self.multiply_drawn(x, f, &mut out);
        self.deal(x, f, &mut out)?;
        let of_previous = self.multiply_received(x, f, &mut out)?;
        self.session.next_round();
        let (next, previous) = (self.next(), self.previous());
        self.send_words(next, &of_previous, f.width())?;
        self.send_words(previous, &of_next, f.width())?;
        Ok(Begun { out, of_previous, of_next })
    }

    /// The result, with what the other node sends of each third.
    pub(super) fn finish_split<R: Ring, D: Dealt<R>>(
        &mut self,
        begun: Begun<R, D::Word>,
        f: &D,
    ) -> Result<Vec<Share<Vec<R>>>> {
        let Begun { mut out, of_previous, of_next } = begun;
        let (next, previous) = (self.next(), self.previous());
        self.add_words(next, &of_previous, f, Third::of(&mut out, previous.0).next)?;
        self.add_words(previous, &of_next, f, Third::of(&mut out, next.0).mine)?;
        Ok(out)
    }

    /// Steps 1 and 3 of the dealer: its components are complete.
    fn deal<R: Ring, D: Dealt<R>>(&mut self, x: &[Summands<'_, R>], f: &D, out: &mut [Share<Vec<R>>]) -> Result<()> {
        let (me, peer, scratches) = (self.me(), self.next(), Scratches::new());
        let mut shares = Third::of(out, me);
        for wave in waves(&lengths(x, me), f.dealt_bytes()) {
            let mut messages = wave.buffers(&mut self.session);
            let mut in_messages = wave.in_messages(&mut messages);
            let rooms = shares.slices(&wave).zip(wave.message_rooms(&mut in_messages));
            let drawn = self.with_previous.parts(wave.blocks_for(&f.masks())).into_iter();
            let drawn = drawn.zip(self.with_next.parts(wave.blocks_for(&f.masks()[2..])));
            wave.compute(rooms.zip(drawn), |chunk, (((mine, next), mut message), (mut previous, mut following))| {
                let (x, mut scratch) = (&x[chunk.output], scratches.take(f));
                let rows = third(x.rows(), me);
                for piece in pieces(chunk.range.len(), piece_of(f)) {
                    let Cut { s, summand, words, factors: masks, h, bytes } =
                        scratch.cut(piece.len(), f.products(), f.width());
                    let (y_p, y_next) = (&mut mine[piece.clone()], &mut next[piece.clone()]);
                    x.s(&rows, chunk.range.start + piece.start..chunk.range.start + piece.end, s);
                    dispatch(First { f, s, summand, words: &mut *words });
                    // Step 1: masks from node p + 1.
                    if D::SUMMAND {
                        previous.fill(y_p);
                        y_next.copy_from_slice(summand);
                        subtract(y_next, y_p);
                        message.extend_from_slice(bytemuck::cast_slice(y_next));
                    }
                    previous.fill(masks);
                    subtract(words, masks);
                    message.extend_from_slice(written(words, f.width(), bytes));
                    // Step 3: h_p and h_(p+1).
                    previous.fill(h);
                    dispatch(AddTo { f, out: y_p, words: h });
                    following.fill(h);
                    dispatch(AddTo { f, out: y_next, words: h });
                }
                scratches.give(scratch);
            });
            lanes::finish(in_messages);
            send_all_masked(&mut self.session, peer, messages)?;
        }
        Ok(())
    }

    /// Steps 1 and 2 of node p + 2, and what it sends in step 3: d_2 - h_p.
    fn multiply_drawn<R: Ring, D: Dealt<R>>(
        &mut self,
        x: &[Summands<'_, R>],
        f: &D,
        out: &mut [Share<Vec<R>>],
    ) -> Vec<Vec<D::Word>> {
        let (dealer, scratches) = (self.next().0, Scratches::new());
        let lengths = lengths(x, dealer);
        let (mut shares, mut parts) = (Third::of(out, dealer), zeros(&lengths));
        for wave in waves(&lengths, f.dealt_bytes()) {
            let parts = wave.slices(parts.iter_mut().map(Vec::as_mut_slice));
            let rooms = shares.slices(&wave).zip(parts);
            let drawn = self.with_next.parts(wave.blocks_for(&f.masks()));
            wave.compute(rooms.zip(drawn), |chunk, (((mine, next), parts), mut drawn)| {
                let (x, mut scratch) = (&x[chunk.output], scratches.take(f));
                let t = &x.t(third(x.rows(), dealer), Dealer::Next)[chunk.range.clone()];
                for piece in pieces(chunk.range.len(), piece_of(f)) {
                    let Cut { words, factors, h, .. } = scratch.cut(piece.len(), f.products(), f.width());
                    let (y_p, d_2) = (&mut next[piece.clone()], &mut parts[piece.clone()]);
                    // Step 1: what masks the dealt words is this node's part of them.
                    if D::SUMMAND {
                        drawn.fill(y_p);
                    }
                    drawn.fill(words);
                    // Step 2.
                    dispatch(Second { f, t: &t[piece.clone()], summand: &mut mine[piece], words: &mut *factors });
                    dispatch(AddProducts { d: &mut *d_2, words, factors });
                    // Step 3: h_p masks d_2 from node p + 1.
                    drawn.fill(h);
                    dispatch(AddTo { f, out: y_p, words: h });
                    subtract(d_2, h);
                }
                scratches.give(scratch);
            });
        }
        parts
    }

    /// Steps 1 and 2 of node p + 1, and what it sends in step 3: d_1 - h_(p+1).
    fn multiply_received<R: Ring, D: Dealt<R>>(
        &mut self,
        x: &[Summands<'_, R>],
        f: &D,
        out: &mut [Share<Vec<R>>],
    ) -> Result<Vec<Vec<D::Word>>> {
        let (dealer, scratches) = (self.previous(), Scratches::new());
        let lengths = lengths(x, dealer.0);
        let (mut shares, mut parts) = (Third::of(out, dealer.0), zeros(&lengths));
        for wave in waves(&lengths, f.dealt_bytes()) {
            let arrived = self.session.recv_held(dealer, wave.bytes())?;
            let parts = wave.slices(parts.iter_mut().map(Vec::as_mut_slice));
            let rooms = shares.slices(&wave).zip(parts).zip(wave.starts());
            let drawn = self.with_previous.parts(wave.blocks_for(&f.masks()[2..]));
            wave.compute(rooms.zip(drawn), |chunk, ((((mine, next), parts), start), mut drawn)| {
                let (x, mut scratch) = (&x[chunk.output], scratches.take(f));
                let t = &x.t(third(x.rows(), dealer.0), Dealer::Previous)[chunk.range.clone()];
                for piece in pieces(chunk.range.len(), piece_of(f)) {
                    let Cut { words, factors, h, bytes, .. } = scratch.cut(piece.len(), f.products(), f.width());
                    let (y_next, d_1) = (&mut mine[piece.clone()], &mut parts[piece.clone()]);
                    // Step 1: u_i - q_i arrive.
                    let mut at = start + f.dealt_bytes() * piece.start;
                    if D::SUMMAND {
                        read(&arrived, at, y_next);
                        at += size_of_val(y_next);
                    }
                    read_words(&arrived, at, words, f.width(), bytes);
                    // Step 2.
                    dispatch(Second { f, t: &t[piece.clone()], summand: &mut next[piece], words: &mut *factors });
                    dispatch(AddProducts { d: &mut *d_1, words, factors });
                    // Step 3: h_(p+1) masks d_1 from node p + 2.
                    drawn.fill(h);
                    dispatch(AddTo { f, out: y_next, words: h });
                    subtract(d_1, h);
                }
                scratches.give(scratch);
            });
            self.session.give_back(arrived);
        }
        Ok(parts)
    }

    /// Step 3 of nodes p + 1 and p + 2: sends the other one its part.
    fn send_words<W: Ring>(&mut self, peer: PartyId, parts: &[Vec<W>], width: usize) -> Result<()> {
        let lengths: Vec<usize> = parts.iter().map(Vec::len).collect();
        for wave in waves(&lengths, width) {
            let mut messages = wave.buffers(&mut self.session);
            let mut in_messages = wave.in_messages(&mut messages);
            wave.compute(wave.message_rooms(&mut in_messages).into_iter(), |chunk, mut message| {
                let part = &parts[chunk.output][chunk.range.clone()];
                let mut bytes = vec![0; narrow_bytes::<W>(width) * PIECE];
                for piece in pieces(part.len(), PIECE) {
                    message.extend_from_slice(written(&part[piece], width, &mut bytes));
                }
            });
            lanes::finish(in_messages);
            send_all_masked(&mut self.session, peer, messages)?;
        }
        Ok(())
    }

    /// Step 3 of nodes p + 1 and p + 2: component p + 2 takes both nodes' parts.
    fn add_words<R: Ring, D: Dealt<R>>(
        &mut self,
        peer: PartyId,
        parts: &[Vec<D::Word>],
        f: &D,
        mut out: Vec<&mut [R]>,
    ) -> Result<()> {
        let (lengths, width): (Vec<usize>, _) = (parts.iter().map(Vec::len).collect(), f.width());
        for wave in waves(&lengths, width) {
            let arrived = self.session.recv_held(peer, wave.bytes())?;
            let rooms = wave.slices(out.iter_mut().map(|x| &mut **x)).into_iter().zip(wave.starts());
            wave.compute(rooms, |chunk, (out, start)| {
                let own = &parts[chunk.output][chunk.range.clone()];
                let (mut words, mut bytes) = ([D::Word::ZERO; PIECE], vec![0; narrow_bytes::<D::Word>(width) * PIECE]);
                for piece in pieces(own.len(), PIECE) {
                    let words = &mut words[..piece.len()];
                    read_words(&arrived, start + width * piece.start, words, width, &mut bytes);
                    add(words, &own[piece.clone()]);
                    dispatch(AddTo { f, out: &mut out[piece], words });
                }
            });
            self.session.give_back(arrived);
        }
        Ok(())
    }

    pub(super) fn split_products<R: Ring>(
        &mut self,
        x: &[&Share<Vec<R>>],
        f: &impl Split<R>,
    ) -> Result<Vec<Share<Vec<R>>>> {
        assert_products(f);
        let summands: Vec<Summands<'_, R>> = x.iter().copied().map(Summands::Shared).collect();
        self.split(&summands, &Whole(f))
    }
}

/// A function whose words are elements of the result's ring.
struct Whole<'a, F>(&'a F);

impl<R: Ring, F: Split<R>> Dealt<R> for Whole<'_, F> {
    type Word = R;

    const SUMMAND: bool = false;

    fn products(&self) -> usize {
        self.0.products()
    }

    fn width(&self) -> usize {
        size_of::<R>()
    }

    #[inline(always)]
    fn first(&self, s: &[R], _summand: &mut [R], words: &mut [R]) {
        self.0.first(s, words);
    }

    #[inline(always)]
    fn second(&self, t: &[R], summand: &mut [R], words: &mut [R]) {
        self.0.second(t, words, summand);
    }

    #[inline(always)]
    fn add_to(&self, out: &mut [R], words: &[R]) {
        out.iter_mut().zip(words).for_each(|(out, &word)| *out = out.add(word));
    }
}

/// How many rows of each vector a node deals.
fn lengths<R: Ring>(x: &[Summands<'_, R>], dealer: usize) -> Vec<usize> {
    x.iter().map(|x| third(x.rows(), dealer).len()).collect()
}

fn zeros<W: Ring>(lengths: &[usize]) -> Vec<Vec<W>> {
    lengths.iter().map(|&length| vec![W::ZERO; length]).collect()
}

/// [`Dealt::first`].
struct First<'a, R: Ring, D: Dealt<R>> {
    f: &'a D,
    s: &'a [R],
    summand: &'a mut [R],
    words: &'a mut [D::Word],
}

impl<R: Ring, D: Dealt<R>> Kernel for First<'_, R, D> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.f.first(self.s, self.summand, self.words);
    }
}

/// [`Dealt::second`].
struct Second<'a, R: Ring, D: Dealt<R>> {
    f: &'a D,
    t: &'a [R],
    summand: &'a mut [R],
    words: &'a mut [D::Word],
}

impl<R: Ring, D: Dealt<R>> Kernel for Second<'_, R, D> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.f.second(self.t, self.summand, self.words);
    }
}

/// [`Dealt::add_to`].
struct AddTo<'a, R: Ring, D: Dealt<R>> {
    f: &'a D,
    out: &'a mut [R],
    words: &'a [D::Word],
}

impl<R: Ring, D: Dealt<R>> Kernel for AddTo<'_, R, D> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.f.add_to(self.out, self.words);
    }
}

/// d += the words times the factors, product by product.
struct AddProducts<'a, W> {
    d: &'a mut [W],
    words: &'a [W],
    factors: &'a [W],
}

impl<W: Ring> Kernel for AddProducts<'_, W> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { d, words, factors } = self;
        for (words, factors) in words.chunks(d.len()).zip(factors.chunks(d.len())) {
            d.iter_mut().zip(words).zip(factors).for_each(|((d, &word), &factor)| *d = d.add(word.mul(factor)));
        }
    }
}

/// out = x + y.
struct Sum<'a, R> {
    x: &'a [R],
    y: &'a [R],
    out: &'a mut [R],
}

impl<R: Ring> Kernel for Sum<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.out.iter_mut().zip(self.x).zip(self.y).for_each(|((out, x), &y)| *out = x.add(y));
    }
}

/// x += y.
struct Add<'a, R>(&'a mut [R], &'a [R]);

impl<R: Ring> Kernel for Add<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.iter_mut().zip(self.1).for_each(|(a, &b)| *a = a.add(b));
    }
}

/// x -= y.
struct Subtract<'a, R>(&'a mut [R], &'a [R]);

impl<R: Ring> Kernel for Subtract<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.iter_mut().zip(self.1).for_each(|(a, &b)| *a = a.sub(b));
    }
}

pub(super) fn add<R: Ring>(x: &mut [R], y: &[R]) {
    dispatch(Add(x, y));
}

pub(super) fn subtract<R: Ring>(x: &mut [R], y: &[R]) {
    dispatch(Subtract(x, y));
}

/// Elements that a peer sent, from a byte on.
fn read<R: Ring>(arrived: &Received, at: usize, elements: &mut [R]) {
    arrived.read(at, bytemuck::cast_slice_mut(elements));
    // A share that came from a peer is as secret as one that was drawn.
    tacit_marks::secret(elements);
}

/// Words as they are sent: the low bytes of each. `bytes` is room for words that are sent in part.
fn written<'a, W: Ring>(words: &'a [W], width: usize, bytes: &'a mut [u8]) -> &'a [u8] {
    if width == size_of::<W>() {
        return bytemuck::cast_slice(words);
    }
    let bytes = &mut bytes[..width * words.len()];
    Numbers::of_bytes(width).write(bytemuck::cast_slice(words), bytes);
    bytes
}

/// The inverse of [`written`], of what a peer sent from a byte on. `bytes` is room for it.
fn read_words<W: Ring>(arrived: &Received, at: usize, words: &mut [W], width: usize, bytes: &mut [u8]) {
    if width == size_of::<W>() {
        return read(arrived, at, words);
    }
    let bytes = &mut bytes[..width * words.len()];
    arrived.read(at, bytes);
    // A share that came from a peer is as secret as one that was drawn.
    tacit_marks::secret(bytes);
    Numbers::of_bytes(width).read(bytes, bytemuck::cast_slice_mut(words));
}
