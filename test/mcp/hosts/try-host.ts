// One host once, over one transport: a scripted model lets it read a file and then write one through `soong mcp serve`,
// and the journal of the served session and what came back to the model say whether it did.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Fact } from "@soong/core";
import { openStore } from "@soong/store";
import type { Host, HostStage, HttpServer, ModelCall } from "./hosts.ts";
import { openModelEndpoint, type ModelEndpoint } from "../../bridge/harness/model-endpoint.ts";
import type { Play } from "../../bridge/harness/wire-format.ts";

export interface Trial {
  readonly host: Host;
  readonly installed: string;
  readonly transport: HostStage["server"]["kind"];
}

export type Outcome =
  | { readonly ok: true; readonly saw: string }
  | { readonly ok: false; readonly problems: readonly string[]; readonly said: string };

/** A host that takes longer has hung. */
const LONGEST_MS = 120_000;
/** More calls than this go round in a circle. */
const MOST_CALLS = 10;

/** `program`: the command, as a file for Node. */
export async function tryHost(program: string, trial: Trial): Promise<Outcome> {
  const place = await makePlace();
  const marker = `marker-${randomUUID()}`;
  const endpoint = await openModelEndpoint(playing(trial.host, marker));
  const serve = [program, "mcp", "serve", ...(trial.host.serveArgs ?? [])];
  const served = trial.transport === "http" ? await serveHttp(serve, place) : undefined;
  try {
    await write(join(place.project, "greeting.txt"), `${marker}\n`);
    const { files, argv, env } = trial.host.prepare({
      installed: trial.installed,
      home: place.hostHome,
      model: endpoint.url,
      server: served?.server ?? {
        kind: "stdio",
        command: process.execPath,
        args: serve,
        env: { SOONG_AGENT_HOME: place.home },
      },
    });
    for (const [file, text] of Object.entries(files)) await write(file, text);
    const ended = await run(argv, place.project, { ...surroundings(place.hostHome), ...env });
    await served?.stop();
    const facts = await factsOf(place.home);
    return judged(trial.host, { ended, endpoint, place, marker, facts });
  } finally {
    await served?.stop();
    await endpoint.close();
    await rm(place.around, { recursive: true, force: true });
  }
}

interface Place {
  readonly around: string;
  readonly project: string;
  /** Of Soong. */
  readonly home: string;
  readonly hostHome: string;
}

