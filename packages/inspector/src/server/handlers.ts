// Every request there is and who answers it. What this inspector was not given is said to be that.

import { artifactHandlers } from "./artifact-handlers.ts";
import type { HandlerParts, Handlers } from "./handler.ts";
import { abortBody, acceptBody, answerBody, playgroundBody, whatIfBody } from "./given-bodies.ts";
import { InspectorError } from "./ports.ts";
import { runHandlers } from "./run-handlers.ts";
import { sessionHandlers } from "./session-handlers.ts";

export function createHandlers(parts: HandlerParts): Handlers {
  const { about, changes } = parts;
  const { live, tasks, playground, whatIf, servers } = parts.ports;

  return {
    "GET /api/about": {
      async handle() {
        return {
          ...about,
          can: {
            answer: live !== undefined,
            playground: playground !== undefined,
            what_if: whatIf !== undefined,
            servers: servers !== undefined,
            tasks: tasks !== undefined,
          },
        };
      },
    },
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
    ...sessionHandlers(parts),
    ...runHandlers(parts),
    ...artifactHandlers(parts),
    "POST /api/runs/:run_id/abort": {
      body: abortBody,
      async handle({ parts: { run_id }, body: { session_id } }) {
        const runs = await given(live, "runs cannot be ended").abort(session_id, run_id);
        return { run_ids: [...runs] };
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
    "GET /api/tasks": { handle: async () => given(tasks, "tasks are not shown").list() },
    "GET /api/tasks/:task_id": {
      handle: async ({ parts: { task_id } }) => given(tasks, "tasks are not shown").graph(task_id),
    },
    "GET /api/playground/tools": {
      handle: async () => given(playground, "tools cannot be tried").tools(),
    },
    "POST /api/playground/explain": {
      body: playgroundBody,
      handle: async ({ body: { tool_name, input } }) =>
        given(playground, "tools cannot be tried").explain(tool_name, input),
    },
    "POST /api/playground/call": {
      body: playgroundBody,
      handle: async ({ body: { tool_name, input } }) =>
        given(playground, "tools cannot be tried").call(tool_name, input),
    },
    "GET /api/playground/calls/:run_id": {
      handle: async ({ parts: { run_id } }) =>
        given(playground, "tools cannot be tried").ended(run_id),
    },
    "POST /api/what-if": {
      body: whatIfBody,
      handle: async ({ body }) =>
        given(whatIf, "runs cannot be decided again under another config")(body),
    },
    "GET /api/servers": { handle: async () => given(servers, "servers are not shown").list() },
    "POST /api/servers/:server_id/accept": {
      body: acceptBody,
      handle: async ({ parts: { server_id }, body: { shown } }) =>
        given(servers, "definitions cannot be accepted").accept(server_id, shown),
    },
  };
}

function given<Port>(port: Port | undefined, otherwise: string): Port {
  if (port !== undefined) return port;
  throw new InspectorError("unsupported", `In this inspector ${otherwise}.`);
}
