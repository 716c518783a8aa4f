//! Plans, the owners' data, and the ways to run them: in clear, among threads, and over TCP with TLS.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::thread;

use tacit_net::tcp::Endpoint;
use tacit_net::{Options, keys};
use tacit_run::kept::{KeptPart, Target, header_of, sealing_key};
use tacit_run::kept_file::KeptFile;
use tacit_run::{Agreement, BothSides, Network, Parties, Result, Session, permits};
use tacit_table::{ColumnData, DataColumn, DataTable, Operator};

pub mod plans;

/// The names of parties. The nodes of an engine are the first of them.
pub const PARTIES: [&str; 3] = ["ann", "bob", "cyd"];

/// The engines of nodes.
pub const ENGINES: [&str; 2] = ["rep3", "two"];

/// Rows of integers, sorted.
pub type Rows = Vec<Vec<i64>>;

/// What stands for NULL in [`Rows`].
pub const NULL: i64 = i64::MIN;

/// What was opened, by the ids of the steps.
pub type Opened = BTreeMap<usize, Rows>;

/// The nodes of an engine.
pub fn nodes(engine: &str) -> Vec<String> {
    let count = if engine == "two" { 2 } else { 3 };
    PARTIES[..count].iter().copied().map(String::from).collect()
}

/// A table of 64-bit columns.
pub fn table(columns: &[(&str, &[i64])]) -> DataTable {
    let column = |(name, values): &(&str, &[i64])| DataColumn {
        name: (*name).into(),
        data: ColumnData::Integers(values.to_vec()),
        nulls: None,
    };
    DataTable { rows: columns[0].1.len(), columns: columns.iter().map(column).collect(), pad_to: None }
}

/// The rows of an opened table, sorted: their order is drawn at random.
pub fn rows(table: &DataTable) -> Rows {
    let value = |column: &DataColumn, row: usize| match &column.data {
        _ if column.is_null(row) => NULL,
        ColumnData::Integers(values) => values[row],
        ColumnData::Booleans(values) => i64::from(values.get(row)),
        _ => panic!("column {} is of other values", column.name),
    };
    let row = |row| table.columns.iter().map(|column| value(column, row)).collect();
    let mut rows: Rows = (0..table.rows).map(row).collect();
    rows.sort();
    rows
}

/// An unsigned kind without NULL.
pub fn bits(width: usize) -> String {
    format!(r#"{{"repr":"bits","width":{width},"signed":false,"nullable":false}}"#)
}

/// A signed ring element.
pub const RING: &str = r#"{"repr":"ring64","width":40,"signed":true,"nullable":false}"#;

/// A signed ring element that may be NULL.
pub const NULLABLE: &str = r#"{"repr":"ring64","width":40,"signed":true,"nullable":true}"#;

/// Columns of an input, of these names and kinds.
pub fn columns(columns: &[(&str, String)]) -> String {
    let one = |(name, kind): &(&str, String)| {
        format!(r#"{{"name":"{name}","source":"{name}","encode":"int","kind":{kind}}}"#)
    };
    format!("[{}]", columns.iter().map(one).collect::<Vec<_>>().join(","))
}

/// A plan's operators and the owners' data.
pub struct Plan {
    /// The operators as JSON, in order.
    pub operators: String,
    /// Each owner's data by the ids of inputs, and of sides of intersections by those of their local steps.
    pub data: HashMap<usize, DataTable>,
}

impl Plan {
    /// Operators, each as JSON.
    pub fn new(operators: &[String], data: impl IntoIterator<Item = (usize, DataTable)>) -> Self {
        Self { operators: format!("[{}]", operators.join(",")), data: data.into_iter().collect() }
    }

    /// The operators, as they are understood.
    pub fn steps(&self) -> Vec<Operator> {
        Operator::list_from_json(&self.operators).expect("operators")
    }

    /// The nodes of an engine, and as clients all others who own something or get an answer.
    pub fn parties(&self, engine: &str) -> Parties {
        let nodes = nodes(engine);
        let named = self.steps().into_iter().flat_map(|operator| match operator {
            Operator::Input(input) => vec![input.owner],
            Operator::Release(release) => release.to,
            Operator::Kept(kept) => kept.owners,
            _ => vec![],
        });
        let clients: BTreeSet<String> = named.filter(|party| !nodes.contains(party)).collect();
        Parties { nodes, clients: clients.into_iter().collect() }
    }

    /// What the parties of an engine agree on: all permits that the plan needs.
    pub fn agreement(&self, engine: &str) -> Agreement {
        let of = if engine == "clear" { "rep3" } else { engine };
        let parties = self.parties(of);
        let permits = permits(of, &self.operators, &parties).expect("a plan");
        let agreement = Agreement::within_process(engine, parties.nodes, permits, self.operators.clone());
        Agreement { clients: parties.clients, ..agreement }
    }
}

/// Where a party has its parts of kept tables.
pub struct Store<'a>(pub &'a Path);

impl Store<'_> {
    fn path(&self, party: &str) -> PathBuf {
        self.0.join(party)
    }

    /// This party's part for a kept operator.
    pub fn read(&self, party: &str, operator: &Operator) -> Result<KeptPart> {
        KeptFile::open(&self.path(party), &sealing_key(&key(party))?)?.read(&operator.to_json())
    }

    /// What this party's part says of itself.
    pub fn header(&self, party: &str) -> String {
        header_of(&self.path(party)).expect("a part")
    }

    fn target(&self, party: &str) -> Target {
        std::fs::File::create(self.path(party)).expect("a disk");
        Target {
            path: self.path(party),
            key: sealing_key(&key(party)).expect("32 bytes"),
            about: r#"{"of":"tests"}"#.into(),
        }
    }
}

