import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineTool } from "@soong/core";
import type { Store } from "@soong/store";
import { verifies } from "#laws";
import {
  createFactWriter,
  echo,
  keepSession,
  type KeptSession,
  problemIn,
  type ServedHome,
  serveHome,
} from "../../../../test/inspector/served-home.ts";
import type {
  ArtifactList,
  ArtifactMatches,
  ArtifactPage,
  CallStory,
  Conversation,
  FactRows,
  SessionList,
  SurfaceMatches,
  SurfaceView,
  WholeFact,
} from "../wire/session-records.ts";
import type { Changes } from "../wire/home-records.ts";
import { InspectorError, type InspectorPorts } from "./ports.ts";

const asked: unknown[] = [];
const ports: InspectorPorts = {
  live: {
    state: () => ({ sessions: new Map(), questions: [], grants: [], problems: [] }),
    onChange: () => () => undefined,
    attend: () => undefined,
    leave: () => undefined,
    async answer(...given) {
      asked.push(given);
      if (given[1] === "late") throw new InspectorError("settled", "Somebody else has answered.");
    },
    async revoke(...given) {
      asked.push(given);
    },
    async abort(...given) {
      asked.push(given);
      throw new InspectorError("gone", "Its process has ended.");
    },
  },
  servers: {
    list: async () => ({ servers: [] }),
    async connect(server_id) {
      asked.push(["connect", server_id]);
      throw new InspectorError("bad_request", "mcp.json names no such server.");
    },
    tool: () => Promise.reject(new InspectorError("not_found", "It had no such tool.")),
    log: async (server_id) => ({ file: `${server_id}.log`, text: "ready\n", omitted: 0 }),
    async accept(server_id, shown) {
      asked.push([server_id, shown]);
      return { accepted: shown };
    },
  },
  playground: {
    tools: async () => ({ cwd: "/", tools: [], problems: [] }),
    explain: () => Promise.reject(new TypeError("x is undefined\n    at file.js:1:1")),
    async call(tool_name, input) {
      asked.push([tool_name, input]);
      return { session_id: "s", run_id: "r" };
    },
    ended: () => Promise.reject(new InspectorError("not_found", "There is no such call.")),
    history: async () => ({ calls: [] }),
  },
};

let home: ServedHome;
let one: KeptSession;
let at: string;
beforeAll(async () => {
  home = await serveHome({ ports });
  one = await keepSession(home.store, [echo, long]);
  at = `/api/sessions/${one.kept.session_id}`;
});
afterAll(async () => {
  await one.close();
  await home.close();
});

const long = defineTool({
  name: "test.long",
  description: "Says more than fits",
  input_schema: { type: "object" },
  permission: "readonly",
  handler: () => Array.from({ length: 20_000 }, (_, i) => `line ${i} grüße`).join("\n"),
});

async function refusal(path: string, asking?: Parameters<ServedHome["ask"]>[1]) {
  const answered = await home.ask(path, asking);
  return { status: answered.status, ...problemIn(answered).error };
}

