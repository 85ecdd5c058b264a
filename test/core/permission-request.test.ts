// What the user is shown (PERM-6), and that waiting for the answer holds no one up (PERM-13).

import { defineHook, type Resource } from "@soong/core";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { personWho, slowPerson } from "./people.ts";
import { watchedReader, watchedWriter } from "./watched.ts";
import { createWorld, reader, takeTimeBy, writer } from "./world.ts";

const edit = (id = "c1") => ({ id, name: "notes.edit", arguments: { text: "hello" } });

describe("the request", () => {
  test("shows all of a long preview to the responder, and a cut to the record", async () => {
    verifies("PERM-19");
    const person = personWho("deny");
    const text = `${"a".repeat(400_000)}HERE${"b".repeat(400_000)}`;
    const { tool } = watchedWriter("notes.long", {
      prepare: () => ({ resources: [], preview: { kind: "text", text } }),
    });
    const world = await createWorld({ tools: [tool], ask: person.ask });
    await world.execute({ id: "c1", name: "notes.long", arguments: {} });
    expect(person.requests[0]?.preview).toEqual({ kind: "text", text });
    const recorded = JSON.stringify(world.facts("permission.requested"));
    expect(recorded.length).toBeLessThan(300_000);
  });

  test("names what a sandbox masks to the responder alone, and counts it for hooks and the record", async () => {
    verifies("PIPE-9", "CMD-6");
    const person = personWho("deny");
    const sandbox = {
      state: "applied" as const,
      backend: "bubblewrap",
      roots: ["/project"],
      masked: ["/project/.env"],
      masked_more: 2,
      network: "closed" as const,
    };
    const { tool } = watchedWriter("notes.run", { prepare: () => ({ resources: [], sandbox }) });
    const seen: unknown[] = [];
    const hook = defineHook({
      id: "watch",
      event: "PermissionRequest",
      run: (payload) => {
        seen.push(payload);
      },
    });
    const world = await createWorld({ tools: [tool], ask: person.ask, hooks: [hook] });
    await world.execute({ id: "c1", name: "notes.run", arguments: {} });
    expect(person.requests[0]?.sandbox).toEqual(sandbox);
    const [requested] = world.facts("permission.requested");
    const counted = { ...sandbox, masked: [], masked_more: 3 };
    expect(requested?.data).toMatchObject({ request: { sandbox: counted } });
    expect(seen).toMatchObject([{ request: { sandbox: counted } }]);
    expect(JSON.stringify([seen, world.facts()])).not.toContain("/project/.env");
  });

  test.each([{ state: "applied", roots: ["/p"], masked: [1] }, { state: "odd" }, "on"])(
    "is not put for a plan whose sandbox is %j",
    async (sandbox) => {
      const { tool } = watchedWriter("notes.run", {
        prepare: () => ({ resources: [], sandbox: sandbox as never }),
      });
      const world = await createWorld({ tools: [tool], ask: personWho("allow_once").ask });
      const [result] = await world.execute({ id: "c1", name: "notes.run", arguments: {} });
      expect(result?.error).toMatchObject({ code: "prepare_failed" });
    },
  );

  test("is not put at all where it is too long to be shown", async () => {
    verifies("PERM-19");
    const person = personWho("allow_once");
    const { tool, inputs } = watchedWriter("notes.long", {
      prepare: () => ({
        resources: [],
        preview: { kind: "diff", path: "/project/a", diff: "x".repeat(1_100_000) },
      }),
    });
    const world = await createWorld({ tools: [tool], ask: person.ask });
    const [result] = await world.execute({ id: "c1", name: "notes.long", arguments: {} });
    expect(result).toMatchObject({ status: "denied" });
    expect(result?.error?.message).toContain("too long to be shown");
    expect(person.requests).toEqual([]);
    expect(inputs).toEqual([]);
  });

  test("carries everything the user needs, with nothing left to guess", async () => {
    verifies("PERM-6");
    const person = personWho("deny");
    const command: Resource = {
      kind: "command",
      executable: "/usr/bin/rm",
      argv: ["rm", "a"],
      cwd: "/project/sub",
    };
    const { tool } = watchedWriter("notes.purge", {
      tags: ["dangerous", "filesystem", "network"],
      metadata: { env: ["PATH", "HOME"], host: "example.org" },
      prepare: () => ({
        resources: [command],
        preview: { kind: "command", argv: ["rm", "a"], cwd: "/project/sub" },
        destructive: true,
      }),
    });
    const hooks = [
      defineHook({
        id: "careful",
        event: "PreToolUse",
        run: () => ({ decision: "ask", reason: "look at this" }),
      }),
    ];
    const world = await createWorld({
      tools: [tool],
      ask: person.ask,
      hooks,
      roots: { project: "/project", write: [] },
    });
    const parent = { run_id: "run_p", agent_id: "agent_p", policy: world.run.policy };
    const child = await world.session.startRun({ parent, role: "sub" });
    await child.execute([{ id: "c1", name: "notes.purge", arguments: { what: "a" } }]);

    const [request] = person.requests;
    const { session_id, run_id, agent_id } = child.identity;
    expect(request).toMatchObject({
      session_id,
      run_id,
      agent_id,
      parent_run_id: "run_p",
      parent_agent_id: "agent_p",
      role: "sub",
      tool_call_id: "c1",
      tool_name: "notes.purge",
      permission: "write",
      arguments: { what: "a" },
      preview: { kind: "command", argv: ["rm", "a"], cwd: "/project/sub" },
      resources: [command],
      cwd: "/project/sub",
      env_summary: ["PATH", "HOME"],
      network_hosts: ["example.org"],
      dangerous: true,
      destructive: true,
      suggested_decision: "deny",
    });
    expect(request?.tags).toEqual(
      expect.arrayContaining(["dangerous", "filesystem", "network", "write"]),
    );
    expect(request?.scopes).toEqual(
      expect.arrayContaining([
        { kind: "executable", executable: "/usr/bin/rm", cwd: "/project/sub" },
        { kind: "host", host: "example.org" },
      ]),
    );
    // What allow_for_session would cover, in words.
    expect(request?.session_scope).toContain('"/usr/bin/rm"');
    expect(request?.session_scope).toContain('"example.org"');
    expect(JSON.stringify(request?.hook_results)).toContain("look at this");
  });

  test("shows the arguments of a tool from a server, too", async () => {
    verifies("PERM-6");
    const person = personWho("deny");
    const { tool } = watchedReader("mcp.docs.drop");
    const world = await createWorld({
      sources: [{ id: "docs", kind: "mcp", tools: [tool] }],
      ask: person.ask,
    });
    await world.execute({ name: "mcp.docs.drop", arguments: { table: "users" } });
    expect(person.requests[0]?.arguments).toEqual({ table: "users" });
  });

  test("names what every hook said, not only the last one", async () => {
    verifies("PERM-6");
    const person = personWho("deny");
    const hooks = ["first", "second"].map((id) =>
      defineHook({
        id,
        event: "PreToolUse",
        run: () => ({ decision: "ask", reason: `says ${id}` }),
      }),
    );
    const world = await createWorld({ tools: [writer("notes.edit")], ask: person.ask, hooks });
    await world.execute(edit());
    const said = JSON.stringify(person.requests[0]?.hook_results);
    expect(said).toContain("says first");
    expect(said).toContain("says second");
  });

  test("says when a yes for the session would cover nothing beyond this call", async () => {
    verifies("PERM-6");
    const person = personWho("deny");
    const rules = [{ tool: "notes.edit", decision: "ask", every_time: true } as const];
    const world = await createWorld({
      tools: [writer("notes.edit")],
      ask: person.ask,
      policy: { rules },
    });
    await world.execute(edit());
    expect(person.requests[0]?.scopes).toEqual([]);
    expect(person.requests[0]?.session_scope).toContain("only");
  });

  test("suggests yes only for what neither destroys nor is dangerous", async () => {
    verifies("PERM-6");
    const person = personWho("deny");
    const tools = [writer("notes.add", 0, { destructive: false }), writer("notes.drop")];
    const world = await createWorld({ tools, ask: person.ask });
    await world.execute({ name: "notes.add", arguments: {} });
    await world.execute({ name: "notes.drop", arguments: {} });
    expect(person.requests.map((request) => request.suggested_decision)).toEqual([
      "allow_once",
      "deny",
    ]);
  });
});

