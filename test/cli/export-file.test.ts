// The file of `soong export`: private, whole or not there, and never in place of another by mistake (CLI-4).

import { chmod, mkdir, readdir, rename, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { verifies } from "#laws";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { bundleCli, type CliBundle, type Ended, type Place } from "./cli-bundle.ts";
import { playSession, readLines } from "./export-stage.ts";

let bundle: CliBundle;
let place: Place;
let out: string;
let count = 0;

beforeAll(async () => {
  bundle = await bundleCli();
  place = await bundle.place();
  await playSession(place);
});

beforeEach(async () => {
  count += 1;
  out = join(place.project, `out-${count}`);
  await mkdir(out);
});

afterAll(() => bundle.remove());

function exportTo(file: string, ...more: string[]): Promise<Ended> {
  return place.run(["export", "--format", "cloudevents", "--out", file, ...more]);
}

/** Runs with a file call of Node that behaves in this way: what a disk does cannot be had otherwise. */
async function exportWith(patch: string, ...more: string[]): Promise<Ended> {
  const file = join(out, "patch.cjs");
  await place.write(file, `const disk = require("node:fs/promises");\n${patch}\n`);
  await mkdir(join(out, "to"));
  const args = ["export", "--format", "native", "--out", join(out, "to", "a.jsonl"), ...more];
  return place.run(args, { env: { NODE_OPTIONS: `--require=${file}` } });
}

function failWith(code: string, name: string): string {
  return `disk.${name} = () => Promise.reject(Object.assign(new Error("${code}: no"), { code: "${code}", syscall: "${name}" }));`;
}

it("is what stdout would have, for its owner alone, and nothing else is left", async () => {
  verifies("CLI-4", "EXPORT-1");
  const printed = await place.run(["export", "--format", "cloudevents"]);
  const file = join(out, "a.jsonl");
  const ended = await exportTo(file);
  expect(ended).toMatchObject({ code: 0, stdout: "" });
  expect(ended.stderr).toMatch(
    /a\.jsonl: \d+ facts of session_\S+ as \d+ records \(cloudevents\)\.\n$/,
  );
  expect(await place.read(file)).toBe(printed.stdout);
  expect(await exportTo("-")).toEqual(printed);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(out)).toEqual(["a.jsonl"]);
  const told = await exportTo(join(out, "b.jsonl"), "--json");
  expect(told.stderr).toBe("");
  expect(readLines(told)).toEqual([
    {
      schema: "soong.export/1",
      session_id: expect.stringContaining("session_") as string,
      format: "cloudevents",
      file: join(out, "b.jsonl"),
      facts: expect.any(Number) as number,
      records: printed.stdout.trimEnd().split("\n").length,
    },
  ]);
});

it("replaces nothing without --force, and then all of it", async () => {
  verifies("CLI-4", "CLI-6");
  const file = join(out, "a.jsonl");
  await place.write(file, "precious\n");
  const refused = await exportTo(file);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain(
    "a.jsonl exists. Name another file, or replace it with --force.",
  );
  expect(await place.read(file)).toBe("precious\n");
  await chmod(file, 0o644);
  expect(await exportTo(file, "--force")).toMatchObject({ code: 0 });
  expect(await place.read(file)).toMatch(/^\{.*\}\n$/s);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  await symlink(file, join(out, "link"));
  expect(await exportTo(join(out, "link"))).toMatchObject({ code: 1 });
  expect(await exportTo(join(out, "link"), "--force")).toMatchObject({ code: 0 });
  expect((await readdir(out)).toSorted()).toEqual(["a.jsonl", "link"]);
});

