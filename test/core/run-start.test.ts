// Runs that begin alike share what they begin with; a run begins with nothing that holds for another one only.

import {
  createKernel,
  createMemoryJournal,
  PORTABLE_PROFILE,
  type PolicyInput,
  type RunOptions,
} from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { factsOfTypes } from "../facts.ts";
import { reader, writer } from "./world.ts";

async function begin(
  kernel: ReturnType<typeof createKernel>,
  options: RunOptions & { secrets?: { name: string; value: string }[] } = {},
) {
  const journal = createMemoryJournal();
  const run = await kernel.startRun({ ...options, journal });
  const [started] = factsOfTypes(journal.facts, "run.started");
  const [catalog] = factsOfTypes(journal.facts, "tool.catalog.resolved");
  return { run, started: started?.data, catalog: catalog?.data };
}

describe("runs that begin alike", () => {
  it("share their surface, their list of tools and the policy they are judged by", async () => {
    const kernel = createKernel({ tools: [reader("notes.read"), writer("notes.write")] });
    const first = await begin(kernel);
    const second = await begin(kernel);
    expect(second.run.surface).toBe(first.run.surface);
    expect(second.run.policy).toBe(first.run.policy);
    expect(await second.run.tools()).toBe(await first.run.tools());
    expect(second.started).toEqual(first.started);
    expect(second.catalog).toEqual(first.catalog);
  });

  it.each<[string, RunOptions]>([
    ["the role", { role: "worker" }],
    ["the mode", { mode: "plan" }],
    ["the policy", { policy: { rules: [{ tool: "notes.write", decision: "deny" }] } }],
    ["the tools asked for", { allowedTools: ["notes.read"] }],
    ["what the task denies", { taskDenied: ["notes.write"] }],
  ])("do not where %s is another", async (_, options) => {
    const kernel = createKernel({ tools: [reader("notes.read"), writer("notes.write")] });
    const plain = await begin(kernel);
    const other = await begin(kernel, options);
    const fresh = await begin(
      createKernel({ tools: [reader("notes.read"), writer("notes.write")] }),
      options,
    );
    expect(other.run.surface).not.toBe(plain.run.surface);
    expect(other.started).toEqual(fresh.started);
    expect(other.catalog).toEqual(fresh.catalog);
  });

  it("do not after the registry has changed", async () => {
    const kernel = createKernel({ tools: [reader("notes.read")] });
    const before = await begin(kernel);
    kernel.registry.register(writer("notes.write"));
    const after = await begin(kernel);
    expect(before.run.surface.loaded.map(({ name }) => name)).toEqual(["notes.read"]);
    expect(after.run.surface.loaded.map(({ name }) => name)).toEqual(["notes.read", "notes.write"]);
  });

  it("do not after whoever asked has changed the profile, or what the config disables", async () => {
    const disabled: string[] = [];
    const tools = [reader("notes.read"), writer("notes.write")];
    const kernel = createKernel({ tools, config: { tools: { disabled } } });
    const profile = { ...PORTABLE_PROFILE, max_tools: 2 };
    const loaded = async () =>
      (await begin(kernel, { profile })).run.surface.loaded.map(({ name }) => name);
    expect(await loaded()).toEqual(["notes.read", "notes.write"]);
    profile.max_tools = 1;
    expect(await loaded()).toHaveLength(1);
    profile.max_tools = 2;
    disabled.push("notes.write");
    expect(await loaded()).toEqual(["notes.read"]);
  });

  it("are on record as each was asked for, though another has changed its request since", async () => {
    const kernel = createKernel({ tools: [reader("notes.read"), writer("notes.write")] });
    const allowedTools = ["notes.read", "notes.write"];
    await begin(kernel, { allowedTools });
    allowedTools.pop();
    const secrets = [{ name: "token", value: "s3cret-value" }];
    const again = await begin(kernel, { allowedTools: ["notes.read", "notes.write"], secrets });
    expect(again.started?.request?.allowed_tools).toEqual(["notes.read", "notes.write"]);
  });

  it("share nothing that one of them could change for another", async () => {
    const kernel = createKernel({ tools: [reader("notes.read")] });
    const { run, started } = await begin(kernel);
    const { tools } = await run.tools();
    expect(() => Object.assign(tools[0] as object, { description: "other" })).toThrow(TypeError);
    expect(() => (tools as unknown[]).push({})).toThrow(TypeError);
    expect(() => Object.assign(started?.policy as object, { mode: "plan" })).toThrow(TypeError);
  });

  it("ask isEnabled each time", async () => {
    verifies("REG-4");
    let enabled = true;
    const kernel = createKernel({ tools: [reader("notes.read", 0, { isEnabled: () => enabled })] });
    const names = async () => (await begin(kernel)).run.surface.loaded.map(({ name }) => name);
    expect(await names()).toEqual(["notes.read"]);
    enabled = false;
    expect(await names()).toEqual([]);
    enabled = true;
    expect(await names()).toEqual(["notes.read"]);
  });

  it("hide a secret that became known since the last one, in the list and on record", async () => {
    verifies("REDACT-1");
    const description = "Reads with hunter-two-2";
    const kernel = createKernel({ tools: [reader("notes.read", 0, { description })] });
    const secrets: { name: string; value: string }[] = [];
    const open = await begin(kernel, { secrets });
    expect((await open.run.tools()).tools[0]?.description).toBe(description);
    secrets.push({ name: "TOKEN", value: "hunter-two-2" });
    for (const again of ["first", "second"]) {
      const hidden = await begin(kernel, { secrets });
      const { tools } = await hidden.run.tools();
      expect(tools[0]?.description, again).toBe("Reads with [redacted:TOKEN]");
      expect(JSON.stringify([hidden.started, hidden.catalog]), again).not.toContain("hunter-two-2");
    }
    expect((await (await begin(kernel)).run.tools()).tools[0]?.description).toBe(description);
  });

  it("refuse a policy that is no data each time, even next to one that is", async () => {
    verifies("PERM-9");
    const kernel = createKernel({ tools: [reader("notes.read")] });
    await begin(kernel);
    const policy = { sensitive_paths: undefined, home: () => "/root" } as unknown as PolicyInput;
    for (const _ of [1, 2]) await expect(begin(kernel, { policy })).rejects.toThrow("home");
  });
});
