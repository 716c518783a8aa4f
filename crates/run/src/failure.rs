//! The largest probability with which a program may give a wrong result.

use tacit_mpc::backends::four::failure::MOST;
use tacit_table::Operator;
use tacit_table::operator::ArrayProgram;

use crate::error::{Result, RunError};
use crate::suite::Suite;

/// Refuses a program whose results an engine may get wrong with a probability that is not negligible.
///
/// # Errors
/// [`RunError::MayFail`].
pub fn check<B: Suite>(operator: &Operator, program: &ArrayProgram) -> Result<()> {
    let failure = tacit_table::failure::<B::Formulas>(program)?;
    if failure <= MOST {
        return Ok(());
    }
    let [exponent, most] = [failure, MOST].map(|probability| probability.log2().ceil() as i32);
    Err(RunError::MayFail { step: operator.name(), engine: B::NAME, exponent, most })
}
