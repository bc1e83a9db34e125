//! How a section of settings is declared: one line a setting, with its type, what
//! it may be and its default.

/// Declares a section, in a crate that has `serde` and `schemars`: the struct with
/// its keys in camel case, unknown keys refused, and a `Default` from the values
/// given. The description of a field becomes its description in the JSON Schema,
/// the range in brackets the range there.
#[macro_export]
macro_rules! settings {
    (
        $(#[$section:meta])*
        pub struct $name:ident {
            $(
                $(#[$setting:meta])*
                $field:ident : $type:ty $([ $($range:tt)* ])? = $default:expr,
            )*
        }
    ) => {
        $(#[$section])*
        #[derive(
            Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        #[serde(rename_all = "camelCase", default, deny_unknown_fields)]
        pub struct $name {
            $( $(#[$setting])* $(#[schemars(range($($range)*))])? pub $field: $type, )*
        }

        impl Default for $name {
            fn default() -> $name {
                $name { $( $field: $default, )* }
            }
        }
    };
}
