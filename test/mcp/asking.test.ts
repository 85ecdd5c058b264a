// What a server behind us asks in the middle of a call reaches the client that made the call, whatever eras the
// two speak (MCP-5): forms, pages, the host's model, its roots; and no one else.

import type { ElicitRequestParams } from "@modelcontextprotocol/client";
import { defineHook, isTerminalFact } from "@soong/core";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { verifies } from "#laws";
import { askingWorld, said, type AskingGateway, type RoundAnswer } from "./asking-stage.ts";
import { ERAS, textOf } from "./sdk-host.ts";

const world = askingWorld();
const hooked: string[] = [];
const gateways = {} as Record<"2025" | "2026" | "http-2025", AskingGateway>;

beforeAll(async () => {
  const hooks = [
    defineHook({
      id: "before",
      event: "Elicitation",
      run({ request: { message } }) {
        hooked.push(`before ${message}`);
        return message === "For the hook" ? { action: "cancel" } : {};
      },
    }),
    defineHook({
      id: "after",
      event: "ElicitationResult",
      run({ answer }) {
        hooked.push(`after ${answer.action}`);
        return {};
      },
    }),
  ];
  const ways = ["2025", "2026", "http-2025"] as const;
  await Promise.all(
    ways.map(async (way) => {
      gateways[way] = await world.serve(way, hooks);
    }),
  );
});

const tool = (name: string): string => `mcp.asking.${name}`;
const COMBINATIONS = ERAS.flatMap(([name, mode]) =>
  (["2025", "2026"] as const).map((era) => ({ name, mode, era })),
);

/** How a question for one of its tools begins. */
const asks = (name: string): string => `The MCP server asking asks, for mcp.asking.${name}:\n`;

