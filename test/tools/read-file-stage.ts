// A project in a folder of its own and code.read_file on a real kernel: what its tests stand on. Whoever
// makes one closes it.

import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  createKernel,
  type AskPermission,
  type PermissionRequest,
  type PolicyInput,
  type Run,
  type ToolResult,
} from "@soong/core";
import { readFileTool } from "../../packages/tools/src/file/read-file.ts";
import type { FilesRead } from "../../packages/tools/src/file/files-read.ts";

export interface StageOptions {
  policy?: PolicyInput;
  ask?: AskPermission;
  secrets?: { name: string; value: string }[];
  inlineLimitBytes?: number;
  filesRead?: FilesRead;
}

export interface Stage {
  /** Canonical, as are the two below it. */
  base: string;
  project: string;
  outside: string;
  run: Run;
  asked: PermissionRequest[];
  /** A path relative to the project; gives the absolute one. */
  write(path: string, content: string | Uint8Array): Promise<string>;
  read(path: string, more?: { start_line?: number; max_lines?: number }): Promise<ToolResult>;
  close(): Promise<void>;
}

export async function createStage(options: StageOptions = {}): Promise<Stage> {
  const { policy, ask, secrets = [], inlineLimitBytes, filesRead } = options;
  const base = await realpath(await mkdtemp(join(tmpdir(), "soong-read-")));
  const project = join(base, "project");
  const outside = join(base, "outside");
  await mkdir(project);
  await mkdir(outside);
  const asked: PermissionRequest[] = [];
  const kernel = createKernel({
    tools: [readFileTool(filesRead === undefined ? {} : { filesRead })],
  });
  const run = await kernel.startRun({
    roots: { project, write: [] },
    secrets,
    policy: { home: join(base, "home"), ...policy },
    inlineLimitBytes,
    ...(ask === undefined
      ? {}
      : {
          ask(request, context) {
            asked.push(request);
            return ask(request, context);
          },
        }),
  });
  return {
    base,
    project,
    outside,
    run,
    asked,
    async write(path, content) {
      const target = join(project, path);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, content);
      return target;
    },
    read: (path, more = {}) => run.call("code.read_file", { path, ...more }),
    close: () => rm(base, { recursive: true, force: true }),
  };
}

export function texts(result: ToolResult): string[] {
  return result.content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`));
}