fn key(party: &str) -> Vec<u8> {
    party.bytes().cycle().take(32).collect()
}

/// Executes one step with this party's data, as a party's agent does. everyone: it plays all parties.
pub fn step(
    session: &Session,
    plan: &Plan,
    operator: &Operator,
    store: Option<&Store<'_>>,
    everyone: bool,
) -> Result<Option<DataTable>> {
    let mine = |owner: &str| everyone || owner == session.me();
    let store = || store.expect("a folder for kept tables");
    let step = operator.id();
    let node = everyone || session.nodes().iter().any(|node| node == session.me());
    match operator {
        Operator::Input(input) => {
            let data = mine(&input.owner).then(|| plan.data[&step].clone());
            session.input(step, || Ok(data)).map(|_| None)
        }
        Operator::Psi(_) | Operator::CircuitPsi(_) | Operator::UniversalIds(_) => {
            let sides = operator.matched_sides().expect("two sides");
            let data: BothSides = sides.map(|side| mine(&side.owner).then(|| plan.data[&side.local].clone()));
            session.psi(step, || Ok(data)).map(|_| None)
        }
        Operator::Kept(_) if node => session.kept(step, store().read(session.me(), operator)?).map(|_| None),
        Operator::Keep(_) if node => session.keep(step, &store().target(session.me())).map(|_| None),
        Operator::Release(_) => session.release(step),
        _ => session.run(step).map(|_| None),
    }
}

/// Executes all steps and ends in order.
pub fn drive(session: &Session, plan: &Plan, store: Option<&Store<'_>>, everyone: bool) -> Result<Opened> {
    let mut opened = Opened::new();
    for operator in plan.steps() {
        if let Some(table) = step(session, plan, &operator, store, everyone)? {
            opened.insert(operator.id(), rows(&table));
        }
    }
    session.close()?;
    Ok(opened)
}

/// Every session driven by a thread of its own; what each ends with, in their order.
pub fn together<T: Send>(sessions: &[Session], work: impl Fn(&Session) -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let work = &work;
        let ends: Vec<_> = sessions.iter().map(|session| scope.spawn(move || work(session))).collect();
        ends.into_iter().map(|end| end.join().expect("no panic")).collect()
    })
}

/// On the engine without security.
pub fn in_clear(plan: &Plan) -> Opened {
    let session = Session::clear(&plan.agreement("clear")).expect("a plan");
    drive(&session, plan, None, true).expect("an answer")
}

/// The ends of an engine's nodes in this process.
pub fn sessions(plan: &Plan, engine: &str) -> Vec<Session> {
    Session::in_memory(&plan.agreement(engine), &Options::default(), None).expect("a plan")
}

/// Nodes that know each other's certificates and listen on this machine.
pub struct Networks {
    parties: Vec<Endpoint>,
    keys: Vec<Vec<u8>>,
}

impl Networks {
    /// Of these nodes, on ports that nobody uses now.
    pub fn new(nodes: &[String]) -> Self {
        let listeners: Vec<_> = nodes.iter().map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port")).collect();
        let (mut parties, mut keys) = (Vec::new(), Vec::new());
        for (name, listener) in nodes.iter().zip(&listeners) {
            let (key, certificate_pem) = keys::generate(name).expect("randomness");
            let address = listener.local_addr().expect("an address").to_string();
            parties.push(Endpoint { name: name.clone(), address, certificate_pem });
            keys.push(key.as_bytes().to_vec());
        }
        Self { parties, keys }
    }

    /// How one of them connects.
    pub fn of(&self, place: usize) -> Network {
        let (parties, me) = (self.parties.clone(), self.parties[place].name.clone());
        Network {
            parties,
            me,
            private_key_pem: self.keys[place].clone().into(),
            head: Some([place as u8; 32]),
            options: Options::default(),
            memory: None,
            threads: 1 + place % 2,
        }
    }
}

/// Every node of an engine over TCP with TLS, in a thread of its own. agreement: what this node approves; work: what it
/// does.
pub fn over_tls<T: Send>(
    nodes: &[String],
    agreement: impl Fn(usize) -> Agreement + Sync,
    work: impl Fn(&Session) -> Result<T> + Sync,
) -> Vec<Result<T>> {
    let networks = Networks::new(nodes);
    let run = |place| Session::connect(networks.of(place), &agreement(place)).and_then(|session| work(&session));
    thread::scope(|scope| {
        let run = &run;
        let ends: Vec<_> = (0..nodes.len()).map(|place| scope.spawn(move || run(place))).collect();
        ends.into_iter().map(|end| end.join().expect("no panic")).collect()
    })
}
