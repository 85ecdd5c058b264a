// The home of a user: where its parts are, its store, and why it cannot be used.

import { join } from "node:path";
import { SoongError } from "@soong/core";
import type { Store } from "@soong/store";
import { loadConfig, type SoongConfig } from "../config/index.ts";

export function agentsFolder(home: string): string {
  return join(home, "agents");
}

export function skillsFolder(home: string): string {
  return join(home, "skills");
}

export function memoryFolder(home: string): string {
  return join(home, "memory");
}

/** What a run leaves behind for later; undefined for an id that names no folder of its own. */
export function findArchive(home: string, run_id: string): string | undefined {
  return /^[a-z0-9][a-z0-9_-]{0,99}$/.test(run_id)
    ? join(home, "runs", run_id, "archive")
    : undefined;
}

/** As the config says; a command that only reads works with a config that cannot be read. */
export async function openHomeStore(
  home: string,
  given: { readonly readOnly?: boolean; readonly values?: SoongConfig } = {},
): Promise<Store> {
  const { readOnly = false } = given;
  const values =
    given.values ??
    (await loadConfig({ home }).then(
      (config) => config.values,
      () => undefined,
    ));
  const { openStore } = await import("@soong/store");
  const busyTimeoutMs = values?.store.busy_timeout_ms;
  return openStore({
    directory: home,
    readOnly,
    busyTimeoutMs,
  });
}

/** Every problem of the files in the home at once, each with its place. */
export class SetupError extends SoongError {
  override readonly name = "SetupError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[], next: string) {
    super("invalid_setup", [...problems, next].join("\n"), { exitCode: 2 });
    this.problems = problems;
  }
}
