// The scripts a command would run, as they are now: part of what is approved, so that one that is edited before it
// starts is another command (PERM-8).

import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { basename } from "node:path";
import type { Plan } from "@soong/core";
import { readWholeFile, stampOf } from "../path/index.ts";
import { canonicalPath } from "./places-of-command.ts";

type PreImages = NonNullable<Plan["pre_images"]>;

/** Of the arguments: what an interpreter among them is given to run, and whatever is executable itself. */
export async function scriptsOfCommand(argv: readonly string[], cwd: string): Promise<PreImages> {
  const paths = new Set<string>();
  let isWaited = INTERPRETER.test(basename(argv[0] ?? ""));
  for (const argument of argv.slice(1)) {
    const isOption = argument.startsWith("-");
    const path = canonicalPath(cwd, isOption ? argument.replace(/^[^=]*=/, "") : argument);
    const mode = path === undefined ? undefined : modeOfFile(path);
    if (path !== undefined && mode !== undefined && (isWaited || (mode & 0o111) !== 0)) {
      paths.add(path);
      // What follows its script is data. What stands in an option is loaded before it.
      if (!isOption) isWaited = false;
    }
    if (INTERPRETER.test(basename(argument))) isWaited = true;
  }
  const images: PreImages = [];
  for (const path of [...paths].slice(0, MOST_SCRIPTS)) {
    images.push({ path, sha256: await imageOf(path) });
  }
  return images;
}

const INTERPRETER =
  /^(?:(?:ba|da|z|k|mk|a|c|tc|fi)?sh|python[\d.]*|pypy\d*|node|nodejs|deno|bun|tsx|ts-node|perl[\d.]*|ruby[\d.]*|php[\d.]*|lua[\d.]*|luajit|Rscript|tclsh|wish|expect|osascript|groovy|julia|guile|racket|elixir|escript|awk|gawk|mawk|sed|make|gmake|just|source|\.)$/;
const MOST_SCRIPTS = 64;
/** A larger one is told apart by its stamp. */
const MAX_HASHED_BYTES = 16 * 1024 * 1024;

async function imageOf(path: string): Promise<string | null> {
  try {
    return (await readWholeFile(path, { maxBytes: MAX_HASHED_BYTES }))?.sha256 ?? null;
  } catch {
    const stamp = await stampOf(path).catch(() => undefined);
    return createHash("sha256")
      .update(JSON.stringify(stamp ?? null))
      .digest("hex");
  }
}

function modeOfFile(path: string): number | undefined {
  try {
    const stats = statSync(path);
    return stats.isFile() ? stats.mode : undefined;
  } catch {
    return undefined;
  }
}
