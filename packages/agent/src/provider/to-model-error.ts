// Any error that a provider package throws or streams, as one of our kinds of model error. The
// packages are known by the shape of their errors alone; nothing of them is imported.

import { asRecord, omitUndefined, oneLine } from "@soong/schema";
import type { ModelError, ModelErrorKind } from "../model/index.ts";
import { ANSWER_TOO_LARGE, WEB_PAGE } from "./bounded-fetch.ts";

export interface ErrorContext {
  readonly modelId: string;
  /** Whether the answer had begun: then a broken connection is a cut stream. */
  readonly begun: boolean;
  /** The variable that holds the key, if there is one. */
  readonly keyName?: string | undefined;
  /** Removes keys from what the provider says. */
  readonly redact: (text: string) => string;
}

export function toModelError(error: unknown, context: ErrorContext): ModelError {
  const seen = inspectError(error);
  const kind = classifyError(seen, context);
  const said = quoteProvider(seen, kind, context);
  const retry = retryAfterMs(seen, Date.now());
  const status = seen.status !== undefined && seen.status >= 400 ? seen.status : undefined;
  return {
    kind,
    message: `${context.modelId}: ${seen.codes.includes(WEB_PAGE) ? NOT_THE_API : explainError(kind, context)}${said}`,
    ...omitUndefined({ status }),
    ...(retry === undefined || !WAITS.has(kind) ? {} : { retry_after_ms: retry }),
  };
}

/** The same words for what we find out ourselves. */
export function modelError(kind: ModelErrorKind, modelId: string): ModelError {
  return { kind, message: `${modelId}: ${EXPLANATIONS[kind]}` };
}

function explainError(kind: ModelErrorKind, { keyName }: Pick<ErrorContext, "keyName">): string {
  if (kind !== "authentication" || keyName === undefined) return EXPLANATIONS[kind];
  return `the provider does not accept the key in ${keyName}; check the key, and that it may use this model.`;
}

const EXPLANATIONS: Readonly<Record<ModelErrorKind, string>> = {
  overloaded: "the provider is overloaded; try again later or use another model.",
  rate_limited: "the provider's rate limit is reached; wait, or raise the limit with the provider.",
  disconnect: "the connection broke in the middle of the answer.",
  network: "the provider could not be reached; check the network and the base URL.",
  timeout: "the provider did not answer in time.",
  server_error: "the provider failed on its side.",
  answer_too_slow: "the answer took too long.",
  answer_too_large: "the answer is too long.",
  malformed_stream: "the provider sent something that is not of its own format.",
  prompt_too_long:
    "the conversation is longer than the model takes; begin a new session, or use a model with a larger context window.",
  unsupported_capability: "the request asks for what this model cannot do.",
  authentication:
    "the provider does not accept the key; check the key, and that it may use this model.",
  quota:
    "your account with the provider has no quota or credit left; add some there, or use another model.",
  unknown_model:
    "the provider has no model of this name, or your key may not use it; check the name with the provider.",
  invalid_request: "the provider refused the request; check the options of the model.",
  script: "the script has no answer.",
  budget: "the budget of the run is used up.",
  aborted: "the request was aborted.",
};

const NOT_THE_API =
  "the address answered with a web page, not with the API; check `base_url` of the profile in config.toml, or the variable with the address (such as OPENAI_BASE_URL).";

const WAITS: ReadonlySet<ModelErrorKind> = new Set(["overloaded", "rate_limited", "server_error"]);

interface Seen {
  readonly name: string;
  readonly message: string;
  /** Everything it says, to look for signs in. */
  readonly words: string;
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string | undefined;
  /** The provider's own words for the kind of error: `overloaded_error`, `insufficient_quota`. */
  readonly labels: readonly string[];
  /** Codes of the system under the fetch: `ECONNREFUSED`, `UND_ERR_SOCKET`. */
  readonly codes: readonly string[];
  readonly aborted: boolean;
}

