// About how long a JSON value is as text, without making the text. Stops as soon as the bound is passed,
// and does not care how deep it goes.

export function jsonSize(value: unknown, enough: number): number {
  let size = 0;
  const waiting: unknown[] = [value];
  while (waiting.length > 0 && size < enough) {
    const next = waiting.pop();
    size += 4;
    if (typeof next === "string") size += next.length;
    else if (Array.isArray(next)) {
      size += next.length;
      if (size < enough) for (const item of next) waiting.push(item);
    } else if (typeof next === "object" && next !== null) {
      for (const [key, held] of Object.entries(next)) {
        size += key.length + 4;
        waiting.push(held);
      }
    }
  }
  return size;
}
