import { describe, expect, it } from "vitest";
import type { RunRow, SessionRow } from "../../wire/session-records.ts";
import { findVersion, listAgents, mainAgent } from "../conversation/agents.ts";
import { lastPart, listSessions } from "./session-list.tsx";

describe("the list of sessions", () => {
  const old = row("old", "2026-01-01T00:00:00Z", { live: live("/w/pay") });
  const fresh = row("fresh", "2026-01-03T00:00:00Z", {
    title: "Fix the total",
    project: "/w/shop",
  });
  const other = row("other", "2026-01-02T00:00:00Z");

  it("has live ones first, then those used last", () => {
    expect(names(listSessions([other, fresh, old], [], ""))).toEqual(["old", "fresh", "other"]);
  });

  it("has each once, as it is now", () => {
    const stale = row("fresh", "2025-01-01T00:00:00Z");
    const all = listSessions([fresh], [stale, other], "");
    expect(names(all)).toEqual(["fresh", "other"]);
    expect(all[0]?.title).toBe("Fix the total");
  });

  it("is searched by title, project, id and whether it is live", () => {
    const find = (text: string) => names(listSessions([other, fresh, old], [], text));
    expect(find("total shop")).toEqual(["fresh"]);
    expect(find("PAY")).toEqual(["old"]);
    expect(find("live")).toEqual(["old"]);
    expect(find("nothing")).toEqual([]);
  });

  it("names a project by the end of its path", () => {
    expect(lastPart("/home/me/shop/")).toBe("shop");
    expect(lastPart("C:\\work\\shop")).toBe("shop");
    expect(lastPart("/")).toBe("/");
  });
});

describe("the agents of a session", () => {
  const runs = (...rows: readonly Partial<RunRow>[]) => ({
    runs: new Map(rows.map((more, at) => [`r${at}`, run(`r${at}`, at, more)])),
  });

  it("are named in the order in which they began", () => {
    const model = runs({ agent_id: "a" }, { agent_id: "b", role: "sub_agent" }, { agent_id: "a" });
    expect(listAgents(model)).toEqual([
      { agent_id: "a", name: "a" },
      { agent_id: "b", name: "b (sub agent)" },
    ]);
    expect(findVersion(model, "a")).toBe(2);
    expect(findVersion(model, undefined)).toBe(0);
  });

  it("begin with the one the user talks with", () => {
    const usage = { requests: 2, cost: null };
    expect(mainAgent(runs())).toBeUndefined();
    expect(mainAgent(runs({ agent_id: "a" }, { agent_id: "b" }))).toBe("b");
    expect(mainAgent(runs({ agent_id: "a", usage }, { agent_id: "b" }))).toBe("a");
    const child = { agent_id: "c", usage, parent_run_id: "r0" };
    expect(mainAgent(runs({ agent_id: "a", usage }, child))).toBe("a");
  });
});

function names(rows: readonly SessionRow[]): string[] {
  return rows.map(({ session_id }) => session_id);
}

function row(session_id: string, updated_at: string, more: Partial<SessionRow> = {}): SessionRow {
  return { session_id, created_at: updated_at, updated_at, last_seq: 1, ...more };
}

function live(project: string): NonNullable<SessionRow["live"]> {
  return { pid: 1, project, runs: [], questions: 0 };
}

function run(run_id: string, seq: number, more: Partial<RunRow>): RunRow {
  return {
    run_id,
    agent_id: "a",
    status: "running",
    seq,
    last_seq: seq,
    started_at: 0,
    facts: 1,
    calls: 0,
    surfaces: 1,
    ...more,
  };
}
