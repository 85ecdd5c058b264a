// What the code of commands has in common: the home and its config, a runtime, a session while a command works in it,
// problems of files.

import { resolve } from "node:path";
import { stdout } from "node:process";
import { boundFact, createRedactor, type Mode, type Redactor } from "@soong/core";
import { describeProblem, type Problem } from "@soong/platform";
import { agentHome, loadConfig, type LoadedConfig } from "../config/index.ts";
import { EXIT, UsageError, visible, visibleLine, type Output } from "../output/index.ts";
import { collectSecrets } from "../runtime/secrets.ts";
import {
  openRuntime,
  type Runtime,
  type RuntimeOptions,
  type StoredSession,
} from "../runtime/open-runtime.ts";
import type { FailedServer, ServerChoice } from "../runtime/servers.ts";
import type { CommandContext } from "./handler.ts";
import { onTermination, withInterrupt } from "./signals.ts";

export function resolveHome({ env }: Pick<CommandContext, "env">): string {
  try {
    return agentHome(env);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** A conversation is possible here: someone reads stdout and types. */
export function hasTerminal({ stdin }: Pick<CommandContext, "stdin">): boolean {
  return stdin.isTTY && stdout.isTTY;
}

/** The config of the home; what is odd but no mistake is noted on stderr. */
export async function loadUserConfig(context: CommandContext): Promise<LoadedConfig> {
  const config = await loadConfig({ home: resolveHome(context) });
  for (const warning of config.warnings) {
    context.output.note(`warning: ${visibleLine(describeProblem(warning))}`);
  }
  return config;
}

/** Knows every secret of the home (REDACT-3), for commands that show records; also where the config cannot be read. */
export async function createHomeRedactor(
  home: string,
  env: CommandContext["env"],
): Promise<Redactor> {
  const config = await loadConfig({ home }).catch(() => ({ home }));
  return createRedactor({ secrets: await collectSecrets(config, env) });
}

/** Problems of documents of the home. Returns the exit code: its author may think that such a file is in use. */
export function printProblems(
  { output, print }: CommandContext,
  problems: readonly Problem[],
): number {
  for (const problem of problems) {
    print({ problem }, () => output.note(visibleLine(describeProblem(problem)), "red"));
  }
  return problems.length === 0 ? EXIT.ok : EXIT.failed;
}

/** What options say of a runtime. */
export interface RuntimeFlags {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly cwd?: string;
  readonly mode?: Mode;
  readonly isSandboxed?: boolean;
}

/** Opens a runtime as options and config say, and closes it after the work. */
export async function withRuntime<T>(
  context: CommandContext,
  { allow, deny, mode, isSandboxed, cwd = "." }: RuntimeFlags,
  options: Partial<RuntimeOptions>,
  work: (runtime: Runtime) => Promise<T>,
): Promise<T> {
  // A shell variable that is not set would otherwise mean the current directory.
  if (cwd === "") throw new UsageError("--cwd or --project is empty: name the project directory.");
  const { env, output, isInteractive, json } = context;
  const noteDim = (text: string): void => output.note(visible(text), "dim");
  const runtime = await openRuntime({
    env,
    cwd: resolve(context.cwd, cwd),
    config: options.config ?? (await loadUserConfig(context)),
    flags: { allow, deny, mode, isSandboxed },
    note: noteDim,
    // Programs wait without a note.
    onWaiting: (ids) => void (!json && isInteractive && noteDim(describeWaiting(ids))),
    // Where a model works: other commands say it themselves, and programs read the fact.
    onServerFailed: (failed) =>
      void (
        options.agents === true &&
        !json &&
        (options.note ?? noteDim)(describeServerFailure(failed))
      ),
    ...options,
  });
  try {
    return await work(runtime);
  } finally {
    await runtime.close();
  }
}

/** The same, with its servers there, or waited for as long as the config says (MCP-2). Ctrl-C ends the waiting. */
export function withReadyRuntime(
  context: CommandContext,
  flags: RuntimeFlags,
  options: Partial<RuntimeOptions>,
  work: (runtime: Runtime) => Promise<number | void>,
): Promise<number | void> {
  return withRuntime(context, flags, options, async (runtime) => {
    const isInterrupted = await withInterrupt(context, async (signal) => {
      await runtime.ready(signal);
      return signal.aborted;
    });
    return isInterrupted ? EXIT.interrupted : work(runtime);
  });
}

export function describeWaiting(server_ids: readonly string[]): string {
  const names = server_ids.map(visibleLine).join(", ");
  return `waiting for the MCP ${server_ids.length === 1 ? "server" : "servers"} ${names}`;
}

/** What is missing, why, and what to do. */
export function describeServerFailure({ server_id, message, reason }: FailedServer): string {
  const name = visibleLine(server_id);
  const next =
    reason === "unauthorized"
      ? `\`soong mcp login ${name}\` logs in.`
      : reason === "variable_missing"
        ? "Set the variable, and start again."
        : `\`soong mcp list ${name}\` says more.`;
  const why = visibleLine(message).replace(/(?<![.!?])$/, ".");
  return `The tools of the MCP server ${name} are missing: ${why} ${next}`;
}

/** Of a tool's name: the server it belongs to, and no other, is connected. */
export function chooseServers(tool: string | undefined): ServerChoice {
  const [, only] = /^mcp\.([^.]+)\./.exec(tool ?? "") ?? [];
  return only === undefined ? "none" : { only };
}

/** The facts of a session as they come, one a line, for programs. */
export async function printFacts({ session, kept }: StoredSession, output: Output): Promise<void> {
  for await (const fact of session.facts({ after: kept.lastSeq ?? 0 })) {
    output.line(JSON.stringify(boundFact(fact)));
    await output.drained();
    if (output.isClosed) return;
  }
}

/**
 * Ctrl-C, a signal that ends the process (with its exit code), or an abort from another terminal. Returns how to stop
 * listening.
 */
export function onStop(
  { interrupts }: CommandContext,
  held: StoredSession,
  stop: (reason: string, exitCode?: number) => void,
): () => void {
  const listening = [
    interrupts.on(() => stop("interrupted by the user")),
    onTermination((exitCode) => stop("the process was terminated", exitCode)),
    held.onAbort((reason) => stop(reason)),
  ];
  return () => {
    for (const stopListening of listening) stopListening();
  };
}
