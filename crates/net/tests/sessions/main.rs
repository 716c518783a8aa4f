//! What every transport must do, told once and run over each of them.

mod attendance;
mod behaviour;
mod echo;
mod faults;
mod pairs;
mod relay;
mod strangers;
mod twins;
mod world;
