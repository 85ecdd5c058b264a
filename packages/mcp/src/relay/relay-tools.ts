// Reading a resource and getting a prompt as tools of the kernel: evaluated by the rules, approved, bounded,
// redacted and recorded like a tool of that server. No model is shown them.

import {
  messageOf,
  ToolFailure,
  toolResult,
  type AnyTool,
  type HandlerResult,
  type JsonObject,
  type ToolContext,
} from "@soong/core";
import {
  awaitOnCancel,
  toToolFailure,
  callOptions,
  readContent,
  type McpHost,
} from "../call/index.ts";
import { HANDLER_TIMEOUT_MS, hostTargets, mayRunBeside, safeLine } from "../catalog/index.ts";
import { McpRequestFailure } from "../connection/index.ts";
import type { MoreTools } from "../source/index.ts";
import { GET_PROMPT, READ_RESOURCE, relayToolName, type RelayMethod } from "./relay-types.ts";
import { readMessages } from "./relayed-messages.ts";

type About = Parameters<MoreTools>[0];

/** What a server answered, as a result of ours; throws what is no answer. */
type ReadAnswer = (answer: JsonObject, context: ToolContext) => Promise<HandlerResult>;

interface Relayed {
  readonly name: RelayMethod;
  /** In the protocol. */
  readonly method: string;
  readonly what: string;
  readonly input_schema: JsonObject;
  readonly read: ReadAnswer;
}

const MAX_MESSAGE_CHARS = 1_000;

const RESOURCE: Relayed = {
  name: READ_RESOURCE,
  method: "resources/read",
  what: "Read a resource",
  input_schema: {
    type: "object",
    properties: { uri: { type: "string", minLength: 1, maxLength: 8192 } },
    required: ["uri"],
    additionalProperties: false,
  },
  async read({ contents }, context) {
    if (!Array.isArray(contents)) throw notAnswered("its contents are not a list");
    if (contents.length === 0) throw notAnswered("it has no contents");
    const blocks = contents.map((resource) => ({ type: "resource", resource }));
    const { content, artifacts } = await readContent(blocks, context);
    return { content, artifacts };
  },
};

const PROMPT: Relayed = {
  name: GET_PROMPT,
  method: "prompts/get",
  what: "Get a prompt",
  input_schema: {
    type: "object",
    properties: {
      name: { type: "string", minLength: 1, maxLength: 512 },
      arguments: { type: "object", additionalProperties: { type: "string" } },
    },
    required: ["name"],
    additionalProperties: false,
  },
  async read({ description, messages }, context) {
    if (!Array.isArray(messages)) throw notAnswered("its messages are not a list");
    return readMessages(description, messages, context);
  },
};

export function relayTools(host: McpHost | undefined): MoreTools {
  return (about) => {
    const { prompts, resources } = about.server.capabilities;
    return [
      ...(resources === undefined ? [] : [relayTool(RESOURCE, about, host)]),
      ...(prompts === undefined ? [] : [relayTool(PROMPT, about, host)]),
    ];
  };
}

function relayTool(relayed: Relayed, about: About, host: McpHost | undefined): AnyTool {
  const { server_id, readonly_tools } = about.entry;
  const { name, method, what, input_schema } = relayed;
  const isReadonly = readonly_tools === "all" || readonly_tools.includes(name);
  return {
    name: relayToolName(server_id, name),
    title: what,
    description: `${what} of the MCP server ${server_id} (${method}).`,
    input_schema,
    permission: isReadonly ? "readonly" : "write",
    destructive: false,
    concurrency_safe: mayRunBeside(about.entry, name),
    interrupt_behavior: "cancel",
    always_load: true,
    timeout_ms: HANDLER_TIMEOUT_MS,
    metadata: { server_id, server_method: method },
    ...hostTargets(about.entry),
    handler: (input, context) => ask(relayed, about, host, input as JsonObject, context),
  };
}

async function ask(
  { method, read }: Relayed,
  { entry, current }: About,
  host: McpHost | undefined,
  params: JsonObject,
  context: ToolContext,
): Promise<HandlerResult> {
  const now = await current(context.signal);
  if (!now.ok) throw unavailable(context, now.error);
  const { server_id, timeout_ms: timeoutMs } = entry;
  const options = callOptions({ server_id, timeoutMs, host }, context);
  const answer = now.server.request(method, params, options);
  awaitOnCancel(answer, context);
  try {
    return toolResult(await read(await answer, context));
  } catch (error) {
    if (!(error instanceof McpRequestFailure)) throw error;
    throw toToolFailure(error, { isReadonly: true, timeoutMs }, context.toolName);
  }
}

function notAnswered(why: string): McpRequestFailure {
  return new McpRequestFailure("invalid_answer", why);
}

function unavailable({ toolName }: ToolContext, error: unknown): ToolFailure {
  return new ToolFailure({
    code: "server_unavailable",
    error_class: "dependency_unavailable",
    message: `${toolName} was not asked: ${safeLine(messageOf(error), MAX_MESSAGE_CHARS)}`,
    retryable: true,
    recovery: "retry_after_delay",
  });
}
