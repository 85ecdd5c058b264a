// Telemetry of a runtime: one sender for all of its sessions. Loaded only where a collector is named, by the user's config or
// environment; no file of a project has a say.

import type { Session } from "@soong/core";
import { openTelemetry, readTelemetrySettings, type TelemetrySettings } from "@soong/export";
import type { SoongConfig } from "../config/index.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface RuntimeTelemetry {
  /** Returns how to stop, once the session is closed. */
  follow(session: Session): () => void;
  /** Sends what is left, for a bounded time. */
  close(): Promise<void>;
}

/** `warn`: once for each variable that cannot be followed, and at most once for what was not sent. */
export function openRuntimeTelemetry(
  config: SoongConfig,
  env: Environment,
  warn: (text: string) => void,
): RuntimeTelemetry {
  const settings = readSettings(config, env);
  if (settings === undefined) return { follow: () => () => {}, close: async () => {} };
  for (const warning of settings.warnings) warn(warning);
  const telemetry = openTelemetry(settings);
  let isReported = false;
  return {
    follow: (session) => telemetry.follow(session),
    async close() {
      const { problem } = await telemetry.close();
      if (problem !== undefined && !isReported) warn(problem);
      isReported = true;
    },
  };
}

/** Where it goes, without credentials, and what cannot be followed. Undefined: nothing is sent. */
export function describeTelemetry(
  config: SoongConfig,
  env: Environment,
): { readonly says: string; readonly warnings: readonly string[] } | undefined {
  const settings = readSettings(config, env);
  if (settings === undefined) return undefined;
  const { traces, metrics, content, warnings } = settings;
  const signals = { spans: traces?.origin, metrics: metrics?.origin };
  const sent = Object.entries(signals).flatMap(([what, to]) => (to ? [`${what} to ${to}`] : []));
  const says = sent.length === 0 ? "nothing is sent" : sent.join(", ");
  return { says: content ? `${says}; with content` : says, warnings };
}

function readSettings(
  { telemetry: { otlp_endpoint, content, headers_env } }: SoongConfig,
  env: Environment,
): TelemetrySettings | undefined {
  return readTelemetrySettings({
    env,
    endpoint: otlp_endpoint,
    content,
    headersEnv: headers_env,
  });
}
