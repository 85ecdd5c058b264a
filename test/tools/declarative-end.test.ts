// How a declared command ends: with too much output, time up, aborted. Nothing of it
// stays behind.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import {
  eventually,
  says,
  scripted,
  placesOfEachTest,
  startDeclaredRun,
  textOf,
} from "./declarative-world.ts";
import { isAlive } from "./process-watching.ts";

const places = placesOfEachTest();

/** A child that ignores SIGTERM and holds the pipes, as a grandchild of the tool; its pid is in a file. */
const STUBBORN = `sh -c 'trap "" TERM HUP; echo $$ > pid; while :; do sleep 1; done' & `;

const MORE_THAN_A_PIPE_HOLDS = 1_000_000;

function pidOf(): number {
  const file = join(places.project, "pid");
  return existsSync(file) ? Number(readFileSync(file, "utf8").trim()) : 0;
}

test("exactly the limit is not too much, one byte more is", async () => {
  verifies("DECL-4", "DECL-7");
  const said = JSON.stringify({ ok: true, content: [{ type: "text", text: "x" }] });
  places.write("home/tools/x.json", scripted(says("x"), { stdout_limit_bytes: said.length }));
  places.write(
    "home/tools/y.json",
    scripted(says("x"), { name: "test.less", stdout_limit_bytes: said.length - 1 }),
  );
  const { call } = await startDeclaredRun(places);
  expect(await call("test.tool")).toMatchObject({ status: "succeeded" });
  const more = await call("test.less");
  expect(more).toMatchObject({ status: "failed", error: { code: "bad_tool_output" } });
  expect(more.error?.message).toContain("so its result was not read; all of it is in the artifact");
});

test("half a secret at the limit is not shown", async () => {
  verifies("DECL-4");
  const secret = "s3cret-value-of-some-length";
  places.write(
    "home/tools/x.json",
    scripted(`echo safe; echo a ${secret} b ${secret}`, { stdout_limit_bytes: 20 }),
  );
  const { call, journal } = await startDeclaredRun(places, {
    secrets: [{ name: "S", value: secret }],
  });
  const result = await call("test.tool");
  expect(textOf(result)).toContain("safe");
  expect(JSON.stringify(journal)).not.toContain(secret.slice(0, 10));
});

test("when its time is up the whole tree is gone and what it had said is kept", async () => {
  verifies("DECL-5", "PIPE-5");
  const script = `echo so far >&2; ${STUBBORN} while [ ! -s pid ]; do :; done; wait`;
  places.write("home/tools/x.json", scripted(script, { timeout_ms: 1500 }));
  const { call } = await startDeclaredRun(places);
  const result = await call("test.tool");
  expect(result).toMatchObject({ status: "timed_out", error: { code: "timed_out" } });
  expect(textOf(result)).toContain("so far");
  expect(pidOf()).toBeGreaterThan(0);
  expect(isAlive(pidOf())).toBe(false);
});

test("an abort ends the whole tree", async () => {
  verifies("DECL-5", "PIPE-7");
  // More than a pipe holds: once all of it is written, its beginning has been read.
  const much = `head -c ${MORE_THAN_A_PIPE_HOLDS} /dev/zero | tr '\\0' x`;
  const script = `echo begun; ${much}; ${STUBBORN} wait`;
  const limit = { stdout_limit_bytes: 2 * MORE_THAN_A_PIPE_HOLDS };
  places.write("home/tools/x.json", scripted(script, limit));
  const { call, run } = await startDeclaredRun(places);
  const calling = call("test.tool");
  await eventually(() => pidOf() > 0);
  await run.abort("enough");
  const result = await calling;
  expect(result).toMatchObject({ status: "aborted", metadata: { aborted: true } });
  expect(textOf(result)).toContain("begun");
  expect(isAlive(pidOf())).toBe(false);
});

test("what a command leaves in the background ends with it, and is counted", async () => {
  verifies("DECL-5");
  places.write(
    "home/tools/x.json",
    scripted(`${STUBBORN} while [ ! -s pid ]; do :; done; ${says("x")}`),
  );
  const { call } = await startDeclaredRun(places);
  const result = await call("test.tool");
  expect(result).toMatchObject({ status: "succeeded" });
  expect(result.metadata.tool).toMatchObject({
    process: { leftovers: expect.any(Number) as number },
  });
  expect(isAlive(pidOf())).toBe(false);
});
