//! The plan of a match: its outcome, its recipients and its rules, approved by all parties and held against each step.
//!
//! All parties write the same plan. They compare its digest when they connect. [`crate::Parties`] runs nothing that the
//! plan does not say: which kind of outcome there is, who learns it, by which rules, and which columns leave as shares.
//! What follows from announcements (protocols, bins, who sends where both learn) is chosen alike by all, and shows
//! nothing more. Which file a party matches as a table that the plan names, its own agent alone decides.

use serde::{Deserialize, Serialize};
use tacit_net::Link;
use tacit_psi::Role;
use tacit_psi::alignment::Learns;

use crate::choice::bins::{Asked, Protocol};
use crate::choice::whole::Revealed;
use crate::error::MatchError;
use crate::wrong_input::{Unapproved, WrongPlan};

/// Domain of a plan's digest.
const DIGEST: &str = "tacit 2026-11-24 linkage: plan of a match";

/// The protocol that is chosen by its predicted time.
const AUTOMATIC: &str = "auto";

/// The joins of two tables. The first is the one that one party can learn alone.
const JOINS: [&str; 5] = ["inner", "left", "right", "full", "anti"];

/// A column of a key.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// By which rule its values are spelt alike.
    pub normaliser: String,
    /// As which kind its texts are read at all parties.
    pub kind: Option<String>,
}

/// A table that an offer names.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// The party that offers it.
    pub owner: String,
    /// Its name.
    pub name: String,
    /// The names of the columns of each key, as the plan's keys are.
    pub keys: Vec<Vec<String>>,
}

/// The rule for the shared pairs of rows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Pairs {
    /// A row is in one at most.
    One,
    /// All, but those of rows of these parties that have several counterparts.
    All {
        /// Whose such rows are left out.
        dropped: Vec<String>,
    },
}

/// The outcome of a match.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Reveals {
    /// The matching rows of two tables, as a join.
    Rows {
        /// The join.
        join: String,
        /// The protocol, or `auto`.
        protocol: String,
        /// The number of bins, if it is agreed.
        bins: Option<u64>,
        /// The name of a protocol from elsewhere.
        plugin: Option<String>,
    },
    /// Which rows of each table have keys that all tables have.
    Common,
    /// How many keys match.
    Numbers {
        /// The party and the column that is summed over them.
        summed: Option<(String, String)>,
        /// How many keys have to match for the sum.
        least: u64,
    },
    /// Universal ids of all rows.
    Ids {
        /// The protocol, or `auto`.
        protocol: String,
    },
    /// Shares of both payloads of pairs of rows.
    Shares {
        /// Which pairs.
        pairs: Pairs,
        /// Of each party, in their order, the names of the columns that it shares.
        columns: Vec<Vec<String>>,
    },
    /// Which keys of the recipient a prepared table had.
    Prepared,
}

/// What all parties of a match agree on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatchPlan {
    /// All parties, in their order.
    pub parties: Vec<String>,
    /// Those that learn the outcome, in the same order.
    pub to: Vec<String>,
    /// The tables of offers that are matched, in the parties' order, at most one of each party.
    pub tables: Vec<Table>,
    /// The columns of each key; the most important key first.
    pub keys: Vec<Vec<Column>>,
    /// What they learn.
    pub reveals: Reveals,
    /// The table of prices that all share, as JSON.
    pub prices: Option<String>,
    /// The network between any two of them, if it is declared: its latency and its bandwidth, as [`Link`] has them.
    pub link: Option<(f64, f64)>,
}

impl MatchPlan {
    /// From JSON.
    ///
    /// # Errors
    /// [`MatchError::Plan`] if it is no plan, or one that no parties can run.
    pub fn from_json(text: &str) -> Result<Self, MatchError> {
        let plan: Self = serde_json::from_str(text).map_err(|error| WrongPlan::Json { detail: error.to_string() })?;
        plan.fault().map_or(Ok(plan), |fault| Err(fault.into()))
    }

    /// 32 bytes that are equal exactly if the plans and the versions of tacit are.
    pub fn digest(&self) -> [u8; 32] {
        let written = serde_json::to_vec(self).expect("texts and numbers");
        let mut hasher = blake3::Hasher::new_derive_key(DIGEST);
        hasher.update(&(tacit_net::VERSION.len() as u64).to_le_bytes()).update(tacit_net::VERSION.as_bytes());
        *hasher.update(&written).finalize().as_bytes()
    }

