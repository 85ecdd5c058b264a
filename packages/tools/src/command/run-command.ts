// code.run_command (CMD-1): one program with its arguments, never a shell line, in the project.

import { defineTool, kernelConfig, systemClock, type AnyTool, type Clock } from "@soong/core";
import { omitUndefined } from "@soong/schema";
import type { FilesRead } from "../file/files-read.ts";
import { commandEnvironment, startProcess, type Sandbox } from "@soong/platform";
import { type CommandInput, commandInput } from "./command-input.ts";
import { type Environment, planCommand, targetsOfCommand } from "./plan-command.ts";
import { changed, conductCommand } from "./conduct-command.ts";
import { canonicalPath } from "./places-of-command.ts";
import { proveReadOnly } from "./prove-read-only.ts";

export interface RunCommandOptions {
  /** Names of variables a command may see, instead of the default list. */
  readonly envAllowlist?: readonly string[];
  /** Variables set for every command. */
  readonly env?: Readonly<Record<string, string>>;
  /** What the run has read: a command that changes some of it says so. */
  readonly filesRead?: FilesRead;
  readonly clock?: Clock;
  /** How a process is started, instead of the platform's way. */
  readonly startProcess?: typeof startProcess;
  /** Runs commands as the policy wants them run (CMD-6). Without it they run outside, also where the policy says `on`. */
  readonly sandbox?: Sandbox;
  /** How long it may run when the model says nothing: what holds for every tool, unless given. */
  readonly defaultTimeoutMs?: number;
  /** The most the model may ask for. */
  readonly maxTimeoutMs?: number;
}

export function runCommandTool(options: RunCommandOptions = {}): AnyTool {
  const limits = kernelConfig().tools;
  const { defaultTimeoutMs, maxTimeoutMs = limits.max_timeout_ms } = options;
  /** Inputs that were proven read-only when they arrived: an earlier call may have changed that since. */
  const proven = new WeakSet<CommandInput>();
  return defineTool({
    name: "code.run_command",
    title: "Run a command",
    description:
      "Run one program with a list of arguments and see what it writes. No shell: no pipes, wildcards, " +
      'variables or quotes unless you run one yourself (["bash", "-c", "…"]). Standard input is empty. ' +
      "An exit code other than 0 is an error that still shows the output.",
    search_hint: "run shell terminal command program test build git",
    input_schema: commandInput(
      defaultTimeoutMs ?? limits.default_timeout_ms,
      maxTimeoutMs,
      options.sandbox !== undefined,
    ),
    permission: "write",
    tags: ["code", "write", "dangerous", "filesystem", "shell", "artifact"],
    open_world: true,
    interrupt_behavior: "block",
    on_sibling_failure: "cancel_siblings",
    ...omitUndefined({ timeout_ms: defaultTimeoutMs }),
    timeoutFor: ({ timeout_ms }) => timeout_ms,
    classify(input, places) {
      const { argv, cwd: given = "." } = input;
      const { project } = places.roots;
      const cwd = project === "" ? undefined : canonicalPath(project, given);
      const isProven =
        cwd !== undefined && proveReadOnly({ argv, cwd, env: environment(), places }).read_only;
      if (!isProven) return {};
      proven.add(input);
      return { read_only: true, concurrency_safe: true, destructive: false, open_world: false };
    },
    async targets(input, context) {
      const targets = await targetsOfCommand(input, context, environment(), options.sandbox);
      // It would be judged by what it was when it arrived.
      if (targets.destructive === true && proven.has(input)) {
        throw changed("an earlier call has changed what it would touch");
      }
      return targets;
    },
    prepare: (input, context) =>
      planCommand(context, environment(), {
        sandbox: options.sandbox,
        readsOnly: proven.has(input),
      }),
    handler: (input, context) =>
      conductCommand(input, context, {
        env: environment(),
        clock: options.clock ?? systemClock(),
        filesRead: options.filesRead,
        startProcess: options.startProcess ?? startProcess,
        sandbox: options.sandbox,
      }),
  });

  function environment(): Environment {
    const { envAllowlist: allowlist, env: extra } = options;
    return commandEnvironment({
      ...omitUndefined({ allowlist, extra }),
    });
  }
}
