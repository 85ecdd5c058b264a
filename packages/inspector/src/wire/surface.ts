// Which tools a run sees, why, and what showing them costs.

import type { CatalogEntry } from "@soong/core";

export interface SurfaceView {
  run_id: string;
  revision: number;
  role: string;
  mode: string;
  /** The name of the model profile it was made for. */
  profile: string;
  tools: readonly SurfaceTool[];
  /** Estimated tokens: of definitions sent in full, of the names of deferred ones, and what those would cost in full. */
  tokens: { loaded: number; deferred_names: number; deferred_in_full: number };
  /** Every time it changed: what, and by which fact. */
  revisions: readonly { revision: number; seq: number; changed: number }[];
}

export interface SurfaceTool extends CatalogEntry {
  /** Of its definition in full. */
  tokens: number;
}

export interface SurfaceMatches {
  query: string;
  /** Best first. `is_found_by_model`: it is deferred, so the model's search finds it at this place. */
  matches: readonly {
    tool_name: string;
    score: number;
    reasons: readonly string[];
    is_found_by_model: boolean;
  }[];
}
