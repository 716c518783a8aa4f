//! Ending a session from another thread than the one that uses it.

use crate::error::NetError;
use crate::hub::Hub;
use std::sync::Arc;

/// Ends a running session from any thread: for a user who interrupts a long step.
#[derive(Clone)]
pub struct AbortHandle {
    hub: Arc<Hub>,
}

impl AbortHandle {
    pub(crate) fn new(hub: &Arc<Hub>) -> Self {
        Self { hub: Arc::clone(hub) }
    }

    /// Make the session's next or present call fail with [`NetError::Interrupted`]; that call tells every peer why.
    /// Without effect on a session that has failed already.
    pub fn abort(&self, reason: &str) {
        self.fail(NetError::Interrupted { step: String::new(), reason: reason.to_owned() });
    }

    /// The session's failure, if it has failed, for whoever waits for something else in this step.
    pub fn failure(&self, step: &str) -> Option<NetError> {
        self.hub.failure().map(|failure| failure.at(step))
    }

    /// Make the session fail with the failure of another one that it depends on; otherwise as [`Self::abort`].
    pub fn fail(&self, failure: NetError) {
        self.hub.fail(failure);
    }
}

impl std::fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AbortHandle").field("parties", &self.hub.names()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, PartyId, memory};
    use std::time::Duration;

    #[test]
    fn the_failure_of_another_session_keeps_its_place() {
        let mut sessions = memory::mesh(&["a", "b"], &Options::default());
        let failure = NetError::Gone { peer: "b".into(), step: "3.join/stock".into(), detail: "it left".into() };
        sessions[0].abort_handle().fail(failure.clone());
        sessions[0].enter("4.sort");
        assert_eq!(sessions[0].recv(PartyId(1), &mut [0; 8]), Err(failure));
    }

    #[test]
    fn a_waiting_party_ends_and_its_peer_learns_why() {
        let mut sessions = memory::mesh(&["a", "b"], &Options::default());
        let (mut b, mut a) = (sessions.pop().expect("two"), sessions.pop().expect("two"));
        let handle = a.abort_handle();
        a.enter("3.join");
        let waiting = std::thread::spawn(move || a.recv(PartyId(1), &mut [0; 8]).expect_err("nothing was sent"));
        std::thread::sleep(Duration::from_millis(20));
        handle.abort("it was interrupted");
        let own = waiting.join().expect("no panic");
        assert_eq!(own, NetError::Interrupted { step: "3.join".into(), reason: "it was interrupted".into() });
        let peers = b.recv(PartyId(0), &mut [0; 8]).expect_err("the other party ended");
        assert!(
            matches!(&peers, NetError::Aborted { peer, reason, .. } if peer == "a" && reason.contains("interrupted"))
        );
    }
}
