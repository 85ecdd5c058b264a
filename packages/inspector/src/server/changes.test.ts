import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { defineTool } from "@soong/core";
import { openStore, StoreError, type Store } from "@soong/store";
import { verifies } from "#laws";
import {
  createFactWriter,
  keepSession,
  problemIn,
  type ServedHome,
  serveHome,
  TOKEN,
} from "../../../../test/inspector/served-home.ts";
import { bundleStore } from "../../../../test/store/store-bundle.ts";
import type { Changes, Question } from "../wire/home-records.ts";
import type { FactRows, Lane, RunRow } from "../wire/session-records.ts";
import type { LivePort, LiveState } from "./ports.ts";
import type { InspectorOptions } from "./serve-inspector.ts";

let home: ServedHome;
afterEach(() => home.close());

async function serve(options?: Partial<InspectorOptions>): Promise<void> {
  home = await serveHome(options);
}

function news(asked: { cursor?: string; session_id?: string; hold?: "1" }): Promise<Changes> {
  return home.get(`/api/changes?${new URLSearchParams(asked).toString()}`);
}

/** Asks until there is nothing more right now, as a page does. */
async function allNews(session_id: string, cursor = "") {
  const runs = new Map<string, RunRow>();
  const lanes = new Map<number, Lane>();
  const answers: Changes[] = [];
  for (let at = cursor; ;) {
    const answer = await news({ session_id, cursor: at });
    answers.push(answer);
    for (const run of answer.session?.runs ?? []) runs.set(run.run_id, run);
    for (const lane of answer.session?.lanes ?? []) lanes.set(lane.seq, lane);
    at = answer.cursor;
    if (answer.session?.more !== true) return { runs, lanes, answers, cursor: at };
  }
}

/** Until also the list of sessions has received everything, and nothing is new any more. */
async function settled(session_id: string): Promise<{ cursor: string }> {
  const all = await allNews(session_id);
  const { last_seq } = all.answers.at(-1)?.session?.session ?? { last_seq: 0 };
  const isListed = ({ home: state }: Changes): boolean =>
    Boolean(
      state?.sessions.some((row) => row.session_id === session_id && row.last_seq === last_seq),
    );
  const answer =
    all.answers.find(isListed) ?? (await waitFor({ session_id, cursor: all.cursor }, isListed));
  return { cursor: answer === all.answers[0] ? all.cursor : answer.cursor };
}

/** Waits, as a page does, until an answer has what is looked for. Each answer may tell of something else. */
async function waitFor(
  asked: { cursor: string; session_id?: string },
  isIt: (answer: Changes) => boolean,
): Promise<Changes> {
  for (let { cursor } = asked; ;) {
    const answer = await news({ ...asked, cursor, hold: "1" });
    if (isIt(answer)) return answer;
    ({ cursor } = answer);
  }
}

/** A live port whose state the test sets. */
function livePort() {
  const listeners = new Set<() => void>();
  const attendance: string[] = [];
  let waiting: { word: string; go: () => void } | undefined;
  let state: LiveState = { sessions: new Map(), questions: [], grants: [], problems: [] };
  const tell = (word: string): void => {
    attendance.push(word);
    if (waiting?.word === word) waiting.go();
  };
  const port: LivePort = {
    state: () => state,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    attend: () => tell("attend"),
    leave: () => tell("leave"),
    answer: async () => undefined,
    revoke: async () => undefined,
    abort: async (_session_id, run_id) => [run_id],
  };
  return {
    port,
    attendance,
    listeners,
    become(next: Partial<LiveState>) {
      state = { ...state, ...next };
      for (const listener of listeners) listener();
    },
    /** Settles with the next call of that name. */
    until: (word: string) =>
      new Promise<void>((go) => {
        waiting = { word, go };
      }),
  };
}

