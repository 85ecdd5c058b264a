// A project folder with the listing and the search on a real kernel: what their tests stand on.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  createKernel,
  type PermissionAnswer,
  type PermissionRequest,
  type PolicyInput,
  type Run,
  type SessionOptions,
  type ToolResult,
} from "@soong/core";
import { listDirTool } from "../../packages/tools/src/search/list-dir.ts";
import { searchTool, type SearchToolOptions } from "../../packages/tools/src/search/search.ts";

export interface StageOptions {
  readonly policy?: PolicyInput;
  /** Default: no one is there to be asked. */
  readonly answer?: (request: PermissionRequest) => PermissionAnswer;
  readonly search?: SearchToolOptions;
  readonly session?: SessionOptions;
}

export interface Stage {
  readonly base: string;
  readonly project: string;
  readonly run: Run;
  readonly asked: PermissionRequest[];
  /** Files by their path relative to the base; a path that ends in a slash is a directory. */
  plant(files: Readonly<Record<string, string | Buffer>>): void;
  call(name: string, input: object): Promise<ToolResult>;
  close(): void;
}

export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "soong-search-")));
  const project = join(base, "project");
  mkdirSync(project);
  const asked: PermissionRequest[] = [];
  const { answer } = options;
  const kernel = createKernel({ tools: [listDirTool(), searchTool(options.search)] });
  const run = await kernel.startRun({
    roots: { project, write: [] },
    policy: { home: join(base, "home"), ...options.policy },
    ...(answer === undefined
      ? {}
      : {
          ask: (request: PermissionRequest) => {
            asked.push(request);
            return answer(request);
          },
        }),
    ...options.session,
  });
  let calls = 0;
  return {
    base,
    project,
    run,
    asked,
    plant: (files) => plantFiles(base, files),
    async call(name, input) {
      calls += 1;
      const [result] = await run.execute([{ id: `call_${calls}`, name, arguments: input }]);
      if (result === undefined) throw new Error("the call has no result");
      return result;
    },
    close: () => rmSync(base, { recursive: true, force: true }),
  };
}

export function plantFiles(base: string, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [path, content] of Object.entries(files)) {
    const place = join(base, path);
    mkdirSync(path.endsWith("/") ? place : dirname(place), { recursive: true });
    if (!path.endsWith("/")) writeFileSync(place, content);
  }
}

export function textOf(result: ToolResult): string {
  return result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}
