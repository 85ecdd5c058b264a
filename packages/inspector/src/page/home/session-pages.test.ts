import { describe, expect, it } from "vitest";
import type { SessionRow } from "../../wire/session-records.ts";
import { joinPages } from "./session-pages.ts";

function row(session_id: string, minute: number): SessionRow {
  const updated_at = `2026-03-01T12:${String(minute).padStart(2, "0")}:00.000Z`;
  return { session_id, created_at: updated_at, updated_at, last_seq: 1 };
}

describe("pages of sessions", () => {
  it("keep what was loaded beyond the first page, which is always as it is now", () => {
    const known = { sessions: [row("c", 30), row("b", 20), row("a", 10)], next: "after a" };
    // A new one pushes b off the first page, and a was used again.
    const first = { sessions: [row("new", 50), row("a", 40), row("c", 30)], next: "after c" };
    const joined = joinPages(first, known);
    expect(joined?.sessions.map(({ session_id }) => session_id)).toEqual(["new", "a", "c", "b"]);
    expect(joined?.next).toBe("after a");
  });

  it("drop what the first page would have and does not: it no longer matches", () => {
    const known = { sessions: [row("c", 30), row("b", 20), row("a", 10)], next: "after a" };
    const first = { sessions: [row("c", 30), row("a", 10)], next: "after a" };
    expect(joinPages(first, known)?.sessions.map(({ session_id }) => session_id)).toEqual([
      "c",
      "a",
    ]);
    expect(joinPages({ sessions: [row("c", 30)] }, known)).toEqual({ sessions: [row("c", 30)] });
  });

  it("are the first alone until another is loaded, and nothing before that", () => {
    expect(joinPages(undefined, undefined)).toBeUndefined();
    const first = { sessions: [row("c", 30)], next: "after c" };
    expect(joinPages(first, undefined)).toBe(first);
  });
});
