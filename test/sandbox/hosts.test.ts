// Open hosts of a sandbox, with the programs that people use: what they reach by the proxy, and that there is no other way out.

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTcpServer, type AddressInfo, type Server } from "node:net";
import { createSocket } from "node:dgram";
import { join } from "node:path";
import { verifies } from "#laws";
import {
  findExecutable,
  openSandbox,
  startProcess,
  type RunningProcess,
  type SandboxProfile,
} from "@soong/platform";
import { afterAll, beforeAll, expect, onTestFinished, test, type TestContext } from "vitest";
import { createFolder, needsSandbox } from "./support.ts";

const sandbox = openSandbox();
afterAll(() => sandbox.close());

let folder: string;
beforeAll(() => {
  folder = createFolder(process.getuid?.() ?? 0);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PATH = process.env["PATH"] ?? "/usr/bin:/bin";

interface Wanted {
  readonly hosts?: readonly string[];
  readonly closed?: Readonly<Record<string, string>>;
  readonly profile?: Partial<SandboxProfile>;
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly onStdout?: (chunk: Buffer) => void;
}

/** A shell script inside, with these hosts open. */
function start(
  script: string,
  { hosts, closed = {}, profile, env, ...rest }: Wanted = {},
): RunningProcess {
  const network =
    hosts === undefined
      ? {}
      : {
          openHosts: hosts,
          refuseHost: (host: string) =>
            closed[host] ?? (hosts.includes(host) ? undefined : "is not open"),
        };
  return startProcess({
    executable: "/bin/sh",
    argv: ["/bin/sh", "-c", script],
    cwd: folder,
    env: { PATH, HOME: folder, ...env },
    sandbox: {
      by: sandbox,
      profile: {
        writable: [folder],
        fixed: [],
        masked: [],
        absent: [],
        readable: [process.execPath],
        ...network,
        ...profile,
      },
    },
    ...rest,
  });
}

async function run(script: string, wanted: Wanted = {}) {
  let output = "";
  const take = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  const running = start(script, { onStdout: take, ...wanted });
  const { exit_code } = await running.end;
  return { output, exit_code, refused: running.refusedHosts() };
}

async function listen(server: Server, host = "127.0.0.1"): Promise<number> {
  await once(server.listen(0, host), "listening");
  onTestFinished(() => {
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const serve = (answer: RequestListener, host?: string) => listen(createServer(answer), host);

function needs(context: TestContext, ...programs: readonly string[]): void {
  needsSandbox(context, sandbox.state());
  const missing = programs.find(
    (name) => findExecutable(name, { path: PATH, cwd: "/" }) === undefined,
  );
  if (missing !== undefined) context.skip(`needs ${missing}`);
}

test("curl reaches an open host on any port, by IPv4, IPv6 and a tunnel, and is told why another one is closed", async (context) => {
  verifies("CMD-6");
  needs(context, "curl");
  const port = await serve((request, response) => response.end(`here ${request.url}\n`));
  const six = await serve((_, response) => response.end("six\n"), "::1");
  const got = await run(
    `curl -sS http://127.0.0.1:${port}/a
     curl -sS -p http://127.0.0.1:${port}/tunnel
     curl -sS 'http://[::1]:${six}/'
     curl -sS http://denied.example/ https://denied.example/ http://localhost:${port}/
     curl -sS http://closed.example/`,
    {
      hosts: ["127.0.0.1", "[::1]", "closed.example"],
      closed: { "closed.example": 'is closed by rules[0]: no "closed"' },
    },
  );
  expect(got.output).toContain("here /a\nhere /tunnel\nsix\n");
  expect(got.output).toContain("Closed by the sandbox: denied.example is not open.\n");
  expect(got.output).toContain(
    'Closed by the sandbox: closed.example is closed by rules[0]: no "closed".\n',
  );
  expect(got.refused).toEqual([
    { host: "denied.example", port: 80, why: "is not open" },
    { host: "denied.example", port: 443, why: "is not open" },
    { host: "closed.example", port: 80, why: 'is closed by rules[0]: no "closed"' },
  ]);
});

test("a server of the command itself is reached without the proxy, and localhost outside where a rule names it", async (context) => {
  verifies("CMD-6");
  needs(context, "curl");
  const port = await serve((_, response) => response.end("outside\n"));
  const script = `${JSON.stringify(process.execPath)} -e '
    const server = require("http").createServer((_, r) => r.end("inside\\n")).listen(${port}, "127.0.0.1", () => {
      require("child_process").exec("curl -sS http://127.0.0.1:${port}/ http://localhost:${port}/", (_, out) => {
        process.stdout.write(out); server.close(); server.closeAllConnections();
      });
    });'`;
  expect((await run(script, { hosts: ["example.org"] })).output).toBe("inside\ninside\n");
  expect((await run(script, { hosts: ["localhost"] })).output).toBe("inside\noutside\n");
});

test("there is no other way out: TCP, UDP and names are closed, with open hosts as without", async (context) => {
  verifies("CMD-6");
  needs(context);
  let reached = 0;
  const port = await listen(createTcpServer(() => (reached += 1)));
  const udp = createSocket("udp4", () => (reached += 1)).bind(0, "127.0.0.1");
  await once(udp, "listening");
  onTestFinished(() => {
    udp.close();
  });
  const script = `${JSON.stringify(process.execPath)} -e '
    const net = require("net"), dns = require("dns"), dgram = require("dgram");
    const tcp = (host) => new Promise((done) => net.connect(${port}, host)
      .on("connect", () => done("connected")).on("error", (e) => done(e.code)));
    const name = new Promise((done) => dns.lookup("example.org", (e) => done(e ? "no name" : "a name")));
    const server = new Promise((done) => { const r = new dns.Resolver({ timeout: 200, tries: 1 });
      r.setServers(["8.8.8.8"]); r.resolve4("example.org", (e) => done(e ? "no name" : "a name")); });
    const udp = new Promise((done) => { const s = dgram.createSocket("udp4");
      s.send("x", ${udp.address().port}, "127.0.0.1", () => { s.close(); done("sent to itself"); }); });
    Promise.all([tcp("127.0.0.1"), tcp("::1"), tcp("10.0.0.1"), tcp("1.1.1.1"), name, server, udp])
      .then((all) => console.log(all.join()));'`;
  const closed =
    "ECONNREFUSED,ECONNREFUSED,ENETUNREACH,ENETUNREACH,no name,no name,sent to itself\n";
  expect((await run(script)).output).toBe(closed);
  expect((await run(script, { hosts: ["127.0.0.1", "1.1.1.1", "example.org"] })).output).toBe(
    closed,
  );
  expect(reached).toBe(0);
});

test("the command has neither the channel to the runtime nor a trace of it", async (context) => {
  verifies("CMD-6");
  needs(context);
  const script = "ls /proc/self/fd; env | grep -c NODE_CHANNEL; cat";
  const { output } = await run(script);
  expect(output).not.toMatch(/^[4-9]$/m);
  expect(await run(script, { hosts: ["example.org"] })).toMatchObject({ output });
});

test("git clones from an open host", async (context) => {
  verifies("CMD-6");
  needs(context, "git");
  const source = join(folder, "source");
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", source, ...args], { stdio: "ignore" });
  mkdirSync(source);
  git("init", "-q", "-b", "main");
  writeFileSync(join(source, "file"), "content\n");
  git("add", ".");
  git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "one");
  git("update-server-info");
  const { readFile } = await import("node:fs/promises");
  const port = await serve((request, response) => {
    const [path = ""] = (request.url ?? "").split("?");
    readFile(join(source, ".git", path)).then(
      (bytes) => response.end(bytes),
      () => response.writeHead(404).end(),
    );
  });
  const clone = `git clone -q http://127.0.0.1:${port}/ copy 2>&1 && cat copy/file; git clone http://denied.example/x 2>&1 | tail -1`;
  const { output, refused } = await run(clone, { hosts: ["127.0.0.1"] });
  expect(output).toMatch(/^content\n.*403/s);
  expect(refused).toMatchObject([{ host: "denied.example" }]);
});

test("200 MB stream through in bounded memory, up and down, and 50 connections at once", async (context) => {
  verifies("CMD-6");
  needs(context, "curl");
  const size = 200 * 1024 * 1024;
  const some = 10 * 1024 * 1024;
  let waiting: (() => void)[] = [];
  const port = await serve((request, response) => {
    if (request.url === "/wait") {
      waiting.push(() => response.end("x"));
      if (waiting.length < 50) return;
      for (const answer of waiting) answer();
      waiting = [];
      return;
    }
    if (request.method === "PUT") {
      let taken = 0;
      request.on("data", (chunk: Buffer) => (taken += chunk.length));
      request.on("end", () => response.end(`${taken}\n`));
      return;
    }
    const wanted = request.url === "/some" ? some : size;
    response.setHeader("content-length", wanted);
    const chunk = Buffer.alloc(65_536);
    let left = wanted / chunk.length;
    const more = (): void => {
      while (left > 0) {
        left -= 1;
        if (!response.write(chunk)) return void response.once("drain", more);
      }
      response.end();
    };
    more();
  });
  const before = process.memoryUsage.rss();
  let peak = before;
  const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 5);
  onTestFinished(() => clearInterval(timer));
  const url = `http://127.0.0.1:${port}`;
  const { output } = await run(
    `curl -sS ${url}/ | wc -c; curl -sS -p ${url}/some | wc -c
     head -c ${some} /dev/zero | curl -sS -T - ${url}/up
     for i in $(seq 50); do curl -sS -p ${url}/wait & done; wait`,
    { hosts: ["127.0.0.1"] },
  );
  expect(output).toBe(`${size}\n${some}\n${some}\n${"x".repeat(50)}`);
  // Of what an ordinary collection leaves behind; one transfer that is kept would be more.
  expect(peak - before).toBeLessThan(150 * 1024 * 1024);
});

test("the end of the command is the end of its connections, whoever ends it", async (context) => {
  verifies("CMD-6", "CMD-3");
  needs(context, "curl");
  let isBegun: () => void;
  const begun = new Promise<void>((resolve) => {
    isBegun = resolve;
  });
  const closed: Promise<unknown>[] = [];
  const port = await serve((_, response) => {
    closed.push(once(response, "close"));
    response.write("begun");
    if (closed.length === 2) isBegun();
  });
  const abort = new AbortController();
  const running = start(
    `curl -sSN http://127.0.0.1:${port}/ & curl -sSN -p http://127.0.0.1:${port}/ & wait`,
    { hosts: ["127.0.0.1"], signal: abort.signal },
  );
  await begun;
  abort.abort();
  expect(await running.end).toMatchObject({ ended_by: "abort", survivors: 0 });
  await expect(Promise.all(closed)).resolves.toHaveLength(2);
});

test("a way out that cannot be made is a failure, and the command does not run", async (context) => {
  verifies("CMD-6");
  needs(context);
  const node = realpathSync(process.execPath);
  await expect(
    run("touch ran", { hosts: ["example.org"], profile: { masked: [node] } }),
  ).rejects.toThrow(/was not run.*Node is .* closed in the sandbox/s);
  expect((await run("ls")).output).not.toContain("ran");
});

test("a variable of the command does not reach the program that opens the way", async (context) => {
  verifies("CMD-6");
  needs(context);
  writeFileSync(join(folder, "loaded.cjs"), 'process.stdout.write("loaded\\n"); process.exit();');
  const { output } = await run("echo ran", {
    hosts: ["example.org"],
    env: { NODE_OPTIONS: `--require ${join(folder, "loaded.cjs")}` },
  });
  expect(output).toBe("ran\n");
});
