//! A node that follows the protocol until something is revealed.

use super::{Held, Moving, NODES, Rep3, Shapes, components, send_masked, share_rows};
use crate::backends::attacks::{Liar, Script};
use crate::backends::numbers::{added_up, recv_revealed, send_revealed};
use crate::{Block, Result, Rows};

impl Liar for Rep3 {
    /// Of the first shuffle, the nodes that send a component of what is revealed.
    const LIARS: &'static [usize] = &[0, 2];

    fn reveal_falsely(&mut self, rows: Rows<Self>, reveal: Rows<Self>, script: Script) -> Result<(Rows<Self>, Block)> {
        let shapes = Shapes { rows: rows.shape(), reveal: reveal.shape() };
        let role = (self.me() + NODES - self.turn) % NODES;
        self.turn = (self.turn + 1) % NODES;
        if role == 0 { self.first_lies(rows, reveal, shapes, script) } else { self.third_lies(shapes, script) }
    }
}

impl Rep3 {
    fn first_lies(
        &mut self,
        rows: Rows<Self>,
        reveal: Rows<Self>,
        shapes: Shapes,
        script: Script,
    ) -> Result<(Rows<Self>, Block)> {
        let (second, third) = (self.next(), self.previous());
        self.session.next_round();
        let sum = |(mine, next): (Block, Block)| mine.plus(&next);
        let a = Moving { rows: sum(components(rows)), reveal: sum(components(reveal)) };
        self.hop_away(Held::Next, a, third)?;
        self.session.next_round();
        let b = self.receive(second, shapes)?;
        self.session.next_round();
        let Moving { rows: mut mine, reveal: mut part } = self.permute_with(Held::Mine, b);
        let prg = &mut self.with_previous;
        let mut zeroth = Block::random(shapes.rows, prg);
        mine = mine.minus(&zeroth);
        zeroth.add_random(prg);
        part.subtract_random(prg);
        send_masked(&mut self.session, second, &mine)?;
        let theirs = recv_revealed(&mut self.session, third, shapes.reveal)?;
        let shown = script.of(added_up(theirs.clone().plus(&part)));
        let part = shown.clone().minus(&theirs);
        send_revealed(&mut self.session, second, &part)?;
        send_revealed(&mut self.session, third, &part)?;
        Ok((share_rows(zeroth, mine), shown))
    }

    fn third_lies(&mut self, shapes: Shapes, script: Script) -> Result<(Rows<Self>, Block)> {
        let (first, second) = (self.next(), self.previous());
        self.session.next_round();
        let a = self.receive(first, shapes)?;
        self.session.next_round();
        let a = self.hop_and_stay(Held::Mine, a);
        self.session.next_round();
        let Moving { rows: mut mine, reveal: mut part } = self.permute_with(Held::Next, a);
        let prg = &mut self.with_next;
        let zeroth = Block::random(shapes.rows, prg);
        let own = Block::random(shapes.rows, prg);
        mine = mine.minus(&own);
        let zeroth = zeroth.plus(&own);
        part.add_random(prg);
        send_masked(&mut self.session, second, &mine)?;
        let theirs = recv_revealed(&mut self.session, first, shapes.reveal)?;
        let shown = script.of(added_up(theirs.clone().plus(&part)));
        let part = shown.clone().minus(&theirs);
        send_revealed(&mut self.session, second, &part)?;
        send_revealed(&mut self.session, first, &part)?;
        Ok((share_rows(mine, zeroth), shown))
    }
}
