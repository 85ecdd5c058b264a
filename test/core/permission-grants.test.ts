// Grants (PERM-5): what a yes for the session covers, who shares it, and how it is taken back.

import {
  createMemoryJournal,
  type AnyTool,
  type GrantScope,
  type JsonObject,
  type PermissionRule,
  type ToolSource,
} from "@soong/core";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { personWho, type Person } from "./people.ts";
import { planByInput, watchedReader, watchedWriter } from "./watched.ts";
import { createWorld, START, writer, type World, type WorldOptions } from "./world.ts";

const ROOTS = { project: "/project", write: [] };

interface Granting {
  readonly world: World;
  readonly person: Person;
  /** Makes a call; true when it happened without a question. */
  readonly unasked: (input: JsonObject, name?: string) => Promise<boolean>;
}

/** Everything asked about is allowed for the session. */
async function granting(tools: AnyTool[], options: WorldOptions = {}): Promise<Granting> {
  const person = personWho("allow_for_session");
  const world = await createWorld({ tools, ask: person.ask, roots: ROOTS, ...options });
  return {
    world,
    person,
    async unasked(input, name = tools[0]?.name ?? "") {
      const before = person.requests.length;
      const [result] = await world.execute({ name, arguments: input });
      expect(result?.status).toBe("succeeded");
      return person.requests.length === before;
    },
  };
}

const edit = () => watchedWriter("notes.edit", { prepare: planByInput() }).tool;

describe("the record", () => {
  test("says what, where, in which session, who, when and from which call", async () => {
    verifies("PERM-5");
    const ask = () => ({ decision: "allow_for_session", answered_by: "ada" }) as const;
    const world = await createWorld({ tools: [edit()], ask, roots: ROOTS });
    await world.clock.advance(5000);
    await world.execute({ id: "c1", name: "notes.edit", arguments: { path: "/project/a/b.txt" } });
    const [grant] = world.session.grants();
    expect(grant).toEqual({
      grant_id: expect.any(String) as string,
      tool_name: "notes.edit",
      scopes: [{ kind: "directory", path: "/project/a", access: "write" }],
      session_id: world.session.session_id,
      granted_by: "ada",
      granted_at: new Date(START + 5000).toISOString(),
      tool_call_id: "c1",
      agent_id: world.run.identity.agent_id,
    });
    expect(world.facts("grant.created")).toMatchObject([{ tool_call_id: "c1", data: { grant } }]);
  });

  test("the call a grant lets through names it", async () => {
    verifies("PERM-5", "PERM-1");
    const { world, unasked } = await granting([edit()]);
    await unasked({ path: "/project/a" });
    expect(await unasked({ path: "/project/a" })).toBe(true);
    const [grant] = world.session.grants();
    expect(world.facts("permission.evaluated").at(-1)?.data).toMatchObject({
      decision: "allow",
      grant_id: grant?.grant_id,
    });
  });

  test("an alias leads to a grant under the canonical name", async () => {
    verifies("PERM-5");
    const { world, unasked } = await granting([{ ...edit(), aliases: ["edit_note"] }]);
    await unasked({ path: "/project/a" }, "edit_note");
    expect(world.session.grants()[0]?.tool_name).toBe("notes.edit");
    expect(await unasked({ path: "/project/a" }, "notes.edit")).toBe(true);
  });

  test("what is listed cannot be used to widen it", async () => {
    verifies("PERM-5");
    const { world, unasked } = await granting([edit()]);
    await unasked({ path: "/project/a/x" });
    const [grant] = world.session.grants();
    const scope = grant?.scopes[0] as { path: string };
    expect(() => {
      scope.path = "/project/b";
    }).toThrow(TypeError);
    expect(await unasked({ path: "/project/b/x" })).toBe(false);
  });
});

