anabranch_macros::proto! { #[wire] pub one { First: send { first -> ! } } }

anabranch_macros::proto! { #[wire(version = "2")] pub two { First: send { first -> ! } } }

anabranch_macros::proto! { #[wire(version = 1, name = 2)] pub three { First: send { first -> ! } } }

anabranch_macros::proto! { #[wire(version = 1)] #[wire(version = 2)] pub four { First: send { first -> ! } } }

anabranch_macros::proto! { #[wire(version = 1)] pub five { First: send<T: Send> { first(T) -> ! } } }

anabranch_macros::proto! { pub six { #[wire(version = 1)] First: send { first -> ! } } }

anabranch_macros::proto! { #[wire(version = 5000000000)] pub seven { First: send { first -> ! } } }

fn main() {}