const QUESTION = {
  kind: "elicitation",
  question_id: "q1",
  session_id: "s1",
  pid: 7,
  project: "/project",
  asked_at: "2026-01-01T00:00:00.000Z",
  request: { message: "which?", tool_name: "t", tool_call_id: "c1" },
} as unknown as Question;

describe("what is new", () => {
  test("is everything at first, then nothing, then what another handle has committed", async () => {
    verifies("UI-1", "EVENT-4");
    await serve();
    const written = await keepSession(home.store);
    const { kept, session } = written;
    const { session_id } = kept;
    const run = await session.startRun();
    await run.call("test.echo", { text: "one" });
    await kept.journal.flush();
    const first = await allNews(session_id);
    expect(first.answers[0]?.home?.sessions).toMatchObject([
      { session_id, title: "a session", project: "/project" },
    ]);
    expect(first.runs.size).toBe(1);
    const [runId] = first.runs.keys();
    expect([...first.lanes.values()]).toMatchObject([{ tool_name: "test.echo", state: "ended" }]);
    const again = await news({ session_id, cursor: first.cursor });
    expect(Object.keys(again)).toEqual(["cursor"]);

    const held = waitFor({ session_id, cursor: again.cursor }, ({ session: changed }) =>
      Boolean(changed?.runs.some(({ status }) => status === "completed")),
    );
    await run.call("test.echo", { text: "two" });
    run.end("completed");
    await kept.journal.flush();
    expect((await held).session?.runs).toMatchObject([{ run_id: runId }]);
    const whole = await allNews(session_id);
    expect(whole.lanes.size).toBe(2);
    expect(whole.answers.at(-1)?.session).toMatchObject({
      read_seq: (await kept.reader.record()).last_seq,
      session: { session_id },
    });
    await written.close();
  });

  test("is what another process writes while a page waits for it", async () => {
    verifies("UI-1", "EVENT-4");
    const bundle = await bundleStore();
    const directory = await bundle.place();
    await serve({ store: () => openStore({ directory, readOnly: true }) });
    const writer = bundle.start("write", { directory, session_id: "w1", entries: 40 });
    expect(await writer.next()).toEqual({ ready: true });
    const before = await allNews("w1");
    const held = waitFor({ session_id: "w1", cursor: before.cursor }, ({ session }) =>
      Boolean(session && session.session.last_seq > 0),
    );
    writer.say("go");
    await held;
    expect(await writer.ended()).toMatchObject({ code: 0 });
    const end = await allNews("w1");
    expect(end.answers.at(-1)?.session).toMatchObject({ read_seq: 120, more: false });
    await bundle.remove();
  });

  test("comes in bounded parts that together are everything, however long the journal", async () => {
    verifies("UI-1");
    await serve();
    const kept = await home.store.createSession();
    const pen = createFactWriter(kept);
    const CALLS = 2500;
    const of = { run_id: "r1", agent_id: "a1" };
    pen.add({ ...of, type: "run.started" });
    for (let i = 0; i < CALLS; i += 1) {
      const call = { ...of, tool_call_id: `c${i}`, tool_name: "test.echo" };
      pen.add({ ...call, type: "tool.requested", data: { model_input: "{}" } });
      pen.add({ ...call, type: "tool.started" });
    }
    await kept.journal.flush();
    const { answers, lanes, runs } = await allNews(kept.session_id);
    expect(answers.length).toBeGreaterThanOrEqual(3);
    for (const { session } of answers) {
      expect(session?.lanes.length).toBeLessThanOrEqual(1000);
      expect(session?.read_seq).toBeLessThanOrEqual(1 + 2 * CALLS);
    }
    expect([...lanes.keys()].toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: CALLS }, (_, i) => 2 + 2 * i),
    );
    expect(runs.get("r1")).toMatchObject({ calls: CALLS, facts: 1 + 2 * CALLS });
    expect(answers.at(-1)?.session?.read_seq).toBe(1 + 2 * CALLS);
    const page = `/api/sessions/${kept.session_id}/facts?run_id=r1&offset=4990&limit=1000`;
    const rows = await home.get<FactRows>(page);
    expect(rows).toMatchObject({ total: 1 + 2 * CALLS, offset: 4990 });
    expect(rows.rows.map(({ seq }) => seq)).toEqual(Array.from({ length: 11 }, (_, i) => 4991 + i));
    await kept.close();
  });

  test("is everything again for a cursor of another session, another server, or none at all", async () => {
    verifies("UI-1");
    await serve();
    const one = await keepSession(home.store);
    const other = await keepSession(home.store);
    for (const { session, kept } of [one, other]) {
      await session.startRun();
      await kept.journal.flush();
    }
    const { cursor } = await allNews(one.kept.session_id);
    const there = await news({ session_id: other.kept.session_id, cursor });
    expect(there.home).toBeUndefined();
    expect(there.session?.runs).toHaveLength(1);
    const [server = "", ...rest] = cursor.split(".");
    const foreign = [server.replaceAll(/./gu, "0"), ...rest].join(".");
    const far = [server, "1", rest[1], "999999", rest[3]].join(".");
    for (const nonsense of ["", "x", "....", foreign, `${server}.1.x.1.`, "%00", `-1.${cursor}`]) {
      const answer = await news({ session_id: one.kept.session_id, cursor: nonsense, hold: "1" });
      expect(answer.home?.sessions).toHaveLength(2);
      expect(answer.session?.runs).toHaveLength(1);
    }
    expect(
      (await news({ session_id: one.kept.session_id, cursor: far })).session?.runs,
    ).toHaveLength(1);
    await one.close();
    await other.close();
  });

  test("of a session that is removed meanwhile is that it is gone", async () => {
    verifies("UI-1");
    await serve();
    const written = await keepSession(home.store);
    await written.close();
    const { session_id } = written.kept;
    const { cursor } = await allNews(session_id);
    const path = `/api/changes?session_id=${session_id}&cursor=${cursor}&hold=1`;
    const held = home.ask(path);
    await home.store.removeSession(session_id);
    // The list of sessions may be notified first.
    for (let answered = await held; ; answered = await home.ask(path)) {
      if (answered.status === 200) continue;
      expect(answered.status).toBe(404);
      const { error } = problemIn(answered);
      expect(error.code).toBe("not_found");
      expect(error.message).toContain("was removed");
      break;
    }
    for (const rest of [
      "facts?offset=0&limit=9",
      "facts/1",
      "calls/c",
      "artifacts",
      "conversation?agent_id=a",
    ]) {
      const answered = await home.ask(`/api/sessions/${session_id}/${rest}`);
      expect([rest, answered.status]).toEqual([rest, 404]);
    }
  });

  test("is nothing in a home that has never kept anything, until it has", async () => {
    verifies("UI-1");
    let opened: Store | undefined;
    await serve({ store: async () => opened });
    const first = await news({});
    expect(first.home?.sessions).toEqual([]);
    expect(await home.get("/api/sessions")).toEqual({ sessions: [] });
    const none = await home.ask("/api/sessions/s1/facts?offset=0&limit=1");
    expect(problemIn(none).error).toEqual({
      code: "not_found",
      message: "Nothing is kept in this home yet.",
    });
    const held = waitFor(
      { cursor: first.cursor },
      ({ home: state }) => state?.sessions.length === 1,
    );
    await (await keepSession(home.store)).close();
    opened = await openStore({ directory: join(home.directory, "home"), readOnly: true });
    await held;
  });

  test("names what cannot be read, and what does not answer", async () => {
    verifies("UI-1");
    const live = livePort();
    live.become({ problems: ["Process 7 does not answer."] });
    await serve({
      store: () =>
        Promise.reject(new StoreError("store_too_new", "A newer Soong made this store.")),
      ports: {
        live: live.port,
        tasks: {
          list: () => Promise.reject(new Error("no")),
          graph: () => Promise.reject(new Error("no")),
          version: () => Promise.reject(new Error("broken\n  at secret (file.js:1)")),
        },
      },
    });
    const { home: state } = await news({});
    expect(state?.problems).toEqual([
      "Process 7 does not answer.",
      "The inspector could not answer: broken. Try again, or restart it.",
      "A newer Soong made this store.",
    ]);
    const failed = await home.ask("/api/sessions/s/facts?offset=0&limit=1");
    expect(problemIn(failed).error).toEqual({
      code: "failed",
      message: "A newer Soong made this store.",
    });
  });

  test("of a session that cannot be read is that, beside what else is asked, until it can be read", async () => {
    verifies("UI-1", "PERM-6");
    const live = livePort();
    live.become({ questions: [QUESTION] });
    let isDamaged = true;
    await serve({
      ports: { live: live.port },
      store: async () => {
        const opened = await openStore({ directory: join(home.directory, "home"), readOnly: true });
        const readSession: Store["readSession"] = async (session_id) => {
          const reader = await opened.readSession(session_id);
          const damaged = new StoreError("store_corrupted", "Fact 3 is not what was written.");
          return {
            ...reader,
            facts: (page) => (isDamaged ? Promise.reject(damaged) : reader.facts(page)),
          };
        };
        return { ...opened, readSession };
      },
    });
    const one = await keepSession(home.store);
    const { session_id } = one.kept;
    await one.close();
    const first = await news({ session_id });
    const session_problem = "Fact 3 is not what was written.";
    expect(first).not.toHaveProperty("session");
    expect(first.session_problem).toBe(session_problem);
    expect(first.home?.questions).toHaveLength(1);
    expect(first.home?.problems).toEqual([session_problem]);
    const { cursor } = await settledHome(first);
    expect(await news({ session_id, cursor })).toEqual({ cursor, session_problem });

    isDamaged = false;
    const read = await news({ session_id, cursor });
    expect(read).not.toHaveProperty("session_problem");
    expect(read.session?.read_seq).toBe(read.session?.session.last_seq);
    expect(read.home?.problems).toEqual([]);
    expect(await news({ cursor: read.cursor })).not.toHaveProperty("home.problems.0");

    /** Until its list of sessions is as new as it gets. */
    async function settledHome(answer: Changes): Promise<Changes> {
      const next = await news({ session_id, cursor: answer.cursor });
      return next.home === undefined ? next : settledHome(next);
    }
  });

  test("sends live sessions and their questions at once, and tasks", async () => {
    verifies("UI-1");
    const live = livePort();
    let version = "a";
    await serve({
      ports: {
        live: live.port,
        tasks: {
          list: async () => ({ tasks: [] }),
          graph: () => Promise.reject(new Error("no")),
          version: async () => version,
        },
      },
    });
    const written = await keepSession(home.store);
    const { kept } = written;
    const { session_id } = kept;
    await kept.journal.flush();
    const first = await allNews(session_id);
    const tasks_version = first.answers[0]?.home?.tasks_version ?? Number.NaN;
    const held = waitFor({ session_id, cursor: first.cursor }, ({ home: state }) =>
      Boolean(state && state.questions.length > 0),
    );
    const row = { pid: 7, project: "/project", runs: [], questions: 1 };
    live.become({ questions: [QUESTION], sessions: new Map([[session_id, row]]) });
    const asked = await held;
    expect(asked.home).toMatchObject({ questions: [{ question_id: "q1" }], tasks_version });
    expect(asked.home?.sessions[0]?.live).toEqual(row);
    expect(asked.session?.session.live).toEqual(row);
    const next = waitFor({ session_id, cursor: asked.cursor }, ({ home: state }) =>
      Boolean(state && state.tasks_version > tasks_version),
    );
    version = "b";
    expect((await next).home?.tasks_version).toBe(tasks_version + 1);
    await written.close();
  });
});

