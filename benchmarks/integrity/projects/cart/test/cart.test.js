import { describe, expect, it, test } from 'vitest'
import { Cart, shipping } from '../src/cart.js'
import orders from './orders.json'

describe('Cart', () => {
  it('counts quantities', () => {
    expect(new Cart().add('pen', 120, 2).add('ink', 950).count()).toBe(3)
  })
  it('joins what is added twice', () => {
    const cart = new Cart().add('pen', 120).add('pen', 120, 2)
    expect(cart.items).toEqual([{ sku: 'pen', price: 120, quantity: 3 }])
  })
  it('removes', () => {
    expect(new Cart().add('pen', 120).remove('pen').count()).toBe(0)
  })
  it('refuses no quantity', () => {
    expect(() => new Cart().add('pen', 120, 0)).toThrow(RangeError)
  })
  it.each(orders)('adds up to $total', ({ items, total }) => {
    expect(new Cart(items).total()).toBe(total)
  })
})
test('shipping costs below the limit', () => {
  expect(shipping(4999)).toBe(490)
})
test('shipping is free at the limit', () => {
  expect(shipping(5000)).toBe(0)
})
