// SEARCH-1 and SEARCH-2: what is deferred, and how internal.search_tools finds it.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { anyCharacter } from "../any-character.ts";
import { setStage, type StageOptions } from "./drive.ts";
import { found, github, search, shown, sized } from "./searching.ts";
import { declared, noRoom, ownSource, server } from "./sources.ts";
import { reader, writer } from "./world.ts";

describe("deferral", () => {
  const namesOf = async (options: StageOptions) => {
    const { surface } = (await setStage(options)).run;
    return surface.deferred.map(({ name }) => name);
  };

  it("comes with the budget: nothing is deferred that fits", async () => {
    verifies("SEARCH-1");
    const sources = [server("s", ["a", "b"])];
    expect(await namesOf({ sources })).toEqual([]);
    const big = [server("s", [sized("mcp.s.a", 20_000), sized("mcp.s.b", 19_000), "c"])];
    expect(await namesOf({ sources: big }), "39 000 characters are within 10 000 tokens").toEqual(
      [],
    );
    const over = [server("s", [sized("mcp.s.a", 21_000), sized("mcp.s.b", 20_000), "c"])];
    expect(await namesOf({ sources: over })).toEqual(["mcp.s.a"]);
  });

  it("takes servers' tools first, the largest first, then the others that may wait", async () => {
    verifies("SEARCH-1");
    const options = (defer_budget_tokens: number): StageOptions => ({
      tools: [sized("notes.huge", 9000), sized("code.edit", 9000)],
      sources: [
        server("s", [
          sized("mcp.s.small", 1000),
          sized("mcp.s.large", 3000),
          sized("mcp.s.mid", 2000),
        ]),
        declared("d", [sized("jira.list", 8000)]),
      ],
      config: { tools: { defer_budget_tokens } },
    });
    expect(await namesOf(options(8500))).toEqual([]);
    expect(await namesOf(options(8000))).toEqual(["mcp.s.large"]);
    expect(await namesOf(options(7200))).toEqual(["mcp.s.large", "mcp.s.mid"]);
    expect(await namesOf(options(6000))).toEqual([
      "mcp.s.large",
      "mcp.s.mid",
      "mcp.s.small",
      "jira.list",
    ]);
    expect(await namesOf(options(0))).toEqual([
      "mcp.s.large",
      "mcp.s.mid",
      "mcp.s.small",
      "jira.list",
      "notes.huge",
    ]);
  });

  it("leaves always_load tools and the built-ins a run needs, for any budget", async () => {
    verifies("SEARCH-1");
    const stage = await setStage({
      tools: [sized("code.read_file", 9000), sized("a.asked", 10, { defer: true })],
      sources: [
        server("s", [sized("mcp.s.kept", 9000, { always_load: true }), "gone"]),
        ownSource("internal", ["internal.load_skill"]),
        ownSource("agent", ["agent.inspect_agent"]),
      ],
      config: noRoom,
    });
    expect(await shown(stage)).toEqual([
      "agent__inspect_agent",
      "code__read_file",
      "internal__load_skill",
      "internal__search_tools",
      "mcp__s__kept",
    ]);
    const { deferred } = await stage.run.tools();
    expect(deferred.map(({ name }) => name).toSorted()).toEqual(["a__asked", "mcp__s__gone"]);
  });

  it("gives the model a name and a hint, and no schema", async () => {
    verifies("SEARCH-1");
    const stage = await setStage({ sources: [github], config: noRoom });
    const { tools, deferred } = await stage.run.tools();
    expect(tools.map(({ name }) => name)).toEqual(["internal__search_tools"]);
    expect(deferred).toContainEqual({
      name: "mcp__github__create_issue",
      hint: "file a bug report ticket",
    });
    expect(JSON.stringify([tools, deferred])).not.toContain("assignee_login");
    expect(tools[0]?.description).toMatch(/keywords/i);
  });

  it("gives no more than a hint, however much a server calls one", async () => {
    verifies("SEARCH-1");
    const novel = "Once upon a time. ".repeat(5000);
    const tools = [
      reader("mcp.s.hint", 0, { search_hint: novel }),
      reader("mcp.s.title", 0, { title: novel }),
    ];
    const stage = await setStage({ sources: [server("s", tools)], config: noRoom });
    for (const { hint } of (await stage.run.tools()).deferred) {
      expect(hint).toContain("Once upon");
      expect(hint.length).toBeLessThan(500);
    }
  });

  it("is off where there is no way to search", async () => {
    verifies("SEARCH-1");
    const config = { tools: { defer_budget_tokens: 0, disabled: ["internal.search_tools"] } };
    const stage = await setStage({ sources: [github], config });
    expect(stage.run.surface.deferred).toEqual([]);
  });
});

