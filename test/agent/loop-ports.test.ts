// What the loop has for others: seats, a board, a check of the answer (LOOP-1, CTX-1, CTX-4).

import type { ActiveRun } from "@soong/agent";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { calls, done, openStage, says, texts } from "./loop-stage.ts";
import { readTool } from "./loop-tools.ts";

test("a run is announced before its first request and after its last fact", async () => {
  verifies("LOOP-1");
  const story: string[] = [];
  let seat: ActiveRun | undefined;
  const stage = await openStage(
    [
      [calls("a__read", {}, "1"), done("tool_use")],
      [says("ok"), done()],
    ],
    {
      tools: [
        readTool("a.read", () => {
          story.push(`path ${seat?.path().length}, spent ${seat?.account.requests}`);
          return "x";
        }),
      ],
      runRegistry: {
        add(own) {
          seat = own;
          story.push(`entered ${stage.journal.facts.at(-1)?.type}`);
        },
        remove(own) {
          expect(own).toBe(seat);
          story.push(`left ${stage.journal.facts.at(-1)?.type}`);
        },
      },
      config: { tools: { early_start: "none" } },
    },
  );
  await stage.ask("go");
  expect(story).toEqual(["entered tool.catalog.resolved", "path 2, spent 1", "left run.completed"]);
  expect(seat?.lastSeq).toBeGreaterThan(0);
});

test("a seat that cannot be taken ends the run, and is left", async () => {
  verifies("LOOP-1");
  let left = 0;
  const stage = await openStage([], {
    runRegistry: {
      add() {
        throw new Error("no room");
      },
      remove() {
        left += 1;
      },
    },
  });
  expect(await stage.ask("go")).toMatchObject({ reason: "failed", error: { message: "no room" } });
  expect(left).toBe(1);
});

test("the current state is shown with each request, at its end, and kept nowhere", async () => {
  verifies("CTX-1", "CTX-4");
  let asked = 0;
  const stage = await openStage(
    [
      [calls("a__read", {}, "1"), done("tool_use")],
      [calls("a__read", {}, "2"), done("tool_use")],
      [says("ok"), done()],
    ],
    {
      tools: [readTool("a.read", () => "x")],
      async board() {
        asked += 1;
        if (asked === 2) throw new Error("the store is busy");
        return asked === 1 ? "one step is ready" : `done ${"x".repeat(9000)}`;
      },
    },
  );
  await stage.ask("go");
  const last = stage.model.requests.map(({ messages }) => texts(messages).at(-1));
  expect(last[0]).toBe("user: go / one step is ready");
  expect(last[1]).toBe("tool: x");
  expect(last[2]).toContain("user: done x");
  expect(last[2]?.length).toBeLessThan(4100);
  expect(JSON.stringify(stage.journal.nodes)).not.toContain("one step is ready");
  expect(stage.facts("context.resolved").map(({ data }) => data.board)).toMatchObject([
    { chars: 17 },
    { chars: 0 },
    {},
  ]);
  expect(stage.facts("error")[0]?.data).toMatchObject({ code: "board_unreadable" });
});

test("an answer is checked once, and what is wrong with it is read next", async () => {
  verifies("LOOP-1", "AGENT-4");
  const checked: string[] = [];
  const stage = await openStage(
    [
      [says("No."), done()],
      [says("Still no."), done()],
    ],
    {
      checkAnswer(answer) {
        checked.push(answer);
        return "Say yes.";
      },
    },
  );
  expect(await stage.ask("go")).toMatchObject({
    reason: "completed",
    answer: "Still no.",
    turns: 2,
  });
  expect(checked).toEqual(["No."]);
  expect(texts(stage.model.requests[1]?.messages ?? [])).toEqual([
    "user: go",
    "assistant: No.",
    "user: Say yes.",
  ]);
});
