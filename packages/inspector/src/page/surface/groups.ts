// The tools of a surface by their state, and what each state means.

import type { SurfaceTool } from "../../wire/index.ts";
import { matcherOf } from "../parts/text.tsx";

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
  const matches = matcherOf(filter);
  const isShown = ({ tool_name, reason, detail, description, policy }: SurfaceTool): boolean =>
    matches([tool_name, reason, detail, description, policy].join(" "));
  return STATES.map((group) => ({
    ...group,
    tools: tools.filter((tool) => tool.state === group.state && isShown(tool)),
  }));
}

const FLAGS = [
  ["is_read_only", "readonly"],
  ["is_destructive", "destructive"],
  ["is_open_world", "open world"],
  ["is_concurrency_safe", "may run in parallel"],
] as const;

/** What a tool does, as declared or assumed. */
export function flagsOf(tool: SurfaceTool): string[] {
  return FLAGS.flatMap(([flag, words]) => (tool[flag] === true ? [words] : []));
}
