// One tool of a surface as it is recorded (SURF-8).

import type { JsonObject } from "@soong/schema";

export type CatalogPolicy = "allowed" | "ask" | "denied" | "sandboxed" | "unavailable";

export interface CatalogEntry {
  tool_name: string;
  state: "loaded" | "deferred" | "excluded";
  description?: string;
  input_schema?: JsonObject;
  schema?: "core" | "extended" | "relaxed";
  /** Places of the input schema that the model was shown looser than they are; calls are checked against it. */
  relaxed?: readonly string[];
  capabilities?: string[];
  policy: CatalogPolicy;
  runtime_owner?: string;
  is_read_only?: boolean;
  is_concurrency_safe?: boolean;
  is_destructive?: boolean;
  is_open_world?: boolean;
  interrupt_behavior?: string;
  /** Which of these facts the author declared; the others were assumed (DEF-3). */
  declared?: readonly string[];
  /** Where the full definition is found: `artifact:<id>#<tool_name>`, the record of definitions and the name in it. */
  metadata_ref?: string;
  reason?: string;
  /** Of a disabled tool: its own `isEnabled` said so. */
  disabled_by?: "tool";
  detail?: string;
}
