// The policy of a project for the page, as `soong explain` shows it, with what its rules matched lately; and a rule more in the
// user's own config, exactly as it was shown.

import { createHash } from "node:crypto";
import { basename } from "node:path";
import { describePolicy, type Fact, type PermissionRule, type Policy } from "@soong/core";
import {
  InspectorError,
  type CallRef,
  type PolicyPage,
  type PolicyPort,
  type RuleChange,
  type RuleMatch,
} from "@soong/inspector";
import { describeProblem } from "@soong/platform";
import { isPlainRecord } from "@soong/schema";
import type { SessionRecord, Store } from "@soong/store";
import { wholeFileDiff } from "@soong/tools";
import {
  addRules,
  ConfigChanged,
  ConfigError,
  describeRule,
  planRules,
  type LoadedConfig,
  type PlannedRules,
} from "../../config/index.ts";
import { openRuntime } from "../../runtime/open-runtime.ts";
import { createHomeRedactor } from "../context.ts";
import { iterateSessions, readFactPages, resolveProjectPath } from "../stored.ts";
import { listPolicySettings } from "../tools/render-policy.ts";
import { withInspectorErrors, type InspectedHome } from "./inspected-home.ts";
import { checkTypedRule, requireTypedRule } from "./typed-rule.ts";

/** How far back projects are known. */
const PROJECT_SESSIONS = 300;

export function createPolicyPort(store: Store, place: InspectedHome): PolicyPort {
  const { env, home, cwd } = place;
  const redactor = () => createHomeRedactor(home, env);

  return {
    page: (given) =>
      withInspectorErrors(async () => {
        const projects = await listProjects(store, cwd);
        const project = given ?? projects[0] ?? cwd;
        // Others are no one's business here.
        if (!projects.includes(project)) {
          throw new InspectorError("bad_request", "No session is about this directory.");
        }
        const about = { project, projects, config_file: `${home}/config.toml` };
        const shown = await describeEffectivePolicy(place, project);
        return (await redactor()).value({ ...about, ...shown });
      }),
    matches: (signal) => withInspectorErrors(() => countMatches(store, signal)),
    check: checkTypedRule,
    change: (typed) =>
      withInspectorErrors(async () => {
        const planned = await planRules(home, [requireTypedRule(typed)]);
        return (await redactor()).value(describeChange(planned));
      }),
    write: (typed, shown) =>
      withInspectorErrors(async () => {
        const rule = requireTypedRule(typed);
        const written: { change?: RuleChange } = {};
        try {
          await addRules(home, [rule], (planned) => {
            written.change = describeChange(planned);
            return written.change.hash === shown;
          });
        } catch (error) {
          if (!(error instanceof ConfigChanged) || written.change === undefined) throw error;
          return { written: false, change: (await redactor()).value(written.change) };
        }
        const change = written.change ?? describeChange(await planRules(home, [rule]));
        place.note(`The rule was added to ${change.file}:${change.line}.`);
        return { written: true, change: (await redactor()).value(change) };
      }),
  };
}

type Shown = Omit<PolicyPage, "project" | "projects" | "config_file">;

const NOTHING: Shown = {
  problems: [],
  warnings: [],
  settings: [],
  rules: [],
  sensitive_paths: [],
};

async function describeEffectivePolicy(
  { env, config, note }: InspectedHome,
  project: string,
): Promise<Shown> {
  let loaded: LoadedConfig;
  try {
    loaded = await config();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { ...NOTHING, problems: error.problems.map(describeProblem) };
  }
  const options = { env, cwd: project, config: loaded, note, agents: true } as const;
  const runtime = await openRuntime({ ...options, servers: "none" });
  try {
    const { policy } = await (await runtime.openEphemeralSession()).startRun();
    return {
      problems: [],
      warnings: [
        ...loaded.warnings.map(describeProblem),
        ...runtime.unmatched.map(({ where, message }) => `${where}: ${message}`),
      ],
      ...describeParts(policy),
    };
  } finally {
    await runtime.close();
  }
}

const LAYERS: Readonly<Record<string, "runtime" | "mode">> = {
  mode: "mode",
  project: "runtime",
  "also writes": "runtime",
  protected: "runtime",
  sensitive: "runtime",
};

function describeParts(policy: Policy): Pick<Shown, "settings" | "rules" | "sensitive_paths"> {
  const { built_in_sensitive_paths: builtIn } = describePolicy(policy);
  return {
    settings: listPolicySettings(policy)
      .filter(([name]) => name !== "grants")
      .map(([name, value]) => ({ layer: LAYERS[name] ?? "defaults", name, value })),
    rules: (policy.input.rules ?? []).map(({ origin, ...rule }, index) => ({
      id: `rules[${index}]`,
      rule,
      toml: describeRule(rule),
      ...(origin === undefined ? {} : { origin }),
    })),
    sensitive_paths: [
      ...(policy.input.sensitive_paths ?? []),
      ...(Array.isArray(builtIn) ? builtIn.map(String) : []),
    ],
  };
}

