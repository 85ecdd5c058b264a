// An MCP server written by hand, so that it can misbehave: JSON lines over stdio, in either era.
// Its one argument is JSON: { era?: "2025" | "2026", noise?, crash?, never?, dieOnUnknown?, silentOnUnknown?,
// stubborn?, oddTools?, listDies? }.

/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-call, typescript/no-unsafe-member-access -- it reads whatever it is sent */

import { spawn } from "node:child_process";

const behaviour = JSON.parse(process.argv[2] ?? "{}");
const era = behaviour.era ?? "2025";
/** @type {any[]} */
const seen = [];
/** @type {any[]} */
const unanswered = [];
const waiting = new Map();
/** @type {any} */
let listening;
let nextId = 1;

if (behaviour.crash !== undefined) {
  process.stderr.write(`${behaviour.crash}\n`);
  process.exit(3);
}
process.stderr.write("the server has begun\n");
if (behaviour.noise) process.stdout.write("Listening…\n{ not json\n\n[1, 2]\n");
if (behaviour.stubborn) {
  process.on("SIGTERM", () => {});
  setInterval(() => {}, 1000);
}

let text = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  text += chunk;
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n")) {
    const line = text.slice(0, end);
    text = text.slice(end + 1);
    if (line.trim() !== "") take(JSON.parse(line));
  }
});

/** @param {any} message */
function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

/**
 * @param {any} id
 * @param {any} result
 */
function answer(id, result) {
  const complete = { resultType: "complete", ...result };
  send({ id, result: era === "2026" ? complete : result });
}

/** @param {any} message */
function take(message) {
  seen.push(message);
  if (behaviour.never) return;
  const { id, method, params } = message;
  if (method === undefined) {
    waiting.get(id)?.(message.result ?? message.error);
    return;
  }
  if (era === "2026" && method === "server/discover") {
    answer(id, {
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: { listChanged: true } },
      instructions: "Be kind.",
      ttlMs: 0,
      cacheScope: "private",
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "plain", version: "2" } },
    });
  } else if (era === "2025" && method === "initialize") {
    answer(id, {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: "plain", version: "1" },
      instructions: "Be kind.",
    });
  } else if (era === "2026" && method === "subscriptions/listen") {
    listening = id;
    send({
      method: "notifications/subscriptions/acknowledged",
      params: {
        notifications: { toolsListChanged: true },
        _meta: { "io.modelcontextprotocol/subscriptionId": id },
      },
    });
  } else if (method === "tools/list") {
    if (behaviour.listDies) process.exit(4);
    const tools = behaviour.oddTools ?? [{ name: "echo", inputSchema: { type: "object" } }];
    answer(id, {
      tools,
      nextCursor: params.cursor === "2" ? "" : "2",
      ttlMs: 0,
      cacheScope: "private",
    });
  } else if (method === "tools/call") {
    call(id, params);
  } else if (id !== undefined) {
    if (behaviour.dieOnUnknown) process.exit(5);
    if (!behaviour.silentOnUnknown)
      send({ id, error: { code: -32601, message: "no such method" } });
  }
}

/**
 * @param {any} id
 * @param {any} params
 */
function call(id, params) {
  const { name, arguments: input, _meta: meta } = params;
  if (name === "echo") {
    answer(id, { content: [{ type: "text", text: String(input.text) }], _meta: { heard: true } });
  } else if (name === "odd") {
    answer(id, {
      content: [{ type: "hologram", depth: 3 }, 7],
      structuredContent: [1],
      extra: true,
    });
  } else if (name === "environment") {
    answer(id, { content: [], structuredContent: { env: process.env, cwd: process.cwd() } });
  } else if (name === "seen") {
    answer(id, { content: [], structuredContent: { seen } });
  } else if (name === "die") {
    process.stderr.write(`dying with ${process.env.PLAIN_SECRET ?? "nothing"}\n`);
    process.exit(3);
  } else if (name === "last_words") {
    process.stdout.write(
      `${JSON.stringify({ jsonrpc: "2.0", id, result: { content: [] } })}\n`,
      () => {
        process.exit(0);
      },
    );
  } else if (name === "fail") {
    send({
      id,
      error: { code: -32042, message: "see\u001b[31m there", data: { elicitations: [] } },
    });
  } else if (name === "raw") {
    send({ id: input.textId ? String(id) : id, ...input.answer });
  } else if (name === "hurry") {
    const params = { progressToken: meta.progressToken, progress: 1 };
    const progress = { jsonrpc: "2.0", method: "notifications/progress", params };
    const last = { jsonrpc: "2.0", id, result: { content: [] } };
    // Several messages in one line, as the protocol once had it.
    process.stdout.write(`${JSON.stringify([progress, last])}\n`);
  } else if (name === "poke") {
    for (const progressToken of unanswered) {
      const params = { progressToken, progress: 1, total: 3, message: "on the way" };
      send({ method: "notifications/progress", params });
    }
    answer(id, { content: [] });
  } else if (name === "log") {
    send({ method: "notifications/message", params: { level: "info", data: input.text } });
    answer(id, { content: [] });
  } else if (name === "flood") {
    process.stdout.write("x".repeat(40_000_000));
  } else if (name === "child") {
    const child = spawn(
      process.execPath,
      ["-e", "process.on('SIGTERM', () => {}); console.log('ready'); setInterval(() => {}, 1000);"],
      { stdio: ["ignore", "pipe", "ignore"], detached: input.detached === true },
    );
    child.stdout.once("data", () => {
      answer(id, { content: [], structuredContent: { pid: child.pid } });
    });
  } else if (name === "change") {
    const method = "notifications/tools/list_changed";
    const about = { "io.modelcontextprotocol/subscriptionId": listening };
    if (era === "2025") send({ method });
    else if (listening !== undefined) send({ method, params: { _meta: about } });
    answer(id, { content: [] });
  } else if (name === "ask") {
    ask(id, params);
  } else {
    // Whatever else is called is never answered.
    unanswered.push(meta.progressToken);
  }
}

/**
 * @param {any} id
 * @param {any} params
 */
function ask(id, params) {
  const question = {
    method: "elicitation/create",
    params: params.arguments.question ?? {
      mode: "form",
      message: "Which colour?",
      requestedSchema: { type: "object", properties: { colour: { type: "string" } } },
    },
  };
  if (era === "2026") {
    const { inputResponses, requestState } = params;
    if (inputResponses === undefined || params.arguments.endless) {
      send({
        id,
        result: {
          resultType: "input_required",
          inputRequests: { q: question },
          requestState: "s1",
        },
      });
    } else {
      answer(id, { content: [], structuredContent: { reply: inputResponses.q, requestState } });
    }
    return;
  }
  const questionId = `question-${nextId}`;
  nextId += 1;
  waiting.set(questionId, (/** @type {any} */ reply) =>
    answer(id, { content: [], structuredContent: { reply } }),
  );
  send({ id: questionId, ...question });
}