    /// The network by which protocols are chosen.
    pub fn network(&self) -> Link {
        self.link.map_or(Link::UNDECLARED, |(latency, bandwidth)| Link { latency, bandwidth })
    }

    /// What is asked of a match of rows.
    ///
    /// # Errors
    /// [`MatchError::NotApproved`] of a plan that reveals something else.
    pub fn asked(&self) -> Result<Asked<'_>, MatchError> {
        let Reveals::Rows { protocol, bins, plugin, .. } = &self.reveals else {
            return Err(MatchError::NotApproved(Unapproved::Rows));
        };
        let protocol = match (plugin, protocol.as_str()) {
            (Some(name), _) => Protocol::Elsewhere(name),
            (None, AUTOMATIC) => Protocol::Fastest,
            (None, name) => Protocol::Named(name),
        };
        let alone = (self.to.len() == 1).then(|| self.first_to_learn());
        Ok(Asked { protocol, alone, bins: bins.map(|bins| bins as usize) })
    }

    /// What two parties learn in place of rows. columns: how many each shares.
    ///
    /// # Errors
    /// [`MatchError::NotApproved`] of a plan that reveals something else.
    pub fn revealed(&self, columns: [usize; 2]) -> Result<Revealed<'_>, MatchError> {
        match &self.reveals {
            Reveals::Ids { .. } if self.keys.len() > 1 => Ok(Revealed::IdsByKeys),
            Reveals::Ids { protocol } => Ok(Revealed::Ids(Some(protocol.as_str()).filter(|name| *name != AUTOMATIC))),
            Reveals::Shares { .. } => Ok(Revealed::Shares(columns)),
            Reveals::Numbers { summed, .. } => {
                Ok(Revealed::Numbers { receiver: self.counts(summed.as_ref()), summed: summed.is_some() })
            }
            Reveals::Rows { .. } | Reveals::Common | Reveals::Prepared => {
                Err(MatchError::NotApproved(Unapproved::InPlaceOfRows))
            }
        }
    }

    /// The numbers of the parties that learn which keys all have.
    ///
    /// # Errors
    /// [`MatchError::NotApproved`] of a plan that reveals something else.
    pub fn recipients(&self) -> Result<Vec<usize>, MatchError> {
        if self.reveals != Reveals::Common {
            return Err(MatchError::NotApproved(Unapproved::Common));
        }
        Ok((0..self.parties.len()).filter(|&party| self.to.contains(&self.parties[party])).collect())
    }

    /// The number of the only party that learns the outcome, or of the first.
    fn first_to_learn(&self) -> usize {
        self.parties.iter().position(|party| *party == self.to[0]).unwrap_or_default()
    }

    /// The number of the party that computes how many keys match, and a sum over a column of the other one.
    fn counts(&self, summed: Option<&(String, String)>) -> usize {
        let of_sum = |(owner, _): &(String, String)| self.parties.iter().position(|party| party != owner);
        summed.and_then(of_sum).unwrap_or_else(|| self.first_to_learn())
    }

    /// What is wrong with it.
    fn fault(&self) -> Option<WrongPlan> {
        let Self { parties, to, tables, keys, reveals, link, .. } = self;
        let known = |party: &String| parties.contains(party);
        let in_order = |some: &[String]| parties.iter().filter(|party| some.contains(party)).eq(some);
        let (two, one_key) = (parties.len() == 2, keys.len() == 1);
        let owners: Vec<String> = tables.iter().map(|table| table.owner.clone()).collect();
        let fits = match reveals {
            Reveals::Common => one_key,
            Reveals::Rows { join, bins, .. } => {
                let joins = if to.len() == 2 { &JOINS[..] } else { &JOINS[..1] };
                two && one_key && *bins != Some(0) && joins.contains(&join.as_str())
            }
            Reveals::Numbers { summed, least } => {
                // Who has the column does not compute the sum, and alone learns none.
                let learns = |(owner, _): &(String, String)| known(owner) && to[..] != [owner.clone()];
                two && one_key && *least > 0 && summed.iter().all(learns)
            }
            Reveals::Ids { protocol } => two && to.len() == 2 && (one_key || protocol == AUTOMATIC),
            Reveals::Shares { pairs, columns } => {
                let dropped = if let Pairs::All { dropped } = pairs { &dropped[..] } else { &[] };
                let named_once = |names: &Vec<String>| !repeats(names);
                two && to.len() == 2 && in_order(dropped) && columns.len() == 2 && columns.iter().all(named_once)
            }
            Reveals::Prepared => two && one_key && to.len() == 1,
        };
        match () {
            () if repeats(parties) => Some(WrongPlan::PartyTwice),
            () if to.is_empty() || !in_order(to) => Some(WrongPlan::Recipients),
            () if keys.is_empty() || keys.iter().any(Vec::is_empty) => Some(WrongPlan::EmptyKey),
            () if !in_order(&owners) || !tables.iter().all(|table| self.has_keys_of(table)) => Some(WrongPlan::Tables),
            () if link.is_some_and(|(latency, bandwidth)| Link::declared(latency, bandwidth).is_none()) => {
                Some(WrongPlan::Link)
            }
            () if !fits => Some(WrongPlan::Unfit),
            () => None,
        }
    }

    /// Whether a table is matched by as many columns of each key as the plan has.
    fn has_keys_of(&self, table: &Table) -> bool {
        self.keys.iter().map(Vec::len).eq(table.keys.iter().map(Vec::len))
    }

    /// What the party of a number may run, if its session is this one's.
    pub(crate) fn at(&self, me: usize) -> At<'_> {
        At { plan: self, me }
    }
}

