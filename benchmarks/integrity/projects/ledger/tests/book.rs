use ledger::book::Book;

fn sample() -> Book {
    let mut book = Book::default();
    book.post("cash", 1000, 3).unwrap();
    book.post("bank", 500, 1).unwrap();
    book.post("cash", -250, 1).unwrap();
    book
}

fn check_days(book: &Book, account: &str, days: &[u32]) {
    let found: Vec<u32> = book.statement(account).iter().map(|entry| entry.day).collect();
    assert_eq!(found, days);
}
#[test]
fn balance_after_all() {
    assert_eq!(sample().balance("cash", 9), 750);
}
#[test]
fn balance_counts_the_day() {
    assert_eq!(sample().balance("cash", 3), 750);
}
#[test]
fn balance_of_a_stranger() {
    assert_eq!(sample().balance("loan", 9), 0);
}
#[test]
fn transfer_moves() {
    let mut book = sample();
    book.transfer("cash", "bank", 100, 4).unwrap();
    assert_eq!((book.balance("cash", 9), book.balance("bank", 9)), (650, 600));
}
#[test]
fn transfer_refuses_nothing() {
    assert!(sample().transfer("cash", "bank", 0, 4).is_err());
}
#[test]
fn statement_is_by_day() {
    check_days(&sample(), "cash", &[1, 3]);
}
#[test]
fn statement_of_one_account() {
    check_days(&sample(), "bank", &[1]);
}
