//! The leader of a match of more than two parties: the party that finds the matches.

use tacit_net::{Cost, PartyId};
use tacit_psi::multi_party::Owners;

use super::{Seconds, Terms, cheapest};
use crate::error::MatchError;
use crate::many;
use crate::wrong_input::WrongInput;

/// The protocol's name.
pub const PROTOCOL: &str = "multi-party";

/// How a match of more than two parties runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Who finds the matches.
    pub leader: usize,
    /// What the match costs all parties.
    pub cost: Cost,
    /// The predicted time.
    pub seconds: Seconds,
}

/// All parties' choice among the recipients, by all parties' rows.
///
/// # Errors
/// [`MatchError::Input`] without recipients, or if one is none of the parties.
pub fn choose(rows: &[usize], recipients: &[usize], terms: &Terms) -> Result<Choice, MatchError> {
    if recipients.iter().any(|&party| party >= rows.len()) {
        return Err(WrongInput::ForeignRecipient.into());
    }
    let options = recipients.iter().map(|&leader| led_by(leader, rows, recipients, terms)).collect();
    Ok(cheapest(options, |choice: &Choice| choice.seconds).ok_or(WrongInput::NoRecipient)?)
}

fn led_by(leader: usize, rows: &[usize], recipients: &[usize], terms: &Terms) -> Choice {
    let recipients = recipients.iter().copied().map(PartyId).collect();
    let owners = Owners { sizes: rows.to_vec(), leader: PartyId(leader), recipients };
    let cost = many::cost(&owners);
    let others = rows.iter().enumerate().filter(|(party, _)| *party != leader);
    let processor = others.map(|(_, size)| terms.prices.seconds(PROTOCOL, (size + rows[leader]) as f64)).sum::<f64>();
    // All that is sent goes through the leader's connection, both directions at the same time.
    let out = cost.sent[leader];
    let seconds = terms.seconds(processor, cost.rounds, out.max(cost.sent.iter().sum::<u64>() - out));
    Choice { leader, cost, seconds }
}

#[cfg(test)]
mod tests {
    use tacit_net::Link;
    use tacit_psi::Prices;

    use super::{Terms, choose};

    #[test]
    fn who_leads_follows_from_the_sizes() {
        let terms = Terms::of(Link::UNDECLARED, Prices::default());
        let leader = |rows: &[usize], to: &[usize]| choose(rows, to, &terms).map(|choice| choice.leader);
        let (few, many) = (10, 1 << 20);
        assert!(matches!(leader(&[many, few, many], &[0, 1, 2]), Ok(1)));
        assert!(matches!(leader(&[many, few, many], &[2]), Ok(2)));
        assert!(matches!(leader(&[few, few, few], &[0, 1, 2]), Ok(0)));
        assert!(leader(&[few, few, few], &[3]).is_err() && leader(&[few, few, few], &[]).is_err());
    }
}
