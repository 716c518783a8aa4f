//! Between ring vectors and planes: the parts that need the engine's sharing; the adders are in `circuits`.
//!
//! Functionality and disclosures: none of the three operations discloses anything. Source: ABY3, sections 5.2 and 5.3.
//!
//! `two_summands`: x = s + x_2, where node 0 knows s = x_0 + x_1:
//!
//! 1. node 0 deals the planes of s: component 0 from the generator of nodes 0 and 2, component 1 sent to node 1;
//! 2. nodes 1 and 2 know x_2, whose planes are component 2 of the other summand without a message.
//!
//! 1 round; node 0 sends width bits a row.
//!
//! `ring_mask`:
//!
//! 1. y = y_0 + y_1, with y_0 from the generator of nodes 2 and 0, y_1 of nodes 0 and 1;
//! 2. node 0 deals the planes of -y.
//!
//! 1 round; node 0 sends as many bits a row as the ring has.
//!
//! `ring_unmask`: the planes of x - y are opened to nodes 1 and 2, of which each lacks a component that the other
//! holds. The planes become component 2 of x, beside y_0 and y_1. Node 1 knows y_1, node 2 knows y_0: to each the
//! opened value is masked by the other. 1 round; nodes 1 and 2 send the ring's bits a row.

use std::ops::Range;

use tacit_math::plane::words_for;
use tacit_math::{Plane, Ring, lanes, ring};
use tacit_net::PartyId;

use super::{Rep3, Share};
use crate::backends::waves::{WORTH_IT, pieces_of, send_all_masked, waves};
use crate::backends::wire::{Arriving, send_open_planes};
use crate::bits::{planes_of, vector_of};
use crate::{Linear, Result};

impl Rep3 {
    pub(super) fn two_summands<R: Ring>(
        &mut self,
        x: &[&Share<Vec<R>>],
        width: usize,
    ) -> Result<Vec<[Vec<Share<Plane>>; 2]>> {
        let s = x.iter().map(|x| (self.me() == 0).then(|| planes_of(&ring::add(&x.mine, &x.next), width)));
        let s: Vec<_> = s.collect();
        let rows: Vec<usize> = x.iter().map(|x| x.rows()).collect();
        // Step 1, then step 2.
        let dealt = self.deal_planes(&rows, width, &s)?;
        Ok(dealt.into_iter().zip(x).map(|(s, x)| [s, self.third_component(x, width)]).collect())
    }

    /// x_2 as Boolean shares, of which it is component 2.
    fn third_component<R: Ring>(&self, x: &Share<Vec<R>>, width: usize) -> Vec<Share<Plane>> {
        let zeros = || Plane::zeros(x.rows());
        match self.me() {
            0 => (0..width).map(|_| Share { mine: zeros(), next: zeros() }).collect(),
            1 => planes_of(&x.next, width).into_iter().map(|next| Share { mine: zeros(), next }).collect(),
            _ => planes_of(&x.mine, width).into_iter().map(|mine| Share { mine, next: zeros() }).collect(),
        }
    }

    /// Node 0 shares planes that only it knows: component 2 is zero.
    fn deal_planes(
        &mut self,
        rows: &[usize],
        width: usize,
        known: &[Option<Vec<Plane>>],
    ) -> Result<Vec<Vec<Share<Plane>>>> {
        self.session.next_round();
        let of_planes: Vec<usize> = rows.iter().flat_map(|&rows| vec![rows; width]).collect();
        let zeros = |rows: &[usize]| rows.iter().map(|&rows| Plane::zeros(rows)).collect();
        let [mine, next] = match self.me() {
            0 => {
                let known: Vec<&Plane> = known.iter().flatten().flatten().collect();
                assert_eq!(known.len(), of_planes.len(), "node 0 knows the values");
                self.deal_known(&known)?
            }
            1 => {
                let words = of_planes.iter().map(|&rows| words_for(rows)).collect();
                let received = Arriving::new(self.previous(), words).finish(&mut self.session)?;
                [planes(&of_planes, received), zeros(&of_planes)]
            }
            _ => [zeros(&of_planes), Plane::random_all(&of_planes, &mut self.with_next)],
        };
        let mut shares = mine.into_iter().zip(next).map(|(mine, next)| Share { mine, next });
        Ok(rows.iter().map(|_| shares.by_ref().take(width).collect()).collect())
    }

