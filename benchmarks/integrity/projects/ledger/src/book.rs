//! A book of entries.

#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub account: String,
    pub cents: i64,
    pub day: u32,
}

#[derive(Default)]
pub struct Book {
    entries: Vec<Entry>,
}

impl Book {
    pub fn post(&mut self, account: &str, cents: i64, day: u32) -> Result<(), String> {
        self.entries.push(Entry { account: account.to_string(), cents, day });
        Ok(())
    }

    /// What an account holds at the end of that day.
    pub fn balance(&self, account: &str, day: u32) -> i64 {
        let until = self.entries.iter().filter(|entry| entry.account == account && entry.day < day);
        until.map(|entry| entry.cents).sum()
    }

    /// Moves an amount from one account to another.
    pub fn transfer(&mut self, from: &str, to: &str, cents: i64, day: u32) -> Result<(), String> {
        if cents <= 0 {
            return Err(format!("nothing to transfer: {cents}"));
        }
        self.post(from, -cents, day)?;
        self.post(to, cents, day)
    }

    /// The entries of an account, by day.
    pub fn statement(&self, account: &str) -> Vec<&Entry> {
        self.entries.iter().filter(|entry| entry.account == account).collect()
    }
}
