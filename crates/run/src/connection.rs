//! How sessions begin: over the network, in memory, or without any security.

use std::time::Duration;

use tacit_math::Workers;
use tacit_mpc::Link;
use tacit_net::attendance::Attendance;
use tacit_net::tcp::{self, Endpoint, Hello, Identity};
use tacit_net::{Options, Record, Security, Shape, memory};
use tacit_table::Approval;
use zeroize::Zeroizing;

use crate::agreement::{Agreement, Plan, Sessions};
use crate::approved::Approved;
use crate::error::{Result, RunError};
use crate::kept::KeptTable;
use crate::lifecycle::Watch;
use crate::memory::Memory;
use crate::node::ClearNode;
use crate::registry::Engine;

/// A session that has just begun.
pub struct Connected {
    /// This party.
    pub me: String,
    /// The nodes in engine order.
    pub nodes: Vec<String>,
    /// The clients in their order.
    pub clients: Vec<String>,
    /// The engine, bound to what it will execute.
    pub approved: Approved,
    /// What may be watched.
    pub watch: Watch,
    /// Who takes part, where all signed that.
    pub attendance: Option<Attendance>,
    /// The threads that compute.
    pub workers: Workers,
}

impl Agreement {
    /// The engine, if it can run among the nodes.
    fn engine(&self) -> Result<&'static Engine> {
        Engine::among(&self.engine, &self.nodes)
    }

    /// The plan, if the engine can run it.
    ///
    /// # Errors
    /// Those of [`Self::plan`]; [`RunError::MayFail`].
    fn plan_for(&self, engine: &Engine) -> Result<Plan> {
        let plan = self.plan()?;
        (engine.check)(plan.program.operators()).map(|()| plan)
    }

    /// What this party says to others before anything is shared.
    fn hello(&self, engine: &Engine, plan: &Plan) -> Hello {
        let tables = self.kept.as_deref().unwrap_or_default();
        let approval = Approval {
            version: tacit_net::VERSION,
            engine: engine.name,
            nodes: &self.nodes,
            clients: &self.clients,
            link: self.link,
            prices: self.prices.digest(),
            kept: &tables.iter().map(|table| table.digest).collect::<Vec<_>>(),
            plan_hash: self.plan_hash,
            permits: &plan.permits,
            program: &plan.program,
        };
        let hello = Hello::new(self.plan_hash, engine.name).approving(approval.digest());
        if tables.is_empty() { hello } else { hello.reading(KeptTable::digest_of(tables), &KeptTable::listed(tables)) }
    }

    /// Whether the engine makes ahead what it needs, in a second session.
    fn makes_ahead(&self, engine: &Engine) -> bool {
        engine.ahead && self.ahead
    }

    /// How many sessions the nodes have with each other.
    fn sessions(&self, engine: &Engine) -> usize {
        if self.makes_ahead(engine) { 2 } else { 1 }
    }

    /// Nodes, then clients, each once.
    ///
    /// # Errors
    /// [`RunError::NodeTwice`].
    fn names(&self) -> Result<Vec<&String>> {
        let names: Vec<&String> = self.nodes.iter().chain(&self.clients).collect();
        if (1..names.len()).any(|i| names[..i].contains(&names[i])) { Err(RunError::NodeTwice) } else { Ok(names) }
    }

    /// A party's end of the run on its sessions: a node's, the engine's first, or a client's only one.
    fn start(
        &self,
        engine: &Engine,
        sessions: Vec<tacit_net::Session>,
        plan: Plan,
        memory: Option<&Memory>,
    ) -> Result<Connected> {
        let (watch, mut sessions) = (Watch::of(&sessions), sessions.into_iter());
        let (main, background) = (sessions.next().ok_or(RunError::NotStarted)?, sessions.next());
        let (me, attendance) = (main.name(main.me()).to_owned(), main.attendance().cloned());
        let Plan { permits, program } = plan;
        let node = if self.clients.contains(&me) {
            (engine.client)(main, self, permits)
        } else {
            (engine.start)(Sessions { main, background }, self, permits, &program, memory)?
        };
        let approved = Approved::new(node, program, self.kept.as_deref());
        let (nodes, clients, workers) = (self.nodes.clone(), self.clients.clone(), Workers::default());
        Ok(Connected { me, nodes, clients, approved, watch, attendance, workers })
    }
}

/// The network between nodes from its latency in seconds and its bandwidth in bytes a second.
///
/// # Errors
/// When no network is like that.
pub fn declared_link((latency, bandwidth): (f64, f64)) -> Result<Link> {
    Link::declared(latency, bandwidth).ok_or(RunError::Link { latency, bandwidth })
}

/// The network that all parties reckon with: the declared one, checked as [`declared_link`] does, or
/// [`Link::UNDECLARED`]. It is resolved here, once, and from here on every network is alike.
///
/// # Errors
/// Those of [`declared_link`].
pub fn agreed_link(declared: Option<(f64, f64)>) -> Result<Link> {
    declared.map_or(Ok(Link::UNDECLARED), declared_link)
}

