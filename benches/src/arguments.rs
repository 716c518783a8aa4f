//! The command line.

use crate::Result;
use crate::gate::Gate;
use crate::nodes::{Engine, Transport};
use crate::operation::Operation;
use std::time::Duration;

/// What `--help` prints.
pub const USAGE: &str = "\
usage: tacit-bench kernels [options]    speed of each operation between an engine's nodes on this machine
       tacit-bench arrays [options]     operations on arrays of a million elements, each beside its target, between three
                                        parties on this machine; in the ring of 128 bits between four servers, too
       tacit-bench replay [options]     one party of three alone, with one thread and several, against a recorded run
       tacit-bench psi [options]        intersection of two sets, each protocol, two processes on this machine
       tacit-bench relatives [options]  universal ids, sums, shares, prepared sets, circuit-PSI, and intersection beside
                                        the machine's scalar multiplications, two processes on this machine
       tacit-bench vole [options]       silent VOLE, both fields and adversaries, two processes on this machine
       tacit-bench ot [options]         oblivious transfer, each protocol, two processes on this machine
       tacit-bench garbling [options]   garbled circuits, two processes on this machine
       tacit-bench gates [options]      ANDs, products and conversions of bits between two parties, two processes on this machine
       tacit-bench products [options]   products of matrices and convolutions in one process
       tacit-bench limits [options]     the machine's own limits: AES, memory, loopback, TLS

options of kernels
  --engine rep3          the engine, of: rep3 (three parties), two (two parties),
                         four (four servers) (default rep3)
  --bandwidth 1e9        declare a link of this bandwidth, in bytes a second (default none)
  --rows 16,18,20,22     sizes, as powers of two (default 16,18,20,22)
  --only and,sort        operations (default all), of: exchange and multiply less less-planes equal shuffle sort join
                         group-by trial
  --transport tls,plain  how the parties are joined, of: tls plain (processes over TCP), memory (threads)
                         (default tls,plain)
  --repeats 5            measured repetitions after one to warm up (default 5)
  --seconds 30           begin no further repetition of one measurement after so long (default 30)
  --steps                also print where the time went, step by step, of party a's median repetition

options of arrays
  --only matrix,less     operations (default all), of: multiply-dither multiply-floor less less-32 matrix (512 x 512),
                         multiply-128 less-128 (of 100000), which both rep3 and four run; two runs matrix, too
  --transport, --repeats, --seconds, --steps as above (default of --transport tls)

options of replay
  --only sort,join       operations (default less,sort,join-unsorted,group-by), as above
  --rows 18,20           sizes, as powers of two (default 20)
  --threads 1,2          numbers of threads, the first one to compare with (default 1,2)
  --repeats 5            measured repetitions after one in which what is sent is compared with the recorded run (default 5)

options of psi
  --rows 16,20,24        sizes of both sets, as powers of two (default 16,20); half of the items are common
  --only vole,dh         protocols (default all that take seconds at these sizes)
  --transport tls,plain  as above
  --repeats 5            measured repetitions, each with new processes and base OTs (default 5)
  --steps                as above

options of relatives
  --rows 20              sizes of both sets, as powers of two (default 20); half of the items are common. A prepared set is
                         asked about one item for each 256 that it has
  --only dh,sum          of: dh unbalanced circuit-psi private-id-oprf private-id-ddh sum ps3i (default all)
  --transport, --repeats, --steps as above (default of --repeats 3)

options of vole
  --rows 16,20           correlations, as powers of two (default 16,20,22), base OTs included, after a run to warm up
  --transport, --repeats as above

options of ot
  --rows 23              numbers of OTs, as powers of two (default 23), in batches after one setup
  --transport, --repeats as above

options of garbling
  --rows 1000000         comparisons of 32 bits, or none (default 100000,1000000,10000000); `before` is the memory
                         that a party has when its inputs lie ready, which grow with the rows
  --gates 100000000      AND gates in 32-bit products, or none (default 100000000)
  --transport, --repeats as above