describe.each(COMBINATIONS)("a client of $name, a server of $era", ({ mode, era }) => {
  it("asks a form, again, a page, a model and roots, each of the client that called", async () => {
    verifies("MCP-5", "GATE-6");
    const { url, facts, journal } = gateways[era];
    const before = { facts: facts.length, journal: journal.facts.length };
    const asked: ElicitRequestParams[] = [];
    const words: string[] = [];
    const client = await world.host(url, mode, {
      elicit(params) {
        asked.push(params);
        if (params.mode === "url") return { action: "accept" };
        const [field = ""] = Object.keys(params.requestedSchema.properties);
        return { action: "accept", content: { [field]: `my ${field}` } };
      },
      sample(text) {
        words.push(text);
        return said("Paris");
      },
      roots: ["file:///work"],
    });
    const call = async (name: string, args = {}) =>
      textOf(await client.callTool({ name: tool(name), arguments: args }));

    expect(await call("test_input_required_result_elicitation")).toBe("Hello, my name!");
    expect(asked[0]).toMatchObject({
      message: `${asks("test_input_required_result_elicitation")}What is your name?`,
      requestedSchema: { type: "object", required: ["name"] },
    });
    expect(await call("test_input_required_result_multi_round")).toBe("my name likes my color");
    expect(await call("login")).toContain('page: {"action":"accept"}');
    expect(asked.at(-1)).toMatchObject({ mode: "url", url: "https://example.com/login" });
    expect(await call("test_sampling", { prompt: "hunter2-hunter2?" })).toContain("Paris");
    expect(words[0]).not.toContain("hunter2");
    expect(await call("test_input_required_result_list_roots")).toBe("file:///work");
    expect(await call("test_input_required_result_multiple_inputs")).toBe("my name has 1 roots");

    const requests = facts
      .slice(before.facts)
      .filter((fact) => fact.type === "mcp.server.host_request")
      .map(({ data }) => data);
    const outcomes = requests.map(({ method, outcome }) => [method, outcome]);
    const sampling = ["sampling/createMessage", "answered"];
    const roots = ["roots/list", "answered"];
    expect(outcomes.slice(0, 2)).toEqual([sampling, roots]);
    expect(outcomes.slice(2)).toHaveLength(2);
    expect(outcomes.slice(2)).toEqual(expect.arrayContaining([sampling, roots]));
    expect(requests[0]).toMatchObject({
      server_id: "asking",
      tool_name: tool("test_sampling"),
      max_tokens: 100,
      preview: expect.stringContaining("?") as string,
    });
    expect(JSON.stringify(requests)).not.toContain("hunter2");
    const elicitations = journal.facts
      .slice(before.journal)
      .filter((fact) => fact.type === "mcp.server.elicitation");
    expect(elicitations.map(({ data }) => data.action)).toEqual(
      Array.from({ length: 5 }, () => "accept"),
    );
  });

  it("keeps defaults, titles and choices of a form, and takes no answer that does not fit", async () => {
    verifies("MCP-5");
    const asked: ElicitRequestParams[] = [];
    const answers: Record<string, string | number | string[]>[] = [
      { age: 31 },
      { untitledSingle: "none of these" },
      { untitledSingle: "option2", titledMulti: ["value1", "value3"] },
    ];
    const client = await world.host(gateways[era].url, mode, {
      elicit(params) {
        asked.push(params);
        return { action: "accept", content: answers.shift() ?? {} };
      },
    });
    const defaults = await client.callTool({ name: tool("test_elicitation_sep1034_defaults") });
    expect(asked[0]).toMatchObject({
      requestedSchema: { properties: { score: { default: 95.5 } } },
    });
    expect(textOf(defaults)).toContain('"age":31');
    expect(textOf(defaults)).toContain('"name":"John Doe"');
    expect(textOf(defaults)).toContain('"verified":true');
    const enums = await client.callTool({ name: tool("test_elicitation_sep1330_enums") });
    expect(asked[1]).toMatchObject({
      requestedSchema: {
        properties: {
          titledSingle: { oneOf: [{ const: "value1", title: "First Option" }, {}, {}] },
          legacyEnum: { enumNames: ["Option One", "Option Two", "Option Three"] },
          titledMulti: { items: { anyOf: [{}, {}, { title: "Third Choice" }] } },
        },
      },
    });
    expect(asked[2]?.message).toContain("did not fit");
    expect(textOf(enums)).toContain('content={"untitledSingle":"option2","titledMulti"');
  });

  it("declines for a client that shows nothing, refuses what it does not offer, passes a no on as a no", async () => {
    verifies("MCP-5");
    const { url, facts } = gateways[era];
    const before = facts.length;
    const mute = await world.host(url, mode);
    const call = (client: typeof mute, name: string, args = {}) =>
      client
        .callTool({ name: tool(name), arguments: args })
        .then(({ isError, content }) => ({ isError, text: textOf({ content }) }))
        .catch((error: unknown) => ({ isError: true, text: String(error) }));
    expect(await call(mute, "test_elicitation", { message: "Who?" })).toEqual({
      isError: false,
      text: "User response: action=decline, content={}",
    });
    const sampled = await call(mute, "test_sampling", { prompt: "x" });
    expect(sampled.isError).toBe(true);
    expect(sampled.text).toMatch(/sampling/iu);
    expect((await call(mute, "test_input_required_result_list_roots")).isError).toBe(true);
    expect(facts.slice(before)).toEqual([]);

    const unwilling = await world.host(url, mode, {
      elicit: () => ({ action: "decline" }),
      sample: () => Promise.reject(new Error("User rejected sampling request")),
    });
    const no = await call(unwilling, "test_elicitation", { message: "?" });
    expect(no.text).toContain("action=decline");
    // A client of the newer protocol does not say no: it does not come back.
    if (mode !== "legacy") return;
    expect((await call(unwilling, "test_sampling", { prompt: "x" })).isError).toBe(true);
    const refused = { type: "mcp.server.host_request", data: { outcome: "refused" } };
    expect(facts.slice(before)).toMatchObject([refused]);
  });
});

