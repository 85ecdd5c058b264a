// A login to a remote server by the real program: the address is shown, the yes comes from a browser, and the server is
// there from then on.

import { stat } from "node:fs/promises";
import { join } from "node:path";
import { verifies } from "#laws";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { startAuthorizationWorld, type AuthorizationWorld } from "../mcp/authorization-server.ts";
import { bundleCli, recordsOf, type CliBundle, type Started } from "./cli-bundle.ts";
import { node, placeWithServers, SHIFTING } from "./mcp-stage.ts";

let bundle: CliBundle;
let world: AuthorizationWorld;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

beforeEach(async () => {
  world = await startAuthorizationWorld();
});

afterEach(() => world.close());

it("a login is asked for, given up, given, used and ended", async () => {
  verifies("MCP-8", "MCP-2", "REDACT-1");
  const place = await placeWithServers(bundle, () => ({
    remote: { url: world.url },
    local: node([SHIFTING, SHIFTING]),
  }));
  const before = await place.run(["mcp", "list", "remote", "--json"]);
  expect(before.code).toBe(1);
  expect(recordsOf(before)).toMatchObject([
    {
      state: "failed",
      transport: "http",
      login: { kind: "none" },
      message: expect.stringContaining("soong mcp login remote") as string,
      excluded: [{ reason: "setup_required" }],
    },
  ]);

  const givenUp = place.start(["mcp", "login", "remote"]);
  await addressOf(givenUp);
  givenUp.child.kill("SIGINT");
  expect(await givenUp.ended).toMatchObject({ code: 130, stdout: "" });

  const given = place.start(["mcp", "login", "remote", "--json"]);
  await world.visit(await addressOf(given));
  const login = await given.ended;
  expect(login.code).toBe(0);
  expect(recordsOf(login)).toMatchObject([
    { schema: "soong.mcp_login/1", server_id: "remote", issuer: world.issuer },
  ]);
  expect((await stat(join(place.home, "mcp-logins", "remote.json"))).mode & 0o777).toBe(0o600);

  const after = await place.run(["mcp", "list", "remote", "--json"]);
  expect(recordsOf(after)).toMatchObject([{ state: "connected", login: { kind: "logged_in" } }]);

  // The token of the second call was not there when the run began, and the server tells it to everyone.
  const told: string[] = [];
  world.behaviour.says = (token) => {
    told.push(token);
    world.expire();
    return `your token is ${token}`;
  };
  const echo = "calls: [ { tool: mcp.remote.echo, input: {} } ]";
  await place.write("s.yaml", `turns:\n  - ${echo}\n  - ${echo}\n  - text: Done.\n`);
  const asked = ["run", "--model", "script:s.yaml", "--allow", "mcp.remote.*", "--json", "go"];
  const run = await place.run(asked);
  expect(run.code).toBe(0);
  expect(new Set(told).size).toBe(2);
  expect(run.stdout.match(/your token is \[redacted:/g)?.length).toBeGreaterThanOrEqual(2);
  for (const token of told) expect(run.stdout + run.stderr).not.toContain(token);

  const logout = await place.run(["mcp", "logout", "remote"]);
  expect(logout).toMatchObject({ code: 0, stdout: "Logged out of remote.\n" });
  expect(world.revoked.length).toBeGreaterThan(0);

  const local = await place.run(["mcp", "login", "local"]);
  expect([local.code, local.stdout]).toEqual([1, ""]);
  expect(local.stderr).toMatch(/^soong: .*local/);
  const said = [before, login, after, logout].map(({ stdout, stderr }) => stdout + stderr).join("");
  for (const token of world.revoked) expect(said).not.toContain(token);
});

/** As soon as it is on the screen. */
async function addressOf({ child, ended }: Started): Promise<string> {
  let shown = "";
  const found = new Promise<string>((resolve) => {
    child.stderr?.on("data", (text: string) => {
      shown += text;
      const [address] = /http\S+\/authorize\S+(?=\n)/.exec(shown) ?? [];
      if (address !== undefined) resolve(address);
    });
  });
  const early = ended.then(({ stderr }) => {
    throw new Error(`it ended without an address: ${stderr}`);
  });
  return Promise.race([found, early]);
}
