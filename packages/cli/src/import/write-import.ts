// Writes what was planned, into the home only: each file whole or not at all, and none that is there by now.

import { randomUUID } from "node:crypto";
import { cp, mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeWholeFile } from "@soong/platform";
import { addRules } from "../config/index.ts";
import { changeServers } from "../runtime/change-servers.ts";
import type { ImportPlan } from "./plan-import.ts";

/** Answers with the files it wrote. */
export async function writeImport(
  { servers, rules, texts, skills }: ImportPlan,
  home: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string[]> {
  const written: string[] = [];
  if (Object.keys(servers).length > 0) {
    written.push((await changeServers(home, env, servers)).file);
  }
  if (rules.length > 0) written.push(await addRules(home, rules));
  for (const [file, text] of texts) {
    if (await isNew(writeWholeFile(file, text, "new"))) written.push(file);
  }
  for (const [target, from] of skills) if (await copyFolder(from, target)) written.push(target);
  return written;
}

/** Beside its place first: a run sees the whole skill or none. */
async function copyFolder(from: string, target: string): Promise<boolean> {
  const folder = dirname(target);
  const next = join(folder, `.${randomUUID()}.${process.pid}.part`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    await cp(from, next, { recursive: true, verbatimSymlinks: true, errorOnExist: true });
    return await isNew(rename(next, target));
  } finally {
    await rm(next, { recursive: true, force: true });
  }
}

/** False where something is in its place. */
async function isNew(writing: Promise<void>): Promise<boolean> {
  try {
    await writing;
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" || code === "ENOTEMPTY") return false;
    throw error;
  }
}
