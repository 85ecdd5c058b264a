// Where code.search may look (PATH-3, PATH-5), and that nothing of a sensitive file comes out of it.

import { renameSync, statSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { openStage, textOf, type Stage } from "./search-stage.ts";

let stage: Stage;

afterEach(() => stage.close());

const plain = { locateRipgrep: () => Promise.resolve(undefined) };

describe.each([
  ["ripgrep", {}],
  ["the plain walk", plain],
])("with %s", (_name, search) => {
  test("sensitive files are omitted and counted, and no one is asked", async () => {
    verifies("PATH-3", "CODE-3");
    stage = await openStage({ search });
    stage.plant({
      "project/.gitignore": ".env\ndist\n",
      "project/.env": "needle=1",
      "project/a/.env.local": "needle=2",
      "project/a/server.pem": "needle",
      "project/a/id_work": "needle",
      "project/a/id_map.ts": "needle",
      "project/dist/.env": "needle",
      "project/b.ts": "needle",
    });
    const result = await stage.call("code.search", { query: "needle" });
    expect(result.data).toMatchObject({
      matches: [{ path: "a/id_map.ts" }, { path: "b.ts" }],
      files_with_matches: 2,
      sensitive_files_left_out: 4,
    });
    expect(textOf(result)).toContain("Sensitive files omitted: 4.");
    expect(textOf(result)).not.toMatch(/\.env|server|id_work/);
  });

  test("the answer is the same for any content of a sensitive file", async () => {
    verifies("PATH-3");
    const answers: string[] = [];
    for (const secret of ["needle", "other"]) {
      stage = await openStage({ search, policy: { sensitive_paths: ["vault"] } });
      stage.plant({
        "project/.env": secret,
        "project/id_work": secret,
        "project/vault/x": secret,
        "project/y": "needle",
      });
      const { content, data, summary } = await stage.call("code.search", {
        query: "needle",
        hidden: true,
      });
      answers.push(JSON.stringify({ content, data, summary }));
      stage.close();
    }
    expect(answers[0]).toBe(answers[1]);
    expect(answers[0]).toContain('"files_with_matches":1');
  });

  test("patterns of the user's own keep files out, too", async () => {
    verifies("PATH-3");
    stage = await openStage({ search, policy: { sensitive_paths: ["vault", "*.secret"] } });
    stage.plant({
      "project/vault/x": "needle",
      "project/a.secret": "needle",
      "project/b": "needle",
    });
    const result = await stage.call("code.search", { query: "needle" });
    expect(result.data).toMatchObject({ matches: [{ path: "b" }], files_with_matches: 1 });
  });

  test("a sensitive file named directly asks; a yes searches it", async () => {
    verifies("PATH-3");
    stage = await openStage({ search, answer: () => ({ decision: "allow_once" }) });
    stage.plant({ "project/.env": "A=1\nneedle=2\n" });
    symlinkSync(".env", join(stage.project, "innocent"));
    for (const path of [".env", "innocent"]) {
      const result = await stage.call("code.search", { query: "needle", path });
      expect(result.data).toMatchObject({ matches: [{ path: ".env", line: 2 }] });
    }
    expect(stage.asked).toHaveLength(2);
  });

  test("a sensitive directory that the user allowed is searched", async () => {
    verifies("PATH-3");
    stage = await openStage({
      search,
      policy: { sensitive_paths: ["vault"] },
      answer: () => ({ decision: "allow_once" }),
    });
    stage.plant({ "project/vault/in/x.pem": "needle" });
    const result = await stage.call("code.search", { query: "needle", path: "vault" });
    expect(result.data).toMatchObject({
      matches: [{ path: "vault/in/x.pem" }],
      sensitive_files_left_out: 0,
    });
  });

  test("outside the project a search asks; a yes gives absolute paths", async () => {
    verifies("PATH-5");
    stage = await openStage({ search, answer: () => ({ decision: "allow_once" }) });
    stage.plant({ "elsewhere/x": "needle", "elsewhere/.env": "needle" });
    const result = await stage.call("code.search", { query: "needle", path: "../elsewhere" });
    expect(stage.asked).toHaveLength(1);
    expect(result.data).toMatchObject({
      matches: [{ path: join(stage.base, "elsewhere/x") }],
      sensitive_files_left_out: 1,
    });
  });

  test("outside the project without anyone to ask, or with a no, nothing is searched", async () => {
    verifies("PATH-5");
    stage = await openStage({ search });
    stage.plant({ "elsewhere/x": "needle" });
    const alone = await stage.call("code.search", { query: "needle", path: "../elsewhere" });
    expect(alone).toMatchObject({ status: "denied", error: { code: "search_outside_project" } });
    stage.close();
    stage = await openStage({ search, answer: () => ({ decision: "deny" }) });
    stage.plant({ "elsewhere/x": "needle" });
    const refused = await stage.call("code.search", { query: "needle", path: "../elsewhere" });
    expect(refused.is_error).toBe(true);
    expect(textOf(refused)).not.toContain("1:1");
  });

  test("a directory that became a link while the user thought is not searched", async () => {
    verifies("PATH-3");
    stage = await openStage({
      search,
      policy: { rules: [{ tool: "code.search", decision: "ask" }] },
      answer: () => {
        renameSync(join(stage.project, "shown"), join(stage.project, "moved"));
        symlinkSync(join(stage.base, "secret"), join(stage.project, "shown"));
        return { decision: "allow_once" };
      },
    });
    stage.plant({ "secret/x": "needle hidden-text", "project/shown/x": "" });
    const result = await stage.call("code.search", { query: "needle", path: "shown" });
    expect(result.status).toBe("failed");
    expect(JSON.stringify(result)).not.toContain("hidden-text");
  });

  test("known secrets are replaced, look-alikes stay, and no cut shows half a secret", async () => {
    verifies("REDACT-1");
    const known = "correct-horse/battery+staple";
    const alike = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
    stage = await openStage({
      search,
      session: { secrets: [{ name: "DB_PASSWORD", value: known }] },
    });
    const planted: Record<string, string> = { "project/a": `needle ${known} ${alike}\n` };
    for (let shift = 0; shift < known.length; shift += 3) {
      const before = "b".repeat(1000 + shift);
      planted[`project/c${shift}`] =
        `${before}${known}${"d".repeat(285)}needle${"e".repeat(2000)}\n`;
      planted[`project/l${shift}`] =
        `${"f".repeat(100_000)}${before}${known}${"d".repeat(285)}needle${"e".repeat(660 - shift)}${known}${"g".repeat(90_000)}\n`;
    }
    stage.plant(planted);
    const result = await stage.call("code.search", { query: "needle" });
    const text = JSON.stringify(result);
    expect(textOf(result)).toContain(`needle [redacted:DB_PASSWORD] ${alike}`);
    for (let at = 0; at + 4 <= known.length; at += 1) {
      expect(text).not.toContain(known.slice(at, at + 4));
    }
  });
});

test("ripgrep does not even open a sensitive file", async () => {
  verifies("PATH-3");
  stage = await openStage();
  const names = ["project/.env", "project/k.pem", "project/id_work", "project/deep/id_rsa.old"];
  stage.plant(Object.fromEntries([...names, "project/read.txt"].map((name) => [name, "needle\n"])));
  const longAgo = new Date("2001-01-01");
  for (const name of names) utimesSync(join(stage.base, name), longAgo, new Date());
  const result = await stage.call("code.search", { query: "needle", hidden: true, ignored: true });
  expect(result.data).toMatchObject({ files_searched: 1, sensitive_files_left_out: 4 });
  for (const name of names) expect(statSync(join(stage.base, name)).atime, name).toEqual(longAgo);
});