options of gates
  --rows 20              rows, as powers of two (default 20): of 64 independent ANDs, of 64 ANDs with a common factor, of one
                         product of 64 bits, of 8 bits to be ring elements and of one choice between two of them
  --only ands,products   of: ands common-factor products bits choices (default all)
  --bandwidth 1e9        declare a link of this bandwidth, in bytes a second (default none)
  --transport, --repeats as above

options of products
  --threads 1,2          numbers of threads (default 1)
  --repeats              as above

options of limits
  --quick                shorter measurements

options of all
  --json                 one JSON object a line instead of text

Wall clock is taken between barriers of the parties; of a repetition the slowest party counts. `bytes` are payload
bytes that one party sends, the mean of all; `peak` is the largest resident memory of any party's process since
its start, `cpu` the processor time of all. Other work on the machine shows in `load`.";

/// What to do.
pub enum Command {
    /// Print the usage.
    Help,
    /// Measure operations.
    Kernels(Kernels),
    /// Measure operations on arrays.
    Arrays(Kernels),
    /// Measure one party alone.
    Replay(Replay),
    /// Measure intersection protocols.
    Psi(Psi),
    /// Measure relatives of intersection.
    Relatives(Psi),
    /// Measure silent VOLE.
    Voles(Correlations),
    /// Measure oblivious transfer.
    Transfers(Correlations),
    /// Measure garbled circuits.
    Garbling(Garbling),
    /// Measure the gates of two parties.
    Gates(Gates),
    /// Measure products of matrices.
    Products(Products),
    /// Measure the machine.
    Limits(Limits),
    /// Be one party, told what to do through standard input.
    Party(Engine),
    /// The same for intersection.
    PsiParty,
    /// The same for relatives of intersection.
    RelativesParty,
    /// The same for VOLE.
    VoleParty,
    /// The same for oblivious transfer.
    TransferParty,
    /// The same for garbled circuits.
    GarblingParty,
    /// The same for the gates of two parties.
    GatesParty,
}

/// Which measurements of operations.
#[derive(Clone)]
pub struct Kernels {
    /// What the nodes run.
    pub engine: Engine,
    /// Bytes a second of the declared link; none: no link is declared.
    pub bandwidth: Option<f64>,
    /// Sizes, as powers of two.
    pub rows: Vec<u32>,
    /// Operations.
    pub operations: Vec<Operation>,
    /// How the parties are joined.
    pub transports: Vec<Transport>,
    /// Measured repetitions.
    pub repeats: usize,
    /// No further repetition begins after so long.
    pub at_most: Duration,
    /// Print the cost of steps.
    pub steps: bool,
    /// Print JSON.
    pub json: bool,
}

/// The chosen measurements of one party alone.
pub struct Replay {
    /// Operations.
    pub operations: Vec<Operation>,
    /// Sizes, as powers of two.
    pub rows: Vec<u32>,
    /// Numbers of threads.
    pub threads: Vec<usize>,
    /// Measured repetitions.
    pub repeats: usize,
    /// Print JSON.
    pub json: bool,
}

/// Which measurements of intersection.
pub struct Psi {
    /// Sizes, as powers of two.
    pub rows: Vec<u32>,
    /// Names of protocols; empty for all.
    pub only: Vec<String>,
    /// How the parties are joined; memory is refused.
    pub transports: Vec<Transport>,
    /// Measured repetitions.
    pub repeats: usize,
    /// Print the cost of steps.
    pub steps: bool,
    /// Print JSON.
    pub json: bool,
}

/// Which measurements of silent VOLE or oblivious transfer.
pub struct Correlations {
    /// Correlations, as powers of two.
    pub rows: Vec<u32>,
    /// How the parties are joined; memory is refused.
    pub transports: Vec<Transport>,
    /// Measured repetitions.
    pub repeats: usize,
    /// Print JSON.
    pub json: bool,
}

/// Which measurements of garbled circuits.
pub struct Garbling {
    /// Numbers of comparisons.
    pub rows: Vec<usize>,
    /// Numbers of AND gates in products.
    pub gates: Vec<usize>,
    /// How the parties are joined; memory is refused.
    pub transports: Vec<Transport>,
    /// Measured repetitions.
    pub repeats: usize,
    /// Print JSON.
    pub json: bool,
}

