// A home with declared tools, a project beside it, and a kernel that has loaded them: what the tests of
// declarative tools and command hooks stand on. Everything is real but the user who is asked.

import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  createKernel,
  createMemoryArtifacts,
  createMemoryJournal,
  type AnyTool,
  type JsonObject,
  type MemoryJournal,
  type PermissionRequest,
  type Run,
  type SessionOptions,
  type ToolResult,
} from "@soong/core";
import { afterEach, beforeEach, expect, vi } from "vitest";
import {
  loadDeclarativeTools,
  type DeclarativeToolsOptions,
} from "../../packages/tools/src/declarative/load-tools.ts";
import { describeProblem } from "@soong/platform";

export interface Places {
  readonly folder: string;
  readonly home: string;
  readonly tools: string;
  readonly project: string;
  write(path: string, content: string | object, mode?: number): string;
  remove(): void;
}

export function createPlaces(parent = tmpdir()): Places {
  const folder = realpathSync(mkdtempSync(join(parent, "soong-declared-")));
  const home = join(folder, "home");
  const tools = join(home, "tools");
  const project = join(folder, "project");
  for (const directory of [tools, project]) mkdirSync(directory, { recursive: true });
  return {
    folder,
    home,
    tools,
    project,
    write(path, content, mode = 0o644) {
      const file = join(folder, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content, null, 2));
      chmodSync(file, mode);
      return file;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Places of their own for every test of a file, with nothing of the environment left behind. */
export function placesOfEachTest(): Places & {
  readonly declare: (declaration: JsonObject) => void;
} {
  let now: Places;
  beforeEach(() => {
    now = createPlaces();
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    now.remove();
  });
  return {
    get folder() {
      return now.folder;
    },
    get home() {
      return now.home;
    },
    get tools() {
      return now.tools;
    },
    get project() {
      return now.project;
    },
    write: (path, content, mode) => now.write(path, content, mode),
    remove: () => now.remove(),
    declare: (declaration) => void now.write("home/tools/x.json", declaration),
  };
}

/** A declaration with everything it needs, and whatever the test is about. */
export function declared(about: JsonObject = {}): JsonObject {
  return {
    name: "test.tool",
    description: "A tool for tests",
    input_schema: { type: "object" },
    command_type: "exec",
    command: "/bin/sh",
    ...about,
  };
}

/** A declaration whose command is this script. It may use single quotes. */
export function scripted(script: string, about: JsonObject = {}): JsonObject {
  return declared({ args: ["-c", script, "sh"], ...about });
}

/** Prints a result with this text. */
export function says(text: string): string {
  return `printf '%s' '${JSON.stringify({ ok: true, content: [{ type: "text", text }] })}'`;
}

export async function problemsIn(directory: string): Promise<string[]> {
  const loaded = await loadDeclarativeTools(directory);
  return loaded.ok ? [] : loaded.problems.map((problem) => describeProblem(problem));
}

export interface DeclaredRun {
  readonly run: Run;
  readonly journal: MemoryJournal;
  readonly artifacts: ReturnType<typeof createMemoryArtifacts>;
  /** All that the user was asked. */
  readonly requests: PermissionRequest[];
  readonly call: (name: string, input?: JsonObject) => Promise<ToolResult>;
}

/** Loads the tools of the places and starts a run in its project; whoever is asked says yes. */
export async function startDeclaredRun(
  places: Places,
  options: SessionOptions & {
    tools?: readonly AnyTool[];
    loading?: DeclarativeToolsOptions;
  } = {},
): Promise<DeclaredRun> {
  const { tools = [], loading = {}, ...session } = options;
  const loaded = await loadDeclarativeTools(places.tools, loading);
  if (!loaded.ok)
    throw new Error(loaded.problems.map((problem) => describeProblem(problem)).join("\n"));
  const journal = createMemoryJournal();
  const artifacts = createMemoryArtifacts();
  const requests: PermissionRequest[] = [];
  const run = await createKernel({ tools, sources: [loaded.source] }).startRun({
    journal,
    artifacts,
    roots: { project: places.project, write: [] },
    ask(request) {
      requests.push(request);
      return { decision: "allow_once" };
    },
    ...session,
  });
  return {
    run,
    journal,
    artifacts,
    requests,
    call: async (name, input = {}) => run.call(name, input),
  };
}

export function textOf({ content }: ToolResult): string {
  return content
    .map((block) => (block.type === "text" ? block.text : JSON.stringify(block)))
    .join("\n");
}

/** Waits, within bounds, until it holds: for what other processes do. */
export async function eventually(holds: () => boolean): Promise<void> {
  await expect.poll(holds, { timeout: 20_000, interval: 20 }).toBe(true);
}
