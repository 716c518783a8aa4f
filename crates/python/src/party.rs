//! Parties as Python describes them.

use pyo3::prelude::*;
use tacit_net::tcp::Endpoint;

/// Static description of one party for ``Session.connect``.
#[pyclass(frozen, from_py_object, module = "tacit._native")]
#[derive(Clone)]
pub struct Party {
    endpoint: Endpoint,
}

#[pymethods]
impl Party {
    #[new]
    fn new(name: String, address: String, certificate_pem: String) -> Self {
        Self { endpoint: Endpoint { name, address, certificate_pem } }
    }

    fn __repr__(&self) -> String {
        format!("Party({:?}, {:?})", self.endpoint.name, self.endpoint.address)
    }
}

impl Party {
    /// Where the party is and how it proves who it is.
    pub fn into_endpoint(self) -> Endpoint {
        self.endpoint
    }
}
