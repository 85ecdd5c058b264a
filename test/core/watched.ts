// Tools that remember what reached their handler, for tests of what may and what may not.

import type { AnyTool, JsonObject, Plan, PreparedPlan, Resource } from "@soong/core";
import { reader, writer } from "./world.ts";

export interface Watched {
  readonly tool: AnyTool;
  /** The inputs the handler got, in order: empty when it never ran. */
  readonly inputs: JsonObject[];
  readonly plans: (PreparedPlan | undefined)[];
}

export function watchedWriter(name: string, about: Partial<AnyTool> = {}): Watched {
  return watched(writer(name, 0, about));
}

export function watchedReader(name: string, about: Partial<AnyTool> = {}): Watched {
  return watched(reader(name, 0, about));
}

interface PlannedInput {
  path?: string;
  argv?: string[];
  executable?: string;
  cwd?: string;
  host?: string;
}

/** Plans what the input says: `path` is written, `argv` is run, `host` is reached. */
export function planByInput(access: "read" | "write" = "write") {
  return (given: unknown): Plan => {
    const input = given as PlannedInput;
    const resources: Resource[] = [];
    if (input.path !== undefined) resources.push({ kind: "path", access, path: input.path });
    if (input.argv !== undefined) {
      const executable = input.executable ?? `/usr/bin/${input.argv[0]}`;
      resources.push({
        kind: "command",
        executable,
        argv: input.argv,
        cwd: input.cwd ?? "/project",
      });
    }
    if (input.host !== undefined) resources.push({ kind: "host", host: input.host });
    return { resources };
  };
}

/** A plan that touches these, whatever the input. */
export function planOf(...resources: Resource[]): () => Plan {
  return () => ({ resources });
}

export const writes = (path: string): Resource => ({ kind: "path", access: "write", path });
export const reads = (path: string): Resource => ({ kind: "path", access: "read", path });

function watched(base: AnyTool): Watched {
  const inputs: JsonObject[] = [];
  const plans: (PreparedPlan | undefined)[] = [];
  const tool: AnyTool = {
    ...base,
    handler(input, context) {
      inputs.push(input as JsonObject);
      plans.push(context.plan);
      return base.handler(input, context);
    },
  };
  return { tool, inputs, plans };
}
