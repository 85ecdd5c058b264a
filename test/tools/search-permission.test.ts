// Where code.search may look (PATH-3, PATH-5), and that nothing of a sensitive file comes out of it.

import { renameSync, statSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { openDesk, textOf, type Desk } from "./search-desk.ts";

let desk: Desk;

afterEach(() => desk.close());

const plain = { locateRipgrep: () => Promise.resolve(undefined) };

describe.each([
  ["ripgrep", {}],
  ["the plain walk", plain],
])("with %s", (_name, search) => {
  test("sensitive files are omitted and counted, and no one is asked", async () => {
    verifies("PATH-3", "CODE-3");
    desk = await openDesk({ search });
    desk.plant({
      "project/.gitignore": ".env\ndist\n",
      "project/.env": "needle=1",
      "project/a/.env.local": "needle=2",
      "project/a/server.pem": "needle",
      "project/a/id_work": "needle",
      "project/a/id_map.ts": "needle",
      "project/dist/.env": "needle",
      "project/b.ts": "needle",
    });
    const result = await desk.call("code.search", { query: "needle" });
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
      desk = await openDesk({ search, policy: { sensitive_paths: ["vault"] } });
      desk.plant({
        "project/.env": secret,
        "project/id_work": secret,
        "project/vault/x": secret,
        "project/y": "needle",
      });
      const { content, data, summary } = await desk.call("code.search", {
        query: "needle",
        hidden: true,
      });
      answers.push(JSON.stringify({ content, data, summary }));
      desk.close();
    }
    expect(answers[0]).toBe(answers[1]);
    expect(answers[0]).toContain('"files_with_matches":1');
  });

  test("patterns of the user's own keep files out, too", async () => {
    verifies("PATH-3");
    desk = await openDesk({ search, policy: { sensitive_paths: ["vault", "*.secret"] } });
    desk.plant({
      "project/vault/x": "needle",
      "project/a.secret": "needle",
      "project/b": "needle",
    });
    const result = await desk.call("code.search", { query: "needle" });
    expect(result.data).toMatchObject({ matches: [{ path: "b" }], files_with_matches: 1 });
  });

  test("a sensitive file named directly asks; a yes searches it", async () => {
    verifies("PATH-3");
    desk = await openDesk({ search, answer: () => ({ decision: "allow_once" }) });
    desk.plant({ "project/.env": "A=1\nneedle=2\n" });
    symlinkSync(".env", join(desk.project, "innocent"));
    for (const path of [".env", "innocent"]) {
      const result = await desk.call("code.search", { query: "needle", path });
      expect(result.data).toMatchObject({ matches: [{ path: ".env", line: 2 }] });
    }
    expect(desk.asked).toHaveLength(2);
  });

  test("a sensitive directory that the user allowed is searched", async () => {
    verifies("PATH-3");
    desk = await openDesk({
      search,
      policy: { sensitive_paths: ["vault"] },
      answer: () => ({ decision: "allow_once" }),
    });
    desk.plant({ "project/vault/in/x.pem": "needle" });
    const result = await desk.call("code.search", { query: "needle", path: "vault" });
    expect(result.data).toMatchObject({
      matches: [{ path: "vault/in/x.pem" }],
      sensitive_files_left_out: 0,
    });
  });

  test("outside the project a search asks; a yes gives absolute paths", async () => {
    verifies("PATH-5");
    desk = await openDesk({ search, answer: () => ({ decision: "allow_once" }) });
    desk.plant({ "elsewhere/x": "needle", "elsewhere/.env": "needle" });
    const result = await desk.call("code.search", { query: "needle", path: "../elsewhere" });
    expect(desk.asked).toHaveLength(1);
    expect(result.data).toMatchObject({
      matches: [{ path: join(desk.base, "elsewhere/x") }],
      sensitive_files_left_out: 1,
    });
  });

  test("outside the project without anyone to ask, or with a no, nothing is searched", async () => {
    verifies("PATH-5");
    desk = await openDesk({ search });
    desk.plant({ "elsewhere/x": "needle" });
    const alone = await desk.call("code.search", { query: "needle", path: "../elsewhere" });
    expect(alone).toMatchObject({ status: "denied", error: { code: "search_outside_project" } });
    desk.close();
    desk = await openDesk({ search, answer: () => ({ decision: "deny" }) });
    desk.plant({ "elsewhere/x": "needle" });
    const refused = await desk.call("code.search", { query: "needle", path: "../elsewhere" });
    expect(refused.is_error).toBe(true);
    expect(textOf(refused)).not.toContain("1:1");
  });

  test("a directory that became a link while the user thought is not searched", async () => {
    verifies("PATH-3");
    desk = await openDesk({
      search,
      policy: { rules: [{ tool: "code.search", decision: "ask" }] },
      answer: () => {
        renameSync(join(desk.project, "shown"), join(desk.project, "moved"));
        symlinkSync(join(desk.base, "secret"), join(desk.project, "shown"));
        return { decision: "allow_once" };
      },
    });
    desk.plant({ "secret/x": "needle hidden-text", "project/shown/x": "" });
    const result = await desk.call("code.search", { query: "needle", path: "shown" });
    expect(result.status).toBe("failed");
    expect(JSON.stringify(result)).not.toContain("hidden-text");
  });

  test("known secrets are replaced, look-alikes stay, and no cut shows half a secret", async () => {
    verifies("REDACT-1");
    const known = "correct-horse/battery+staple";
    const alike = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
    desk = await openDesk({
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
    desk.plant(planted);
    const result = await desk.call("code.search", { query: "needle" });
    const text = JSON.stringify(result);
    expect(textOf(result)).toContain(`needle [redacted:DB_PASSWORD] ${alike}`);
    for (let at = 0; at + 4 <= known.length; at += 1) {
      expect(text).not.toContain(known.slice(at, at + 4));
    }
  });
});

test("ripgrep does not even open a sensitive file", async () => {
  verifies("PATH-3");
  desk = await openDesk();
  const names = ["project/.env", "project/k.pem", "project/id_work", "project/deep/id_rsa.old"];
  desk.plant(Object.fromEntries([...names, "project/read.txt"].map((name) => [name, "needle\n"])));
  const longAgo = new Date("2001-01-01");
  for (const name of names) utimesSync(join(desk.base, name), longAgo, new Date());
  const result = await desk.call("code.search", { query: "needle", hidden: true, ignored: true });
  expect(result.data).toMatchObject({ files_searched: 1, sensitive_files_left_out: 4 });
  for (const name of names) expect(statSync(join(desk.base, name)).atime, name).toEqual(longAgo);
});