    /// Node 0's components: component 0, which masks component 1 from node 1.
    fn deal_known(&mut self, known: &[&Plane]) -> Result<[Vec<Plane>; 2]> {
        let rows: Vec<usize> = known.iter().map(|plane| plane.rows()).collect();
        let lengths: Vec<usize> = known.iter().map(|plane| plane.words().len()).collect();
        let empty = || lengths.iter().map(|&length| Vec::with_capacity(length)).collect();
        let [mut mine, mut next]: [Vec<Vec<u64>>; 2] = [empty(), empty()];
        for wave in waves(&lengths, size_of::<u64>()) {
            let mut messages = wave.buffers(&mut self.session);
            let (mut of_mine, mut of_next) = (wave.in_outputs(&mut mine), wave.in_outputs(&mut next));
            let mut in_messages = wave.in_messages(&mut messages);
            let rooms = wave.rooms(&mut of_mine).into_iter().zip(wave.rooms(&mut of_next));
            let rooms = rooms.zip(wave.message_rooms(&mut in_messages));
            let drawn = self.with_previous.parts(wave.blocks(1));
            wave.compute(rooms.zip(drawn), |chunk, (((mut mine, mut next), mut message), mut drawn)| {
                let (mut buffer, known) = ([0; WORDS], known[chunk.output]);
                for piece in pieces_of(chunk, WORDS) {
                    let words = &mut buffer[..piece.len()];
                    drawn.fill(words);
                    clear_behind(known.rows(), &piece, words);
                    mine.extend_from_slice(words);
                    words.iter_mut().zip(&known.words()[piece]).for_each(|(word, known)| *word ^= known);
                    next.extend_from_slice(words);
                    message.extend_from_slice(bytemuck::cast_slice(words));
                }
            });
            lanes::finish(of_mine);
            lanes::finish(of_next);
            lanes::finish(in_messages);
            send_all_masked(&mut self.session, PartyId(1), messages)?;
        }
        Ok([planes(&rows, mine), planes(&rows, next)])
    }

    pub(super) fn ring_mask<R: Ring>(&mut self, rows: usize) -> Result<(Share<Vec<R>>, Vec<Share<Plane>>)> {
        let zeros = || vec![R::ZERO; rows];
        // Step 1: y_0, y_1 and zero.
        let y = match self.me() {
            0 => Share { mine: self.with_previous.vector(rows), next: self.with_next.vector(rows) },
            1 => Share { mine: self.with_previous.vector(rows), next: zeros() },
            _ => Share { mine: zeros(), next: self.with_next.vector(rows) },
        };
        let width = R::BITS as usize;
        // Step 2: the planes of -y, of which nodes 1 and 2 know one summand each.
        let minus_y = (self.me() == 0).then(|| {
            let y = ring::add(&y.mine, &y.next);
            planes_of(&ring::sub(&zeros(), &y), width)
        });
        let minus_y = self.deal_planes(&[rows], width, &[minus_y])?.swap_remove(0);
        Ok((y, minus_y))
    }

    pub(super) fn ring_unmask<R: Ring>(
        &mut self,
        y: Share<Vec<R>>,
        difference: &[&Share<Plane>],
    ) -> Result<Share<Vec<R>>> {
        self.session.next_round();
        let rows = y.rows();
        match self.me() {
            // y_0 and y_1 are components 0 and 1 of x.
            0 => Ok(y),
            // Nodes 1 and 2 open x - y, which is component 2.
            1 => {
                let next = self.next();
                let opened = self.open_between(next, difference, |share| (&share.mine, &share.next))?;
                Ok(Share { mine: y.mine, next: vector_of(&opened.iter().collect::<Vec<_>>(), rows) })
            }
            _ => {
                let previous = self.previous();
                let opened = self.open_between(previous, difference, |share| (&share.next, &share.mine))?;
                Ok(Share { mine: vector_of(&opened.iter().collect::<Vec<_>>(), rows), next: y.next })
            }
        }
    }

