//! A deserializer around another one, for bytes that are not trusted.
//!
//! Serde lets a type allocate as much as the bytes claim. This module limits:
//! - **Lengths.** A sequence does not see its claimed length, so nothing is allocated before the bytes arrive.
//! - **Depth.** A type that contains itself nests as deep as the bytes claim, and could exhaust the stack.
//! - **Number.** A sequence can claim 2^60 values without any bytes. It is refused if it has far more values than
//!   bytes.
//! - **Memory.** A large value that is absent takes one byte, and still its full size in a sequence or a box. A message
//!   is refused if the values of its sequences, maps and boxes take far more memory than its bytes.
//!
//! The memory of an element is its size, at least [`NODE`], and for the first element of a collection [`FIRST`] times
//! that. So the collections of std allocate at most four times what is counted: a vector or a hash table that grows has
//! room for three times its elements for a moment, and the first node of a `BTreeMap` has room for eleven. A value that
//! is larger than the value that contains it is in a box.

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor};
use std::{cell::Cell, fmt};

/// The maximum nesting depth of values.
pub(crate) const DEPTH: u32 = 128;

/// The maximum number of values per byte: a newtype in a newtype in a struct is three values.
const VALUES_A_BYTE: usize = 64;

/// The number of values that any message may have, even with few bytes.
const VALUES: usize = 1024;

/// The memory that is counted may be as much as this per byte, and this in any message.
const MEMORY_A_BYTE: usize = 64;
const MEMORY: usize = 1 << 16;

/// The least memory of an element, even of one without a size: a list has a node for each.
const NODE: usize = 16;

/// How many elements the first one of a collection counts for.
const FIRST: usize = 3;

/// The counts while a message is read.
pub(crate) struct Count {
    depth: Cell<u32>,
    values: Cell<usize>,
    memory: Cell<usize>,
    refused: Cell<Option<&'static str>>,
}

impl Count {
    /// Creates the counts of a message of this many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        let values = bytes.saturating_mul(VALUES_A_BYTE).saturating_add(VALUES);
        let memory = bytes.saturating_mul(MEMORY_A_BYTE).saturating_add(MEMORY);
        Self { depth: Cell::new(DEPTH), values: Cell::new(values), memory: Cell::new(memory), refused: Cell::new(None) }
    }

    /// Counts memory that is allocated for values.
    fn grow<E: Error>(&self, by: usize) -> Result<(), E> {
        match self.memory.get().checked_sub(by) {
            Some(left) => {
                self.memory.set(left);
                Ok(())
            }
            None => {
                self.refused.set(Some(TOO_LARGE));
                Err(E::custom(TOO_LARGE))
            }
        }
    }

    /// Runs `body` one level deeper, and returns its result.
    fn within<T, E: Error>(&self, body: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let (depth, values) = (self.depth.get(), self.values.get());
        if depth == 0 || values == 0 {
            let why = if depth == 0 { TOO_DEEP } else { TOO_MANY };
            self.refused.set(Some(why));
            return Err(E::custom(why));
        }
        self.depth.set(depth - 1);
        self.values.set(values - 1);
        let result = body();
        self.depth.set(depth);
        result
    }

    /// Returns why this module refused a value. The format loses the text of the error.
    pub(crate) fn refused(&self) -> Option<&'static str> {
        self.refused.get()
    }
}

const TOO_DEEP: &str = "its values lie too deep in each other";
const TOO_MANY: &str = "it has more values than so few bytes can have";
const TOO_LARGE: &str = "its values take more memory than so few bytes may";

/// A wrapper around a part of serde's interface, which counts its values.
pub(crate) struct Guard<'c, T> {
    inner: T,
    count: &'c Count,
    /// Of a deserializer: the size of the value that contains its value.
    room: usize,
    /// Of a visitor, or of access to values: whether they are elements of a collection that grows.
    is_growing: bool,
    /// Of access to values: whether the next one is the first.
    is_first: bool,
}

impl<'c, T> Guard<'c, T> {
    pub(crate) fn new(inner: T, count: &'c Count) -> Self {
        Self::growing(inner, count, false)
    }

    fn growing(inner: T, count: &'c Count, is_growing: bool) -> Self {
        Self { inner, count, room: usize::MAX, is_growing, is_first: true }
    }

    /// Wraps a deserializer for a value inside one of type `V`.
    fn inside<V>(inner: T, count: &'c Count) -> Self {
        Self { room: size_of::<V>(), ..Self::new(inner, count) }
    }

    /// Counts the memory of a value of type `V`, if it is in a box.
    fn visit<V, E: Error>(&self) -> Result<(), E> {
        if size_of::<V>() > self.room { self.count.grow(size_of::<V>()) } else { Ok(()) }
    }

    /// Counts the memory of an element of type `V`.
    fn grow<V, E: Error>(&self) -> Result<(), E> {
        let elements = if self.is_first { FIRST } else { 1 };
        if self.is_growing { self.count.grow(size_of::<V>().max(NODE).saturating_mul(elements)) } else { Ok(()) }
    }
}

