import { createMemoryJournal, type JsonObject } from "@soong/core";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { stage } from "../../../../test/mcp/call-stage.ts";
import { McpRequestFailure } from "../connection/failure.ts";
import type { HostRequest, ToolCallOptions } from "../connection/connected-server.ts";
import type { HostClient } from "./ask-server.ts";

const message = { role: "user", content: { type: "text", text: "Say hunter2-hunter2" } };
const wish: HostRequest = {
  method: "sampling/createMessage",
  params: {
    messages: [
      message,
      {
        role: "user",
        content: { type: "image", data: "aHVudGVyMi1odW50ZXIy", mimeType: "image/png" },
      },
      message,
    ],
    maxTokens: 10,
    systemPrompt: "hunter2-hunter2",
    includeContext: "allServers",
    _meta: { progressToken: 1 },
    task: {},
  },
};
const sampled = { role: "assistant", content: { type: "text", text: "hi" }, model: "m" };
const session = { secrets: [{ name: "TOKEN", value: "hunter2-hunter2" }] };

function client(ask: HostClient["ask"], more: Partial<HostClient> = {}): HostClient {
  return { identity: "me", sampling: true, roots: true, ask, ...more };
}

/** One call whose server asks `request` of the host on the way. */
async function asks(request: HostRequest, host: HostClient | undefined, signal?: AbortSignal) {
  const passed: HostRequest[] = [];
  let options: ToolCallOptions | undefined;
  let answer: unknown;
  const recording: HostClient | undefined = host && {
    ...host,
    ask(given, asking) {
      passed.push(given);
      return host.ask(given, asking);
    },
  };
  const staged = await stage(
    async (_request, given) => {
      options = given;
      const until = signal ?? new AbortController().signal;
      answer = await given.host
        ?.answer(request, { signal: until })
        .catch((error: unknown) => error);
      return { content: [] };
    },
    { session, host: { clientOf: () => recording } },
  );
  const result = await staged.call();
  return { ...staged, result, passed, options, answer };
}