describe("the records of a session", () => {
  test("are its facts by place, its calls, conversation, surface and artifacts", async () => {
    verifies("UI-1");
    const run = await one.session.startRun();
    await run.execute([
      { id: "c1", name: "test.echo", arguments: { text: "first" } },
      { id: "c2", name: "test.echo", arguments: { nothing: true } },
      { id: "c3", name: "test.long", arguments: {} },
    ]);
    const { run_id } = run.identity;
    run.end("completed");
    const second = await one.session.startRun();
    await second.execute([{ id: "c1", name: "test.echo", arguments: { text: "second" } }]);
    await one.kept.journal.flush();

    const all = await home.get<FactRows>(`${at}/facts?offset=0&limit=1000`);
    expect(all.rows.map(({ seq }) => seq)).toEqual(all.rows.map((_, i) => i + 1));
    expect(all.total).toBe(all.rows.length);
    const some = await home.get<FactRows>(`${at}/facts?offset=3&limit=2`);
    expect(some).toEqual({ total: all.total, offset: 3, rows: all.rows.slice(3, 5) });
    expect((await home.get<FactRows>(`${at}/facts?offset=${all.total}&limit=9`)).rows).toEqual([]);
    const own = all.rows.filter((row) => row.run_id === run_id);
    const ofRun = await home.get<FactRows>(`${at}/facts?offset=1&limit=1000&run_id=${run_id}`);
    expect(ofRun).toEqual({ total: own.length, offset: 1, rows: own.slice(1) });
    const whole = await home.get<WholeFact>(`${at}/facts/${own[0]?.seq ?? 0}`);
    expect(whole.fact).toMatchObject({ seq: own[0]?.seq, run_id });
    expect(whole.fact.prev_hash).toBeTypeOf("string");

    const first = await home.get<CallStory>(`${at}/calls/c1?run_id=${run_id}`);
    expect(JSON.parse(first.inputs.model_input)).toEqual({ text: "first" });
    expect(first.result?.status).toBe("succeeded");
    expect(first.model_view).toEqual([{ type: "text", text: "first" }]);
    const newest = await home.get<CallStory>(`${at}/calls/c1`);
    expect(JSON.parse(newest.inputs.model_input)).toEqual({ text: "second" });
    expect((await home.get<CallStory>(`${at}/calls/c2`)).result?.is_error).toBe(true);

    const surface = await home.get<SurfaceView>(`${at}/runs/${run_id}/surface`);
    expect(surface.tools.map(({ tool_name }) => tool_name)).toContain("test.echo");
    const found = await home.get<SurfaceMatches>(`${at}/runs/${run_id}/search?q=echo`);
    expect(found.matches[0]?.tool_name).toBe("test.echo");

    const { artifacts } = await home.get<ArtifactList>(`${at}/artifacts?tool_call_id=c3`);
    expect(artifacts).toHaveLength(1);
    const id = artifacts[0]?.artifact_id ?? "";
    const page = await home.get<ArtifactPage>(`${at}/artifacts/${id}?length=1000`);
    expect(page).toMatchObject({ offset: 0, line: 1, artifact: { artifact_id: id } });
    const next = await home.get<ArtifactPage>(
      `${at}/artifacts/${id}?offset=${page.next_offset ?? 0}&length=100`,
    );
    expect(next.line).toBe((page.text ?? "").split("\n").length);
    const matches = await home.get<ArtifactMatches>(`${at}/artifacts/${id}/search?q=line%2019999`);
    expect(matches).toMatchObject({
      is_cut: false,
      matches: [{ line: 20_000, text: "line 19999 grüße" }],
    });
    const many = await home.get<ArtifactMatches>(
      `${at}/artifacts/${id}/search?regex=1&q=${encodeURIComponent("^line \\d*7 ")}`,
    );
    expect(many.is_cut).toBe(true);
    expect(many.matches[1]).toMatchObject({ line: 18, text: "line 17 grüße" });
  });

  test("are not those of another session, and what is not there is said to be that", async () => {
    verifies("UI-1");
    const other = await keepSession(home.store);
    const run = await other.session.startRun();
    const { run_id } = run.identity;
    await other.kept.journal.flush();
    const { last_seq } = await one.kept.reader.record();
    for (const path of [
      "/api/sessions/nothing/facts?offset=0&limit=1",
      "/api/sessions/..%2F..%2Fetc/facts?offset=0&limit=1",
      "/api/sessions/%00/artifacts",
      `${at}/facts/${last_seq + 1}`,
      `${at}/facts?offset=0&limit=1&run_id=${run_id}`,
      `${at}/calls/nothing`,
      `${at}/calls/c1?run_id=${run_id}`,
      `${at}/runs/${run_id}/surface`,
      `${at}/runs/${run_id}/search?q=x`,
      `${at}/conversation?agent_id=nobody`,
      `${at}/artifacts/nothing`,
      `${at}/artifacts/..%2F..%2Fstore%2Fsoong.db`,
      `${at}/artifacts/nothing/search?q=x`,
    ]) {
      const refused = await refusal(path);
      expect([path, refused.status, refused.code]).toEqual([path, 404, "not_found"]);
      expect(refused.message).toMatch(/^[A-Z].+\.$/u);
    }
    await other.close();
  });

  test("are asked for in a right way, or it is said which part is wrong", async () => {
    verifies("UI-1");
    const cases: [string, RegExp][] = [
      [`${at}/facts?limit=1`, /^offset must be a whole number from 0/u],
      [`${at}/facts?offset=0`, /^limit must be a whole number from 1 to 1000/u],
      [`${at}/facts?offset=-1&limit=1`, /^offset/u],
      [`${at}/facts?offset=1e3&limit=1`, /^offset/u],
      [`${at}/facts?offset=0&limit=1001`, /^limit/u],
      [`${at}/facts?offset=0&limit=0`, /^limit/u],
      [`${at}/facts?offset=0&limit=1&offset=1`, /offset twice/u],
      [`${at}/facts?offset=0&limit=1&run=x`, /has "run"; it may have offset, limit, run_id/u],
      [`${at}/facts/0`, /^The number of a fact/u],
      [`${at}/facts/x`, /^The number of a fact/u],
      [`${at}/facts/%E0%A4%A`, /not encoded/u],
      [`${at}/conversation`, /needs agent_id/u],
      [`${at}/runs/r/surface?revision=x`, /^revision/u],
      ["/api/changes?hold=true", /^hold is 1 or omitted/u],
      ["/api/sessions?limit=501", /^limit/u],
      ["/api/sessions?after=x", /^after/u],
      [`/api/changes?cursor=${"x".repeat(5000)}`, /^cursor may have 4096/u],
      ["/api/about?x=1", /has "x"; it may have none/u],
    ];
    for (const [path, message] of cases) {
      const refused = await refusal(path);
      expect([path, refused.status, refused.code]).toEqual([path, 400, "bad_request"]);
      expect(refused.message).toMatch(message);
    }
    const { artifacts } = await home.get<ArtifactList>(`${at}/artifacts`);
    const id = artifacts.find(({ tool_call_id }) => tool_call_id === "c3")?.artifact_id ?? "";
    for (const query of [
      "/search",
      "/search?q=",
      "/search?q=(&regex=1",
      "/search?q=(?=x)&regex=1",
      "/search?q=(a{99}){40}&regex=1",
      "?length=0",
      "?offset=99999999",
    ]) {
      expect([query, (await refusal(`${at}/artifacts/${id}${query}`)).status]).toEqual([
        query,
        400,
      ]);
    }
  });

  test("include the whole of a call that reported its progress for hours, but for the middle", async () => {
    verifies("UI-1");
    const kept = await home.store.createSession();
    const writer = createFactWriter(kept);
    const call = { run_id: "r1", agent_id: "a1", tool_call_id: "c1", tool_name: "test.slow" };
    writer.add({ run_id: "r1", agent_id: "a1", type: "run.started" });
    writer.add({ ...call, type: "tool.requested", data: { model_input: "{}" } });
    for (let i = 0; i < 3000; i += 1) {
      writer.add({ ...call, type: "tool.progress", data: { message: `step ${i}` } });
      writer.add({ run_id: "r1", agent_id: "a1", type: "model.delta" });
    }
    writer.add({ ...call, type: "artifact.created" });
    // A fact of the session, not of the run.
    writer.add({
      tool_call_id: "c1",
      type: "change.undone",
      data: { of_run: "r1", path: "a.txt" },
    });
    await kept.journal.flush();
    const story = await home.get<CallStory>(`/api/sessions/${kept.session_id}/calls/c1`);
    expect(story.facts).toHaveLength(503);
    expect(story.facts[0]).toBe(2);
    expect(story.facts.at(-1)).toBe(6004);
    expect(story.progress.at(-1)?.text).toContain("step 2999");
    expect(story.notes.join(" ")).toContain("2500 facts in the middle of this call are omitted");
    await kept.close();
  });

  test("a fact that was removed is missing, and no other replaces it", async () => {
    verifies("UI-1");
    const store: Store = {
      ...home.store,
      async readSession(session_id) {
        const reader = await home.store.readSession(session_id);
        const facts: typeof reader.facts = async ({ limit = 1000, ...page } = {}) =>
          (await reader.facts({ ...page, limit: limit + 1 }))
            .filter(({ seq }) => seq !== 2)
            .slice(0, limit);
        return { ...reader, facts };
      },
    };
    const other = await serveHome({ store });
    expect((await other.ask(`${at}/facts/2`)).status).toBe(404);
    expect((await other.get<WholeFact>(`${at}/facts/3`)).fact.seq).toBe(3);
    await other.close();
  });

  test("a conversation is read from its end", async () => {
    verifies("UI-1");
    const kept = await home.store.createSession();
    const writer = createFactWriter(kept);
    const node = (i: number) =>
      writer.node({ node_id: `n${i}`, ...(i > 0 ? { parent_id: `n${i - 1}` } : {}) }, `say ${i}`);
    writer.add({ run_id: "run_1", agent_id: "agent_1", type: "run.started" }, [node(0)]);
    for (let i = 1; i < 500; i += 1)
      writer.add({ run_id: "run_1", agent_id: "agent_1" }, [node(i)]);
    await kept.journal.flush();
    const path = `/api/sessions/${kept.session_id}/conversation?agent_id=agent_1`;
    const said: string[] = [];
    for (let before = ""; ;) {
      const page = await home.get<Conversation>(before === "" ? path : `${path}&before=${before}`);
      said.unshift(...page.items.map(({ node_id }) => node_id));
      expect(page.older + said.length).toBe(500);
      if (page.older === 0) break;
      before = page.items[0]?.node_id ?? "";
    }
    expect(said).toEqual(Array.from({ length: 500 }, (_, i) => `n${i}`));
    await kept.close();
  });

  test("a run is called by what it was asked", async () => {
    verifies("UI-1");
    const kept = await home.store.createSession();
    const writer = createFactWriter(kept);
    const of = { run_id: "run_2", agent_id: "agent_1" };
    writer.add({ ...of, type: "run.started" }, [
      writer.node({ ...of, node_id: "n1" }, "Mend the roof\nand more"),
      writer.node({ ...of, node_id: "n2", parent_id: "n1", kind: "hook_context" }),
    ]);
    await kept.journal.flush();
    const path = `/api/changes?session_id=${kept.session_id}`;
    const before = await home.get<Changes>(path);
    expect(before.session?.runs[0]?.title).toBeUndefined();
    writer.add({ ...of, type: "model.started", data: { parent_node_id: "n2" } });
    await kept.journal.flush();
    const after = await home.get<Changes>(`${path}&cursor=${before.cursor}`);
    expect(after.session?.runs).toMatchObject([{ run_id: "run_2", title: "Mend the roof" }]);
    await kept.close();
  });

  test("the list of sessions continues where a page ended, newest first", async () => {
    verifies("UI-1");
    for (let i = 0; i < 5; i += 1) await (await keepSession(home.store)).close();
    const all = await home.get<SessionList>("/api/sessions");
    expect(all.next).toBeUndefined();
    const paged: string[] = [];
    for (let after: string | undefined; ;) {
      const query: Record<string, string> = {
        limit: "2",
        ...(after === undefined ? {} : { after }),
      };
      const page = await home.get<SessionList>(
        `/api/sessions?${new URLSearchParams(query).toString()}`,
      );
      paged.push(...page.sessions.map(({ session_id }) => session_id));
      after = page.next;
      if (after === undefined) break;
    }
    expect(paged).toEqual(all.sessions.map(({ session_id }) => session_id));
  });
});