async function makePlace(): Promise<Place> {
  const around = await realpath(await mkdtemp(join(tmpdir(), "soong-host-")));
  const [project, home, hostHome] = ["project", "home", "host-home"].map((name) =>
    join(around, name),
  ) as [string, string, string];
  for (const folder of [project, home, hostHome]) await mkdir(folder, { mode: 0o700 });
  return { around, project, home, hostHome };
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

/** Read, then write, then an end; a request for something else, such as a title, gets some words. */
function playing(host: Host, marker: string): Play {
  let calls = 0;
  return (seen) => {
    const isRead = seen.results.some(({ text }) => text.includes(marker));
    const isOver = isRead && seen.results.some(({ text }) => text.includes("code.write_file"));
    if (seen.tools.length === 0 || isOver || calls >= MOST_CALLS) return { text: "Done." };
    calls += 1;
    const wanted: ModelCall = isRead
      ? { name: "code__write_file", input: { path: "answer.txt", content: "42" } }
      : { name: "code__read_file", input: { path: "greeting.txt" } };
    const name = seen.tools.find((tool) => tool.endsWith(wanted.name));
    const call = name === undefined ? host.reach?.(wanted, seen) : { ...wanted, name };
    return call === undefined
      ? { text: "There is no such tool." }
      : { calls: [{ name: call.name, arguments: JSON.stringify(call.input) }] };
  };
}

interface Seen {
  readonly ended: Ended;
  readonly endpoint: ModelEndpoint;
  readonly place: Place;
  readonly marker: string;
  readonly facts: readonly Fact[];
}

function judged(host: Host, { ended, endpoint, place, marker, facts }: Seen): Outcome {
  const problems: string[] = [];
  const expect = (isSo: boolean, problem: string): void => {
    if (!isSo) problems.push(problem);
  };
  const { requests } = endpoint;
  const hasModel = host.name !== "inspector";
  const results = hasModel
    ? requests.flatMap((request) => request.results.map(({ text }) => text))
    : [ended.said];
  const denial = results.find((result) => result.includes("code.write_file"));
  const reads = facts.filter(isEnd("tool.completed", "code.read_file"));
  expect(ended.code === 0, `it ended with ${ended.code ?? "a signal"}`);
  expect(!hasModel || requests.length > 0, "it never asked its model");
  expect(reads.length === 1, `the journal has ${reads.length} completed calls of code.read_file`);
  expect(
    results.some((result) => result.includes(marker)),
    "what code.read_file returned did not come back",
  );
  if (hasModel) {
    const denied = facts.filter(isEnd("tool.denied", "code.write_file"));
    expect(denied.length === 1, `the journal has ${denied.length} denied calls of code.write_file`);
    expect(
      denial?.includes("soong attach") === true,
      `how to allow the write did not come back: ${denial}`,
    );
  }
  expect(!existsSync(join(place.project, "answer.txt")), "a write that nobody allowed happened");
  expect(facts.at(-1)?.type === "run.completed", "the run of the served session has no end");
  if (problems.length > 0) return { ok: false, problems, said: tail(ended.said, endpoint) };
  const format = requests[0]?.format;
  const saw = hasModel
    ? `${format}, ${requests.length} requests: read, then denied a write and told how to allow it`
    : "read";
  return { ok: true, saw };
}

function isEnd(type: Fact["type"], tool: string): (fact: Fact) => boolean {
  return (fact) => fact.type === type && fact.tool_name === tool;
}

function tail(said: string, { strays, requests }: ModelEndpoint): string {
  const asked = requests.map(
    ({ tools, results }) => `${tools.length} tools, ${results.length} results`,
  );
  return [
    ...said.trim().split("\n").slice(-15),
    ...(asked.length === 0 ? [] : [`asked of the model: ${asked.join("; ")}`]),
    ...strays.slice(0, 5).map((stray) => `stray request: ${stray}`),
  ].join("\n");
}

/** The session that was used: a host may start a server once more, only to look at it. */
async function factsOf(home: string): Promise<readonly Fact[]> {
  const store = await openStore({ directory: home });
  try {
    const sessions = await store.sessions();
    const [used] = sessions.toSorted((a, b) => b.last_seq - a.last_seq);
    if (used === undefined) return [];
    const reader = await store.readSession(used.session_id);
    return await reader.facts({ after: 0, limit: 10_000 });
  } finally {
    await store.close();
  }
}

async function serveHttp(
  serve: readonly string[],
  { home, project }: Place,
): Promise<{ server: HttpServer; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [...serve, "--http", "0"], {
    cwd: project,
    env: { ...surroundings(home), SOONG_AGENT_HOME: home },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(child, "close");
  const url = await new Promise<string>((resolve, reject) => {
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      const found = / at (http:\S+\/mcp)\. /.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
    void ended.then(() => reject(new Error(`soong mcp serve ended: ${said}`)));
  });
  const token = (await readFile(join(home, "mcp-serve-token"), "utf8")).trim();
  return {
    server: { kind: "http", url, token },
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

interface Ended {
  readonly code: number | null;
  readonly said: string;
}

async function run(
  [command = "", ...args]: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Ended> {
  const child = spawn(command, args, {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: LONGEST_MS,
    killSignal: "SIGKILL",
  });
  let said = "";
  const hear = (text: string): void => {
    said += text;
  };
  child.stdout.setEncoding("utf8").on("data", hear);
  child.stderr.setEncoding("utf8").on("data", hear);
  const failed = new Promise<Ended>((resolve) => {
    child.once("error", (error) => resolve({ code: null, said: error.message }));
  });
  const closed = once(child, "close").then(([code]) => ({ code: code as number | null, said }));
  return Promise.race([failed, closed]);
}

/** Nothing of whoever runs this, and no way out of this machine. */
function surroundings(home: string): Record<string, string> {
  const nowhere = "http://127.0.0.1:9";
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    HTTP_PROXY: nowhere,
    HTTPS_PROXY: nowhere,
    NO_PROXY: "127.0.0.1,localhost",
    NO_COLOR: "1",
    TERM: "dumb",
  };
}
