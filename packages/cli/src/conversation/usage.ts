// What a turn took, as text: requests, tokens, cost where it is known, and time.

import { describeUsage, type RunEnd } from "@soong/agent";

export function describeTurnUsage({ usage }: Pick<RunEnd, "usage">, ms: number): string {
  // One that failed before it asked has used nothing.
  return [describeUsage(usage), formatDuration(ms)].filter((part) => part !== "").join(" · ");
}

export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${Math.floor(ms / 100) / 10} s`;
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
