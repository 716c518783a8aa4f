//! How much stock is left and what is made when it runs short: functions of what was taken, which is public.

use tacit_net::Cost;
use tacit_ot::Adversary;
use tacit_ot::silent::{cot, lookup};
use tacit_ot::softspoken;

use super::{BATCH, NODES, streams};
use crate::Link;
use crate::backends::cost::{Needs, Ordered};
use crate::backends::two::in_direction;
use crate::backends::two::prices::{Prices, Processor, Work};

/// Fewest OTs that are made at a time; all fillings are multiples of it.
const FIRST: usize = 1 << 12;

/// From this number of OTs on they are made by silent OT, which needs a setup of its own and next to no traffic.
const SILENT_FROM: usize = 1 << 18;

/// SoftSpokenOT's k: 3.9 bytes an OT from its receiver, 8 and 7.5 AES blocks an OT.
pub(super) const TREE_DEPTH: usize = 4;

/// One filling of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Filling {
    pub(super) ots: usize,
    pub(super) way: Way,
}

/// How OTs are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By SoftSpokenOT.
    Extended,
    /// By silent OT, with its setup.
    FirstSilent,
    /// By silent OT.
    Silent,
    /// As OTs that are streamed.
    Streamed,
}

impl Way {
    /// The work of making one.
    fn work(self) -> Work {
        match self {
            Self::Extended => Work::ExtendedOt,
            Self::FirstSilent | Self::Silent => Work::SilentOt,
            Self::Streamed => Work::FastOt,
        }
    }
}

/// A batch of OTs to generate, and which node is the OT sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    pub(super) direction: usize,
    pub(super) filling: Filling,
}

impl Order {
    /// Returns the traffic, adds the CPU time; sets `streamed` if this order sets streams up.
    pub(in crate::backends::two) fn cost(&self, streamed: &mut bool, processor: &mut Processor) -> Cost {
        let (adversary, Filling { ots, way }) = (Adversary::SemiHonest, self.filling);
        let made = match way {
            Way::Extended => softspoken::extension_cost(TREE_DEPTH, adversary, ots),
            Way::FirstSilent => cot::setup_cost(adversary) + cot::extension_cost(adversary, ots),
            Way::Silent => cot::extension_cost(adversary, ots),
            Way::Streamed => softspoken::extension_cost(streams::DEPTH, adversary, ots),
        };
        let mut cost = in_direction(self.direction, made);
        processor.add(way.work(), ots);
        processor.add(Work::SilentSetup, (way == Way::FirstSilent).into());
        if way == Way::Streamed {
            let first = !std::mem::replace(streamed, true);
            processor.add(Work::BaseOts, first.into());
            cost += streams::cost(first, [0; NODES]);
        }
        cost
    }
}

/// What is known to everyone of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::backends::two) struct Account {
    left: usize,
    last: usize,
    silent: bool,
    /// Whether lookups have been made.
    looks_up: bool,
}

impl Account {
    /// What must be made on the declared link so that `need` are there, if they are not: in growing fillings.
    pub(super) fn short(&self, need: usize, link: Option<Link>) -> Option<Filling> {
        self.filling(need, self.growing(), link)
    }

    /// The same where it is known how many will be taken in all, these included: in large fillings, and no more than
    /// those.
    pub(super) fn short_of(&self, need: usize, coming: usize, link: Option<Link>) -> Option<Filling> {
        self.filling(need, coming.saturating_sub(self.left).min(BATCH), link)
    }

    fn filling(&self, need: usize, least: usize, link: Option<Link>) -> Option<Filling> {
        assert!(need.is_multiple_of(64), "whole words of choices");
        if need <= self.left {
            return None;
        }
        let ots = (need - self.left).max(least).next_multiple_of(FIRST);
        let way = match (ots >= SILENT_FROM, self.silent) {
            _ if streams::streams(link, ots) => Way::Streamed,
            (false, _) => Way::Extended,
            (true, false) => Way::FirstSilent,
            (true, true) => Way::Silent,
        };
        Some(Filling { ots, way })
    }

    /// What fillings grow to that are made as they are needed.
    fn growing(&self) -> usize {
        (2 * self.last).clamp(FIRST, BATCH)
    }

    /// Puts in what is made.
    pub(super) fn put_in(&mut self, filling: Filling) {
        self.last = self.growing();
        self.left += filling.ots;
        self.silent |= filling.way == Way::FirstSilent;
    }

    /// Takes `count` of those that are there.
    pub(super) fn take(&mut self, count: usize) {
        self.left = self.left.checked_sub(count).expect("no more is taken than was prepared");
    }

    /// Whether `count` lookups would be the first ones.
    pub(in crate::backends::two) fn begins_lookups(&self, count: usize) -> bool {
        count > 0 && !self.looks_up
    }

    /// How many OTs `count` lookups take, whole words of them; they are begun.
    pub(in crate::backends::two) fn for_lookups(&mut self, count: usize) -> usize {
        let need = lookup::ots(!self.looks_up, count).next_multiple_of(64);
        self.looks_up |= count > 0;
        need
    }
}

