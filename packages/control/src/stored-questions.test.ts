import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PermissionAnswer, PermissionRequest } from "@soong/core";
import { openStore, type QuestionRecord, type QuestionStorage } from "@soong/store";
import { verifies } from "#laws";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import {
  storeQuestions,
  type StoredQuestions,
  type StoreQuestionsOptions,
} from "./stored-questions.ts";
import { createApprovalBroker, type ApprovalBroker } from "./approval-broker.ts";

const { signal } = new AbortController();
const YES: PermissionAnswer = { decision: "allow_once", answered_by: "terminal" };
const AWAY = {
  answer: { decision: "deny", answered_by: "page" },
  answered_by: "page",
  answered_at: "",
};

let home: string;
let storage: QuestionStorage;
let close: () => Promise<void>;
let broker: ApprovalBroker;
let kept: StoredQuestions;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "soong-kept-questions-"));
  const store = await openStore({ directory: home });
  await store.createSession({ session_id: "s" });
  storage = store.questions();
  close = () => store.close();
  broker = createApprovalBroker();
  broker.addResponder({ ask: () => new Promise(() => {}), elicit: () => new Promise(() => {}) });
  kept = keep(broker);
});
afterEach(async () => {
  await close();
  await rm(home, { recursive: true, force: true });
});

it("keeps what may be recorded of a question while it is open, and nothing of a preview that may not", async () => {
  verifies("PERM-20", "PIPE-9");
  const shown = request("ask_1", { preview: { kind: "text", text: "SECRET=1" } });
  const { preview: _preview, ...recorded } = shown;
  const answered = kept.ask(shown, { signal, recorded });
  await vi.waitFor(() => expect(broker.open()).toHaveLength(1));
  const [question] = await storage.list();
  expect(question).toMatchObject({ state: "open", request: { shows_all: false } });
  expect(JSON.stringify(question)).not.toContain("SECRET");
  expect(await broker.answer("ask_1", YES)).toBe(true);
  expect(await answered).toEqual(YES);
  expect(await storage.list()).toEqual([]);
  expect(await kept.answered("ask_1")).toBe("terminal (allow_once)");
});

it("takes the answer of another process, and tells the local responder that it was second", async () => {
  verifies("PERM-20");
  const answered = kept.ask(request("ask_1"), { signal });
  await vi.waitFor(() => expect(broker.open()).toHaveLength(1));
  await storage.answer("s", "ask_1", AWAY);
  expect(await broker.answer("ask_1", YES)).toBe(false);
  expect(await answered).toMatchObject({ decision: "deny", answered_by: "page" });
  const reasked = kept.ask(request("ask_2", { digest: "e" }), { signal });
  await vi.waitFor(() => expect(broker.open()).toHaveLength(1));
  await storage.answer("s", "ask_2", AWAY);
  expect(await reasked).toMatchObject({ decision: "deny" });
});

it("takes the answer as soon as the store says that there is one", async () => {
  verifies("PERM-20");
  const woken = new Map<string, () => void>();
  const cluster = {
    listen(topic: string, wake: () => void) {
      woken.set(topic, wake);
      return () => woken.delete(topic);
    },
  };
  const notified = keep(broker, 2 ** 30, { cluster });
  const answered = notified.ask(request("ask_1"), { signal });
  await vi.waitFor(() => expect([...woken.keys()]).toEqual(["questions/s"]));
  // Called for something else, too.
  woken.get("questions/s")?.();
  await storage.answer("s", "ask_1", AWAY);
  woken.get("questions/s")?.();
  expect(await answered).toMatchObject({ decision: "deny", answered_by: "page" });
  expect(woken.size).toBe(0);
});

it("waits for anyone where no one is there, if it is to, until the session ends", async () => {
  verifies("PERM-20");
  const alone = createApprovalBroker();
  const patient = keep(alone, 5, { waitForAnyone: true });
  const answered = patient.ask(request("ask_1"), { signal });
  const form = { mode: "form", message: "?", requested_schema: {} } as const;
  const named = { ...form, tool_name: "t", tool_call_id: "c" };
  const typed = patient.elicit(named, { signal });
  await vi.waitFor(async () => expect(await storage.list()).toHaveLength(2));
  await storage.answer("s", "ask_1", AWAY);
  expect(await answered).toMatchObject({ decision: "deny", answered_by: "page" });
  const [open] = await storage.list();
  const given = { answer: { action: "decline" }, answered_by: "page", answered_at: "" };
  await storage.answer("s", open?.question_id ?? "", given);
  expect(await typed).toEqual({ action: "decline" });
  const last = patient.ask(request("ask_2", { digest: "e" }), { signal });
  await vi.waitFor(() => expect(alone.open()).toHaveLength(1));
  await patient.close();
  await expect(last).rejects.toThrow("no one is there to ask");
});