function inspectError(error: unknown): Seen {
  const top = asRecord(error);
  const body = readOptionalText(top["responseBody"]);
  const parsed = parseBody(body);
  // A package that cannot read the body of an error has no message of it.
  const inner = asRecord(asRecord(parsed)["error"])["message"];
  const words = [top["message"], inner].filter((text) => typeof text === "string").join("\n");
  const causes = listCauses(error);
  return {
    name: readOptionalText(top["name"]) ?? "",
    message: readOptionalText(top["message"]) ?? (typeof error === "string" ? error : ""),
    status: typeof top["statusCode"] === "number" ? top["statusCode"] : undefined,
    headers: asRecord(top["responseHeaders"]) as Record<string, string | undefined>,
    body,
    labels: collectLabels([error, top["data"], parsed, { code: findComplaint(words) }]),
    words,
    codes: causes
      .map((cause) => readOptionalText(cause["code"]))
      .filter((code) => code !== undefined),
    aborted: causes.some(({ name }) => name === "AbortError" || name === "ResponseAborted"),
  };
}

function classifyError(seen: Seen, { begun }: ErrorContext): ModelErrorKind {
  if (seen.aborted) return "aborted";
  if (seen.codes.includes(ANSWER_TOO_LARGE)) return "answer_too_large";
  if (seen.codes.includes(WEB_PAGE)) return "invalid_request";
  if (isMalformed(seen)) return "malformed_stream";
  return (
    tooLong(seen) ??
    noSuchModel(seen) ??
    findKind(seen, TELLING) ??
    findKind(seen, VAGUE) ??
    byConnection(seen, begun)
  );
}

/** Most say so in words, with the status of anything that is not found. */
function noSuchModel({ labels, status, words }: Seen): ModelErrorKind | undefined {
  const isNamed = labels.includes("model_not_found");
  return isNamed || (status === 404 && /\bmodels?\b/i.test(words)) ? "unknown_model" : undefined;
}

/** Anthropic's package wraps a broken first event into an error of status 500 with the cause as its body. */
function isMalformed({ name, body, message }: Seen): boolean {
  if (/^AI_(JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody)Error$/.test(name)) {
    return !/without a finish reason/i.test(message);
  }
  return /"name":"AI_(JSONParse|TypeValidation)Error"/.test(body ?? "");
}

function tooLong({ labels, status, message }: Seen): ModelErrorKind | undefined {
  const labelled = labels.some((label) => /context_length|context_size|too_large/.test(label));
  const said = status !== 429 && (status ?? 0) <= 500 && TOO_LONG.test(message);
  return labelled || said ? "prompt_too_long" : undefined;
}

const TOO_LONG =
  /prompt is too long|maximum context length|context (length|window|limit|size)|input token count.*exceeds|too many (input )?tokens/i;

/** Read in order; a quota that is used up comes as a rate limit and does not pass with time. */
const TELLING: Signs = {
  labels: [
    [/insufficient_quota|insufficient_balance|billing/, "quota"],
    [/overloaded|unavailable|slow_down/, "overloaded"],
    [/rate_limit|resource_exhausted|too_many_requests/, "rate_limited"],
    [/authentication|api_key|permission|unauthenticated/, "authentication"],
    [/timeout|deadline_exceeded/, "timeout"],
  ],
  statuses: [
    [/^402$/, "quota"],
    [/^429$/, "rate_limited"],
    [/^40[13]$/, "authentication"],
    [/^(503|529)$/, "overloaded"],
    [/^408$/, "timeout"],
    [/^413$/, "prompt_too_long"],
  ],
};

/** Some servers put these on everything, regardless of the status. */
const VAGUE: Signs = {
  labels: [
    [/invalid_request|invalid_argument|not_found|failed_precondition/, "invalid_request"],
    [/api_error|server_error|internal/, "server_error"],
  ],
  statuses: [
    [/^([5-9]..|\d{4,})$/, "server_error"],
    [/^4..$/, "invalid_request"],
  ],
};

type Rules = readonly (readonly [RegExp, ModelErrorKind])[];
type Signs = Readonly<Record<"labels" | "statuses", Rules>>;

function findKind({ labels, status }: Seen, signs: Signs): ModelErrorKind | undefined {
  const find = (rules: Rules, words: readonly string[]) =>
    rules.find(([sign]) => words.some((word) => sign.test(word)))?.[1];
  return find(signs.labels, labels) ?? find(signs.statuses, status ? [String(status)] : []);
}

