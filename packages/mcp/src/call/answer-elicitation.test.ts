import { defineHook } from "@soong/core";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { stage } from "../../../../test/mcp/call-stage.ts";
import { McpRequestFailure } from "../connection/failure.ts";
import type { ToolCallOptions } from "../connection/connected-server.ts";

describe("a question of the server", () => {
  const schema = { type: "object", properties: { age: { type: "integer" } }, required: ["age"] };
  const asks =
    (question: object) =>
    async (_request: unknown, { onElicitation }: ToolCallOptions) => {
      const signal = new AbortController().signal;
      return {
        content: [],
        structuredContent: (await onElicitation?.(question as never, { signal })) as never,
      };
    };
  const form = { mode: "form", message: "How old?\u202E", requested_schema: schema };

  test("without anyone to ask it is declined", async () => {
    verifies("MCP-5");
    const { call } = await stage(asks(form));
    expect((await call()).data).toEqual({ action: "decline" });
    const page = await stage(asks({ mode: "url", message: "Sign in", url: "https://example.org" }));
    expect((await page.call()).data).toEqual({ action: "decline" });
  });

  test("an answer goes back when it is what was asked for; else it is asked for again, not for ever", async () => {
    verifies("MCP-5");
    const asked: string[] = [];
    const answers = [{ age: "old" }, { age: 7 }];
    const session = {
      elicit: (request: { message: string }) => {
        asked.push(request.message);
        return { action: "accept" as const, content: answers[Math.min(asked.length, 2) - 1]! };
      },
    };
    const { call } = await stage(asks(form), { session });
    expect((await call()).data).toEqual({ action: "accept", content: { age: 7 } });
    expect(asked[0]).toBe("How old?\uFFFD");
    expect(asked[1]).toMatch(/^How old\?\uFFFD\n\(The answer did not fit: age /);
    const stubborn = { elicit: () => ({ action: "accept" as const, content: { age: "old" } }) };
    const never = await stage(asks(form), { session: stubborn });
    expect((await never.call()).data).toEqual({ action: "decline" });
    const refuses = { elicit: () => ({ action: "cancel" as const }) };
    const cancelled = await stage(asks(form), { session: refuses });
    expect((await cancelled.call()).data).toEqual({ action: "cancel" });
  });

  test("the words of a form are shown as safely as its message, and what cannot be is declined", async () => {
    verifies("MCP-5");
    const shown: unknown[] = [];
    const session = {
      elicit: (request: object) => {
        shown.push(request);
        return { action: "accept" as const, content: { age: "a" } };
      },
    };
    const ask = async (age: object, name = "age") => {
      const requested_schema = { type: "object", properties: { [name]: age } };
      const { call } = await stage(asks({ ...form, requested_schema }), { session });
      return (await call()).data;
    };
    const words = { title: "Age\u202E", description: "\u001B[2JOld", enumNames: ["A\u{E0041}"] };
    expect(await ask({ type: "string", enum: ["a"], ...words })).toMatchObject({
      action: "accept",
    });
    expect(shown).toMatchObject([
      {
        requested_schema: {
          properties: {
            age: {
              title: "Age\uFFFD",
              description: "\uFFFD[2JOld",
              enumNames: ["A\uFFFD"],
              enum: ["a"],
            },
          },
        },
      },
    ]);
    for (const field of [
      { enum: ["a", "b\u202E"] },
      { default: "\u001B[2J" },
      { oneOf: [{ const: "a\u202E", title: "A" }] },
    ]) {
      expect(await ask({ type: "string", ...field })).toEqual({ action: "decline" });
    }
    expect(await ask({ type: "string" }, "age\u202E")).toEqual({ action: "decline" });
    expect(shown).toHaveLength(1);
  });

  test("a field that was left unchanged keeps its default, one that was filled in does not", async () => {
    verifies("MCP-5");
    const properties = {
      age: { type: "integer", default: 30 },
      name: { type: "string", default: "J" },
    };
    const requested_schema = { type: "object", properties, required: ["age", "name"] };
    const session = { elicit: () => ({ action: "accept" as const, content: { age: 7 } }) };
    const { call } = await stage(asks({ ...form, requested_schema }), { session });
    expect((await call()).data).toEqual({ action: "accept", content: { age: 7, name: "J" } });
  });

  test("a page is opened only by its web address, and only that it was agreed to goes back", async () => {
    verifies("MCP-5");
    const session = { elicit: () => ({ action: "accept" as const, content: { secret: 1 } }) };
    const open = async (url: string) => {
      const { call } = await stage(asks({ mode: "url", message: "Sign in", url }), { session });
      return (await call()).data;
    };
    expect(await open("https://example.org/in?a=b")).toEqual({ action: "accept" });
    for (const url of [
      "javascript:alert(1)",
      "file:///etc/passwd",
      "nonsense",
      "https://good.org@evil.org/",
      "",
    ]) {
      expect(await open(url), url).toEqual({ action: "decline" });
    }
  });

  test("a form that is no schema is declined without asking; a responder that throws has declined", async () => {
    let asked = 0;
    const session = {
      elicit: () => {
        asked += 1;
        throw new Error("gone");
      },
    };
    const odd = { mode: "form", message: "?", requested_schema: { type: "object", required: 7 } };
    const { call } = await stage(asks(odd), { session });
    expect((await call()).data).toEqual({ action: "decline" });
    expect(asked).toBe(0);
    const gone = await stage(asks(form), { session });
    expect((await gone.call()).data).toEqual({ action: "decline" });
    expect(asked).toBe(1);
  });

  test("hooks see the question and the answer", async () => {
    verifies("MCP-5");
    const seen: unknown[] = [];
    const hooks = [
      defineHook({
        id: "answers",
        event: "Elicitation",
        run: ({ request }) => {
          seen.push(request.mode);
          return { action: "accept", content: { age: 3 } };
        },
      }),
      defineHook({
        id: "watches",
        event: "ElicitationResult",
        run: ({ answer }) => {
          seen.push(answer);
          return {};
        },
      }),
    ];
    const { call } = await stage(asks(form), { session: { hooks } });
    expect((await call()).data).toEqual({ action: "accept", content: { age: 3 } });
    expect(seen).toEqual(["form", { action: "accept", content: { age: 3 } }]);
  });

  test("a question the server withdraws is given up", async () => {
    const session = { elicit: () => new Promise<never>(() => {}) };
    const { call } = await stage(
      async (_request, { onElicitation }) => {
        const withdrawn = new AbortController();
        const answer = onElicitation?.(form as never, { signal: withdrawn.signal });
        withdrawn.abort();
        return { content: [], structuredContent: (await answer) as never };
      },
      { session },
    );
    expect((await call()).data).toEqual({ action: "cancel" });
  });

  test("the old error -32042 opens its pages and makes the call again, once they were agreed to", async () => {
    verifies("MCP-5");
    const elicitations = [
      { mode: "url", elicitationId: "1", message: "Sign in", url: "https://example.org/1" },
      { mode: "url", elicitationId: "2", message: "Agree", url: "https://example.org/2" },
    ];
    const required = () =>
      new McpRequestFailure("rpc_error", "sign in first", { code: -32042, data: { elicitations } });
    const opened: string[] = [];
    const agreeing = {
      elicit: (request: object) => {
        opened.push((request as { url: string }).url);
        return { action: "accept" as const };
      },
    };
    let calls = 0;
    const agreed = await stage(
      () => (++calls === 1 ? Promise.reject(required()) : Promise.resolve({ content: [] })),
      { session: agreeing },
    );
    expect((await agreed.call()).status).toBe("succeeded");
    expect(opened).toEqual(["https://example.org/1", "https://example.org/2"]);
    expect(calls).toBe(2);

    const declined = await stage(() => Promise.reject(required()));
    const result = await declined.call();
    expect(result.error).toMatchObject({
      code: "url_elicitation_required",
      error_class: "setup_required",
    });
    expect(declined.server.received).toHaveLength(1);

    const insisting = await stage(() => Promise.reject(required()), { session: agreeing });
    expect((await insisting.call()).error?.code).toBe("url_elicitation_required");
    expect(insisting.server.received).toHaveLength(3);

    const odd = await stage(
      () =>
        Promise.reject(
          new McpRequestFailure("rpc_error", "?", { code: -32042, data: { elicitations: [7] } }),
        ),
      { session: agreeing },
    );
    expect((await odd.call()).error?.code).toBe("url_elicitation_required");
    expect(odd.server.received).toHaveLength(1);
  });

  test("an old error that lists more pages than anyone would open opens none", async () => {
    const page = { url: "https://example.org", message: "m" };
    let asked = 0;
    const session = {
      elicit() {
        asked += 1;
        return { action: "accept" as const };
      },
    };
    for (const count of [0, 6]) {
      const elicitations = Array.from({ length: count }, () => page);
      const failure = { code: -32042, data: { elicitations } };
      const { call, server } = await stage(
        () => Promise.reject(new McpRequestFailure("rpc_error", "first", failure)),
        { session },
      );
      expect((await call()).error?.code).toBe("url_elicitation_required");
      expect(server.received).toHaveLength(1);
    }
    expect(asked).toBe(0);
  });
});
