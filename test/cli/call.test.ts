// One call from the command line, through the whole pipeline: what it answers, who decides, what is kept.

import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleCli, recordsOf, type CliBundle, type Ended, type Place } from "./cli-bundle.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

const touch = (path: string): string => JSON.stringify({ argv: ["touch", path] });

async function typesOf(place: Place, call: Ended): Promise<unknown[]> {
  const [record] = recordsOf(call);
  const events = await place.run(["events", String(record?.["run_id"]), "--json"]);
  return recordsOf(events).map(({ type }) => type);
}

describe("a call from the command line", () => {
  it("answers with the content, and with 0", async () => {
    verifies("CLI-3", "PIPE-8");
    const place = await bundle.place();
    await place.write("a.txt", "hello\nworld\n");
    const ended = await place.run(["call", "code.read_file", '{"path": "a.txt", "max_lines": 1}']);
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(ended.stdout).toContain("hello\n");
    expect(ended.stdout).not.toContain("world");
  });

  it("takes flags made from the schema of the tool, alone and beside JSON, and explains them", async () => {
    verifies("CLI-3");
    const place = await bundle.place();
    await place.write("a.txt", "hello\nworld\n");
    const read = ["call", "code.read_file"];
    const [flags, both, wrong, help, explained, tool] = await Promise.all([
      place.run([...read, "--path", "a.txt", "--max-lines", "1"]),
      place.run([...read, '{"path": "a.txt", "max_lines": 2}', "--json", "--max_lines=1"]),
      place.run([...read, "--path", "a.txt", "--max-lines", "some"]),
      place.run([...read, "--help"]),
      place.run(["explain", "code.run_command", "--argv", "rm", "--argv=-r"]),
      place.run(["tools", "code.read_file"]),
    ]);
    expect(flags).toMatchObject({ code: 0, stderr: "" });
    expect(flags.stdout).toMatch(/hello\n/);
    expect(flags.stdout).not.toContain("world");
    expect(both.code).toBe(0);
    expect(both.stdout).not.toContain("world");
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toMatch(/max_lines.*integer/);
    expect(help.code).toBe(0);
    expect(help.stdout).toMatch(/--max_lines {2}integer, 1 to 1000, default 200\n/);
    expect(explained.stdout).toContain('input {"argv":["rm","-r"]}');
    expect(tool.code).toBe(0);
    for (const line of [
      /^ {2}a call {4}runs without asking: Readonly/m,
      /^ {2}from {6}built in$/m,
      /^ {2}path {2}string, required$/m,
      /^ {2}soong call code\.read_file --path README\.md$/m,
    ]) {
      expect(tool.stdout).toMatch(line);
    }
  });

  it("takes its input from stdin, prints a record for programs, and is kept fact by fact", async () => {
    verifies("CLI-3", "PIPE-8", "EVENT-6");
    const place = await bundle.place();
    await place.write("a.txt", "hello\n");
    const call = await place.run(["call", "code.read_file", "-", "--json"], {
      stdin: '{"path": "a.txt"}',
    });
    const [record, ...others] = recordsOf(call);
    expect(others).toEqual([]);
    expect(record).toMatchObject({
      schema: "soong.call/1",
      result: { tool_name: "code.read_file", status: "succeeded", is_error: false },
    });
    expect(await typesOf(place, call)).toEqual([
      "run.started",
      "artifact.created",
      "tool.catalog.resolved",
      "tool.requested",
      "tool.validated",
      "tool.queued",
      "permission.evaluated",
      "tool.started",
      "tool.completed",
      "tool.yielded",
      "run.completed",
    ]);
    const verified = await place.run(["verify", String(record?.["session_id"]), "--artifacts"]);
    expect(verified).toMatchObject({ code: 0, stderr: "" });
  });

  it("ends with 1 when the tool fails, and says why on stderr", async () => {
    verifies("CLI-3");
    const place = await bundle.place();
    const missing = await place.run(["call", "code.read_file", '{"path": "none.txt"}']);
    expect(missing).toMatchObject({ code: 1, stdout: "" });
    expect(missing.stderr).toContain("none.txt");
    const unfit = await place.run(["call", "code.read_file", '{"pth": "a.txt"}', "--json"]);
    expect(unfit.code).toBe(1);
    expect(recordsOf(unfit)).toMatchObject([{ result: { is_error: true } }]);
  });

  it("is denied where no one can be asked, with the flag that helps", async () => {
    verifies("CLI-3", "CLI-6", "PERM-17");
    const place = await bundle.place();
    const input = JSON.stringify({ path: "new.txt", content: "x" });
    const denied = await place.run(["call", "code.write_file", input, "--json"]);
    expect(denied.code).toBe(3);
    expect(denied.stderr).toContain("--yes");
    expect(denied.stdout).toContain("--allow code.write_file");
    const secret = JSON.stringify({ path: ".env" });
    const allowed = ["call", "code.read_file", secret, "--allow", "code.read_file"];
    const sensitive = await place.run(allowed);
    expect(sensitive.code).toBe(3);
    expect(sensitive.stderr).toContain("--yes");
    expect(sensitive.stderr).not.toContain("--allow");
    // It is over before anyone could be there.
    expect(denied.stdout + sensitive.stderr).not.toMatch(/soong (?:attach|inspect)/);
    const misspelt = await place.run(["call", "code.list_dir", "{}", "--deny", "code.readfile"]);
    expect(misspelt.stderr).toContain(
      'warning: --deny code.readfile: tool "code.readfile" matches no tool; did you mean "code.read_file"?',
    );
    expect(await readdir(place.project)).toEqual([]);
    expect(await typesOf(place, denied)).toEqual(
      expect.arrayContaining(["permission.failed", "tool.denied", "run.failed"]),
    );
  });

  it("says once why it was refused, and what to paste to see more", async () => {
    verifies("CLI-3");
    const place = await bundle.place();
    await place.write(".env", "A=1\n");
    const input = '{"path":".env","content":"B=2"}';
    const refused = await place.run(["call", "code.write_file", input]);
    expect(refused).toMatchObject({ code: 3, stdout: "" });
    expect(refused.stderr.match(/needs permission/g)).toHaveLength(1);
    const hint = `soong explain code.write_file '${input}'`;
    expect(refused.stderr.split(hint)).toHaveLength(2);
    expect(refused.stderr.match(/soong explain/g)).toHaveLength(1);
    const explained = await place.run(["explain", "code.write_file", input]);
    expect(explained).toMatchObject({ code: 0, stdout: expect.stringContaining("ask") as string });
  });

  it("needs an explicit yes for what is dangerous: a flag that names it, or --yes; a deny remains", async () => {
    verifies("PERM-7", "CLI-3");
    const place = await bundle.place();
    const call = (file: string, ...flags: string[]): Promise<Ended> =>
      place.run(["call", "code.run_command", touch(file), ...flags]);
    const [wildcard, exact, yes, denied] = await Promise.all([
      call("wildcard", "--allow", "code.*"),
      call("exact", "--allow", "code.run_command"),
      call("yes", "--yes"),
      call("denied", "--yes", "--allow", "code.run_command", "--deny", "code.*"),
    ]);
    expect([wildcard.code, exact.code, yes.code, denied.code]).toEqual([3, 0, 0, 3]);
    expect((await readdir(place.project)).toSorted()).toEqual(["exact", "yes"]);
    // A rule said no: no flag would have helped.
    expect(denied.stderr).not.toContain("Add --yes");
  });

  it("never writes to what is Soong's own, with any flags", async () => {
    verifies("PERM-14");
    const place = await bundle.place();
    const locks = join(userInfo().homedir, ".soong-agent", "locks");
    for (const path of [join(place.home, "config.toml"), join(locks, "stolen")]) {
      const input = JSON.stringify({ path, content: "x" });
      const flags = ["--yes", "--allow", "code.write_file"];
      const ended = await place.run(["call", "code.write_file", input, ...flags]);
      expect(ended.code).toBe(3);
      expect(ended.stderr).toContain("no tool may write");
      expect(existsSync(path)).toBe(false);
    }
  });

  it("works in the project that --cwd names", async () => {
    verifies("CLI-3");
    const place = await bundle.place();
    await place.write("deep/b.txt", "down here\n");
    const ended = await place.run(["call", "code.read_file", '{"path": "b.txt"}', "--cwd", "deep"]);
    expect(ended).toMatchObject({ code: 0, stdout: "down here\n" });
  });

  it("never lets a key of a model out", async () => {
    verifies("REDACT-1");
    const place = await bundle.place();
    const key = "not-a-known-format-5up3rs3cr3t";
    await place.write("keys.txt", `it is ${key}\n`);
    const env = { ANTHROPIC_API_KEY: key };
    const call = await place.run(["call", "code.read_file", '{"path": "keys.txt"}'], { env });
    expect(call.stdout).toContain("[redacted:ANTHROPIC_API_KEY]");
    const doctor = await place.run(["doctor"], { env });
    expect(doctor.stdout).toContain("ANTHROPIC_API_KEY: yes");
    expect(call.stdout + doctor.stdout + doctor.stderr).not.toContain(key);
  });
});

