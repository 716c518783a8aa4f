//! Tables of prices as Python has them: JSON, or None for the default.

use pyo3::prelude::*;
use tacit_run::Prices;

use crate::fault::Result;

/// A table of prices.
pub fn read(text: Option<&str>) -> Result<Prices> {
    Ok(text.map_or_else(|| Ok(Prices::default()), Prices::from_json)?)
}

/// The default table, as JSON.
#[pyfunction]
pub fn default_prices() -> String {
    Prices::default().to_json()
}

/// When, and on which machine, a table of prices was measured. Refuses a malformed one.
#[pyfunction]
#[pyo3(signature = (prices=None))]
pub fn measured(prices: Option<&str>) -> Result<(String, String)> {
    let prices = read(prices)?;
    let (date, machine) = prices.measured();
    Ok((date.to_owned(), machine.to_owned()))
}
