// Every request there is and who answers it. What this inspector was not given is said to be that.

import type { About } from "../wire/routes.ts";
import type { Changes } from "../wire/home-records.ts";
import type { ChangesAsked } from "./changes.ts";
import { conversationHandlers } from "./conversation-handlers.ts";
import { homeHandlers, type HomeHandlerParts } from "./home-handlers.ts";
import { given, type InspectorPorts } from "./ports.ts";
import {
  abortBody,
  acceptBody,
  answerBody,
  emptyBody,
  playgroundBody,
  runBody,
} from "./read-body.ts";
import { policyHandlers } from "./policy-handlers.ts";
import { requestHandlers } from "./request-handlers.ts";
import type { Handlers } from "./router.ts";
import { sessionHandlers, type SessionHandlerParts } from "./session-handlers.ts";

interface HandlerParts
  extends
    Pick<SessionHandlerParts, "indexes" | "redact">,
    Pick<HomeHandlerParts, "store" | "summaries"> {
  readonly about: Omit<About, "can">;
  readonly ports: InspectorPorts;
  readonly changes: (asked: ChangesAsked) => Promise<Changes>;
}

export function createHandlers({ about, changes, ports, ...parts }: HandlerParts): Handlers {
  const { live, tasks, playground, whatIf, policy, servers, runs, factTexts } = ports;
  const can = {
    answer: live !== undefined,
    playground: playground !== undefined,
    what_if: whatIf !== undefined,
    policy: policy !== undefined,
    servers: servers !== undefined,
    tasks: tasks !== undefined,
    run: runs !== undefined,
  };
  const givenTasks = () => given(tasks, "tasks are not shown");
  const givenServers = () => given(servers, "servers are not shown");
  const givenRuns = () => given(runs, "runs cannot be started");
  const givenPlayground = () => given(playground, "tools cannot be tried");

  return {
    "GET /api/about": { handle: async () => ({ ...about, can }) },
    "GET /api/changes": {
      query: ["cursor", "session_id", "hold"],
      handle: ({ query, signal }) =>
        changes({
          cursor: query.text("cursor"),
          session_id: query.text("session_id"),
          hold: query.flag("hold"),
          signal,
        }),
    },
    ...homeHandlers({ ...parts, ports }),
    ...sessionHandlers({ ...parts, factTexts }),
    ...requestHandlers(parts.indexes, ports.readRequest, parts.redact),
    ...conversationHandlers({ ...parts, live }),
    "GET /api/runs/choices": { handle: async () => givenRuns().choices() },
    "POST /api/runs": {
      body: runBody,
      handle: async ({ body }) => givenRuns().start(body),
    },
    "POST /api/runs/:run_id/abort": {
      body: abortBody,
      async handle({ parts: { run_id }, body: { session_id } }) {
        // A moment after it was started, no one else knows it yet.
        if (runs?.stop(session_id, run_id) === true) return { run_ids: [run_id] };
        const ended = await given(live, "runs cannot be ended").abort(session_id, run_id);
        return { run_ids: [...ended] };
      },
    },
    "POST /api/questions/:question_id/answer": {
      body: answerBody,
      async handle({ parts: { question_id }, body: { session_id, answer } }) {
        await given(live, "questions cannot be answered").answer(session_id, question_id, answer);
        return {};
      },
    },
    "DELETE /api/grants/:grant_id": {
      query: ["session_id"],
      async handle({ parts: { grant_id }, query }) {
        const port = given(live, "grants cannot be taken back");
        await port.revoke(query.needed("session_id"), grant_id);
        return {};
      },
    },
    "GET /api/tasks": { handle: async () => givenTasks().list() },
    "GET /api/tasks/:task_id": {
      handle: async ({ parts: { task_id } }) => givenTasks().graph(task_id),
    },
    "GET /api/playground/tools": { handle: async () => givenPlayground().tools() },
    "POST /api/playground/explain": {
      body: playgroundBody,
      handle: async ({ body }) => givenPlayground().explain(body.tool_name, body.input),
    },
    "POST /api/playground/call": {
      body: playgroundBody,
      handle: async ({ body }) => givenPlayground().call(body.tool_name, body.input),
    },
    "GET /api/playground/calls/:run_id": {
      handle: async ({ parts: { run_id } }) => givenPlayground().ended(run_id),
    },
    ...policyHandlers({ policy, whatIf }),
    "GET /api/playground/history": { handle: async () => givenPlayground().history() },
    "GET /api/servers": { handle: async () => givenServers().list() },
    "POST /api/servers/:server_id/connect": {
      body: emptyBody,
      handle: async ({ parts: { server_id } }) => givenServers().connect(server_id),
    },
    "GET /api/servers/:server_id/tools/:tool_name": {
      handle: async ({ parts: { server_id, tool_name } }) =>
        givenServers().tool(server_id, tool_name),
    },
    "GET /api/servers/:server_id/log": {
      handle: async ({ parts: { server_id } }) => givenServers().log(server_id),
    },
    "POST /api/servers/:server_id/accept": {
      body: acceptBody,
      handle: async ({ parts: { server_id }, body: { shown } }) =>
        givenServers().accept(server_id, shown),
    },
  };
}
