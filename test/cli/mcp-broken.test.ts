// MCP servers that fail, hang or are written down wrongly, in the real program: each costs no more than itself.

import { join } from "node:path";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleCli, recordsOf, type CliBundle, type Place } from "./cli-bundle.ts";
import { isRunningWith, node, placeWithServers, PLAIN, SHIFTING, until } from "./mcp-stage.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

describe("a server that is not right", () => {
  it("costs its own tools alone, and says why: in the list, to a call, to the doctor", async () => {
    verifies("MCP-2", "CONF-2");
    const place = await withServers((project) => ({
      shifting: node([SHIFTING, join(project, "words")]),
      dies: node([PLAIN, '{"crash": "no licence"}']),
      lists: node([PLAIN, '{"listDies": true}']),
      unset: { command: "x", env: { TOKEN: "${SOONG_NOT_SET}" } },
    }));
    await place.write("words", "Adds.");
    const list = await place.run(["mcp", "list", "--json"]);
    expect(list.code).toBe(1);
    const byId = new Map(recordsOf(list).map((one) => [one["server_id"], one]));
    expect(byId.get("shifting")).toMatchObject({
      state: "connected",
      era: "2025",
      transport: "stdio",
      tools: ["mcp.shifting.add"],
    });
    expect(byId.get("dies")).toMatchObject({
      state: "failed",
      message: expect.stringContaining("no licence") as string,
    });
    expect(byId.get("lists")).toMatchObject({ state: "failed" });
    expect(byId.get("unset")).toMatchObject({
      state: "failed",
      message: expect.stringContaining("SOONG_NOT_SET") as string,
      excluded: [{ tool_name: "mcp.unset.*", reason: "setup_required" }],
    });

    const call = await place.run(["call", "mcp.dies.echo", "{}"]);
    expect([call.code, call.stderr]).toEqual([1, expect.stringContaining("no licence")]);
    const doctor = await place.run(["doctor", "--json"]);
    expect(doctor.code).toBe(1);
    const findings = new Map(recordsOf(doctor).map((one) => [one["about"], one]));
    expect(findings.get("mcp.json")).toMatchObject({ state: "ok" });
    expect(findings.get("mcp shifting")).toMatchObject({ state: "ok" });
    expect(findings.get("mcp dies")).toMatchObject({
      state: "fail",
      next: expect.stringContaining("dies.log") as string,
    });
    expect(findings.get("mcp unset")).toMatchObject({ state: "fail" });
  });

  it("is named once in a run, with what to do", async () => {
    verifies("MCP-2", "CLI-6");
    const place = await withServers(() => ({
      dies: node([PLAIN, '{"crash": "no licence"}']),
      unset: { command: "x", env: { TOKEN: "${SOONG_NOT_SET}" } },
    }));
    await place.write(
      "s.yaml",
      "turns: [ { calls: [ { tool: code.list_dir, input: {} } ] }, { text: Done. } ]\n",
    );
    const run = await place.run(["run", "--model", "script:s.yaml", "go"]);
    expect(run).toMatchObject({ code: 0, stdout: "Done.\n" });
    const lines = run.stderr.split("\n").filter((line) => line.includes("MCP server"));
    expect(lines.toSorted()).toEqual([
      expect.stringMatching(
        /^The tools of the MCP server dies are missing: .*no licence.* `soong mcp list dies` says more\.$/,
      ),
      expect.stringMatching(
        /^The tools of the MCP server unset are missing: .*SOONG_NOT_SET.*\. Set the variable, and start again\.$/,
      ),
    ]);
  });

  it("is not waited for longer than the config says, and comes to no harm to the run", async () => {
    verifies("MCP-2");
    const place = await withServers(() => ({ never: node([PLAIN, '{"never": true}']) }));
    await place.write(join(place.home, "config.toml"), "[mcp]\nwait_ms = 300\n");
    await place.write("s.yaml", "turns: [ { text: Done. } ]\n");
    const run = await place.run(["run", "--model", "script:s.yaml", "--json", "go"]);
    expect([run.code, run.stderr]).toEqual([0, ""]);
    expect(run.stdout).toContain("it has not answered yet");
  });

  it("is given up with an interrupt while it is waited for, and leaves nothing behind", async () => {
    verifies("MCP-2", "CLI-2");
    const place = await withServers((project) => ({
      never: node([PLAIN, '{"never": true, "stubborn": true}'], { env: { MARK: project } }),
    }));
    await place.write("s.yaml", "turns: [ { text: Never. } ]\n");
    for (const [signal, exitCode] of [
      ["SIGINT", 130],
      ["SIGKILL", null],
    ] as const) {
      const started = place.start(["run", "--model", "script:s.yaml", "go"]);
      await until(() => isRunningWith(`MARK=${place.project}`));
      started.child.kill(signal);
      const { code, stdout } = await started.ended;
      expect([signal, code, stdout]).toEqual([signal, exitCode, ""]);
      await until(async () => !(await isRunningWith(`MARK=${place.project}`)));
    }
  });
});

describe("an mcp.json that is wrong", () => {
  it("stops every command with the place of each mistake, and the doctor looks at the rest", async () => {
    verifies("MCP-1", "CONF-2");
    const place = await bundle.place();
    const file = join(place.home, "mcp.json");
    await place.write(file, '{ "mcpServers": { "a": { "command": "x", "arg": [] },\n"b": {} } }');
    const call = await place.run(["call", "code.list_dir", "{}"]);
    expect([call.code, call.stdout]).toEqual([2, ""]);
    for (const words of [`${file}:1:`, "mcpServers.a.arg", '"args"', `${file}:2:`]) {
      expect(call.stderr).toContain(words);
    }
    const doctor = await place.run(["doctor", "--json"]);
    const findings = new Map(recordsOf(doctor).map((one) => [one["about"], one]));
    expect(findings.get("mcp.json")).toMatchObject({ state: "fail" });
    expect(findings.has("model")).toBe(true);
  });
});

function withServers(serversOf: (project: string) => object): Promise<Place> {
  return placeWithServers(bundle, serversOf);
}
