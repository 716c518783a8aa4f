//! What a party has approved: with whom, on which engine, which operators in which order, and what they may open.
//!
//! Parties compare the digest of it before anything is shared, and a [`Program`] gives operators out in no other order.
//! So the approval of a plan binds the party's own software to what it is about to execute. It binds nobody else's: a
//! party that lies about its digest computes as it likes, and what that can change is for the engine to say.

use tacit_mpc::{Link, Permits};

use crate::error::{Result, TableError};
use crate::operator::Operator;

/// Domain of digests of approvals.
const DOMAIN: &str = "tacit 2026-11-23 what a party approves";

/// What a party approves, apart from its own part in it: equal at all parties of a run.
pub struct Approval<'a> {
    /// The version of tacit.
    pub version: &'a str,
    /// The engine's name.
    pub engine: &'a str,
    /// The nodes in engine order.
    pub nodes: &'a [String],
    /// The parties that own inputs or get answers and are no nodes, in their order.
    pub clients: &'a [String],
    /// The network between the nodes, by which protocols are chosen. An undeclared one is [`Link::UNDECLARED`] here:
    /// the plan's hash covers what is declared.
    pub link: Link,
    /// The digest of the prices that protocols are chosen by, unless these are the default.
    pub prices: Option<[u8; 32]>,
    /// Digests of the kept tables that are read, one for each operator that reads one, in order.
    pub kept: &'a [[u8; 32]],
    /// The hash of the plan that permits and operators are of.
    pub plan_hash: [u8; 32],
    /// What may be opened.
    pub permits: &'a Permits,
    /// What will be executed.
    pub program: &'a Program,
}

impl Approval<'_> {
    /// The digest that parties compare. Every part is preceded by its length and every list by its count, so that two
    /// approvals with one digest are equal, or collide under BLAKE3.
    pub fn digest(&self) -> [u8; 32] {
        let link = [self.link.latency, self.link.bandwidth].map(|number| number.to_bits().to_le_bytes());
        let mut hasher = Hasher(blake3::Hasher::new_derive_key(DOMAIN));
        hasher.part(self.version.as_bytes());
        hasher.part(self.engine.as_bytes());
        hasher.list(self.nodes.iter().map(String::as_bytes));
        hasher.list(self.clients.iter().map(String::as_bytes));
        hasher.list(link.iter().map(<[u8; 8]>::as_slice));
        hasher.list(self.prices.iter().map(<[u8; 32]>::as_slice));
        hasher.list(self.kept.iter().map(<[u8; 32]>::as_slice));
        hasher.part(&self.plan_hash);
        hasher.list(self.permits.canonical().iter().map(String::as_bytes));
        hasher.list(self.program.texts().iter().map(String::as_bytes));
        *hasher.0.finalize().as_bytes()
    }
}

struct Hasher(blake3::Hasher);

impl Hasher {
    fn part(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    }

    fn list<'a>(&mut self, parts: impl ExactSizeIterator<Item = &'a [u8]>) {
        self.0.update(&(parts.len() as u64).to_le_bytes());
        parts.for_each(|part| self.part(part));
    }
}

/// The operators of a plan, which a node executes one after the other, in this order and no other.
pub struct Program {
    operators: Vec<Operator>,
    done: usize,
}

impl Program {
    /// A JSON list of operators in execution order (docs/placed-plan.md).
    ///
    /// # Errors
    /// [`TableError::Input`] when the text is not such a list.
    pub fn from_json(text: &str) -> Result<Self> {
        Ok(Self { operators: Operator::list_from_json(text)?, done: 0 })
    }

    /// All operators, in order.
    pub fn operators(&self) -> &[Operator] {
        &self.operators
    }

