// DEF-8: the run's context changes through modifiers of calls that run alone, after they end, and in no
// other way.

import { toolResult, type ContextModifier, type RunContext, type ToolContext } from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { drive, heldTool, setStage } from "./drive.ts";
import { allowAll, createWorld, reader, writer } from "./world.ts";

const modifying = (modify_context: ContextModifier) => () =>
  toolResult({ ok: true, modify_context });

const set =
  (entries: RunContext): ContextModifier =>
  (context) => ({ ...context, ...entries });

describe("a context modifier", () => {
  it("of a call that is not concurrency-safe is applied after it ends, for the calls after it", async () => {
    verifies("DEF-8");
    const seen: RunContext[] = [];
    const look = reader("a.look", 0, {
      handler: (_, { runContext }) => void seen.push(runContext),
    });
    const world = await createWorld({
      tools: [
        look,
        writer("a.write", 0, { handler: modifying(set({ branch: "topic" })) }),
        reader("a.alone", 0, { concurrency_safe: false, handler: modifying(set({ n: 1 })) }),
      ],
      policy: allowAll,
      context: { branch: "main" },
    });
    const call = (name: string) => ({ name, arguments: {} });
    await world.execute(
      call("a.look"),
      call("a.write"),
      call("a.look"),
      call("a.alone"),
      call("a.look"),
    );
    expect(seen).toEqual([{ branch: "main" }, { branch: "topic" }, { branch: "topic", n: 1 }]);
    expect(world.run.context).toEqual({ branch: "topic", n: 1 });
    expect(world.facts("error")).toEqual([]);
  });

  it("is not applied before its call has ended", async () => {
    verifies("DEF-8");
    const { tool, calls } = heldTool("a.write", { permission: "write" });
    const stage = await setStage({ tools: [tool], policy: allowAll });
    const work = stage.run.execute([{ name: "a.write", arguments: {} }]);
    await stage.clock.settle();
    expect(stage.run.context).toEqual({});
    calls[0]?.finish(toolResult({ ok: true, modify_context: set({ n: 1 }) }));
    await drive(stage.clock, work);
    expect(stage.run.context).toEqual({ n: 1 });
  });

  it.each([
    ["by its definition", {}],
    [
      "for this input",
      {
        permission: "write" as const,
        concurrency_safe: undefined as never,
        classify: () => ({ read_only: true, concurrency_safe: true }),
      },
    ],
  ])("of a call that is concurrency-safe %s is refused with a recorded error", async (_, about) => {
    verifies("DEF-8");
    let applied = 0;
    const modify: ContextModifier = (context) => {
      applied += 1;
      return context;
    };
    const world = await createWorld({
      tools: [reader("a.read", 0, { ...about, handler: modifying(modify) })],
    });
    const [result] = await world.execute({ id: "c", name: "a.read", arguments: {} });
    expect(result?.status).toBe("succeeded");
    const [error] = world.facts("error");
    expect(error).toMatchObject({ tool_call_id: "c", data: { code: "context_modifier_refused" } });
    expect([applied, world.run.context]).toEqual([0, {}]);
  });

  it.each<[string, ContextModifier]>([
    ["throws", () => raise("no")],
    ["returns nothing", () => undefined as never],
    ["returns a list", () => [] as never],
    ["returns a promise", (async () => ({ n: 1 })) as never],
    ["returns a cycle", () => cycle() as never],
  ])("that %s changes nothing, on record", async (name, modify) => {
    verifies("DEF-8");
    const world = await createWorld({
      tools: [writer("a.write", 0, { handler: modifying(modify) })],
      policy: allowAll,
      context: { kept: true },
    });
    const [result] = await world.execute({ name: "a.write", arguments: {} });
    expect(result?.status, name).toBe("succeeded");
    expect(world.run.context).toEqual({ kept: true });
    expect(world.facts("error")[0]?.data.code).toBe("context_modifier_refused");
  });

  it("is the only way in: a handler cannot reach through what it is given", async () => {
    verifies("DEF-8");
    const given = { nested: { list: [1] } };
    const reach = ({ runContext }: ToolContext) => {
      try {
        (runContext["nested"] as { list: number[] }).list.push(2);
      } catch {
        return "held off";
      }
      return "reached in";
    };
    const world = await createWorld({
      tools: [
        reader("a.reach", 0, { handler: (_, context) => reach(context) }),
        writer("a.set", 0, { handler: modifying(set({ nested: { list: [1] } })) }),
      ],
      policy: allowAll,
      context: given,
    });
    await world.execute({ name: "a.reach", arguments: {} });
    expect(world.run.context, "as the run was given it").toEqual({ nested: { list: [1] } });
    expect(given).toEqual({ nested: { list: [1] } });
    await world.execute({ name: "a.set", arguments: {} }, { name: "a.reach", arguments: {} });
    expect(world.run.context, "as a modifier left it").toEqual({ nested: { list: [1] } });
  });

  it("of one run is not felt in another", async () => {
    verifies("DEF-8");
    const world = await createWorld({
      tools: [writer("a.write", 0, { handler: modifying(set({ n: 1 })) })],
      policy: allowAll,
    });
    const other = await world.session.startRun({});
    await world.execute({ name: "a.write", arguments: {} });
    expect([world.run.context, other.context]).toEqual([{ n: 1 }, {}]);
  });

  it("of an attempt that is abandoned is taken back", async () => {
    verifies("DEF-8", "SCHED-6");
    const stage = await setStage({
      tools: [reader("a.alone", 0, { concurrency_safe: false, handler: modifying(set({ n: 1 })) })],
    });
    const turn = stage.run.openTurn();
    turn.push({ name: "a.alone", arguments: {} });
    await stage.clock.settle();
    await drive(stage.clock, turn.discard("the stream broke"));
    expect(stage.run.context).toEqual({});
  });
});

function raise(message: string): never {
  throw new Error(message);
}

function cycle(): object {
  const loop: Record<string, unknown> = {};
  loop["loop"] = loop;
  return loop;
}
