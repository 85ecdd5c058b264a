import { expect, test } from "vitest";
import { describePause, readResume } from "./approval-pause.ts";

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
    expect(readResume(given)).toEqual({ isApproved: true });
  },
);

test("a no carries its message", () => {
  expect(readResume({ decisions: [{ type: "reject", message: "not now" }] })).toEqual({
    denied: { reason: "not now" },
  });
  expect(readResume({ decisions: [{ type: "reject" }] })).toEqual({ denied: {} });
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
  expect(readResume(given).isApproved).toBeUndefined();
  expect(readResume(given).denied).toBeDefined();
});