describe("waiting for an answer", () => {
  const asking = (name: string) => reader(name, 0, { tags: ["dangerous"] });

  test.each([10, 1])("blocks no independent call, with %i at a time", async (max_concurrency) => {
    verifies("PERM-13");
    const person = slowPerson();
    const world = await createWorld({
      tools: [asking("notes.peek"), reader("notes.read", 100)],
      ask: person.ask,
      config: { tools: { max_concurrency } },
    });
    takeTimeBy(world.clock);
    const executing = world.run.execute([
      { id: "q1", name: "notes.peek", arguments: {} },
      { id: "r1", name: "notes.read", arguments: {} },
      { id: "q2", name: "notes.peek", arguments: {} },
      { id: "r2", name: "notes.read", arguments: {} },
    ]);
    await world.clock.advance(1000);
    expect(person.requests.map(({ tool_call_id }) => tool_call_id)).toEqual(["q1", "q2"]);
    expect(world.facts("tool.completed").map(({ tool_call_id }) => tool_call_id)).toEqual([
      "r1",
      "r2",
    ]);
    // Each question has its own answer, in any order.
    person.answer("q2", { decision: "deny", reason: "no" });
    await world.clock.advance(10_000);
    expect(world.storyOf("q1")).not.toContain("tool.started");
    person.answer("q1", { decision: "allow_once" });
    const results = await executing;
    expect(results.map(({ status }) => status)).toEqual([
      "succeeded",
      "succeeded",
      "rejected",
      "succeeded",
    ]);
  });

  test("an answered call takes a slot again before it runs", async () => {
    verifies("PERM-13", "SCHED-1");
    const person = slowPerson();
    const world = await createWorld({
      tools: [asking("notes.peek"), reader("notes.read", 100)],
      ask: person.ask,
      config: { tools: { max_concurrency: 1 } },
    });
    takeTimeBy(world.clock);
    const executing = world.run.execute([
      { id: "q", name: "notes.peek", arguments: {} },
      { id: "r", name: "notes.read", arguments: {} },
    ]);
    await world.clock.settle();
    person.answer("q", { decision: "allow_once" });
    await world.clock.settle();
    expect(world.storyOf("q")).not.toContain("tool.started");
    await world.clock.advance(100);
    await executing;
    const order = world
      .facts("tool.started", "tool.completed")
      .map(({ tool_call_id, type }) => `${tool_call_id} ${type}`);
    expect(order.indexOf("q tool.started")).toBeGreaterThan(order.indexOf("r tool.completed"));
  });

  test("a question inside a running call frees its slot as well", async () => {
    verifies("PERM-13", "PIPE-6");
    let answer: (value: string) => void = () => {};
    const wait = new Promise<string>((resolve) => {
      answer = resolve;
    });
    const patient = reader("notes.wait", 0, {
      timeout_ms: 1000,
      handler: async (_, context) => context.waitForUser(wait),
    });
    const world = await createWorld({
      tools: [patient, reader("notes.read", 10)],
      config: { tools: { max_concurrency: 1 } },
    });
    takeTimeBy(world.clock);
    const executing = world.run.execute([
      { id: "w", name: "notes.wait", arguments: {} },
      { id: "r", name: "notes.read", arguments: {} },
    ]);
    await world.clock.advance(60_000);
    expect(world.storyOf("r")).toContain("tool.completed");
    answer("done");
    const [waited] = await executing;
    expect(waited).toMatchObject({ status: "succeeded", metadata: { duration_ms: 0 } });
  });

  test("an unanswered question of one run does not hold up another run of the session", async () => {
    verifies("PERM-13");
    const person = slowPerson();
    const world = await createWorld({ tools: [writer("notes.edit")], ask: person.ask });
    const other = await world.session.startRun({
      policy: { rules: [{ tool: "notes.edit", decision: "allow" }] },
    });
    const waiting = world.run.execute([edit("q")]);
    await world.clock.settle();
    expect(await other.call("notes.edit", {})).toMatchObject({ status: "succeeded" });
    person.answer("q", { decision: "deny" });
    await waiting;
  });

  test("an abort ends the wait, and the responder is notified through the signal", async () => {
    verifies("PERM-13");
    const { tool, inputs } = watchedWriter("notes.edit");
    let told = false;
    const world = await createWorld({
      tools: [tool],
      ask: (_, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            told = true;
            resolve({ decision: "allow_once" });
          });
        }),
    });
    const executing = world.run.execute([edit()]);
    await world.clock.settle();
    await world.run.abort("enough");
    const [result] = await executing;
    expect(result?.status).toBe("aborted");
    expect(told).toBe(true);
    expect(inputs).toEqual([]);
  });
});
