// Secrets of the user are known to every command, and none of them shows one (REDACT-3).

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { verifies } from "#laws";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bundleCli, type CliBundle, type Place } from "./cli-bundle.ts";
import { startInspector } from "./inspect-stage.ts";
import { node, placeWithServers } from "./mcp-stage.ts";

const TELLING = fileURLToPath(new URL("../mcp/servers/telling-server.mjs", import.meta.url));
const TOKEN = "tk9XqL2mVb7Rz4Wc8Jd1";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

/** Every file of the home whose bytes hold the text. */
async function filesWith(folder: string, text: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const found = await Promise.all(
    files.map(async ({ parentPath, name }) => {
      const file = join(parentPath, name);
      return (await readFile(file, "latin1")).includes(text) ? [file.slice(folder.length + 1)] : [];
    }),
  );
  return found.flat();
}

async function output(place: Place, args: readonly string[], env: Record<string, string> = {}) {
  const { stdout, stderr } = await place.run(args, { env });
  return stdout + stderr;
}

it("a server that repeats its token puts it into no list, log, pin, definition, record or model request", async () => {
  verifies("REDACT-3");
  const place = await placeWithServers(bundle, () => ({
    telling: node([TELLING], { env: { TELLING_TOKEN: "${TELLING_TOKEN}" } }),
  }));
  const env = { TELLING_TOKEN: TOKEN };
  const script = "turns:\n  - calls: [{ tool: mcp.telling.show, input: {} }]\n  - text: Done.\n";
  await place.write("script.yaml", script);

  const ran = await output(
    place,
    ["run", "--model", "script:script.yaml", "--allow", "mcp.telling.show", "--json", "go"],
    env,
  );
  expect(ran).toContain("run.completed");
  const shown = [
    ran,
    await output(place, ["mcp", "list"], env),
    await output(place, ["mcp", "list", "--json"], env),
    await output(place, ["tools", "--json"], env),
    await output(place, ["doctor"], env),
  ].join("\n");
  expect(shown).toContain("mcp.telling.show");
  expect(shown).not.toContain(TOKEN);
  expect(await place.read(join(place.home, "mcp-logs", "telling.log"))).toContain(
    "starting with [redacted:TELLING_TOKEN]",
  );
  expect(await filesWith(place.home, TOKEN)).toEqual([]);
});

it("a variable that an allowlist hands to commands is hidden in what they print, in titles and in lists", async () => {
  verifies("REDACT-3");
  const place = await bundle.place();
  await place.write(
    join(place.home, "config.toml"),
    '[tools]\nenv_allowlist = ["DEPLOY_TOKEN", "PLAIN_COLOUR"]\n',
  );
  const env = { DEPLOY_TOKEN: TOKEN, PLAIN_COLOUR: "evergreen" };
  const script =
    'turns:\n  - calls: [{ tool: code.run_command, input: { argv: ["env"] } }]\n  - text: Done.\n';
  await place.write("script.yaml", script);
  const prompt = `Deploy with ${TOKEN}`;
  const args = ["run", "--model", "script:script.yaml", "--allow", "code.run_command", "--json"];
  const ran = await output(place, [...args, prompt], env);
  expect(ran).toContain("PLAIN_COLOUR=evergreen");
  expect(ran).toContain("DEPLOY_TOKEN=[redacted:DEPLOY_TOKEN]");
  const sessions = await output(place, ["sessions"], env);
  expect(sessions).toContain("Deploy with [redacted:DEPLOY_TOKEN]");
  expect(ran + sessions).not.toContain(TOKEN);
});

it("a secret that came into a record before it was known is hidden by the commands that show the record", async () => {
  verifies("REDACT-3");
  const place = await bundle.place();
  await place.write("script.yaml", "turns:\n  - text: Done.\n");
  const plain = await output(place, [
    "run",
    "--model",
    "script:script.yaml",
    "--json",
    `Say ${TOKEN}`,
  ]);
  const run_id = /"run_id":"([^"]+)"/.exec(plain)?.[1] ?? "";
  expect(await output(place, ["sessions"])).toContain(TOKEN);

  await place.write(join(place.home, "mcp-serve-token"), `${TOKEN}\n`);
  for (const args of [
    ["sessions"],
    ["sessions", "--json"],
    ["events", run_id],
    ["events", run_id, "--json"],
    ["replay", run_id, "--script"],
  ]) {
    const shown = await output(place, args);
    expect(shown, args.join(" ")).not.toContain(TOKEN);
    expect(shown.length, args.join(" ")).toBeGreaterThan(20);
  }
  const inspector = await startInspector(bundle, place);
  const sessions = JSON.stringify(await inspector.ask("GET", "/api/sessions"));
  expect(sessions).toContain("Say [redacted:gateway_token]");
  expect(sessions).not.toContain(TOKEN);
});

it.each([
  ["another server", "mcp.json", { other: { comand: "true" } }, ""],
  ["the address of the server itself", "mcp.json", { own: { url: `http://u:${TOKEN}@h/` } }, ""],
  ["the syntax of mcp.json", "mcp.json", {}, "}"],
  ["the config", "config.toml", {}, ""],
] as const)(
  "values in mcp.json are hidden although there is a mistake in %s",
  async (_what, file, more, tail) => {
    verifies("REDACT-3");
    const place = await bundle.place();
    await place.write("script.yaml", "turns:\n  - text: Done.\n");
    const run = ["run", "--model", "script:script.yaml", `Say ${TOKEN}`];
    await output(place, run);
    const own = { command: "true", env: { API_TOKEN: "${API_TOKEN:-" + TOKEN + "}" } };
    const servers = { mcpServers: { own, ...more } };
    await place.write(join(place.home, "mcp.json"), JSON.stringify(servers) + tail);
    if (file === "config.toml") await place.write(join(place.home, file), "[tols]\n");
    expect(await output(place, run)).toContain(file);
    expect(await output(place, ["sessions"])).toContain("Say [redacted:");
  },
);

it("the address of an inspector is hidden by a runtime that did not start it", async () => {
  verifies("REDACT-3");
  const place = await bundle.place();
  const { record } = await startInspector(bundle, place);
  const url = String(record["url"]);
  const token = new URL(url).hash.replace("#token=", "");
  const input = JSON.stringify({ argv: ["echo", url] });
  const shown = await output(place, ["call", "code.run_command", input, "--yes", "--json"]);
  expect(shown).toContain("[redacted:inspector_token#1]");
  expect(shown).not.toContain(token);
  expect(await filesWith(place.home, token)).toEqual([]);
});

it("what a model says between its calls is shown without known secrets", async () => {
  verifies("REDACT-3");
  const place = await placeWithServers(bundle, () => ({}));
  await place.write(
    "script.yaml",
    `turns:\n  - { text: "first ${TOKEN}", calls: [{ tool: code.list_dir, input: {} }] }\n  - text: "last ${TOKEN}"\n`,
  );
  const env = { ANTHROPIC_API_KEY: TOKEN };
  const shown = await output(place, ["run", "--model", "script:script.yaml", "go"], env);
  expect(shown).toMatch(/first \[redacted/);
  expect(shown).not.toContain(TOKEN);
});
