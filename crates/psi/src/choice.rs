//! Which protocol finds one intersection that both parties learn, or gives universal ids: the one that is predicted to
//! take the least time. Both parties compute it alike, from public sizes, the network and the prices that they agree
//! on.

use tacit_net::{Link, Traffic};

use crate::alignment::{self, Learns, role};
use crate::prices::Prices;
use crate::relatives::{PrivateId, Relative};
use crate::{Declared, Protocol, Role, Sizes, set_union};

/// The sizes by role, of the first party's items and the second's. first: the first party's role.
pub fn sizes_of(first: Role, [mine, theirs]: [usize; 2]) -> Sizes {
    match first {
        Role::Sender => Sizes { sender: mine, receiver: theirs },
        Role::Receiver => Sizes { sender: theirs, receiver: mine },
    }
}

/// Rounds, and bytes that the sender and the receiver send, of setup and matching. Both parties learn.
pub fn traffic(protocol: &dyn Protocol, sizes: [usize; 2]) -> Traffic {
    let first = first_role(protocol, sizes);
    let Declared { setup, online } = alignment::declared(protocol, sizes_of(first, sizes), Learns::Both);
    setup + online
}

/// The first party's role: that in which both together send fewer bytes.
pub fn first_role(protocol: &dyn Protocol, [mine, theirs]: [usize; 2]) -> Role {
    role(protocol, mine, theirs, true, None)
}

/// The one of some protocols that takes the least time for sets of these sizes.
///
/// # Panics
/// When there is none.
pub fn fastest<'a>(protocols: &[&'a dyn Protocol], sizes: [usize; 2], link: Link, prices: &Prices) -> &'a dyn Protocol {
    let seconds = |protocol: &&dyn Protocol| predicted(protocol.name(), traffic(*protocol, sizes), sizes, link, prices);
    let fastest = protocols.iter().min_by(|a, b| seconds(a).total_cmp(&seconds(b)));
    *fastest.expect("protocols to choose from")
}

/// How universal ids of both parties' items are made in the least time, and the first party's role in that.
pub fn fastest_ids(sizes: [usize; 2], link: Link, prices: &Prices) -> (PrivateId, Role) {
    let seconds = |(method, first): &(PrivateId, Role)| {
        predicted(method.title(), method.cost(sizes_of(*first, sizes)), sizes, link, prices)
    };
    let both = |method| [(method, Role::Sender), (method, Role::Receiver)];
    let possible = [PrivateId::Ddh, PrivateId::Oprf].into_iter().flat_map(both).filter(|&(method, first)| {
        method == PrivateId::Ddh || set_union::check_size(sizes_of(first, sizes).sender).is_ok()
    });
    possible.min_by(|a, b| seconds(a).total_cmp(&seconds(b))).expect("Diffie-Hellman has no limit")
}

/// Seconds of processor and network.
fn predicted(name: &str, traffic: Traffic, sizes: [usize; 2], link: Link, prices: &Prices) -> f64 {
    prices.seconds(name, sizes.iter().sum::<usize>() as f64) + traffic.seconds(link)
}

#[cfg(test)]
mod tests {
    use tacit_net::Link;

    use super::{fastest, fastest_ids};
    use crate::prices::Prices;
    use crate::relatives::PrivateId;
    use crate::vole_psi::Variant;
    use crate::{DhPsi, Role, VolePsi};

    #[test]
    fn few_items_are_matched_on_a_curve_and_more_where_rounds_are_long() {
        let (dh, vole) = (DhPsi { bins: 1 }, VolePsi { variant: Variant::Fast, bins: 1 });
        let chosen = |sizes, link| fastest(&[&dh, &vole], sizes, link, &Prices::default()).name();
        let far = Link { latency: 0.1, bandwidth: 12.5e6 };
        let expected = [
            ([10, 10], "dh", "dh"),
            ([1_000, 1_000], "dh", "dh"),
            ([10, 2_000], "dh", "dh"),
            ([2_000, 2_000], "vole", "dh"),
            ([5_000, 5_000], "vole", "dh"),
            ([100_000, 10], "vole", "vole"),
            ([1 << 20, 1 << 20], "vole", "vole"),
        ];
        for (sizes, near, distant) in expected {
            assert_eq!((chosen(sizes, Link::UNDECLARED), chosen(sizes, far)), (near, distant), "{sizes:?}");
        }
    }

    #[test]
    fn ids_are_made_on_a_curve_where_rows_are_few_or_bytes_dear_or_too_many() {
        let slow = Link { latency: 0.00005, bandwidth: 1e6 };
        let chosen = |sizes, link| fastest_ids(sizes, link, &Prices::default());
        assert_eq!(chosen([100, 100], Link::UNDECLARED).0, PrivateId::Ddh);
        assert_eq!(chosen([100_000, 100_000], Link::UNDECLARED).0, PrivateId::Oprf);
        assert_eq!(chosen([100_000, 100_000], slow).0, PrivateId::Ddh);
        assert_eq!(chosen([10_000_000, 1_000_000], Link::UNDECLARED), (PrivateId::Oprf, Role::Receiver));
        assert_eq!(chosen([10_000_000, 10_000_000], Link::UNDECLARED).0, PrivateId::Ddh);
    }
}
