// What the lines of a receipt cost together, in cents.

/** @param {readonly { price: number, quantity: number }[]} lines */
export function total(lines) {
  let cents = 0;
  for (const { price, quantity } of lines) {
    const discount = quantity > 10 ? 0.1 : 0;
    cents += Math.round(price * quantity * (1 - discount));
  }
  return cents;
}
