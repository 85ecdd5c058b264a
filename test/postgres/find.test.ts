import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { chosenPostgres, findPostgres, serverUser } from "./find.ts";
import { needsPostgres } from "./shared.ts";

afterEach(() => void vi.unstubAllEnvs());

describe("what SOONG_TEST_POSTGRES chooses", () => {
  test("one source, a url, or by default any source", () => {
    expect(["", "installed", "npm", "none"].map((value) => chosenPostgres(value))).toEqual([
      "any",
      "installed",
      "npm",
      "none",
    ]);
    const url = "postgresql://me:secret@database:5432/postgres";
    expect(chosenPostgres(url)).toEqual({ url });
  });

  test.each(["yes", "postgres", "mysql://me:secret@database", "postgres://me:secret@[database"])(
    "%s is refused, without repeating what may hold a password",
    (value) => {
      expect(() => chosenPostgres(value)).toThrow(
        "SOONG_TEST_POSTGRES is not valid: set it to installed, npm, none or a postgres:// url, or unset it.",
      );
    },
  );

  test("none says how it was turned off", async () => {
    vi.stubEnv("SOONG_TEST_POSTGRES", "none");
    expect(await findPostgres()).toEqual({
      problem: "PostgreSQL, which SOONG_TEST_POSTGRES=none turns off",
    });
  });
});

test("without an installed server, that of the npm package runs", async () => {
  vi.stubEnv("SOONG_TEST_POSTGRES", "npm");
  await needsPostgres();
  const found = await findPostgres();
  if ("problem" in found) throw new Error(found.problem);
  expect(found).toMatchObject({ source: "npm", bin: expect.stringContaining(".cache") as string });
  const { stdout } = spawnSync(join(found.bin, "postgres"), ["--version"], {
    ...(await serverUser()),
    cwd: "/",
    encoding: "utf8",
  });
  expect(stdout).toMatch(/^postgres \(PostgreSQL\) 18\./);
});

test.runIf(process.getuid?.() === 0)("root runs the server as another user", async () => {
  expect((await serverUser()).uid).toBeGreaterThan(0);
});
