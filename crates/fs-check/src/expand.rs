//! What becomes of the list of rules: tests, or data.

#[doc(hidden)]
#[macro_export]
macro_rules! __tests {
    ([$ground:ty] $($group:ident { $($rule:ident $(: $($need:ident)+)?;)* })*) => {
        #[test]
        fn declares_its_capabilities() {
            $crate::check_capabilities::<$ground>();
        }
        $(
            mod $group {
                #[allow(unused_imports, clippy::wildcard_imports, reason = "the ground may be named from there")]
                use super::*;
                $(
                    #[test]
                    fn $rule() {
                        $crate::run::<$ground>(
                            concat!(stringify!($group), "::", stringify!($rule)),
                            &[$($($crate::Capability::$need),+)?],
                            $crate::rules::$group::$rule,
                        );
                    }
                )*
            }
        )*
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __as_data {
    ([] $($group:ident { $($rule:ident $(: $($need:ident)+)?;)* })*) => {
        &[$($(
            $crate::Rule {
                group: stringify!($group),
                name: stringify!($rule),
                needs: &[$($($crate::Capability::$need),+)?],
            },
        )*)*]
    };
}