/// The accounts of both directions where stock is made as it is needed: what is made for the need of each, which is
/// taken.
pub(in crate::backends::two) fn made_for(
    accounts: &mut [Account; NODES],
    need: [usize; NODES],
    link: Option<Link>,
) -> Vec<Order> {
    let mut orders = Vec::new();
    for (direction, (account, need)) in accounts.iter_mut().zip(need).enumerate() {
        if let Some(filling) = account.short(need, link) {
            account.put_in(filling);
            orders.push(Order { direction, filling });
        }
        account.take(need);
    }
    orders
}

/// What is made ahead of its use, as far as it is known.
#[derive(Clone, Debug, Default)]
pub(in crate::backends::two) struct Foreseen {
    accounts: [Account; NODES],
    /// Whether anything has been made.
    begun: bool,
    streamed: bool,
    needs: Needs,
}

impl Foreseen {
    /// The need of each direction, which will be taken together.
    pub(in crate::backends::two) fn note(&mut self, need: [usize; NODES]) {
        self.needs.0.push(need);
    }

    /// What was noted since this was last asked.
    pub(in crate::backends::two) fn take(&mut self) -> Needs {
        std::mem::take(&mut self.needs)
    }

    /// What is made for the needs of steps that follow each other, in the order in which it will be used, so that
    /// whoever waits for a filling has taken all that were made before it.
    pub(in crate::backends::two) fn orders(
        &mut self,
        steps: &[Needs],
        link: Option<Link>,
        prices: &Prices,
    ) -> Vec<Ordered<Order>> {
        let all = || steps.iter().flat_map(|needs| &needs.0);
        let mut coming = [0, 1].map(|direction| all().map(|need| need[direction]).sum::<usize>());
        let mut orders = Vec::new();
        for (step, needs) in steps.iter().enumerate() {
            for (need, direction) in needs.0.iter().flat_map(|need| [(need[0], 0), (need[1], 1)]) {
                let account = &mut self.accounts[direction];
                if let Some(filling) = account.short_of(need, coming[direction], link) {
                    account.put_in(filling);
                    let order = Order { direction, filling };
                    let mut processor = Processor::new(prices.clone());
                    processor.add(Work::BaseOts, (!std::mem::replace(&mut self.begun, true)).into());
                    let cost = order.cost(&mut self.streamed, &mut processor);
                    orders.push(Ordered { step, order, cost, processor: processor.take() });
                }
                account.take(need);
                coming[direction] -= need;
            }
        }
        orders
    }
}

#[cfg(test)]
mod tests {
    use super::{Account, BATCH, FIRST, Filling, Foreseen, Order, Way};
    use crate::Link;
    use crate::backends::cost::Needs;
    use crate::backends::two::prices::Prices;

    #[test]
    fn stock_is_made_in_growing_batches_and_never_too_little() {
        let mut account = Account::default();
        let mut prepare = |need, take, link| {
            let filling = account.short(need, link);
            filling.into_iter().for_each(|filling| account.put_in(filling));
            account.take(take);
            filling
        };
        let made = |ots, way| Some(Filling { ots, way });
        assert_eq!(prepare(64, 64, None), made(FIRST, Way::Extended));
        assert_eq!(prepare(FIRST - 64, 0, None), None);
        assert_eq!(prepare(FIRST, FIRST, None), made(2 * FIRST, Way::Extended));
        assert_eq!(prepare(3 * BATCH, 3 * BATCH, None), made(3 * BATCH - FIRST, Way::FirstSilent));
        assert_eq!(prepare(BATCH, BATCH, None), made(BATCH, Way::Silent));
        let fast = Some(Link { latency: 1e-4, bandwidth: 1e9 });
        assert_eq!(prepare(BATCH, BATCH, fast), made(BATCH, Way::Streamed));
    }

    #[test]
    fn what_is_foreseen_is_made_at_once_and_in_the_order_of_its_use() {
        let mut foreseen = Foreseen::default();
        let steps = [Needs(vec![[64, 0], [BATCH, 640]]), Needs(vec![]), Needs(vec![[BATCH / 2, 64], [0, FIRST]])];
        let orders = foreseen.orders(&steps, None, &Prices::default());
        let order = |direction, ots, way| Order { direction, filling: Filling { ots, way } };
        let expected = [
            (0, order(0, BATCH, Way::FirstSilent)),
            (0, order(0, BATCH / 2 + FIRST, Way::Silent)),
            (0, order(1, 2 * FIRST, Way::Extended)),
        ];
        assert_eq!(orders.iter().map(|each| (each.step, each.order)).collect::<Vec<_>>(), expected);
        // What is left serves the next steps.
        assert!(foreseen.orders(&[Needs(vec![[FIRST - 64, 64]])], None, &Prices::default()).is_empty());
        assert_eq!(foreseen.orders(&[Needs(vec![[128, 0]])], None, &Prices::default()).len(), 1);
    }
}