macro_rules! forwarded {
    ($($method:ident($($arg:ident: $kind:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $($arg: $kind,)* visitor: V) -> Result<V::Value, D::Error> {
            self.visit::<V::Value, D::Error>()?;
            self.inner.$method($($arg,)* Guard::new(visitor, self.count))
        }
    )*};
}

type Names = &'static [&'static str];

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Guard<'_, D> {
    type Error = D::Error;

    forwarded! {
        deserialize_any()
        deserialize_bool()
        deserialize_i8()
        deserialize_i16()
        deserialize_i32()
        deserialize_i64()
        deserialize_i128()
        deserialize_u8()
        deserialize_u16()
        deserialize_u32()
        deserialize_u64()
        deserialize_u128()
        deserialize_f32()
        deserialize_f64()
        deserialize_char()
        deserialize_str()
        deserialize_string()
        deserialize_bytes()
        deserialize_byte_buf()
        deserialize_option()
        deserialize_unit()
        deserialize_unit_struct(name: &'static str)
        deserialize_newtype_struct(name: &'static str)
        deserialize_tuple(len: usize)
        deserialize_tuple_struct(name: &'static str, len: usize)
        deserialize_struct(name: &'static str, fields: Names)
        deserialize_enum(name: &'static str, variants: Names)
        deserialize_identifier()
        deserialize_ignored_any()
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.visit::<V::Value, D::Error>()?;
        self.inner.deserialize_seq(Guard::growing(visitor, self.count, true))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.visit::<V::Value, D::Error>()?;
        self.inner.deserialize_map(Guard::growing(visitor, self.count, true))
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

macro_rules! visited {
    ($($method:ident($kind:ty))*) => {$(
        fn $method<E: Error>(self, value: $kind) -> Result<V::Value, E> {
            self.inner.$method(value)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Guard<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    visited! {
        visit_bool(bool)
        visit_i8(i8)
        visit_i16(i16)
        visit_i32(i32)
        visit_i64(i64)
        visit_i128(i128)
        visit_u8(u8)
        visit_u16(u16)
        visit_u32(u32)
        visit_u64(u64)
        visit_u128(u128)
        visit_f32(f32)
        visit_f64(f64)
        visit_char(char)
        visit_str(&str)
        visit_borrowed_str(&'de str)
        visit_string(String)
        visit_bytes(&[u8])
        visit_borrowed_bytes(&'de [u8])
        visit_byte_buf(Vec<u8>)
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, inside: D) -> Result<V::Value, D::Error> {
        self.count.within(|| self.inner.visit_some(Guard::inside::<V::Value>(inside, self.count)))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inside: D) -> Result<V::Value, D::Error> {
        self.count.within(|| self.inner.visit_newtype_struct(Guard::inside::<V::Value>(inside, self.count)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, values: A) -> Result<V::Value, A::Error> {
        self.inner.visit_seq(Guard::growing(values, self.count, self.is_growing))
    }

    fn visit_map<A: MapAccess<'de>>(self, values: A) -> Result<V::Value, A::Error> {
        self.inner.visit_map(Guard::growing(values, self.count, self.is_growing))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, value: A) -> Result<V::Value, A::Error> {
        self.inner.visit_enum(Guard::new(value, self.count))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Guard<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, inside: D) -> Result<S::Value, D::Error> {
        self.count.within(|| self.inner.deserialize(Guard::inside::<S::Value>(inside, self.count)))
    }
}

// No `size_hint`: see the module.
impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Guard<'_, A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        let element = self.inner.next_element_seed(Guard::new(seed, self.count))?;
        if element.is_some() {
            self.grow::<S::Value, A::Error>()?;
            self.is_first = false;
        }
        Ok(element)
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Guard<'_, A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        let key = self.inner.next_key_seed(Guard::new(seed, self.count))?;
        if key.is_some() {
            self.grow::<S::Value, A::Error>()?;
        }
        Ok(key)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let value = self.inner.next_value_seed(Guard::new(seed, self.count))?;
        self.grow::<S::Value, A::Error>()?;
        self.is_first = false;
        Ok(value)
    }
}

impl<'de, 'c, A: EnumAccess<'de>> EnumAccess<'de> for Guard<'c, A> {
    type Error = A::Error;
    type Variant = Guard<'c, A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self::Variant), A::Error> {
        // This is the name of the variant, which contains no other values.
        let (value, variant) = self.inner.variant_seed(seed)?;
        Ok((value, Guard::new(variant, self.count)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Guard<'_, A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.inner.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.inner.newtype_variant_seed(Guard::new(seed, self.count))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.inner.tuple_variant(len, Guard::new(visitor, self.count))
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: Names, visitor: V) -> Result<V::Value, A::Error> {
        self.inner.struct_variant(fields, Guard::new(visitor, self.count))
    }
}