/// Which measurements of the gates of two parties.
pub struct Gates {
    /// Rows, as powers of two.
    pub rows: Vec<u32>,
    /// What is measured.
    pub only: Vec<Gate>,
    /// Bytes a second of the declared link; none: no link is declared.
    pub bandwidth: Option<f64>,
    /// How the parties are joined; memory is refused.
    pub transports: Vec<Transport>,
    /// Measured repetitions.
    pub repeats: usize,
    /// Print JSON.
    pub json: bool,
}

/// Measurements of products of matrices.
pub struct Products {
    /// Numbers of threads.
    pub threads: Vec<usize>,
    /// Measured repetitions.
    pub repeats: usize,
    /// Print JSON.
    pub json: bool,
}

/// Which measurements of the machine.
pub struct Limits {
    /// Shorter measurements.
    pub quick: bool,
    /// Print JSON.
    pub json: bool,
}

/// Read the command line without the program's name.
///
/// # Errors
/// One sentence about what is wrong with it.
pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Command> {
    match words.next().as_deref() {
        None | Some("--help" | "-h" | "help") => Ok(Command::Help),
        Some("kernels") => kernels(words),
        Some("arrays") => arrays(words),
        Some("replay") => replay(words),
        Some("psi") => Ok(sets(words, vec![16, 20], 5)?.map_or(Command::Help, Command::Psi)),
        Some("relatives") => Ok(sets(words, vec![20], 3)?.map_or(Command::Help, Command::Relatives)),
        Some("vole") => Ok(correlations(words, vec![16, 20, 22])?.map_or(Command::Help, Command::Voles)),
        Some("ot") => Ok(correlations(words, vec![23])?.map_or(Command::Help, Command::Transfers)),
        Some("garbling") => garbling(words),
        Some("gates") => gates(words),
        Some("products") => products(words),
        Some("limits") => limits(words),
        Some("party") => Ok(Command::Party(Engine::Rep3)),
        Some("two-party") => Ok(Command::Party(Engine::Two)),
        Some("four-party") => Ok(Command::Party(Engine::Four)),
        Some("psi-party") => Ok(Command::PsiParty),
        Some("relatives-party") => Ok(Command::RelativesParty),
        Some("vole-party") => Ok(Command::VoleParty),
        Some("ot-party") => Ok(Command::TransferParty),
        Some("garbling-party") => Ok(Command::GarblingParty),
        Some("gates-party") => Ok(Command::GatesParty),
        Some(other) => Err(format!("there is no command {other:?}; see --help").into()),
    }
}

fn kernels(mut words: impl Iterator<Item = String>) -> Result<Command> {
    let mut chosen = Kernels {
        engine: Engine::Rep3,
        bandwidth: None,
        rows: vec![16, 18, 20, 22],
        operations: Operation::ALL.to_vec(),
        transports: vec![Transport::Tls, Transport::Plain],
        repeats: 5,
        at_most: Duration::from_secs(30),
        steps: false,
        json: false,
    };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--rows" => chosen.rows = list(&word, words.next(), |w| w.parse().ok().filter(|r| (1..=28).contains(r)))?,
            "--engine" => chosen.engine = one(&word, words.next(), Engine::from_name)?,
            "--bandwidth" => chosen.bandwidth = Some(bandwidth(&word, words.next())?),
            "--only" => chosen.operations = list(&word, words.next(), Operation::from_name)?,
            "--transport" => chosen.transports = list(&word, words.next(), Transport::from_name)?,
            "--repeats" => chosen.repeats = one(&word, words.next(), |w| w.parse().ok().filter(|&n| n > 0))?,
            "--seconds" => chosen.at_most = one(&word, words.next(), |w| w.parse().ok().map(Duration::from_secs))?,
            "--steps" => chosen.steps = true,
            "--json" => chosen.json = true,
            "--help" | "-h" => return Ok(Command::Help),
            other => return Err(unknown(other)),
        }
    }
    Ok(Command::Kernels(chosen))
}

