// A call as the host names it, and as the kernel does.

import type { ClaudeTools } from "./built-in-tools.ts";

export interface HostToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
  /** As the host names it. */
  readonly toolName: string;
  /** A tool of the kernel, and not of Claude Code. */
  readonly isOwn: boolean;
}

export interface HostToolUse {
  readonly tool_name?: string;
  readonly tool_use_id?: string;
  readonly tool_input?: unknown;
  readonly cwd?: string;
  readonly mcp_server?: { readonly name: string; readonly source: string } | undefined;
}

/** Undefined for a call that is not the kernel's, and not to be judged by it. */
export type ReadHostCall = (use: HostToolUse) => HostToolCall | undefined;

export function createCallReader(server: string, builtIn: ClaudeTools | undefined): ReadHostCall {
  const prefix = `mcp__${server}__`;
  return ({ tool_name: toolName = "", tool_use_id: id = "", tool_input, cwd, mcp_server }) => {
    const input = readArguments(tool_input);
    // A name says little: another server may be called `soong__x`. Only this process can register one of the source `sdk`.
    const isOurs = mcp_server?.source === "sdk" && mcp_server.name === server;
    if (isOurs && toolName.startsWith(prefix)) {
      return { id, name: toolName.slice(prefix.length), arguments: input, toolName, isOwn: true };
    }
    const call = builtIn?.toCall({ id, name: toolName, input, cwd });
    return call && { ...call, toolName, isOwn: false };
  };
}

/** Claude Code's own form for arguments that are no JSON. */
function readArguments(input: unknown): unknown {
  if (typeof input !== "object" || input === null || !("__unparsedToolInput" in input)) {
    return input;
  }
  const unparsed = input.__unparsedToolInput;
  if (typeof unparsed !== "object" || unparsed === null || !("raw" in unparsed)) return input;
  return unparsed.raw;
}