describe("the scope", () => {
  test.each<[string, JsonObject, JsonObject, boolean]>([
    ["another file of that directory", { path: "/project/a/x" }, { path: "/project/a/y" }, true],
    ["a directory below it", { path: "/project/a/x" }, { path: "/project/a/b/y" }, false],
    ["a directory beside it", { path: "/project/a/x" }, { path: "/project/b/y" }, false],
    ["its parent", { path: "/project/a/x" }, { path: "/project/x" }, false],
    ["a place outside the project", { path: "/project/a/x" }, { path: "/etc/hosts" }, false],
    ["the same file outside the project", { path: "/etc/hosts" }, { path: "/etc/hosts" }, true],
    ["another file beside one outside", { path: "/etc/hosts" }, { path: "/etc/passwd" }, false],
    [
      "another file beside a sensitive one",
      { path: "/project/.env" },
      { path: "/project/a" },
      false,
    ],
    ["the same host", { host: "a.example" }, { host: "a.example" }, true],
    ["another host", { host: "a.example" }, { host: "b.example" }, false],
    ["the same program", { argv: ["ls"] }, { argv: ["ls", "-l"] }, true],
    ["the same program elsewhere", { argv: ["ls"] }, { argv: ["ls"], cwd: "/project/a" }, false],
    ["another program", { argv: ["ls"] }, { argv: ["rm"] }, false],
    ["a namesake", { argv: ["ls"] }, { argv: ["ls"], executable: "/project/ls" }, false],
    [
      "the same and one more target",
      { path: "/project/a/x" },
      { path: "/project/a/x", host: "a.example" },
      false,
    ],
    ["the same input, without a plan", { text: "a" }, { text: "a" }, true],
    ["another input, without a plan", { text: "a" }, { text: "b" }, false],
  ])("a yes covers %s: %j then %j: %s", async (_, granted, then, covered) => {
    verifies("PERM-5");
    const { unasked } = await granting([edit()]);
    expect(await unasked(granted)).toBe(false);
    expect(await unasked(then)).toBe(covered);
  });

  test("reading is not writing", async () => {
    verifies("PERM-5");
    const both: AnyTool = {
      ...edit(),
      prepare: (input) =>
        planByInput((input as { write: boolean }).write ? "write" : "read")(input),
    };
    const { unasked } = await granting([both]);
    await unasked({ path: "/project/a", write: false });
    expect(await unasked({ path: "/project/a", write: true })).toBe(false);
  });

  test("a yes for one tool is none for another", async () => {
    verifies("PERM-5");
    const other = { ...edit(), name: "notes.replace" };
    const { unasked } = await granting([edit(), other]);
    await unasked({ path: "/project/a" }, "notes.edit");
    expect(await unasked({ path: "/project/a" }, "notes.replace")).toBe(false);
  });

  test.each([
    ["a shell", "bash"],
    ["an interpreter", "python3.11"],
    ["a wrapper", "env"],
    ["a wrapper that raises rights", "sudo"],
    ["a program that runs others", "xargs"],
    ["git, which has -c", "git"],
    ["find, which has -exec", "find"],
  ])("for %s it is the whole argv", async (_, program) => {
    verifies("PERM-5");
    const { world, unasked } = await granting([edit()]);
    const argv = [program, "a", "b"];
    await unasked({ argv });
    expect(world.session.grants()[0]?.scopes).toEqual([
      { kind: "argv", executable: `/usr/bin/${program}`, argv, cwd: "/project" },
    ]);
    expect(await unasked({ argv })).toBe(true);
    expect(await unasked({ argv: [program, "a", "c"] })).toBe(false);
    expect(await unasked({ argv: [program, "a"] })).toBe(false);
    expect(await unasked({ argv: [program, "a b"] })).toBe(false);
    expect(await unasked({ argv, cwd: "/project/a" })).toBe(false);
  });

  test("a program the agent may write itself is granted by its whole argv", async () => {
    verifies("PERM-5");
    const { unasked } = await granting([edit()]);
    await unasked({ argv: ["./ls"], executable: "/project/ls" });
    expect(await unasked({ argv: ["./ls", "-l"], executable: "/project/ls" })).toBe(false);
  });

  test("a rule for a program by name does not trust a file of the project with that name", async () => {
    verifies("PERM-2", "PERM-3");
    const rules: PermissionRule[] = [{ argv: ["ls", "**"], decision: "allow" }];
    const { unasked } = await granting([edit()], { policy: { rules } });
    expect(await unasked({ argv: ["ls", "-l"] })).toBe(true);
    expect(await unasked({ argv: ["./ls"], executable: "/project/ls" })).toBe(false);
    expect(await unasked({ argv: ["ls"], executable: "/project/bin/ls" })).toBe(false);
  });

  test("for a tool of a server it is server and tool", async () => {
    verifies("PERM-5");
    const tools = ["mcp.docs.edit", "mcp.docs.drop"].map((name) => watchedWriter(name).tool);
    const sources: ToolSource[] = [{ id: "docs", kind: "mcp", tools }];
    const { world, unasked } = await granting([], { sources });
    await unasked({ a: 1 }, "mcp.docs.edit");
    const scope: GrantScope = { kind: "server_tool", server_id: "docs", tool_name: "edit" };
    expect(world.session.grants()[0]?.scopes).toEqual([scope]);
    expect(await unasked({ a: 2 }, "mcp.docs.edit")).toBe(true);
    expect(await unasked({ a: 1 }, "mcp.docs.drop")).toBe(false);
  });

  test("a rule that asks every time is never satisfied, and no grant is made for it", async () => {
    verifies("PERM-2", "PERM-5");
    const rules: PermissionRule[] = [{ tool: "notes.edit", decision: "ask", every_time: true }];
    const { world, unasked } = await granting([edit()], { policy: { rules } });
    await unasked({ path: "/project/a" });
    expect(await unasked({ path: "/project/a" })).toBe(false);
    expect(world.session.grants()).toEqual([]);
  });

  test("a grant made elsewhere does not satisfy a rule that asks every time", async () => {
    verifies("PERM-2", "PERM-5");
    const { world, person, unasked } = await granting([edit()]);
    await unasked({ path: "/project/a" });
    const rules: PermissionRule[] = [{ path: "a", decision: "ask", every_time: true }];
    const strict = await world.session.startRun({ policy: { rules } });
    await strict.call("notes.edit", { path: "/project/a" });
    expect(person.requests).toHaveLength(2);
  });

  test("two calls of one tool side by side have two questions and two answers", async () => {
    verifies("PERM-5", "PERM-4");
    const { tool, inputs } = watchedReader("notes.peek", { tags: ["dangerous"] });
    const person = personWho(({ arguments: input }) => ({
      decision: (input as { n: number }).n === 1 ? "allow_for_session" : "deny",
    }));
    const world = await createWorld({ tools: [tool], ask: person.ask });
    const results = await world.execute(
      { name: "notes.peek", arguments: { n: 1 } },
      { name: "notes.peek", arguments: { n: 2 } },
    );
    expect(results.map(({ status }) => status)).toEqual(["succeeded", "rejected"]);
    expect(inputs).toEqual([{ n: 1 }]);
  });
});

