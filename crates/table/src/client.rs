//! A client's part of a plan: it deals its own inputs to the nodes and gets what they open to it. It holds no shares,
//! and knows of other steps which columns their tables have, and of no table how many rows.

use std::collections::HashMap;

use tacit_math::KeyedHash;
use tacit_mpc::backends::{Costs, Tally};
use tacit_mpc::{Block, Link, Permit, Permits, Shape};

use crate::cost::{Forecast, table};
use crate::data::DataTable;
use crate::error::{Result, TableError};
use crate::executor::Matched;
use crate::operator::{CircuitPsi, Operator, Release};
use crate::operators::input::{self, Prepared};
use crate::operators::release::{Allowed, Layout, Masked, allowed, masked, unless_set};
use crate::parties::Parties;

/// One client's execution of a plan. It calls its methods with the operators that the nodes execute, in their order.
pub struct Client<E: Costs> {
    forecast: Forecast<E>,
    permits: Permits,
    parties: Parties,
    hash: KeyedHash,
}

/// An input that is ready to be dealt.
pub struct Given {
    /// The number of rows and the permit to announce it, where the plan does.
    pub announced: Option<(u64, Permit)>,
    /// The encoded columns.
    pub columns: Block,
}

/// An answer that the nodes may open to this client.
pub struct Expected {
    allowed: Allowed,
    layout: Layout,
    shape: Shape,
    release: Release,
}

impl<E: Costs> Client<E> {
    /// Before the first operator. The hash key is common to all who give strings.
    pub fn new(parties: Parties, permits: Permits, hash_key: [u8; 32]) -> Self {
        let forecast = Forecast::new(&parties, Link::UNDECLARED, E::Prices::default(), false).without_sizes();
        Self { forecast, permits, parties, hash: KeyedHash::new(&hash_key) }
    }

    /// Learns which columns an operator's table has. circuit: as for [`crate::cost()`].
    ///
    /// # Errors
    /// [`TableError::Input`] when the operators do not fit each other.
    pub fn note(
        &mut self,
        operator: &Operator,
        circuit: impl Fn(&mut Tally<E>, &CircuitPsi, [usize; 2]) -> Result<Matched<Tally<E>>>,
    ) -> Result<()> {
        // Which columns there are depends on no number of rows.
        let sizes = operator.announced().into_iter().map(|id| (id, 1));
        self.forecast.step(operator, &sizes.collect::<HashMap<_, _>>(), circuit).map(|_| ())
    }

    /// The columns of the table that an operator has made.
    pub fn columns(&self, operator: &Operator) -> Vec<String> {
        let table = self.forecast.tables.get(&operator.id());
        table.map_or_else(Vec::new, |table| table.names().map(str::to_owned).collect())
    }

    /// Forgets the tables of the steps that are not needed.
    pub fn drop_tables(&mut self, needed: &dyn Fn(usize) -> bool) {
        self.forecast.tables.retain(|&step, _| needed(step));
    }

    /// Checks and encodes this client's data for an input, before anything is sent.
    ///
    /// # Errors
    /// [`TableError::Input`] when the data is not as the operator declares, [`TableError::Policy`] when a size would be
    /// announced without a permit.
    pub fn input(&mut self, operator: &Operator, data: &DataTable) -> Result<Given> {
        let Operator::Input(input) = operator else { return Err(misplaced(operator)) };
        let mut given = || {
            let Prepared { rows, block } = input::prepare(input, data, &self.hash)?;
            input::at_most(rows, &input.owner)?;
            let announced = match input.rows {
                Some(_) => None,
                None => {
                    let permit = input::size_permit(&mut self.permits, &self.parties, input)?;
                    permit.check_rows(rows as u64)?;
                    Some((rows as u64, permit))
                }
            };
            Ok(Given { announced, columns: block.unwrap_or_default() })
        };
        given().map_err(|error: TableError| error.within(&operator.name()))
    }

    /// What the nodes open to this client by a release of which it is a recipient.
    ///
    /// # Errors
    /// [`TableError::Policy`] when the approved disclosures do not hold exactly this one; [`TableError::Input`].
    pub fn expect(&mut self, operator: &Operator) -> Result<Expected> {
        let Operator::Release(release) = operator else { return Err(misplaced(operator)) };
        let Self { forecast, permits, parties, .. } = self;
        let mut expected = || {
            let table = table(&forecast.tables, operator, release.input)?;
            let allowed = allowed(permits, parties, table, release)?;
            let Masked { rows, layout } = masked(forecast.executor.backend_mut(), table.clone(), release)?;
            Ok(Expected { allowed, layout, shape: Shape { rows: 0, ..rows.shape() }, release: release.clone() })
        };
        expected().map_err(|error: TableError| error.within(&operator.name()))
    }
}

impl Expected {
    /// The columns, with no rows.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The permit to open them.
    pub fn permit(&self) -> &Permit {
        &self.allowed.opening
    }

    /// The valid rows of what was opened.
    ///
    /// # Errors
    /// [`TableError::Policy`] when they are more than approved, [`TableError::Withheld`] for a guard that is set.
    pub fn table(self, opened: Block) -> Result<DataTable> {
        if let Some(told) = &self.allowed.told {
            told.check_rows(opened.rows as u64)?;
        }
        unless_set(&self.release, self.layout.decode(opened))
    }
}

fn misplaced(operator: &Operator) -> TableError {
    TableError::Internal(format!("{} was given to a client as another operator", operator.name()))
}
