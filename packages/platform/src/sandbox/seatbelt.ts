// The sandbox of macOS: `sandbox-exec` with a profile in Seatbelt's language. Untested: written by what others publish of it.
// Weaker than that of Linux: files are closed by path and not by mounts, processes outside can be seen, and /tmp is the
// machine's.

import { existsSync } from "node:fs";
import {
  sandboxFailure,
  type Sandbox,
  type SandboxedCommand,
  type SandboxProfile,
  type SandboxState,
} from "../process/index.ts";

const PROGRAM = "/usr/bin/sandbox-exec";

export function openSeatbelt(): Sandbox {
  const state = (): SandboxState =>
    existsSync(PROGRAM)
      ? { backend: "seatbelt", version: "untested" }
      : { missing: `${PROGRAM} is not there`, fix: "It is a part of macOS." };
  return {
    state,
    enter({ executable, args, env }: SandboxedCommand, profile: SandboxProfile) {
      const found = state();
      if ("missing" in found) throw sandboxFailure(found.missing);
      // The way to the proxy is made for namespaces.
      if (profile.refuseHost !== undefined) {
        throw sandboxFailure("hosts cannot be opened one by one on macOS; close them all");
      }
      return {
        executable: PROGRAM,
        args: ["-p", seatbeltProfile(profile), executable, ...args],
        env,
        stdio: [],
        isMonitored: false,
        started() {},
        async outcome(end, said) {
          if (end.wasStopped || !said.startsWith("sandbox-exec: ")) return end;
          throw sandboxFailure(said.split("\n", 1)[0] ?? "");
        },
        refusedHosts: () => [],
        release() {},
      };
    },
    close() {},
  };
}

/** The last rule that matches counts, so the more specific paths come later, and of one path the stricter rule. */
export function seatbeltProfile(profile: SandboxProfile): string {
  const { writable, masked, readable = [], absentFiles = [] } = profile;
  const kept = [...profile.fixed, ...profile.absent, ...absentFiles.map(({ path }) => path)];
  const rules = [
    ...writable.map((path) => ({
      path,
      strictness: 0,
      rule: `(allow file-read* file-write* ${subpath(path)})`,
    })),
    ...kept.map((path) => ({
      path,
      strictness: 1,
      rule: `(deny file-write* ${subpath(path)})`,
    })),
    ...readable.map((path) => ({
      path,
      strictness: 2,
      rule: `(allow file-read* ${subpath(path)})`,
    })),
    ...masked.map((path) => ({
      path,
      strictness: 3,
      rule: `(deny file-read* file-write* ${subpath(path)})`,
    })),
  ].toSorted(
    (one, other) => one.path.length - other.path.length || one.strictness - other.strictness,
  );
  return [
    "(version 1)",
    "(allow default)",
    "(deny network*)",
    "(deny file-write*)",
    '(allow file-write* (subpath "/private/tmp") (subpath "/private/var/folders"))',
    '(allow file-write-data (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty"))',
    "(deny process-info* (target others))",
    "(deny signal (target others))",
    '(deny mach-lookup (global-name-regex #"^com\\.apple\\.(security|SecurityServer|pasteboard)"))',
    ...rules.map(({ rule }) => rule),
    // Renaming a directory would take what is closed inside of it out of its rule.
    ...directoriesAbove([...kept, ...masked], writable).map(
      (path) => `(deny file-write-unlink (literal ${quote(path)}))`,
    ),
  ].join("\n");
}

function directoriesAbove(paths: readonly string[], writable: readonly string[]): string[] {
  const above = new Set<string>();
  for (const path of paths) {
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
      const directory = path.slice(0, at);
      if (writable.some((root) => directory.startsWith(`${root}/`))) above.add(directory);
    }
  }
  return [...above];
}

function subpath(path: string): string {
  return `(subpath ${quote(path)})`;
}

function quote(path: string): string {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
