// A text in all conversations: as far back as one request looks, with nothing secret in it, by counting what it asks of the
// store.

import { setImmediate as nextTurn } from "node:timers/promises";
import { createRedactor } from "@soong/core";
import type { TranscriptSearch } from "@soong/inspector";
import type { NodeSearchPage, Store } from "@soong/store";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  cutExcerpt,
  MOST_STEPS,
  searchTranscripts,
} from "../../packages/inspector/src/server/search-transcripts.ts";
import { createFactWriter, problemIn, serveHome, type ServedHome } from "./served-home.ts";

const NODES = 50_000;
const BATCH = 500;
const SECRET = "hunter2-very-secret-value";

let home: ServedHome;

beforeAll(async () => {
  home = await serveHome({
    redactor: createRedactor({ secrets: [{ name: "KEY", value: SECRET }] }),
  });
  for (const session_id of ["old", "new"]) {
    const session = await home.store.createSession({ session_id, title: `The ${session_id} one` });
    const writer = createFactWriter(session);
    for (let at = 0; at < NODES / 2; at += BATCH) {
      const nodes = Array.from({ length: BATCH }, (_, i) => {
        const role = i % 2 === 0 ? "user" : "assistant";
        return writer.node(
          { node_id: `${session_id}_${at + i}`, data: { role } },
          say(at + i, session_id),
        );
      });
      writer.add({}, nodes);
      await session.journal.flush();
      await nextTurn();
    }
    await session.close();
  }
});

afterAll(() => home.close());

/** Words that differ; one that is said at the very beginning, and some that are said often. */
function say(n: number, session_id: string): string {
  if (n === 0 && session_id === "old")
    return "first line\nthe <b>Kestrel</b> was the first\nlast line";
  if (n === NODES / 2 - 3) return `my key is ${SECRET}, keep it`;
  return n % 10 === 0 ? `an often said thing ${n}` : `message ${n} of ${session_id}`;
}

function countSteps(store: Store) {
  const asked: NodeSearchPage[] = [];
  return {
    asked,
    store: {
      searchNodes: (text: string, page: NodeSearchPage = {}) => {
        asked.push(page);
        return store.searchNodes(text, page);
      },
      readSession: (id: string) => store.readSession(id),
    },
  };
}

const redact = (text: string): string => text;

describe("a search through 50 000 messages", () => {
  it("looks at a bounded number of them a request, and finds the oldest by continuing", async () => {
    verifies("UI-1", "RESULT-5");
    const { store, asked } = countSteps(home.store);
    const pages: TranscriptSearch[] = [];
    let before: number | undefined;
    do {
      const { signal } = new AbortController();
      const page = await searchTranscripts(store, { text: "kestrel", before, redact, signal });
      pages.push(page);
      before = page.next === undefined ? undefined : Number(page.next);
      expect(asked.length).toBeLessThanOrEqual(pages.length * MOST_STEPS);
    } while (before !== undefined);
    expect(pages.map(({ hits }) => hits.length)).toEqual([0, 0, 1]);
    expect(asked).toHaveLength(NODES / 2000);
    expect(pages.every(({ searched_to }) => searched_to !== undefined)).toBe(true);
    expect(pages[2]?.hits[0]).toMatchObject({
      session_id: "old",
      title: "The old one",
      node_id: "old_0",
      who: "user",
      before: "the <b>",
      match: "Kestrel",
      after: "</b> was the first",
    });
  });

  it("asks the store once for a text that is said often, newest first", async () => {
    const { store, asked } = countSteps(home.store);
    const { signal } = new AbortController();
    const page = await searchTranscripts(store, {
      text: "OFTEN SAID",
      before: undefined,
      redact,
      signal,
    });
    expect(asked).toHaveLength(1);
    expect(page.hits).toHaveLength(20);
    expect(page.hits[0]?.node_id).toBe(`new_${NODES / 2 - 10}`);
    expect(page.next).toBeDefined();
  });

  it("ends between two steps when no one waits any more", async () => {
    const { store, asked } = countSteps(home.store);
    const leaving = new AbortController();
    const searching = searchTranscripts(
      {
        ...store,
        searchNodes(...given) {
          leaving.abort();
          return store.searchNodes(...given);
        },
      },
      { text: "kestrel", before: undefined, redact, signal: leaving.signal },
    );
    await expect(searching).rejects.toThrow("aborted");
    expect(asked).toHaveLength(1);
  });

  it("shows no secret, and does not find one", async () => {
    verifies("REDACT-1");
    const shown = await home.get<TranscriptSearch>("/api/search?q=my+key+is");
    expect(shown.hits).toHaveLength(1);
    expect(JSON.stringify(shown)).not.toContain("hunter2");
    const sought = await home.get<TranscriptSearch>("/api/search?q=hunter2-very");
    expect(sought.hits).toEqual([]);
  });

  it("needs a text, and a place that it gave", async () => {
    for (const query of ["", "?q=", "?q=a&before=-1", "?q=a&before=x", "?q=a&other=1"]) {
      const answered = await home.ask(`/api/search${query}`);
      expect([query, answered.status]).toEqual([query, 400]);
      expect(problemIn(answered).error.code).toBe("bad_request");
    }
  });
});

describe("the line of a match", () => {
  it("is cut around it, and hides a secret whole before that", () => {
    const long = `${"x".repeat(300)} needle ${"y".repeat(300)}`;
    const { before, match, after } = cutExcerpt({ text: long, at: 301 }, "NEEDLE", redact) ?? {};
    expect([before?.length, match, after?.length]).toEqual([81, "needle", 201]);
    expect([before?.[0], after?.at(-1)]).toEqual(["…", "…"]);
    const hide = (text: string): string => text.replaceAll(/secret-\w+/g, "[hidden]");
    const text = `needle secret-${"a".repeat(400)}`;
    expect(cutExcerpt({ text, at: 0 }, "needle", hide)?.after).toBe(" [hidden]");
    expect(cutExcerpt({ text, at: 7 }, "secret-a", hide)).toBeUndefined();
    expect(cutExcerpt({ text: "\nneedle\n", at: 1 }, "needle", redact)).toEqual({
      before: "",
      match: "needle",
      after: "",
    });
  });
});
