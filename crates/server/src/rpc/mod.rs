//! JSON-RPC 2.0, a message a line, on standard input and output.
