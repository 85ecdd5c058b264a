// How the store of a home is opened: as its config says.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifies } from "#laws";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openHomeStore } from "./home.ts";

const openStore = vi.hoisted(() => vi.fn<(options: object) => Promise<object>>(async () => ({})));

vi.mock("@soong/store", () => ({ openStore }));

let home: string;

beforeEach(async () => {
  openStore.mockClear();
  home = await mkdtemp(join(tmpdir(), "soong-home-"));
});

afterEach(() => rm(home, { recursive: true, force: true }));

test("the store waits for the disk as store.durability of the config says", async () => {
  verifies("STORE-6");
  await openHomeStore(home);
  expect(openStore).toHaveBeenLastCalledWith(
    expect.objectContaining({ directory: home, durability: "standard" }),
  );
  await writeFile(join(home, "config.toml"), '[store]\ndurability = "full"\n');
  await openHomeStore(home);
  expect(openStore).toHaveBeenLastCalledWith(expect.objectContaining({ durability: "full" }));
});
