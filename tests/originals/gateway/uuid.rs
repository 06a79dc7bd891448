//! In the place of the crate uuid: an id that is written as it was read.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Uuid([u8; 36]);

impl Uuid {
    pub fn parse_str(text: &str) -> Result<Uuid, ()> {
        Ok(Uuid(text.as_bytes().try_into().map_err(|_| ())?))
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(std::str::from_utf8(&self.0).unwrap())
    }
}
