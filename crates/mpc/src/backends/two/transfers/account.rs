//! How much stock is left and what is made when it runs short: functions of what was taken, which is public.

use tacit_net::Cost;
use tacit_ot::Adversary;
use tacit_ot::silent::{cot, lookup};
use tacit_ot::softspoken;

use super::{BATCH, NODES, streams};
use crate::backends::cost::{Needs, Ordered};
use crate::backends::two::in_direction;
use crate::backends::two::prices::{Processor, Work};
use crate::backends::two::terms::{self, Terms};

/// Fewest OTs that are made at a time; all fillings are multiples of it.
const FIRST: usize = 1 << 12;

/// From this number of OTs on they are made by silent OT, which needs a setup of its own and next to no traffic.
///
/// No price is asked: traffic decides, which silent OT takes a fifth of. In time one filling of this size pays for the
/// setup on a link of 40 MB/s. On faster ones it takes more of them, and of what a plan still takes an account knows
/// nothing.
const SILENT_FROM: usize = 1 << 18;

/// SoftSpokenOT's k: 3.9 bytes an OT from its receiver, 8 and 7.5 AES blocks an OT.
pub(super) const TREE_DEPTH: usize = 4;

/// One filling of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Filling {
    pub(super) ots: usize,
    pub(super) maker: Maker,
}

/// The protocol that makes OTs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Maker {
    /// By SoftSpokenOT.
    Extended,
    /// By silent OT, with its setup.
    FirstSilent,
    /// By silent OT.
    Silent,
    /// As OTs that are streamed.
    Streamed,
}

