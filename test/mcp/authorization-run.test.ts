// A server with a login, in use: its token is sent to it alone, renewed when it is over, and given up when it
// cannot be renewed (MCP-8).

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createHeldClock, createKernel, type Clock } from "@soong/core";
import {
  createPins,
  logInToServer,
  openConnection,
  openMcpLogins,
  openMcpServers,
  type McpConnection,
  type McpLogins,
  type McpSecret,
  type McpServerEntry,
} from "@soong/mcp";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { startAuthorizationWorld, type AuthorizationWorld } from "./authorization-server.ts";
import { callOptions, connectionWorld, entryFor } from "./connection-world.ts";

const files = connectionWorld();
let world: AuthorizationWorld;
let logins: McpLogins;
let folder: string;
let secrets: McpSecret[];
beforeEach(async () => {
  world = await startAuthorizationWorld();
  folder = join(await files.folder(), "mcp-logins");
  logins = openMcpLogins(folder);
  secrets = [];
});
afterEach(() => world.close());

const echo = { name: "echo", arguments: {} };

function entry(url = world.url, headers: Record<string, string> = {}): McpServerEntry {
  return entryFor({ kind: "http", url, headers }, { server_id: "remote" });
}

function logIn(): Promise<unknown> {
  return logInToServer(entry(), { logins, show: world.visit });
}

/** As another process would: with a store of its own. */
function connect(server = entry(), clock?: Clock): McpConnection {
  const own = openMcpLogins(folder);
  const onSecret = (secret: McpSecret) => void secrets.push(secret);
  return files.connection(server, { logins: own, onSecret, ...(clock && { clock }) });
}

async function failureOf(promise: Promise<unknown>): Promise<{ reason: string; message: string }> {
  return promise.then(
    () => ({ reason: "none", message: "" }),
    (error: { reason: string; message: string }) => error,
  );
}

function refreshes(): number {
  return world.tokenRequests.filter((given) => given.get("grant_type") === "refresh_token").length;
}

test("without a login the server is omitted as to be set up, with the command; after the login it is there", async () => {
  verifies("MCP-8");
  const kernel = createKernel();
  const pins = await createPins({ load: () => Promise.resolve(undefined), save: async () => {} });
  const servers = openMcpServers({
    entries: [entry()],
    registry: kernel.registry,
    pins,
    connect: (one) => openConnection(one, { logins }),
  });
  const never = new AbortController().signal;
  await servers.ready(never, 30_000);
  expect(servers.status()).toMatchObject([
    {
      state: "failed",
      excluded: [
        {
          reason: "setup_required",
          detail:
            'MCP server "remote" cannot be used: it wants a login. Log in: soong mcp login remote.',
        },
      ],
    },
  ]);
  expect(world.tokenRequests).toEqual([]);
  await servers.close();

  await logIn();
  const connection = connect();
  const server = await connection.connected();
  expect((await server.listToolsPage(undefined)).tools).toMatchObject([{ name: "echo" }]);
  expect(await server.callTool(echo, callOptions())).toMatchObject({ content: [{ text: "done" }] });
  const { tokens } = (await logins.read("remote"))!;
  expect(secrets.map(({ value }) => value)).toContain(tokens!.access_token);
  expect(world.received.at(-1)!.authorization).toBe(`Bearer ${tokens!.access_token}`);
});

