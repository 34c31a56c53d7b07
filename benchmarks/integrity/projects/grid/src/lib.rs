//! Maps of squares, and ways through them.

pub mod map;
pub mod walk;
