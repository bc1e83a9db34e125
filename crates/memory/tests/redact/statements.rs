//! Passwords in statements and commands of databases.

use longhaul_memory::Kind;

use crate::{finds, stay};

#[test]
fn a_password_is_found_in_every_statement_that_gives_one() {
    let texts = [
        "SET PASSWORD FOR 'app'@'%' = PASSWORD('§');",
        "SET PASSWORD FOR 'app'@'%' = '§';",
        "SET PASSWORD = PASSWORD(\"§\");",
        "set password for 'app'@'%' = password('§');",
        "mysql -e \"SET PASSWORD FOR 'app'@'%' = PASSWORD('§');\"",
        "```sql\nSET PASSWORD = '§';\n```",
        "UPDATE mysql.user SET authentication_string=PASSWORD('§') WHERE user='root';",
        "CREATE USER app IDENTIFIED VIA mysql_native_password USING PASSWORD('§');",
        "ALTER USER app IDENTIFIED BY '§'",
        "ALTER USER 'app'@'%' IDENTIFIED WITH caching_sha2_password BY '§';",
        "ALTER ROLE app WITH ENCRYPTED PASSWORD '§'",
        "ALTER USER app PASSWORD '§';",
        "CREATE LOGIN app WITH PASSWORD = N'§', CHECK_POLICY=OFF",
        "db.createUser({user: \"app\", pwd: \"§\", roles: []})",
        "db.changeUserPassword(\"app\", \"§\")",
        "db.changeUserPassword('app', '§');",
        "db.changeUserPassword(\n  \"app\",\n  \"§\"\n)",
    ];
    finds(Kind::Password, "Blue7horse", &texts);
    finds(Kind::Password, "sunflower", &texts);
    finds(
        Kind::Password,
        "Blue7horse",
        &[
            "UPDATE users SET password = crypt('§', gen_salt('bf')) WHERE id = 1;",
            "UPDATE users SET password = MD5('§');",
        ],
    );
}

#[test]
fn statements_without_a_password_stay() {
    stay(&[
        "SET PASSWORD FOR 'app'@'%' = PASSWORD(?);",
        "SET PASSWORD FOR app = $1;",
        "ALTER USER app IDENTIFIED BY '${DB_PASSWORD}';",
        "ALTER ROLE app WITH PASSWORD NULL;",
        "ALTER USER app PASSWORD EXPIRE;",
        "db.changeUserPassword(user, newPassword)",
        "db.changeUserPassword(\"app\", passwordPrompt())",
        "PASSWORD(\"password\"),",
        "PASSWORD(\"oauth2\"), BASIC(\"basicauth\");",
        "enum Field { PASSWORD('password'), EMAIL('email') }",
        "The user is identified by 'username' in every request.",
    ]);
}

#[test]
fn what_a_query_for_passwords_looks_for_stays() {
    stay(&[
        "SELECT password FROM users WHERE username = 'admin2';",
        "SELECT u.password FROM users u WHERE u.name = 'bob1234'",
        "SELECT user_login, user_pass FROM wp_users WHERE user_login = 'editor01'",
        "select password from users where name = 'bob1234'",
    ]);
    finds(
        Kind::Password,
        "Tr0ub4dor3x",
        &[
            "SELECT password FROM users WHERE password = '§'",
            "the password for bob = §",
        ],
    );
}