it("takes what is no answer for a no, and asks again where a runtime finds it", async () => {
  verifies("PERM-4", "PERM-20");
  for (const [digest, answer] of [
    ["a", { decision: "allow" }],
    ["b", { decision: "allow_for_session", scope: "all" }],
    ["c", { decision: "allow_once", always: { where: "nowhere" } }],
    ["d", {}],
  ] as const) {
    const asked = kept.ask(request(`ask_${digest}`, { digest }), { signal });
    await vi.waitFor(() => expect(broker.open()).toHaveLength(1));
    await storage.answer("s", `ask_${digest}`, { ...AWAY, answer });
    expect(await asked).toMatchObject({
      decision: "deny",
      reason: expect.stringMatching(/^The question was answered with /) as string,
    });
  }
  // As one that was killed.
  void keep(broker, 2 ** 30)
    .ask(request("ask_1", { digest: "e" }), { signal })
    .catch(() => {});
  await vi.waitFor(() => expect(broker.open()).toHaveLength(1));
  await storage.answer("s", "ask_1", { ...AWAY, answer: { decision: "allow" } });
  const next = keep(createApprovalBroker());
  expect(await next.findRequestId(request("ask_2", { digest: "e" }))).toBeUndefined();
  expect(await storage.get("s", "ask_1")).toMatchObject({ state: "withdrawn" });
});

it.each<[string, (question: QuestionRecord) => QuestionRecord | undefined]>([
  ["withdrawn", (question) => ({ ...question, state: "withdrawn" })],
  ["answered without an answer", (question) => ({ ...question, state: "answered" })],
  ["deleted", () => undefined],
])("takes a question that was %s by someone else for a no", async (_how, change) => {
  verifies("PERM-4", "PERM-20");
  const changed: Partial<QuestionStorage> = {
    async get(...about) {
      const found = await storage.get(...about);
      return found && change(found);
    },
    answer: async () => ({ taken: false, question: undefined }),
  };
  const asked = keep(broker, 5, { storage: { ...storage, ...changed } }).ask(request("ask_1"), {
    signal,
  });
  // The kernel denies what fails.
  await expect(asked).rejects.toThrow("not open any more");
  expect(broker.open()).toEqual([]);
});

it("asks again where a runtime finds an answered question without an answer", async () => {
  verifies("PERM-20");
  void keep(broker, 2 ** 30)
    .ask(request("ask_1"), { signal })
    .catch(() => {});
  await vi.waitFor(async () => expect(await storage.list()).toHaveLength(1));
  const left: Partial<QuestionStorage> = {
    async find(about) {
      const found = await storage.find(about);
      return found && { ...found, state: "answered" };
    },
  };
  const next = keep(createApprovalBroker(), 5, { storage: { ...storage, ...left } });
  expect(await next.findRequestId(request("ask_2"))).toBeUndefined();
  expect(await storage.get("s", "ask_1")).toMatchObject({ state: "withdrawn" });
});

it("takes no rule from another process: always keeps the one that was shown", async () => {
  verifies("PERM-18");
  const rule = { tool: "*", decision: "allow" };
  const answer = { decision: "allow_for_session", always: { where: "everywhere", rule } };
  const asked = kept.ask(request("ask_1"), { signal });
  await vi.waitFor(() => expect(broker.open()).toHaveLength(1));
  await storage.answer("s", "ask_1", { ...AWAY, answer });
  expect(await asked).toEqual({
    decision: "allow_for_session",
    always: { where: "everywhere" },
  });
  // Also one that waited for the next runtime.
  void keep(broker, 2 ** 30)
    .ask(request("ask_2"), { signal })
    .catch(() => {});
  await vi.waitFor(() => expect(broker.open()).toHaveLength(1));
  await storage.answer("s", "ask_2", { ...AWAY, answer });
  const next = keep(createApprovalBroker());
  expect(await next.ask(request("ask_2"), { signal })).toMatchObject({
    always: { where: "everywhere" },
  });
  expect(JSON.stringify(await next.answered("ask_2"))).not.toContain("*");
});

