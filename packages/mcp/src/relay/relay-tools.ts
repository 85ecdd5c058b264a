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
  type ToolResult,
} from "@soong/core";
import { isJsonObject } from "@soong/schema";
import { askServer, type McpHost } from "../call/ask-server.ts";
import { readContent } from "../call/read-content.ts";
import {
  canonicalName,
  HANDLER_TIMEOUT_MS,
  hostTargets,
  mayRunBeside,
} from "../catalog/build-catalog.ts";
import { safeLine, safeText } from "../catalog/safe-text.ts";
import { McpRequestFailure } from "../connection/failure.ts";
import type { MoreTools } from "../source/server-source.ts";

// How the calls that are not tool calls are named, for rules and for the record: after the server, like its tools, so that
// a rule about all of a server is about these as well. No tool has such a name: the protocol allows no "@" in one.

export const READ_RESOURCE = "@read_resource";
export const GET_PROMPT = "@get_prompt";

export type RelayMethod = typeof READ_RESOURCE | typeof GET_PROMPT;

export function relayToolName(server_id: string, method: RelayMethod): string {
  return canonicalName(server_id, method);
}

export function isRelayTool(tool_name: string): boolean {
  return tool_name.endsWith(`.${READ_RESOURCE}`) || tool_name.endsWith(`.${GET_PROMPT}`);
}

interface Relayed {
  readonly name: RelayMethod;
  /** In the protocol. */
  readonly method: string;
  readonly what: string;
  readonly capability: string;
  readonly input_schema: JsonObject;
  /** What a server answered, as a result of ours; throws what is no answer. */
  readonly read: (answer: JsonObject, context: ToolContext) => Promise<HandlerResult>;
}

const RELAYED: readonly Relayed[] = [
  {
    name: READ_RESOURCE,
    method: "resources/read",
    what: "Read a resource",
    capability: "resources",
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
  },
  {
    name: GET_PROMPT,
    method: "prompts/get",
    what: "Get a prompt",
    capability: "prompts",
    input_schema: {
      type: "object",
      properties: {
        name: { type: "string", minLength: 1, maxLength: 512 },
        arguments: { type: "object", additionalProperties: { type: "string" } },
      },
      required: ["name"],
      additionalProperties: false,
    },
    read: readMessages,
  },
];

export function relayTools(host: McpHost | undefined): MoreTools {
  return ({ entry, server, current }) =>
    RELAYED.filter(({ capability }) => server.capabilities[capability] !== undefined).map(
      ({ name, method, what, input_schema, read }): AnyTool => {
        const { server_id, readonly_tools, timeout_ms: timeoutMs } = entry;
        const isReadonly = readonly_tools === "all" || readonly_tools.includes(name);
        return {
          name: relayToolName(server_id, name),
          title: what,
          description: `${what} of the MCP server ${server_id} (${method}).`,
          input_schema,
          permission: isReadonly ? "readonly" : "write",
          destructive: false,
          concurrency_safe: mayRunBeside(entry, name),
          interrupt_behavior: "cancel",
          always_load: true,
          timeout_ms: HANDLER_TIMEOUT_MS,
          metadata: { server_id, server_method: method },
          ...hostTargets(entry),
          async handler(input, context) {
            const now = await current(context.signal).catch((error: unknown) => {
              throw unavailable(context, error);
            });
            const call = { server_id, timeoutMs, host, isReadonly: true };
            return askServer(call, context, {
              send: (options) => now.server.request(method, input as JsonObject, options),
              read: async (answer) => toolResult(await read(answer, context)),
            });
          },
        };
      },
    );
}

function notAnswered(why: string): McpRequestFailure {
  return new McpRequestFailure("invalid_answer", why);
}

function unavailable({ toolName }: ToolContext, error: unknown): ToolFailure {
  return new ToolFailure({
    code: "server_unavailable",
    error_class: "dependency_unavailable",
    message: `${toolName} was not asked: ${safeLine(messageOf(error), 1_000)}`,
    retryable: true,
    recovery: "retry_after_delay",
  });
}

const MAX_DESCRIPTION_CHARS = 4_000;
const MAX_MESSAGES = 500;

/** The kernel knows blocks and no messages: who says each, and how many blocks it takes, are in the metadata. */
async function readMessages(
  { description, messages }: JsonObject,
  context: ToolContext,
): Promise<HandlerResult> {
  if (!Array.isArray(messages)) throw notAnswered("its messages are not a list");
  const content: ToolResult["content"] = [];
  const artifacts: ToolResult["artifacts"] = [];
  const said: JsonObject[] = [];
  for (const message of messages.slice(0, MAX_MESSAGES)) {
    const given = isJsonObject(message) ? message : {};
    const read = await readContent([given["content"] ?? null], context);
    content.push(...read.content);
    artifacts.push(...read.artifacts);
    const role = given["role"] === "assistant" ? "assistant" : "user";
    said.push({ role, blocks: read.content.length });
  }
  const metadata: JsonObject = { messages: said };
  if (typeof description === "string") {
    metadata["description"] = context.redact(safeText(description, MAX_DESCRIPTION_CHARS));
  }
  return { content, artifacts, summary: `${said.length} messages`, metadata };
}

/** The messages of a prompt again. What was cut, or is not as it came any more, is said by the user, in one piece. */
export function splitMessages({ content, metadata }: ToolResult) {
  const { messages, description } = metadata.tool ?? {};
  const said = Array.isArray(messages) ? messages.filter(isJsonObject) : [];
  const roles = said.flatMap(({ role, blocks }) =>
    Array.from({ length: Number(blocks) }, () => role),
  );
  const isWhole = metadata.truncation === undefined && roles.length === content.length;
  return {
    description: typeof description === "string" ? description : undefined,
    messages: content.map((block, index) => {
      const role = isWhole && roles[index] === "assistant" ? "assistant" : "user";
      return { role, block } as const;
    }),
  };
}
