// The variables of OpenTelemetry that say whether and where to send. Small, because every start of the command looks.

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
 * What authorizes the sender, for the list of known secrets (REDACT-3): values of headers, and passwords in addresses.
 * `headersEnv`: a further variable that holds headers.
 */
export function listTelemetrySecrets(
  env: Environment,
  headersEnv?: string,
): { readonly name: string; readonly value: string }[] {
  const ofHeaders = [...HEADERS, ...(headersEnv === undefined ? [] : [headersEnv])].flatMap(
    (name) =>
      parsePairs(readVariable(env, name)).flatMap(({ value }) =>
        // `Bearer abc`: the key alone, too.
        [value, ...value.split(" ").slice(1)].map((part) => ({ name, value: part })),
      ),
  );
  const ofEndpoints = ENDPOINTS.flatMap((name) => {
    const text = readVariable(env, name) ?? "";
    const { password = "", username = "" } = URL.canParse(text) ? new URL(text) : {};
    return [password, username].flatMap((part) =>
      part === ""
        ? []
        : [
            { name, value: part },
            { name, value: decodePercent(part) },
          ],
    );
  });
  return [...ofHeaders, ...ofEndpoints].filter(({ value }) => value !== "");
}

/** `a=1,b=2`, with percent-encoded values: the form of OTEL_EXPORTER_OTLP_HEADERS and OTEL_RESOURCE_ATTRIBUTES. */
export function parsePairs(
  text: string | undefined,
): { readonly key: string; readonly value: string }[] {
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
