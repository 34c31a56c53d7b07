import { expect, test } from 'vitest'
import { Cart } from '../src/cart.js'
import { money, receipt } from '../src/format.js'

test('separates thousands', () => {
  expect(money(123456)).toBe('1,234.56')
})
test('separates millions', () => {
  expect(money(123456789)).toBe('1,234,567.89')
})
test('prints a receipt', () => {
  expect(receipt(new Cart().add('pen', 120, 2).add('ink', 950))).toMatchSnapshot()
})
