//! Protocol buffers for traces: fields of integers, text and messages.
//!
//! A trace is written field by field, without a message in memory.

use prost::encoding::{WireType, encode_key, encode_varint};

/// A message in progress.
#[derive(Clone, Debug, Default)]
pub struct ProtoMessage(Vec<u8>);

impl ProtoMessage {
    /// Creates an empty message.
    pub fn new() -> ProtoMessage {
        ProtoMessage(Vec::with_capacity(256))
    }

    /// Clears it for another message.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Adds an integer field.
    #[inline]
    pub fn number(&mut self, field: u32, value: u64) {
        encode_key(field, WireType::Varint, &mut self.0);
        encode_varint(value, &mut self.0);
    }

    /// Adds a field of eight bytes.
    pub fn fixed(&mut self, field: u32, value: u64) {
        encode_key(field, WireType::SixtyFourBit, &mut self.0);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// Adds a floating-point field.
    pub fn double(&mut self, field: u32, value: f64) {
        self.fixed(field, value.to_bits());
    }

    /// Adds a text field.
    pub fn text(&mut self, field: u32, value: &str) {
        self.raw(field, value.as_bytes());
    }

    /// Adds a message field.
    #[inline]
    pub fn message(&mut self, field: u32, inner: &ProtoMessage) {
        self.raw(field, &inner.0);
    }

    #[inline]
    fn raw(&mut self, field: u32, bytes: &[u8]) {
        put_bytes(&mut self.0, field, bytes);
    }
}

/// Adds a field of bytes to a message.
#[inline]
pub fn put_bytes(out: &mut Vec<u8>, field: u32, bytes: &[u8]) {
    encode_key(field, WireType::LengthDelimited, out);
    encode_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the description of the format, protobuf.dev/programming-guides/encoding.
    #[test]
    fn fields_are_those_of_the_description() {
        let mut message = ProtoMessage::new();
        message.number(1, 150);
        assert_eq!(message.bytes(), [0x08, 0x96, 0x01]);
        message.clear();
        message.text(2, "testing");
        assert_eq!(message.bytes(), [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67]);
        let mut inner = ProtoMessage::new();
        inner.number(1, 150);
        message.clear();
        message.message(3, &inner);
        assert_eq!(message.bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
    }

    #[test]
    fn numbers_reach_their_ends() {
        let mut message = ProtoMessage::new();
        message.number(1, u64::MAX);
        let longest = [&[0x08][..], &[0xff; 9], &[0x01]].concat();
        assert_eq!(message.bytes(), longest);
        message.clear();
        message.fixed(16, 1);
        assert_eq!(message.bytes(), [0x81, 0x01, 1, 0, 0, 0, 0, 0, 0, 0]);
        message.clear();
        message.double(1, 1.0);
        assert_eq!(message.bytes(), [0x09, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
    }
}
