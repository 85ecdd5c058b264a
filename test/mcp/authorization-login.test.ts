// Logging in to a remote server and out again: right, wrong, interrupted, hostile (MCP-8).

import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { once } from "node:events";
import { join } from "node:path";
import { createHeldClock } from "@soong/core";
import {
  logInToServer,
  logOutOfServer,
  openMcpLogins,
  type McpLoginFailure,
  type McpLoginOptions,
  type McpLogins,
  type McpOAuthSettings,
  type McpSecret,
  type McpServerEntry,
} from "@soong/mcp";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { addressProblem } from "../../packages/mcp/src/authorization/guarded-fetch.ts";
import { startAuthorizationWorld, type AuthorizationWorld } from "./authorization-server.ts";
import { connectionWorld, entryFor } from "./connection-world.ts";

const files = connectionWorld();
let world: AuthorizationWorld;
let folder: string;
let logins: McpLogins;
beforeEach(async () => {
  world = await startAuthorizationWorld();
  folder = join(await files.folder(), "mcp-logins");
  logins = openMcpLogins(folder);
});
afterEach(() => world.close());

function entry(oauth?: McpOAuthSettings, url = world.url): McpServerEntry {
  const transport = { kind: "http", url, headers: {}, ...(oauth && { oauth }) } as const;
  return entryFor(transport, { server_id: "remote" });
}

function logIn(given: Partial<McpLoginOptions> = {}, server = entry()) {
  return logInToServer(server, { logins, show: world.visit, ...given });
}

async function failureOf(promise: Promise<unknown>): Promise<McpLoginFailure> {
  return promise.then(
    () => {
      throw new Error("it succeeded");
    },
    (error: McpLoginFailure) => error,
  );
}

async function redirectOf(url: string): Promise<string> {
  return Promise.resolve(new URL(url).searchParams.get("redirect_uri") ?? "");
}

