// PIPE-1 and PIPE-9: hooks and permission judge what a call names; content is read after that, and nothing that planning
// saw is told before.

import { defineHook, ToolFailure, type AnyTool, type Plan } from "@soong/core";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { callOnce } from "./call-once.ts";
import { personWho } from "./people.ts";
import { pre } from "./pre-hook.ts";
import { planByInput, planOf, reads, watchedReader, watchedWriter, writes } from "./watched.ts";
import { allowAll, createWorld, textOf } from "./world.ts";

const ROOTS = { project: "/project", write: [] };
const SECRET = "line 7 says hunter2";

/** Its plan fails, and says what it saw. */
const failsToPlan = (about: Partial<AnyTool> = {}) =>
  watchedWriter("notes.edit", {
    targets: planByInput(),
    prepare: () => {
      throw new ToolFailure({ code: "text_not_found", message: SECRET, recovery: "none" });
    },
    ...about,
  });

describe("a call that is denied by its targets", () => {
  test("is never planned", async () => {
    verifies("PIPE-1", "PIPE-9");
    let plans = 0;
    const tool = watchedWriter("notes.edit", {
      targets: planByInput(),
      prepare: () => {
        plans += 1;
        return { resources: [] };
      },
    });
    const policy = { rules: [{ path: "secret/**", decision: "deny" as const }] };
    const { world, status } = await callOnce(
      tool,
      { path: "/project/secret/a" },
      { policy, roots: ROOTS },
    );
    expect(status).toBe("denied");
    expect(plans).toBe(0);
    expect(world.facts("permission.evaluated").map(({ data }) => data.stage)).toEqual(["targets"]);
  });

  test("is one that only its plan makes destructive, once it is planned", async () => {
    verifies("PIPE-1", "PERM-9");
    const tool = (destructive: boolean) =>
      watchedWriter("notes.edit", {
        targets: planByInput(),
        prepare: (_, { targets }) => ({ resources: [...targets], destructive }),
      });
    const policy = { rules: [...allowAll.rules], destructive: "deny" as const };
    const input = { path: "/project/a" };
    const harmful = await callOnce(tool(true), input, { policy, roots: ROOTS });
    expect(harmful.code).toBe("destructive_denied");
    const stages = harmful.world.facts("permission.evaluated").map(({ data }) => data.stage);
    expect(stages).toEqual(["targets", "plan"]);
    const harmless = await callOnce(tool(false), input, { policy, roots: ROOTS });
    expect(harmless.status).toBe("succeeded");
    // Judged once: the plan added nothing. What was planned is bound to the start.
    expect(harmless.world.facts("permission.evaluated")).toHaveLength(1);
    expect(harmless.world.facts("tool.started")[0]?.data.digest).toMatch(/^sha256:/);
  });
});

describe("a call that cannot be planned", () => {
  test("passes hooks and permission, then fails with the reason, and PostToolUseFailure fires", async () => {
    verifies("PIPE-9", "HOOK-1");
    const seen: unknown[] = [];
    const tool = failsToPlan();
    const { world, status, code } = await callOnce(
      tool,
      { path: "/project/a" },
      {
        policy: allowAll,
        roots: ROOTS,
        hooks: [
          pre("see", (input) => void seen.push(input)),
          defineHook({
            id: "failed",
            event: "PostToolUseFailure",
            run: ({ result: { error } }) => void seen.push(error?.code),
          }),
        ],
      },
    );
    expect([status, code]).toEqual(["failed", "text_not_found"]);
    expect(seen).toEqual([{ path: "/project/a" }, "text_not_found"]);
    expect(world.storyOf("c1")).not.toContain("tool.started");
    expect(tool.inputs).toEqual([]);
  });

  test("fails at once where the model may read the target anyway", async () => {
    verifies("PIPE-9");
    const person = personWho("allow_once");
    const { status, code } = await callOnce(
      failsToPlan(),
      { path: "/project/a" },
      { ask: person.ask, roots: ROOTS },
    );
    expect([status, code]).toEqual(["failed", "text_not_found"]);
    expect(person.requests).toEqual([]);
  });

  const asks = [
    ["a rule asks about the path", "/project/secret/a", { path: "secret/**" }],
    ["the path is sensitive", "/project/.env", undefined],
    ["a rule asks about reading it", "/project/b", { tool: "code.read_file", path: "b" }],
  ] as const;

  test.each(asks)("asks first where %s, and says nothing of it", async (_, path, rule) => {
    verifies("PIPE-9");
    const rules = rule === undefined ? [] : [{ ...rule, decision: "ask" as const }];
    const options = { policy: { rules }, roots: ROOTS };
    const input = { path };
    const tools = () => [failsToPlan().tool, watchedReader("code.read_file").tool];
    for (const decision of ["deny", "allow_once", undefined] as const) {
      const person = decision === undefined ? undefined : personWho(decision);
      const world = await createWorld({
        ...options,
        tools: tools(),
        ...(person === undefined ? {} : { ask: person.ask }),
      });
      const [result] = await world.execute({ id: "c1", name: "notes.edit", arguments: input });
      const before = world.facts().filter(({ type }) => !type.startsWith("tool."));
      expect(JSON.stringify(before)).not.toContain("hunter2");
      expect(JSON.stringify(person?.requests ?? [])).not.toContain("hunter2");
      if (person !== undefined) {
        expect(person.requests[0]?.preview).toEqual({
          kind: "text",
          text: `No preview could be made: this call cannot be carried out as given (text_not_found).\nIts input: ${JSON.stringify(input)}`,
        });
        // On record it is as if it could be: which of the two says what is in the file.
        const [requested] = world.facts("permission.requested");
        expect(requested?.data.request).toMatchObject({ preview_is_private: true });
        expect(JSON.stringify(requested)).not.toContain("cannot be carried out");
      }
      // A yes to the change is none to reading what is there.
      expect(JSON.stringify(world.facts())).not.toContain("hunter2");
      expect(textOf(result)).not.toContain("hunter2");
      const isApproved = decision === "allow_once";
      if (isApproved) expect(textOf(result)).toContain("(text_not_found)");
      expect(result?.status).toBe(
        isApproved ? "failed" : decision === undefined ? "denied" : "rejected",
      );
      const explained = await world.run.explain({ name: "notes.edit", arguments: input });
      expect(explained.outcome).toBe("ask");
      expect(JSON.stringify(explained)).not.toContain("hunter2");
    }
  });
});

