//! Rows that went through a kept table's file.

use tacit_mpc::backends::{Components, Networked};
use tacit_mpc::{Block, Result, Rows};
use tacit_net::Session;
use tacit_table::kept::{Header, KeptFile, SealingKey, write};
use tacit_table::{Executor, Operator, Table};

use crate::plain::Shape;
use crate::watched::{Watched, unwrapped};
use crate::world::PARTIES;

impl<B: Networked> Networked for Watched<B> {
    const NAME: &'static str = B::NAME;
    const NODES: usize = B::NODES;
    type Formulas = B::Formulas;

    fn start(session: Session) -> Result<Self> {
        Ok(Self::new(B::start(session)?))
    }

    fn session(&self) -> &Session {
        self.inner().session()
    }

    fn session_mut(&mut self) -> &mut Session {
        self.inner_mut().session_mut()
    }

    fn into_session(self) -> Session {
        self.into_inner().into_session()
    }
}

impl<B: Components> Components for Watched<B> {
    const COUNT: usize = B::COUNT;

    fn add_zero(&mut self, component: &mut Block) {
        self.inner_mut().add_zero(component);
    }

    fn take_apart(rows: Rows<Self>) -> Vec<Block> {
        B::take_apart(unwrapped(rows))
    }

    fn put_together(components: Vec<Block>) -> Rows<Self> {
        unwrapped(B::put_together(components))
    }
}

/// The same table, written by the node and read again.
pub fn through_a_file<B: Components>(
    executor: &mut Executor<Watched<B>>,
    table: &Table<Watched<B>>,
    shape: &Shape,
    kept: &Operator,
) -> Table<Watched<B>> {
    let (Operator::Keep(keep), Operator::Kept(columns)) = (shape.keep(), kept) else { unreachable!("what they are") };
    let nodes = PARTIES[..B::NODES].iter().copied().map(String::from).collect::<Vec<_>>();
    let folder = tempfile::tempdir().expect("a folder");
    let (path, key) = (folder.path().join("t"), SealingKey::new([7; 32]));
    let header = Header::new(table, &keep, &[1; 16], &nodes, executor.backend().node()).expect("its columns");
    write(table, &header, &path, &key).expect("a disk");
    let mut file = KeptFile::open(&path, &key, |_| Some(B::COUNT)).expect("an intact file");
    let shares = file.read(columns).expect("an intact file");
    executor.kept(kept, |_, kept| shares.into_rows(kept)).expect("the table")
}