fn arrays(mut words: impl Iterator<Item = String>) -> Result<Command> {
    let mut chosen = Kernels {
        engine: Engine::Rep3,
        bandwidth: None,
        rows: vec![],
        operations: Operation::OF_ARRAYS.to_vec(),
        transports: vec![Transport::Tls],
        repeats: 5,
        at_most: Duration::from_secs(30),
        steps: false,
        json: false,
    };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--only" => chosen.operations = list(&word, words.next(), Operation::of_arrays)?,
            "--transport" => chosen.transports = list(&word, words.next(), Transport::from_name)?,
            "--repeats" => chosen.repeats = one(&word, words.next(), |w| w.parse().ok().filter(|&n| n > 0))?,
            "--seconds" => chosen.at_most = one(&word, words.next(), |w| w.parse().ok().map(Duration::from_secs))?,
            "--steps" => chosen.steps = true,
            "--json" => chosen.json = true,
            "--help" | "-h" => return Ok(Command::Help),
            other => return Err(unknown(other)),
        }
    }
    Ok(Command::Arrays(chosen))
}

fn replay(mut words: impl Iterator<Item = String>) -> Result<Command> {
    let operations = [Operation::Less, Operation::Sort, Operation::JoinUnsorted, Operation::GroupBy].to_vec();
    let mut chosen = Replay { operations, rows: vec![20], threads: vec![1, 2], repeats: 5, json: false };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--only" => chosen.operations = list(&word, words.next(), Operation::from_name)?,
            "--rows" => chosen.rows = list(&word, words.next(), |w| w.parse().ok().filter(|r| (1..=24).contains(r)))?,
            "--threads" => {
                chosen.threads = list(&word, words.next(), |w| w.parse().ok().filter(|n| (1..=256).contains(n)))?;
            }
            "--repeats" => chosen.repeats = one(&word, words.next(), |w| w.parse().ok().filter(|&n| n > 0))?,
            "--json" => chosen.json = true,
            "--help" | "-h" => return Ok(Command::Help),
            other => return Err(unknown(other)),
        }
    }
    Ok(Command::Replay(chosen))
}

/// Bytes a second.
fn bandwidth(option: &str, word: Option<String>) -> Result<f64> {
    one(option, word, |word| word.parse().ok().filter(|&bandwidth| bandwidth > 0.0))
}

/// None if help is asked for.
fn sets(mut words: impl Iterator<Item = String>, rows: Vec<u32>, repeats: usize) -> Result<Option<Psi>> {
    let transports = vec![Transport::Tls, Transport::Plain];
    let mut chosen = Psi { rows, only: Vec::new(), transports, repeats, steps: false, json: false };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--rows" => chosen.rows = list(&word, words.next(), |w| w.parse().ok().filter(|r| (1..=26).contains(r)))?,
            "--only" => chosen.only = list(&word, words.next(), |w| Some(w.to_owned()))?,
            "--transport" => chosen.transports = list(&word, words.next(), between_processes)?,
            "--repeats" => chosen.repeats = one(&word, words.next(), |w| w.parse().ok().filter(|&n| n > 0))?,
            "--steps" => chosen.steps = true,
            "--json" => chosen.json = true,
            "--help" | "-h" => return Ok(None),
            other => return Err(unknown(other)),
        }
    }
    Ok(Some(chosen))
}

/// None if help is asked for.
fn correlations(mut words: impl Iterator<Item = String>, rows: Vec<u32>) -> Result<Option<Correlations>> {
    let transports = vec![Transport::Tls, Transport::Plain];
    let mut chosen = Correlations { rows, transports, repeats: 5, json: false };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--rows" => chosen.rows = list(&word, words.next(), |w| w.parse().ok().filter(|r| (1..=26).contains(r)))?,
            "--transport" => chosen.transports = list(&word, words.next(), between_processes)?,
            "--repeats" => chosen.repeats = one(&word, words.next(), |w| w.parse().ok().filter(|&n| n > 0))?,
            "--json" => chosen.json = true,
            "--help" | "-h" => return Ok(None),
            other => return Err(unknown(other)),
        }
    }
    Ok(Some(chosen))
}

