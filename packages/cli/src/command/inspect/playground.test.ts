// The playground of the inspector: when its calls begin, and how they end.

import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { verifies } from "#laws";
import type { Store } from "@soong/store";
import { openHomeStore } from "../../runtime/home.ts";
import { loadConfig } from "../../config/index.ts";
import type { InspectedHome } from "./inspected-home.ts";
import { AT_ONCE, openPlayground } from "./playground.ts";

let folder: string;
let place: InspectedHome;
let store: Store;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "soong-playground-")));
  const home = join(folder, "home");
  const cwd = join(folder, "project");
  await mkdir(cwd);
  const config = (): ReturnType<typeof loadConfig> => loadConfig({ home });
  place = { env: { HOME: folder, SOONG_AGENT_HOME: home }, home, cwd, config, note: () => {} };
  store = await openHomeStore(place);
});

afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

test("a call begins once its questions would be put to the page", async () => {
  verifies("UI-2");
  const playground = openPlayground(place, store, () =>
    writeFile(join(place.cwd, "a.txt"), "by then"),
  );
  const { run_id } = await playground.call("code.read_file", { path: "a.txt" });
  const { result } = await playground.ended(run_id);
  expect(JSON.stringify(result)).toContain("by then");
  await playground.close();
});

test("a call that had not begun when the playground was closed is on record as aborted", async () => {
  verifies("UI-2");
  let go: () => void = () => {};
  const attended = new Promise<void>((resolve) => {
    go = resolve;
  });
  const playground = openPlayground(place, store, () => attended);
  const { run_id } = await playground.call("code.list_dir", {});
  const closed = playground.close();
  go();
  await closed;
  expect((await playground.ended(run_id)).result).toMatchObject({ status: "aborted" });
  await expect(playground.tools()).rejects.toMatchObject({ code: "gone" });
});

test("a limited number of calls may be active, and one that ends makes space for the next", async () => {
  verifies("UI-2");
  const warned: Error[] = [];
  const warn = (warning: Error): void => void warned.push(warning);
  process.on("warning", warn);
  const begun: (() => void)[] = [];
  const playground = openPlayground(
    place,
    store,
    () =>
      new Promise<void>((resolve) => {
        begun.push(resolve);
      }),
  );
  const begin = () => playground.call("code.list_dir", {});
  const asked = await Promise.allSettled(Array.from({ length: AT_ONCE + 3 }, begin));
  const calls = asked.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  expect(calls).toHaveLength(AT_ONCE);
  await expect(begin()).rejects.toMatchObject({
    code: "failed",
    message: expect.stringMatching(/^\d+ calls are under way here; answer or end/) as unknown,
  });
  begun[0]?.();
  await Promise.race(calls.map(({ run_id }) => playground.ended(run_id)));
  expect((await playground.tools()).tools).not.toEqual([]);
  const closed = playground.close();
  for (const go of begun) go();
  await closed;
  process.off("warning", warn);
  expect(warned).toEqual([]);
});