describe("a tool that only plans", () => {
  test("is judged by what its plan names, before anything happens", async () => {
    verifies("PIPE-1", "DEF-5");
    const tool = watchedWriter("notes.edit", { prepare: planOf(writes("/project/secret/a")) });
    const policy = {
      rules: [...allowAll.rules, { path: "secret/**", decision: "deny" as const }],
    };
    const { status, world } = await callOnce(tool, {}, { policy, roots: ROOTS });
    expect(status).toBe("denied");
    expect(tool.inputs).toEqual([]);
    expect(world.facts("permission.evaluated").map(({ data }) => data.decision)).toEqual([
      "allow",
      "deny",
    ]);
  });

  test.each([
    ["example.org", "succeeded"],
    ["example.com", "denied"],
  ])("may name its host in its plan: %s", async (host, expected) => {
    verifies("PERM-10");
    const tool = watchedReader("web.get", { prepare: planByInput(), tags: ["network"] });
    const policy = {
      rules: allowAll.rules,
      network: { mode: "hosts" as const, hosts: ["example.org"] },
    };
    const { status } = await callOnce(tool, { host }, { policy, roots: ROOTS });
    expect(status).toBe(expected);
  });

  test("meets the guards of a path that its plan adds, each of them once", async () => {
    verifies("PIPE-1", "HOOK-4");
    const ran: string[] = [];
    const hooks = [
      pre("all", () => void ran.push("all")),
      {
        ...pre("secret", () => (ran.push("secret"), { decision: "deny" as const })),
        path: "/project/secret/**",
      },
      { ...pre("other", () => void ran.push("other")), path: "/project/other/**" },
    ];
    const tool = watchedWriter("notes.edit", { prepare: planOf(writes("/project/secret/a")) });
    const { code } = await callOnce(tool, {}, { policy: allowAll, roots: ROOTS, hooks });
    expect(code).toBe("hook_denied");
    expect(ran).toEqual(["all", "secret"]);
    expect(tool.inputs).toEqual([]);
  });

  test("is planned, guarded and judged again when such a guard replaces the input", async () => {
    verifies("PIPE-2");
    const tool = watchedWriter("notes.edit", { prepare: planByInput() });
    const move = pre("move", ({ path }) =>
      path === "/project/b" ? {} : { input: { path: "/project/b" } },
    );
    const { status, world } = await callOnce(
      tool,
      { path: "/project/a" },
      { policy: allowAll, roots: ROOTS, hooks: [{ ...move, path: "/project/**" }] },
    );
    expect(status).toBe("succeeded");
    expect(tool.inputs).toEqual([{ path: "/project/b" }]);
    const judged = world.facts("permission.evaluated").at(-1)?.data;
    expect(judged).toMatchObject({ resources: [{ path: "/project/b" }] });
  });

  test("whose guards never agree is denied", async () => {
    verifies("PIPE-2", "HOOK-4");
    const tool = watchedWriter("notes.edit", { prepare: planByInput() });
    const move = pre("move", ({ path }) => ({ input: { path: `${path as string}x` } }));
    const { code } = await callOnce(
      tool,
      { path: "/project/a" },
      { policy: allowAll, roots: ROOTS, hooks: [{ ...move, path: "/project/**" }] },
    );
    expect(code).toBe("hook_denied");
    expect(tool.inputs).toEqual([]);
  });
});

test("a plan cannot take away what was judged: targets it omits stay", async () => {
  verifies("PIPE-1");
  const tool = watchedReader("notes.read", {
    targets: planOf(reads("/project/a")),
    prepare: (): Plan => ({ resources: [reads("/project/b")] }),
  });
  const { world } = await callOnce(tool, {}, { roots: ROOTS });
  expect(tool.plans[0]?.resources).toEqual([reads("/project/a"), reads("/project/b")]);
  expect(world.facts("permission.evaluated").at(-1)?.data.resources).toHaveLength(2);
});
