// CMD-2 and the room's own costs: output and processes in quantities, in a runtime of their own.

import { createHash } from "node:crypto";
import { verifies } from "#laws";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleProcessRoom, type ProcessBundle } from "./process-bundle.ts";
import { startRuntime } from "./process-watching.ts";

let bundle: ProcessBundle;
beforeAll(async () => {
  bundle = await bundleProcessRoom();
});
afterAll(() => bundle.remove());

const MEGABYTE = 1024 * 1024;

test("a flood of output passes through whole and costs no memory", async () => {
  verifies("CMD-2");
  const megabytes = process.env.SOONG_TEST_FULL === "1" ? 1024 : 200;
  const runtime = startRuntime(bundle, { deed: "volume", args: [String(megabytes * MEGABYTE)] });
  const told = await runtime.next();
  const expected = createHash("sha256");
  const zeros = Buffer.alloc(MEGABYTE);
  for (let count = 0; count < megabytes; count += 1) expected.update(zeros);
  expect(told).toMatchObject({
    seen: megabytes * MEGABYTE,
    sha256: expected.digest("hex"),
    end: { exit_code: 0, ended_by: "exit", leftovers: 0 },
  });
  expect(Number(told.grown)).toBeLessThan(100 * MEGABYTE);
  await runtime.closed;
});

test("hundreds of processes leave no file, timer or listener open, and the runtime ends on its own", async () => {
  const runtime = startRuntime(bundle, { deed: "many" });
  expect(await runtime.next()).toEqual({ ends: 50, refused: 50, opened: 0, held: [] });
  await runtime.closed;
  expect(runtime.child.exitCode).toBe(0);
});

test("a runtime without file descriptors left says so instead of starting half a command", async () => {
  const runtime = startRuntime(bundle, { deed: "exhaust", first: "ulimit -n 60" });
  expect(await runtime.next()).toMatchObject({ code: "too_many_open_files" });
  await runtime.closed;
});
