// STORE-3 and RESULT-1, the kernel's half: wherever a journal breaks off, recovery gives every call its one
// result and every run its end, leaves no hole in seq or conversation, and runs nothing.

import {
  createMemoryJournal,
  isTerminalFact,
  toolResult,
  type ArtifactRef,
  type ToolContext,
  type ToolResult,
} from "@soong/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { drive, heldTool, setStage, type Stage } from "./drive.ts";
import { slowPerson } from "./people.ts";
import { anyCase, answer, clock, hooks, kernelFor, policy, roots } from "./random-turn.ts";
import { faults, factsOf, keyOf, prefixesOf, recovered } from "./recovered.ts";
import { richSession } from "./rich-session.ts";
import { createSpyJournal } from "./spy-journal.ts";
import { reader, writer } from "./world.ts";

const numRuns = process.env["SOONG_TEST_FULL"] === "1" ? 5000 : 60;
const SUB = "agent.create_sub_agent";

// ── sessions to break off ───────────────────────────────────────────────────────────────────────────

interface Busy {
  readonly stage: Stage;
  /** The handlers that were entered, one entry for each time. */
  readonly entered: string[];
}

/** Reads, writes, a child, a question to the user, calls parked, queued, late, and one its run did not wait for. */
async function busySession(): Promise<Busy> {
  const entered: string[] = [];
  const enter = (_input: unknown, { toolCallId }: ToolContext): unknown => entered.push(toolCallId);
  const person = slowPerson();
  const write = heldTool("a.write", { permission: "write" });
  const held = heldTool("a.held");
  const stage: Stage = await setStage({
    ask: person.ask,
    policy: { rules: [{ tool: "a.write", decision: "allow" }] },
    tools: [
      write.tool,
      held.tool,
      reader("a.read", 0, { handler: enter }),
      writer("a.asks", 0, { handler: enter }),
      reader("a.noted", 0, {
        handler: () => toolResult({ context_nodes: [{ kind: "skill_context", text: "how" }] }),
      }),
      reader("a.secret", 0, {
        input_schema: {
          type: "object",
          properties: { key: { type: "string", "x-sensitive": true } },
        },
      }),
      reader("a.keeps", 0, {
        async handler(_input: unknown, { artifacts }: ToolContext) {
          await artifacts.write("kept", { media_type: "text/plain", name: "kept.txt" });
          return "done";
        },
      }),
    ],
    sources: [
      {
        id: "agents",
        kind: "agent",
        tools: [reader(SUB, 0, { starts_agent: true, handler: child })],
      },
    ],
  });
  const { run, session } = stage;

  async function child(): Promise<string> {
    const own = await session.startRun({ parent: run.identity });
    const turn = own.openTurn({ parentNodeId: "given" });
    for (const [id, name] of Object.entries({ read: "a.read", write: "a.write" })) {
      turn.push({ id, name, arguments: {} });
    }
    turn.end();
    await turn.settled();
    own.end("completed");
    return "done";
  }

  const first = run.openTurn({ parentNodeId: "given" });
  const before = { noted: "a.noted", nowhere: "a.nowhere", secret: "a.secret", last: "a.read" };
  for (const [id, name] of Object.entries(before)) {
    first.push({ id, name, arguments: id === "secret" ? { key: "s3cr3t" } : "{}" });
  }
  first.push({ id: "last", name: "a.read", arguments: "{" });
  first.end();
  const between = await drive(stage.clock, first.settled());
  expect(between).toHaveLength(5);

  const second = run.openTurn({ parentNodeId: first.lastNodeId as string });
  const calls = {
    read: "a.read",
    keeps: "a.keeps",
    write: "a.write",
    asks: "a.asks",
    child: SUB,
    large: "a.read",
  };
  for (const [id, name] of Object.entries(calls)) {
    second.push({ id, name, arguments: id === "large" ? { text: "x".repeat(40_000) } : {} });
  }
  await stage.clock.settle();
  second.end();
  await stage.clock.settle();
  second.push({ id: "late", name: "a.read", arguments: {} });
  write.calls[0]?.finish("done");
  await stage.clock.settle();
  person.answer("asks", { decision: "allow_once" });
  await stage.clock.settle();
  write.calls[1]?.finish("done");
  await drive(stage.clock, second.settled());

  const third = run.openTurn({ parentNodeId: second.lastNodeId as string });
  third.push({ id: "held", name: "a.held", arguments: {} });
  third.end();
  run.end("completed");
  held.calls[0]?.finish("done");
  await drive(stage.clock, third.settled());
  return { stage, entered };
}

