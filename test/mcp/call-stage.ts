// One tool of a scripted server behind the real pipeline of the kernel.

import {
  createHeldClock,
  createKernel,
  createMemoryArtifacts,
  type JsonObject,
  type SessionOptions,
} from "@soong/core";
import { McpRequestFailure, type HostRequestData } from "@soong/mcp";
import { callServerTool } from "../../packages/mcp/src/call/call-server-tool.ts";
import type { McpHost } from "../../packages/mcp/src/call/ask-server.ts";
import { scriptedServer, type ScriptedServer } from "./source-stage.ts";

interface Stage {
  readonly isReadonly?: boolean;
  readonly output_schema?: JsonObject;
  readonly session?: SessionOptions;
  readonly host?: McpHost;
}

/** One tool of a scripted server behind the real pipeline. */
export async function stage(callTool: NonNullable<ScriptedServer["callTool"]>, given: Stage = {}) {
  const server = scriptedServer({ callTool });
  const clock = createHeldClock();
  const { isReadonly = false, output_schema, host } = given;
  const recorded: HostRequestData[] = [];
  const kernel = createKernel({ clock });
  kernel.registry.open({
    id: "git",
    kind: "mcp",
    tools: [
      {
        name: "mcp.git.log",
        description: "Shows the log",
        input_schema: { type: "object" },
        timeout_ms: 600_000,
        ...(output_schema === undefined ? {} : { output_schema }),
        handler: (input, context) =>
          callServerTool(
            {
              server,
              server_id: "git",
              name: "log",
              arguments: input as JsonObject,
              timeoutMs: 100_000,
              isReadonly,
              host,
              record: ({ data }) => void recorded.push(data),
            },
            context,
          ),
      },
    ],
  });
  const artifacts = createMemoryArtifacts();
  const run = await kernel.startRun({
    ask: () => ({ decision: "allow_once" }),
    artifacts,
    ...given.session,
  });
  return {
    run,
    server,
    clock,
    artifacts,
    recorded,
    call: (input = {}) => run.call("mcp.git.log", input),
  };
}

export const answered = async (answer: unknown, given?: Stage) => {
  const staged = await stage(() => Promise.resolve(answer as JsonObject), given);
  return { ...staged, result: await staged.call() };
};

export const failing = (...given: ConstructorParameters<typeof McpRequestFailure>) =>
  stage(() => Promise.reject(new McpRequestFailure(...given)));