describe("whose question it is", () => {
  const asking = (name: string, seen: string[]) => ({
    elicit: ({ message }: ElicitRequestParams) => {
      seen.push(message);
      return { action: "accept" as const, content: { username: name, email: `${name}@x` } };
    },
  });

  it.each(["2026", "http-2025"] as const)(
    "two clients ask a server of %s at once, and each gets its own",
    async (era) => {
      verifies("MCP-5");
      const seen = { a: [] as string[], b: [] as string[] };
      const both = await Promise.all(
        (["a", "b"] as const).map(async (who) => {
          const client = await world.host(gateways[era].url, "legacy", asking(who, seen[who]));
          const calls = [1, 2, 3].map((count) =>
            client.callTool({
              name: tool("test_elicitation"),
              arguments: { message: `${who}${count}` },
            }),
          );
          return Promise.all(calls);
        }),
      );
      expect(seen.a.toSorted()).toEqual(
        ["a1", "a2", "a3"].map((text) => asks("test_elicitation") + text),
      );
      expect(seen.b.toSorted()).toEqual(
        ["b1", "b2", "b3"].map((text) => asks("test_elicitation") + text),
      );
      expect(both[0]?.map(textOf).every((text) => text.includes("a@x"))).toBe(true);
      expect(both[1]?.map(textOf).every((text) => text.includes("b@x"))).toBe(true);
    },
  );

  it("a question that does not say which of two clients it is for goes to neither", async () => {
    verifies("MCP-5");
    const { url } = gateways["2025"];
    let answer = (): void => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    let started = (): void => {};
    const isAsked = new Promise<void>((resolve) => {
      started = resolve;
    });
    const first = await world.host(url, "legacy", {
      async elicit() {
        started();
        await held;
        return { action: "accept", content: { username: "a", email: "a@x" } };
      },
    });
    const seen: string[] = [];
    const second = await world.host(url, "legacy", asking("b", seen));
    const name = tool("test_elicitation");
    const slow = first.callTool({ name, arguments: { message: "first" } });
    await isAsked;
    const quick = await second.callTool({ name, arguments: { message: "second" } });
    expect(textOf(quick)).toContain("action=decline");
    expect(seen).toEqual([]);
    answer();
    expect(textOf(await slow)).toContain("a@x");
    expect(textOf(await second.callTool({ name, arguments: { message: "alone" } }))).toContain(
      "b@x",
    );
  });

  it("a client that goes while it is asked leaves an aborted call, and the server can be asked again", async () => {
    verifies("MCP-5");
    const { url, journal } = gateways["2025"];
    const before = journal.facts.length;
    let started = (): void => {};
    const isAsked = new Promise<void>((resolve) => {
      started = resolve;
    });
    const gone = await world.host(url, "legacy", {
      elicit: () => {
        started();
        return new Promise(() => {});
      },
    });
    const name = tool("test_elicitation");
    const call = gone.callTool({ name, arguments: { message: "?" } }).catch(() => "rejected");
    await isAsked;
    await gone.close();
    expect(await call).toBe("rejected");
    await vi.waitFor(() =>
      expect(journal.facts.slice(before).filter(isTerminalFact)).toMatchObject([
        { data: { result: { status: "aborted" } } },
      ]),
    );
    const next = await world.host(url, "legacy", asking("n", []));
    expect(textOf(await next.callTool({ name, arguments: { message: "?" } }))).toContain("n@x");
  });

  it("hooks see it before the client and after; the old error of a page is asked as one", async () => {
    verifies("MCP-5", "HOOK-6");
    hooked.length = 0;
    const seen: string[] = [];
    const client = await world.host(
      gateways["2025"].url,
      { pin: "2026-07-28" },
      {
        elicit(params) {
          seen.push(params.message);
          return { action: "accept", ...(params.mode === "url" ? {} : { content: {} }) };
        },
      },
    );
    const name = tool("test_elicitation");
    const answered = await client.callTool({ name, arguments: { message: "For the hook" } });
    expect(textOf(answered)).toContain("action=cancel");
    expect(seen).toEqual([]);
    expect(textOf(await client.callTool({ name: tool("old_login") }))).toBe("logged in");
    expect(seen).toEqual([`${asks("old_login")}Log in`]);
    expect(hooked).toEqual([
      "before For the hook",
      "after cancel",
      "before Log in",
      "after accept",
    ]);
  });
});

