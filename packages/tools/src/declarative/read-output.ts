// What a declared command may say on stdout (DECL-4, DECL-7): one ToolResult as JSON, where null is the same as
// nothing. Unknown keys are refused, and so is what only code inside the runtime may give: nodes for the
// conversation, changes of the run's context. A process that claimed one of those would claim trust it has not got.

import { isUtf8 } from "node:buffer";
import {
  isContentBlock,
  messageOf,
  type ArtifactRef,
  type ContentBlock,
  type HandlerResult,
  type ToolContext,
} from "@soong/core";
import {
  isErrorClass,
  isHandlerErrorStatus,
  isHandlerStatus,
  isRecovery,
} from "@soong/core/internal";
import { isRecord, nestsDeeper } from "@soong/schema";
export type ReadOutput =
  | { ok: true; result: HandlerResult; artifacts: readonly GivenArtifact[] }
  /** What came instead, as a clause behind "the tool". */
  | { ok: false; message: string };

export function readOutput(stdout: Uint8Array): ReadOutput {
  const parsed = parsePrinted(stdout);
  if (typeof parsed === "string") return refuseOutput(parsed);
  const { value } = parsed;
  if (!isRecord(value)) {
    const kind = value === null ? "null" : Array.isArray(value) ? "a list" : `a ${typeof value}`;
    return refuseOutput(`printed ${kind} where an object belongs`);
  }
  const given = withoutNulls(value);
  const problem = resultProblem(given);
  if (problem !== undefined) return refuseOutput(problem);
  const { artifacts = [], is_error, tool_call_id: _id, tool_name: _name, ...result } = given;
  const listed = readArtifacts(artifacts);
  if (typeof listed === "string")
    return refuseOutput(
      `printed a result in which artifacts${listed.startsWith("[") ? "" : " "}${listed}`,
    );
  // A record with any sign of a failure is one, regardless of its other fields.
  const isFailure = is_error === true && !isHandlerErrorStatus(result["status"]);
  return {
    ok: true,
    result: isFailure ? { ...result, ok: false } : result,
    artifacts: listed,
  };
}

const MAX_DEPTH = 500;

/** The JSON, or what came instead, as a clause. */
function parsePrinted(stdout: Uint8Array): { value: unknown } | string {
  if (!isUtf8(stdout)) return "printed bytes that are not UTF-8";
  const text = new TextDecoder().decode(stdout);
  if (text.trim() === "") return "printed nothing";
  if (nestsDeeper(text, MAX_DEPTH)) {
    return `printed JSON that is nested deeper than ${MAX_DEPTH} levels`;
  }
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return "printed something that is not JSON";
  }
}

/** What a program that failed says of it in JSON that is no ToolResult: its `error` or `message`. */
export function failureWords(stdout: Uint8Array): string | undefined {
  const parsed = parsePrinted(stdout);
  if (typeof parsed === "string" || !isRecord(parsed.value)) return undefined;
  const { error, message, summary } = parsed.value;
  const inner = isRecord(error) ? error["message"] : error;
  const words: readonly unknown[] = [inner, message, summary];
  return words.find((one) => typeof one === "string" && one !== "") as string | undefined;
}

/** A program that fills in every field writes null into those it has nothing for. */
function withoutNulls(value: Record<string, unknown>): Record<string, unknown> {
  const given = Object.entries(value).filter(([, held]) => held !== null);
  return Object.fromEntries(
    given.map(([key, held]) => [
      key,
      key === "error" && isRecord(held) ? withoutNulls(held) : held,
    ]),
  );
}

type Check = (value: unknown) => string | undefined;

const isText: Check = (value) => (typeof value === "string" ? undefined : "is not text");
const isObject: Check = (value) => (isRecord(value) ? undefined : "is not an object");
const isFlag: Check = (value) => (typeof value === "boolean" ? undefined : "is not true or false");
const isAnything: Check = () => undefined;
const never =
  (why: string): Check =>
  () =>
    `is not for a command to give: ${why}`;

const RESULT_KEYS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["ok", isFlag],
  [
    "status",
    (value) =>
      isHandlerStatus(value)
        ? undefined
        : 'is not "succeeded", "partial", "failed", "timed_out" or "unknown"',
  ],
  ["content", contentProblem],
  ["summary", isText],
  ["data", isAnything],
  ["error", errorProblem],
  ["metadata", isObject],
  ["artifacts", isAnything],
  ["is_error", isFlag],
  // Of the call, which the program read on its stdin: there is nothing in them to take.
  ["tool_call_id", isText],
  ["tool_name", isText],
  ["context_nodes", never("only code inside the runtime adds to the conversation")],
  ["modify_context", never("only code inside the runtime changes the context of a run")],
]);

const ERROR_KEYS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["code", isText],
  ["message", isText],
  ["error_class", (value) => (isErrorClass(value) ? undefined : "is not a known class of errors")],
  ["retryable", isFlag],
  ["recovery", (value) => (isRecovery(value) ? undefined : "is not a known recovery")],
  ["details", isObject],
]);

