// "Did you mean …?": the known name that a mistyped one probably stands for.

/** The name closest to `given`, whatever its case and separators; none where no name is close. */
export function nearestName(given: string, known: readonly string[]): string | undefined {
  const plain = plainName(given);
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const name of known) {
    const candidate = plainName(name);
    const length = Math.max(plain.length, candidate.length);
    const most = Math.min(bestDistance - 1, Math.max(length < 4 ? 0 : 2, Math.floor(length / 3)));
    if (Math.abs(candidate.length - plain.length) > most) continue;
    const distance = editDistance(plain, candidate);
    if (distance > most) continue;
    best = name;
    bestDistance = distance;
  }
  return best;
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[_\-\s.]/g, "");
}

/** Insertions, deletions, replacements and swaps of neighbours, one row at a time. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, at(beforeLast, j - 2) + 1);
      }
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
