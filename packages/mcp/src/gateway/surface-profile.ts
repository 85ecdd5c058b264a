// What an MCP host can be sent (GATE-1, GATE-4): names that survive the prefix a host puts before them, and
// results below what hosts cut.

import type { ModelProfile } from "@soong/core";

/** Hosts add a prefix of their own and cut at 63 characters. */
export const GATEWAY_PROFILE: ModelProfile = {
  id: "gateway",
  names: { first_chars: "A-Za-z_", chars: "A-Za-z0-9_-", max_length: 45 },
  extended_schemas: true,
};

/** Ten kilobytes, less the room for the notice that says where the rest is. */
export const INLINE_LIMIT_BYTES = 9_000;