const BLOCK_KEYS: Readonly<Record<ContentBlock["type"], readonly string[]>> = {
  text: ["type", "text"],
  json: ["type", "json"],
  image: ["type", "media_type", "data"],
  audio: ["type", "media_type", "data"],
  resource: ["type", "uri", "media_type", "text", "blob"],
  resource_link: ["type", "uri", "name", "description", "media_type"],
  artifact_ref: [],
};

function resultProblem(value: Record<string, unknown>): string | undefined {
  const problem = keyProblem(value, RESULT_KEYS, "");
  if (problem !== undefined) return `printed a result in which ${problem}`;
  return value["ok"] === undefined &&
    value["status"] === undefined &&
    value["content"] === undefined &&
    value["is_error"] === undefined
    ? 'printed an object without "ok", "status" or "content"'
    : undefined;
}

function keyProblem(
  value: Record<string, unknown>,
  known: ReadonlyMap<string, Check>,
  prefix: string,
): string | undefined {
  for (const [key, held] of Object.entries(value)) {
    const check = known.get(key);
    const name = `${prefix}${key.slice(0, 100)}`;
    if (check === undefined) return `${JSON.stringify(name)} is not a known key`;
    const problem = check(held);
    if (problem !== undefined) return `${name} ${problem}`;
  }
  return undefined;
}

function contentProblem(content: unknown): string | undefined {
  if (!Array.isArray(content)) return "is not a list of blocks";
  for (const [index, block] of content.entries()) {
    if (!isContentBlock(block)) return `has no block of a known type at [${index}]`;
    if (block.type === "artifact_ref")
      return `has an artifact_ref at [${index}], which no command can give`;
    const foreign = Object.keys(block).find((key) => !BLOCK_KEYS[block.type].includes(key));
    if (foreign !== undefined)
      return `has the unknown key ${JSON.stringify(foreign)} at [${index}]`;
  }
  return undefined;
}

function errorProblem(error: unknown): string | undefined {
  if (typeof error === "string") return undefined;
  if (!isRecord(error)) return "is neither text nor an object";
  const problem = keyProblem(error, ERROR_KEYS, "error.");
  if (problem !== undefined) return `is wrong: ${problem}`;
  const lacks = ["code", "message"].find((key) => error[key] === undefined);
  return lacks === undefined ? undefined : `has no ${lacks}`;
}

function refuseOutput(message: string): ReadOutput {
  return { ok: false, message };
}

/**
 * Artifacts in the output (DECL-7): content it gives to be kept, or one of this session it names. It cannot claim any
 * other.
 */
export type GivenArtifact =
  | { readonly artifact_id: string }
  | { readonly name: string; readonly media_type: string; readonly bytes: string | Uint8Array };

/** Their records, or what is wrong with one of them, as a clause. */
export async function keepArtifacts(
  given: readonly GivenArtifact[],
  { artifacts }: Pick<ToolContext, "artifacts">,
): Promise<ArtifactRef[] | string> {
  const refs: ArtifactRef[] = [];
  for (const [index, one] of given.entries()) {
    const ref =
      "artifact_id" in one
        ? await artifacts.stat(one.artifact_id)
        : await artifacts.write(one.bytes, { media_type: one.media_type, name: one.name });
    if (ref === undefined) {
      return `artifacts[${index}] is not an artifact of this session; to make one, give its "name" and its "text" or "blob" (base64)`;
    }
    refs.push(ref);
  }
  return refs;
}

const ARTIFACT_KEYS: ReadonlySet<string> = new Set(
  "artifact_id media_type size sha256 name text blob".split(" "),
);

/** The list, or what is wrong with it, as a clause. */
function readArtifacts(value: unknown): readonly GivenArtifact[] | string {
  if (!Array.isArray(value)) return "is not a list";
  const given: GivenArtifact[] = [];
  for (const [index, item] of value.entries()) {
    const read = readArtifact(item);
    if (typeof read === "string") return `[${index}] ${read}`;
    given.push(read);
  }
  return given;
}

function readArtifact(item: unknown): GivenArtifact | string {
  if (typeof item === "string") return { artifact_id: item };
  if (!isRecord(item)) return "is not an object";
  const foreign = Object.keys(item).find((key) => !ARTIFACT_KEYS.has(key));
  if (foreign !== undefined) return `has the unknown key ${JSON.stringify(foreign)}`;
  const { artifact_id, text, blob, name, media_type } = item as Record<string, unknown>;
  if (typeof artifact_id === "string") return { artifact_id };
  const about = {
    name: typeof name === "string" ? name : "artifact",
    media_type: typeof media_type === "string" ? media_type : "text/plain",
  };
  if (typeof text === "string") return { ...about, bytes: text };
  if (typeof blob !== "string") return 'has neither "artifact_id", "text" nor "blob"';
  try {
    return { ...about, bytes: Uint8Array.from(atob(blob), (unit) => unit.charCodeAt(0)) };
  } catch (error) {
    return `has a blob that is not base64: ${messageOf(error)}`;
  }
}
