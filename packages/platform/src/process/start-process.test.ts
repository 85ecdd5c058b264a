import { getEventListeners } from "node:events";
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { verifies } from "#laws";
import { describe, expect, onTestFinished, test } from "vitest";
import { findExecutable } from "./program.ts";
import { type ProcessOptions, startProcess } from "./start-process.ts";

async function run(options: Partial<ProcessOptions> & { argv: readonly string[] }) {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  const end = await startProcess({
    executable: "/bin/sh",
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    onStdout: (chunk) => void out.push(chunk),
    onStderr: (chunk) => void err.push(chunk),
    ...options,
  }).end;
  return { end, stdout: Buffer.concat(out), stderr: Buffer.concat(err).toString() };
}

describe("a process", () => {
  test("gets its arguments as they are, and its own name from the first", async () => {
    const argv = ["my name", "-c", 'printf "%s|" "$0" "$@"', "a b", "", "*", "$HOME", "ü\n'\""];
    const { stdout, end } = await run({ argv });
    expect(stdout.toString()).toBe("a b||*|$HOME|ü\n'\"|");
    expect(end).toMatchObject({ exit_code: 0, signal: null, ended_by: "exit", leftovers: 0 });
    const named = await run({ argv: ["my name", "-c", "nowhere-to-be-found"] });
    expect(named.stderr).toMatch(/^my name: /);
  });

  test("sees the environment it is given and the marker, nothing of the runtime's", async () => {
    verifies("CMD-1");
    process.env.SOONG_TEST_SECRET = "hidden";
    // Node hands this one down on its own.
    const coverage = process.env.NODE_V8_COVERAGE;
    process.env.NODE_V8_COVERAGE ??= "/nowhere";
    const argv = ["env", "-0"];
    const env = { A: "1", SOONG_PROCESS: "forged" };
    const { stdout } = await run({ executable: "/usr/bin/env", argv, env });
    delete process.env.SOONG_TEST_SECRET;
    if (coverage === undefined) delete process.env.NODE_V8_COVERAGE;
    const variables = stdout.toString().split("\0").filter(Boolean).toSorted();
    expect(variables).toEqual(["A=1", expect.stringMatching(/^SOONG_PROCESS=[0-9a-f]{32}\.\d+;$/)]);
  });

  test("leads a group and a session of its own and runs in the given directory", async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "soong-cwd-")));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const argv = ["sh", "-c", 'pwd; echo $$; ps -o pgid=,sid= -p $$ 2>/dev/null || echo "$$ $$"'];
    const { stdout } = await run({ argv, cwd: folder });
    const [where, pid, numbers] = stdout.toString().trim().split("\n");
    expect(where).toBe(folder);
    expect(numbers?.trim().split(/\s+/)).toEqual([pid, pid]);
  });

  test("reads an end of file at once when it is given nothing", async () => {
    const { stdout, end } = await run({ argv: ["sh", "-c", "cat; echo over"] });
    expect(stdout.toString()).toBe("over\n");
    expect(end.exit_code).toBe(0);
  });

  test("reads all it is given, byte for byte", async () => {
    const stdin = randomBytes(3_000_000);
    const { stdout } = await run({ executable: "/bin/cat", argv: ["cat"], stdin });
    expect(sha256(stdout)).toBe(sha256(stdin));
    const text = await run({ executable: "/bin/cat", argv: ["cat"], stdin: "grüße" });
    expect(text.stdout.toString()).toBe("grüße");
  });

  test("that is bash runs no start-up file because of what it is given", async () => {
    const folder = await mkdtemp(join(tmpdir(), "soong-home-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, ".bashrc"), "echo started\n");
    const bash = findExecutable("bash", { path: "/usr/bin:/bin", cwd: "/" })?.found ?? "/bin/sh";
    const argv = ["bash", "-c", "cat"];
    const { stdout } = await run({ executable: bash, argv, stdin: "x", env: { HOME: folder } });
    expect(stdout.toString()).toBe("x");
  });

  test("need not read what it is given", async () => {
    const stdin = Buffer.alloc(5_000_000);
    expect((await run({ argv: ["sh", "-c", "exit 4"], stdin })).end.exit_code).toBe(4);
    const closed = await run({ argv: ["sh", "-c", "exec <&-; sleep 0.1; echo fine"], stdin });
    expect(closed.stdout.toString()).toBe("fine\n");
  });

  test("reports its exit code, or the signal that ended it", async () => {
    expect((await run({ argv: ["sh", "-c", "exit 42"] })).end).toMatchObject({
      exit_code: 42,
      signal: null,
      ended_by: "exit",
    });
    expect((await run({ argv: ["sh", "-c", "kill -9 $$"] })).end).toMatchObject({
      exit_code: null,
      signal: "SIGKILL",
      ended_by: "exit",
    });
  });

  test("runs without anyone listening to its output", async () => {
    const { end } = startProcess({
      executable: "/bin/sh",
      argv: ["sh", "-c", "head -c 1000000 /dev/zero; exit 6"],
      cwd: "/",
      env: { PATH: "/usr/bin:/bin" },
    });
    expect((await end).exit_code).toBe(6);
  });
});

