// What a turn used, in a line: requests, tokens, what they cost where that is known, and the time.

import { describeUsage, type RunEnd } from "@soong/agent";
import { durationWords } from "./duration-words.ts";

export function usageLine({ usage }: Pick<RunEnd, "usage">, ms: number): string {
  // One that failed before it asked has used nothing.
  return [describeUsage(usage), durationWords(ms)].filter((part) => part !== "").join(" · ");
}
