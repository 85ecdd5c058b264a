import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import {
  type Asking,
  problemIn,
  type ServedHome,
  serveHome,
} from "../../../../test/inspector/served-home.ts";
import { MOST_BODY_BYTES } from "./read-body.ts";

let home: ServedHome;
beforeAll(async () => {
  home = await serveHome();
});
afterAll(() => home.close());

const ABOUT = "/api/about";
const EXPLAIN = "/api/playground/explain";

async function problem(path: string, asking: Asking) {
  const answered = await home.ask(path, asking);
  expectSecured(answered.headers);
  expect(answered.headers["content-type"]).toBe("application/json");
  const { error } = problemIn(answered);
  expect(error.message).toMatch(/^[A-Z`].+\.$/u);
  return { status: answered.status, code: error.code, message: error.message, answered };
}

function expectSecured(headers: Readonly<Record<string, unknown>>): void {
  expect(headers).toMatchObject({
    "content-security-policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
      "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  });
  expect(headers["access-control-allow-origin"]).toBeUndefined();
}

/** What a server answers to any bytes; it must end the connection itself. */
function send(...pieces: readonly string[]): Promise<string> {
  return sendTo(home.inspector.port, ...pieces);
}

function sendTo(port: number, ...pieces: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let said = "";
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => (said += chunk));
    socket.on("error", reject);
    socket.on("close", () => resolve(said));
    for (const piece of pieces) socket.write(piece);
  });
}

function headersOf(said: string): Record<string, string> {
  const lines = said.split("\r\n\r\n")[0]?.split("\r\n").slice(1) ?? [];
  return Object.fromEntries(
    lines.map((line) => [line.split(":")[0]?.toLowerCase(), line.slice(line.indexOf(":") + 2)]),
  ) as Record<string, string>;
}

describe("who may ask the inspector", () => {
  test("anyone with the token, under a name of this machine", async () => {
    verifies("UI-1");
    const { port } = home.inspector;
    for (const host of [
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      `LOCALHOST:${port}`,
      `[::1]:${port}`,
    ]) {
      const same = {
        host,
        origin: `http://${host.toLowerCase()}`,
        "sec-fetch-site": "same-origin",
      };
      const answered = await home.ask(ABOUT, { headers: same });
      expect(answered.status).toBe(200);
      expectSecured(answered.headers);
      expect(answered.json()).toMatchObject({ version: "1.2.3", cwd: home.directory });
    }
    const typed = await home.ask("/", { token: null, headers: { "sec-fetch-site": "none" } });
    expect(typed.status).toBe(200);
  });

  test("no one without the token, nor with another one, wherever it is put", async () => {
    verifies("UI-1");
    const right = "a-token-of-this-test-0123456789";
    const asked: [string, Asking][] = [
      [ABOUT, { token: null }],
      [ABOUT, { token: "" }],
      [ABOUT, { token: `${right}0` }],
      [ABOUT, { token: right.slice(0, -1) }],
      [ABOUT, { token: `${right} x` }],
      [ABOUT, { token: null, headers: { authorization: right } }],
      [ABOUT, { token: null, headers: { authorization: `Basic ${right}` } }],
      [ABOUT, { token: null, headers: { cookie: `token=${right}` } }],
      [`${ABOUT}?token=${right}`, { token: null }],
      [`${ABOUT}?access_token=${right}`, { token: null }],
      ["/api/changes?hold=1", { token: null }],
      ["/api/nothing", { token: null }],
      ["/api", { token: null }],
      [EXPLAIN, { token: null, method: "POST", body: "{}" }],
    ];
    for (const [path, asking] of asked) {
      const refused = await problem(path, asking);
      expect(refused).toMatchObject({ status: 401, code: "unauthorized" });
      expect(refused.message).not.toContain(right);
    }
  });

  test("no page of another site, even if its own name resolves to this machine", async () => {
    verifies("UI-1");
    const { port } = home.inspector;
    const others: Record<string, string>[] = [
      { host: `evil.example:${port}` },
      { host: "127.0.0.1" },
      { host: `127.0.0.1:${port + 1}` },
      { host: `127.0.0.1.evil.example:${port}` },
      { host: `127.0.0.1:${port}@evil.example` },
      { origin: "http://evil.example" },
      { origin: "null" },
      { origin: `http://127.0.0.1:${port + 1}` },
      { origin: `https://127.0.0.1:${port}` },
      { origin: `http://127.0.0.1:${port}.evil.example` },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "anything" },
    ];
    for (const headers of others) {
      for (const path of [ABOUT, "/", "/page.js"]) {
        const refused = await problem(path, { headers });
        expect(refused).toMatchObject({ status: 403, code: "forbidden" });
      }
    }
  });

  test("a link on another page leads to the page itself, in a window, and to nothing else", async () => {
    verifies("UI-1");
    const visit = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
    const asDocument = { ...visit, "sec-fetch-dest": "document" };
    expect((await home.ask("/", { headers: asDocument, token: null })).status).toBe(200);
    for (const [path, headers] of [
      ["/", { ...visit, "sec-fetch-dest": "iframe" }],
      ["/", { ...asDocument, "sec-fetch-mode": "cors" }],
      ["/page.js", asDocument],
      [ABOUT, asDocument],
    ] as const) {
      expect(await problem(path, { headers })).toMatchObject({ status: 403, code: "forbidden" });
    }
  });

  test("says 404 and 405 only to those who may ask", async () => {
    verifies("UI-1");
    expect(await problem("/api/nothing", {})).toMatchObject({ status: 404, code: "not_found" });
    expect(await problem("/api/about/", {})).toMatchObject({ status: 404 });
    expect(await problem("//api/about", {})).toMatchObject({ status: 404 });
    expect(await problem("/api/sessions//facts?offset=0&limit=1", {})).toMatchObject({
      status: 404,
    });
    expect(await problem("http://evil.example/api/about", {})).toMatchObject({ status: 404 });
    const wrong = await problem(ABOUT, { method: "DELETE" });
    expect(wrong).toMatchObject({ status: 405, code: "bad_request" });
    expect(wrong.answered.headers.allow).toBe("GET");
    expect(await problem(ABOUT, { method: "OPTIONS" })).toMatchObject({ status: 405 });
    expect(await problem(ABOUT, { method: "OPTIONS", token: null })).toMatchObject({ status: 401 });
    for (const path of [ABOUT, "/"]) {
      const head = await home.ask(path, { method: "HEAD" });
      expect([head.status, head.text]).toEqual([405, ""]);
      expectSecured(head.headers);
    }
    expect(await problem("/", { method: "POST" })).toMatchObject({ status: 405 });
  });
});