it("asks two calls with the same plan twice, and gives one of a runtime before its id and answer", async () => {
  verifies("PERM-20");
  const killed = new AbortController();
  // As one that was killed: it hears nothing any more.
  const before = keep(broker, 2 ** 30);
  const first = before.ask(request("ask_1"), { signal: killed.signal });
  await vi.waitFor(() => expect(broker.open()).toHaveLength(1));
  expect(await before.findRequestId(request("ask_2"))).toBeUndefined();
  // The next runtime: the same store, another broker with no one at it.
  const next = keep(createApprovalBroker());
  expect(await next.findRequestId(request("ask_2"))).toBe("ask_1");
  expect(await next.findRequestId(request("ask_2", { agent_id: "other" }))).toBeUndefined();
  expect(await next.findRequestId(request("ask_2", { digest: "other" }))).toBeUndefined();
  await expect(next.ask(request("ask_1"), { signal })).rejects.toThrow("no one is there to ask");
  await storage.answer("s", "ask_1", AWAY);
  expect(await next.ask(request("ask_1"), { signal })).toMatchObject({ decision: "deny" });
  // Used up.
  await expect(next.ask(request("ask_3"), { signal })).rejects.toThrow("no one is there to ask");
  killed.abort();
  await expect(first).rejects.toThrow("the call is gone");
});

it("keeps a form, and what was typed into it no longer than until it is used", async () => {
  verifies("PERM-20");
  const form = {
    mode: "form" as const,
    message: "Which branch?",
    requested_schema: {},
    tool_name: "mcp.git.pick",
    tool_call_id: "c",
  };
  void kept.elicit(form, { signal }).catch(() => {});
  await vi.waitFor(() => expect(broker.openElicitations()).toHaveLength(1));
  const [question] = await storage.list();
  const content = { branch: "main" };
  const given = { answer: { action: "accept", content }, answered_by: "terminal", answered_at: "" };
  await storage.answer("s", question?.question_id ?? "", given);
  const next = keep(createApprovalBroker());
  expect(await next.elicit(form, { signal })).toEqual({ action: "accept", content });
  const used = await storage.get("s", question?.question_id ?? "");
  expect(used).toMatchObject({ state: "used", answer: { action: "accept" } });
  expect(JSON.stringify(used)).not.toContain("branch");
});

it("withdraws what is open when the call is gone, and when the session ends in order", async () => {
  verifies("PERM-20");
  const gone = new AbortController();
  const cancelled = kept.ask(request("ask_1"), { signal: gone.signal });
  await vi.waitFor(() => expect(broker.open()).toHaveLength(1));
  gone.abort();
  await expect(cancelled).rejects.toThrow("the call is gone");
  expect(await storage.get("s", "ask_1")).toMatchObject({ state: "withdrawn" });
  void kept.ask(request("ask_2"), { signal }).catch(() => {});
  await vi.waitFor(() => expect(broker.open()).toHaveLength(1));
  await kept.close();
  expect(await storage.list()).toEqual([]);
});

function keep(
  at: ApprovalBroker,
  pollMs = 5,
  more: Partial<Pick<StoreQuestionsOptions, "cluster" | "waitForAnyone" | "storage">> = {},
): StoredQuestions {
  const redact: StoreQuestionsOptions["redact"] = (value) => value;
  return storeQuestions({ storage, session_id: "s", broker: at, redact, pollMs, ...more });
}

function request(request_id: string, more: Partial<PermissionRequest> = {}): PermissionRequest {
  return {
    request_id,
    session_id: "s",
    run_id: "r",
    agent_id: "main",
    role: "main",
    tool_call_id: "c",
    tool_name: "code.write_file",
    description: "",
    permission: "write",
    tags: [],
    arguments: {},
    resources: [],
    scopes: [],
    session_scope: "",
    cwd: "/p",
    network_hosts: [],
    dangerous: false,
    destructive: false,
    hook_results: [],
    reason: "",
    chain: [],
    suggested_decision: "allow_once",
    digest: "d",
    ...more,
  };
}
