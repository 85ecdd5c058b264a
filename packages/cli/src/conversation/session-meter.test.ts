import { sumUsage } from "@soong/agent";
import type { Fact, Session } from "@soong/core";
import { expect, test } from "vitest";
import { createSessionMeter, renderStatus } from "./session-meter.ts";
import { renderContext } from "./slash-sessions.ts";

const CONTEXT = {
  request: 1,
  system: [
    { ref: "system:0", from: "static", chars: 4000 },
    { ref: "system:1", from: "instructions", chars: 400 },
  ],
  memory_refs: [{}],
  knowledge_refs: [],
  source_refs: [],
  instruction_refs: [{}],
  file_refs: [],
  workspace_refs: [],
  browser_refs: [],
  session_refs: [],
  skill_refs: [],
  agent_refs: [],
  board: { chars: 0 },
  history: { units: 2, nodes: 3 },
  policy: {},
  tools: { loaded: 16, deferred: 0, excluded: 0 },
  omissions: [],
  missing: [],
  tokens: { estimated: 6000, tools: 3000 },
};

function watched() {
  let tell: (fact: () => Fact) => void = () => {};
  const meter = createSessionMeter((agent_id) => agent_id === "main");
  const session: Pick<Session, "watch"> = {
    watch(_wanted, listener) {
      tell = listener;
      return () => {};
    },
  };
  meter.watch(session);
  const record = (type: string, data: object, agent_id = "main"): void =>
    tell(() => ({ type, data, agent_id, run_id: "run_1" }) as unknown as Fact);
  return { meter, record };
}

test("a session is measured by its facts: what all of it used, and what the main agent's last request held", () => {
  const { meter, record } = watched();
  let changes = 0;
  meter.onChange(() => {
    changes += 1;
  });
  record("context.resolved", CONTEXT);
  expect(meter.contextTokens).toBe(6000);
  const cost = { currency: "USD", micros: 12_345 };
  record("model.completed", { usage: { input_tokens: 5000, output_tokens: 100 }, cost });
  record("model.completed", { usage: { input_tokens: 9, output_tokens: 1 }, cost }, "child");
  expect(meter.contextTokens).toBe(5100);
  expect(meter.usage).toMatchObject({ requests: 2, cost: [{ currency: "USD", micros: 24_690 }] });
  expect(changes).toBe(3);
  const figures = { counted: meter.contextTokens, window: 200_000, memory: 1600 };
  expect(renderContext(CONTEXT, figures).join("\n")).toMatch(
    /held 5k tokens of 200k \(3%\)[^]*system +1k[^]*instructions +100 +1 file\n[^]*tools +3k +16 of them\n +memory +400 +1 recall\n +messages +2k +3 entries$/,
  );
  record("context.compaction.completed", {});
  expect(meter.contextTokens).toBeUndefined();
  meter.reset();
  expect(meter.usage.requests).toBe(0);
});

test("the status line drops what does not fit: cost, share, mode", () => {
  const usage = { ...sumUsage([]), cost: [{ currency: "USD", micros: 12_345 }] };
  const parts = {
    model: "openai:gpt",
    mode: "plan",
    usage,
    contextTokens: 25_000,
    window: 200_000,
    queued: 2,
  };
  expect(renderStatus(parts, 80)).toBe(
    "openai:gpt · context 13% of 200k · 0.0123 USD · plan · 2 queued",
  );
  expect(renderStatus(parts, 55)).toBe("openai:gpt · context 13% of 200k · plan · 2 queued");
  expect(renderStatus(parts, 40)).toBe("openai:gpt · plan · 2 queued");
  expect(renderStatus({ ...parts, model: "模\u001b[2J" }, 5)).not.toContain("\u001b");
  const none = { ...parts, usage: sumUsage([]), contextTokens: undefined, queued: 0 };
  expect(renderStatus(none, 80)).toBe("openai:gpt · plan");
  expect(renderStatus({ ...none, contextTokens: 900, window: undefined }, 80)).toBe(
    "openai:gpt · context 900 tokens · plan",
  );
});
