// REG-3: no call runs on a definition the model has not seen, and every call runs the code that is there now.

import type { AnyTool } from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { setStage } from "./drive.ts";
import { allowAll, reader, textOf, writer } from "./world.ts";

describe("a tool that changed after it was shown", () => {
  const shown = (handler: AnyTool["handler"], about: Partial<AnyTool> = {}) =>
    writer("db.drop", 0, { handler, ...about });

  async function changing() {
    const stage = await setStage({ policy: allowAll });
    const handle = stage.kernel.registry.register(shown(() => "old"));
    await stage.run.tools();
    return { stage, handle };
  }

  it.each<[string, Partial<AnyTool>]>([
    ["its description", { description: "Drops everything, really" }],
    ["its schema", { input_schema: { type: "object", properties: { all: { type: "boolean" } } } }],
    ["its effects", { permission: "readonly" }],
    ["its tags", { tags: ["billing"] }],
    ["its aliases", { aliases: ["drop"] }],
    ["its output schema", { output_schema: { type: "string" } }],
  ])("in %s is refused as stale, and the new definition is there next turn", async (_, about) => {
    verifies("REG-3");
    const { stage, handle } = await changing();
    let ran = 0;
    handle.set([shown(() => `new ${(ran += 1)}`, about)]);
    const call = { name: "db.drop", arguments: {} };
    const [stale] = await stage.run.execute([call]);
    expect(stale).toMatchObject({
      status: "failed",
      error: { code: "tool_definition_changed", retryable: true },
    });
    expect(ran).toBe(0);
    const [still] = await stage.run.execute([call]);
    expect(still?.error?.code, "not before it is shown").toBe("tool_definition_changed");
    const { tools } = await stage.run.tools();
    if (about.description !== undefined) expect(tools[0]?.description).toBe(about.description);
    const [fresh] = await stage.run.execute([call]);
    expect([fresh?.status, ran]).toEqual(["succeeded", 1]);
  });

  it("that was gone and came back different is stale too; one that is gone is said to be gone", async () => {
    verifies("REG-3");
    const { stage, handle } = await changing();
    handle.close();
    const call = { name: "db.drop", arguments: {} };
    const [gone] = await stage.run.execute([call]);
    expect(gone).toMatchObject({ status: "failed", error: { code: "tool_definition_changed" } });
    expect(textOf(gone)).toMatch(/removed|not there/);
    stage.kernel.registry.register(shown(() => "another", { description: "Another tool" }));
    const [stale] = await stage.run.execute([call]);
    expect(stale?.error?.code).toBe("tool_definition_changed");
    expect((await stage.run.tools()).tools[0]?.description).toBe("Another tool");
  });

  it("stops what comes after it, as a write that did not happen", async () => {
    verifies("REG-3", "SCHED-3");
    const { stage, handle } = await changing();
    stage.kernel.registry.register(writer("db.create"));
    await stage.run.tools();
    handle.set([shown(() => "new", { description: "New" })]);
    const results = await stage.run.execute([
      { name: "db.drop", arguments: {} },
      { name: "db.create", arguments: {} },
    ]);
    expect(results.map(({ status }) => status)).toEqual(["failed", "skipped"]);
  });

  it("while its call waits for the user is not run on the answer to the old one", async () => {
    verifies("REG-3", "PERM-8");
    const ran: string[] = [];
    const tool = (description: string) =>
      writer("db.drop", 0, { description, handler: () => void ran.push(description) });
    let change = (): void => {};
    const stage = await setStage({
      ask: () => {
        change();
        return { decision: "allow_once" };
      },
    });
    const handle = stage.kernel.registry.register(tool("Drops one table"));
    await stage.run.tools();
    for (const next of [() => handle.set([tool("Drops all tables")]), () => handle.close()]) {
      change = next;
      const [result] = await stage.run.execute([{ name: "db.drop", arguments: {} }]);
      expect(result).toMatchObject({ status: "failed", is_error: true });
      await stage.run.tools();
    }
    expect(ran).toEqual([]);
  });

  it("while its call waits for another to end is not run either", async () => {
    verifies("REG-3");
    const ran: string[] = [];
    const stage = await setStage({ policy: allowAll });
    const { registry } = stage.kernel;
    const handle = registry.register(shown(() => void ran.push("old")));
    registry.register(
      writer("db.migrate", 0, {
        handler: () =>
          handle.set([shown(() => void ran.push("new"), { description: "Drops more" })]),
      }),
    );
    await stage.run.tools();
    const results = await stage.run.execute([
      { name: "db.migrate", arguments: {} },
      { name: "db.drop", arguments: {} },
    ]);
    expect(results.map(({ error }) => error?.code)).toEqual([undefined, "tool_definition_changed"]);
    expect(ran).toEqual([]);
  });

  it("in nothing but its code is not stale, and the code that runs is the present one", async () => {
    verifies("REG-3");
    const { stage, handle } = await changing();
    handle.set([shown(() => "renewed")]);
    const call = { name: "db.drop", arguments: {} };
    const [renewed] = await stage.run.execute([call]);
    expect([renewed?.status, textOf(renewed)]).toEqual(["succeeded", "renewed"]);
    handle.close();
    stage.kernel.registry.register(shown(() => "reconnected"));
    const before = stage.facts("tool.catalog.resolved").length;
    await stage.run.tools();
    const [again] = await stage.run.execute([call]);
    expect([again?.status, textOf(again)]).toEqual(["succeeded", "reconnected"]);
    expect(stage.facts("tool.catalog.resolved"), "and is no new revision").toHaveLength(before);
  });

  it("brings its own instructions, not those of the tool before it", async () => {
    verifies("REG-3", "DEF-2");
    const stage = await setStage();
    const { registry } = stage.kernel;
    const handle = registry.register(reader("a.tool", 0, { prompt: () => "Old ways." }));
    expect((await stage.run.tools()).tools[0]?.description).toContain("Old ways.");
    handle.set([reader("a.tool", 0, { description: "New", prompt: () => "New ways." })]);
    expect((await stage.run.tools()).tools[0]?.description).toBe("New\n\nNew ways.");
    handle.set([reader("a.tool", 0, { description: "Plain" })]);
    expect((await stage.run.tools()).tools[0]?.description).toBe("Plain");
  });
});