/// Whether a name stands twice.
fn repeats(names: &[String]) -> bool {
    (1..names.len()).any(|place| names[..place].contains(&names[place]))
}

/// The protocol of a match of rows.
#[derive(Clone, Copy, Debug)]
pub enum Chosen<'a> {
    /// One of tacit's, by its name.
    Named(&'a str),
    /// One from elsewhere, by the name that the plan gives it.
    Elsewhere(&'a str),
}

/// A plan, as the party of a number runs it.
pub(crate) struct At<'a> {
    plan: &'a MatchPlan,
    me: usize,
}

impl At<'_> {
    /// Whether all parties learn the outcome.
    fn all_learn(&self) -> bool {
        self.plan.to.len() == self.plan.parties.len()
    }

    /// Whether this party plays `role`, if `receiver` receives.
    fn plays(&self, role: Role, receiver: usize) -> bool {
        (role == Role::Receiver) == (self.me == receiver)
    }

    /// Of a match that reveals rows, who learns them; `role` is this party's. protocol: the one that runs; count: of
    /// bins.
    pub fn rows(&self, role: Role, protocol: Chosen<'_>, count: usize) -> Result<Learns, MatchError> {
        let asked = self.plan.asked()?;
        let same = match (asked.protocol, protocol) {
            (Protocol::Fastest, Chosen::Named(_)) => true,
            (Protocol::Named(plan), Chosen::Named(name)) => plan == name,
            (Protocol::Elsewhere(plan), Chosen::Elsewhere(name)) => plan == name,
            _ => false,
        };
        if !same || asked.bins.is_some_and(|bins| bins != count) {
            return Err(MatchError::NotApproved(Unapproved::RowsByThis));
        }
        match self.all_learn() {
            true => Ok(Learns::Both),
            false if self.plays(role, self.plan.first_to_learn()) => Ok(Learns::Receiver),
            false => Err(MatchError::NotApproved(Unapproved::Rows)),
        }
    }

    /// How many keys have to match for a sum, if there is one, and whether both learn the numbers. The party that
    /// computes them is the one without the column that is summed, or the first that learns them.
    pub fn numbers(&self, role: Role) -> Result<(Option<usize>, bool), MatchError> {
        let Reveals::Numbers { summed, least } = &self.plan.reveals else {
            return Err(MatchError::NotApproved(Unapproved::Numbers));
        };
        match self.plays(role, self.plan.counts(summed.as_ref())) {
            true => Ok((summed.as_ref().map(|_| *least as usize), self.all_learn())),
            false => Err(MatchError::NotApproved(Unapproved::NumbersToOther)),
        }
    }

    /// That universal ids are approved. method: by one key, the one that runs; keys: of each row.
    pub fn ids(&self, method: Option<&str>, keys: usize) -> Result<(), MatchError> {
        let Reveals::Ids { protocol } = &self.plan.reveals else {
            return Err(MatchError::NotApproved(Unapproved::Ids));
        };
        let by_one = method.is_some_and(|name| keys == 1 && (protocol == AUTOMATIC || protocol == name));
        match keys == self.plan.keys.len() && (by_one || method.is_none() && keys > 1) {
            true => Ok(()),
            false => Err(MatchError::NotApproved(Unapproved::IdsByThis)),
        }
    }

    /// Which pairs are shared: in one at most, or all but those of contaminated rows of the sender and of the receiver.
    /// keys: of each row; names: of the columns that this party shares.
    pub fn shares<'n>(
        &self,
        role: Role,
        keys: usize,
        names: impl Iterator<Item = &'n str>,
    ) -> Result<Option<[bool; 2]>, MatchError> {
        let Reveals::Shares { pairs, columns } = &self.plan.reveals else {
            return Err(MatchError::NotApproved(Unapproved::Shares));
        };
        if keys != self.plan.keys.len() {
            return Err(MatchError::NotApproved(Unapproved::SharesByThis));
        }
        if !columns[self.me].iter().map(String::as_str).eq(names) {
            return Err(MatchError::NotApproved(Unapproved::SharesOfThese));
        }
        let Pairs::All { dropped } = pairs else { return Ok(None) };
        let of = |party: usize| dropped.contains(&self.plan.parties[party]);
        let sender = if role == Role::Sender { self.me } else { 1 - self.me };
        Ok(Some([of(sender), of(1 - sender)]))
    }

    /// How many columns the other party of two shares.
    pub fn shared_by_peer(&self) -> usize {
        let Reveals::Shares { columns, .. } = &self.plan.reveals else { return 0 };
        columns[1 - self.me].len()
    }

    /// That this party offers a prepared table, or asks about one.
    pub fn prepared(&self, asks: bool) -> Result<(), MatchError> {
        match &self.plan.reveals {
            Reveals::Prepared if asks == (self.me == self.plan.first_to_learn()) => Ok(()),
            _ => Err(MatchError::NotApproved(Unapproved::Prepared)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(parties: &[&str], to: &[&str], keys: usize, reveals: &str) -> String {
        let keys = vec![r#"[{"normaliser":"exact","kind":null}]"#; keys].join(",");
        format!(
            r#"{{"parties":{parties:?},"to":{to:?},"tables":[],"keys":[{keys}],"reveals":{reveals},"prices":null,
                "link":null}}"#
        )
    }

    fn plan(to: &[&str], keys: usize, reveals: &str) -> MatchPlan {
        MatchPlan::from_json(&text(&["a", "b"], to, keys, reveals)).expect("a plan")
    }

    fn table(owner: &str, name: &str, key: &str) -> Table {
        Table { owner: owner.into(), name: name.into(), keys: vec![vec![key.into()]] }
    }

    const SHARES: &str = r#"{"shares":{"pairs":"one","columns":[[],[]]}}"#;
    const JOIN: &str = r#"{"rows":{"join":"inner","protocol":"auto","bins":null,"plugin":null}}"#;
    const BOTH: &[&str] = &["a", "b"];
    const ROLES: [Role; 2] = [Role::Sender, Role::Receiver];

    #[test]
    fn plans_that_no_parties_can_run_are_refused() {
        let sum = r#"{"numbers":{"summed":["a","n"],"least":1}}"#;
        let shares = r#"{"shares":{"pairs":{"all":{"dropped":["c"]}},"columns":[[],[]]}}"#;
        let (single, named) = (shares.replace(r#"{"all":{"dropped":["c"]}}"#, r#""one""#), r#""columns":[[],[]]"#);
        for (parties, to, keys, reveals) in [
            (&["a", "a"][..], &["a"][..], 1, JOIN),
            (BOTH, &[], 1, JOIN),
            (BOTH, &["c"], 1, JOIN),
            (BOTH, &["b", "a"], 1, JOIN),
            (BOTH, BOTH, 0, JOIN),
            (&["a", "b", "c"], &["a"], 1, JOIN),
            (BOTH, &["a"], 1, sum),
            (BOTH, BOTH, 1, r#"{"numbers":{"summed":["c","n"],"least":1}}"#),
            (BOTH, BOTH, 1, r#"{"numbers":{"summed":null,"least":0}}"#),
            (BOTH, &["a"], 1, r#"{"ids":{"protocol":"auto"}}"#),
            (BOTH, BOTH, 1, shares),
            (BOTH, BOTH, 1, &shares.replace("\"c\"", "\"b\",\"a\"")),
            (BOTH, BOTH, 1, &single.replace(named, r#""columns":[[]]"#)),
            (BOTH, BOTH, 1, &single.replace(named, r#""columns":[["n","n"],[]]"#)),
            (BOTH, BOTH, 1, r#"{"shares":{"pairs":"one"}}"#),
            (BOTH, &["a"], 1, &JOIN.replace("inner", "left")),
            (BOTH, BOTH, 1, &JOIN.replace("inner", "cross")),
            (BOTH, BOTH, 1, &JOIN.replace("\"bins\":null", "\"bins\":0")),
            (BOTH, BOTH, 2, JOIN),
            (BOTH, BOTH, 2, r#"{"ids":{"protocol":"ddh"}}"#),
            (BOTH, BOTH, 1, "\"prepared\""),
            (BOTH, BOTH, 1, "\"everything\""),
        ] {
            let refused = MatchPlan::from_json(&text(parties, to, keys, reveals));
            assert!(matches!(refused, Err(MatchError::Plan(_))), "{parties:?} {to:?} {keys} {reveals}");
        }
        for link in ["[-0.1,1e6]", "[0.1,0.0]", "[0.1]"] {
            let refused = text(BOTH, BOTH, 1, JOIN).replace("\"link\":null", &format!("\"link\":{link}"));
            assert!(matches!(MatchPlan::from_json(&refused), Err(MatchError::Plan(_))), "{link}");
        }
        let (of_a, of_b) = (r#"{"owner":"a","name":"x","keys":[["k"]]}"#, r#"{"owner":"b","name":"y","keys":[["l"]]}"#);
        for tables in [
            format!("{of_b},{of_a}"),
            format!("{of_a},{of_a}"),
            of_a.replace(r#""a""#, r#""c""#),
            of_a.replace(r#"["k"]"#, r#"["k","l"]"#),
            of_a.replace(r#"["k"]"#, r#"["k"],["l"]"#),
            of_a.replace(r#"["k"]"#, ""),
        ] {
            let refused = text(BOTH, BOTH, 1, JOIN).replace("\"tables\":[]", &format!("\"tables\":[{tables}]"));
            assert!(matches!(MatchPlan::from_json(&refused), Err(MatchError::Plan(_))), "{tables}");
        }
        let more = text(BOTH, BOTH, 1, JOIN).replace("\"prices\"", "\"more\":1,\"prices\"");
        assert!(MatchPlan::from_json(&more).is_err(), "a member that nobody knows");
    }

    #[test]
    fn every_member_is_in_the_digest() {
        let first = plan(BOTH, 1, JOIN);
        let mut others = vec![plan(&["a"], 1, JOIN), plan(BOTH, 1, "\"common\"")];
        let changes = [("inner", "left"), ("auto", "dh"), ("\"plugin\":null", "\"plugin\":\"x\"")];
        others.extend(changes.map(|(from, to)| plan(BOTH, 1, &JOIN.replace(from, to))));
        others.push(MatchPlan { keys: [&first.keys[..], &first.keys[..]].concat(), ..first.clone() });
        others.push(plan(BOTH, 1, &JOIN.replace("\"bins\":null", "\"bins\":7")));
        others.push(MatchPlan { prices: Some("{}".into()), ..first.clone() });
        for link in [(0.02, 1e6), (0.03, 1e6), (0.02, 2e6)] {
            others.push(MatchPlan { link: Some(link), ..first.clone() });
        }
        let of_column = |normaliser: &str, kind: Option<&str>| MatchPlan {
            keys: vec![vec![Column { normaliser: normaliser.into(), kind: kind.map(str::to_owned) }]],
            ..first.clone()
        };
        others.extend([of_column("email", None), of_column("exact", Some("date"))]);
        let tables = [vec![table("a", "x", "k")], vec![table("b", "y", "l")], vec![]];
        for [of_a, of_b] in [[0, 1], [0, 2], [2, 1]] {
            others.push(MatchPlan { tables: [&tables[of_a][..], &tables[of_b][..]].concat(), ..first.clone() });
        }
        for changed in [table("a", "y", "k"), table("a", "x", "l"), table("b", "x", "k")] {
            others.push(MatchPlan { tables: vec![changed], ..first.clone() });
        }
        let shares = |columns: &str| plan(BOTH, 1, &SHARES.replace("[[],[]]", columns));
        others.extend(["[[],[]]", r#"[["n"],[]]"#, r#"[[],["n"]]"#, r#"[["m"],[]]"#].map(shares));
        others.extend([r#"[["m","n"],[]]"#, r#"[["n","m"],[]]"#, r#"[["m"],["n"]]"#].map(shares));
        let digests: std::collections::HashSet<_> = others.iter().chain([&first]).map(MatchPlan::digest).collect();
        assert_eq!(digests.len(), others.len() + 1);
        assert_eq!(first.digest(), plan(BOTH, 1, JOIN).digest());
    }

    #[test]
    fn a_plan_is_read_as_it_is_written() {
        let shares = plan(BOTH, 1, &SHARES.replace("[[],[]]", r#"[["n","m"],[]]"#));
        let whole = MatchPlan { tables: vec![table("a", "x", "k"), table("b", "y", "l")], ..shares };
        let read = MatchPlan::from_json(&serde_json::to_string(&whole).expect("JSON")).expect("a plan");
        assert_eq!((read.digest(), &read), (whole.digest(), &whole));
    }

    const NONE: [&str; 0] = [];

    #[test]
    fn no_columns_leave_but_those_of_the_plan() {
        let of_both = plan(BOTH, 1, &SHARES.replace("[[],[]]", r#"[["n","m"],["x"]]"#));
        let shared = |me: usize, names: &[&str]| of_both.at(me).shares(Role::Sender, 1, names.iter().copied()).is_ok();
        assert!(shared(0, &["n", "m"]) && shared(1, &["x"]));
        for others in [&["n"][..], &["m", "n"], &["n", "m", "x"], &["x"], &[]] {
            assert!(!shared(0, others), "{others:?}");
        }
        assert_eq!([0, 1].map(|me| of_both.at(me).shared_by_peer()), [1, 2]);
    }

    /// The roles that each party may play.
    fn played(allowed: impl Fn(usize, Role) -> bool) -> [Vec<Role>; 2] {
        [0, 1].map(|me| ROLES.into_iter().filter(|&role| allowed(me, role)).collect())
    }

    #[test]
    fn who_learns_decides_who_receives() {
        let [sender, receiver] = ROLES;
        let of = |plan: MatchPlan| played(|me, role| plan.at(me).rows(role, Chosen::Named("dh"), 3).is_ok());
        assert_eq!(of(plan(BOTH, 1, JOIN)), [ROLES.to_vec(), ROLES.to_vec()]);
        assert_eq!(of(plan(&["b"], 1, JOIN)), [vec![sender], vec![receiver]]);
        let of = |plan: MatchPlan| played(|me, role| plan.at(me).numbers(role).is_ok());
        let count = r#"{"numbers":{"summed":null,"least":1}}"#;
        assert_eq!(of(plan(BOTH, 1, count)), [vec![receiver], vec![sender]]);
        assert_eq!(of(plan(&["b"], 1, count)), [vec![sender], vec![receiver]]);
        let sum = plan(BOTH, 1, r#"{"numbers":{"summed":["b","n"],"least":7}}"#);
        assert_eq!(sum.at(0).numbers(receiver).expect("approved"), (Some(7), true));
        assert_eq!(of(sum), [vec![receiver], vec![sender]]);
        let asked = plan(&["a"], 1, "\"prepared\"");
        assert!(asked.at(0).prepared(true).is_ok() && asked.at(1).prepared(false).is_ok());
        assert!(asked.at(0).prepared(false).is_err() && asked.at(1).prepared(true).is_err());
    }

    #[test]
    fn choices_are_asked_what_the_plan_says() {
        let asked = |to: &[&str], reveals: &str| {
            let plan = plan(to, 1, reveals);
            let Asked { protocol, alone, bins } = plan.asked().expect("of rows");
            (format!("{protocol:?}"), alone, bins)
        };
        assert_eq!(asked(BOTH, JOIN), ("Fastest".into(), None, None));
        let named = JOIN.replace("auto", "kkrt").replace("\"bins\":null", "\"bins\":9");
        assert_eq!(asked(&["b"], &named), ("Named(\"kkrt\")".into(), Some(1), Some(9)));
        let plugin = JOIN.replace("\"plugin\":null", "\"plugin\":\"theirs\"");
        assert_eq!(asked(&["a"], &plugin), ("Elsewhere(\"theirs\")".into(), Some(0), None));
        let revealed =
            |keys, reveals: &str| format!("{:?}", plan(BOTH, keys, reveals).revealed([3, 4]).expect("whole"));
        assert_eq!(revealed(1, r#"{"ids":{"protocol":"auto"}}"#), "Ids(None)");
        assert_eq!(revealed(1, r#"{"ids":{"protocol":"ddh"}}"#), "Ids(Some(\"ddh\"))");
        assert_eq!(revealed(2, r#"{"ids":{"protocol":"auto"}}"#), "IdsByKeys");
        assert_eq!(revealed(1, SHARES), "Shares([3, 4])");
        let sum = r#"{"numbers":{"summed":["a","n"],"least":1}}"#;
        assert_eq!(revealed(1, sum), "Numbers { receiver: 1, summed: true }");
        assert!(plan(BOTH, 1, JOIN).revealed([0, 0]).is_err() && plan(BOTH, 1, sum).asked().is_err());
    }

    #[test]
    fn the_protocol_that_is_asked_for_is_the_one_that_runs() {
        let learns =
            |reveals: &str, chosen, bins| plan(BOTH, 1, reveals).at(0).rows(Role::Sender, chosen, bins).is_ok();
        let named = JOIN.replace("auto", "kkrt").replace("\"bins\":null", "\"bins\":9");
        assert!(learns(&named, Chosen::Named("kkrt"), 9));
        assert!(!learns(&named, Chosen::Named("dh"), 9) && !learns(&named, Chosen::Named("kkrt"), 1));
        let plugin = JOIN.replace("\"plugin\":null", "\"plugin\":\"theirs\"");
        assert!(learns(&plugin, Chosen::Elsewhere("theirs"), 1) && !learns(&plugin, Chosen::Elsewhere("mine"), 1));
        assert!(!learns(&plugin, Chosen::Named("dh"), 1) && !learns(JOIN, Chosen::Elsewhere("theirs"), 1));
        let ids = plan(BOTH, 1, r#"{"ids":{"protocol":"ddh"}}"#);
        assert!(ids.at(0).ids(Some("ddh"), 1).is_ok() && ids.at(0).ids(Some("oprf"), 1).is_err());
        assert!(plan(BOTH, 1, r#"{"ids":{"protocol":"auto"}}"#).at(0).ids(Some("oprf"), 1).is_ok());
    }

    #[test]
    fn rules_of_parties_become_those_of_roles() {
        let shares = plan(BOTH, 1, &SHARES.replace(r#""one""#, r#"{"all":{"dropped":["b"]}}"#));
        let dropped = |me: usize, role| shares.at(me).shares(role, 1, NONE.into_iter()).expect("approved");
        assert_eq!(dropped(0, Role::Sender), Some([false, true]));
        assert_eq!(dropped(0, Role::Receiver), Some([true, false]));
        assert_eq!(dropped(1, Role::Sender), dropped(0, Role::Receiver));
        let single = plan(BOTH, 2, SHARES);
        assert_eq!(single.at(0).shares(Role::Sender, 2, NONE.into_iter()).expect("approved"), None);
        let ids = plan(BOTH, 2, r#"{"ids":{"protocol":"auto"}}"#);
        assert!(ids.at(0).ids(None, 2).is_ok() && single.at(0).ids(None, 2).is_err());
        assert!(ids.at(0).ids(None, 1).is_err() && ids.at(0).ids(Some("ddh"), 1).is_err());
        assert!(single.at(0).shares(Role::Sender, 1, NONE.into_iter()).is_err(), "by another number of keys");
        let three = MatchPlan::from_json(&text(&["a", "b", "c"], &["a", "c"], 1, "\"common\"")).expect("a plan");
        assert_eq!(three.recipients().expect("approved"), [0, 2]);
    }
}
