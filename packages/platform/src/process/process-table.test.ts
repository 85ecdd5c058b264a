import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { newestPid, parsePs, processTable, rangeTest } from "./process-table.ts";

describe("the pids from a command's own to the newest one", () => {
  test("are those given out since, also when the numbers have started again", () => {
    const highest = 1000;
    const pid = fc.integer({ min: 1, max: highest });
    fc.assert(
      fc.property(pid, fc.integer({ min: 0, max: highest - 1 }), pid, (from, since, asked) => {
        const newest = ((from - 1 + since) % highest) + 1;
        const distance = (asked - from + highest) % highest;
        expect(rangeTest({ from }, newest)(asked)).toBe(distance <= since);
      }),
    );
  });

  test("are all, when that was asked for or the newest is not known", () => {
    expect(rangeTest("all", 7)(9)).toBe(true);
    expect(rangeTest({ from: 8 }, undefined)(3)).toBe(true);
  });
});

describe.runIf(process.platform === "linux")("the table of Linux", () => {
  test("reads the owner and marker of a process, with any name of its program", async () => {
    const script = "process.title = 'a) Z 1 1 ('; console.log(); setInterval(() => {}, 9e4)";
    const filling = "x".repeat(70_000);
    const child = spawn(process.execPath, ["-e", script], {
      detached: true,
      env: { A: filling, MARK: "needle-7;", B: filling },
      stdio: ["ignore", "pipe", "ignore"],
    });
    await once(child.stdout, "data");
    const pid = child.pid!;
    const entry = processTable({ from: pid }).entries.find((candidate) => candidate.pid === pid);
    expect(entry).toMatchObject({ parent: process.pid, group: pid, session: pid, ended: false });
    expect(processTable("all").entries.some((candidate) => candidate.pid === process.pid)).toBe(
      true,
    );
    expect(entry?.environmentHolds(Buffer.from("needle-7;"))).toBe(true);
    expect(newestPid()).toBeGreaterThan(0);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(processTable("all").entries.some((candidate) => candidate.pid === pid)).toBe(false);
    expect(entry?.environmentHolds(Buffer.from("needle-7;"))).toBe("unknown");
  });

  test("finds a text anywhere in a large environment, also across the pieces it is read in", async () => {
    for (const before of [0, 65_500, 65_520, 65_530, 65_536, 100_000]) {
      const child = spawn("/bin/sleep", ["300"], {
        env: { A: "x".repeat(before), MARK: "needle-of-some-length;", Z: "y".repeat(70_000) },
        stdio: "ignore",
      });
      const entry = processTable("all").entries.find((candidate) => candidate.pid === child.pid);
      // For a moment after exec the environment still reads empty.
      await expect
        .poll(() => entry?.environmentHolds(Buffer.from("needle-of-some-length;")), { interval: 1 })
        .not.toBe("unknown");
      expect(entry?.environmentHolds(Buffer.from("needle-of-some-length;")), `${before}`).toBe(
        true,
      );
      expect(entry?.environmentHolds(Buffer.from("needle-of-some-length;;"))).toBe(false);
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  });

  test("does not know of an environment that reads empty", async () => {
    const child = spawn("/bin/sleep", ["300"], { env: {}, stdio: "ignore" });
    const entry = processTable("all").entries.find((candidate) => candidate.pid === child.pid);
    expect(entry?.environmentHolds(Buffer.from("x"))).toBe("unknown");
    child.kill("SIGKILL");
    await once(child, "exit");
  });
});

/** Inside a container the kernel's threads are not to be seen, and pid 2 is someone else. */
const seesKernelThreads =
  existsSync("/proc/2/comm") && readFileSync("/proc/2/comm", "utf8") === "kthreadd\n";

test.runIf(seesKernelThreads)("a kernel thread is unrelated without further checks", () => {
  const threads = processTable("all").entries.filter(
    (entry) => entry.pid === 2 || entry.parent === 2,
  );
  expect(threads.length).toBeGreaterThan(1);
  expect(threads.filter((entry) => entry.environmentHolds(Buffer.from("x")) !== false)).toEqual([]);
});

const canUnshare =
  process.platform === "linux" &&
  spawnSync("unshare", ["-pf", "--mount-proc", "true"]).status === 0;

test.runIf(canUnshare)("a process whose session began outside the container may be related", () => {
  const table = fileURLToPath(new URL("process-table.ts", import.meta.url));
  const look = `
    import { processTable } from ${JSON.stringify(table)};
    const own = processTable("all").entries.find((entry) => entry.pid === process.pid);
    console.log(own.session, own.environmentHolds(Buffer.from("needle-9;")));
  `;
  const bundle = buildSync({
    stdin: { contents: look, resolveDir: "/" },
    bundle: true,
    platform: "node",
    format: "esm",
    write: false,
  }).outputFiles[0]!.text;
  const asScript = [process.execPath, "--input-type=module", "-e", bundle];
  const seen = spawnSync("unshare", ["-pf", "--mount-proc", ...asScript], {
    env: { ...process.env, MARK: "needle-9;" },
    encoding: "utf8",
  });
  expect(seen.stdout).toBe("0 true\n");
});

describe("the table of ps", () => {
  const output = Buffer.from(
    [
      "    1     0     1 Ss   /sbin/launchd",
      "  431     1   431 S    sleep 300 PATH=/bin SOONG_PROCESS=abc.1; HOME=/x",
      "  432   431   431 Z    (sleep)",
      "not a process",
      "",
    ].join("\n"),
  );

  test("is read line by line, with the environment behind the command", () => {
    const entries = parsePs(output);
    expect(entries).toMatchObject([
      { pid: 1, parent: 0, group: 1, session: 0, ended: false },
      { pid: 431, parent: 1, group: 431, ended: false },
      { pid: 432, parent: 431, group: 431, ended: true },
    ]);
    const marked = entries.filter((entry) => entry.environmentHolds(Buffer.from("abc.1;")));
    expect(marked.map((entry) => entry.pid)).toEqual([431]);
  });

  test("is empty where ps could not be run", () => {
    expect(parsePs(null)).toEqual([]);
  });
});