describe("the files of the home", () => {
  const hook = (decision: string): string =>
    `#!/bin/sh\ncat > /dev/null\necho '{"decision": "${decision}", "reason": "not today"}'\n`;
  const hooks = (file: string): string =>
    JSON.stringify({ hooks: [{ id: "guard", event: "PreToolUse", command: ["sh", file] }] });

  it("hooks.json guards calls; one in the project is not even looked at", async () => {
    verifies("HOOK-1", "CONF-1");
    const place = await bundle.place();
    await place.write("a.txt", "hello\n");
    await place.write("guard.sh", hook("deny"));
    await place.write("hooks.json", hooks(join(place.project, "guard.sh")));
    await place.write(".soong-agent/hooks.json", hooks(join(place.project, "guard.sh")));
    const free = await place.run(["call", "code.read_file", '{"path": "a.txt"}']);
    expect(free.code).toBe(0);
    await place.write(join(place.home, "guard.sh"), hook("deny"));
    await place.write(join(place.home, "hooks.json"), hooks(join(place.home, "guard.sh")));
    const guarded = await place.run(["call", "code.read_file", '{"path": "a.txt"}', "--yes"]);
    expect(guarded.code).toBe(3);
    expect(guarded.stderr).toContain("not today");
  });

  it("stop everything when they are wrong, with file and line", async () => {
    verifies("CONF-2", "CLI-6");
    const place = await bundle.place();
    await place.write(join(place.home, "hooks.json"), '{\n  "hooks": 5\n}\n');
    const hooked = await place.run(["call", "code.list_dir"]);
    expect(hooked).toMatchObject({ code: 2, stdout: "" });
    expect(hooked.stderr).toContain("hooks.json:2");
    await place.write(join(place.home, "config.toml"), "[tools]\nmax_timeout = 5\n");
    const configured = await place.run(["call", "code.list_dir"]);
    expect(configured).toMatchObject({ code: 2, stdout: "" });
    expect(configured.stderr).toMatch(/config\.toml:2:.*max_timeout_ms/);
    expect(existsSync(join(place.home, "store"))).toBe(false);
  });
});
