import { expect, test } from "vitest";
import { findApproval } from "./find-approval.ts";

const call = { type: "tool-call", toolCallId: "c1", toolName: "notes__delete", input: {} };
const request = { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" };
const asked = { role: "assistant", content: [call, request] };
const yes = { type: "tool-approval-response", approvalId: "a1", approved: true };
const no = { ...yes, approved: false };
const result = { type: "tool-result", toolCallId: "c1", output: { type: "text", value: "done" } };

test("the answer in the last message counts, and of several the first", () => {
  expect(findApproval([asked, { role: "tool", content: [yes] }], "c1")).toBe("approved");
  expect(findApproval([asked, { role: "tool", content: [no] }], "c1")).toBe("denied");
  expect(findApproval([asked, { role: "tool", content: [no, yes] }], "c1")).toBe("denied");
});

test("an answer to another call, an older one, and one that was used are none", () => {
  const answered = { role: "tool", content: [yes] };
  expect(findApproval([asked, answered], "c2")).toBeUndefined();
  expect(findApproval([asked, answered, { role: "user", content: "go on" }], "c1")).toBeUndefined();
  expect(
    findApproval([asked, answered, { role: "tool", content: [result] }], "c1"),
  ).toBeUndefined();
  expect(findApproval([asked, { role: "tool", content: [yes, result] }], "c1")).toBeUndefined();
});

test("the request of an older answer is none for a new call with the same id", () => {
  const first = { role: "tool", content: [yes] };
  const done = { role: "tool", content: [result] };
  const again = { role: "assistant", content: [call, { ...request, approvalId: "a2" }] };
  const earlier = [asked, first, done, again];
  expect(findApproval([...earlier, { role: "tool", content: [yes] }], "c1")).toBeUndefined();
  const answer = { ...yes, approvalId: "a2" };
  expect(findApproval([...earlier, { role: "tool", content: [answer] }], "c1")).toBe("approved");
});

test("an answer without a request, or to one that the SDK answered itself, is none", () => {
  const automatic = { role: "assistant", content: [call, { ...request, isAutomatic: true }] };
  expect(findApproval([{ role: "tool", content: [yes] }], "c1")).toBeUndefined();
  expect(findApproval([automatic, { role: "tool", content: [yes] }], "c1")).toBeUndefined();
});

test("only `true` approves, and messages of any other shape are none", () => {
  const odd = { role: "tool", content: [{ ...yes, approved: "true" }] };
  expect(findApproval([asked, odd], "c1")).toBe("denied");
  for (const message of [
    null,
    7,
    "tool",
    {},
    { role: "tool" },
    { role: "tool", content: [null] },
  ]) {
    expect(findApproval([asked, message], "c1")).toBeUndefined();
  }
});