    /// Nodes 1 and 2 send each other the component that only one of them holds; `parts` gives (that one, the common
    /// one).
    fn open_between(
        &mut self,
        peer: PartyId,
        planes: &[&Share<Plane>],
        parts: impl Fn(&Share<Plane>) -> (&Plane, &Plane),
    ) -> Result<Vec<Plane>> {
        let own: Vec<&Plane> = planes.iter().map(|share| parts(share).0).collect();
        send_open_planes(&mut self.session, peer, &own)?;
        let rows: Vec<usize> = planes.iter().map(|share| share.rows()).collect();
        let words = rows.iter().map(|&rows| words_for(rows)).collect();
        let mut opened = self::planes(&rows, Arriving::new(peer, words).finish(&mut self.session)?);
        let work = opened.iter_mut().zip(planes.iter().map(|share| parts(share))).collect();
        let worth_it = rows.iter().sum::<usize>() / 8 >= WORTH_IT;
        lanes::each_worth(worth_it, work, |(plane, (own, common))| {
            plane.xor_assign(own);
            plane.xor_assign(common);
        });
        Ok(opened)
    }
}

/// Words that are computed at a time, within the first-level cache, and whole blocks of a generator.
const WORDS: usize = 1024;

/// Planes of these rows over their words.
fn planes(rows: &[usize], words: Vec<Vec<u64>>) -> Vec<Plane> {
    rows.iter().zip(words).map(|(&rows, words)| Plane::from_words(rows, words)).collect()
}

/// Clears the bits behind the last row in a piece of a plane's words.
fn clear_behind(rows: usize, piece: &Range<usize>, words: &mut [u64]) {
    if let (Some(last), true) = (words.last_mut(), piece.end == words_for(rows)) {
        *last &= !0 >> ((64 - rows % 64) % 64);
    }
}

#[cfg(test)]
mod tests {
    use tacit_math::plane::words_for;
    use tacit_math::{Plane, Prg, Seed};
    use tacit_net::{Options, PartyId, memory};

    use super::{Rep3, Share};
    use crate::backends::wire::{Outgoing, recv_cells};
    use crate::circuits::{self, Planes};
    use crate::{Backend, Block, Rows, Shape, linear};

    /// What the nodes compute before they convert the result to a ring, and the numbers that they convert.
    type Program = fn(&mut Rep3, Rows<Rep3>) -> Planes<Rep3>;

    /// Bits of the numbers that node 0 shares.
    const WIDTH: usize = 20;

    fn numbers(rows: usize) -> Vec<u64> {
        let words: Vec<u64> = Prg::new(&Seed::from_bytes([5; 16])).vector(rows);
        words.iter().map(|word| word >> (64 - WIDTH)).collect()
    }

    fn input(b: &mut Rep3, numbers: &[u64]) -> Rows<Rep3> {
        let shape = Shape { rows: numbers.len(), bits: WIDTH, ..Shape::default() };
        let planes = |j: usize| Plane::from_fn(numbers.len(), |i| numbers[i] >> j & 1 == 1);
        let block = || Block { rows: shape.rows, bits: (0..WIDTH).map(planes).collect(), ..Block::default() };
        let data = (b.me() == 0).then(block);
        b.input_block(PartyId(0), shape, data).expect("input")
    }

    /// As [`Rep3::ring_unmask`] at a node that keeps what it received: the numbers that it can add up, in all places of
    /// the last word too.
    fn opened_words(b: &mut Rep3, difference: &[Share<Plane>]) -> Vec<u64> {
        let me = b.me();
        let (peer, rows) = (PartyId(3 - me), difference[0].mine.rows());
        let component = |share: &Share<Plane>| if me == 1 { share.mine.clone() } else { share.next.clone() };
        b.session.next_round();
        let mut out = Outgoing::opening(&mut b.session, peer);
        difference.iter().for_each(|share| out.push_open(&mut b.session, component(share).words()).expect("a peer"));
        out.finish(&mut b.session).expect("a peer");
        let mut opened = vec![0; 64 * words_for(rows)];
        for (j, share) in difference.iter().enumerate() {
            let theirs: Vec<u64> = recv_cells(&mut b.session, peer, words_for(rows)).expect("a peer");
            for (i, number) in opened.iter_mut().enumerate() {
                let word = theirs[i / 64] ^ share.mine.words()[i / 64] ^ share.next.words()[i / 64];
                *number |= (word >> (i % 64) & 1) << j;
            }
        }
        opened
    }

