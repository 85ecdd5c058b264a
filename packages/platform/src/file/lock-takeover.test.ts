import {
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";
import { verifies } from "#laws";

import { thisHolder } from "./lock-holder.ts";
import { replaceGuarded } from "./lock-file.ts";

let folder: string;
let lockPath: string;
let claimPath: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "soong-takeover-")));
  lockPath = join(folder, "a.lock");
  claimPath = join(folder, "claim");
  writeFileSync(claimPath, "ours");
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** Acts as one who holds the guard of the dead lock `deadId`, whose first guard had died, too. */
function replace(deadId: string): Promise<boolean> {
  const [own, dead] = [`${lockPath}.own`, `${lockPath}.${deadId}`];
  linkSync(claimPath, own);
  writeFileSync(dead, "dead");
  return replaceGuarded(claimPath, lockPath, deadId, { own, dead: [dead] });
}

test("the dead lock is replaced by the claim, and the guards are gone", async () => {
  verifies("EDIT-6");
  const dead = thisHolder();
  writeFileSync(lockPath, JSON.stringify(dead));
  expect(await replace(dead.nonce)).toBe(true);
  expect(readFileSync(lockPath, "utf8")).toBe("ours");
  expect(readdirSync(folder)).toEqual(["a.lock"]);
});

test("a lock that another has taken since it was found dead stays that one's", async () => {
  verifies("EDIT-6");
  const live = JSON.stringify(thisHolder());
  writeFileSync(lockPath, live);
  expect(await replace(thisHolder().nonce)).toBe(false);
  expect(readFileSync(lockPath, "utf8")).toBe(live);
  expect(readdirSync(folder)).toEqual(["a.lock", "claim"]);
});

test("a lock that was given back since stays free for all", async () => {
  expect(await replace(thisHolder().nonce)).toBe(false);
  expect(readdirSync(folder)).toEqual(["claim"]);
});

test("when it cannot be done, the guards of the dead stay, so that only one can follow", async () => {
  verifies("EDIT-6");
  const dead = thisHolder();
  writeFileSync(lockPath, JSON.stringify(dead));
  const own = `${lockPath}.own`;
  linkSync(claimPath, own);
  writeFileSync(`${lockPath}.${dead.nonce}`, "dead");
  const guards = { own, dead: [`${lockPath}.${dead.nonce}`] };
  const failing = replaceGuarded(join(folder, "no-such-claim"), lockPath, dead.nonce, guards);
  await expect(failing).rejects.toMatchObject({ code: "ENOENT" });
  expect(readdirSync(folder)).toEqual(["a.lock", `a.lock.${dead.nonce}`, "claim"].toSorted());
});
