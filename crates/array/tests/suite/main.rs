//! Every function against floating-point arithmetic within the error that its plan states, on engines with and without
//! security. What is declared to be sent is what is sent.

mod costs;
mod errors;
mod refusals;
mod secrecy;
mod world;
