//! What two parties learn in place of the rows that match, from whole tables.

use tacit_net::{Cost, PartyId, Traffic};
use tacit_psi::cardinality_sum::{self, Sums};
use tacit_psi::relatives::Relative;
use tacit_psi::{Role, Sizes, set_union};

use super::{Seconds, Terms, cheapest};
use crate::error::MatchError;
use crate::ids::{METHODS, cost_by_keys};
use crate::shares::Announced;
use crate::wrong_input::WrongInput;

/// What is revealed. Parties are numbered from 0.
#[derive(Clone, Copy, Debug)]
pub enum Revealed<'a> {
    /// Universal ids of rows of one key, by a named method or the faster one.
    Ids(Option<&'a str>),
    /// Universal ids of rows of several keys.
    IdsByKeys,
    /// Shares of columns, of which each party has this many.
    Shares([usize; 2]),
    /// How many keys match, at the receiver, and perhaps the sum of a column of the other party.
    Numbers {
        /// Who computes it.
        receiver: usize,
        /// Whether there is a sum.
        summed: bool,
    },
}

/// How it is computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The protocol's name.
    pub protocol: String,
    /// Who plays its sender.
    pub sender: usize,
    /// What it costs the parties, at most; rounds are exact.
    pub cost: Cost,
    /// The predicted time.
    pub seconds: Seconds,
}

/// Both parties' choice, for tables of these rows. keys: of each row.
///
/// # Errors
/// [`MatchError::Input`] for a method that there is not.
pub fn choose(revealed: Revealed<'_>, rows: [usize; 2], keys: usize, terms: &Terms) -> Result<Choice, MatchError> {
    let sizes = |sender: usize| Sizes { sender: rows[sender], receiver: rows[1 - sender] };
    let options: Vec<(String, usize, Traffic)> = match revealed {
        Revealed::Ids(named) => {
            let methods = METHODS.iter().filter(|(name, _)| named.is_none_or(|named| named == *name));
            let roles = methods.flat_map(|method| [(method, 0), (method, 1)]);
            // A method that is asked for says itself what it cannot do.
            let fit = roles.filter(|((name, _), sender)| {
                named.is_some() || *name != "oprf" || set_union::check_size(rows[*sender]).is_ok()
            });
            fit.map(|((name, method), sender)| (format!("private-id-{name}"), sender, method.cost(sizes(sender))))
                .collect()
        }
        Revealed::IdsByKeys => {
            let by = |sender| ("multi-key-private-id".to_owned(), sender, cost_by_keys(keys, sizes(sender)));
            [0, 1].map(by).into()
        }
        Revealed::Shares([first, second]) => {
            let columns = Sizes { sender: first, receiver: second };
            vec![("ps3i".to_owned(), 0, Announced { rows: sizes(0), columns, keys }.cost())]
        }
        Revealed::Numbers { receiver, summed } => {
            let Sizes { sender, receiver: other } = sizes(1 - receiver);
            let sums = summed.then_some(Sums { columns: 1, to: Role::Receiver, least: 1 });
            let rows = Sizes { sender: sender.max(1), receiver: other.max(1) };
            vec![("dh-cardinality".to_owned(), 1 - receiver, cardinality_sum::cost(rows, sums))]
        }
    };
    let choices = options.into_iter().map(|(protocol, sender, traffic)| {
        let price = terms.prices.of(&protocol);
        let each = price.item + price.further * (keys - 1) as f64;
        let processor = price.begin + each * rows.iter().sum::<usize>() as f64;
        let seconds = terms.seconds(processor, traffic.rounds, traffic.sender + traffic.receiver);
        let cost = traffic.between(PartyId(sender), PartyId(1 - sender), 2);
        Choice { protocol, sender, cost, seconds }
    });
    let chosen = cheapest(choices.collect(), |choice| choice.seconds);
    let name = if let Revealed::Ids(Some(name)) = revealed { name } else { "auto" }.to_owned();
    Ok(chosen.ok_or_else(|| WrongInput::NoMethod { name, known: METHODS.iter().map(|(name, _)| *name).collect() })?)
}

#[cfg(test)]
mod tests {
    use tacit_net::Link;
    use tacit_psi::Prices;

    use super::{Revealed, Terms, choose};

    /// Rows, bandwidth, what is revealed; protocol, sender.
    #[test]
    fn what_is_chosen_follows_from_sizes_and_network() {
        let (ids, ddh) = (Revealed::Ids(None), Revealed::Ids(Some("ddh")));
        let numbers = |receiver| Revealed::Numbers { receiver, summed: false };
        let expected = [
            ([100, 100], None, ids, ("private-id-ddh", 0)),
            ([100, 100], Some(1e6), ids, ("private-id-ddh", 0)),
            ([10, 1_000], None, ids, ("private-id-ddh", 0)),
            ([10, 1_000], Some(1e6), ids, ("private-id-ddh", 0)),
            ([100_000, 100_000], None, ids, ("private-id-oprf", 0)),
            ([100_000, 100_000], Some(1e6), ids, ("private-id-ddh", 0)),
            ([1_000_000, 1_000_000], None, ids, ("private-id-oprf", 0)),
            ([1_000_000, 1_000_000], Some(1e6), ids, ("private-id-ddh", 0)),
            ([10_000_000, 10_000_000], None, ids, ("private-id-ddh", 0)),
            ([10_000_000, 10_000_000], Some(1e6), ids, ("private-id-ddh", 0)),
            ([10_000_000, 1_000_000], None, ids, ("private-id-oprf", 1)),
            ([10_000_000, 1_000_000], Some(1e6), ids, ("private-id-oprf", 1)),
            ([1_000_000, 100_000], None, ddh, ("private-id-ddh", 0)),
            ([1_000_000, 100_000], None, numbers(0), ("dh-cardinality", 1)),
            ([1_000_000, 100_000], None, numbers(1), ("dh-cardinality", 0)),
        ];
        for (rows, bandwidth, revealed, chosen) in expected {
            let undeclared = Link::UNDECLARED;
            let link = Link { bandwidth: bandwidth.unwrap_or(undeclared.bandwidth), ..undeclared };
            let terms = Terms::of(link, Prices::default());
            let found = choose(revealed, rows, 1, &terms).expect("a choice");
            assert_eq!((&*found.protocol, found.sender), chosen, "{revealed:?} of {rows:?} at {bandwidth:?}");
        }
    }

    #[test]
    fn a_method_that_there_is_not_is_refused() {
        let terms = Terms::of(Link::UNDECLARED, Prices::default());
        let refused = choose(Revealed::Ids(Some("magic")), [1, 1], 1, &terms).expect_err("it is none");
        assert!(refused.to_string().contains("magic"));
    }
}