impl Maker {
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
        let (adversary, Filling { ots, maker }) = (Adversary::SemiHonest, self.filling);
        let made = match maker {
            Maker::Extended => softspoken::extension_cost(TREE_DEPTH, adversary, ots),
            Maker::FirstSilent => cot::setup_cost(adversary) + cot::extension_cost(adversary, ots),
            Maker::Silent => cot::extension_cost(adversary, ots),
            Maker::Streamed => softspoken::extension_cost(streams::DEPTH, adversary, ots),
        };
        let mut cost = in_direction(self.direction, made);
        processor.add(maker.work(), ots);
        processor.add(Work::SilentSetup, (maker == Maker::FirstSilent).into());
        if maker == Maker::Streamed {
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
    /// What must be made by these terms so that `need` are there, if they are not: in growing fillings.
    pub(super) fn short(&self, need: usize, terms: &Terms) -> Option<Filling> {
        self.filling(need, self.growing(), terms)
    }

    /// The same where it is known how many will be taken in all, these included: in large fillings, and no more than
    /// those.
    pub(super) fn short_of(&self, need: usize, coming: usize, terms: &Terms) -> Option<Filling> {
        self.filling(need, coming.saturating_sub(self.left).min(BATCH), terms)
    }

    fn filling(&self, need: usize, least: usize, terms: &Terms) -> Option<Filling> {
        assert!(need.is_multiple_of(64), "whole words of choices");
        if need <= self.left {
            return None;
        }
        let ots = (need - self.left).max(least).next_multiple_of(FIRST);
        let maker = match (ots >= SILENT_FROM, self.silent) {
            _ if terms::streams(terms, ots) => Maker::Streamed,
            (false, _) => Maker::Extended,
            (true, false) => Maker::FirstSilent,
            (true, true) => Maker::Silent,
        };
        Some(Filling { ots, maker })
    }

    /// What fillings grow to that are made as they are needed.
    fn growing(&self) -> usize {
        (2 * self.last).clamp(FIRST, BATCH)
    }

    /// Puts in what is made.
    pub(super) fn put_in(&mut self, filling: Filling) {
        self.last = self.growing();
        self.left += filling.ots;
        self.silent |= filling.maker == Maker::FirstSilent;
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
    terms: &Terms,
) -> Vec<Order> {
    let mut orders = Vec::new();
    for (direction, (account, need)) in accounts.iter_mut().zip(need).enumerate() {
        if let Some(filling) = account.short(need, terms) {
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

    /// What is made for the needs of steps that follow each other, in the order of use. So a node that
    /// waits for a filling has taken all that were made before it.
    pub(in crate::backends::two) fn orders(&mut self, steps: &[Needs], terms: &Terms) -> Vec<Ordered<Order>> {
        let all = || steps.iter().flat_map(|needs| &needs.0);
        let mut coming = [0, 1].map(|direction| all().map(|need| need[direction]).sum::<usize>());
        let mut orders = Vec::new();
        for (step, needs) in steps.iter().enumerate() {
            for (need, direction) in needs.0.iter().flat_map(|need| [(need[0], 0), (need[1], 1)]) {
                let account = &mut self.accounts[direction];
                if let Some(filling) = account.short_of(need, coming[direction], terms) {
                    account.put_in(filling);
                    orders.push(self.ordered(step, Order { direction, filling }, terms));
                }
                self.accounts[direction].take(need);
                coming[direction] -= need;
            }
        }
        orders
    }

    /// What is made for needs that are not foreseen, as they come.
    pub(in crate::backends::two) fn unforeseen(&mut self, needs: &Needs, terms: &Terms) -> Vec<Ordered<Order>> {
        let mut orders = Vec::new();
        for &need in &needs.0 {
            let made = made_for(&mut self.accounts, need, terms);
            orders.extend(made.into_iter().map(|order| self.ordered(0, order, terms)));
        }
        orders
    }

    /// An order with what making it costs.
    fn ordered(&mut self, step: usize, order: Order, terms: &Terms) -> Ordered<Order> {
        let mut processor = Processor::new(terms.prices.clone());
        processor.add(Work::BaseOts, (!std::mem::replace(&mut self.begun, true)).into());
        let cost = order.cost(&mut self.streamed, &mut processor);
        Ordered { step, order, cost, processor: processor.take() }
    }
}

#[cfg(test)]
mod tests {
    use super::{Account, BATCH, FIRST, Filling, Foreseen, Maker, Order, SILENT_FROM};
    use crate::Link;
    use crate::backends::cost::Needs;
    use crate::backends::two::prices::{Prices, Processor};
    use crate::backends::two::terms::Terms;

    #[test]
    fn stock_is_made_in_growing_batches_and_never_too_little() {
        let mut account = Account::default();
        let mut prepare = |need, take, terms: &Terms| {
            let filling = account.short(need, terms);
            filling.into_iter().for_each(|filling| account.put_in(filling));
            account.take(take);
            filling
        };
        let near = Terms::default();
        let made = |ots, maker| Some(Filling { ots, maker });
        assert_eq!(prepare(64, 64, &near), made(FIRST, Maker::Extended));
        assert_eq!(prepare(FIRST - 64, 0, &near), None);
        assert_eq!(prepare(FIRST, FIRST, &near), made(2 * FIRST, Maker::Extended));
        assert_eq!(prepare(3 * BATCH, 3 * BATCH, &near), made(3 * BATCH - FIRST, Maker::FirstSilent));
        assert_eq!(prepare(BATCH, BATCH, &near), made(BATCH, Maker::Silent));
        let fast = Terms::of(Link { latency: 1e-4, bandwidth: 1e9 });
        assert_eq!(prepare(BATCH, BATCH, &fast), made(BATCH, Maker::Streamed));
    }

    #[test]
    fn what_is_foreseen_is_made_at_once_and_in_the_order_of_its_use() {
        let (mut foreseen, near) = (Foreseen::default(), Terms::default());
        let steps = [Needs(vec![[64, 0], [BATCH, 640]]), Needs(vec![]), Needs(vec![[BATCH / 2, 64], [0, FIRST]])];
        let orders = foreseen.orders(&steps, &near);
        let order = |direction, ots, maker| Order { direction, filling: Filling { ots, maker } };
        let expected = [
            (0, order(0, BATCH, Maker::FirstSilent)),
            (0, order(0, BATCH / 2 + FIRST, Maker::Silent)),
            (0, order(1, 2 * FIRST, Maker::Extended)),
        ];
        assert_eq!(orders.iter().map(|each| (each.step, each.order)).collect::<Vec<_>>(), expected);
        // What is left serves the next steps.
        assert!(foreseen.orders(&[Needs(vec![[FIRST - 64, 64]])], &near).is_empty());
        assert_eq!(foreseen.orders(&[Needs(vec![[128, 0]])], &near).len(), 1);
    }

    /// Traffic of both nodes, and seconds on a link.
    fn made(ots: usize, maker: Maker, link: Link) -> (u64, f64) {
        let mut processor = Processor::new(Prices::default());
        let order = Order { direction: 0, filling: Filling { ots, maker } };
        let cost = order.cost(&mut true, &mut processor);
        let network = link.seconds(cost.rounds, cost.sent[0].max(cost.sent[1]));
        (cost.sent.iter().sum(), network + processor.take().as_secs_f64())
    }

    #[test]
    fn a_filling_by_silent_ot_takes_a_fifth_of_the_traffic_and_on_a_slow_link_less_time() {
        let of = |ots, bandwidth| {
            let link = Link { bandwidth, ..Link::UNDECLARED };
            [Maker::FirstSilent, Maker::Extended].map(|maker| made(ots, maker, link))
        };
        let [silent, extended] = of(SILENT_FROM, 40e6);
        assert!(5 * silent.0 < extended.0 && silent.1 < extended.1, "{silent:?} {extended:?}");
        let [silent, extended] = of(SILENT_FROM / 4, 40e6);
        assert!(silent.1 > extended.1, "{silent:?} {extended:?}");
    }
}
