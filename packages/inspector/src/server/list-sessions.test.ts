import { describe, expect, it } from "vitest";
import type { SessionPage, SessionRecord } from "@soong/store";
import type { SessionSummary } from "../wire/session-records.ts";
import {
  createSessionMatcher,
  listSessions,
  MOST_LOOKED_AT,
  type ListAsked,
} from "./list-sessions.ts";
import type { LivePort, LiveState } from "./ports.ts";
import { createSessionSummaries } from "./session-summaries.ts";

const USAGE = { requests: 0, untold: 0, unpriced: 0, cost: null };

function record(n: number, last_seq = 1): SessionRecord {
  const updated_at = new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString();
  const session_id = `s${String(n).padStart(5, "0")}`;
  return {
    session_id,
    created_at: updated_at,
    updated_at,
    last_seq,
    head_hash: "",
    title: `t${n}`,
  };
}

/** Every tenth failed, every second is a single call. */
function summarize({ session_id, last_seq }: SessionRecord): SessionSummary {
  const n = Number(session_id.slice(1));
  return {
    status: n % 10 === 0 ? "failed" : "done",
    kind: n % 2 === 0 ? "conversation" : "call",
    turns: last_seq,
    worked_ms: 0,
    usage: USAGE,
    calls: 1,
    failed_calls: 0,
    tools: [n % 5 === 0 ? "code.search" : "code.list_dir"],
  };
}

function stage(count: number) {
  const records = Array.from({ length: count }, (_, i) => record(count - i));
  const asked: number[] = [];
  const summed: number[] = [];
  const store = {
    sessions: async ({ limit = 100, after }: SessionPage = {}) => {
      asked.push(limit);
      const at =
        after === undefined ? -1 : records.findIndex((one) => one.session_id === after.session_id);
      return records.slice(at + 1, at + 1 + limit);
    },
  };
  const summaries = createSessionSummaries(
    {
      async summarize(given) {
        summed.push(given.length);
        return given.map(summarize);
      },
      usedSince: async () => ({ total: USAGE, projects: [] }),
    },
    undefined,
  );
  const list = (more: Partial<ListAsked> = {}) =>
    listSessions(store, summaries, {
      limit: 50,
      after: undefined,
      group: undefined,
      filter: {},
      signal: new AbortController().signal,
      ...more,
    });
  return { list, asked, summed };
}

describe("a list of sessions", () => {
  it("reads one page where nothing is filtered, and sums up each session once", async () => {
    const { list, asked, summed } = stage(5000);
    const page = await list();
    expect(page.sessions).toHaveLength(50);
    expect(page.next).toBe(`${page.sessions[49]?.updated_at} ${page.sessions[49]?.session_id}`);
    expect(page.searched_to).toBeUndefined();
    expect([asked, summed]).toEqual([[51], [51]]);
    await list();
    expect(summed).toEqual([51]);
  });

  it("looks at no more sessions for a filter than it may, says how far back it got, and continues there", async () => {
    const { list, asked } = stage(5000);
    const filter = { text: "t49" };
    const first = await list({ filter, group: "calls" });
    expect(asked.length * 200).toBe(MOST_LOOKED_AT);
    expect(first.searched_to).toBe(record(3001).updated_at);
    const [updated_at = "", session_id = ""] = first.next?.split(" ") ?? [];
    const second = await list({ filter, group: "calls", after: { updated_at, session_id } });
    expect(second.searched_to).toBe(record(1001).updated_at);
    const third = await list({ filter, group: "calls", after: record(1001) });
    expect(third.next).toBeUndefined();
    const titles = [first, second, third].flatMap(({ sessions }) =>
      sessions.map(({ title }) => title),
    );
    expect(titles).toHaveLength(50 + 0 + 6);
    expect(titles.every((title) => title?.startsWith("t49"))).toBe(true);
  });

  it("has the matches that fit, and the place of the next one", async () => {
    const { list } = stage(300);
    const page = await list({ filter: { status: "failed" }, limit: 10 });
    expect(page.sessions.map(({ title }) => title)).toEqual(
      Array.from({ length: 10 }, (_, i) => `t${300 - i * 10}`),
    );
    expect(page.next).toBe(`${record(210).updated_at} s00210`);
  });

  it("stops when no one waits for it any more", async () => {
    const { list, asked } = stage(5000);
    const left = AbortSignal.abort();
    await expect(list({ filter: { text: "nothing" }, signal: left })).rejects.toThrow("aborted");
    expect(asked).toHaveLength(1);
  });

  it("matches by status, group, tool and every word of title, project, model or id", () => {
    const row = {
      ...record(10),
      project: "/work/shop",
      status: "failed" as const,
      summary: { ...summarize(record(10)), model: "anthropic/claude" },
    };
    const isIn = (...given: Parameters<typeof createSessionMatcher>) =>
      createSessionMatcher(...given)?.(row);
    expect(createSessionMatcher({}, undefined)).toBeUndefined();
    expect(isIn({ text: "SHOP claude t10" }, undefined)).toBe(true);
    expect(isIn({ text: "shop nothing" }, undefined)).toBe(false);
    expect(isIn({ tool: "Search" }, "conversations")).toBe(true);
    expect(isIn({ tool: "list_dir" }, undefined)).toBe(false);
    expect(isIn({ status: "done" }, undefined)).toBe(false);
    expect(isIn({}, "calls")).toBe(false);
  });
});

describe("the summary of a session", () => {
  it("is made again when the session changed or someone took it up, and of a live one not with every fact", async () => {
    let time = 0;
    let live: LiveState = { sessions: new Map(), questions: [], grants: [], problems: [] };
    const made: string[] = [];
    const summaries = createSessionSummaries(
      {
        async summarize(given) {
          made.push(...given.map(({ session_id, last_seq }) => `${session_id} ${last_seq}`));
          return given.map(summarize);
        },
        usedSince: async () => ({ total: USAGE, projects: [] }),
      },
      { state: () => live } as LivePort,
      () => time,
    );
    const rows = async (seq: number, isRough?: boolean) =>
      (await summaries.rows([record(1, seq)], isRough))[0]?.summary?.turns;
    expect([await rows(1), await rows(1), await rows(2, true)]).toEqual([1, 1, 2]);
    const held = { pid: 1, project: "/", runs: [], questions: 0 };
    live = { ...live, sessions: new Map([["s00001", held]]) };
    expect([await rows(2), await rows(3, true), await rows(4)]).toEqual([2, 2, 4]);
    time += 1999;
    expect(await rows(5, true)).toBe(4);
    time += 1;
    expect(await rows(5, true)).toBe(5);
    live = { ...live, sessions: new Map([["s00001", { ...held, questions: 1 }]]) };
    expect(await rows(6, true)).toBe(6);
    expect(made).toEqual([1, 2, 2, 4, 5, 6].map((seq) => `s00001 ${seq}`));
  });
});