describe("the output of a process", () => {
  test("comes apart for stdout and stderr, as bytes that are not cut into characters", async () => {
    const { stdout, stderr } = await run({
      argv: ["sh", "-c", "printf '\\303'; printf warning >&2; sleep 0.05; printf '\\274\\377'"],
    });
    expect(stdout).toEqual(Buffer.from([0xc3, 0xbc, 0xff]));
    expect(stderr).toBe("warning");
  });

  test("is complete however slow the consumer is, also long after the process has exited", async () => {
    verifies("CMD-2");
    const hash = createHash("sha256");
    let isBusy = false;
    const { end } = await run({
      argv: ["sh", "-c", "head -c 1000000 /dev/zero"],
      async onStdout(chunk) {
        expect(isBusy).toBe(false);
        isBusy = true;
        for (let count = 0; count < 20; count += 1) await turn();
        hash.update(chunk);
        isBusy = false;
      },
    });
    expect(end).toMatchObject({ exit_code: 0, ended_by: "exit" });
    expect(hash.digest("hex")).toBe(sha256(Buffer.alloc(1_000_000)));
  });

  test("holds the process back while its consumer is busy", async () => {
    verifies("CMD-2");
    let go = () => {};
    let bytes = 0;
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    let reached = () => {};
    const first = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const running = startProcess({
      executable: "/bin/sh",
      argv: ["sh", "-c", "head -c 50000000 /dev/zero; echo written >&2"],
      cwd: "/",
      env: { PATH: "/usr/bin:/bin" },
      onStdout(chunk) {
        bytes += chunk.length;
        reached();
        return held;
      },
      // Only when all of it has found room.
      onStderr: () => {
        expect(bytes).toBeGreaterThan(40_000_000);
      },
    });
    await first;
    for (let count = 0; count < 50; count += 1) await turn();
    expect(bytes).toBeLessThan(1_000_000);
    go();
    expect(await running.end).toMatchObject({ exit_code: 0 });
    expect(bytes).toBe(50_000_000);
  });

  test.each<[string, () => void | Promise<void>]>([
    [
      "throws",
      () => {
        throw new Error("no room");
      },
    ],
    ["rejects", () => Promise.reject(new Error("no room"))],
  ])(
    "stops the process when its consumer %s, and the end says what it threw",
    async (_how, consume) => {
      const running = startProcess({
        executable: "/bin/sh",
        argv: ["sh", "-c", "echo some; exec sleep 300"],
        cwd: "/",
        env: { PATH: "/usr/bin:/bin" },
        onStderr: () => {},
        onStdout: consume,
      });
      await expect(running.end).rejects.toThrow("no room");
      await expect(running.stop("abort")).rejects.toThrow("no room");
      expect(() => process.kill(running.pid, 0)).toThrow("ESRCH");
    },
  );
});

describe("what a process was given", () => {
  test("is let go of when it has ended: the signal keeps no listener", async () => {
    const { signal } = new AbortController();
    await run({ argv: ["sh", "-c", ":"], signal });
    const failing = () => Promise.reject(new Error("no room"));
    const failed = run({ argv: ["sh", "-c", "echo x"], signal, onStdout: failing });
    await expect(failed).rejects.toThrow("no room");
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("may be more time than a timer can hold", async () => {
    const { end } = await run({
      argv: ["sh", "-c", "sleep 0.05"],
      timeoutMs: Number.MAX_SAFE_INTEGER,
    });
    expect(end.ended_by).toBe("exit");
  });
});

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
