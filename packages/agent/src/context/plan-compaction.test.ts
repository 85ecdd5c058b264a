import fc from "fast-check";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { anyPath, answer, node, result, user } from "../../../../test/agent/conversation-nodes.ts";
import { compactionNode, readCompaction, readInstructionBlocks, messageText } from "./nodes.ts";
import { planCompaction, renderTranscript } from "./plan-compaction.ts";
import { ContextBook } from "./context-book.ts";
import { toModelMessages } from "./messages.ts";

const place = { node_id: "c", parent_id: undefined, session_id: "s", run_id: "r", agent_id: "a" };

const PATH = [
  user("First question"),
  answer("Answered."),
  user("Fix the build"),
  answer("", "1", "2"),
  result("1", "cannot read x", true),
  result("2", "no such file", true),
  node("tool_result", "", { tool_call_id: "x" }),
  answer("", "1"),
  result("1", "fine now"),
  answer("", "3"),
  node(
    "tool_result",
    [
      { type: "artifact_ref", artifact_id: "art_1", media_type: "text/plain", size: 5 },
      { type: "resource_link", uri: "https://example.com/a" },
    ],
    { tool_call_id: "3" },
  ),
  answer("", "4"),
  result("4", "newest"),
];

test("what is unresolved, failed, loaded or referred to is never left to the summary", () => {
  verifies("CTX-2");
  const plan = planCompaction(new ContextBook(PATH).units, 10, ["x.search"]);
  expect(plan?.kept).toHaveLength(1);
  expect(plan?.continuation).toEqual({
    requests: ["Fix the build"],
    incidents: [{ tool: "tool_2", message: "no such file" }],
    loaded_tools: ["x.search"],
    artifacts: ["art_1"],
    evidence: ["https://example.com/a"],
    agents: [],
    skills: [],
  });
});

test("a skill that goes with what is summarised is named, also by the next summary", () => {
  verifies("CTX-2", "SKILL-1");
  const skill = node("skill_context", "Run the script.", { data: { skill: "deploy" } });
  const path = [user("Deploy"), answer("", "1"), result("1", "loaded"), skill, user("Go on")];
  const { continuation } = planCompaction(new ContextBook(path).units, 1, []) ?? expect.fail();
  expect(continuation.skills).toEqual(["deploy"]);
  const made = compactionNode(place, "It went so.", { continuation });
  expect(JSON.stringify(made.content)).toContain("Skills that were loaded");
  const later = [...path, made, user("More"), answer("Done."), user("And more")];
  expect(planCompaction(new ContextBook(later).units, 1, [])?.continuation.skills).toEqual([
    "deploy",
  ]);
});

test("a compaction node represents what it took away, and what it kept is read as it was", () => {
  verifies("CTX-2");
  const plan = planCompaction(new ContextBook(PATH).units, 10, []);
  const kept_from = plan?.kept[0]?.nodes[0]?.node_id ?? "";
  const continuation = plan?.continuation ?? expect.fail();
  const made = compactionNode(place, "It went so.", { kept_from, continuation });
  const stored = JSON.parse(JSON.stringify([...PATH, made, user("Go on")])) as typeof PATH;
  expect(readCompaction(made)).toEqual({ kept_from, continuation });
  const messages = toModelMessages(new ContextBook(stored).units, "m");
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
  const [summary] = messages;
  const text = summary?.role === "user" ? messageText(summary.content) : "";
  expect(text).toContain("It went so.");
  expect(text).toContain("- Fix the build");
  expect(text).toContain("- tool_2: no such file");
  expect(text).toContain("- art_1");
});

test("what one compaction carried on, the next one does too, until it is resolved", () => {
  verifies("CTX-2");
  const first = planCompaction(new ContextBook(PATH).units, 10, ["x.search"]);
  const made = compactionNode(place, "S", {
    kept_from: first?.kept[0]?.nodes[0]?.node_id ?? "",
    continuation: first?.continuation ?? expect.fail(),
  });
  const open = [...PATH, made, answer("", "5"), result("5", "x")];
  expect(planCompaction(new ContextBook(open).units, 1, [])?.continuation).toEqual(
    first?.continuation,
  );
  const closed = [...PATH, made, answer("", "2"), result("2", "ok"), answer("Done."), user("Next")];
  expect(planCompaction(new ContextBook(closed).units, 1, [])?.continuation).toMatchObject({
    requests: [],
    incidents: [],
    artifacts: ["art_1"],
  });
});

test("there is nothing to take from one unit, or from a summary and one more", () => {
  verifies("CTX-2");
  expect(planCompaction(new ContextBook([user("x".repeat(9999))]).units, 1, [])).toBeUndefined();
  expect(planCompaction([], 1, [])).toBeUndefined();
  const made = node("compaction", "S", { data: {} });
  expect(planCompaction(new ContextBook([made, user("x")]).units, 1, [])).toBeUndefined();
});

test("a transcript is as long as it may be, and gives up results before the course of things", () => {
  verifies("CTX-2");
  const path = [user("Find it"), answer("Looking", "1"), result("1", "z".repeat(50_000))];
  const { units } = new ContextBook(path);
  expect(renderTranscript(units, 20_000)).toContain("z".repeat(50_000));
  const short = renderTranscript(units, 500);
  expect(short.length).toBeLessThanOrEqual(2100);
  expect(short).toContain("User: Find it");
  expect(short).toContain("Assistant: Looking");
  expect(short).toContain("Call tool_1: {}");
});

test("for any conversation, no unit is split or lost between what is taken and what is kept", () => {
  verifies("CTX-2");
  fc.assert(
    fc.property(anyPath(), fc.nat(300), (path, keep) => {
      const { units } = new ContextBook(path);
      const plan = planCompaction(units, keep, []);
      if (plan === undefined) return;
      expect([...plan.affected, ...plan.kept]).toEqual(units);
      const kept_from = plan.kept[0]?.nodes[0]?.node_id ?? "";
      const made = compactionNode(place, "S", { kept_from, continuation: plan.continuation });
      const after = new ContextBook([...path, made]);
      expect(after.units.slice(1).map(({ nodes }) => nodes[0])).toEqual(
        plan.kept.map(({ nodes }) => nodes[0]),
      );
      expect(toModelMessages(after.units.slice(1), "m")).toEqual(toModelMessages(plan.kept, "m"));
      expect(readInstructionBlocks([...path, made])).toEqual(readInstructionBlocks(path));
    }),
  );
});

test("an answer that broke off ends nothing that was asked before it", () => {
  verifies("CTX-2");
  const cut = answer("I will");
  const broken = { ...cut, data: { ...cut.data, unfinished: true } };
  const path = [user("Fix the build"), broken, user("Go on"), answer("", "1"), result("1", "x")];
  const { units } = new ContextBook([...path, user("y".repeat(400))]);
  expect(planCompaction(units, 10, [])?.continuation.requests).toEqual(["Fix the build", "Go on"]);
  const whole = new ContextBook([user("Fix"), cut, user("Go on"), answer("", "1"), user("y")]);
  expect(planCompaction(whole.units, 1, [])?.continuation.requests).toEqual(["Go on"]);
});
