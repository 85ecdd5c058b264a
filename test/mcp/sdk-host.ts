// An agent host as the SDK makes them, in either era, and what it reads of results.

import { Client, type ClientOptions, type ElicitResult } from "@modelcontextprotocol/client";

export const ERAS = [
  ["the older protocol", "legacy"],
  ["the newer protocol", { pin: "2026-07-28" }],
] as const;

export type EraMode = (typeof ERAS)[number][1];

export interface Host {
  readonly client: Client;
  /** Messages of the questions that came. */
  readonly asked: string[];
  /** The forms of what was asked, as they came. */
  readonly forms: readonly object[];
}

/** An agent host as the SDK makes them; with `answer`, one that can ask its user. */
export function createHost(
  mode: EraMode,
  answer?: (message: string) => ElicitResult | Promise<ElicitResult>,
  options: ClientOptions = {},
): Host {
  const asked: string[] = [];
  const forms: object[] = [];
  const client = new Client(
    { name: "host", version: "1" },
    {
      ...options,
      versionNegotiation: { mode },
      capabilities: answer === undefined ? {} : { elicitation: { form: {} } },
    },
  );
  if (answer !== undefined) {
    client.setRequestHandler("elicitation/create", ({ params }) => {
      asked.push(params.message);
      if ("requestedSchema" in params) forms.push(params.requestedSchema);
      return answer(params.message);
    });
  }
  return { client, asked, forms };
}

/** The text of a result's blocks. */
export function textOf(result: { content: readonly object[] }): string {
  const texts = result.content as readonly { text?: string }[];
  return texts.map(({ text }) => text ?? "").join("\n");
}

/** Looked at from the start, so that no rejection comes before anyone waits for it. */
export function rejected(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => false,
    () => true,
  );
}
