// Child runs (PERM-12): the same person is asked, told who wants it, and a child's rights are the parent's
// ceiling AND its own rules: never more than the parent, never less than both allow.

import type { Mode, PermissionRule, Run, RunOptions } from "@soong/core";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { personWho } from "./people.ts";
import { planByInput, watchedReader, watchedWriter } from "./watched.ts";
import { createWorld } from "./world.ts";

const ROOTS = { project: "/project", write: [] };
const INPUT = { path: "/project/a" };

type Verdict = "allow" | "ask" | "deny";
const rule = (decision: Verdict): PermissionRule => ({ path: "a", decision });

async function family(parentOptions: RunOptions, childOptions: RunOptions) {
  const edit = watchedWriter("notes.edit", { prepare: planByInput() });
  const read = watchedReader("notes.read");
  const person = personWho("allow_once");
  const world = await createWorld({ tools: [edit.tool, read.tool], ask: person.ask, roots: ROOTS });
  const parent = await world.session.startRun(parentOptions);
  const child = await world.session.startRun({
    parent: { ...parent.identity, policy: parent.policy },
    role: "sub",
    ...childOptions,
  });
  return { world, parent, child, person, edit };
}

async function verdictOf(run: Run, asked: () => number): Promise<Verdict> {
  const before = asked();
  const { status } = await run.call("notes.edit", INPUT);
  if (status === "denied") return "deny";
  return asked() === before ? "allow" : "ask";
}

describe("the ceiling and the rules", () => {
  const verdicts: Verdict[] = ["allow", "ask", "deny"];
  const pairs = verdicts.flatMap((above) =>
    verdicts.map((own): [Verdict, Verdict] => [above, own]),
  );
  const strict: Record<Verdict, number> = { allow: 0, ask: 1, deny: 2 };

  test.each(pairs)(
    "a parent that would %s and a child that would %s: the stricter holds",
    async (above, own) => {
      verifies("PERM-12");
      const { child, person, edit } = await family(
        { policy: { rules: [rule(above)] } },
        { policy: { rules: [rule(own)] } },
      );
      const expected = strict[above] > strict[own] ? above : own;
      expect(await verdictOf(child, () => person.requests.length)).toBe(expected);
      expect(edit.inputs).toHaveLength(expected === "deny" ? 0 : 1);
    },
  );

  test("what a parent's default asks about, a child's own allow does not wave through", async () => {
    verifies("PERM-12", "PERM-9");
    const { child, person } = await family({}, { policy: { rules: [rule("allow")] } });
    expect(await verdictOf(child, () => person.requests.length)).toBe("ask");
  });

  test("a child has what both allow: its own rules apply under the ceiling", async () => {
    verifies("PERM-12");
    const { child, person } = await family(
      { policy: { rules: [{ tool: "notes.edit", decision: "allow" }] } },
      {
        policy: {
          rules: [
            { path: "/project/**", decision: "allow" },
            { path: "b", decision: "deny" },
          ],
        },
      },
    );
    expect(await verdictOf(child, () => person.requests.length)).toBe("allow");
    expect(await child.call("notes.edit", { path: "/project/b" })).toMatchObject({
      status: "denied",
    });
  });

  test("a child's rules do not reach its parent", async () => {
    verifies("PERM-12");
    const { parent, person } = await family(
      { policy: { rules: [rule("allow")] } },
      { policy: { rules: [rule("deny")] } },
    );
    expect(await verdictOf(parent, () => person.requests.length)).toBe("allow");
  });

  test("a grandchild is under both ceilings", async () => {
    verifies("PERM-12");
    const { world, child, person } = await family({ policy: { rules: [rule("deny")] } }, {});
    const parent = { ...child.identity, policy: child.policy };
    const grandchild = await world.session.startRun({
      parent,
      role: "sub",
      policy: { rules: [rule("allow")] },
    });
    expect(await verdictOf(grandchild, () => person.requests.length)).toBe("deny");
  });

  test.each<[string, Mode | undefined, Mode | undefined]>([
    ["in plan mode", "plan", "normal"],
    ["in plan mode itself", "normal", "plan"],
  ])("a child of a run %s writes nothing", async (_, above, own) => {
    verifies("PERM-12");
    const { child, edit } = await family(
      { mode: above ?? "normal" },
      { mode: own ?? "normal", policy: { rules: [rule("allow")] } },
    );
    const result = await child.call("notes.edit", INPUT);
    expect(result.status).toBe("denied");
    expect(edit.inputs).toEqual([]);
  });

  test("both are recorded with the child's run, apart from each other", async () => {
    verifies("PERM-12", "PERM-9");
    const { world, child } = await family(
      { policy: { rules: [rule("ask")] } },
      { policy: { rules: [rule("allow")] } },
    );
    const started = world
      .facts("run.started")
      .find(({ run_id }) => run_id === child.identity.run_id);
    expect(started?.data.policy).toMatchObject({
      rules: [{ decision: "allow" }],
      ceiling: { rules: [{ decision: "ask" }], ceiling: null },
    });
    const explained = await child.explain({ name: "notes.edit", arguments: INPUT });
    expect(explained).toMatchObject({ outcome: "ask" });
    const layers = "chain" in explained ? explained.chain.map(({ layer }) => layer) : [];
    expect(layers).toEqual(expect.arrayContaining(["ceiling", "rules"]));
  });
});

describe("the origin", () => {
  test.each(["sub", "fork", "worker"] as const)(
    "of a %s reaches the same callback and every fact",
    async (role) => {
      verifies("PERM-12");
      const options: RunOptions = {
        role,
        ...(role === "worker" ? { allowedTools: ["notes.edit"] } : {}),
      };
      const { world, parent, child, person } = await family({}, options);
      await child.execute([{ id: "c1", name: "notes.edit", arguments: INPUT }]);
      const origin = {
        run_id: child.identity.run_id,
        agent_id: child.identity.agent_id,
        parent_run_id: parent.identity.run_id,
        parent_agent_id: parent.identity.agent_id,
      };
      expect(person.requests).toMatchObject([
        { ...origin, role, session_id: world.session.session_id },
      ]);
      const facts = world.facts().filter(({ tool_call_id }) => tool_call_id === "c1");
      expect(facts.length).toBeGreaterThan(5);
      for (const fact of facts) expect(fact).toMatchObject(origin);
    },
  );

  test("a run without a parent has none", async () => {
    verifies("PERM-12");
    const { parent, person } = await family({}, {});
    await parent.call("notes.edit", INPUT);
    expect(person.requests[0]).not.toHaveProperty("parent_run_id");
    expect(person.requests[0]?.role).toBe("main");
  });
});
