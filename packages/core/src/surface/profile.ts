// What a model can be sent (SCHEMA-5, MODEL-2): data, chosen by the adapter before anything is sent.

import { keywordsOf } from "../schema/index.ts";
import type { RegisteredTool } from "../registry/index.ts";
import { PORTABLE_NAMES, type NameProfile } from "./wire-name.ts";

export interface ModelProfile {
  readonly id: string;
  readonly names: NameProfile;
  readonly max_tools?: number;
  /** Takes schemas outside the core subset (`schema: extended`). */
  readonly extended_schemas: boolean;
  readonly refused_keywords?: readonly string[];
}

/** Fits every provider we know: portable names, the core schema subset. */
export const PORTABLE_PROFILE: ModelProfile = {
  id: "portable",
  names: PORTABLE_NAMES,
  max_tools: 128,
  extended_schemas: false,
};

/** Why this model cannot be sent this tool; undefined when it can. */
export function schemaRefusal(tool: RegisteredTool, profile: ModelProfile): string | undefined {
  const { lowered } = tool.input;
  if (lowered.kind === "extended" && !profile.extended_schemas) {
    const first = lowered.outside[0];
    return `its schema uses ${first?.keyword ?? "keywords"} at ${first?.pointer || "/"}, which the model profile "${profile.id}" does not take`;
  }
  const refused = profile.refused_keywords;
  if (refused === undefined || refused.length === 0) return undefined;
  const used = keywordsOf(lowered.schema);
  const keyword = refused.find((candidate) => used.has(candidate));
  return keyword === undefined
    ? undefined
    : `its schema uses ${keyword}, which the model profile "${profile.id}" does not take`;
}
