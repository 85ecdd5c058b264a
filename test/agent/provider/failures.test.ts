// Real provider packages, replayed failures: every one ends the stream in one `failed` of the right kind.

import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { createHeldClock, createKernel } from "@soong/core";
import { languageModel, openConversation, OPENAI_PROFILE } from "@soong/agent";
import { anthropicWire } from "./anthropic-wire.ts";
import { chunk, compatibleWire } from "./compatible-wire.ts";
import { googleWire } from "./google-wire.ts";
import { frames, openaiWire } from "./openai-wire.ts";
import {
  callsOf,
  collect,
  errorOf,
  KEY,
  never,
  openDesk,
  requestOf,
  WIRES,
} from "./provider-fixture.ts";
import { cut, endless, events, hang, status, type Reply } from "./replay-server.ts";
import { eventFrame } from "./wire.ts";

const STATUSES = {
  authentication: [401, 403],
  invalid_request: [400, 404],
  timeout: [408],
  prompt_too_long: [413],
  rate_limited: [429],
  server_error: [500, 502],
  overloaded: [503, 529],
};

describe.each(WIRES)("a failure of $name", (wire) => {
  test("is of the kind its status says, and is not tried again behind our back", async () => {
    verifies("MODEL-1");
    const { server, ask } = await openDesk(wire);
    for (const [kind, codes] of Object.entries(STATUSES)) {
      for (const code of codes) {
        server.reply(status(code, "<html>no</html>"));
        const seen = await ask();
        expect(seen).toHaveLength(1);
        expect(errorOf(seen)).toMatchObject({ kind, status: code });
      }
    }
    expect(server.requests).toHaveLength(Object.values(STATUSES).flat().length);
  });

  test("that is a web page says so, with the status and what to check", async () => {
    verifies("MODEL-1");
    const { server, ask } = await openDesk(wire);
    for (const code of [200, 404]) {
      server.reply(status(code, "<!doctype html><p>Hi</p>", { "content-type": "text/html" }));
      const error = errorOf(await ask());
      expect(error.kind).toBe("invalid_request");
      expect(error.message).toMatch(/answered with a web page, not with the API; .*`base_url`/);
      expect(error.message).toMatch(
        new RegExp(`It said: http://.* answered with ${code}, text/html`),
      );
    }
    expect(server.requests).toHaveLength(2);
  });

  test("says what is true of an empty account, a wrong key and a model that is not there", async () => {
    verifies("MODEL-1");
    const { server, ask } = await openDesk(wire);
    const fail = (code: number, type: string, message: string) =>
      status(code, { type: "error", error: { type, code: type, message, status: type } });
    server.reply(
      fail(429, "insufficient_quota", "You exceeded your current quota."),
      fail(400, "invalid_request_error", "Your credit balance is too low to access the API."),
      fail(402, "unknown_error", "Insufficient Balance"),
      fail(404, "not_found_error", "model: nope-1"),
      fail(404, "model_not_found", "The model `nope-1` does not exist."),
      fail(401, "authentication_error", "invalid x-api-key"),
    );
    const seen = [];
    for (let asked = 0; asked < 6; asked += 1) {
      const { kind, message } = errorOf(await ask());
      seen.push([kind, message.replace(/ It said:.*/, "")]);
    }
    const id = String(seen[0]?.[1]).split(": ")[0];
    const quota = `${id}: your account with the provider has no quota or credit left; add some there, or use another model.`;
    const unknown = `${id}: the provider has no model of this name, or your key may not use it; check the name with the provider.`;
    expect(seen).toEqual([
      ["quota", quota],
      ["quota", quota],
      ["quota", quota],
      ["unknown_model", unknown],
      ["unknown_model", unknown],
      [
        "authentication",
        expect.stringMatching(/does not accept the key( in [A-Z_]+)?; check the key/),
      ],
    ]);
  });

  test("reports when to retry: in seconds, in milliseconds, or at a date", async () => {
    verifies("MODEL-1");
    const { server, ask } = await openDesk(wire);
    const date = "Mon, 16 Nov 2026 04:00:00 GMT";
    server.reply(
      status(429, "{}", { "retry-after": "7" }),
      status(429, "{}", { "retry-after-ms": "1250", "retry-after": "7" }),
      status(503, "{}", { "retry-after": "Mon, 16 Nov 2026 04:00:30 GMT", date }),
      status(429, "{}", { "retry-after": "soon" }),
    );
    expect(errorOf(await ask())).toMatchObject({ kind: "rate_limited", retry_after_ms: 7000 });
    expect(errorOf(await ask()).retry_after_ms).toBe(1250);
    expect(errorOf(await ask())).toMatchObject({ kind: "overloaded", retry_after_ms: 30_000 });
    expect(errorOf(await ask())).not.toHaveProperty("retry_after_ms");
  });

  test("never repeats the key or a header, for any answer of the server", async () => {
    verifies("MODEL-1");
    const { server, ask } = await openDesk(wire);
    const message = `No such key: ${KEY}. Sent: authorization: Bearer ${KEY}; sk-ant-api03-${"x".repeat(40)}`;
    const error = { type: "error", error: { type: "authentication_error", message, code: 401 } };
    server.reply(
      status(401, error, { "x-echo": KEY }),
      status(500, message),
      events(eventFrame(error)),
    );
    for (let asked = 0; asked < 3; asked += 1) {
      const text = JSON.stringify(await ask());
      expect(text).not.toContain(KEY);
      expect(text).not.toContain("sk-ant-api03");
    }
    expect(JSON.stringify(server.requests[0]?.headers)).toContain(KEY);
  });

  test("is a disconnect when the stream is cut, and a half-written call is not given on", async () => {
    verifies("MODEL-1");
    const { server, ask } = await openDesk(wire);
    const [text = ""] = wire.steps([{ text: "Look" }]);
    const half = wire === googleWire ? "" : halfACall();
    server.reply(
      cut(wire.begin, text),
      cut(wire.begin, text, half),
      // Ended as if all were well, but without saying why.
      events(wire.begin, text, half),
    );
    for (let asked = 0; asked < 3; asked += 1) {
      const seen = await ask();
      expect(errorOf(seen).kind).toBe("disconnect");
      expect(callsOf(seen)).toEqual([]);
      expect(seen[0]).toEqual({ type: "text_delta", text: "Look" });
    }
  });

  /** Up to the middle of its arguments. */
  function halfACall(): string {
    const step = { call: "core__list_files", id: "call_1", fragments: ['{"path', "ZZ"] };
    const whole = wire.steps([{ text: "" }, step])[1] ?? "";
    const frames = whole.split(/(?<=\n\n)/);
    return frames
      .slice(
        0,
        frames.findIndex((frame) => frame.includes("ZZ")),
      )
      .join("");
  }

  test("is a malformed stream when an event is no JSON, first or later", async () => {
    verifies("MODEL-1");
    const { server, ask } = await openDesk(wire);
    const [text = ""] = wire.steps([{ text: "Look" }]);
    const broken = `data: {"type": "text", ${KEY}\n\n`;
    server.reply(events(broken), events(wire.begin, text, broken));
    for (let asked = 0; asked < 2; asked += 1) {
      const error = errorOf(await ask());
      expect(error.kind).toBe("malformed_stream");
      expect(error.message).not.toContain(KEY);
    }
  });

  test("is a network error when no one listens at the address", async () => {
    verifies("MODEL-1");
    const { server, ask } = await openDesk(wire);
    await server.close();
    const error = errorOf(await ask());
    expect(error.kind).toBe("network");
    expect(error.message).toContain("base URL");
  });

  test("is an abort when the signal fires in the middle of a stream that never ends", async () => {
    verifies("MODEL-1");
    const { server, model } = await openDesk(wire);
    const abort = new AbortController();
    server.reply(hang(wire.begin, ...wire.steps([{ text: "Look" }])));
    const kinds: string[] = [];
    for await (const event of model.stream(requestOf(), abort.signal)) {
      kinds.push(event.type === "failed" ? event.error.kind : event.type);
      abort.abort(new Error("enough"));
    }
    expect(kinds).toEqual(["text_delta", "aborted"]);
    await server.hungUp;
  });

  test("of a stream that hangs ends the run, and nothing of the connection stays", async () => {
    verifies("LOOP-3", "MODEL-1");
    const begun = [wire.begin, ...wire.steps([{ text: "Look" }])];
    const comments = ": still here\n\n";
    const replies: Record<string, Reply> = {
      "says nothing at all": () => {},
      "answers with nothing": hang(": nothing yet\n\n"),
      "stops in the middle": hang(...begun),
      "sends comments for ever": endless(comments, ...begun),
      "sends a line without end": endless("x".repeat(64), 'data: {"'),
    };
    for (const [what, reply] of Object.entries(replies)) {
      const { server, model } = await openDesk(wire);
      server.reply(reply);
      const clock = createHeldClock(0);
      const session = await createKernel({ clock }).openSession({});
      const limits = { retries: 0, idle_timeout_ms: 1000 };
      const conversation = await openConversation({ session, models: [model], clock, limits });
      const run = conversation.send("go");
      await server.answering;
      await clock.advance(1000);
      expect(await run.end, what).toMatchObject({ reason: "failed", error: { code: "timeout" } });
      await server.hungUp;
    }
  });

  test("is bounded, also where the package would hold all of it: a line, or the body of a failure", async () => {
    verifies("LOOP-3", "MODEL-1");
    const { server, ask } = await openDesk(wire);
    const megabyte = "x".repeat(1024 * 1024);
    server.reply(endless(megabyte, wire.begin, 'data: {"'), (response) => {
      response.writeHead(500, { "content-type": "application/json" });
      return endless(megabyte)(response);
    });
    expect(errorOf(await ask()).kind).toBe("answer_too_large");
    expect(errorOf(await ask()).kind).toBe("server_error");
  });

  test("is an abort when the signal fires before the first event, or had fired before", async () => {
    verifies("MODEL-1");
    const { server, ask } = await openDesk(wire);
    const abort = new AbortController();
    server.reply((response) => {
      response.flushHeaders();
      abort.abort();
    });
    expect(errorOf(await ask({}, abort.signal)).kind).toBe("aborted");
    expect(errorOf(await ask({}, abort.signal)).kind).toBe("aborted");
    expect(server.requests).toHaveLength(1);
  });

  test("leaves no connection open when the reader stops", async () => {
    verifies("MODEL-1");
    const { server, model } = await openDesk(wire);
    server.reply(hang(wire.begin, ...wire.steps([{ text: "Look" }])));
    for await (const event of model.stream(requestOf(), never())) {
      expect(event.type).toBe("text_delta");
      break;
    }
    await server.hungUp;
  });
});

