// A handler may say that it gave up waiting, or that no one knows what became of its call (RESULT-3): a server
// that died half-way through a write did not simply fail.

import { ToolFailure, toolResult, type AnyTool, type HandlerErrorStatus } from "@soong/core";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { allowAll, createWorld, reader, takeTimeBy, writer } from "./world.ts";

const error = { code: "connection_lost", message: "the server is gone" };

async function ended(handler: AnyTool["handler"]) {
  const world = await createWorld({ tools: [writer("a.tool", 0, { handler })], policy: allowAll });
  const [result] = await world.execute({ name: "a.tool", arguments: {} });
  return { result: result!, world };
}

describe("a handler", () => {
  test.each<HandlerErrorStatus>(["timed_out", "unknown"])(
    "may end its call as %s, thrown or returned",
    async (status) => {
      verifies("RESULT-3", "RESULT-4");
      for (const handler of [
        () => Promise.reject(new ToolFailure(error, [{ type: "text", text: "half" }], status)),
        () => {
          throw new ToolFailure(error, [{ type: "text", text: "half" }], status);
        },
        () => toolResult({ status, error, content: [{ type: "text", text: "half" }] }),
        () => toolResult({ ok: false, status, error, content: [{ type: "text", text: "half" }] }),
      ]) {
        const { result, world } = await ended(handler);
        expect(result).toMatchObject({ status, is_error: true, error });
        expect(result.content.map((block) => "text" in block && block.text)).toEqual([
          error.message,
          "half",
        ]);
        expect(world.facts("tool.failed").map(({ data }) => data.result)).toMatchObject([
          { status },
        ]);
      }
    },
  );

  test.each([
    ["timed_out", "timed_out", "timeout"],
    ["unknown", "outcome_unknown", "execution_failed"],
  ] as const)("that says only %s is not read as done or as undone", async (status, code, kind) => {
    verifies("RESULT-4");
    const { result } = await ended(() => toolResult({ status }));
    expect(result).toMatchObject({
      status,
      error: { code, error_class: kind, retryable: false, recovery: "ask_the_user" },
    });
    expect(result.error?.message).toContain("may or may not have happened");
  });

  test.each(["aborted", "skipped", "denied", "rejected", "discarded", "cancelled", "odd", 7])(
    "cannot say %s: that is the runtime's word",
    async (status) => {
      verifies("RESULT-3");
      const returned = await ended(() => toolResult({ status, error } as never));
      expect(returned.result.status).toBe("failed");
      const thrown = await ended(() => {
        throw new ToolFailure(error, [], status as never);
      });
      expect(thrown.result.status).toBe("failed");
    },
  );

  test("that succeeded although it says ok: false has not", async () => {
    verifies("RESULT-2");
    const { result } = await ended(() => toolResult({ ok: false, status: "succeeded" }));
    expect(result.status).toBe("failed");
  });
});

test.each<HandlerErrorStatus>(["timed_out", "unknown"])(
  "a write that ends as %s stops the later ones, and takes its siblings along where it says so",
  async (status) => {
    verifies("SCHED-3", "SCHED-4");
    const fail = () => toolResult({ status, error });
    const world = await createWorld({
      tools: [
        writer("a.write", 0, { handler: fail }),
        writer("a.later"),
        reader("a.read", 0, { handler: fail, on_sibling_failure: "cancel_siblings" }),
        reader("a.slow", 1_000),
      ],
      policy: allowAll,
    });
    takeTimeBy(world.clock);
    const writes = await world.execute(
      { name: "a.write", arguments: {} },
      { name: "a.later", arguments: {} },
    );
    expect(writes.map((result) => result.status)).toEqual([status, "skipped"]);
    const reads = await world.execute(
      { name: "a.slow", arguments: {} },
      { name: "a.read", arguments: {} },
    );
    expect(reads.map((result) => result.status)).toEqual(["cancelled", status]);
  },
);
