// Runs from the page of the inspector: who continues what at once, and what is stopped before it began.

import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { verifies } from "#laws";
import type { Store } from "@soong/store";
import { openHomeStore } from "../../runtime/home.ts";
import { loadConfig } from "../../config/index.ts";
import type { InspectedHome } from "./inspected-home.ts";
import { openRunsPort } from "./runs.ts";

let folder: string;
let place: InspectedHome;
let store: Store;
let model: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "soong-page-runs-")));
  const home = join(folder, "home");
  const cwd = join(folder, "project");
  await mkdir(cwd);
  const script = join(folder, "script.yaml");
  await writeFile(script, "turns: [{ text: One. }, { text: Two. }, { text: Three. }]\n");
  model = `script:${script}`;
  const config = (): ReturnType<typeof loadConfig> => loadConfig({ home });
  place = { env: { HOME: folder, SOONG_AGENT_HOME: home }, home, cwd, config, note: () => {} };
  store = await openHomeStore(place);
});

afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

test("two tabs that continue a session at the same moment are both answered", async () => {
  verifies("UI-4");
  const runs = openRunsPort(place, store, async () => {});
  const { session_id } = await runs.start({ prompt: "first", model });
  await untilEnded(session_id, 1);
  const prompts = ["from one tab", "from another tab", "from a third"];
  await Promise.all(prompts.map((prompt) => runs.start({ prompt, session_id, model })));
  await vi.waitFor(async () => {
    const reader = await store.readSession(session_id);
    const [main] = await reader.agents();
    const said = JSON.stringify(await reader.activePath(main?.agent_id ?? ""));
    for (const prompt of prompts) expect(said).toContain(prompt);
  });
  await runs.close();
});

test("a run that is stopped before it begins is on record as aborted, and others are not its", async () => {
  verifies("UI-4");
  let go: () => void = () => {};
  const attended = new Promise<void>((resolve) => {
    go = resolve;
  });
  const runs = openRunsPort(place, store, () => attended);
  const { session_id, run_id } = await runs.start({ prompt: "go", model });
  expect(runs.stop(session_id, "run_of_another")).toBe(false);
  expect(runs.stop("session_of_another", run_id)).toBe(false);
  expect(runs.stop(session_id, run_id)).toBe(true);
  expect(runs.stop(session_id, run_id)).toBe(true);
  go();
  await untilEnded(session_id, 1);
  const [run] = await (await store.readSession(session_id)).runs();
  expect(run).toMatchObject({ run_id, status: "aborted" });
  await vi.waitFor(() => expect(runs.stop(session_id, run_id)).toBe(false));
  await runs.close();
});

async function untilEnded(session_id: string, count: number): Promise<void> {
  await vi.waitFor(async () => {
    const runs = await (await store.readSession(session_id)).runs();
    expect(runs.filter(({ ended_at }) => ended_at !== undefined)).toHaveLength(count);
  });
}
