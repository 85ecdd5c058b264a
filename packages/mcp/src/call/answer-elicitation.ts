// A question of the server, from inside a call (MCP-5). It reaches the user through the call's own context,
// so hooks see it and the clock is paused; an answer goes back only if it is what was asked for.

import {
  compileSchema,
  readSchema,
  type ElicitationAnswer,
  type ElicitationRequest,
  type JsonObject,
  type ToolContext,
} from "@soong/core";
import { isJsonObject } from "@soong/schema";
import { inTime } from "@soong/platform";
import { isSafe, safeSchema, safeText } from "../catalog/safe-text.ts";
import type { McpRequestFailure } from "../connection/failure.ts";

const MAX_MESSAGE_CHARS = 4_000;
const MAX_URL_CHARS = 4_000;
/** The user may mistype; a hook that answers wrongly would do so for ever. */
const MAX_ATTEMPTS = 3;

const DECLINED: ElicitationAnswer = { action: "decline" };

/** Never rejects: what cannot be asked or answered is declined. */
export async function answerElicitation(
  request: ElicitationRequest,
  context: Pick<ToolContext, "elicit">,
  signal: ToolContext["signal"],
): Promise<ElicitationAnswer> {
  const message = safeText(request.message, MAX_MESSAGE_CHARS);
  if (request.mode === "url") {
    if (!isWebAddress(request.url)) return DECLINED;
    const { action } = await askOrGiveUp({ ...request, message }, context, signal);
    return { action };
  }
  const read = readSchema(request.requested_schema);
  if (!read.ok) return DECLINED;
  const check = compileSchema(read.original);
  const requested_schema = safeSchema(request.requested_schema) as JsonObject;
  // Names and values go back as they are.
  if (!isSafe(requested_schema)) return DECLINED;
  let problem = "";
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const question = { ...request, requested_schema, message: `${message}${problem}` };
    const { action, content: given = {} } = await askOrGiveUp(question, context, signal);
    if (action !== "accept") return { action };
    const content = withDefaults(given, request.requested_schema);
    const checked = check(content);
    if (checked.ok) return { action, content };
    const words = checked.issues.slice(0, 5).map(({ path, message }) => `${path} ${message}`);
    problem = `\n(The answer did not fit: ${words.join("; ")})`;
  }
  return DECLINED;
}

async function askOrGiveUp(
  request: ElicitationRequest,
  context: Pick<ToolContext, "elicit">,
  signal: ToolContext["signal"],
): Promise<ElicitationAnswer> {
  if (signal.aborted) return { action: "cancel" };
  try {
    const answered = await inTime(context.elicit(request), { signal });
    return answered.kind === "done" ? answered.value : { action: "cancel" };
  } catch {
    return DECLINED;
  }
}

/** A field that was not changed keeps the value it was shown with. */
function withDefaults(content: JsonObject, { properties }: JsonObject): JsonObject {
  if (!isJsonObject(properties)) return content;
  const left = Object.entries(properties).flatMap(([name, field]) => {
    const value = isJsonObject(field) ? field["default"] : undefined;
    return value === undefined || content[name] !== undefined ? [] : [[name, value] as const];
  });
  return left.length === 0 ? content : { ...content, ...Object.fromEntries(left) };
}

/** What opens in a browser, and nothing that runs or reads a file. */
function isWebAddress(url: string): boolean {
  if (url.length > MAX_URL_CHARS || !URL.canParse(url)) return false;
  const { protocol, username, password } = new URL(url);
  return (protocol === "https:" || protocol === "http:") && username === "" && password === "";
}

const URL_ELICITATION_REQUIRED = -32042;
const MAX_URLS = 5;

/**
 * The old way of asking for pages to be opened: an error that lists them, after which the same call is made again.
 * True when the user agreed to every one; false for any other error, and for one whose list makes no sense.
 */
export async function openRequiredUrls(
  { code, data }: McpRequestFailure,
  context: ToolContext,
): Promise<boolean> {
  if (code !== URL_ELICITATION_REQUIRED) return false;
  const listed = isJsonObject(data) ? data["elicitations"] : undefined;
  if (!Array.isArray(listed) || listed.length === 0 || listed.length > MAX_URLS) return false;
  const pages = listed.map((one) => (isJsonObject(one) ? one : {}));
  if (pages.some(({ url }) => typeof url !== "string")) return false;
  for (const { url, message } of pages) {
    const words = typeof message === "string" ? message : "";
    const question = { mode: "url", url: url as string, message: words } as const;
    const { action } = await answerElicitation(question, context, context.signal);
    if (action !== "accept") return false;
  }
  return true;
}
