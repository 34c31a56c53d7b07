/** Take a coupon such as { percent: 10 } or { off: 500 } from a total; never below 0. */
export function apply(total, coupon) {
  if (coupon.percent) return total - Math.round((total * coupon.percent) / 100)
  return total - coupon.off
}

/** Coupons end with their last day, given as YYYY-MM-DD. */
export function valid(coupon, today) {
  return coupon.until === undefined || today <= coupon.until
}
