// What differs between the scenarios: the entry a user would write, and the calls that are made. Most need
// nothing but the address, and every tool called once.

import type { JsonValue } from "@soong/core";

export interface OfferedTool {
  /** Ours: `mcp.conformance.<the server's>`. */
  readonly name: string;
  readonly schema: unknown;
}

interface ScenarioContext {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly toolCalls?: readonly { name: string; arguments: Record<string, JsonValue> }[];
}

const CLIENT_METADATA_URL = "https://conformance-test.local/client-metadata.json";
/** The server lists tools and knows no call. */
const LISTED_ONLY: ReadonlySet<string> = new Set(["json-schema-ref-no-deref"]);

export function scenarioSettings(
  scenario: string,
  url: string,
  context: string,
): { entry: Record<string, unknown>; environment: Record<string, string> } {
  const { client_id, client_secret } = JSON.parse(context) as ScenarioContext;
  if (!scenario.startsWith("auth/")) return { entry: { url }, environment: {} };
  if (client_id === undefined) {
    return { entry: { url, oauth: { client_metadata_url: CLIENT_METADATA_URL } }, environment: {} };
  }
  return {
    entry: { url, oauth: { client_id, client_secret: "${CLIENT_SECRET}" } },
    environment: { CLIENT_SECRET: client_secret ?? "" },
  };
}

export function plannedCalls(
  scenario: string,
  context: string,
  offered: readonly OfferedTool[],
): readonly { name: string; input: Record<string, JsonValue> }[] {
  const { toolCalls } = JSON.parse(context) as ScenarioContext;
  if (LISTED_ONLY.has(scenario)) return [];
  if (toolCalls === undefined) {
    return offered.map(({ name, schema }) => ({ name, input: sampleFor(schema) }));
  }
  return toolCalls.flatMap((planned) => {
    const name = `mcp.conformance.${planned.name}`;
    // "Null or not given" is asked for: what the schema refuses we do not send.
    const given = Object.entries(planned.arguments).filter(([, value]) => value !== null);
    const isOffered = offered.some((tool) => tool.name === name);
    return isOffered ? [{ name, input: Object.fromEntries(given) }] : [];
  });
}

const SAMPLES: Readonly<Record<string, JsonValue>> = {
  string: "text",
  number: 2,
  integer: 2,
  boolean: true,
  array: [],
  object: {},
};

function sampleFor(schema: unknown): Record<string, JsonValue> {
  const { properties = {} } = schema as { properties?: Record<string, { type?: unknown }> };
  return Object.fromEntries(
    Object.entries(properties).map(([name, { type }]) => [name, SAMPLES[String(type)] ?? "text"]),
  );
}
