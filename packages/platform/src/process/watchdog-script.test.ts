// The script on its own, in every shell this machine has: with all its programs and with hardly any.

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { findExecutable } from "./program.ts";
import { processTable } from "./process-table.ts";
import { WATCHDOG_SCRIPT } from "./watchdog.ts";

/** Each is started under the name it would have as the system's shell. */
const SHELLS = ["/bin/dash", "/bin/bash", "/bin/ksh", "/bin/zsh", "/bin/busybox"].filter(
  existsSync,
);
const PATH = "/usr/bin:/bin";

let bare: string;
beforeAll(async () => {
  bare = await mkdtemp(join(tmpdir(), "soong-bare-"));
  await symlink(findExecutable("sleep", { path: PATH, cwd: "/" })!.found, join(bare, "sleep"));
});
afterAll(() => rm(bare, { recursive: true, force: true }));

describe.each(SHELLS)("the watchdog in %s", (shell) => {
  test.each(["with grep", "without grep"])(
    "%s ends the groups it knows and every process with the token, and no other",
    async (how) => {
      verifies("CMD-3");
      const token = randomBytes(16).toString("hex");
      const [named, unnamed, taken] = [sleeper(), sleeper(), sleeper()];
      const carriers = [
        sleeper({ SOONG_PROCESS: `${token}.1;` }),
        sleeper({ A: "several\nlines\n", SOONG_PROCESS: `outer.7;${token}.2;`, Z: "z\nz" }),
        sleeper({ SOONG_PROCESS: `${token}.3;` }),
      ];
      // Asked like the others, though it cannot hear it now.
      carriers[2]?.kill("SIGSTOP");
      const others = [unnamed, taken, sleeper({ SOONG_PROCESS: `${token.slice(0, 31)}x.1;` })];

      const watchdog = spawn(
        shell,
        ["-c", WATCHDOG_SCRIPT, "watchdog", token.slice(0, 16), token.slice(16)],
        {
          argv0: "sh",
          env: { PATH: how === "with grep" ? PATH : bare },
          stdio: ["pipe", "inherit", "inherit"],
        },
      );
      // Numbers that are part of one another, and one that was never there.
      const lines = [`+${taken.pid}`, `+${named.pid}`, `+${taken.pid}0`, `-${taken.pid}`, "-1", ""];
      watchdog.stdin.end(lines.join("\n"));
      await once(watchdog, "exit");

      expect([named, ...carriers].map((child) => child.signalCode)).toEqual(
        Array(4).fill("SIGTERM"),
      );
      expect(others.map((child) => child.signalCode)).toEqual([null, null, null]);
      await Promise.all(others.map(end));
    },
  );

  test("looks a second time when it found no process, for a program that was just being started", async () => {
    verifies("CMD-3");
    const token = randomBytes(16).toString("hex");
    const folder = await mkdtemp(join(tmpdir(), "soong-late-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    // The first pause of the watchdog brings the process to light.
    const late = `[ -s '${folder}/pid' ] || { SOONG_PROCESS='${token}.1;' /bin/sleep 300 & echo $! >'${folder}/pid'; }`;
    await writeFile(join(folder, "sleep"), `#!/bin/sh\n${late}\nexec /bin/sleep "$@"\n`);
    await chmod(join(folder, "sleep"), 0o755);
    const watchdog = spawn(
      shell,
      ["-c", WATCHDOG_SCRIPT, "watchdog", token.slice(0, 16), token.slice(16)],
      { argv0: "sh", env: { PATH: `${folder}:${PATH}` }, stdio: ["pipe", "inherit", "inherit"] },
    );
    watchdog.stdin.end();
    await once(watchdog, "exit");
    const pid = Number(await readFile(join(folder, "pid"), "utf8"));
    // In a container it may stay a zombie: no one there has to collect it.
    const alive = () =>
      processTable("all").entries.filter((entry) => entry.pid === pid && !entry.ended);
    await vi.waitFor(() => expect(alive()).toEqual([]), 10_000);
  });

  test("ends at once when there is no process, also without any message", async () => {
    const watchdog = spawn(shell, ["-c", WATCHDOG_SCRIPT, "watchdog", "no", "body"], {
      argv0: "sh",
      env: { PATH },
      stdio: ["pipe", "inherit", "inherit"],
    });
    watchdog.stdin.end();
    await once(watchdog, "exit");
    expect(watchdog.signalCode).toBeNull();
  });
});

function sleeper(env: Record<string, string> = {}): ChildProcess & { pid: number } {
  const child = spawn("/bin/sleep", ["300"], {
    env: { PATH, ...env },
    stdio: "ignore",
    detached: true,
  });
  return child as ChildProcess & { pid: number };
}

async function end(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  await once(child, "exit");
}