describe("the files of the page", () => {
  test("are the ones that are there, and no path leads to others", async () => {
    verifies("UI-1");
    const page = await home.ask("/", { token: null });
    expectSecured(page.headers);
    expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(page.text).toContain("<title>page</title>");
    const script = await home.ask("/page.js?x", { token: null });
    expect(script.headers["content-type"]).toBe("text/javascript; charset=utf-8");
    for (const path of [
      "/../home/store/soong.db",
      "/..%2fhome%2fstore%2fsoong.db",
      "/%2e%2e/home/store/soong.db",
      "/page.js/../../home/store/soong.db",
      "/./page.js",
      "//page.js",
      "/page.js%00",
      "/page%2ejs",
      "/home",
      "/nothing.js",
      "*",
      "/..",
    ]) {
      expect(await problem(path, {})).toMatchObject({ status: 404, code: "not_found" });
    }
  });
});

describe("a body", () => {
  const post = (body: string, headers: Record<string, string> = {}) =>
    problem(EXPLAIN, { method: "POST", body, headers });

  test("is JSON and nothing else", async () => {
    verifies("UI-1");
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/jsonx",
      "",
    ]) {
      expect(await post("{}", { "content-type": type })).toMatchObject({ status: 415 });
    }
    expect(await post("{")).toMatchObject({ status: 400, message: "The body is not JSON." });
    expect(await post("[]")).toMatchObject({ status: 400, message: "The body must be an object." });
    const deep = `{"tool_name":"a.b","input":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
    expect(await post(deep)).toMatchObject({
      status: 400,
      message: "The body is nested deeper than 100 levels.",
    });
    expect(await post("{}", { "content-type": "application/json; charset=utf-8" })).toMatchObject({
      message: "The body needs input.",
    });
  });

  test("may be large, but not too large", async () => {
    verifies("UI-1");
    const body = (size: number): string => {
      const empty = JSON.stringify({ tool_name: "t", input: "" });
      return JSON.stringify({ tool_name: "t", input: "x".repeat(size - empty.length) });
    };
    expect(await post(body(MOST_BODY_BYTES))).toMatchObject({ status: 501, code: "unsupported" });
    const head = [
      `POST ${EXPLAIN} HTTP/1.1`,
      `host: 127.0.0.1:${home.inspector.port}`,
      "authorization: Bearer a-token-of-this-test-0123456789",
      "content-type: application/json",
      "transfer-encoding: chunked",
      "\r\n",
    ].join("\r\n");
    const chunk = `${(MOST_BODY_BYTES + 1).toString(16)}\r\n${" ".repeat(MOST_BODY_BYTES + 1)}\r\n`;
    const said = await send(head, chunk);
    expect(said).toMatch(/^HTTP\/1.1 413 /u);
    expect(said).toContain('"too_large"');
    expectSecured(headersOf(said));
  });

  test("that does not come ends the request, and half of one is none", async () => {
    verifies("UI-1");
    const hasty = await serveHome({ bodyMs: 50 });
    const { port } = hasty.inspector;
    const head = [
      `POST ${EXPLAIN} HTTP/1.1`,
      `host: 127.0.0.1:${port}`,
      "authorization: Bearer a-token-of-this-test-0123456789",
      "content-type: application/json",
      "content-length: 100",
      "\r\n",
    ].join("\r\n");
    const said = await sendTo(port, head, '{"tool_');
    expect(said).toMatch(/^HTTP\/1.1 408 /u);
    expectSecured(headersOf(said));
    // What may still come of it is not taken for another request.
    expect(headersOf(said)["connection"]).toBe("close");
    await hasty.close();
  });
});

describe("what is no request", () => {
  test("is answered with the same headers, also after one that was", async () => {
    verifies("UI-1");
    const good = ["GET /page.js HTTP/1.1", `host: 127.0.0.1:${home.inspector.port}`, "\r\n"].join(
      "\r\n",
    );
    for (const bytes of ["\u0000\u0001garbage\r\n\r\n", `${good}more garbage\r\n\r\n`]) {
      const said = await send(bytes);
      const refused = said.slice(said.indexOf("HTTP/1.1 400 "));
      expect(refused).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/u);
      expectSecured(headersOf(refused));
    }
    const long = await send(good.replace("\r\n\r\n", `\r\nx-long: ${"x".repeat(70_000)}\r\n\r\n`));
    expect(long).toMatch(/^HTTP\/1.1 431 /u);
    expectSecured(headersOf(long));
  });

  test("no header makes the server answer on its own", async () => {
    verifies("UI-1");
    const host = `host: 127.0.0.1:${home.inspector.port}\r\n`;
    const asked: [string, RegExp][] = [
      [`GET ${ABOUT} HTTP/1.1\r\n`, /^HTTP\/1.1 403 /u],
      [`GET ${ABOUT} HTTP/1.1\r\nhost:\r\n`, /^HTTP\/1.1 403 /u],
      [`GET ${ABOUT} HTTP/1.0\r\n`, /^HTTP\/1.1 403 /u],
      [`GET ${ABOUT} HTTP/1.1\r\n${host}expect: a miracle\r\n`, /^HTTP\/1.1 401 /u],
      [`GET ${ABOUT} HTTP/1.1\r\n${host}upgrade: websocket\r\n`, /^HTTP\/1.1 401 /u],
      [`GET ${ABOUT} HTTP/1.1\r\nhost: evil.example\r\n${host}`, /^HTTP\/1.1 403 /u],
    ];
    for (const [head, status] of asked) {
      const said = await send(`${head}connection: close\r\n\r\n`);
      expect(said).toMatch(status);
      expectSecured(headersOf(said));
    }
    expect(await send(`CONNECT evil.example:80 HTTP/1.1\r\n${host}\r\n`)).toBe("");
  });
});
