// What the config changes about single tools (`tools.overrides`).

import type { AnyTool } from "@soong/core";
import { matchesName } from "@soong/core/internal";
import type { SoongConfig } from "./soong-config.ts";

/** The same tool when nothing is said about it. Of several patterns that fit, the longest counts. */
export function overrideTool(tool: AnyTool, { tools }: SoongConfig): AnyTool {
  const fitting = Object.entries(tools.overrides)
    .filter(
      ([pattern, { timeout_ms }]) => timeout_ms !== undefined && matchesName(pattern, tool.name),
    )
    .toSorted(([a], [b]) => b.length - a.length);
  const timeout = fitting[0]?.[1].timeout_ms;
  if (timeout === undefined) return tool;
  return {
    ...tool,
    timeout_ms: timeout,
    timeoutFor(input) {
      const asked = tool.timeoutFor?.(input);
      return asked === undefined ? undefined : Math.min(asked, timeout);
    },
  };
}
