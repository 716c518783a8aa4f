//! Input by an owner.
//!
//! Functionality: shares of the owner's bundle. Discloses nothing. The owner's component is the bundle less the output
//! of the common generator, which is the peer's component. No message.

use tacit_net::PartyId;

use super::share_rows;
use crate::backends::clients;
use crate::backends::two::{NODES, Two};
use crate::{Block, Result, Rows, Shape};

impl Two {
    pub(in crate::backends::two) fn input_block(
        &mut self,
        owner: PartyId,
        shape: Shape,
        data: Option<Block>,
    ) -> Result<Rows<Self>> {
        if owner.0 >= NODES {
            return clients::receive(&mut self.session, owner, shape);
        }
        if self.session.me() != owner {
            return Ok(share_rows(Block::random(shape, &mut self.common)));
        }
        let mut data = data.expect("the owner has the data");
        assert_eq!(data.shape(), shape, "data of the declared shape");
        data.subtract_random(&mut self.common);
        Ok(share_rows(data))
    }
}
