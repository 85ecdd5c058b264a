import { expect, test } from "vitest";
import { describePause, readResume } from "./approval-pause.ts";

const alone = { at: 0, count: 1 };

test("a pause has the form of LangChain's own", () => {
  expect(describePause({ id: "c1", name: "notes__write", args: { id: 1 } })).toEqual({
    actionRequests: [
      { name: "notes__write", args: { id: 1 }, description: "notes__write requires approval" },
    ],
    reviewConfigs: [{ actionName: "notes__write", allowedDecisions: ["approve", "reject"] }],
    tool_call_id: "c1",
  });
});

test.each([[{ decisions: [{ type: "approve" }] }], [{ type: "approve" }]])(
  "%j is a yes",
  (given) => {
    expect(readResume(given, alone)).toEqual({ isApproved: true });
  },
);

test("a no carries its message", () => {
  expect(readResume({ decisions: [{ type: "reject", message: "not now" }] }, alone)).toEqual({
    denied: { reason: "not now" },
  });
  expect(readResume({ decisions: [{ type: "reject" }] }, alone)).toEqual({ denied: {} });
});

test("an answer for several calls has a decision for each of them", () => {
  const decisions = [{ type: "approve" }, { type: "reject" }];
  expect(readResume({ decisions }, { at: 0, count: 2 })).toEqual({ isApproved: true });
  expect(readResume({ decisions }, { at: 1, count: 2 })).toEqual({ denied: {} });
  for (const place of [
    { at: 0, count: 3 },
    { at: -1, count: 2 },
    { at: -1, count: 0 },
  ]) {
    expect(readResume({ decisions }, place).denied).toBeDefined();
    expect(readResume({ type: "approve" }, place).denied).toBeDefined();
  }
});

test.each([
  undefined,
  null,
  true,
  "approve",
  {},
  { decisions: [] },
  { decisions: "approve" },
  { decisions: [{ type: "approve" }, { type: "reject" }] },
  { decisions: [{ type: "edit", editedAction: {} }] },
])("%j is no yes", (given) => {
  expect(readResume(given, alone).isApproved).toBeUndefined();
  expect(readResume(given, alone).denied).toBeDefined();
});
