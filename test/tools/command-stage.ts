// A project folder and code.run_command on a real kernel: what the tests of commands stand on.

import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setImmediate as immediate, setTimeout as delay } from "node:timers/promises";
import {
  createKernel,
  createMemoryJournal,
  type Clock,
  type ConfigInput,
  type Fact,
  type PermissionAnswer,
  type PermissionRequest,
  type PermissionRule,
  type PolicyInput,
  type Run,
  type SessionOptions,
  type ToolResult,
} from "@soong/core";
import { runCommandTool, type RunCommandOptions } from "../../packages/tools/src/command/index.ts";

export interface StageOptions {
  readonly rules?: readonly PermissionRule[];
  readonly policy?: PolicyInput;
  /** Default: no one is there to be asked. */
  readonly answer?: (request: PermissionRequest) => PermissionAnswer | Promise<PermissionAnswer>;
  readonly tool?: (place: { base: string; project: string }) => RunCommandOptions;
  readonly session?: SessionOptions;
  readonly config?: ConfigInput;
  /** Where its folder is, instead of the directory for temporary files. */
  readonly parent?: string;
  /** Of the kernel: what its timeouts are measured by. */
  readonly clock?: Clock;
}

export interface Stage {
  readonly base: string;
  readonly project: string;
  readonly writable: string;
  readonly run: Run;
  readonly asked: PermissionRequest[];
  readonly facts: readonly Fact[];
  readonly command: (argv: readonly string[], rest?: object) => Promise<ToolResult>;
  /** Relative to the project. */
  readonly write: (path: string, text: string, mode?: number) => string;
  readonly close: () => void;
}

/** Every command, by a rule that names the tool. */
export const ALLOW_COMMANDS: readonly PermissionRule[] = [
  { tool: "code.run_command", decision: "allow" },
];

/** What config writes to let proven commands run unasked (CMD-4). */
export const ALLOW_READ_ONLY: readonly PermissionRule[] = [
  { tool: "code.run_command", tags: ["readonly"], decision: "allow" },
];

export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const base = realpathSync(mkdtempSync(join(options.parent ?? tmpdir(), "soong-command-")));
  const project = join(base, "project");
  const writable = join(base, "writable");
  for (const folder of [project, writable, join(base, "home")]) mkdirSync(folder);
  const asked: PermissionRequest[] = [];
  const { answer } = options;
  const journal = createMemoryJournal();
  const tool = options.tool?.({ base, project }) ?? {};
  const run = await createKernel({
    tools: [runCommandTool({ ...tool, env: { HOME: join(base, "home"), ...tool.env } })],
    ...(options.config === undefined ? {} : { config: options.config }),
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  }).startRun({
    journal,
    roots: { project, write: [writable] },
    policy: {
      home: join(base, "home"),
      rules: options.rules ?? ALLOW_COMMANDS,
      ...options.policy,
    },
    ...(answer === undefined
      ? {}
      : {
          ask: (request) => {
            asked.push(request);
            return answer(request);
          },
        }),
    ...options.session,
  });
  return {
    base,
    project,
    writable,
    run,
    asked,
    facts: journal.facts,
    command: (argv, rest = {}) => run.call("code.run_command", { argv: [...argv], ...rest }),
    write(path, text, mode) {
      const place = join(project, path);
      mkdirSync(dirname(place), { recursive: true });
      writeFileSync(place, text, mode === undefined ? {} : { mode });
      return place;
    },
    close() {
      rmSync(base, { recursive: true, force: true });
    },
  };
}

export function textOf(result: ToolResult): string {
  return result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

export function dataOf(result: ToolResult): Record<string, unknown> {
  return (result.data ?? {}) as Record<string, unknown>;
}

/** Waits for what a real process does, within bounds. */
export async function until(holds: () => boolean, what: string): Promise<void> {
  for (let left = 3000; left > 0; left -= 1) {
    // What a process wrote before is read on the way to the next turn of the event loop.
    if (holds()) return immediate();
    await delay(10);
  }
  throw new Error(`it never came to this: ${what}`);
}

export function untilExists(path: string): Promise<void> {
  return until(() => existsSync(path), `${path} is there`);
}