describe("a provider's own words for a failure", () => {
  test.each([
    [
      anthropicWire,
      400,
      "invalid_request_error",
      "prompt is too long: 208310 tokens > 200000 maximum",
    ],
    [openaiWire, 400, "context_length_exceeded", "Your input exceeds what this model takes."],
    [compatibleWire, 400, "BadRequestError", "This model's maximum context length is 4096 tokens."],
    [compatibleWire, 500, "exceed_context_size_error", "the request exceeds the available size"],
    [googleWire, 400, "INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum"],
  ])(
    "%#: a conversation too long is distinguished from other bad requests",
    async (wire, code, label, message) => {
      verifies("MODEL-1");
      const { server, ask } = await openDesk(wire);
      const inner = { type: label, code: wire === googleWire ? code : label, status: label };
      server.reply(
        status(code, { type: "error", error: { ...inner, message } }),
        status(400, {
          type: "error",
          error: { type: "x", code: 400, message: "no such option" },
        }),
      );
      expect(errorOf(await ask()).kind).toBe("prompt_too_long");
      expect(errorOf(await ask()).kind).toBe("invalid_request");
    },
  );

  test("too many tokens a minute is a limit of the rate, not of the conversation", async () => {
    verifies("MODEL-1");
    const { server, ask } = await openDesk(compatibleWire);
    const message = "Too many tokens per minute for this context window.";
    server.reply(status(429, { error: { message, type: "tokens" } }));
    expect(errorOf(await ask()).kind).toBe("rate_limited");
  });

  test("overload in the middle of Anthropic's stream, and as its first event", async () => {
    verifies("MODEL-1");
    const { server, ask } = await openDesk(anthropicWire);
    const overloaded = eventFrame({
      type: "error",
      error: { type: "overloaded_error", message: "Overloaded" },
    });
    const limited = eventFrame({
      type: "error",
      error: { type: "rate_limit_error", message: "Slow" },
    });
    const failing = eventFrame({
      type: "error",
      error: { type: "api_error", message: "Oops" },
    });
    const begin = anthropicWire.begin;
    server.reply(
      events(overloaded),
      events(begin, overloaded),
      events(limited),
      events(begin, failing),
    );
    expect(errorOf(await ask())).toMatchObject({ kind: "overloaded", status: 529 });
    expect(errorOf(await ask()).kind).toBe("overloaded");
    expect(errorOf(await ask()).kind).toBe("rate_limited");
    expect(errorOf(await ask()).kind).toBe("server_error");
  });

  test("failures inside OpenAI's streams", async () => {
    verifies("MODEL-1");
    const openai = await openDesk(openaiWire);
    const failedWith = (code: string) =>
      frames([{ type: "response.failed", response: { error: { code, message: "No." } } }]);
    const [text = ""] = openaiWire.steps([{ text: "Look" }]);
    openai.server.reply(
      events(openaiWire.begin, text, failedWith("rate_limit_exceeded")),
      events(openaiWire.begin, failedWith("server_error")),
      status(429, {
        error: { message: "Quota", type: "insufficient_quota", code: "insufficient_quota" },
      }),
    );
    expect(errorOf(await openai.ask()).kind).toBe("rate_limited");
    expect(errorOf(await openai.ask()).kind).toBe("server_error");
    // Waiting does not help here, so it is no rate limit.
    expect(errorOf(await openai.ask()).kind).toBe("quota");

    const local = await openDesk(compatibleWire);
    local.server.reply(
      events(
        chunk({ content: "Look" }),
        `data: {"error":{"message":"out of memory","type":"server_error"}}\n\n`,
      ),
    );
    expect(errorOf(await local.ask())).toMatchObject({
      kind: "server_error",
      message: expect.stringContaining("out of memory") as string,
    });
  });

  test("a wrong key, a full quota and a delay of Gemini", async () => {
    verifies("MODEL-1");
    const { server, ask } = await openDesk(googleWire);
    const error = (code: number, label: string, message: string, details: object[] = []) =>
      status(code, { error: { code, status: label, message, details } });
    server.reply(
      error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
      error(429, "RESOURCE_EXHAUSTED", "Quota", [{ "@type": "RetryInfo", retryDelay: "34.5s" }]),
      error(503, "UNAVAILABLE", "The model is overloaded."),
      events(`data: {"error":{"code":503,"status":"UNAVAILABLE","message":"Overloaded."}}\n\n`),
    );
    expect(errorOf(await ask()).kind).toBe("authentication");
    expect(errorOf(await ask())).toMatchObject({ kind: "rate_limited", retry_after_ms: 34_500 });
    expect(errorOf(await ask()).kind).toBe("overloaded");
    expect(errorOf(await ask()).kind).toBe("overloaded");
  });
});

