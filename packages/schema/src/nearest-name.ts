// "Did you mean …?": the known name that a mistyped one probably stands for.

import { editDistance } from "./edit-distance.ts";

/** The name closest to `given`, whatever its case and separators; none where no name is close. */
export function nearestName(given: string, known: readonly string[]): string | undefined {
  const plain = plainName(given);
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const name of known) {
    const candidate = plainName(name);
    const length = Math.max(plain.length, candidate.length);
    const most = Math.min(
      bestDistance - 1,
      MOST_SLIPS,
      Math.max(length < 4 ? 0 : 2, Math.floor(length / 3)),
    );
    const distance = editDistance(plain, candidate, most);
    if (distance > most) continue;
    best = name;
    bestDistance = distance;
  }
  return best;
}

/** Nobody mistypes a name worse, and the cost of looking grows with it. */
const MOST_SLIPS = 6;

function plainName(name: string): string {
  return name.toLowerCase().replace(/[_\-\s.]/g, "");
}
