//! A node that follows the protocol until something is revealed.

use super::{Two, component, revealed, share_rows};
use crate::backends::attacks::{Liar, Script};
use crate::backends::wire::Outgoing;
use crate::{Block, Result, Rows};

impl Liar for Two {
    const LIARS: &'static [usize] = &[0, 1];

    fn reveal_falsely(&mut self, rows: Rows<Self>, reveal: Rows<Self>, script: Script) -> Result<(Rows<Self>, Block)> {
        let layout = revealed(reveal.shape());
        let (rows, own) = self.permute_by_both(component(rows), component(reveal))?;
        let (peer, mut message) = (self.peer(), vec![0; layout.bytes() * own.rows]);
        self.session.next_round();
        self.session.recv(peer, &mut message)?;
        let mut theirs = vec![0; layout.lanes() * own.rows];
        layout.read(&message, &mut theirs);
        let theirs = layout.unpack(&theirs);
        let shown = script.of(layout.unpack(&layout.pack(&theirs.clone().plus(&own))));
        message.clear();
        layout.write(&layout.pack(&shown.clone().minus(&theirs)), &mut message);
        let mut out = Outgoing::opening(&mut self.session, peer);
        out.push_open(&mut self.session, &message)?;
        out.finish(&mut self.session)?;
        Ok((share_rows(rows), shown))
    }
}
