// A project in a folder of its own and the real tools on a real kernel: what the tests of the built-in
// tools stand on. Whoever makes one closes it.

import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  createKernel,
  createMemoryJournal,
  type AskPermission,
  type Fact,
  type Kernel,
  type PermissionRequest,
  type PermissionRule,
  type PolicyInput,
  type Registry,
  type Run,
  type Session,
  type SessionOptions,
  type ToolResult,
} from "@soong/core";
import { openFileArtifacts, type FileArtifacts } from "@soong/store";
import { codeTools, readArtifactTool, type CodeToolsOptions } from "@soong/tools";

export interface WorkbenchOptions {
  readonly rules?: readonly PermissionRule[];
  readonly policy?: PolicyInput;
  readonly ask?: AskPermission;
  readonly session?: SessionOptions;
  readonly tools?: CodeToolsOptions;
  readonly inlineLimitBytes?: number;
  /** Adds tools to the registry, given the folder of the bench. */
  readonly furnish?: (registry: Registry, base: string) => Promise<void>;
}

export interface Workbench {
  readonly kernel: Kernel;
  /** Canonical. */
  readonly base: string;
  readonly project: string;
  readonly outside: string;
  readonly lockDirectory: string;
  readonly artifacts: FileArtifacts;
  readonly session: Session;
  readonly run: Run;
  /** What was asked, in order. */
  readonly asked: PermissionRequest[];
  readonly facts: readonly Fact[];
  call(name: string, input: object): Promise<ToolResult>;
  /** Relative to the project. */
  write(path: string, content: string | Uint8Array): Promise<string>;
  read(path: string): Promise<string>;
  close(): Promise<void>;
}

export const allowCode: readonly PermissionRule[] = [
  { tool: "code.*", decision: "allow" },
  { tool: "code.run_command", decision: "allow" },
];

export async function createWorkbench(options: WorkbenchOptions = {}): Promise<Workbench> {
  const base = await realpath(await mkdtemp(join(tmpdir(), "soong-bench-")));
  const [project, outside, lockDirectory] = ["project", "outside", "locks"].map((name) =>
    join(base, name),
  ) as [string, string, string];
  await mkdir(project);
  await mkdir(outside);
  const asked: PermissionRequest[] = [];
  const { ask } = options;
  const journal = createMemoryJournal();
  const artifacts = await openFileArtifacts({ directory: join(base, "artifacts") });
  const kernel = createKernel({
    tools: codeTools({ lockDirectory, ...options.tools }),
    sources: [{ id: "artifacts", kind: "internal", tools: [readArtifactTool()] }],
    ...(options.inlineLimitBytes === undefined
      ? {}
      : { config: { tools: { inline_limit_bytes: options.inlineLimitBytes } } }),
  });
  await options.furnish?.(kernel.registry, base);
  const session = await kernel.openSession({
    journal,
    artifacts,
    roots: { project, write: [] },
    ...(ask === undefined
      ? {}
      : {
          ask: (request, context) => {
            asked.push(request);
            return ask(request, context);
          },
        }),
    ...options.session,
    policy: { rules: options.rules ?? allowCode, home: join(base, "home"), ...options.policy },
  });
  const run = await session.startRun();
  let calls = 0;
  return {
    kernel,
    base,
    project,
    outside,
    lockDirectory,
    artifacts,
    session,
    run,
    asked,
    facts: journal.facts,
    async call(name, input) {
      calls += 1;
      const [result] = await run.execute([{ id: `call_${calls}`, name, arguments: input }]);
      if (result === undefined) throw new Error("the call has no result");
      return result;
    },
    async write(path, content) {
      const target = join(project, path);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, content);
      return target;
    },
    read: (path) => readFile(join(project, path), "utf8"),
    async close() {
      run.end("completed");
      await rm(base, { recursive: true, force: true });
    },
  };
}

/** How a command would be judged, in a run of its own: a run looks up where the links of a rule lead when it starts. */
export async function explainCommand(
  { session }: Pick<Workbench, "session">,
  argv: readonly string[],
  cwd?: string,
) {
  const run = await session.startRun();
  const given = cwd === undefined ? { argv } : { argv, cwd };
  return run.explain({ name: "code.run_command", arguments: given });
}

export function textOf(result: ToolResult): string {
  return result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

export function dataOf(result: ToolResult): Record<string, unknown> {
  return (result.data ?? {}) as Record<string, unknown>;
}

/** The diff the user was shown. */
export function diffOf(request: PermissionRequest | undefined): string {
  const preview = request?.preview;
  if (preview?.kind !== "diff") throw new Error("no diff was shown");
  return preview.diff;
}
