// Telemetry of a runtime: one sender for all of its sessions. Loaded only where a collector is named, by the user's config or
// environment; no file of a project has a say.

import type { Session } from "@soong/core";
import { openTelemetry, readTelemetrySettings } from "@soong/export";
import type { SoongConfig } from "../config/index.ts";

export interface RuntimeTelemetry {
  /** Returns how to stop, once the session is closed. */
  follow(session: Session): () => void;
  /** Sends what is left, for a bounded time. */
  close(): Promise<void>;
}

/** `warn`: once for each variable that cannot be followed, and at most once for what was not sent. */
export function openRuntimeTelemetry(
  { telemetry: config }: SoongConfig,
  env: Readonly<Record<string, string | undefined>>,
  warn: (text: string) => void,
): RuntimeTelemetry {
  const settings = readTelemetrySettings({
    env,
    endpoint: config.otlp_endpoint,
    content: config.content,
    headersEnv: config.headers_env,
  });
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