describe("a journal that breaks off after any of its entries", () => {
  it("is made whole: one result for every call, one end for every run, no hole", async () => {
    verifies("STORE-3", "RESULT-1");
    const { stage, entered } = await busySession();
    const { entries } = stage.journal;
    const [text, ran] = [JSON.stringify(entries), entered.length];
    for (const before of prefixesOf(entries)) {
      expect(faults(before, new Set(["given"])), `after ${before.length} entries`).toEqual([]);
    }
    expect(JSON.stringify(entries), "recovery changed what was there").toBe(text);
    expect(entered, "recovery ran a handler").toHaveLength(ran);
  });

  it("is made whole no matter what else happened in the session", async () => {
    verifies("STORE-3", "RESULT-1");
    const { journal } = await richSession();
    for (const before of prefixesOf(journal.entries)) {
      expect(faults(before), `after ${before.length} entries`).toEqual([]);
    }
  });

  it("is made whole after random turns", async () => {
    verifies("STORE-3", "RESULT-1");
    await fc.assert(
      fc.asyncProperty(anyCase, async (given) => {
        const journal = createSpyJournal();
        const ask = (request: { arguments: unknown }) => answer(request.arguments);
        const session = await kernelFor(given).openSession({ journal, hooks, policy, roots, ask });
        const run = await session.startRun();
        const turn = run.openTurn({ parentNodeId: "given" });
        for (const step of given.steps) {
          if (step.kind === "push") turn.push({ ...step, id: step.id ?? "" });
          else if (step.kind === "wait") await clock.advance(step.ms);
          else if (step.kind === "end") turn.end();
          else void turn[step.kind]("by design");
        }
        turn.end();
        await drive(clock, turn.settled());
        for (const before of prefixesOf(journal.entries)) {
          expect(faults(before, new Set(["given"]))).toEqual([]);
        }
      }),
      { numRuns },
    );
  });

  it("reports what is known of every call", async () => {
    verifies("STORE-3");
    const { stage } = await busySession();
    const { entries } = stage.journal;
    /** Every way a call of the main run was lost, over all prefixes, with the last fact it had left. */
    const ways = new Map<string, ToolResult>();
    for (const before of prefixesOf(entries)) {
      const old = factsOf(before);
      const added = factsOf(recovered(before)).slice(old.length);
      for (const { data, run_id, tool_call_id } of added.filter(isTerminalFact)) {
        if (run_id !== stage.run.identity.run_id || tool_call_id === undefined) continue;
        const last = old.findLast((fact) => keyOf(fact) === `${run_id} ${tool_call_id}`);
        ways.set(`${tool_call_id} after ${last?.type}`, data.result);
      }
    }
    const read = "The runtime was stopped while a.read was running.";
    expect(ways.get("read after tool.started"), "parked: its stream had not ended").toMatchObject({
      status: "unknown",
      summary: `${read} Its result is lost; it only reads, so it can be called again.`,
      error: { retryable: true, recovery: "retry" },
    });
    expect(ways.get("write after tool.started")).toMatchObject({
      status: "unknown",
      summary:
        "The runtime was stopped while a.write was running. It may or may not have happened: find out before doing it again.",
      error: { retryable: false, recovery: "ask_the_user" },
    });
    const skipped = {
      status: "skipped",
      summary: "a.asks was not started: the runtime was stopped before its turn. Nothing happened.",
      error: { retryable: true, recovery: "retry" },
    };
    expect(ways.get("asks after tool.queued"), "behind a write").toMatchObject(skipped);
    expect(ways.get("asks after permission.requested"), "unanswered").toMatchObject(skipped);
    const record = stage.artifacts.list().find(({ name }) => name === "kept.txt");
    const { artifact_id, sha256 } = record as ArtifactRef;
    const kept = { artifact_id, media_type: "text/plain", size: 4, name: "kept.txt" };
    const lost = ways.get("keeps after artifact.created");
    expect(lost).toMatchObject({ status: "unknown", artifacts: [{ ...kept, sha256 }] });
    expect(lost?.content).toEqual([
      { type: "text", text: `${lost?.summary} What it had kept by then is attached.` },
      { type: "artifact_ref", ...kept },
    ]);
    expect(
      ways.get("large after tool.queued")?.artifacts,
      "its arguments are not kept by it",
    ).toEqual([]);
    expect(ways.get("child after tool.started"), "a child may have written").toMatchObject({
      error: { retryable: false, recovery: "ask_the_user" },
    });
    for (const id of ["noted", "nowhere", "secret", "large", "late", "held", "call_"]) {
      const some = [...ways.keys()].filter((way) => way.startsWith(id));
      expect(some.length, `${id} was never lost`).toBeGreaterThan(0);
    }
  });

  it("continues from there, and no call is run again", async () => {
    verifies("STORE-3");
    const { stage, entered } = await busySession();
    const ran = entered.length;
    for (const before of prefixesOf(stage.journal.entries)) {
      const journal = createMemoryJournal();
      for (const entry of recovered(before)) journal.append(entry);
      const lastSeq = journal.facts.length;
      const session = await stage.kernel.openSession({
        session_id: stage.session.session_id,
        journal,
        ...(lastSeq === 0 ? {} : { lastSeq }),
      });
      await stage.clock.settle();
      expect(entered).toHaveLength(ran);
      (await session.startRun()).end("completed");
      expect(journal.facts.map(({ seq }) => seq)).toEqual(journal.facts.map((_, i) => i + 1));
    }
  });
});

it("every tool.requested says where its result will hang, and it hangs there", async () => {
  verifies("STORE-3");
  const { stage } = await busySession();
  const requested = stage.facts("tool.requested");
  expect(requested).toHaveLength(15);
  const { nodes } = stage.journal;
  for (const { data, tool_call_id, run_id } of requested) {
    const own = nodes.filter(
      (node) => node.tool_call_id === tool_call_id && node.run_id === run_id,
    );
    expect(own[0]?.parent_id, tool_call_id).toBe(data.parent_node_id);
    expect(own.at(-1)?.node_id, tool_call_id).toBe(data.node_id);
  }
});
