import type { lookup, LookupAddress } from "node:dns";
import { once } from "node:events";
import { createServer, request as requestHttp, type RequestListener } from "node:http";
import { connect, createServer as createTcpServer, type AddressInfo, type Server } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test, vi } from "vitest";
import { openHostProxy, type HostProxyOptions } from "./host-proxy.ts";

async function listen(server: Server, host = "127.0.0.1"): Promise<number> {
  await once(server.listen(0, host), "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

function webServer(answer: RequestListener, host?: string): Promise<number> {
  return listen(createServer(answer), host);
}

/** A proxy with these open hosts, and one connection to it that says `sent` and reads to its end. */
async function openProxy(openHosts: readonly string[], more: Partial<HostProxyOptions> = {}) {
  const proxy = openHostProxy({
    openHosts,
    refuseHost: (host) =>
      openHosts.includes(host) || openHosts.includes("*") ? undefined : "is not open",
    ...more,
  });
  onTestFinished(() => proxy.close());
  const listener = createTcpServer();
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const { port } = listener.address() as AddressInfo;
  proxy.serve(listener);
  const say = async (sent: string): Promise<string> => {
    const socket = connect(port, "127.0.0.1");
    socket.write(sent);
    return text(socket);
  };
  return { proxy, port, say };
}

const CLOSE = "Connection: close\r\n\r\n";

test("a request for an open host is passed on under that host, without what belongs to the connection", async () => {
  const port = await webServer((request, response) => {
    response.setHeader("set-cookie", ["a=1", "b=2"]);
    response.end(JSON.stringify([request.method, request.url, request.rawHeaders]));
  });
  const { say, proxy } = await openProxy(["127.0.0.1"]);
  const answer = await say(
    `GET http://127.0.0.1:${port}/page?x=1 HTTP/1.1\r\nHost: other.example\r\nX-Own: 1\r\nX-Hop: 2\r\nProxy-Authorization: Basic x\r\nConnection: close, X-Hop\r\n\r\n`,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(answer).toMatch(/set-cookie: a=1\r\nset-cookie: b=2/);
  expect(answer).toContain(
    JSON.stringify([
      "GET",
      "/page?x=1",
      ["X-Own", "1", "Host", `127.0.0.1:${port}`, "Connection", "close"],
    ]),
  );
  expect(proxy.refused()).toEqual([]);
});

test("a tunnel passes bytes both ways, on any port, and each way ends on its own", async () => {
  const port = await listen(
    createTcpServer({ allowHalfOpen: true }, (socket) => {
      let all = "";
      socket.on("data", (chunk: Buffer) => {
        all += chunk.toString();
      });
      socket.once("end", () => socket.end(all.toUpperCase()));
    }),
  );
  const { port: proxyPort } = await openProxy(["127.0.0.1"]);
  const socket = connect({ port: proxyPort, host: "127.0.0.1", allowHalfOpen: true });
  socket.end(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\nhello`);
  expect(await text(socket)).toBe("HTTP/1.1 200 Connection established\r\n\r\nHELLO");
});

test("what is not open is refused in one sentence and recorded once for each host and port", async () => {
  const { say, proxy } = await openProxy(["example.org"]);
  const sentence = "Closed by the sandbox: denied.example is not open.";
  const tunnel = await say("CONNECT Denied.example.:443 HTTP/1.1\r\n\r\n");
  expect(tunnel).toMatch(`HTTP/1.1 403 ${sentence}\r\n`);
  expect(await say(`GET http://denied.example/ HTTP/1.1\r\nHost: x\r\n${CLOSE}`)).toMatch(
    `\r\n${sentence}\n`,
  );
  await say("CONNECT denied.example:443 HTTP/1.1\r\n\r\n");
  expect(proxy.refused()).toEqual([
    { host: "denied.example", port: 443, why: "is not open" },
    { host: "denied.example", port: 80, why: "is not open" },
  ]);
});

function resolveTo(...addresses: readonly string[]): typeof lookup {
  const found = addresses.map((address): LookupAddress => ({
    address,
    family: address.includes(":") ? 6 : 4,
  }));
  const resolve = (_: string, __: unknown, done: (e: null, all: LookupAddress[]) => void): void =>
    done(null, found);
  return resolve as unknown as typeof lookup;
}

test.each([
  ["a name that leads here", ["api.example"], "api.example", ["127.0.0.1"]],
  [
    "one private address among others",
    ["api.example"],
    "api.example",
    ["93.184.216.34", "10.0.0.1"],
  ],
  ["the address of cloud metadata", ["*"], "api.example", ["169.254.169.254"]],
  ["an address that only a pattern opens", ["*"], "127.0.0.1", []],
  ["an address in another spelling", ["*"], "[::ffff:127.0.0.1]", []],
  ["localhost, where a pattern opens all", ["*"], "localhost", ["127.0.0.1"]],
  [
    "a name of its own, where localhost is open",
    ["api.example", "localhost"],
    "api.example",
    ["::1"],
  ],
])("%s is closed", async (_, open, host, addresses) => {
  let connections = 0;
  const port = await listen(createTcpServer(() => (connections += 1)));
  const { say, proxy } = await openProxy(open, { resolve: resolveTo(...addresses) });
  expect(await say(`CONNECT ${host}:${port} HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1\.1 403 /);
  expect(proxy.refused()).toMatchObject([
    { port, why: expect.stringContaining("this machine or of a private network") as string },
  ]);
  expect(connections).toBe(0);
});

test.each([
  ["localhost, named", ["localhost"], "localhost", ["127.0.0.1"]],
  ["a name, with its private address", ["api.example", "127.0.0.1"], "api.example", ["127.0.0.1"]],
  ["an address of IPv6", ["[::1]"], "[::1]", ["::1"]],
])("%s is open", async (_, open, host, [address = ""]) => {
  const port = await webServer((__, response) => response.end("here"), address);
  const { say, proxy } = await openProxy(open, { resolve: resolveTo(address) });
  expect(await say(`GET http://${host}:${port}/ HTTP/1.1\r\nHost: x\r\n${CLOSE}`)).toMatch("here");
  expect(proxy.refused()).toEqual([]);
});

test("a client that cannot receive a refusal does not open a host by that", async () => {
  const { say, proxy } = await openProxy([], {
    onRefusedHost() {
      throw new Error("the journal is full");
    },
  });
  expect(await say("CONNECT denied.example:443 HTTP/1.1\r\n\r\n")).toBe("");
  expect(await say(`GET http://denied.example/ HTTP/1.1\r\nHost: x\r\n${CLOSE}`)).toBe("");
  expect(proxy.refused()).toHaveLength(2);
});

test("a deny of the address counts, also where a name that is open leads to it", async () => {
  const { say } = await openProxy(["localhost", "127.0.0.1"], {
    refuseHost: (host) => (host === "localhost" ? undefined : "is closed by rules[0]"),
    openHosts: ["api.example", "127.0.0.1"],
    resolve: resolveTo("127.0.0.1"),
  });
  expect(await say("CONNECT localhost:9 HTTP/1.1\r\n\r\n")).toMatch(/^HTTP\/1\.1 403 /);
});

test.each([
  "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n",
  "GET https://127.0.0.1/ HTTP/1.1\r\nHost: x\r\n",
  "GET http://user@127.0.0.1/ HTTP/1.1\r\nHost: x\r\n",
  "GET http://127.1/ HTTP/1.1\r\nHost: x\r\n",
  "GET http://2130706433/ HTTP/1.1\r\nHost: x\r\n",
  "GET http://127.0.0.1\\@denied.example/ HTTP/1.1\r\nHost: x\r\n",
  "GET http://127.0.0.1#@denied.example/ HTTP/1.1\r\nHost: x\r\n",
  "GET http:///x HTTP/1.1\r\nHost: x\r\n",
  "OPTIONS * HTTP/1.1\r\nHost: x\r\n",
  "CONNECT 127.0.0.1 HTTP/1.1\r\n",
  "CONNECT 127.0.0.1:0 HTTP/1.1\r\n",
  "CONNECT 127.0.0.1:65536 HTTP/1.1\r\n",
  "CONNECT 127.0.0.1:80:80 HTTP/1.1\r\n",
  "CONNECT http://127.0.0.1:80 HTTP/1.1\r\n",
  "CONNECT [::1 HTTP/1.1\r\n",
  "POST http://127.0.0.1/ HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n",
  "POST http://127.0.0.1/ HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: 5\r\n",
  "POST http://127.0.0.1/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n",
  "POST http://127.0.0.1/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n",
  "GET http://127.0.0.1/ HTTP/1.1\nHost: x\r\n folded: 1\r\n",
  "\u0016\u0003\u0001 no HTTP\r\n",
  "PRI * HTTP/2.0\r\n",
])("%j is refused, and no connection is made", async (sent) => {
  const { say, proxy } = await openProxy(["127.0.0.1"], {
    resolve: (() => expect.unreachable()) as unknown as typeof lookup,
  });
  expect(await say(`${sent}${CLOSE}`)).toMatch(/^HTTP\/1\.1 400 /);
  expect(proxy.refused()).toEqual([]);
});

test("headers of more than 64 KiB are refused, from either side", async () => {
  const port = await webServer((_, response) => {
    response.setHeader("x-long", "x".repeat(70_000));
    response.end();
  });
  const { say } = await openProxy(["127.0.0.1"]);
  const target = `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\n`;
  expect(await say(`${target}x: ${"x".repeat(70_000)}\r\n${CLOSE}`)).toMatch(/^HTTP\/1\.1 431 /);
  expect(await say(`${target}${CLOSE}`)).toMatch(/^HTTP\/1\.1 502 /);
});

test("a body cannot carry a second request past the host that was judged", async () => {
  const seen: string[] = [];
  const port = await webServer((request, response) => {
    void text(request).then((body) => {
      seen.push(`${request.method} ${request.url} ${body}`);
      response.end();
    });
  });
  const { say, proxy } = await openProxy(["127.0.0.1"]);
  const inner = "GET http://denied.example/ HTTP/1.1\r\nHost: denied.example\r\n\r\n";
  const post = `POST http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\nConnection: content-length\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`;
  await say(`${post}${inner.replace("\r\n\r\n", `\r\n${CLOSE}`)}`);
  expect(seen).toEqual([`POST / ${inner}`]);
  expect(proxy.refused()).toMatchObject([{ host: "denied.example", port: 80 }]);
});

test("an upload streams, an answer without a length streams, and a host that breaks off is named", async () => {
  const port = await webServer((request, response) => {
    if (request.url === "/gone") return void request.socket.destroy();
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
    });
    request.on("end", () => response.end(String(size)));
  });
  const { say, port: proxyPort } = await openProxy(["127.0.0.1"]);
  const answer = await new Promise<string>((resolve, reject) => {
    const sent = requestHttp(
      { host: "127.0.0.1", port: proxyPort, method: "PUT", path: `http://127.0.0.1:${port}/` },
      (received) => resolve(text(received)),
    );
    sent.once("error", reject);
    for (let count = 0; count < 64; count += 1) sent.write(Buffer.alloc(65_536));
    sent.end();
  });
  expect(answer).toBe(String(64 * 65_536));
  expect(await say(`GET http://127.0.0.1:${port}/gone HTTP/1.0\r\n\r\n`)).toMatch(
    /^HTTP\/1\.1 502 [^]*127\.0\.0\.1 cannot be reached: /,
  );
});

test("requests that are sent before the first is answered do not open connections without end", async () => {
  let reached = 0;
  const port = await listen(createTcpServer(() => (reached += 1)));
  const { proxy, port: proxyPort } = await openProxy(["127.0.0.1"]);
  const socket = connect(proxyPort, "127.0.0.1").on("error", () => {});
  socket.write(`GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(2000));
  // The others wait behind the first, which is never answered.
  await vi.waitFor(() => expect(reached).toBe(511), { timeout: 20_000 });
  proxy.close();
  await once(socket, "close");
  expect(reached).toBe(511);
});

test("its end is the end of every connection", async () => {
  const port = await webServer((_, response) => void response.write("the beginning"));
  const { proxy, port: proxyPort } = await openProxy(["127.0.0.1"]);
  const sockets = ["CONNECT", "GET"].map((method) => {
    const socket = connect(proxyPort, "127.0.0.1");
    const target = method === "GET" ? `http://127.0.0.1:${port}/` : `127.0.0.1:${port}`;
    socket.write(`${method} ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
    return socket;
  });
  await Promise.all(sockets.map((socket) => once(socket, "data")));
  const closed = sockets.map((socket) =>
    once(
      socket.on("error", () => {}),
      "close",
    ),
  );
  proxy.close();
  await expect(Promise.all(closed)).resolves.toHaveLength(2);
});
