// `soong hooks check`: whether hooks.json is what it should be, which program each hook runs and, with a sample, what the
// hooks of one event answer. Read and judged as in a run (HOOK-1, HOOK-4).

import { resolve } from "node:path";
import { messageOf, type HookEvent, type HookPayloads } from "@soong/core";
import { isGuard, matchesName, readHookAnswer } from "@soong/core/internal";
import { describeProblem, openSandbox, type Sandbox } from "@soong/platform";
import { isRecord, nearestName } from "@soong/schema";
import { loadHooks, type LoadedHook } from "@soong/tools";
import { userHome, type LoadedConfig } from "../../config/index.ts";
import { EXIT, UsageError, pad, visible, visibleJson, visibleLine } from "../../output/index.ts";
import { entrySandboxes } from "../../runtime/entry-sandbox.ts";
import { homePaths } from "../../runtime/home.ts";
import { resolvePlaces } from "../../runtime/places.ts";
import { loadUserConfig } from "../context.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { withInterrupt } from "../signals.ts";

export const checkHooksFile: Handler<"hooks check"> = async (context, { file }, options) => {
  const sample = readSample(options);
  const config = await loadUserConfig(context);
  const path = file === undefined ? homePaths(config.home).hooks : resolve(context.cwd, file);
  const sandbox = openSandbox();
  try {
    return await checkFile(path, { context, config, sample, sandbox });
  } finally {
    sandbox.close();
  }
};

interface Checking {
  readonly context: CommandContext;
  readonly config: LoadedConfig;
  readonly sample: Sample | undefined;
  readonly sandbox: Sandbox;
}

async function checkFile(path: string, checking: Checking): Promise<number> {
  const { context, config, sample, sandbox } = checking;
  const { output, print, cwd, env } = context;
  const { values, home } = config;
  const places = await resolvePlaces(cwd, home, values.tools);
  const loaded = await loadHooks(path, {
    project: cwd,
    userHome: userHome(env),
    timeout_ms: values.hooks.timeout_ms,
    log: (_, text) => output.note(visible(text.trimEnd()), "dim"),
    openSandbox: entrySandboxes(sandbox, places, values.tools),
  });
  const { green, red } = output.colours;
  if (!loaded.ok) {
    for (const problem of loaded.problems) {
      print({ problem }, () => `${red("fail")}  ${visibleLine(describeProblem(problem))}`);
    }
    return EXIT.failed;
  }
  if (loaded.hooks.length === 0) {
    print({ file: path, hooks: 0 }, () => `${visibleLine(path)} names no hook.`);
    return EXIT.ok;
  }
  for (const { id, event, tool, tags, path: about, executable } of loaded.hooks) {
    print({ hook: { id, event, tool, tags, path: about, executable } }, () => {
      const which = [tool, ...(tags ?? []), about].filter((one) => one !== undefined).join(" ");
      const words = [pad(visibleLine(id), 20), pad(event, 18), visibleLine(which)].join(" ");
      return `${green("ok")}    ${words.trimEnd()}  runs ${visibleLine(executable)}`;
    });
  }
  return sample === undefined ? EXIT.ok : tryHooks(context, loaded.hooks, sample);
}

