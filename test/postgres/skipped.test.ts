import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const NONE = "PostgreSQL, which SOONG_TEST_POSTGRES=none turns off.";

test("without PostgreSQL tests are skipped, and one line says what they need", async () => {
  const { code, output } = await runSharedTests({ CI: "" });
  expect(output).toContain(`skipped: 4 tests need ${NONE}`);
  expect(code).toBe(0);
});

test("on a build server that is a failure", async () => {
  const { code, output } = await runSharedTests({ CI: "true" });
  expect(output).toContain(`This test needs ${NONE}`);
  expect(code).toBe(1);
});

async function runSharedTests(
  env: Record<string, string>,
): Promise<{ code: number; output: string }> {
  const child = spawn(
    process.execPath,
    [here("../../node_modules/vitest/vitest.mjs"), "run", here("./shared.test.ts")],
    {
      cwd: here("../.."),
      env: { ...process.env, ...env, SOONG_TEST_POSTGRES: "none", NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const [code] = (await once(child, "close")) as [number];
  return { code, output };
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
