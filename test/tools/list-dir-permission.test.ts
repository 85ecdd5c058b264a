// Where code.list_dir may look unasked (PATH-3, PATH-5), and what it does not look into.

import { renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { verifies } from "#laws";
import { openStage, textOf, type Stage } from "./search-stage.ts";

let stage: Stage;

afterEach(() => stage.close());

function pathsOf(result: { data?: unknown }): string[] {
  return (result.data as { entries: { path: string }[] }).entries.map(({ path }) => path);
}

test("names of sensitive files in an ordinary directory are listed unasked", async () => {
  verifies("PATH-3");
  stage = await openStage();
  stage.plant({ "project/.env": "X=1", "project/key.pem": "" });
  const result = await stage.call("code.list_dir", {});
  expect(pathsOf(result)).toEqual([".env", "key.pem"]);
});

test("a directory outside the project is listed unasked", async () => {
  verifies("PATH-5");
  stage = await openStage();
  stage.plant({ "elsewhere/x": "" });
  const result = await stage.call("code.list_dir", { path: "../elsewhere" });
  expect(pathsOf(result)).toEqual(["x"]);
});

test("a sensitive directory asks, also through a link, and a no is a no", async () => {
  verifies("PATH-3");
  stage = await openStage({
    policy: { sensitive_paths: ["vault"] },
    answer: () => ({ decision: "deny" }),
  });
  stage.plant({ "project/vault/inner/x": "" });
  symlinkSync("vault/inner", join(stage.project, "way"));
  for (const path of ["vault", "way"]) {
    const result = await stage.call("code.list_dir", { path });
    expect(result.status).toBe("rejected");
    expect(textOf(result)).not.toContain("x\n");
  }
  expect(stage.asked).toHaveLength(2);
});

test("a yes shows the directory with all that is in it", async () => {
  verifies("PATH-3");
  stage = await openStage({
    policy: { sensitive_paths: ["vault"] },
    answer: () => ({ decision: "allow_once" }),
  });
  stage.plant({ "project/vault/inner/x": "" });
  const result = await stage.call("code.list_dir", { path: "vault", recursive: true });
  expect(pathsOf(result)).toEqual(["inner", "inner/x"]);
});

test("no one to ask: a sensitive directory is denied", async () => {
  verifies("PATH-3");
  stage = await openStage({ policy: { sensitive_paths: ["vault"] } });
  stage.plant({ "project/vault/x": "" });
  const result = await stage.call("code.list_dir", { path: "vault" });
  expect(result.status).toBe("denied");
  expect(result.error?.code).toBe("sensitive_path");
});

test("a recursive listing does not look into sensitive directories, and says how many", async () => {
  verifies("PATH-3", "CODE-2");
  stage = await openStage({ policy: { sensitive_paths: ["vault"] } });
  stage.plant({ "project/vault/x": "", "project/a/vault/y": "", "project/b": "" });
  const result = await stage.call("code.list_dir", { recursive: true });
  expect(pathsOf(result)).toEqual(["a", "a/vault", "b", "vault"]);
  expect(result.data).toMatchObject({ sensitive_directories_left_out: 2 });
  expect(textOf(result)).toContain("Sensitive directories not looked into: 2.");
});

test("a directory that became a link while the user thought is not listed", async () => {
  verifies("PATH-3");
  stage = await openStage({
    policy: { rules: [{ tool: "code.list_dir", decision: "ask" }] },
    answer: () => {
      renameSync(join(stage.project, "shown"), join(stage.project, "moved"));
      symlinkSync(join(stage.base, "secret"), join(stage.project, "shown"));
      return { decision: "allow_once" };
    },
  });
  stage.plant({ "secret/hidden-name": "", "project/shown/x": "" });
  const result = await stage.call("code.list_dir", { path: "shown" });
  expect(result.status).toBe("failed");
  expect(JSON.stringify(result)).not.toContain("hidden-name");
});
