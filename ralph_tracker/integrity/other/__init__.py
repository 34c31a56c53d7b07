"""JavaScript, TypeScript, Go, Rust and Java source as integrity sees it: its tests and the plain forms of demands."""