it("is never in the home of Soong, also behind links", async () => {
  verifies("CLI-4", "CLI-6");
  const own = await bundle.place();
  await playSession(own);
  const database = join(own.home, "store", "soong.db");
  const [folderLink, fileLink] = [join(own.project, "home"), join(own.project, "db")];
  await symlink(own.home, folderLink);
  await symlink(database, fileLink);
  const refuse = async (...files: string[]): Promise<void> => {
    for (const file of files) {
      const ended = await own.run(["export", "--out", file, "--force"]);
      expect(ended).toMatchObject({ code: 1, stdout: "" });
      expect(ended.stderr).toMatch(/ is in the home of Soong, .* Name a file elsewhere\.\n$/u);
    }
  };
  await refuse(database, fileLink, join(folderLink, "store", "soong.db"));
  await refuse(join(own.home, "a.jsonl"), join(folderLink, "a.jsonl"), "../home/a.jsonl");
  // A store that was moved to another disk.
  const elsewhere = join(own.project, "disk");
  await rename(join(own.home, "store"), elsewhere);
  await symlink(elsewhere, join(own.home, "store"));
  await refuse(join(elsewhere, "soong.db"));
  expect((await own.run(["sessions", "--json"])).stdout).toContain("session_");
});

it("is refused before the work where it cannot be", async () => {
  verifies("CLI-6");
  await symlink(join(out, "none.jsonl"), join(out, "dangling"));
  await symlink("circle", join(out, "circle"));
  for (const [file, says] of [
    [out, "is a directory. Name a file in it."],
    [join(out, "dangling"), "is a link to a file that is not there. Name that file, or remove"],
    [join(out, "circle"), "its links lead in a circle."],
    [join(out, "none", "a.jsonl"), "there is no directory"],
    [join(out, "x".repeat(300)), "its name is too long"],
    ["/dev/null", "is no ordinary file. Omit --out and redirect stdout to it."],
  ] as const) {
    const ended = await exportTo(file, "--force");
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(ended.stderr).toContain(says);
    expect(ended.stderr.trimEnd().split("\n")).toHaveLength(1);
  }
  expect((await stat("/dev/null")).isCharacterDevice()).toBe(true);
  expect((await readdir(out)).toSorted()).toEqual(["circle", "dangling"]);
});

it.each([
  ["ENOSPC", "writeFile", "the disk of"],
  ["EACCES", "open", "this user may not write in"],
  ["EROFS", "open", "is read-only"],
  // As in /proc, which is there.
  ["ENOENT", "open", "no file can be made in"],
  ["EEXIST", "link", "exists. Name another file"],
])("that the disk refuses with %s says so and leaves nothing", async (code, name, says) => {
  verifies("CLI-6");
  const ended = await exportWith(failWith(code, name));
  expect(ended).toMatchObject({ code: 1, stdout: "" });
  expect(ended.stderr).toContain(says);
  expect(await readdir(join(out, "to"))).toEqual([]);
});

it.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
])("is not there after %s in the middle of it", async (signal, code) => {
  verifies("CLI-4");
  const patch = `const { open } = disk;
    disk.open = async (path, ...more) => {
      const file = await open(path, ...more);
      if (!String(path).endsWith(".part")) return file;
      const alive = setInterval(() => {}, 1000);
      const received = new Promise((resolve) => process.once("${signal}", resolve));
      process.kill(process.pid, "${signal}");
      await received;
      clearInterval(alive);
      return file;
    };`;
  const ended = await exportWith(patch);
  expect(ended).toMatchObject({ code, stdout: "" });
  expect(await readdir(join(out, "to"))).toEqual([]);
});

it("counts one record as one", async () => {
  const ended = await place.run([
    "export",
    "--format",
    "agent-runtime-snapshot",
    "--out",
    join(out, "a.json"),
  ]);
  expect(ended.stderr).toMatch(/ as 1 record \(agent-runtime-snapshot\)\.\n$/u);
});

it("is not made for a session that is not there", async () => {
  verifies("CLI-6");
  const ended = await exportTo(join(out, "a.jsonl"), "--", "session_0nothing");
  expect(ended).toMatchObject({ code: 1, stdout: "" });
  expect(await readdir(out)).toEqual([]);
});
