// The tools of a surface by their state, and what each state means.

import type { SurfaceTool } from "../../wire/index.ts";

export interface SurfaceGroup {
  readonly state: SurfaceTool["state"];
  readonly name: string;
  readonly means: string;
  readonly tools: readonly SurfaceTool[];
}

const STATES = [
  { state: "loaded", name: "Loaded", means: "The model sees them in full with every request." },
  {
    state: "deferred",
    name: "Deferred",
    means: "The model sees their names and finds them by search.",
  },
  { state: "excluded", name: "Excluded", means: "The model does not see them." },
] as const;

/** `filter`: words that a name, a reason or a description must have. */
export function surfaceGroups(tools: readonly SurfaceTool[], filter: string): SurfaceGroup[] {
  const words = filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const fits = (tool: SurfaceTool): boolean => {
    if (words.length === 0) return true;
    const text = [tool.tool_name, tool.reason, tool.detail, tool.description, tool.policy]
      .join(" ")
      .toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return STATES.map((group) => ({
    ...group,
    tools: tools.filter((tool) => tool.state === group.state && fits(tool)),
  }));
}

const FLAGS = [
  ["is_read_only", "read only"],
  ["is_destructive", "destructive"],
  ["is_open_world", "reaches outside"],
  ["is_concurrency_safe", "may run beside others"],
] as const;

/** What a tool does, as declared or assumed. */
export function flagsOf(tool: SurfaceTool): string[] {
  return FLAGS.flatMap(([flag, words]) => (tool[flag] === true ? [words] : []));
}
