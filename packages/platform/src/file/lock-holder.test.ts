import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";

import { type LockHolder, checkLife, parseHolder, thisHolder } from "./lock-holder.ts";

describe("a holder of this machine", () => {
  test("that is us is alive, and has another nonce each time", async () => {
    verifies("EDIT-6");
    const [first, second] = [thisHolder(), thisHolder()];
    expect(first).toMatchObject({ pid: process.pid });
    expect(first.nonce).not.toBe(second.nonce);
    expect(checkLife(first)).toBe("alive");
  });

  test("that ended is dead", async () => {
    verifies("EDIT-6");
    const { pid } = spawnSync("true");
    expect(checkLife({ ...thisHolder(), pid })).toBe("dead");
    expect(checkLife({ ...thisHolder(), pid, started: null })).toBe("dead");
  });

  test.runIf(process.platform === "linux")(
    "whose process id is another's now is dead",
    async () => {
      verifies("EDIT-6");
      const us = thisHolder();
      expect(us.started).toBe(startedOf(process.pid));
      expect(checkLife({ ...us, started: String(Number(us.started) + 1) })).toBe("dead");
    },
  );

  test.runIf(process.platform === "linux")("that is dead but not buried is dead", async () => {
    // The shell replaces itself by a program that never asks what became of its child.
    const parent = spawn("sh", ["-c", "sh -c 'echo $$; read x' <&0 & exec sleep 60"], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    try {
      const [line] = (await once(parent.stdout, "data")) as [Buffer];
      const holder = { ...thisHolder(), pid: Number(line.toString()), started: null };
      expect(checkLife(holder)).toBe("alive");
      parent.stdin.end();
      await expect.poll(() => checkLife({ ...holder, started: "0" })).toBe("dead");
      await expect.poll(() => stateOf(holder.pid)).toBe("Z");
      const started = startedOf(holder.pid);
      expect(checkLife({ ...holder, started })).toBe("dead");
    } finally {
      parent.kill("SIGKILL");
    }
  });

  test("without a start time is alive as long as its process id is", async () => {
    expect(checkLife({ ...thisHolder(), started: null })).toBe("alive");
  });

  test("without a namespace is known by its host", async () => {
    const bare = { ...thisHolder(), boot_id: null, pid_namespace: null };
    // A process that knows its own namespace cannot tell what the other's process ids mean.
    const isLinux = process.platform === "linux";
    expect(checkLife(bare)).toBe(isLinux ? "foreign" : "alive");
  });
});

test.runIf(process.platform === "linux").each([
  ["another boot", { boot_id: "00000000-0000-0000-0000-000000000000" }],
  ["another namespace", { pid_namespace: "pid:[1]" }],
])("a holder of %s is unknown, with any process id", async (_what, other) => {
  expect(checkLife({ ...thisHolder(), ...other })).toBe("foreign");
  expect(checkLife({ ...thisHolder(), pid: 2 ** 22 - 1, ...other })).toBe("foreign");
});

describe("a record", () => {
  test("is read back as it was written", async () => {
    const holder = thisHolder();
    expect(parseHolder(JSON.stringify(holder))).toEqual(holder);
  });

  test("with any field missing or of another kind is none", async () => {
    const holder = thisHolder();
    fc.assert(
      fc.property(
        fc.constantFrom(...(Object.keys(holder) as (keyof LockHolder)[])),
        fc.constantFrom(undefined, -1, 0, 1.5, true, {}, [], "../../x"),
        (field, value) => {
          const isText = typeof value === "string" && field !== "pid" && field !== "nonce";
          const read = parseHolder(JSON.stringify({ ...holder, [field]: value }));
          expect(read === undefined).toBe(!isText);
        },
      ),
    );
  });

  test("that is any text at all is read or refused, never thrown at", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(parseHolder(text)).toBeUndefined();
      }),
    );
  });
});

function stateOf(pid: number): string | undefined {
  return statFields(pid)[0];
}

function startedOf(pid: number): string {
  return statFields(pid)[19] ?? "";
}

function statFields(pid: number): string[] {
  const { stdout } = spawnSync("cat", [`/proc/${pid}/stat`], { encoding: "utf8" });
  return stdout.replace(/^.*\) /s, "").split(" ");
}