    /// What node `spy` adds up when the result of a program on these numbers is converted.
    fn view(spy: usize, numbers: &[u64], program: Program) -> Vec<u64> {
        let nodes: Vec<_> = memory::mesh(&["a", "b", "c"], &Options::default())
            .into_iter()
            .map(|session| {
                let numbers = numbers.to_vec();
                std::thread::spawn(move || {
                    let mut b = Rep3::new(session).expect("a session");
                    let rows = input(&mut b, &numbers);
                    let x = program(&mut b, rows);
                    let wide = circuits::resize(&b, &x, 64, false);
                    let (mask, negated) = b.mask::<u64>(x[0].mine.rows()).expect("peers");
                    let difference = circuits::add(&mut b, &wide, &negated).expect("peers");
                    let seen = if b.me() == spy {
                        opened_words(&mut b, &difference)
                    } else {
                        let _converted = b.unmask(mask, &difference.iter().collect::<Vec<_>>()).expect("peers");
                        vec![]
                    };
                    b.session.close().expect("an orderly end");
                    seen
                })
            })
            .collect();
        nodes.into_iter().map(|node| node.join().expect("no panic")).nth(spy).expect("a node")
    }

    fn sliced(_: &mut Rep3, x: Rows<Rep3>) -> Planes<Rep3> {
        x.slice(0, 3).bits
    }

    fn summed(_: &mut Rep3, x: Rows<Rep3>) -> Planes<Rep3> {
        x.prefix_sums().bits
    }

    fn kept(_: &mut Rep3, x: Rows<Rep3>) -> Planes<Rep3> {
        x.bits
    }

    /// The largest of three rows.
    fn largest(b: &mut Rep3, x: Rows<Rep3>) -> Planes<Rep3> {
        let mut left = x;
        while left.rows > 1 {
            let (low, high, rest) = (left.slice(0, 1), left.slice(1, 1), left.slice(2, left.rows - 2));
            let less = circuits::less_than(b, &low.bits, &high.bits, false).expect("peers");
            let larger = circuits::mux(b, &less, &high.bits, &low.bits).expect("peers");
            let bits = larger.iter().zip(&rest.bits).map(|(x, y)| linear::concat_bits(&[x, y])).collect();
            left = Rows { bits, ..Rows::empty(1 + rest.rows) };
        }
        left.bits
    }

    /// Nodes 1 and 2 look behind the last row of what they open. They look for the other rows of a slice, for the sum
    /// of all rows, for the rows that were not the largest.
    #[test]
    fn nodes_read_nothing_behind_the_last_row() {
        let cases: [(&str, usize, usize, Program); 4] = [
            ("slice", 64, 3, sliced),
            ("prefix sums", 10, 10, summed),
            ("largest", 3, 1, largest),
            ("input", 130, 130, kept),
        ];
        let mut found = vec![];
        for spy in [1, 2] {
            for (name, rows, last, program) in cases {
                let numbers = numbers(rows);
                let seen = view(spy, &numbers, program);
                let other: Vec<u64> = seen[last..].iter().copied().filter(|&number| number != 0).collect();
                let of_rows = other.iter().filter(|number| numbers.contains(number)).count();
                found.extend((!other.is_empty()).then(|| {
                    format!(
                        "{name}: node {spy} reads {} numbers behind the last row, {of_rows} of them rows",
                        other.len()
                    )
                }));
            }
        }
        assert!(found.is_empty(), "{found:#?}");
    }

    /// Of more than 512 rows, the places behind the last one must not hold bits of the mask: node 1 subtracts them from
    /// what it opened.
    #[test]
    fn nodes_do_not_learn_the_mask_of_earlier_rows() {
        let numbers = numbers(513);
        for spy in [1, 2] {
            let seen = view(spy, &numbers, kept);
            // Place 512 + i holds bit i of the negated masks of rows 0..64.
            let negated = |row: usize| (1..64).fold(0, |word, i| word | (seen[512 + i] >> row & 1) << i);
            let found = (0..64).filter(|&row| {
                let candidates = [0, 1].map(|low| seen[row].wrapping_sub(negated(row) | low));
                candidates.contains(&numbers[row])
            });
            let found = found.count();
            assert!(found == 0, "node {spy} narrows {found} of 64 numbers to two");
        }
    }
}