interface Sample {
  readonly event: HookEvent;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Every hook of the event that is about such a tool, one after the other. */
async function tryHooks(
  context: CommandContext,
  hooks: readonly LoadedHook[],
  { event, payload }: Sample,
): Promise<number> {
  const { output, print } = context;
  const { green, red, yellow } = output.colours;
  const tool = typeof payload["tool_name"] === "string" ? payload["tool_name"] : undefined;
  const meant = hooks.filter(
    (hook) =>
      hook.event === event &&
      (hook.tool === undefined || tool === undefined || matchesName(hook.tool, tool)),
  );
  if (meant.length === 0) {
    output.note(`No hook is for ${event}${tool === undefined ? "" : ` of ${visibleLine(tool)}`}.`);
    return EXIT.failed;
  }
  let exitCode: number = EXIT.ok;
  for (const hook of meant) {
    const answer = await withInterrupt(context, (signal) => ask(hook, event, payload, signal));
    const { id } = hook;
    if (typeof answer === "string") {
      exitCode = EXIT.failed;
      const effect = describeFailureEffect(hook);
      print({ hook: id, event, failed: answer, effect }, () => [
        `${red("fail")}  ${visibleLine(id)} ${visibleLine(answer)}`,
        `      ${effect}`,
      ]);
      continue;
    }
    print({ hook: id, event, answer }, () =>
      Object.keys(answer).length === 0
        ? `${green("pass")}  ${visibleLine(id)} answers nothing: the call continues`
        : `${yellow("says")}  ${visibleLine(id)} ${visibleJson(answer)}`,
    );
  }
  return exitCode;
}

/** A text says what is wrong. */
async function ask(
  hook: LoadedHook,
  event: HookEvent,
  payload: Sample["payload"],
  signal: AbortSignal,
): Promise<object | string> {
  try {
    // The payload is that of the event the hook is for: the compiler does not follow the pair.
    return readHookAnswer(event, await hook.run(payload as never, { signal }));
  } catch (error) {
    return messageOf(error);
  }
}

function describeFailureEffect({ event, on_failure }: LoadedHook): string {
  if (!isGuard(event)) return "In a run this is a warning.";
  return on_failure === "continue"
    ? "In a run it is passed over, as on_failure says."
    : "In a run a call that writes is denied, and one that reads requires approval.";
}

const IDS = { session_id: "session_sample", run_id: "run_sample" };
const USE = {
  ...IDS,
  agent_id: "agent_sample",
  tool_call_id: "call_sample",
  tool_name: "code.read_file",
  input: { path: "README.md" },
};
const RESULT = { status: "succeeded", is_error: false, content: [], summary: "" };
const CHILD = { ...IDS, child_run_id: "run_child", child_agent_id: "agent_child" };

/** What a sample says nothing of. */
const SAMPLES: { readonly [Event in HookEvent]: Partial<HookPayloads[Event]> } = {
  SessionStart: IDS,
  UserPromptSubmit: { ...IDS, prompt: "Look at the tests." },
  PreToolUse: USE,
  PermissionRequest: { request: { tool_name: USE.tool_name, input: USE.input } },
  PostToolUse: { ...USE, result: { ...RESULT, tool_call_id: "", tool_name: "" } as never },
  PostToolUseFailure: { ...USE, result: { ...RESULT, status: "failed", is_error: true } as never },
  Elicitation: USE,
  ElicitationResult: USE,
  Stop: { ...IDS, already_continued: false },
  SessionEnd: IDS,
  SubagentStart: { ...CHILD, agent_definition_id: "default_sub_agent", role: "sub" },
  SubagentStop: {
    ...CHILD,
    agent_definition_id: "default_sub_agent",
    role: "sub",
    status: "completed",
  },
  PreCompact: { ...IDS, trigger: "tokens", tokens_before: 100_000 },
  Notification: { ...USE, kind: "permission", message: "" },
};

function readSample({
  event,
  sample,
}: {
  readonly event?: string;
  readonly sample?: string;
}): Sample | undefined {
  if (event === undefined && sample === undefined) return undefined;
  if (event === undefined)
    throw new UsageError("--sample needs the event: add --event PreToolUse, say.");
  if (!Object.hasOwn(SAMPLES, event)) {
    const names = Object.keys(SAMPLES);
    const near = nearestName(event, names);
    const hint = near === undefined ? `Events: ${names.join(", ")}.` : `Did you mean ${near}?`;
    throw new UsageError(`${visibleLine(event)} is no event of hooks. ${hint}`);
  }
  const known = event as HookEvent;
  let given: unknown = {};
  try {
    given = JSON.parse(sample ?? "{}");
  } catch {
    given = undefined;
  }
  if (isRecord(given)) return { event: known, payload: { ...SAMPLES[known], ...given } };
  throw new UsageError(
    `--sample takes a JSON object, such as '{"tool_name": "code.write_file", "input": {"path": "a"}}'.`,
  );
}