/** The directory of the inspector first, then those of the latest sessions. */
async function listProjects(store: Store, cwd: string): Promise<string[]> {
  const sessions = await store.sessions({ limit: PROJECT_SESSIONS });
  const projects = sessions.flatMap(({ project }) => project ?? []);
  return [...new Set([await resolveProjectPath(cwd), ...projects])];
}

function describeChange({ file, before, after, line }: PlannedRules): RuleChange {
  const [old, text] = [before, after].map((one) => one && Buffer.from(one));
  return {
    file,
    line,
    diff: wholeFileDiff(basename(file), old || undefined, text || Buffer.alloc(0)),
    hash: createHash("sha256")
      .update(JSON.stringify([file, before, after]))
      .digest("hex"),
  };
}

// What rules matched, read from the decisions of the latest runs.

const MOST_SESSIONS = 50;
const MOST_FACTS = 50_000;
const MOST_LATEST = 5;

async function countMatches(store: Store, signal: AbortSignal) {
  const matches = new Map<string, RuleMatch & { latest: CallRef[] }>();
  let [sessions, calls, facts] = [0, 0, 0];
  let since: string | undefined;
  let hasOlder = false;
  for await (const session of iterateSessions(store)) {
    if (sessions >= MOST_SESSIONS || facts >= MOST_FACTS || signal.aborted) {
      hasOlder = true;
      break;
    }
    sessions += 1;
    since = session.updated_at;
    for await (const { rule, ...found } of readSession(session)) {
      const match = matches.get(rule) ?? { matched: 0, decided: 0, latest: [] };
      match.matched += 1;
      if (found.decides) match.decided += 1;
      if (match.latest.length < MOST_LATEST) match.latest.push(found.call);
      matches.set(rule, match);
    }
  }
  return {
    matches: Object.fromEntries(matches),
    sessions,
    calls,
    has_older: hasOlder,
    ...(since === undefined ? {} : { since }),
  };

  async function* readSession(session: SessionRecord) {
    const reader = await store.readSession(session.session_id);
    for (const { run_id } of (await reader.runs()).toReversed()) {
      if (facts >= MOST_FACTS || signal.aborted) return;
      let rules: readonly string[] = [];
      /** Of two judgements of a call the later one knows all that the earlier one did. */
      const judged = new Map<string, Fact<"permission.evaluated">>();
      for await (const page of readFactPages(reader, { run_id })) {
        facts += page.length;
        for (const fact of page) {
          if (fact.type === "run.started") rules = readRules(fact);
          if (fact.type !== "permission.evaluated") continue;
          judged.delete(fact.tool_call_id ?? "");
          judged.set(fact.tool_call_id ?? "", fact);
        }
        if (facts >= MOST_FACTS || signal.aborted) break;
      }
      calls += judged.size;
      for (const fact of [...judged.values()].toReversed())
        yield* findMatches(fact, rules, session);
    }
  }
}

/** As they were then: places in a config change, and what a rule says is what it is. */
function readRules({ data }: Fact<"run.started">): string[] {
  const { rules } = isPlainRecord(data.policy) ? data.policy : {};
  if (!Array.isArray(rules)) return [];
  return rules.map((rule) => {
    if (!isPlainRecord(rule)) return "";
    const { origin: _origin, ...own } = rule;
    return describeRule(own as Partial<PermissionRule> as PermissionRule);
  });
}

function* findMatches(
  { data, time, run_id = "", tool_call_id = "", tool_name = "" }: Fact<"permission.evaluated">,
  rules: readonly string[],
  { session_id, project = "" }: SessionRecord,
) {
  const { decision, chain } = data;
  const call = { session_id, run_id, tool_call_id, tool_name, project, at: time, decision };
  // Of another version, or nonsense: then no rule is known to have matched.
  const entries = Array.isArray(chain) ? chain.filter(isPlainRecord) : [];
  for (const { layer, rule: id, verdict, decisive } of entries) {
    const [, index] = /^rules\[(\d+)\]$/.exec(String(id)) ?? [];
    const rule = layer === "rules" && index !== undefined ? rules[Number(index)] : undefined;
    // It was looked at, and had nothing to say.
    if (rule === undefined || verdict === "no_opinion") continue;
    yield { rule, decides: decisive === true, call };
  }
}
