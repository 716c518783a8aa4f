//! A party that is no node: a client of the nodes. It deals its inputs to them as shares, and adds up what they open to
//! it.
//!
//! It has the whole plan and has compared it with every node. It executes the same steps in the same order, and has
//! nothing to do in most of them. Its session is the one between nodes and clients, all of whom begin its rounds
//! together: those in which a client announces, deals or gets something.

use std::marker::PhantomData;

use tacit_mpc::Permits;
use tacit_mpc::backends::clients;
use tacit_net::Session;
use tacit_table::kept::KeptShares;
use tacit_table::{Client, DataTable, Operator, Parties};

use crate::agreement::Agreement;
use crate::circuit_join::shared_matches;
use crate::error::{Result, RunError};
use crate::kept::Target;
use crate::node::{Facts, Node};
use crate::psi_join::BothSides;
use crate::suite::Suite;

/// A client of an engine's nodes.
pub struct ClientOf<B: Suite> {
    session: Session,
    parties: Parties,
    client: Client<B::Formulas>,
    engine: PhantomData<fn() -> B>,
}

impl<B: Suite> ClientOf<B>
where
    Self: Send,
{
    /// Sets it up on its session with the nodes.
    pub fn start(session: Session, agreement: &Agreement, permits: Permits) -> Box<dyn Node> {
        let parties = agreement.parties();
        let client = Client::new(parties.clone(), permits, agreement.hash_key(&session.drawn()));
        Box::new(Self { session, parties, client, engine: PhantomData })
    }

    fn is(&self, party: &str) -> bool {
        self.session.name(self.session.me()) == party
    }

    /// What is known of the table that an operator makes.
    fn note(&mut self, operator: &Operator) -> Result<Facts> {
        self.client.note(operator, shared_matches(&self.parties.nodes))?;
        Ok(Facts { rows: None, columns: self.client.columns(operator) })
    }

    /// Runs the body as the step of an operator.
    fn in_step<T>(&mut self, operator: &Operator, body: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.session.enter(&operator.name());
        let out = body(self);
        self.session.leave();
        out
    }

    /// Lets as many rounds pass in which others do something.
    fn stand_by(&mut self, rounds: usize) {
        (0..rounds).for_each(|_| self.session.next_round());
    }

    fn deal(&mut self, operator: &Operator, data: &DataTable) -> Result<()> {
        let given = self.client.input(operator, data)?;
        let me = self.session.me();
        if let Some((rows, permit)) = given.announced {
            clients::announce(&mut self.session, B::NODES, me, Some(rows), &permit)?;
        }
        Ok(clients::deal::<B>(&mut self.session, given.columns)?)
    }
}

impl<B: Suite> Node for ClientOf<B>
where
    Self: Send,
{
    fn input(&mut self, operator: &Operator, data: Option<DataTable>) -> Result<Facts> {
        let Operator::Input(input) = operator else { return self.note(operator) };
        self.in_step(operator, |client| {
            if client.is(&input.owner) {
                client.deal(operator, &data.ok_or(RunError::NoData)?)?;
            } else if client.parties.clients.contains(&input.owner) {
                client.stand_by(1 + usize::from(input.rows.is_none()));
            }
            client.note(operator)
        })
    }

    fn psi(&mut self, operator: &Operator, data: BothSides) -> Result<Facts> {
        if data.iter().any(Option::is_some) {
            return Err(RunError::OtherSide);
        }
        self.note(operator)
    }

    fn run(&mut self, operator: &Operator) -> Result<Facts> {
        self.note(operator)
    }

    fn kept(&mut self, _operator: &Operator, _shares: KeptShares) -> Result<Facts> {
        Err(RunError::KeptAtClient)
    }

    fn keep(&mut self, _operator: &Operator, _target: &Target) -> Result<String> {
        Err(RunError::KeptAtClient)
    }

    fn release(&mut self, operator: &Operator) -> Result<Option<DataTable>> {
        let Operator::Release(release) = operator else { return Err(RunError::NoRelease(operator.name())) };
        self.in_step(operator, |client| {
            if release.to.iter().any(|party| client.is(party)) {
                let expected = client.client.expect(operator)?;
                let opened = clients::collect(
                    &mut client.session,
                    clients::holders::<B::Formulas>(B::NODES),
                    expected.shape(),
                    expected.permit(),
                )?;
                return Ok(Some(expected.table(opened)?));
            }
            client.stand_by(usize::from(!client.parties.clients_among(&release.to).is_empty()));
            Ok(None)
        })
    }

    fn drop_tables(&mut self, needed: &dyn Fn(usize) -> bool) {
        self.client.drop_tables(needed);
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(self.session.close()?)
    }

    fn abort(self: Box<Self>, reason: &str) {
        self.session.abort(reason);
    }
}
