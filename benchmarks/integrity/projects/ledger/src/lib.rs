pub mod amount;
pub mod book;