describe("a token", () => {
  test("goes to the address it was issued for, and never with an authorization of the entry's own", async () => {
    verifies("MCP-8");
    await logIn();
    world.received.length = 0;
    const [sameOrigin, other] = [
      `${world.url}?tenant=2`,
      world.url.replace("127.0.0.1", "localhost"),
    ];
    for (const url of [sameOrigin, other]) {
      expect((await failureOf(connect(entry(url)).connected())).reason).toBe("unauthorized");
    }
    const own = await failureOf(
      connect(entry(world.url, { authorization: "Bearer mine" })).connected(),
    );
    expect(own.message).toContain("the authorization in the headers of its entry");
    const sent = new Set(world.received.map(({ authorization }) => authorization));
    expect(sent).toEqual(new Set([undefined, "Bearer mine"]));
    expect(world.received.length).toBeGreaterThan(2);
  });

  test("that is over in the middle of a run is renewed once, no matter which call needs it", async () => {
    verifies("MCP-8");
    await logIn();
    const servers = await Promise.all([connect(), connect()].map((one) => one.connected()));
    world.expire();
    const calls = servers.flatMap((server) =>
      [1, 2, 3].map(() => server.callTool(echo, callOptions())),
    );
    expect(await Promise.all(calls)).toHaveLength(6);
    expect(refreshes()).toBe(1);
    expect(world.tokenRequests.at(-1)!.get("resource")).toBe(world.url);
    const { tokens } = (await logins.read("remote"))!;
    expect(secrets.map(({ value }) => value)).toContain(tokens!.access_token);
    world.expire();
    await servers[0]!.callTool(echo, callOptions());
    expect(refreshes()).toBe(2);
  });

  test("is renewed before it ends", async () => {
    verifies("MCP-8");
    await logIn();
    const clock = createHeldClock(Date.now());
    const server = await connect(entry(), clock).connected();
    await server.callTool(echo, callOptions());
    expect(refreshes()).toBe(0);
    world.received.length = 0;
    await clock.advance(3_580_000);
    await server.callTool(echo, callOptions());
    expect(refreshes()).toBe(1);
    expect(world.received).toHaveLength(1);
  });

  test("that cannot be renewed any more needs a login, and is not tried again", async () => {
    verifies("MCP-8");
    await logIn();
    const connection = connect();
    const server = await connection.connected();
    world.expire();
    world.behaviour.intercept = (path, response) => {
      if (path !== "/token") return false;
      response.writeHead(400, { "content-type": "application/json" });
      response.end('{"error":"invalid_grant","error_description":"it was taken back"}');
      return true;
    };
    world.asked.length = 0;
    const failure = await failureOf(server.callTool(echo, callOptions()));
    expect(failure.reason).toBe("unauthorized");
    expect(failure.message).toContain("it was taken back");
    expect(failure.message).toContain("Log in: soong mcp login remote");
    expect(connection.state).toMatchObject({ kind: "failed", failure: { reason: "unauthorized" } });
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect((await failureOf(connect().connected())).reason).toBe("unauthorized");
    }
    expect(world.asked.filter((path) => path === "/token")).toHaveLength(1);
    expect(await logins.status(entry())).toMatchObject({ renewable: false });
  });

  test("whose issuer is away for now is kept", async () => {
    verifies("MCP-8");
    await logIn();
    const server = await connect().connected();
    world.expire();
    await world.stopIssuer();
    const failure = await failureOf(server.callTool(echo, callOptions()));
    expect(failure.message).toContain("its login could not be renewed");
    expect(failure.message).toContain("cannot be reached");
    expect(await logins.status(entry())).toMatchObject({ renewable: true });
  });

  test("is shown to no other issuer than its own", async () => {
    verifies("MCP-8");
    await logIn();
    const server = await connect().connected();
    world.expire();
    const other = await startAuthorizationWorld();
    try {
      world.behaviour.resourceMetadata = (document) => ({
        ...document,
        authorization_servers: [other.issuer],
      });
      const failure = await failureOf(server.callTool(echo, callOptions()));
      expect(failure.message).toContain("its authorization server is another now");
      expect(other.tokenRequests).toEqual([]);
    } finally {
      await other.close();
    }
  });

  test("that does not allow enough needs a login that asks for more, once", async () => {
    verifies("MCP-8");
    await logIn();
    world.behaviour.callScope = "write";
    const connection = connect();
    const server = await connection.connected();
    const failure = await failureOf(server.callTool(echo, callOptions()));
    expect(failure).toMatchObject({ reason: "unauthorized" });
    expect(failure.message).toContain("it wants a login that allows more (write)");
    // The rest of the server is as it was.
    expect(connection.state.kind).toBe("connected");
    expect((await server.listToolsPage(undefined)).tools).toHaveLength(1);
    expect(await logins.status(entry())).toMatchObject({ wanted_scopes: ["write"] });
    await logIn();
    expect(world.authorizations.at(-1)!.get("scope")).toBe("basic write");
    const again = await connect().connected();
    await again.callTool(echo, callOptions());
  });

  test("that is refused for what was asked for already is not asked for again", async () => {
    verifies("MCP-8");
    await logIn();
    const server = await connect().connected();
    world.behaviour.intercept = (path, response) => {
      if (path !== "/mcp") return false;
      const challenge = 'Bearer error="insufficient_scope", scope="basic"';
      response.writeHead(403, { "www-authenticate": challenge }).end();
      return true;
    };
    const failure = await failureOf(server.callTool(echo, callOptions()));
    expect(failure.message).toBe(
      "it refuses this to the login it was given; another one would not help",
    );
    expect(await logins.status(entry())).toMatchObject({ wanted_scopes: [] });
  });

  test("that the server repeats does not come into a message", async () => {
    verifies("MCP-8");
    await logIn();
    const { access_token } = (await logins.read("remote"))!.tokens!;
    const server = await connect().connected();
    world.behaviour.intercept = (path, response) => {
      if (path !== "/mcp") return false;
      response.writeHead(500).end(`You sent ${access_token}`);
      return true;
    };
    const failure = await failureOf(server.callTool(echo, callOptions()));
    expect(failure.message).toContain("You sent [redacted]");
    expect(failure.message).not.toContain(access_token);
  });

  test("of a file that is broken is none, and the message says which file", async () => {
    await logIn();
    const path = join(folder, "remote.json");
    const text = await readFile(path, "utf8");
    expect(text).toContain("access-");
    await writeFile(path, text.slice(0, 100));
    const failure = await failureOf(connect().connected());
    expect(failure.reason).toBe("unauthorized");
    expect(failure.message).toContain(`${path} is not JSON`);
  });
});
