//! One line a setting: description, range, type, default.

/// Declares a section: the struct with its keys in camel case, unknown keys
/// refused, and a `Default` from the values given. The description of a field
/// becomes its description in the JSON Schema, its range the range there.
macro_rules! settings {
    (
        $(#[$section:meta])*
        pub struct $name:ident {
            $( $(#[$setting:meta])* $field:ident : $type:ty = $default:expr, )*
        }
    ) => {
        $(#[$section])*
        #[derive(
            Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        #[serde(rename_all = "camelCase", default, deny_unknown_fields)]
        pub struct $name {
            $( $(#[$setting])* pub $field: $type, )*
        }

        impl Default for $name {
            fn default() -> $name {
                $name { $( $field: $default, )* }
            }
        }
    };
}
