//! Macros for the conversions and texts of errors.

/// Implements `From` from each of these errors to the variant of the same name.
macro_rules! from_units {
    ($($unit:ident => $($error:ident),*;)*) => {$($(
        impl From<$unit> for $error {
            fn from(_: $unit) -> Self {
                Self::$unit
            }
        }
    )*)*};
}

/// Implements `From` between errors. Each variant becomes the variant of the same name.
macro_rules! from_variants {
    ($($from:ident => $to:ident { $($variant:ident),* })*) => {$(
        impl From<$from> for $to {
            fn from(error: $from) -> Self {
                match error { $($from::$variant => Self::$variant,)* }
            }
        }
    )*};
}

/// Implements conversions to `io::Error`. Each variant is converted like the error of the same name.
macro_rules! into_io {
    ($($from:ident { $($variant:ident),* })*) => {$(
        /// Converts the variant like the error of the same name.
        impl From<$from> for std::io::Error {
            fn from(error: $from) -> Self {
                match error { $($from::$variant => $variant.into(),)* }
            }
        }
    )*};
}

/// Implements `Display` and `Error`.
macro_rules! texts {
    ($($name:ident $(<$t:ident>)? { $($pattern:pat => $text:expr,)* })*) => {$(
        impl$(<$t>)? std::fmt::Display for $name$(<$t>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $($pattern => $text,)* })
            }
        }

        impl$(<$t>)? std::error::Error for $name$(<$t>)? {}
    )*};
}

pub(crate) use {from_units, from_variants, into_io, texts};
