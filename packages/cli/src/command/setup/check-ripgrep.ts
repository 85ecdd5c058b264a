// Whether searching has ripgrep, found out by searching: an empty folder, with the very tool that will be used.

import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKernel } from "@soong/core";
import { searchTool } from "@soong/tools";
import { describeFailure } from "../../output/index.ts";
import type { Finding } from "./finding.ts";

export async function checkRipgrep(): Promise<Finding> {
  const about = "ripgrep";
  let folder: string | undefined;
  try {
    folder = await realpath(await mkdtemp(join(tmpdir(), "soong-doctor-")));
    const run = await createKernel({ tools: [searchTool()] }).startRun({
      roots: { project: folder, write: [] },
    });
    const { data } = await run.call("code.search", { query: "anything" });
    const { engine } = (data ?? {}) as { readonly engine?: unknown };
    if (engine === "ripgrep") return { state: "ok", about, says: "found" };
    return {
      state: "warn",
      about,
      says: "not found; searching takes a slower walk of our own",
      next: "Install ripgrep, or let npm install optional packages (@vscode/ripgrep).",
    };
  } catch (error) {
    return { state: "fail", about, says: describeFailure(error).message };
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}