describe("who shares it", () => {
  test("every run and agent of the session", async () => {
    verifies("PERM-5");
    const { world, person, unasked } = await granting([edit()]);
    await unasked({ path: "/project/a" });
    const parent = { run_id: "r", agent_id: "a", policy: world.run.policy };
    const child = await world.session.startRun({ parent, role: "sub" });
    expect(await child.call("notes.edit", { path: "/project/a" })).toMatchObject({
      status: "succeeded",
    });
    expect(person.requests).toHaveLength(1);
  });

  test("no other session, not even one that continues the same journal", async () => {
    verifies("PERM-5");
    const { world, person, unasked } = await granting([edit()]);
    await unasked({ path: "/project/a" });
    const lastSeq = world.journal.facts.at(-1)?.seq ?? 0;
    for (const options of [
      { journal: createMemoryJournal() },
      { journal: world.journal, session_id: world.session.session_id, lastSeq },
    ]) {
      const other = await world.kernel.openSession({ ...options, ask: person.ask, roots: ROOTS });
      expect(other.grants()).toEqual([]);
      const asked = person.requests.length;
      const run = await other.startRun();
      await run.call("notes.edit", { path: "/project/a" });
      expect(person.requests).toHaveLength(asked + 1);
    }
  });
});

describe("taking it back", () => {
  test("a revoked grant is gone from the list, on record, and requires approval again", async () => {
    verifies("PERM-5");
    const { world, unasked } = await granting([edit()]);
    await unasked({ path: "/project/a/x" });
    await unasked({ path: "/project/b/x" });
    const [first, second] = world.session.grants();
    expect(world.session.revokeGrant(first?.grant_id ?? "")).toEqual(first);
    expect(world.session.grants()).toEqual([second]);
    expect(world.facts("grant.revoked")).toMatchObject([{ data: { grant_id: first?.grant_id } }]);
    expect(await unasked({ path: "/project/b/x" })).toBe(true);
    expect(await unasked({ path: "/project/a/x" })).toBe(false);
  });

  test("revoking what is not there does nothing and records nothing", async () => {
    verifies("PERM-5");
    const { world } = await granting([writer("notes.edit")]);
    expect(world.session.revokeGrant("grant_none")).toBeUndefined();
    expect(world.facts("grant.revoked")).toEqual([]);
  });
});
