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
  await openHomeStore({ home, env: {} });
  expect(openStore).toHaveBeenLastCalledWith(
    expect.objectContaining({ directory: home, durability: "standard" }),
  );
  await writeFile(join(home, "config.toml"), '[store]\ndurability = "full"\n');
  await openHomeStore({ home, env: {} });
  expect(openStore).toHaveBeenLastCalledWith(expect.objectContaining({ durability: "full" }));
});

const URL_SETTING = '[store]\nurl = "postgres://me@db/soong"\nlease_ms = 5000\n';

test("the store is in the database of the config, or of SOONG_STORE_URL", async () => {
  verifies("STORE-1");
  await writeFile(join(home, "config.toml"), URL_SETTING);
  await openHomeStore({ home, env: {} });
  expect(openStore).toHaveBeenLastCalledWith(
    expect.objectContaining({ url: "postgres://me@db/soong", leaseMs: 5000 }),
  );
  await openHomeStore({ home, env: { SOONG_STORE_URL: "postgres://other/soong" } });
  expect(openStore).toHaveBeenLastCalledWith(
    expect.objectContaining({ url: "postgres://other/soong" }),
  );
});

test("a config that cannot be read keeps no one from the store in the home, unless it may name another", async () => {
  verifies("STORE-1");
  await writeFile(join(home, "config.toml"), "[stor]\n");
  await openHomeStore({ home, env: {} });
  expect(openStore).toHaveBeenLastCalledWith(expect.objectContaining({ url: undefined }));
  await writeFile(join(home, "config.toml"), `${URL_SETTING}[stor]\n`);
  await expect(openHomeStore({ home, env: {} })).rejects.toThrow(/stor: is not a field/);
  for (const url of ["mysql://db/soong", "db:5432/soong", ""]) {
    await writeFile(join(home, "config.toml"), `[store]\nurl = "${url}"\n`);
    await expect(openHomeStore({ home, env: {} })).rejects.toThrow(/2:7: store.url/);
  }
  const env = { SOONG_STORE_URL: "postgres://other/soong" };
  await openHomeStore({ home, env });
  expect(openStore).toHaveBeenLastCalledWith(
    expect.objectContaining({ url: "postgres://other/soong" }),
  );
});
