// A declaration as a tool of the kernel: how its command is planned (DECL-5) and what the user is shown of it.

import { realpath } from "node:fs/promises";
import {
  systemClock,
  ToolFailure,
  type AnyTool,
  type Clock,
  type CommandTarget,
  type JsonObject,
  type ToolContext,
} from "@soong/core";
import { isWithin, qualifyName } from "@soong/core/internal";
import { omitUndefined } from "@soong/schema";
import {
  DEFAULT_ENV_ALLOWLIST,
  findProgram,
  programEnvironment,
  type Sandbox,
} from "@soong/platform";
import { lookThroughTrees, pathsInReach, walkedTrees } from "../command/index.ts";
import {
  renderArgv,
  renderShell,
  type ArgvTemplate,
  type ShellTemplate,
} from "./command-template.ts";
import { DEFAULT_OUTPUT_LIMIT_BYTES, type Declaration } from "./declaration.ts";
import { enterSandbox, planSandbox, withSandbox, type CommandHost } from "../sandbox/index.ts";
import { runCommand, type Command } from "./run-command.ts";
import { workingDirectory } from "./working-directory.ts";

export type CommandTemplate =
  | { type: "exec"; program: string; args: ArgvTemplate }
  | { type: "shell"; script: ShellTemplate };

export interface DeclaredToolOptions {
  /** Names of variables every command sees, beside the default ones: tools.env_allowlist of the config. */
  readonly envAllowlist?: readonly string[];
  /** For progress. */
  readonly clock?: Clock;
  /** Runs the commands as the policy wants them run (CMD-6). */
  readonly sandbox?: Sandbox;
}

/** `directory`: where the declaration is, canonical. */
export function createDeclaredTool(
  file: string,
  directory: string,
  declaration: Declaration,
  template: CommandTemplate,
  { envAllowlist = [], clock = systemClock(), sandbox }: DeclaredToolOptions = {},
): AnyTool {
  const { description, input_schema, permission, tags = [], timeout_ms, working_dir } = declaration;
  const name = qualifyName(declaration.name, "declarative");
  const allowlist = [...new Set([...envAllowlist, ...(declaration.env_allowlist ?? [])])];
  return {
    name,
    ...(name === declaration.name ? {} : { aliases: [declaration.name] }),
    description,
    input_schema,
    ...omitUndefined({ permission }),
    // What its author calls readonly may run beside its siblings, unless they say otherwise (SCHED-10).
    concurrency_safe: permission === "readonly" && declaration.concurrency_safe !== false,
    // What is over a limit, and what the command gives as one, becomes an artifact.
    tags: [...tags, ...(declaration.command_type === "shell" ? ["shell"] : []), "artifact"],
    ...omitUndefined({ timeout_ms }),
    metadata: {
      declared_in: file,
      command_type: declaration.command_type,
      command: declaration.command,
      env: [...DEFAULT_ENV_ALLOWLIST, ...allowlist],
    },

    validate(input: JsonObject) {
      try {
        renderCommand(template, input);
        return undefined;
      } catch (error) {
        if (error instanceof ToolFailure) return error.message;
        throw error;
      }
    },

    async targets(input: JsonObject, context) {
      const { roots } = context;
      const rest = renderCommand(template, input);
      const cwd = await workingDirectory(working_dir, roots);
      const env = programEnvironment(allowlist, roots);
      const places = { directory, trusted: directory, roots };
      const { found, resolved } = findProgram(programOf(template), places, env);
      const argv = [found, ...rest];
      // Its author vouches for the program: only a tree that it is known to walk counts (PERM-15).
      const command = { argv, cwd, executable: resolved, read_only: true };
      const walked = lookThroughTrees(walkedTrees(command), context);
      const may_reach = [...new Set([...pathsInReach(command, context), ...walked.restricted])];
      const target: CommandTarget = {
        kind: "command",
        executable: resolved,
        argv,
        cwd,
        ...(may_reach.length === 0 ? {} : { may_reach }),
      };
      return { resources: [withSandbox(target, context, sandbox), ...walked.sensitive] };
    },

    async prepare(_input, context) {
      const { targets, roots } = context;
      const [command] = targets;
      if (command?.kind !== "command") throw new Error(`${name} is planned by its targets`);
      const { argv, cwd } = command;
      const env = programEnvironment(allowlist, roots);
      return {
        resources: [command],
        preview: { kind: "command", argv, cwd },
        env_summary: Object.keys(env).toSorted(),
        ...(await planSandbox(command, hostOf(command, env), context)),
      };
    },

    async handler(input: JsonObject, context) {
      const command = await judgedCommand(context);
      const env = programEnvironment(allowlist, context.roots);
      const run = {
        command,
        env,
        inside: await enterSandbox(command, hostOf(command, env), context),
        input,
        output: declaration.output ?? "result",
        limits: {
          stdout: declaration.stdout_limit_bytes ?? DEFAULT_OUTPUT_LIMIT_BYTES,
          stderr: declaration.stderr_limit_bytes ?? DEFAULT_OUTPUT_LIMIT_BYTES,
        },
      };
      return runCommand(context, run, clock);
    },
  };

  /** A program beside its declaration may read what else is there. */
  function hostOf({ argv, executable }: CommandTarget, env: Environment): CommandHost {
    const found = argv[0] ?? executable;
    const programs = [found, executable].map((path) =>
      isWithin(directory, path) ? directory : path,
    );
    return { sandbox, home: env["HOME"], programs };
  }
}

type Environment = Readonly<Record<string, string>>;

/** What a check at load asks: can this be run on this machine at all? */
export function programOf(template: CommandTemplate): string {
  return template.type === "exec" ? template.program : SHELL;
}

const SHELL = "/bin/sh";

/** What follows the program. Throws a ToolFailure for values that cannot stand where they would. */
function renderCommand(template: CommandTemplate, input: JsonObject): string[] {
  return template.type === "exec"
    ? renderArgv(template.args, input)
    : ["-c", renderShell(template.script, input)];
}

/** The command of the judged plan, if its names still lead where they led then. */
async function judgedCommand({ plan, toolName }: ToolContext): Promise<Command> {
  const command = plan?.resources.find((resource) => resource.kind === "command");
  if (command === undefined) throw new Error(`${toolName} was not planned`);
  const [found = command.executable] = command.argv;
  const [executable, cwd] = await Promise.all(
    [found, command.cwd].map((path) => realpath(path).catch(() => undefined)),
  );
  if (executable === command.executable && cwd === command.cwd) return command;
  throw new ToolFailure({
    code: "changed_since_approval",
    message: `${executable === command.executable ? command.cwd : found} no longer leads where it led when the call was judged; nothing was run.`,
    recovery: "retry",
    retryable: true,
  });
}