describe("a login", () => {
  test("keeps the tokens for the owner alone, says what they are, and ends with the logout", async () => {
    verifies("MCP-8");
    const shown: string[] = [];
    const secrets: McpSecret[] = [];
    const report = await logIn({
      show: async (url) => {
        shown.push(url);
        await world.visit(url);
      },
      onSecret: (secret) => secrets.push(secret),
    });
    expect(report).toMatchObject({
      server_id: "remote",
      issuer: world.issuer,
      scopes: ["basic"],
      renewable: true,
    });
    expect(report.expires_at).toBeGreaterThan(Date.now());
    expect(shown).toHaveLength(1);
    const asked = new URL(shown[0]!).searchParams;
    expect(shown[0]).toContain(`${world.issuer}/authorize`);
    expect(asked.get("code_challenge_method")).toBe("S256");
    expect(asked.get("resource")).toBe(world.url);
    expect(asked.get("state")!.length).toBeGreaterThan(40);
    expect(world.registrations).toMatchObject([
      { client_name: "Soong", application_type: "native", token_endpoint_auth_method: "none" },
    ]);

    const path = join(folder, "remote.json");
    expect(await readdir(folder)).toEqual(["remote.json"]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    const { tokens } = (await logins.read("remote"))!;
    const values = [tokens!.access_token, tokens!.refresh_token];
    expect(secrets.map(({ value }) => value)).toEqual(values);
    expect((await logins.secrets()).map(({ value }) => value)).toEqual(values);
    expect(await logins.status(entry())).toMatchObject({ kind: "logged_in", renewable: true });
    expect(await logins.status(entry({}, "https://example.com/mcp"))).toEqual({ kind: "none" });

    expect(await logOutOfServer(entry(), { logins })).toBe(true);
    expect(await readdir(folder)).toEqual([]);
    expect(new Set(world.revoked)).toEqual(new Set(values));
    expect(await logOutOfServer(entry(), { logins })).toBe(false);
    expect(await logins.status(entry())).toEqual({ kind: "none" });
  });

  test("the second time is made by the same client at the same port, unless someone listens there", async () => {
    verifies("MCP-8");
    const redirects: string[] = [];
    const show = async (url: string) => {
      redirects.push(await redirectOf(url));
      await world.visit(url);
    };
    await logIn({ show });
    await logIn({ show });
    expect(redirects[1]).toBe(redirects[0]);
    expect(world.registrations).toHaveLength(1);
    const other = createServer().listen(Number(new URL(redirects[0]!).port), "127.0.0.1");
    await once(other, "listening");
    await logIn({ show });
    other.close();
    expect(redirects[2]).not.toBe(redirects[0]);
    expect(world.registrations).toHaveLength(2);
    // What was registered elsewhere is not shown to another.
    const login = (await logins.read("remote"))!;
    const client = { ...login.client!, issuer: "https://other.example.com" };
    await logins.change("remote", (_login, save) => save({ ...login, client }));
    await logIn({ show }, entry({ redirect_uri: client.redirect_uri }));
    expect(world.registrations).toHaveLength(3);
  });

  test("uses the client, the scopes and the address of the entry", async () => {
    verifies("MCP-8");
    world.behaviour.registers = false;
    world.behaviour.issuerMetadata = (document) => ({
      ...document,
      token_endpoint_auth_methods_supported: ["client_secret_post"],
      scopes_supported: ["offline_access"],
    });
    const oauth = { client_id: "mine", client_secret: "hush-hush", scopes: ["basic", "mail"] };
    expect(await logIn({}, entry(oauth))).toMatchObject({ scopes: ["basic", "mail"] });
    expect(world.tokenRequests[0]!.get("client_id")).toBe("mine");
    expect(world.tokenRequests[0]!.get("client_secret")).toBe("hush-hush");
    expect(world.authorizations[0]!.get("scope")).toBe("basic mail");
    // Without them the server's own word counts, and the wish to stay.
    expect(await logIn({}, entry({ client_id: "mine" }))).toMatchObject({
      scopes: ["basic", "mail", "offline_access"],
    });
    const failure = await failureOf(logIn());
    expect(failure.reason).toBe("not_offered");
    expect(failure.message).toContain('write its id into "oauth" of the entry');
  });

  test("names itself by an address where that is taken", async () => {
    verifies("MCP-8");
    world.behaviour.issuerMetadata = (document) => ({
      ...document,
      client_id_metadata_document_supported: true,
    });
    const client_metadata_url = "https://example.com/client.json";
    await logIn({}, entry({ client_metadata_url }));
    expect(world.authorizations[0]!.get("client_id")).toBe(client_metadata_url);
    expect(world.registrations).toEqual([]);
  });

  test("waits for the answer that knows its secret, and for no other", async () => {
    verifies("MCP-8");
    const answers: number[] = [];
    await logIn({
      show: async (url) => {
        const redirect = await redirectOf(url);
        const wrong = ["?code=stolen&state=guess", "?code=stolen", "/deeper?code=x", "?error=no"];
        for (const query of wrong) answers.push((await fetch(`${redirect}${query}`)).status);
        answers.push((await fetch(`${redirect}?code=x`, { method: "POST" })).status);
        await world.visit(url);
      },
    });
    expect(answers).toEqual([400, 400, 404, 400, 404]);
    expect(world.tokenRequests).toHaveLength(1);
    expect(world.tokenRequests[0]!.get("code")).toMatch(/^code-/);
  });

  test("that is refused, given up, or takes too long leaves what was there, and no one listens", async () => {
    verifies("MCP-8");
    await logIn();
    const before = await readFile(join(folder, "remote.json"), "utf8");
    let redirect = "";
    world.behaviour.answer = (parameters) => {
      parameters.delete("code");
      parameters.set("error", "access_denied\u001b[31m");
    };
    const refused = await failureOf(logIn());
    expect(refused.reason).toBe("refused");
    expect(refused.message).toBe(
      'No login to the MCP server "remote": the login was refused (access_denied [31m).',
    );

    const stop = new AbortController();
    const show = async (url: string) => {
      redirect = await redirectOf(url);
      stop.abort();
    };
    expect((await failureOf(logIn({ show, signal: stop.signal }))).reason).toBe("aborted");
    await expect(fetch(redirect)).rejects.toThrow("fetch failed");
    const clock = createHeldClock();
    const late = logIn({ clock, timeoutMs: 1000, show: () => clock.advance(1000) });
    expect((await failureOf(late)).reason).toBe("timeout");
    expect((await failureOf(logIn({ signal: AbortSignal.abort() }))).reason).toBe("aborted");
    expect(await readFile(join(folder, "remote.json"), "utf8")).toBe(before);
    expect(await readdir(folder)).toEqual(["remote.json"]);
  });

  test("is not for a program, nor for a server that offers none", async () => {
    const program = entryFor({ kind: "stdio", command: "x", args: [], env: {} });
    expect((await failureOf(logIn({}, program))).reason).toBe("not_offered");
    const plain = createServer((_, response) => response.writeHead(404).end()).listen(0);
    await once(plain, "listening");
    const { port } = plain.address() as { port: number };
    const failure = await failureOf(logIn({}, entry({}, `http://localhost:${port}/mcp`)));
    plain.close();
    expect(failure.message).toBe('No login to the MCP server "remote": it offers no login.');
    const gone = await failureOf(logIn({}, entry({}, `http://localhost:${port}/mcp`)));
    expect(gone).toMatchObject({ reason: "unreachable" });
    expect(gone.message).toContain("ECONNREFUSED");
  });

  test("that cannot be kept says so, and nothing of it is lost", async () => {
    await writeFile(folder, "a file where the folder should be");
    const failure = await failureOf(logIn());
    expect(failure.reason).toBe("not_stored");
    expect(failure.message).toContain(folder);
    expect(world.authorizations).toEqual([]);
  });

  test("that cannot be read says so, and the logout removes it", async () => {
    await logIn();
    for (const broken of ["{", '{"version":2}', "[]"]) {
      await writeFile(join(folder, "remote.json"), broken);
      const failure = await failureOf(logIn());
      expect(failure.reason).toBe("not_stored");
      expect(failure.message).toContain("soong mcp logout remote removes it");
      expect(await logins.secrets()).toEqual([]);
    }
    expect(await logOutOfServer(entry(), { logins })).toBe(true);
    await logIn();
  });
});

test("nothing on this machine is asked for a server elsewhere, under any name, https or not", () => {
  verifies("MCP-8");
  const names =
    "localhost localhost. a.localhost 127.0.0.1 127.9 2130706433 0 [::1] [::] [::ffff:127.0.0.1] [::ffff:0.0.0.0]";
  for (const name of names.split(" ")) {
    for (const scheme of ["http", "https"]) {
      const address = `${scheme}://${name}:8443/x`;
      const problem = addressProblem(address, "https://mcp.example.com/mcp");
      expect([address, problem]).toEqual([address, "is on this machine, and the server is not"]);
    }
    expect(addressProblem(`https://${name}/x`, "http://localhost:1/mcp")).toBeUndefined();
  }
  for (const name of ["example.com", "localhost.example.com", "[::ffff:8.8.8.8]", "8.8.8.8"]) {
    expect(addressProblem(`https://${name}/x`, "https://mcp.example.com/mcp")).toBeUndefined();
  }
  expect(addressProblem("http://0.0.0.0/x", "http://localhost:1/mcp")).toBe("is not https");
});

describe("a hostile server or issuer", () => {
  const elsewhere = "https://evil.example.com";

  test.each([
    [
      "names an issuer without https",
      "insecure",
      { authorization_servers: ["http://evil.example.com"] },
    ],
    ["names a file as its issuer", "insecure", { authorization_servers: ["file:///etc/passwd"] }],
    ["says that it is another server", "insecure", { resource: `${elsewhere}/mcp` }],
    ["says nothing readable", "invalid_answer", { resource: 1 }],
  ])("that %s gets nothing", async (_name, reason, change) => {
    verifies("MCP-8");
    world.behaviour.resourceMetadata = (document) => ({ ...document, ...change });
    const failure = await failureOf(logIn());
    expect(failure.reason).toBe(reason);
    expect(world.asked).toEqual([]);
  });

  test.each([
    ["is another than it was named", "insecure", { issuer: elsewhere }],
    [
      "sends people to a script",
      "invalid_answer",
      { authorization_endpoint: "javascript:alert(1)" },
    ],
    ["sends people to a file", "insecure", { authorization_endpoint: "file:///etc/passwd" }],
    [
      "sends people to a place without https",
      "insecure",
      { authorization_endpoint: "http://evil.example.com" },
    ],
    [
      "hides where it sends people to",
      "insecure",
      { authorization_endpoint: "https://good.example.com@evil.example.com/" },
    ],
    ["wants codes without https", "insecure", { token_endpoint: "http://evil.example.com/token" }],
    ["registers without https", "insecure", { registration_endpoint: "http://evil.example.com/" }],
    ["does not offer PKCE", "insecure", { code_challenge_methods_supported: undefined }],
    ["offers weak PKCE alone", "insecure", { code_challenge_methods_supported: ["plain"] }],
  ])("that %s is never shown to the user", async (_name, reason, change) => {
    verifies("MCP-8");
    world.behaviour.issuerMetadata = (document) => ({ ...document, ...change });
    const shown: string[] = [];
    const failure = await failureOf(logIn({ show: (url) => void shown.push(url) }));
    expect(failure.reason).toBe(reason);
    expect(shown).toEqual([]);
    expect(world.asked).not.toContain("/register");
  });

  test.each([
    ["another issuer", (parameters: URLSearchParams) => parameters.set("iss", elsewhere)],
    ["nobody that says so", (parameters: URLSearchParams) => parameters.delete("iss")],
    [
      "another issuer, with an error",
      (parameters: URLSearchParams) => {
        parameters.set("iss", elsewhere);
        parameters.set("error", "believe-me");
        parameters.delete("code");
      },
    ],
  ])("an answer from %s is refused, and its code is not used", async (_name, change) => {
    verifies("MCP-8");
    world.behaviour.answer = change;
    const failure = await failureOf(logIn());
    expect(failure.reason).toBe("insecure");
    expect(failure.message).not.toContain("believe-me");
    expect(world.tokenRequests).toEqual([]);
  });

  test.each([
    ["sends us on to another host", { location: `${elsewhere}/token` }],
    ["sends us on to a file", { location: "file:///etc/passwd" }],
  ])("that %s is not followed", async (_name, headers) => {
    verifies("MCP-8");
    const paths = [
      "/token",
      "/register",
      "/.well-known/oauth-authorization-server",
      "/login-metadata",
    ];
    for (const path of paths) {
      world.behaviour.intercept = (asked, response) => {
        if (asked !== path) return false;
        response.writeHead(307, headers).end();
        return true;
      };
      const failure = await failureOf(logIn());
      expect(failure).toMatchObject({ reason: "insecure" });
      expect(failure.message).toContain("sends us on to another address");
    }
  });

  test("that answers without an end is read up to a bound", async () => {
    verifies("MCP-8");
    for (const path of ["/login-metadata", "/.well-known/oauth-authorization-server", "/token"]) {
      world.behaviour.intercept = (asked, response) => {
        if (asked !== path) return false;
        response.writeHead(200, { "content-type": "application/json" });
        const flood = () => {
          while (!response.destroyed && response.write(" ".repeat(65_536)));
        };
        response.on("drain", flood);
        flood();
        return true;
      };
      const failure = await failureOf(logIn());
      expect(failure).toMatchObject({ reason: "invalid_answer" });
      expect(failure.message).toContain("more than 1 MiB");
    }
  });

  test.each([
    [{ token_type: "mac" }, "not a bearer token"],
    [{ access_token: "a\r\nX-Evil: 1" }, "not a bearer token"],
    [{ access_token: "" }, "not a bearer token"],
    [{ access_token: undefined }, "not a token"],
    [{ access_token: undefined, error: "invalid_grant" }, "refused (invalid_grant"],
  ])("that issues %j issues nothing", async (change, message) => {
    verifies("MCP-8");
    world.behaviour.tokens = (answer) => ({ ...answer, ...change });
    const failure = await failureOf(logIn());
    expect(failure.message).toContain(message);
    expect(await logins.read("remote")).toBeUndefined();
  });

  test("that repeats our secrets does not bring them into a message", async () => {
    verifies("MCP-8");
    const oauth = { client_id: "mine", client_secret: "hush-hush" };
    world.behaviour.intercept = (path, response) => {
      if (path !== "/token") return false;
      const { searchParams } = new URL(response.req.url ?? "", world.url);
      expect(searchParams.size).toBe(0);
      response.writeHead(400, { "content-type": "application/json" });
      response.end(
        JSON.stringify({ error: "invalid_client", error_description: "hush-hush is wrong" }),
      );
      return true;
    };
    const failure = await failureOf(logIn({}, entry(oauth)));
    expect(failure.reason).toBe("refused");
    expect(failure.message).toContain("[redacted] is wrong");
    expect(failure.message).not.toContain("hush-hush");
  });
});