describe("who looks", () => {
  test("counts as there while a page asks, and no longer once it has been away for a while", async () => {
    verifies("UI-1");
    const live = livePort();
    await serve({ ports: { live: live.port }, graceMs: 50 });
    await home.get("/api/about");
    expect(live.attendance).toEqual([]);
    const left = live.until("leave");
    const { cursor } = await news({});
    expect(live.attendance[0]).toBe("attend");
    await left;
    expect(live.attendance).toEqual(["attend", "leave"]);

    const there = live.until("attend");
    const socket = await hold(`/api/changes?hold=1&cursor=${cursor}`);
    await there;
    const away = live.until("leave");
    socket.destroy();
    await away;
    expect(live.attendance).toEqual(["attend", "leave", "attend", "leave"]);
  });

  test("is still there after a reload, and gone when the inspector ends", async () => {
    verifies("UI-1");
    const live = livePort();
    await serve({ ports: { live: live.port }, graceMs: 60_000 });
    const { cursor } = await news({});
    const socket = await hold(`/api/changes?hold=1&cursor=${cursor}`);
    socket.destroy();
    await news({});
    expect(live.attendance).toEqual(["attend"]);
    await home.inspector.close();
    expect(live.attendance).toEqual(["attend", "leave"]);
    expect(live.listeners.size).toBe(0);
  });

  test("does not hold up others: not by waiting, not by being many, not by never reading", async () => {
    verifies("EVENT-4", "UI-1");
    await serve();
    const written = await keepSession(home.store, [loud]);
    const { kept, session } = written;
    const { session_id } = kept;
    const run = await session.startRun();
    for (let i = 0; i < 20; i += 1) await run.call("test.loud", {});
    await kept.journal.flush();
    const { cursor } = await settled(session_id);
    // They ask for much, and read nothing of it.
    const deaf: Socket[] = [];
    for (let i = 0; i < 20; i += 1) {
      const socket = await hold(`/api/sessions/${session_id}/facts?offset=0&limit=1000`);
      socket.pause();
      deaf.push(socket);
    }
    const path = `/api/changes?hold=1&session_id=${session_id}&cursor=${cursor}`;
    const waiting = Array.from({ length: 33 }, () => home.ask(path));
    // Nothing is new, so the first to be answered is the one too many.
    const refused = await Promise.race(waiting);
    expect(refused.status).toBe(503);
    expect(problemIn(refused).error.message).toContain("32 pages are waiting");
    // The run continues, and those who read hear of it.
    await run.call("test.loud", {});
    run.end("completed");
    await kept.journal.flush();
    const answers = await Promise.all(waiting);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(32);
    expect(
      (await home.get<FactRows>(`/api/sessions/${session_id}/facts?offset=0&limit=1`)).total,
    ).toBe((await kept.reader.record()).last_seq);
    for (const socket of deaf) socket.destroy();
    await written.close();
  });

  test("is let go at once when the inspector ends", async () => {
    verifies("UI-1");
    await serve({ holdMs: 600_000 });
    const { cursor } = await news({});
    const ends: Promise<unknown>[] = [];
    for (let i = 0; i < 5; i += 1) {
      const socket = await hold(`/api/changes?hold=1&cursor=${cursor}`);
      ends.push(
        new Promise((resolve) => {
          socket.once("close", resolve);
        }),
      );
    }
    await home.inspector.close();
    await Promise.all(ends);
    await home.inspector.close();
    await expect(home.ask("/")).rejects.toThrow("ECONNREFUSED");
  });
});

const loud = defineTool({
  name: "test.loud",
  description: "Says much",
  input_schema: { type: "object" },
  permission: "readonly",
  handler: () => "x".repeat(60_000),
});

/** Asks, and leaves the answer where it is. */
function hold(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(home.inspector.port, "127.0.0.1", () => {
      socket.off("error", reject);
      socket.on("error", () => undefined);
      const head = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${home.inspector.port}\r\n`;
      socket.write(`${head}authorization: Bearer ${TOKEN}\r\n\r\n`, () => resolve(socket));
    });
    socket.once("error", reject);
  });
}
