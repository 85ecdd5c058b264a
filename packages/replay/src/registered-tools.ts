// The recorded definitions in the registry of a replay: put there, replaced when the record has others, taken out when one
// changed under the model.

import type { DefinitionsRecord, Fact, Kernel, SourceHandle, ToolSource } from "@soong/core";
import { entriesIn } from "@soong/core/internal";
import { createStandInSources, type Stage } from "./stand-ins.ts";

export interface RegisteredTools {
  set(definitions: DefinitionsRecord): void;
  /** It changed, or went, under the model: whichever, it is not the one that was shown. */
  remove(tool_name: string): void;
  /** Whether the tool of a call ends the calls beside it when it fails. */
  readonly cancelsSiblings: (of: Fact) => boolean;
}

export function registerTools({ registry }: Kernel, stage: Stage): RegisteredTools {
  let open: { handle: SourceHandle; source: ToolSource }[] = [];
  return {
    set(definitions) {
      for (const { handle } of open) handle.close();
      open = createStandInSources(definitions, stage).map((source) => ({
        handle: registry.open(source),
        source,
      }));
    },
    remove(tool_name) {
      for (const { handle, source } of open) {
        const left = source.tools.filter(({ name }) => name !== tool_name);
        if (left.length < source.tools.length) handle.set(left, source.excluded);
      }
    },
    cancelsSiblings({ tool_name = "" }) {
      return registry.current(tool_name)?.definition.on_sibling_failure === "cancel_siblings";
    },
  };
}

/** Tools that said no for themselves: that is theirs to say, and not decided again. */
export function readDisabledTools(
  { data }: Fact<"tool.catalog.resolved">,
  before: ReadonlySet<string>,
): Set<string> {
  const disabled = new Set(before);
  for (const { tool_name, state, detail, disabled_by } of entriesIn(data)) {
    // Records of earlier versions say it in the detail only.
    const itself = disabled_by === "tool" || detail?.startsWith("isEnabled ") === true;
    if (state === "excluded" && itself) disabled.add(tool_name);
    else disabled.delete(tool_name);
  }
  return disabled;
}
