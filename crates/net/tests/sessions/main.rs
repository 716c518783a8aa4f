//! What every transport must do, told once and run over each of them.

mod behaviour;
mod faults;
mod relay;
mod twins;
mod world;
