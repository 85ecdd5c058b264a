// What the user may answer, and what every other reply amounts to (PERM-4).

import type { PermissionAnswer, PermissionRequest } from "@soong/core";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { personWho, slowPerson } from "./people.ts";
import { watchedWriter } from "./watched.ts";
import { createWorld, pause, reader, textOf, writer } from "./world.ts";

const edit = (id = "c1") => ({ id, name: "notes.edit", arguments: { text: "hello" } });

describe("answers", () => {
  test("allow_once lets this one call happen and the next one requires approval again", async () => {
    verifies("PERM-4");
    const { tool, inputs } = watchedWriter("notes.edit");
    const person = personWho("allow_once");
    const world = await createWorld({ tools: [tool], ask: person.ask });
    const [result] = await world.execute(edit());
    expect(result?.status).toBe("succeeded");
    await world.execute(edit());
    expect(inputs).toHaveLength(2);
    expect(person.requests).toHaveLength(2);
    expect(world.session.grants()).toEqual([]);
  });

  test("allow_for_session lets the same call happen again unasked", async () => {
    verifies("PERM-4");
    const { tool, inputs } = watchedWriter("notes.edit");
    const person = personWho("allow_for_session");
    const world = await createWorld({ tools: [tool], ask: person.ask });
    await world.execute(edit());
    await world.execute(edit("c2"));
    expect(inputs).toHaveLength(2);
    expect(person.requests).toHaveLength(1);
  });

  test("a deny rejects the call, its reason reaches the model, and it is not remembered", async () => {
    verifies("PERM-4");
    const { tool, inputs } = watchedWriter("notes.edit");
    const person = personWho(() => ({ decision: "deny", reason: "use the other file" }));
    const world = await createWorld({ tools: [tool], ask: person.ask });
    const [result] = await world.execute(edit());
    expect(result).toMatchObject({ status: "rejected", is_error: true });
    expect(textOf(result)).toContain("use the other file");
    const node = world.journal.nodes.find(({ tool_call_id }) => tool_call_id === "c1");
    expect(JSON.stringify(node?.content)).toContain("use the other file");
    expect(world.storyOf("c1")).toContain("tool.denied");
    expect(world.storyOf("c1")).not.toContain("tool.started");

    await world.execute(edit("c2"));
    expect(person.requests).toHaveLength(2);
    expect(world.session.grants()).toEqual([]);
    expect(inputs).toEqual([]);
  });

  test("question and answer are both on record, with reason and metadata", async () => {
    verifies("PERM-4");
    const answer: PermissionAnswer = {
      decision: "allow_once",
      reason: "just this time",
      answered_by: "ada",
      metadata: { device: "phone" },
    };
    const world = await createWorld({ tools: [writer("notes.edit")], ask: () => answer });
    await world.execute(edit());
    const [requested] = world.facts("permission.requested");
    const request = requested?.data.request as unknown as PermissionRequest;
    expect(world.facts("permission.resolved")[0]?.data).toMatchObject({
      ...answer,
      request_id: request.request_id,
      digest: request.digest,
    });
  });

  const broken: [string, () => unknown][] = [
    ["throws", () => failing("gone")],
    ["rejects", async () => Promise.reject(new Error("gone"))],
    ["answers nothing", () => undefined],
    ["answers null", () => null],
    ["answers yes", () => "allow_once"],
    ["answers true", () => true],
    ["answers with another word", () => ({ decision: "allow" })],
    ["answers with an inherited word", () => Object.create({ decision: "allow_once" }) as object],
    ["answers with a list", () => [{ decision: "allow_once" }]],
    ["answers with something cyclic", cyclic],
    [
      "answers with a getter that throws",
      () => ({
        get decision() {
          return failing("gone");
        },
      }),
    ],
    ["answers with a thenable that throws", hostileThenable],
  ];
  test.each(broken)("a callback that %s is a no", async (_, reply) => {
    verifies("PERM-4");
    const { tool, inputs } = watchedWriter("notes.edit");
    const world = await createWorld({
      tools: [tool, reader("notes.read")],
      ask: personWho(reply).ask,
    });
    const [result, later] = await world.execute(edit(), {
      id: "c2",
      name: "notes.read",
      arguments: {},
    });
    expect(result).toMatchObject({ status: "denied", is_error: true });
    expect(inputs).toEqual([]);
    const story = world.storyOf("c1");
    expect(story).toContain("permission.failed");
    expect(story).toContain("tool.denied");
    expect(story).not.toContain("permission.resolved");
    // A denied write stops what comes after it.
    expect(later?.status).toBe("skipped");
  });

  test("no one to ask is a no that says what is needed", async () => {
    verifies("PERM-4");
    const { tool, inputs } = watchedWriter("notes.edit");
    const world = await createWorld({ tools: [tool] });
    const [result] = await world.execute(edit());
    expect(result).toMatchObject({ status: "denied", error: { recovery: "needs_approval" } });
    expect(world.storyOf("c1")).toEqual(
      expect.arrayContaining(["permission.failed", "tool.denied"]),
    );
    expect(inputs).toEqual([]);
  });

  test("no answer in time is a no, and an answer after that changes nothing", async () => {
    verifies("PERM-4");
    const { tool, inputs } = watchedWriter("notes.edit");
    const person = slowPerson();
    const config = { permissions: { ask_timeout_ms: 5000 } };
    const world = await createWorld({ tools: [tool], ask: person.ask, config });
    const executing = world.run.execute([edit()]);
    await world.clock.advance(4999);
    expect(world.facts("permission.failed")).toEqual([]);
    await world.clock.advance(1);
    const [result] = await executing;
    expect(result?.status).toBe("denied");
    expect(world.storyOf("c1")).toEqual(
      expect.arrayContaining(["permission.failed", "tool.denied"]),
    );
    person.answer("c1", { decision: "allow_for_session" });
    await world.clock.advance(10_000);
    expect(inputs).toEqual([]);
    expect(world.session.grants()).toEqual([]);
    expect(world.clock.pending).toBe(0);
  });

  test("without a timeout the user may take a day, and none of it counts as the call's time", async () => {
    verifies("PERM-4", "PIPE-6");
    const person = slowPerson();
    const world = await createWorld({ tools: [writer("notes.edit")], ask: person.ask });
    const executing = world.run.execute([edit()]);
    await world.clock.advance(24 * 3600 * 1000);
    person.answer("c1", { decision: "allow_once" });
    const [result] = await executing;
    expect(result).toMatchObject({ status: "succeeded", metadata: { duration_ms: 0 } });
  });

  test("the responder cannot change the arguments, the plan or the record", async () => {
    verifies("PERM-4");
    const { tool, inputs, plans } = watchedWriter("notes.edit", {
      prepare: () => ({ resources: [], preview: { kind: "text", text: "hello" } }),
    });
    const meddle = (request: PermissionRequest) => {
      Object.assign(request.arguments as object, { text: "changed" });
      Object.assign(request.preview ?? {}, { text: "changed" });
      Object.assign(request, { tool_name: "notes.other", digest: "changed", scopes: [] });
      return { decision: "allow_for_session", arguments: { text: "changed" }, input: {} };
    };
    const world = await createWorld({ tools: [tool], ask: personWho(meddle).ask });
    const [result] = await world.execute(edit());
    expect(result?.status).toBe("succeeded");
    expect(inputs).toEqual([{ text: "hello" }]);
    expect(plans[0]?.preview).toEqual({ kind: "text", text: "hello" });
    expect(JSON.stringify(world.facts("permission.requested", "grant.created"))).not.toContain(
      "changed",
    );
    expect(world.session.grants()).toMatchObject([{ tool_name: "notes.edit" }]);
  });

  test("a request is data: there is nothing in it that could be run", async () => {
    verifies("PERM-4");
    const person = personWho("deny");
    const world = await createWorld({ tools: [writer("notes.edit")], ask: person.ask });
    await world.execute(edit());
    const [request] = person.requests;
    expect(request).toEqual(JSON.parse(JSON.stringify(request)));
  });
});

test("time to answer is measured for each question on its own", async () => {
  verifies("PERM-4", "PERM-13");
  const config = { permissions: { ask_timeout_ms: 1000 } };
  const tools = [reader("notes.peek", 0, { tags: ["dangerous"] })];
  const world = await createWorld({
    tools,
    config,
    ask: async () => {
      await pause(world.clock, 900);
      return { decision: "allow_once" };
    },
  });
  const calls = ["a", "b", "c", "d"].map((id) => ({ id, name: "notes.peek", arguments: {} }));
  const results = await world.execute(...calls);
  expect(results.map(({ status }) => status)).toEqual(Array(4).fill("succeeded"));
});

function failing(message: string): never {
  throw new Error(message);
}

function cyclic(): object {
  const answer: Record<string, unknown> = { decision: "allow_once" };
  answer["self"] = answer;
  return answer;
}

function hostileThenable(): object {
  // oxlint-disable-next-line unicorn/no-thenable -- a thenable is what the test is about
  return Object.defineProperty({}, "then", { value: () => failing("gone") });
}