describe("what is asked of the program", () => {
  const post = (path: string, body: unknown) =>
    refusal(path, { method: "POST", body: JSON.stringify(body) });

  test("reaches it as it was asked, and its refusals come back as sentences", async () => {
    verifies("UI-1");
    const answer = { decision: "allow_once", reason: "fine" };
    const given = await home.ask("/api/questions/q%2F1/answer", {
      method: "POST",
      body: JSON.stringify({ session_id: "s1", answer: { ...answer, more: 1 } }),
    });
    expect([given.status, given.text]).toEqual([200, "{}"]);
    expect(asked.pop()).toEqual(["s1", "q/1", answer]);
    const form = { action: "accept", content: { name: "x" } };
    await home.ask("/api/questions/q2/answer", {
      method: "POST",
      body: JSON.stringify({ session_id: "s1", answer: form }),
    });
    expect(asked.pop()).toEqual(["s1", "q2", form]);
    expect(await post("/api/questions/late/answer", { session_id: "s1", answer })).toMatchObject({
      status: 409,
      code: "settled",
      message: "Somebody else has answered.",
    });
    expect(await post("/api/runs/r1/abort", { session_id: "s1" })).toMatchObject({
      status: 410,
      code: "gone",
    });
    expect((await home.ask("/api/grants/g1?session_id=s1", { method: "DELETE" })).status).toBe(200);
    expect(asked.pop()).toEqual(["s1", "g1"]);
    const shown = [{ tool_name: "t", hash: "h", changes: ["a line"] }];
    const accepted = await home.ask("/api/servers/git/accept", {
      method: "POST",
      body: JSON.stringify({ shown }),
    });
    expect(accepted.json()).toEqual({ accepted: shown });
    expect(asked.pop()).toEqual(["git", shown]);
    for (const input of [null, false, "text", { a: [1] }]) {
      const body = JSON.stringify({ tool_name: "t", input });
      await home.ask("/api/playground/call", { method: "POST", body });
      expect(asked.pop()).toEqual(["t", input]);
    }
    const broken = await post("/api/playground/explain", { tool_name: "t", input: {} });
    expect(broken).toMatchObject({ status: 500, code: "failed" });
    expect(broken.message).toBe(
      "The inspector could not answer: x is undefined. Try again, or restart it.",
    );
  });

  test("is refused when it is no answer at all", async () => {
    verifies("UI-1");
    const before = asked.length;
    const answers = [
      undefined,
      null,
      "allow_once",
      {},
      { decision: "allow" },
      { decision: "ALLOW_ONCE" },
      { decision: ["allow_once"] },
      { decision: "deny", action: "accept" },
      { decision: "deny", reason: 5 },
      { action: "accept", content: [] },
      { action: "accept", content: "x" },
    ];
    for (const answer of answers) {
      const refused = await post("/api/questions/q1/answer", { session_id: "s1", answer });
      expect([JSON.stringify(answer), refused.status]).toEqual([JSON.stringify(answer), 400]);
    }
    const bodies: [string, unknown][] = [
      ["/api/questions/q1/answer", { answer: { decision: "deny" } }],
      ["/api/questions/q1/answer", { session_id: 5, answer: { decision: "deny" } }],
      ["/api/runs/r1/abort", {}],
      ["/api/runs/r1/abort", []],
      ["/api/playground/call", { input: {} }],
      ["/api/playground/call", { tool_name: "t" }],
      ["/api/servers/git/accept", {}],
      ["/api/servers/git/accept", { shown: {} }],
      ["/api/servers/git/accept", { shown: [{ tool_name: "t", hash: "h", changes: [1] }] }],
      ["/api/servers/git/accept", { shown: [{ tool_name: "t", changes: [] }] }],
      ["/api/what-if", { run_id: "r" }],
      ["/api/what-if", { config_file: "c.toml" }],
      ["/api/what-if", { run_id: "r", config_file: "c.toml", rule: { toml: "" } }],
      ["/api/what-if/all", {}],
      ["/api/what-if/all", { rule: { toml: "x" }, after: 5 }],
      ["/api/policy/rule/check", {}],
      ["/api/policy/rule/check", { toml: 5 }],
      ["/api/policy/rule/check", { toml: "x".repeat(20_001) }],
      ["/api/policy/rule/check", { toml: "x", fields: {} }],
      ["/api/policy/rule/check", { fields: { tool: { a: 1 } } }],
      ["/api/policy/rule/check", { fields: { argv: [1] } }],
      ["/api/policy/rule/write", { rule: { toml: "x" } }],
      ["/api/policy/rule/write", { rule: "x", shown: "h" }],
    ];
    for (const [path, body] of bodies) {
      expect([path, (await post(path, body)).status]).toEqual([path, 400]);
    }
    expect(await refusal("/api/grants/g1", { method: "DELETE" })).toMatchObject({ status: 400 });
    expect(asked).toHaveLength(before);
  });

  test("is not offered where this inspector was not given it", async () => {
    verifies("UI-1");
    expect(await home.get("/api/about")).toMatchObject({
      can: {
        answer: true,
        playground: true,
        what_if: false,
        policy: false,
        servers: true,
        tasks: false,
      },
    });
    const whatIf = { run_id: "r", config_file: "c.toml" };
    expect(await post("/api/what-if", whatIf)).toMatchObject({ status: 501, code: "unsupported" });
    const write = { rule: { toml: "x" }, shown: "h" };
    expect(await post("/api/policy/rule/write", write)).toMatchObject({ status: 501 });
    expect(await refusal("/api/policy")).toMatchObject({ status: 501 });
    expect(await refusal("/api/tasks")).toMatchObject({
      status: 501,
      message: "In this inspector tasks are not shown.",
    });
    expect(await refusal("/api/tasks/t1")).toMatchObject({ status: 501 });
  });
});
