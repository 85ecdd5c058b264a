// A real kernel on a session of the store: a few tools that work, fail, are denied or never end. What the
// store derives from facts is checked on facts the kernel made, not on facts written to please it.

import {
  createKernel,
  systemClock,
  type AnyTool,
  type Clock,
  type Kernel,
  type Run,
  type RunOptions,
  type Session,
} from "@soong/core";
import type { OpenSession } from "@soong/store";

export interface KernelOnStore {
  readonly kernel: Kernel;
  readonly session: Session;
  /** How often a handler was entered, by tool. */
  readonly executed: ReadonlyMap<string, number>;
  readonly startRun: (options?: RunOptions) => Promise<Run>;
}

/** No time-out fires: a call that never ends is one that a crash interrupts. */
const clockWithoutTimers: Clock = { ...systemClock(), after: () => () => {} };

export async function kernelOn(opened: OpenSession): Promise<KernelOnStore> {
  const executed = new Map<string, number>();
  const kernel = createKernel({ tools: tools(executed), clock: clockWithoutTimers });
  const { session_id, journal, artifacts, lastSeq } = opened;
  const session = await kernel.openSession({
    session_id,
    journal,
    artifacts,
    lastSeq,
    policy: {
      rules: [
        { tool: "demo.forbidden", decision: "deny", reason: "not here" },
        { tool: "demo.*", decision: "allow", reason: "for the check" },
      ],
    },
  });
  return { kernel, session, executed, startRun: (options) => session.startRun(options) };
}

function tools(executed: Map<string, number>): AnyTool[] {
  const never = (): Promise<never> => new Promise(() => {});
  return [
    tool("demo.read", { permission: "readonly", concurrency_safe: true }, (input) => input),
    tool("demo.write", { permission: "write" }, () => "written"),
    tool("demo.forbidden", { permission: "write" }, () => "never reached"),
    tool("demo.fail", { permission: "readonly", concurrency_safe: true }, () => {
      throw new Error("out of paper");
    }),
    tool("demo.long", { permission: "readonly", concurrency_safe: true }, () =>
      "long ".repeat(40_000),
    ),
    tool("demo.hang_read", { permission: "readonly", concurrency_safe: true }, never),
    tool("demo.hang_write", { permission: "write" }, never),
  ];

  function tool(
    name: string,
    about: Partial<AnyTool>,
    answer: (input: unknown) => unknown,
  ): AnyTool {
    return {
      name,
      description: `The tool ${name}, for checking a store`,
      input_schema: { type: "object" },
      handler: (input: unknown) => {
        executed.set(name, (executed.get(name) ?? 0) + 1);
        return answer(input);
      },
      ...about,
    };
  }
}