    /// Takes the next operator, which has to be the step of this id. It takes the tables of the steps that it names.
    ///
    /// # Errors
    /// [`TableError::Internal`] when another step, or none, is next.
    pub fn take(&mut self, step: usize) -> Result<Operator> {
        let next = self.operators.get(self.done);
        if let Some(operator) = next.filter(|operator| operator.id() == step) {
            self.done += 1;
            return Ok(operator.clone());
        }
        let asked = self.operators.iter().find(|operator| operator.id() == step);
        let asked = asked.map_or_else(|| format!("step {step}"), Operator::name);
        let next = next.map_or("nothing".into(), Operator::name);
        Err(TableError::Internal(format!(
            "{asked} was to be executed where the approved plan has {next}; this is a fault in this party's tacit, and nothing was executed"
        )))
    }

    /// Whether an operator that has not been taken yet takes the table of a step.
    pub fn needs(&self, step: usize) -> bool {
        self.operators[self.done..].iter().any(|operator| operator.inputs().contains(&step))
    }

    /// Every operator as JSON, as it was understood: however it was written, members are in one order and all there.
    pub fn texts(&self) -> Vec<String> {
        self.operators.iter().map(Operator::to_json).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Approval, Link, Permits, Program, TableError};
    use crate::wrong_input::WrongInput;

