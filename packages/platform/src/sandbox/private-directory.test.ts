import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import {
  chmod,
  mkdir,
  mkdtemp,
  realpath,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { thisHolder } from "../file/lock-holder.ts";
import { openPrivateDirectory } from "./private-directory.ts";

let place: string;
beforeEach(async () => {
  place = await realpath(await mkdtemp(join(tmpdir(), "soong-private-")));
  const made = place;
  onTestFinished(() => rm(made, { recursive: true, force: true }));
});

test("it is this user's alone, and gone with the runtime, even if a program changed its directories", async () => {
  const directory = openPrivateDirectory([place]);
  expect((await stat(directory.base)).mode & 0o777).toBe(0o700);
  const tmp = directory.temporaryDirectory([]);
  expect(directory.temporaryDirectory([])).toBe(tmp);
  await mkdir(join(tmp, "closed", "inner"), { recursive: true });
  await symlink("/", join(tmp, "closed", "link"));
  await chmod(join(tmp, "closed"), 0);
  // Deeper than a path can be long.
  const deeper = `for i in $(seq 50); do mkdir ${"d".repeat(100)}; cd ${"d".repeat(100)}; done; mkdir -m 0 closed`;
  execFileSync("sh", ["-c", deeper], { cwd: tmp });
  directory.remove();
  expect(readdirSync(join(directory.base, "sandbox"))).toEqual([]);
});

test("what a killed runtime left is removed by the next, and nothing of a live one", async () => {
  const runtimes = join(openPrivateDirectory([place]).base, "sandbox");
  const [live] = readdirSync(runtimes);
  const made = async (name: string, owner: object | undefined) => {
    await mkdir(join(runtimes, name, "tmp"), { recursive: true });
    if (owner !== undefined)
      await writeFile(join(runtimes, name, "owner.json"), JSON.stringify(owner));
  };
  await made("dead", { ...thisHolder(), started: "1" });
  await made("elsewhere", { ...thisHolder(), started: "1", host: "other", boot_id: null });
  await made("beginning", undefined);
  await made("forgotten", undefined);
  await utimes(join(runtimes, "forgotten"), 0, 0);
  openPrivateDirectory([place]).remove();
  expect(new Set(readdirSync(runtimes))).toEqual(new Set(["beginning", "elsewhere", live]));
});

test("a directory that another could have made is not used", async () => {
  const name = `soong-${process.geteuid?.()}`;
  await mkdir(join(place, "elsewhere"));
  await symlink("elsewhere", join(place, name));
  expect(() => openPrivateDirectory([place])).toThrow("is not a directory of this user");
  // The next place is.
  const second = join(place, "second");
  await mkdir(second);
  expect(openPrivateDirectory([place, second]).base).toBe(join(second, name));
  expect(existsSync(join(place, "elsewhere", "sandbox"))).toBe(false);
});