describe("internal.search_tools", () => {
  it("loads exactly what select: names, and says what it could not find", async () => {
    verifies("SEARCH-2");
    const stage = await setStage({ sources: [github], config: noRoom });
    const answer = await found(
      stage,
      " select: mcp.github.merge, mcp.github.nope ,mcp.github.merge,",
    );
    expect(answer).toMatchObject({
      matches: [{ tool_name: "mcp.github.merge", reasons: [expect.any(String)] }],
      loaded: ["mcp.github.merge"],
      already_loaded: [],
      deferred_tools: 3,
    });
    expect(answer.not_found.map(({ name }) => name)).toEqual(["mcp.github.nope"]);
    expect(await shown(stage)).toEqual(["internal__search_tools", "mcp__github__merge"]);
    expect(await found(stage, "select:mcp.github.merge")).toMatchObject({
      matches: [],
      loaded: [],
      already_loaded: ["mcp.github.merge"],
      deferred_tools: 2,
    });
  });

  it("takes a name as the model was shown it, and an alias", async () => {
    verifies("SEARCH-2", "NAME-2");
    const stage = await setStage({ sources: [github], config: noRoom });
    const { deferred } = await stage.run.tools();
    const wire = deferred.map(({ name }) => name).find((name) => name.endsWith("merge")) ?? "";
    const answer = await found(stage, `select:${wire},new_issue`);
    expect(answer.not_found).toEqual([]);
    expect(answer.loaded).toEqual(["mcp.github.merge", "mcp.github.create_issue"]);
  });

  it.each([
    ["its name's parts", "merge", "mcp.github.merge"],
    ["its description", "opens repository issue", "mcp.github.create_issue"],
    ["its hint", "bug report", "mcp.github.create_issue"],
    ["a parameter's name", "assignee", "mcp.github.list_pulls"],
    ["its exact name", "mcp.github.list_pulls", "mcp.github.list_pulls"],
    ["its wire name", "mcp__github__list_pulls", "mcp.github.list_pulls"],
  ])("finds a tool by %s, scored and with reasons", async (_, query, expected) => {
    verifies("SEARCH-2");
    const stage = await setStage({ sources: [github], config: noRoom });
    const { matches, deferred_tools, loaded } = await found(stage, query);
    expect(matches[0]?.tool_name).toBe(expected);
    expect(matches[0]?.score).toBeGreaterThan(0);
    expect(matches[0]?.reasons.join(" ")).not.toBe("");
    const scores = matches.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect([deferred_tools, loaded]).toEqual([3, matches.map(({ tool_name }) => tool_name)]);
  });

  it("keeps to its limit", async () => {
    verifies("SEARCH-2");
    const names = Array.from({ length: 30 }, (_, i) => `issue_${i}`);
    const stage = await setStage({ sources: [server("s", names)], config: noRoom });
    expect((await found(stage, "issue")).loaded).toHaveLength(5);
    await shown(stage);
    expect((await found(stage, "issue", { limit: 2 })).loaded).toHaveLength(2);
    const [over] = await stage.run.execute([search("issue", { limit: 21 })]);
    expect(over?.error?.code).toBe("invalid_arguments");
  });

  it("names which servers are still connecting", async () => {
    verifies("SEARCH-2");
    let waiting = ["slow"];
    const stage = await setStage({ sources: [github], config: noRoom, connecting: () => waiting });
    expect((await found(stage, "nothing like it")).servers_connecting).toEqual(["slow"]);
    waiting = [];
    expect((await found(stage, "nothing like it")).servers_connecting).toEqual([]);
  });

  it("knows this surface only: what is excluded or another run's is not found", async () => {
    verifies("SEARCH-2", "SURF-2");
    const secret = [
      writer("mcp.s.secret_write"),
      reader("mcp.s.secret_off", 0, { isEnabled: () => false }),
      reader("mcp.s.secret_denied"),
      reader("mcp.s.open"),
    ];
    const stage = await setStage({
      sources: [server("s", secret)],
      config: noRoom,
      mode: "plan",
      policy: {
        readonly_mcp: ["mcp.s.*"],
        rules: [{ tool: "mcp.s.secret_*", decision: "deny" }],
      },
    });
    const all = secret.map(({ name }) => name);
    for (const query of ["secret", "write off denied", ...all]) {
      for (const { tool_name } of (await found(stage, query)).matches) {
        expect(tool_name).toBe("mcp.s.open");
      }
    }
    const answer = await found(stage, `select:${all.join(",")}`);
    expect(answer.loaded).toEqual([]);
    expect(answer.not_found.map(({ name }) => name)).toEqual(all.slice(0, 3));
    expect((await shown(stage)).filter((name) => name.includes("secret"))).toEqual([]);
  });

  it("follows the tools as they change", async () => {
    verifies("SEARCH-2", "REG-3");
    const stage = await setStage({ config: noRoom });
    const named = (description: string) => [
      reader("mcp.s.tool", 0, { description }),
      reader("mcp.s.x"),
    ];
    const handle = stage.kernel.registry.open(server("s", named("Waters the plants")));
    await shown(stage);
    const finds = async (query: string) =>
      (await found(stage, query, { limit: 1 })).matches.map(({ tool_name }) => tool_name);
    handle.set(named("Feeds the cat"));
    await shown(stage);
    expect(await finds("plants")).toEqual([]);
    expect(await finds("cat")).toEqual(["mcp.s.tool"]);
    handle.close();
    await shown(stage);
    expect(stage.run.surface.deferred).toEqual([]);
  });

  it("serves the run that called it, though another session's run has the same id", async () => {
    verifies("SEARCH-2", "SEARCH-3");
    const stage = await setStage({ sources: [github], config: noRoom, run_id: "main" });
    const other = await stage.kernel.openSession({});
    const twin = await other.startRun({ run_id: "main", allowedTools: ["mcp.github.merge"] });
    expect((await found(stage, "select:mcp.github.list_pulls")).loaded).toEqual([
      "mcp.github.list_pulls",
    ]);
    twin.end("completed");
    expect((await found(stage, "select:mcp.github.merge")).loaded).toEqual(["mcp.github.merge"]);
    expect(await shown(stage)).toContain("mcp__github__list_pulls");
  });

  it("needs no permission, and takes any query without harm", async () => {
    verifies("SEARCH-2", "SURF-10");
    const stage = await setStage({ sources: [github], config: noRoom });
    const hostile = [
      "__proto__",
      "constructor toString",
      "select:__proto__,constructor",
      "select:",
      "SELECT: ,,,",
      "(a+)+$ .* [",
      "\u0000\ud800 💥",
      "a ".repeat(50_000),
      `select:${"x,".repeat(50_000)}`,
      `select:${Array.from({ length: 20_000 }, (_, i) => `mcp.no.${i}`).join(",")}`,
    ];
    for (const query of hostile) {
      const [result] = await stage.run.execute([search(query)]);
      expect(result?.status, query.slice(0, 30)).toBe("succeeded");
      expect(JSON.stringify(result).length).toBeLessThan(200_000);
    }
    const [empty] = await stage.run.execute([search("")]);
    expect(empty?.error?.code).toBe("invalid_arguments");
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: anyCharacter, minLength: 1, maxLength: 60 }),
        async (query) => {
          const [result] = await stage.run.execute([search(query)]);
          expect(result?.status).toBe("succeeded");
        },
      ),
    );
  });
});