describe("a package that misbehaves", () => {
  const broken = (doStream: () => unknown) =>
    languageModel(
      { specificationVersion: "v4", provider: "p", modelId: "m", doStream: doStream as never },
      { id: "p:m", profile: OPENAI_PROFILE },
    );

  test("by throwing at once, or by what is no error at all, is still an event", async () => {
    verifies("MODEL-1");
    for (const thrown of [new TypeError("boom"), "boom", undefined]) {
      const model = broken(() => {
        throw thrown;
      });
      const seen = await collect(model.stream(requestOf(), never()));
      expect(errorOf(seen).kind).toBe("network");
    }
  });

  test("by not listening to the signal does not hold the run up", async () => {
    verifies("MODEL-1");
    const abort = new AbortController();
    const silent = broken(() => {
      queueMicrotask(() => abort.abort());
      return new Promise(() => {});
    });
    expect(errorOf(await collect(silent.stream(requestOf(), abort.signal))).kind).toBe("aborted");

    const later = new AbortController();
    const stuck = broken(async () => ({
      stream: new ReadableStream({
        pull: () => {
          later.abort();
          return new Promise(() => {});
        },
        cancel: () => new Promise(() => {}),
      }),
    }));
    expect(errorOf(await collect(stuck.stream(requestOf(), later.signal))).kind).toBe("aborted");
  });

  test("of an interface we do not know is refused by name", () => {
    verifies("MODEL-1");
    const model = { specificationVersion: "v9", provider: "p", modelId: "m" } as never;
    expect(() => languageModel(model, { id: "p:m", profile: OPENAI_PROFILE })).toThrow(
      "The model p:m has version v9",
    );
  });
});
