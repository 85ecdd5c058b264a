// What a model can be sent (SCHEMA-5, MODEL-2): data, chosen by the adapter before anything is sent.

import {
  isTaken,
  listKeywords,
  relaxSchema,
  type JsonSchema,
  type SchemaTerms,
} from "@soong/schema";
import type { RegisteredTool } from "../registry/registered-tool.ts";
import { PORTABLE_NAMES, type NameProfile } from "./wire-name.ts";

export interface ModelProfile {
  readonly id: string;
  readonly names: NameProfile;
  readonly max_tools?: number;
  /** Takes schemas outside the core subset (`schema: extended`). */
  readonly extended_schemas: boolean;
  readonly refused_keywords?: readonly string[];
  /** Keywords taken further inside a schema, but not where it begins. */
  readonly refused_at_root?: readonly string[];
}

/** Fits every provider we know: portable names, the core schema subset. */
export const PORTABLE_PROFILE: ModelProfile = {
  id: "portable",
  names: PORTABLE_NAMES,
  max_tools: 128,
  extended_schemas: false,
};

export type OfferedSchema =
  | { readonly kind: "core" | "extended"; readonly schema: JsonSchema }
  /** Looser at these places of the tool's own schema, against which every call is still checked (MCP-10). */
  | {
      readonly kind: "relaxed";
      readonly schema: JsonSchema;
      readonly pointers: readonly string[];
    }
  | { readonly kind: "refused"; readonly reason: string };

/** The schema a model of this profile is sent for the tool; of a server's tool, relaxed where it has to be. */
export function offeredSchema(tool: RegisteredTool, profile: ModelProfile): OfferedSchema {
  const { input, definition } = tool;
  const { refused_keywords = [], refused_at_root = [] } = profile;
  // Nearly every tool: nothing has to be looked at.
  const isPlain =
    input.lowered.kind === "core" && refused_keywords.length + refused_at_root.length === 0;
  if (isPlain && definition.metadata?.[LOST] === undefined) return input.lowered;
  const known = offers.get(input) ?? new WeakMap<ModelProfile, OfferedSchema>();
  offers.set(input, known);
  let offer = known.get(profile);
  if (offer === undefined) {
    offer = offerSchema(tool, profile);
    known.set(profile, offer);
  }
  return offer;
}

/** In the metadata of a server's tool: places of its schema that could not be read. */
const LOST = "input_schema_relaxed";

/** By the schema: it outlives the tool where a source lists the same again. */
const offers = new WeakMap<RegisteredTool["input"], WeakMap<ModelProfile, OfferedSchema>>();

function offerSchema(
  { input: { lowered }, source, definition }: RegisteredTool,
  profile: ModelProfile,
): OfferedSchema {
  const { kind, schema } = lowered;
  const terms: SchemaTerms = {
    extended: profile.extended_schemas,
    refused: profile.refused_keywords,
    refusedAtRoot: profile.refused_at_root,
  };
  const lost = [definition.metadata?.[LOST]].flat().filter((one) => typeof one === "string");
  const isInside = terms.extended || kind === "core";
  if (isInside && isTaken(schema, { ...terms, extended: true })) {
    return lost.length === 0 ? { kind, schema } : { kind: "relaxed", schema, pointers: lost };
  }
  const relaxed = source.kind === "mcp" ? relaxSchema(schema, terms) : undefined;
  const outside = lowered.kind === "extended" && !terms.extended ? lowered.outside : [];
  if (relaxed === undefined) {
    const [{ keyword, pointer } = { keyword: findRefused(schema, terms), pointer: undefined }] =
      outside;
    const where = pointer === undefined ? "" : ` at ${pointer || "/"}`;
    const reason = `its schema uses ${keyword}${where}, which the model profile "${profile.id}" does not take`;
    return { kind: "refused", reason };
  }
  const places = outside.length === 0 ? relaxed.pointers : outside.map(({ pointer }) => pointer);
  return { kind: "relaxed", schema: relaxed.schema, pointers: [...lost, ...places] };
}

function findRefused(
  schema: JsonSchema,
  { refused = [], refusedAtRoot = [] }: SchemaTerms,
): string {
  const used = listKeywords(schema);
  const keyword =
    refused.find((one) => used.has(one)) ?? refusedAtRoot.find((one) => one in schema);
  return keyword ?? "keywords";
}

/** Why this model cannot be sent this tool; undefined when it can. */
export function schemaRefusal(tool: RegisteredTool, profile: ModelProfile): string | undefined {
  const offer = offeredSchema(tool, profile);
  return offer.kind === "refused" ? offer.reason : undefined;
}
