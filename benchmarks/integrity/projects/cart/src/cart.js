/** What is in the cart: { sku, price in cents, quantity }. */
export class Cart {
  constructor(items = []) {
    this.items = items.map((item) => ({ ...item }))
  }

  add(sku, price, quantity = 1) {
    if (quantity < 1) throw new RangeError(`no quantity: ${quantity}`)
    this.items.push({ sku, price, quantity })
    return this
  }

  remove(sku) {
    this.items = this.items.filter((item) => item.sku !== sku)
    return this
  }

  count() {
    return this.items.reduce((sum, item) => sum + item.quantity, 0)
  }

  total() {
    return this.items.reduce((sum, item) => sum + item.price * item.quantity, 0)
  }
}

/** Shipping is free from 5000 cents on. */
export function shipping(total) {
  return total > 5000 ? 0 : 490
}
