// The processes as `ps` tells them, for systems without Linux's /proc. Best effort: macOS and the BSDs
// show the environment of one's own processes only, and not of all programs, so what has left both the
// group and its parents may stay unseen there. Sessions are not told in numbers at all.

import { spawnSync } from "node:child_process";
import type { ProcessEntry, ProcessTable } from "./process-entry.ts";

export function psTable(): ProcessTable {
  const withEnvironment = process.platform === "darwin" ? "-axEww" : "-axeww";
  const columns = ["-o", "pid=", "-o", "ppid=", "-o", "pgid=", "-o", "stat=", "-o", "command="];
  const { stdout } = spawnSync("/bin/ps", [withEnvironment, ...columns], {
    stdio: ["ignore", "pipe", "ignore"],
    maxBuffer: 64 * 1024 * 1024,
    timeout: 2000,
    killSignal: "SIGKILL",
    env: { LC_ALL: "C" },
  });
  return { entries: parsePs(stdout), hasGaps: false };
}

export function parsePs(output: Buffer | null): ProcessEntry[] {
  const lines = output?.toString("latin1").split("\n") ?? [];
  return lines.flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s?(.*)$/s.exec(line);
    if (match === null) return [];
    const [, pid, parent, group, state = "", command = ""] = match;
    return {
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      session: 0,
      ended: state.startsWith("Z"),
      environmentHolds: (wanted: Buffer) => command.includes(wanted.toString("latin1")),
    };
  });
}
