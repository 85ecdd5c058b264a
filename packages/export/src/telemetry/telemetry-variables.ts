// The variables of OpenTelemetry that say whether and where to send. Small, because every start of the command looks.

import { isSecretName } from "@soong/core/internal";

type Environment = Readonly<Record<string, string | undefined>>;

const ENDPOINTS = [
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
  "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
] as const;

const HEADERS = [
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
  "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
] as const;

/** Whether any telemetry is to be sent: an endpoint is named in the config or the environment, and nothing switches it off. */
export function wantsTelemetry(env: Environment, endpoint: string | undefined): boolean {
  if (readVariable(env, "OTEL_SDK_DISABLED")?.toLowerCase() === "true") return false;
  return endpoint !== undefined || ENDPOINTS.some((name) => readVariable(env, name) !== undefined);
}

/** An empty one is as good as unset, which is the rule of OpenTelemetry. */
export function readVariable(env: Environment, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === "" ? undefined : value;
}

/**
 * What authorizes the sender, for the list of known secrets (REDACT-3): values of headers and of queries that may be keys,
 * and logins in addresses. `headersEnv`: a further variable that holds headers.
 */
export function listTelemetrySecrets(
  env: Environment,
  headersEnv?: string,
): { readonly name: string; readonly value: string }[] {
  const ofHeaders = [...HEADERS, ...(headersEnv === undefined ? [] : [headersEnv])].flatMap(
    (name) => {
      const text = readVariable(env, name) ?? "";
      const { headers, nameless } = parseHeaders(text);
      const values = headers.flatMap(({ key, value }) => (mayBeKey(key, value) ? [value] : []));
      if (nameless.length > 0) values.push(text, ...nameless);
      // `Bearer abc`: the key alone, too.
      return values
        .flatMap((value) => [value, ...value.split(" ").slice(1)])
        .map((value) => ({ name, value }));
    },
  );
  const ofEndpoints = ENDPOINTS.flatMap((name) =>
    listAddressSecrets(readVariable(env, name) ?? "").map((value) => ({ name, value })),
  );
  return [...ofHeaders, ...ofEndpoints].filter(({ value }) => value !== "");
}

/** Each as it is written, and decoded. */
function listAddressSecrets(text: string): string[] {
  // One that cannot be read may hold a key anywhere.
  if (!URL.canParse(text)) return /[@?]/.test(text) ? [text] : [];
  const { username, password, search } = new URL(text);
  const inQuery = search
    .slice(1)
    .split("&")
    .flatMap((pair) => {
      const [key = "", ...rest] = pair.split("=");
      const value = rest.length === 0 ? key : rest.join("=");
      return mayBeKey(rest.length === 0 ? "" : key, value) ? [value] : [];
    });
  return [username, password, ...inQuery].flatMap((part) => [part, decodePercent(part)]);
}

/**
 * By its name, or unless it is a plain word: a team, a region or a stage would be redacted wherever it is written. Some
 * collectors take their key in a header that is not named like one.
 */
function mayBeKey(name: string, value: string): boolean {
  return isSecretName(name) || (value.length >= 8 && !PLAIN_WORDS.test(value));
}

const PLAIN_WORDS = /^[A-Za-z]{1,20}(?:[ ._/-][A-Za-z]{1,20})*$/;

interface Pair {
  readonly key: string;
  readonly value: string;
}

/** Headers, and what has no name: probably a key that was set alone, which may end with `=`. */
export function parseHeaders(text: string | undefined): {
  readonly headers: readonly Pair[];
  readonly nameless: readonly string[];
} {
  const headers: Pair[] = [];
  const nameless: string[] = [];
  for (const part of (text ?? "").split(",").map((one) => one.trim())) {
    const [pair] = parsePairs(part);
    if (pair !== undefined && !/^=*$/.test(pair.value)) headers.push(pair);
    else if (part !== "") nameless.push(part);
  }
  return { headers, nameless };
}

/** `a=1,b=2`, with percent-encoded values: the form of OTEL_EXPORTER_OTLP_HEADERS and OTEL_RESOURCE_ATTRIBUTES. */
export function parsePairs(text: string | undefined): Pair[] {
  return (text ?? "").split(",").flatMap((pair) => {
    const at = pair.indexOf("=");
    const key = pair.slice(0, Math.max(at, 0)).trim();
    return key === "" ? [] : [{ key, value: decodePercent(pair.slice(at + 1).trim()) }];
  });
}

export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