fn garbling(mut words: impl Iterator<Item = String>) -> Result<Command> {
    let transports = vec![Transport::Tls, Transport::Plain];
    let rows = vec![100_000, 1_000_000, 10_000_000];
    let mut chosen = Garbling { rows, gates: vec![100_000_000], transports, repeats: 5, json: false };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--rows" => chosen.rows = numbers(&word, words.next())?,
            "--gates" => chosen.gates = numbers(&word, words.next())?,
            "--transport" => chosen.transports = list(&word, words.next(), between_processes)?,
            "--repeats" => chosen.repeats = one(&word, words.next(), |w| w.parse().ok().filter(|&n| n > 0))?,
            "--json" => chosen.json = true,
            "--help" | "-h" => return Ok(Command::Help),
            other => return Err(unknown(other)),
        }
    }
    Ok(Command::Garbling(chosen))
}

fn gates(mut words: impl Iterator<Item = String>) -> Result<Command> {
    let transports = vec![Transport::Tls, Transport::Plain];
    let mut chosen =
        Gates { rows: vec![20], only: Gate::ALL.to_vec(), bandwidth: None, transports, repeats: 5, json: false };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--rows" => chosen.rows = list(&word, words.next(), |w| w.parse().ok().filter(|r| (1..=24).contains(r)))?,
            "--only" => chosen.only = list(&word, words.next(), Gate::from_name)?,
            "--bandwidth" => chosen.bandwidth = Some(bandwidth(&word, words.next())?),
            "--transport" => chosen.transports = list(&word, words.next(), between_processes)?,
            "--repeats" => chosen.repeats = one(&word, words.next(), |w| w.parse().ok().filter(|&n| n > 0))?,
            "--json" => chosen.json = true,
            "--help" | "-h" => return Ok(Command::Help),
            other => return Err(unknown(other)),
        }
    }
    Ok(Command::Gates(chosen))
}

fn products(mut words: impl Iterator<Item = String>) -> Result<Command> {
    let mut chosen = Products { threads: vec![1], repeats: 5, json: false };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--threads" => {
                chosen.threads = list(&word, words.next(), |w| w.parse().ok().filter(|n| (1..=256).contains(n)))?;
            }
            "--repeats" => chosen.repeats = one(&word, words.next(), |w| w.parse().ok().filter(|&n| n > 0))?,
            "--json" => chosen.json = true,
            "--help" | "-h" => return Ok(Command::Help),
            other => return Err(unknown(other)),
        }
    }
    Ok(Command::Products(chosen))
}

/// Numbers up to 10^9; "none" for no measurement.
fn numbers(option: &str, words: Option<String>) -> Result<Vec<usize>> {
    match words.as_deref() {
        Some("none") => Ok(vec![]),
        _ => list(option, words, |w| w.parse().ok().filter(|n| (1..=1_000_000_000).contains(n))),
    }
}

fn limits(words: impl Iterator<Item = String>) -> Result<Command> {
    let mut chosen = Limits { quick: false, json: false };
    for word in words {
        match word.as_str() {
            "--quick" => chosen.quick = true,
            "--json" => chosen.json = true,
            "--help" | "-h" => return Ok(Command::Help),
            other => return Err(unknown(other)),
        }
    }
    Ok(Command::Limits(chosen))
}

fn between_processes(word: &str) -> Option<Transport> {
    Transport::from_name(word).filter(|&transport| transport != Transport::Memory)
}

fn one<T>(option: &str, word: Option<String>, read: impl Fn(&str) -> Option<T>) -> Result<T> {
    let word = word.ok_or_else(|| format!("{option} needs a value; see --help"))?;
    read(&word).ok_or_else(|| format!("{word:?} is no value of {option}; see --help").into())
}

fn list<T>(option: &str, words: Option<String>, read: impl Fn(&str) -> Option<T>) -> Result<Vec<T>> {
    one(option, words, |words| words.split(',').map(&read).collect())
}

fn unknown(word: &str) -> Box<dyn std::error::Error + Send + Sync> {
    format!("there is no option {word:?}; see --help").into()
}