describe("rounds of the newer protocol, by hand", () => {
  const able = { elicitation: {}, sampling: {}, roots: {} };
  const post = (params: object, capabilities: object = able) =>
    world.post(gateways["2026"].url, "tools/call", params, capabilities);
  const named = (name: string, more: object = {}) => ({
    name: tool(`test_input_required_result_${name}`),
    arguments: {},
    ...more,
  });
  const accept = (content: object) => ({ action: "accept", content });

  const keysOf = ({ result }: RoundAnswer): string[] => Object.keys(result?.inputRequests ?? {});
  const stateOf = ({ result }: RoundAnswer): string => result?.requestState ?? "";
  const saidIn = ({ result }: RoundAnswer): string => textOf({ content: result?.content ?? [] });

  it("go under the server's names, with another state each time, and never twice with one", async () => {
    verifies("MCP-5", "GATE-6");
    const first = await post(named("multi_round"));
    expect(first.result?.resultType).toBe("input_required");
    expect(keysOf(first)).toEqual(["step1"]);
    const answer = { inputResponses: { step1: accept({ name: "Al" }) } };
    const requestState = stateOf(first);
    for (const wrong of [
      { requestState: `${requestState}-TAMPERED` },
      { requestState: "" },
      { requestState, arguments: { other: 1 } },
    ]) {
      expect((await post(named("multi_round", { ...answer, ...wrong }))).error?.code).toBe(-32602);
    }
    const elsewhere = await post(named("request_state", { ...answer, requestState }));
    expect(elsewhere.error?.message).toContain("not those of the call");
    const second = await post(named("multi_round", { ...answer, requestState }));
    expect(keysOf(second)).toEqual(["step2"]);
    expect(stateOf(second)).not.toBe(requestState);
    expect((await post(named("multi_round", { ...answer, requestState }))).error?.code).toBe(
      -32602,
    );
    const unanswered = await post(named("multi_round", { requestState: stateOf(second) }));
    expect(keysOf(unanswered)).toEqual(["step2"]);
    const done = await post(
      named("multi_round", {
        inputResponses: { step2: accept({ color: "red" }), other: 7 },
        requestState: stateOf(unanswered),
      }),
    );
    expect(saidIn(done)).toBe("Al likes red");
  });

  it("ask for all at once what comes at once, and only for what the client declares", async () => {
    verifies("MCP-5", "GATE-6");
    const all = await post(named("multiple_inputs"));
    expect(keysOf(all)).toEqual(["user_name", "greeting", "client_roots"]);
    expect(keysOf(await post(named("capabilities"), { sampling: {} }))).toEqual(["greeting"]);
    expect(JSON.stringify(await post(named("sampling"), {}))).toContain("capabilit");
  });

  it("take answers that come with the first request, and ask again for those that are none", async () => {
    verifies("GATE-6");
    const early = named("elicitation", {
      inputResponses: { user_name: accept({ name: "Al" }), unknown: accept({}) },
    });
    expect(saidIn(await post(early))).toBe("Hello, Al!");
    for (const inputResponses of [{ wrong: accept({}) }, { user_name: 12_345 }, null]) {
      const { result, error } = await post(named("elicitation", { inputResponses }));
      expect(result?.resultType ?? "input_required").toBe("input_required");
      expect(result === undefined ? error?.code : -32602).toBe(-32602);
    }
  });
});
