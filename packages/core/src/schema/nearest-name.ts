// The known name someone probably meant: smallest edit distance, letters' case and separators aside.

export function nearestName(given: string, known: readonly string[]): string | undefined {
  if (given.length > 100) return undefined;
  const plain = plainName(given);
  let best: { name: string; distance: number } | undefined;
  for (const name of known.slice(0, 200)) {
    const candidate = plainName(name);
    const length = Math.max(plain.length, candidate.length);
    const bound = length < 3 ? 0 : Math.max(1, Math.floor(length / 3));
    if (name.length > 100 || Math.abs(candidate.length - plain.length) > bound) continue;
    const distance = editDistance(plain, candidate);
    if (distance <= bound && (best === undefined || distance < best.distance)) {
      best = { name, distance };
    }
  }
  return best?.name;
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[_\-\s.]/g, "");
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
