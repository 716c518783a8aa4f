//! Measured speed of the secure operations: an engine's nodes as processes on one machine, beside the machine's own
//! limits.
//!
//! `cargo run --release -p tacit-bench -- --help` prints the usage. Nothing here asserts a time: figures are for
//! people.

mod arguments;
mod arrays;
mod columns;
mod exchange;
mod format;
mod garbling;
mod gate;
mod gates;
mod kernels;
mod limits;
mod machine;
mod message;
mod nodes;
mod operation;
mod ot;
mod party;
mod processes;
mod products;
mod psi;
mod relatives;
mod replay;
mod roster;
mod statistics;
mod tables;
mod trial;
mod vole;

use arguments::{Command, USAGE};
use nodes::Engine;
use std::process::ExitCode;
use tacit_mpc::backends::{Four, Rep3, Two};

/// Failures of a bench: all end the program with one sentence.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> ExitCode {
    tacit_math::allocator::keep_large_vectors();
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tacit-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    match arguments::parse(std::env::args().skip(1))? {
        Command::Help => println!("{USAGE}"),
        Command::Kernels(selection) => kernels::run(&selection)?,
        Command::Arrays(selection) => arrays::run(&selection)?,
        Command::Limits(selection) => limits::run(&selection)?,
        Command::Products(selection) => products::run(&selection)?,
        Command::Psi(selection) => psi::run(&selection)?,
        Command::Replay(selection) => replay::run(&selection)?,
        Command::Party(Engine::Rep3) => party::main::<Rep3>()?,
        Command::Party(Engine::Two) => party::main::<Two>()?,
        Command::Party(Engine::Four) => party::main::<Four>()?,
        Command::PsiParty => psi::party()?,
        Command::Relatives(selection) => relatives::run(&selection)?,
        Command::RelativesParty => relatives::party()?,
        Command::Voles(selection) => vole::run(&selection)?,
        Command::VoleParty => vole::party()?,
        Command::Transfers(selection) => ot::run(&selection)?,
        Command::TransferParty => ot::party()?,
        Command::Garbling(selection) => garbling::run(&selection)?,
        Command::GarblingParty => garbling::party()?,
        Command::Gates(selection) => gates::run(&selection)?,
        Command::GatesParty => gates::party()?,
    }
    Ok(())
}