/// How a party connects to the others.
pub struct Network {
    /// All parties.
    pub parties: Vec<Endpoint>,
    /// This party's name.
    pub me: String,
    /// This party's private key.
    pub private_key_pem: Zeroizing<Vec<u8>>,
    /// The hash of the last entry of this party's ledger: all parties sign that they take part. None where none does.
    pub head: Option<[u8; 32]>,
    /// Time limits, security, shaping.
    pub options: Options,
    /// This party's memory budget, if it has one.
    pub memory: Option<Memory>,
    /// How many threads compute at this party. Nobody else is told, and messages do not depend on it.
    pub threads: usize,
}

impl Network {
    /// Connects and starts the engine.
    pub fn connect(self, agreement: &Agreement) -> Result<Connected> {
        let engine = agreement.engine()?;
        let plan = agreement.plan_for(engine)?;
        let workers = workers(self.threads)?;
        let endpoints = self.endpoints(&agreement.names()?)?;
        let me = endpoints.iter().position(|party| party.name == self.me);
        let me = me.ok_or(RunError::NoPart { party: self.me })?;
        let identity = Identity::from_pem(&*self.private_key_pem, &endpoints[me].certificate_pem)?;
        let hello = agreement.hello(engine, &plan);
        let hello = self.head.into_iter().fold(hello, Hello::attesting);
        let among = [agreement.nodes.len(), agreement.sessions(engine)];
        let sessions = tcp::connect_with_clients(&endpoints, among, me, identity, hello, &self.options)?;
        let connected = agreement.start(engine, sessions, plan, self.memory.as_ref())?;
        Ok(Connected { workers, ..connected })
    }

    /// The endpoints of these parties, in their order.
    fn endpoints(&self, names: &[&String]) -> Result<Vec<Endpoint>> {
        if let Some(party) = self.parties.iter().find(|party| !names.contains(&&party.name)) {
            return Err(RunError::NoPart { party: party.name.clone() });
        }
        let endpoint = |name: &&String| {
            let party = self.parties.iter().find(|party| party.name == **name);
            party.cloned().ok_or_else(|| RunError::Undescribed((*name).clone()))
        };
        names.iter().map(endpoint).collect()
    }
}

/// As many threads.
fn workers(threads: usize) -> Result<Workers> {
    let failed = |detail: String| RunError::Threads { threads, detail };
    match threads {
        0 => Err(failed("somebody has to compute".to_owned())),
        _ => Workers::new(threads).map_err(|error| failed(error.to_string())),
    }
}

/// The ends of all nodes of an engine, and of its clients, in this process. memory: the budget of each.
pub fn in_memory(agreement: &Agreement, options: &Options, memory: Option<&Memory>) -> Result<Vec<Connected>> {
    let engine = agreement.engine()?;
    agreement.names()?;
    agreement.plan_for(engine)?;
    let [nodes, clients] =
        [&agreement.nodes, &agreement.clients].map(|names| names.iter().map(String::as_str).collect::<Vec<_>>());
    let sessions = memory::mesh_with_clients(&nodes, &clients, agreement.sessions(engine), options);
    // An end may wait for the others.
    std::thread::scope(|scope| {
        let start = |sessions| scope.spawn(move || agreement.start(engine, sessions, agreement.plan()?, memory));
        let ends: Vec<_> = sessions.into_iter().map(start).collect();
        ends.into_iter().map(|end| end.join().unwrap_or(Err(RunError::NotStarted))).collect()
    })
}

/// The engine without security, as every party at once.
pub fn clear(agreement: &Agreement) -> Result<Connected> {
    let me = agreement.nodes.first().cloned().ok_or(RunError::NoParties)?;
    let Plan { permits, program } = agreement.plan()?;
    let approved = Approved::new(ClearNode::start(agreement, permits)?, program, None);
    Ok(Connected {
        me,
        nodes: agreement.nodes.clone(),
        clients: vec![],
        approved,
        watch: Watch::default(),
        attendance: None,
        workers: Workers::default(),
    })
}

/// Options from numbers: seconds, and bytes per second.
pub fn options(tls: bool, timeouts: [f64; 2], latency: f64, bandwidth: Option<f64>, record: bool) -> Result<Options> {
    let [connect_timeout, idle_timeout] = timeouts;
    let bandwidth = match bandwidth {
        Some(rate) if rate >= 1.0 => Some(rate as u64),
        Some(rate) => return Err(RunError::Bandwidth(rate)),
        None => None,
    };
    Ok(Options {
        connect_timeout: seconds("connect_timeout", connect_timeout)?,
        idle_timeout: seconds("idle_timeout", idle_timeout)?,
        shape: Shape { latency: seconds("latency", latency)?, bandwidth },
        record: if record { Record::Sizes } else { Record::Nothing },
        security: if tls { Security::MutualTls } else { Security::PlaintextForBenchmarks },
    })
}

fn seconds(name: &'static str, value: f64) -> Result<Duration> {
    Duration::try_from_secs_f64(value).map_err(|error| RunError::Seconds { name, value, detail: error.to_string() })
}
