import { createMemoryJournal } from "@soong/core";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { answered, failing, stage } from "../../../../test/mcp/call-stage.ts";
import { neverAnswers } from "../../../../test/mcp/source-stage.ts";
import { McpRequestFailure } from "../connection/failure.ts";
import type { ToolCallOptions } from "../connection/connected-server.ts";

describe("an answer", () => {
  test("arguments reach the server as they were judged, under its own name for the tool", async () => {
    const { call, server } = await stage(() => Promise.resolve({ content: [] }));
    await call({ path: "a", deep: { list: [1, null] } });
    expect(server.received.map(({ request }) => request)).toEqual([
      { name: "log", arguments: { path: "a", deep: { list: [1, null] } } },
    ]);
    expect(server.received[0]!.options.timeoutMs).toBe(100_000);
  });

  test("structured content is the data, text stays text, and _meta is on record only", async () => {
    verifies("MCP-4");
    const { result } = await answered({
      content: [{ type: "text", text: "two", annotations: { priority: 1 } }],
      structuredContent: { n: 2 },
      _meta: { "example.org/trace": "t1" },
    });
    expect(result).toMatchObject({
      status: "succeeded",
      content: [{ type: "text", text: "two" }],
      data: { n: 2 },
    });
    expect(result.metadata.tool).toEqual({
      _meta: { "example.org/trace": "t1" },
      content_meta: [{ block: 0, type: "text", annotations: { priority: 1 } }],
    });
  });

  test.each([null, [1, 2], "text", 0])("structured content may be any JSON: %j", async (data) => {
    const { result } = await answered({ structuredContent: data });
    expect(result).toMatchObject({ status: "succeeded", data });
  });

  test("a large _meta is an artifact", async () => {
    const { result, artifacts } = await answered({
      content: [],
      _meta: { big: "x".repeat(50_000) },
    });
    const id = result.metadata.tool?.["meta_artifact_id"] as string;
    expect((await artifacts.stat(id))?.size).toBeGreaterThan(50_000);
    expect(result.artifacts).toHaveLength(1);
  });

  test("isError is a failed call in the server's own words", async () => {
    verifies("MCP-4");
    const { result } = await answered({
      isError: true,
      content: [
        { type: "text", text: "no such branch" },
        { type: "resource_link", uri: "git://x", name: "x" },
      ],
      structuredContent: { code: 7 },
    });
    expect(result.status).toBe("failed");
    expect(result.error).toMatchObject({ code: "tool_error", message: "no such branch" });
    expect(result.content).toEqual([
      { type: "text", text: "no such branch" },
      { type: "resource_link", uri: "git://x", name: "x" },
    ]);
    expect(result.data).toEqual({ code: 7 });
    const silent = (await answered({ isError: true, content: [] })).result;
    expect(silent.error?.message).toBe("mcp.git.log reported an error without a word about it.");
    const long = (
      await answered({ isError: true, content: [{ type: "text", text: "x".repeat(9_000) }] })
    ).result;
    expect(long.error?.message).toBe("mcp.git.log reported an error.");
    expect(JSON.stringify(long.content)).toContain("x".repeat(9_000));
  });

  test("an answer that does not fit the output schema is an error, and kept", async () => {
    verifies("MCP-4");
    const output_schema = {
      type: "object",
      properties: { n: { type: "integer" } },
      required: ["n"],
    };
    const wrong = await answered(
      { content: [{ type: "text", text: "two" }], structuredContent: { n: "two" } },
      { output_schema },
    );
    expect(wrong.result).toMatchObject({
      status: "failed",
      error: { code: "output_schema_mismatch" },
    });
    expect(JSON.stringify(wrong.result)).toContain('{"n":"two"}');
    const none = await answered({ content: [{ type: "text", text: "two" }] }, { output_schema });
    expect(none.result).toMatchObject({
      status: "failed",
      error: { code: "output_schema_mismatch" },
    });
    expect(none.result.content).toContainEqual({ type: "text", text: "two" });
    const right = await answered({ content: [], structuredContent: { n: 2 } }, { output_schema });
    expect(right.result.status).toBe("succeeded");
  });

  test.each([{}, { content: "text" }, { toolResult: 1 }])(
    "an answer without any content says that it may have happened: %j",
    async (answer) => {
      const { result } = await answered(answer);
      expect(result).toMatchObject({
        status: "unknown",
        error: { code: "invalid_answer", retryable: false },
      });
      expect(result.error?.message).toContain("may or may not have happened");
    },
  );
});

