/** 123456 → '1,234.56' */
export function money(cents) {
  const [whole, part] = (cents / 100).toFixed(2).split('.')
  return `${whole.replace(/(\d)(\d{3})$/, '$1,$2')}.${part}`
}

/** A receipt, one line an item. */
export function receipt(cart) {
  const lines = cart.items.map((item) => `${item.quantity} ${item.sku} ${money(item.price)}`)
  return [...lines, `total ${money(cart.total())}`].join('\n')
}
