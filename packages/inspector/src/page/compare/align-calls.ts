// The calls of two runs side by side, in their order: which of one is which of the other. Calls of the same tool with the
// same input come first; else calls of the same tool are put beside each other where the order allows.

import type { RecordedCall } from "../../wire/session-records.ts";

type Call = Pick<RecordedCall, "tool_name" | "input">;

export interface AlignedCalls<One extends Call> {
  readonly left: One | undefined;
  readonly right: One | undefined;
}

const SAME = 3;
const SAME_TOOL = 1;

export function alignCalls<One extends Call>(
  left: readonly One[],
  right: readonly One[],
): AlignedCalls<One>[] {
  const a = left.map(readKey);
  const b = right.map(readKey);
  const width = b.length + 1;
  // The best score of what follows each pair of places.
  const best = new Int32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => best[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const score = scoreOf(a[i], b[j]);
      const both = score === 0 ? -1 : score + at(i + 1, j + 1);
      best[i * width + j] = Math.max(both, at(i + 1, j), at(i, j + 1));
    }
  }
  const rows: AlignedCalls<One>[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const score = i < a.length && j < b.length ? scoreOf(a[i], b[j]) : 0;
    if (score > 0 && at(i, j) === score + at(i + 1, j + 1)) {
      rows.push({ left: left[i++], right: right[j++] });
    } else if (i < a.length && (j === b.length || at(i, j) === at(i + 1, j))) {
      rows.push({ left: left[i++], right: undefined });
    } else rows.push({ left: undefined, right: right[j++] });
  }
  return rows;
}

interface Key {
  readonly tool: string;
  readonly input: string;
}

/** The order of names in an input is no difference. */
function readKey({ tool_name: tool, input }: Call): Key {
  try {
    return { tool, input: JSON.stringify(sortNames(JSON.parse(input) as unknown)) };
  } catch {
    return { tool, input };
  }
}

export function isSameCall(a: Call, b: Call): boolean {
  return scoreOf(readKey(a), readKey(b)) === SAME;
}

function scoreOf(a: Key | undefined, b: Key | undefined): number {
  if (a === undefined || b === undefined || a.tool !== b.tool) return 0;
  return a.input === b.input ? SAME : SAME_TOOL;
}

function sortNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortNames);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([name, one]) => [name, sortNames(one)]);
}