describe("a call that does not end well", () => {
  test("abort reaches the server and is not a timeout", async () => {
    verifies("MCP-4");
    const { run, server, clock } = await stage(neverAnswers);
    const turn = run.openTurn();
    turn.push({ id: "1", name: "mcp__git__log", arguments: "{}" });
    turn.end();
    const results = turn.results();
    const first = results.next();
    await clock.settle();
    expect(server.received).toHaveLength(1);
    const aborted = turn.abort("enough");
    expect(server.received[0]!.options.signal.aborted).toBe(true);
    expect((await first).value).toMatchObject({ status: "aborted" });
    expect(await aborted).toHaveLength(1);
  });

  test("a timeout is one, and says what a write and a read mean by it", async () => {
    verifies("MCP-4");
    const { call } = await failing("timeout", "no answer");
    const result = await call();
    expect(result.status).toBe("timed_out");
    expect(result.error).toMatchObject({
      code: "timed_out",
      error_class: "timeout",
      retryable: false,
      recovery: "ask_the_user",
      message:
        "mcp.git.log gave no answer and no progress for 100000 ms; the server was asked to stop. It may or may not have happened: find out before doing it again.",
    });
    const reads = await stage(() => Promise.reject(new McpRequestFailure("timeout", "")), {
      isReadonly: true,
    });
    expect(await reads.call()).toMatchObject({
      status: "timed_out",
      error: { retryable: true, recovery: "retry" },
    });
  });

  test("a server that dies half-way is asked once, and the model learns that it may have happened", async () => {
    verifies("MCP-4");
    const { call, server } = await failing("lost", "its process ended with code 1");
    const result = await call();
    expect(server.received).toHaveLength(1);
    expect(result.error).toMatchObject({
      code: "connection_lost",
      error_class: "dependency_unavailable",
      retryable: false,
    });
    expect(result.error?.message).toContain(
      "its process ended with code 1. It may or may not have happened",
    );
    expect(result.status).toBe("unknown");
    const reads = await stage(() => Promise.reject(new McpRequestFailure("lost", "gone")), {
      isReadonly: true,
    });
    expect((await reads.call()).status).toBe("failed");
  });

  test("a question that no one answered is distinguished from one the client never offered", async () => {
    verifies("MCP-5");
    const refused = await (await failing("refused", "said no", { code: -1 })).call();
    expect(refused).toMatchObject({
      status: "unknown",
      error: { code: "question_refused", recovery: "use_another_tool", details: { rpc_code: -1 } },
    });
    const data = { requiredCapabilities: { sampling: {} } };
    for (const reason of ["refused", "rpc_error"] as const) {
      const missing = await (await failing(reason, "no", { code: -32_021, data })).call();
      expect(missing.error).toMatchObject({
        code: "client_capability_missing",
        details: { rpc_code: -32_021, required_capabilities: { sampling: {} } },
      });
    }
  });

  test.each([
    [-32602, "invalid_params", "invalid_arguments", "change_arguments"],
    [-32601, "method_not_found", "capability_gap", "use_another_tool"],
    [-32021, "client_capability_missing", "capability_gap", "use_another_tool"],
    [-32603, "server_error", "execution_failed", "none"],
    [-32000, "server_error", "execution_failed", "none"],
    [429, "server_error", "execution_failed", "none"],
  ])("the error %d of the protocol is %s", async (code, ours, error_class, recovery) => {
    const { call } = await failing("rpc_error", "bad\u001B[2J thing", {
      code,
      data: { field: "path" },
    });
    const { error } = await call();
    expect(error).toMatchObject({ code: ours, error_class, recovery });
    expect(error?.details).toEqual({ rpc_code: code, data: { field: "path" } });
    expect(error?.message).toContain("bad\uFFFD[2J thing");
  });

  test("progress reaches those who watch the call", async () => {
    verifies("MCP-4");
    const journal = createMemoryJournal();
    const { call } = await stage(
      (_request, { onProgress }: ToolCallOptions) => {
        onProgress?.({ progress: 1, total: 3, message: "counting" });
        return Promise.resolve({ content: [] });
      },
      { session: { journal } },
    );
    await call();
    const facts = journal.facts.filter(({ type }) => type === "tool.progress");
    expect(facts.map(({ data }) => data)).toMatchObject([
      { progress: 1, total: 3, message: "counting" },
    ]);
  });
});