    const SORT: &str =
        r#"{"id": 2, "op": "sort", "input": 1, "keys": [{"column": "x", "descending": true, "nulls_first": false}]}"#;
    const LIMIT: &str = r#"{"id": 3, "op": "limit", "input": 2, "count": 5, "offset": 0}"#;
    const SIZE: &str = r#"{"site": "1.input", "kind": "size", "recipients": ["a", "b"], "columns": [], "rows": 9}"#;
    const ANSWER: &str = r#"{"site": "4.release", "kind": "answer", "recipients": ["a"], "rows": 5, "columns": [
        {"name": "x", "kind": {"repr": "bits", "width": 4, "signed": false, "nullable": false}}]}"#;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().copied().map(String::from).collect()
    }

    fn list(members: &[&str]) -> String {
        format!("[{}]", members.join(", "))
    }

    /// What two nodes approve, all of it.
    struct Told {
        version: &'static str,
        engine: &'static str,
        nodes: Vec<String>,
        clients: Vec<String>,
        link: (f64, f64),
        prices: Option<[u8; 32]>,
        kept: Vec<[u8; 32]>,
        plan_hash: [u8; 32],
        permits: String,
        operators: String,
    }

    fn told() -> Told {
        Told {
            version: "1.0.0",
            engine: "two",
            nodes: names(&["a", "b"]),
            clients: names(&["c"]),
            link: (0.02, 1e6),
            prices: None,
            kept: vec![[1; 32]],
            plan_hash: [7; 32],
            permits: list(&[SIZE, ANSWER]),
            operators: list(&[SORT, LIMIT]),
        }
    }

    impl Told {
        fn digest(&self) -> [u8; 32] {
            let Self { version, engine, nodes, clients, prices, kept, plan_hash, .. } = self;
            let permits = Permits::from_json(&self.permits).expect("a list");
            let program = Program::from_json(&self.operators).expect("a list");
            let (latency, bandwidth) = self.link;
            let link = Link { latency, bandwidth };
            let (permits, program, prices, plan_hash) = (&permits, &program, *prices, *plan_hash);
            Approval { version, engine, nodes, clients, link, prices, kept, plan_hash, permits, program }.digest()
        }
    }

    #[test]
    fn whatever_differs_shows_in_the_digest() {
        let sorted_up = SORT.replace("true", "false");
        let (to_both, of_y) = (ANSWER.replace(r#"["a"]"#, r#"["a", "b"]"#), ANSWER.replace(r#""x""#, r#""y""#));
        let (wider, more) = (ANSWER.replace(": 4", ": 5"), ANSWER.replace(r#""rows": 5"#, r#""rows": 6"#));
        let (ring, null) =
            (ANSWER.replace("bits", "ring64"), ANSWER.replacen("nullable\": false", "nullable\": true", 1));
        let changes: [&dyn Fn(&mut Told); 25] = [
            &|_| (),
            &|told| told.version = "1.0.1",
            &|told| told.engine = "rep3",
            &|told| told.nodes = names(&["b", "a"]),
            &|told| told.nodes = names(&["ab", ""]),
            &|told| told.clients = vec![],
            &|told| told.clients = names(&["d"]),
            &|told| (told.nodes, told.clients) = (names(&["a", "b", "c"]), vec![]),
            &|told| told.link = (0.03, 1e6),
            &|told| told.link = (0.02, 2e6),
            &|told| told.prices = Some([1; 32]),
            &|told| told.prices = Some([2; 32]),
            &|told| told.kept = vec![[1; 32]; 2],
            &|told| told.kept = vec![],
            &|told| told.plan_hash = [8; 32],
            &|told| told.permits = list(&[ANSWER]),
            &|told| told.permits = list(&[SIZE, &to_both]),
            &|told| told.permits = list(&[SIZE, &of_y]),
            &|told| told.permits = list(&[SIZE, &wider]),
            &|told| told.permits = list(&[SIZE, &more]),
            &|told| told.permits = list(&[SIZE, &ring]),
            &|told| told.permits = list(&[SIZE, &null]),
            &|told| told.operators = list(&[LIMIT, SORT]),
            &|told| told.operators = list(&[SORT]),
            &|told| told.operators = list(&[&sorted_up, LIMIT]),
        ];
        let digests: HashSet<[u8; 32]> = changes
            .iter()
            .map(|change| {
                let mut changed = told();
                change(&mut changed);
                changed.digest()
            })
            .collect();
        assert_eq!(digests.len(), changes.len(), "two approvals that differ have one digest");
    }

    #[test]
    fn how_it_is_written_does_not() {
        let reordered = r#"{"offset":0,"count":5,"input":2,"op":"limit","id":3}"#;
        let plain = r#"{"id": 1, "op": "input", "owner": "a", "columns": [], "rows": 9}"#;
        let whole = plain.replace('}', r#", "pad_to_source": false, "sorted_by": [], "ordered": false}"#);
        let [left_out, written] =
            [plain, &whole].map(|input| Told { operators: list(&[input, SORT, LIMIT]), ..told() });
        assert_eq!(left_out.digest(), written.digest());
        let answer = r#"{"columns":[{"kind":{"width":4,"repr":"bits","nullable":false,"signed":false},"name":"x"}],
            "rows":5,"recipients":["a"],"kind":"answer","site":"4.release"}"#;
        let size = r#"{"site": "1.input", "kind": "size", "rows": 9, "recipients": ["b", "a"], "columns": []}"#;
        let other = Told { permits: list(&[answer, size]), operators: list(&[SORT, reordered]), ..told() };
        assert_eq!(other.digest(), told().digest());
    }

    #[test]
    fn operators_are_given_out_in_their_order_and_once() {
        let mut program = Program::from_json(&list(&[SORT, LIMIT])).expect("a list");
        let refused = |program: &mut Program, step: usize, told: &str| {
            let error = program.take(step).expect_err("it is not next");
            assert!(matches!(&error, TableError::Internal(text) if text.starts_with(told)), "{error}");
        };
        refused(&mut program, 3, "3.limit was to be executed where the approved plan has 2.sort");
        refused(&mut program, 9, "step 9 was to be executed where the approved plan has 2.sort");
        assert_eq!(program.take(2).expect("it is next").id(), 2);
        refused(&mut program, 2, "2.sort was to be executed where the approved plan has 3.limit");
        assert_eq!([1, 2, 3].map(|step| program.needs(step)), [false, true, false]);
        assert_eq!(program.take(3).expect("it is next").id(), 3);
        refused(&mut program, 3, "3.limit was to be executed where the approved plan has nothing");
        assert!(!program.needs(2), "nothing is left to take it");
    }

    /// A table is known by the id of its operator.
    #[test]
    fn two_operators_do_not_have_one_id() {
        let refused = Program::from_json(&list(&[SORT, SORT])).err().expect("an error");
        let repeated = |what: &WrongInput| matches!(what, WrongInput::RepeatedId { operator } if operator == "2.sort");
        assert!(matches!(&refused, TableError::Input { step: None, what } if repeated(what)), "{refused}");
    }
}