function byConnection({ name, codes, message }: Seen, begun: boolean): ModelErrorKind {
  if (name === "TimeoutError" || codes.some((code) => /TIMEOUT|ETIMEDOUT/.test(code))) {
    return "timeout";
  }
  if (begun || /without a finish reason|successful response/i.test(message)) return "disconnect";
  if (/^AI_(UnsupportedFunctionality|InvalidPrompt|InvalidArgument|NoSuchModel)Error$/.test(name)) {
    return "unsupported_capability";
  }
  if (/^AI_Load(APIKey|Setting)Error$/.test(name)) return "authentication";
  return "network";
}

/** What is not of the provider's format is not quoted: it may be anything. A network is not the provider. */
function quoteProvider(
  { message }: Seen,
  kind: ModelErrorKind,
  { redact }: Pick<ErrorContext, "redact">,
): string {
  if (kind === "malformed_stream" || kind === "aborted") return "";
  const said = oneLine(redact(message), MAX_QUOTE);
  if (said === "") return "";
  return kind === "network" || kind === "disconnect"
    ? ` The error was: ${said}`
    : ` It said: ${said}`;
}

const MAX_QUOTE = 400;
const MAX_CAUSES = 8;

function listCauses(error: unknown): Readonly<Record<string, unknown>>[] {
  const causes: Readonly<Record<string, unknown>>[] = [];
  let current = error;
  while (typeof current === "object" && current !== null && causes.length < MAX_CAUSES) {
    const record = current as Readonly<Record<string, unknown>>;
    causes.push(record);
    current = record["cause"];
  }
  return causes;
}

/** `type`, `code` and `status` of the error and of the error inside it, in small letters. */
function collectLabels(sources: readonly unknown[]): string[] {
  return sources
    .flatMap((source) => {
      const outer = asRecord(Array.isArray(source) ? source[0] : source);
      const inner = asRecord(outer["error"]);
      const failed = asRecord(asRecord(outer["response"])["error"]);
      return [outer, inner, failed].flatMap(({ type, code, status }) =>
        [type, code, status].filter((label) => typeof label === "string"),
      );
    })
    .map((label) => label.toLowerCase());
}

/** Google calls a wrong key an invalid argument, Anthropic an empty account an invalid request. */
function findComplaint(words: string): string | undefined {
  if (/api key (not valid|expired)/i.test(words)) return "invalid_api_key";
  return /credit balance is too low/i.test(words) ? "insufficient_balance" : undefined;
}

function parseBody(body: string | undefined): unknown {
  if (body === undefined) return undefined;
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

function readOptionalText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

// When a provider wishes to be asked again: milliseconds, seconds or a date in its headers, or the delay in
// the body of Google's errors.

interface RetryHint {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: string | undefined;
}

/** Undefined when nothing usable is said. `now` counts only where the answer carries no date of its own. */
export function retryAfterMs({ headers, body }: RetryHint, now: number): number | undefined {
  return (
    milliseconds(headers["retry-after-ms"], 1) ??
    milliseconds(headers["retry-after"], 1000) ??
    untilDate(headers["retry-after"], headers["date"], now) ??
    milliseconds(RETRY_DELAY.exec(body ?? "")?.[1], 1000)
  );
}

const RETRY_DELAY = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/;

function milliseconds(text: string | undefined, unit: number): number | undefined {
  if (text === undefined || !/^\s*\d+(\.\d+)?\s*$/.test(text)) return undefined;
  const amount = Math.ceil(Number(text) * unit);
  return Number.isSafeInteger(amount) ? amount : undefined;
}

/** Measured from the server's own clock where it sends the time, so that a wrong clock here does no harm. */
function untilDate(text: string | undefined, sent: string | undefined, now: number) {
  // Only dates as headers write them: the parser takes bare numbers for years.
  const at = text?.trimEnd().endsWith("GMT") === true ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) return undefined;
  const from = Date.parse(sent ?? "");
  return Math.max(0, at - (Number.isNaN(from) ? now : from));
}
