import { expect, test } from 'vitest'
import { apply, valid } from '../src/coupon.js'

test('takes percent', () => {
  expect(apply(2000, { percent: 10 })).toBe(1800)
})
test('takes an amount', () => {
  expect(apply(2000, { off: 500 })).toBe(1500)
})
test('never goes below nothing', () => {
  expect(apply(300, { off: 500 })).toBe(0)
})
test('is valid on its last day', () => {
  expect(valid({ until: '2024-05-01' }, '2024-05-01')).toBe(true)
  expect(valid({ until: '2024-05-01' }, '2024-05-02')).toBe(false)
})