describe("what a server asks of the host", () => {
  test("goes to the client of the call, redacted and without what reaches further, and is on record", async () => {
    verifies("MCP-5");
    const { passed, answer, recorded, options } = await asks(
      wish,
      client(() => Promise.resolve(sampled)),
    );
    expect(answer).toEqual(sampled);
    expect(options).toMatchObject({ asker: "me", host: { sampling: true, roots: true } });
    const [{ params } = { params: {} }] = passed as { params: JsonObject }[];
    expect(Object.keys(params).toSorted()).toEqual(["maxTokens", "messages", "systemPrompt"]);
    expect(JSON.stringify(params)).not.toContain("hunter2");
    expect(JSON.stringify(params)).toContain("aHVudGVyMi1odW50ZXIy");
    expect(recorded).toMatchObject([
      {
        server_id: "git",
        tool_name: "mcp.git.log",
        method: "sampling/createMessage",
        outcome: "answered",
        max_tokens: 10,
      },
    ]);
    expect(JSON.stringify(recorded)).not.toContain("hunter2");
    expect(recorded[0]?.preview).toContain("Say ");
  });

  test.each([
    [{ messages: [], maxTokens: 1 }, "messages"],
    [{ messages: "x", maxTokens: 1 }, "messages"],
    [{ messages: Array.from({ length: 1_001 }, () => message), maxTokens: 1 }, "messages"],
    [{ messages: [message] }, "maxTokens"],
    [{ messages: [message], maxTokens: 1, tools: [] }, "tools"],
    [{ messages: [message], maxTokens: 1, toolChoice: {} }, "tools"],
    [{ messages: ["x".repeat(2_200_000)], maxTokens: 1 }, "longer than"],
  ])("is refused where it is not what the protocol has: %#", async (params, why) => {
    const request = { method: "sampling/createMessage", params: params as JsonObject } as const;
    const { passed, answer, recorded } = await asks(
      request,
      client(() => Promise.resolve(sampled)),
    );
    expect(passed).toEqual([]);
    expect(answer).toBeInstanceOf(McpRequestFailure);
    expect(answer).toMatchObject({ reason: "refused", code: -32_602 });
    expect((answer as Error).message).toContain(why);
    expect(recorded).toMatchObject([{ outcome: "refused" }]);
    expect(JSON.stringify(recorded).length).toBeLessThan(1_500);
  });

  test.each([
    [{ ...sampled, role: "system" }],
    [{ role: "assistant", model: "m", content: "x" }],
    [{ role: "assistant", content: {} }],
    [{ ...sampled, content: { type: "text", text: "x".repeat(2_200_000) } }],
  ])("takes no answer that is none: %#", async (wrong) => {
    const { answer } = await asks(
      wish,
      client(() => Promise.resolve(wrong as JsonObject)),
    );
    expect(answer).toMatchObject({ reason: "refused", code: -1 });
  });

  test("roots are files, and not too many", async () => {
    const roots = (given: unknown) =>
      asks(
        { method: "roots/list" },
        client(() => Promise.resolve({ roots: given } as JsonObject)),
      );
    expect((await roots([{ uri: "file:///a" }])).answer).toEqual({ roots: [{ uri: "file:///a" }] });
    const many = Array.from({ length: 1_001 }, () => ({ uri: "file:///a" }));
    for (const wrong of [undefined, [{ uri: "https://a" }], [{}], ["file:///a"], many]) {
      expect((await roots(wrong)).answer).toMatchObject({ reason: "refused" });
    }
  });

  test("a no is passed on with the client's own code and words, made safe", async () => {
    verifies("MCP-5");
    const no = Object.assign(new Error("no\u001B[2J hunter2-hunter2"), { code: -32_000 });
    const { answer, recorded } = await asks(
      { method: "roots/list" },
      client(() => Promise.reject(no)),
    );
    expect(answer).toMatchObject({ reason: "refused", code: -32_000 });
    expect((answer as Error).message).toContain("did not answer roots/list: no\uFFFD[2J");
    expect((answer as Error).message).not.toContain("hunter2");
    expect(recorded).toMatchObject([{ method: "roots/list", outcome: "refused" }]);
  });

  test("a question that was taken back is not waited for", async () => {
    for (const early of [true, false]) {
      const stop = new AbortController();
      if (early) stop.abort();
      const host = client(() => {
        stop.abort();
        return new Promise(() => {});
      });
      const { recorded, answer } = await asks(wish, host, stop.signal);
      expect(answer).toMatchObject({ reason: "refused" });
      expect(recorded).toMatchObject([{ outcome: "withdrawn" }]);
    }
  });

  test("the time of the call is paused meanwhile", async () => {
    verifies("MCP-5");
    let answer = (_given: JsonObject): void => {};
    const host = client(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    const staged = await stage(
      async (_request, given) => {
        await given.host?.answer(wish, { signal: new AbortController().signal });
        return { content: [{ type: "text", text: "done" }] };
      },
      { host: { clientOf: () => host } },
    );
    const called = staged.call();
    await staged.clock.settle();
    await staged.clock.advance(3_600_000);
    await staged.clock.settle();
    answer(sampled);
    expect((await called).status).toBe("succeeded");
  });

  test("a call without a client has no host; one without a port neither", async () => {
    const { options, answer } = await asks(wish, undefined);
    expect(options?.host).toBeUndefined();
    expect(answer).toBeUndefined();
  });

  test("questions that come at once are announced by the names the server gave them, and asked under them", async () => {
    verifies("MCP-5");
    const keys: string[] = [];
    const host = client(() => Promise.resolve(sampled), {
      expect: (given) => {
        keys.push(...given);
        return () => {};
      },
    });
    const asked: unknown[] = [];
    const journal = createMemoryJournal();
    const staged = await stage(
      async (_request, given) => {
        given.onQuestions?.(["one"]);
        const question = {
          mode: "form",
          message: "?",
          requested_schema: { type: "object" },
        } as const;
        await given.onElicitation?.(question, { signal: new AbortController().signal, key: "one" });
        return { content: [] };
      },
      {
        host: { clientOf: () => host },
        session: {
          journal,
          elicit(request) {
            asked.push(request);
            return { action: "decline" };
          },
        },
      },
    );
    await staged.call();
    expect(keys).toEqual(["one"]);
    expect(asked).toMatchObject([{ key: "one", message: "?" }]);
  });
});
