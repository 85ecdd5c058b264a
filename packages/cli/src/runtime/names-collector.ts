// The short look that every session takes: whether the user wants telemetry. Only then the rest of it is loaded, which reads
// the other variables.

const ENDPOINT = /^OTEL_EXPORTER_OTLP_(?:TRACES_|METRICS_)?ENDPOINT$/;

/** `endpoint`: that of the config. */
export function namesCollector(
  env: Readonly<Record<string, string | undefined>>,
  endpoint: string | undefined,
): boolean {
  if (env["OTEL_SDK_DISABLED"]?.trim().toLowerCase() === "true") return false;
  return (
    endpoint !== undefined ||
    Object.entries(env).some(([name, value = ""]) => ENDPOINT.test(name) && value.trim() !== "")
  );
}
