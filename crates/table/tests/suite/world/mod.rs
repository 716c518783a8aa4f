//! A world for plans: clear data for owners, a naive interpreter, and runs on the engines.

pub mod cases;
pub mod data;
pub mod model;
pub mod resizes;
pub mod runs;
pub mod steps;
pub mod tables;
pub mod windows;

pub use data::{Cell, Clear, bits, ring64, ring128};

/// A plan: operators as JSON, the owners' tables by input step id.
#[derive(Clone)]
pub struct Plan {
    /// The operators in execution order.
    pub operators: Vec<tacit_table::Operator>,
}

impl Plan {
    /// From JSON texts.
    pub fn new(operators: &[String]) -> Self {
        let parse = |text: &String| tacit_table::Operator::from_json(text).unwrap_or_else(|e| panic!("{e}: {text}"));
        Self { operators: operators.iter().map(parse).collect() }
    }

    /// The plan for some of the parties: the last of them receives what a party that is missing would.
    pub fn among(mut self, parties: &[String]) -> Self {
        for operator in &mut self.operators {
            let tacit_table::Operator::Release(release) = operator else { continue };
            let last = parties.last().expect("a party");
            release.to.iter_mut().filter(|to| !parties.contains(to)).for_each(|to| to.clone_from(last));
        }
        self
    }
}

/// The parties of every test.
pub const PARTIES: [&str; 3] = ["ann", "bob", "cyd"];

/// The key of every test.
pub const HASH_KEY: [u8; 32] = [7; 32];
