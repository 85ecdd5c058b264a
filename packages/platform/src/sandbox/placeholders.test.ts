import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifies } from "#laws";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { thisHolder, type LockHolder } from "../file/lock-holder.ts";
import { layPlaceholders, removeUnneeded } from "./placeholders.ts";

let base: string;
let root: string;
let notes: string;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "soong-placeholders-")));
  const made = base;
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  [root, notes] = [join(base, "root"), join(base, "notes")];
  await mkdir(root);
  await mkdir(notes);
});

function lay(...names: string[]) {
  const absent = names.map((name) => join(root, name));
  return layPlaceholders({ writable: [root], fixed: [], masked: [], absent }, notes);
}

test("a name that is to stay free is an empty directory until the last who needs it has ended", () => {
  verifies("CMD-6");
  const [one, two] = [lay(".git", ".vscode/tasks.json"), lay(".git")];
  expect(one.paths).toEqual([join(root, ".git"), join(root, ".vscode", "tasks.json")]);
  one.release();
  expect(readdirSync(root)).toEqual([".git"]);
  const three = lay(".git");
  two.release();
  expect(readdirSync(root)).toEqual([".git"]);
  three.release();
  expect([readdirSync(root), readdirSync(notes)]).toEqual([[], []]);
});

test("what was there, and what someone made of it meanwhile, is never removed", async () => {
  verifies("CMD-6");
  await mkdir(join(root, "empty"));
  await writeFile(join(root, "file"), "text");
  const laid = lay("empty", "file", ".git", ".vscode/tasks.json");
  expect(laid.paths).toHaveLength(4);
  await writeFile(join(root, ".git", "HEAD"), "ref: refs/heads/main\n");
  await writeFile(join(root, ".vscode", "other.json"), "{}");
  laid.release();
  expect(readdirSync(root).toSorted()).toEqual([".git", ".vscode", "empty", "file"]);
  expect(readdirSync(join(root, ".vscode"))).toEqual(["other.json"]);
  // Made again by someone after it was removed.
  const again = lay("later");
  await rm(join(root, "later"), { recursive: true });
  await mkdir(join(root, "other"));
  await mkdir(join(root, "later"));
  again.release();
  expect(readdirSync(notes)).toEqual([]);
});

test("what a killed runtime left is removed by the next, unless another one needs it", async () => {
  verifies("CMD-6");
  const sleeper = spawn("/bin/sleep", ["300"], { stdio: "ignore" });
  onTestFinished(() => void sleeper.kill("SIGKILL"));
  lay("left", "shared");
  const [file] = readdirSync(notes);
  const note = join(notes, file ?? "");
  const written = JSON.parse(await readFile(note, "utf8")) as {
    holder: LockHolder;
    needs: string[];
  };
  await writeFile(
    note,
    JSON.stringify({ ...written, holder: { ...written.holder, started: "1" } }),
  );
  const other = { ...thisHolder(), pid: sleeper.pid, started: null };
  const otherNote = join(notes, "other.note");
  await writeFile(
    otherNote,
    JSON.stringify({ holder: other, needs: [join(root, "shared")], made: [] }),
  );
  removeUnneeded(notes);
  expect(readdirSync(root)).toEqual(["shared"]);
  await rm(otherNote);
  removeUnneeded(notes);
  expect([readdirSync(root), readdirSync(notes)]).toEqual([[], []]);
});

test("a note that was cut off when the machine went down stops no one", async () => {
  verifies("CMD-6");
  await writeFile(join(notes, "0.note"), "");
  lay(".git").release();
  expect([readdirSync(root), readdirSync(notes)]).toEqual([[], []]);
});

test("one who needs a name waits for those who are removing it, and not for the dead", async () => {
  verifies("CMD-6");
  const removal = join(notes, "1.removal");
  await writeFile(removal, JSON.stringify({ ...thisHolder(), started: "1" }));
  lay("name").release();
  expect(existsSync(removal)).toBe(false);
  await writeFile(removal, JSON.stringify(thisHolder()));
  expect(() => lay("name")).toThrow("is in use for too long");
  await rm(removal);
  lay("name").release();
  expect([readdirSync(root), readdirSync(notes)]).toEqual([[], []]);
});

test("nothing is made where the name is closed anyway", async () => {
  await mkdir(join(root, "masked"));
  const absent = [join(root, "masked", "a"), join(base, "outside"), "/proc/soong"];
  const profile = { writable: [root], fixed: [], masked: [join(root, "masked")], absent };
  expect(layPlaceholders(profile, notes).paths).toEqual([]);
  expect([readdirSync(join(root, "masked")), existsSync(join(base, "outside"))]).toEqual([
    [],
    false,
  ]);
});
