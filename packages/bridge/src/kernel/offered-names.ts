// Which tools of the kernel the next request of a model may contain, and which of them it means by a name. A call of a tool that
// was not in the request is not executed, also if the kernel has that tool.

import type { RefusedCall, Run } from "@soong/core";
import { resolveName } from "./resolve-name.ts";

export interface OfferedNames {
  /** Wire names. */
  readonly loaded: readonly string[];
  /** The wire name of the tool that a model means by a wire name, a canonical one or an alias. */
  readonly findWireName: (given: string) => string | undefined;
}

/** For `denied` of such a call, where the kernel itself has nothing against it. */
export const NOT_OFFERED: RefusedCall = {
  reason: "this tool was not offered to the model",
  by: "host",
};

export async function readOfferedNames(run: Run): Promise<OfferedNames> {
  const { tools, names } = await run.tools();
  return {
    loaded: tools.map(({ name }) => name),
    findWireName(given) {
      const canonical = resolveName(run, names, given);
      return canonical === undefined ? undefined : names.toWire(canonical);
    },
  };
}
