// One permission of another program, added to what was found: as rules that name where they come from, or as something
// that could not be mapped.

import type { PermissionRule } from "@soong/core";
import type { MappedTool } from "@soong/agent";
import type { Found } from "./found.ts";
import { mapPermission } from "./map-permission.ts";

export interface ForeignPermission {
  readonly tool: MappedTool;
  readonly decision: PermissionRule["decision"];
  /** As the user knows it. */
  readonly written: string;
  readonly from: string;
  /** Its name. */
  readonly program: string;
  /** Conditions of every rule of that file. */
  readonly own?: Partial<PermissionRule>;
}

export function addPermission(found: Found, given: ForeignPermission): void {
  const { tool, decision, written, from, program, own = {} } = given;
  const mapped = mapPermission(tool, decision);
  if (mapped.kind === "rules") {
    const reason = `${written}, from ${program}`;
    for (const rule of mapped.rules) {
      found.rules.push({
        rule: { ...rule, ...own, reason },
        written: `${decision} ${written}`,
        from,
      });
    }
    return;
  }
  const why = mapped.kind === "unneeded" ? `is not needed: ${mapped.why}` : mapped.why;
  found.unmapped.push({ what: `${decision} ${written}`, why, from });
}
