// Waiting for MCP servers before a command looks or acts (MCP-2): Ctrl-C ends the waiting, and a user at a terminal
// sees whom they wait for.

import { visibleLine } from "../output/index.ts";
import type { Runtime, ServerChoice } from "../runtime/index.ts";
import type { CommandContext } from "./context.ts";

/** Of a tool's name: the server it belongs to, and no other, is connected. */
export function chooseServers(tool: string | undefined): ServerChoice {
  const [, only] = /^mcp\.([^.]+)\./.exec(tool ?? "") ?? [];
  return only === undefined ? "none" : { only };
}

/** For `openRuntime`. Programs are not told: they wait without wondering. */
export function noteWaiting(
  { output, isInteractive }: Pick<CommandContext, "output" | "isInteractive">,
  json: boolean,
): { onWaiting?(server_ids: readonly string[]): void } {
  if (json || !isInteractive) return {};
  return {
    onWaiting: (ids) => output.note(output.noteColours.dim(describeWaiting(ids))),
  };
}

export function describeWaiting(server_ids: readonly string[]): string {
  const names = server_ids.map(visibleLine).join(", ");
  return `waiting for the MCP ${server_ids.length === 1 ? "server" : "servers"} ${names}`;
}

export async function awaitServers(
  { interrupts }: Pick<CommandContext, "interrupts">,
  runtime: Pick<Runtime, "ready">,
): Promise<"ready" | "interrupted"> {
  const interrupted = new AbortController();
  const stopListening = interrupts.on(() => interrupted.abort());
  try {
    await runtime.ready(interrupted.signal);
    return interrupted.signal.aborted ? "interrupted" : "ready";
  } finally {
    stopListening();
  }
}
