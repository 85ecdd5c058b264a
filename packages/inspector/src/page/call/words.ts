// Ways out of an error, origins of rules and words of a command, as text.

import type { ToolError } from "@soong/core";

const RECOVERIES: Readonly<Record<string, string>> = {
  change_arguments: "The same call with other arguments may work.",
  discover_first: "The tool must be found with a search first.",
  needs_approval: "It requires approval: answer its question, or allow it with a rule.",
  retry: "The same call may work when it is made again.",
  retry_after_delay: "The same call may work after a while.",
  use_another_tool: "Use another tool.",
  set_up_first: "Something must be set up first.",
  ask_the_user: "Ask the user what to do.",
};

/** It ran, and what it says of its failure is all there is to say: a test that fails needs no advice about its call. */
const RAN = new Set([
  "execution_failed",
  "partial_failure",
  "timeout",
  "canceled",
  "sibling_canceled",
  "result_too_large",
  "result_redacted",
  "streaming_fallback_discarded",
]);

/** What would make the call work, where it was kept from running; undefined where there is nothing to advise. */
export function adviceText({
  recovery,
  error_class,
}: Pick<ToolError, "recovery" | "error_class">): string | undefined {
  if (recovery === "none" || RAN.has(error_class)) return undefined;
  return Object.hasOwn(RECOVERIES, recovery)
    ? RECOVERIES[recovery]
    : `${(recovery as string).replaceAll("_", " ")}.`;
}

export function originText(
  origin: { file?: string; line?: number; flag?: string; code?: string } | undefined,
): string {
  if (origin === undefined) return "";
  const { file, line, flag, code } = origin;
  if (file !== undefined) return line === undefined ? file : `${file}:${line}`;
  return flag ?? code ?? "";
}
