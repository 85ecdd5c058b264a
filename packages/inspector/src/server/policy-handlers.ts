// Requests about the policy: what it is, what a rule would have decided, and writing one rule to the user's own config.

import type { WhatIfAsked } from "../wire/home-records.ts";
import type { RuleTyped, WhatIfAllAsked } from "../wire/policy-records.ts";
import { bad, given, type InspectorPorts } from "./ports.ts";
import { record, text } from "./read-body.ts";
import type { Handlers } from "./router.ts";

type PolicyRoute = Extract<
  keyof Handlers,
  `${string} /api/policy${string}` | `${string} /api/what-if${string}`
>;

export function policyHandlers(
  ports: Pick<InspectorPorts, "policy" | "whatIf">,
): Pick<Handlers, PolicyRoute> {
  const policy = () => given(ports.policy, "the policy is not shown");
  const whatIf = () => given(ports.whatIf, "runs cannot be decided again");
  return {
    "GET /api/policy": {
      query: ["project"],
      handle: async ({ query }) => policy().page(query.text("project")),
    },
    "GET /api/policy/matches": { handle: async ({ signal }) => policy().matches(signal) },
    "POST /api/policy/rule/check": {
      body: ruleBody,
      handle: async ({ body }) => policy().check(body),
    },
    "POST /api/policy/rule/change": {
      body: ruleBody,
      handle: async ({ body }) => policy().change(body),
    },
    "POST /api/policy/rule/write": {
      body: writeBody,
      handle: async ({ body: { rule, shown } }) => policy().write(rule, shown),
    },
    "POST /api/what-if": { body: whatIfBody, handle: async ({ body }) => whatIf().run(body) },
    "POST /api/what-if/all": {
      body: whatIfAllBody,
      handle: async ({ body, signal }) => whatIf().all(body, signal),
    },
  };
}

const LONGEST_RULE = 20_000;
const MOST_WORDS = 1000;

function ruleBody(given: unknown): RuleTyped {
  const body = record(given, "The rule");
  const { fields, toml } = body;
  if ((fields === undefined) === (toml === undefined)) {
    throw bad("A rule has either fields or toml.");
  }
  if (toml !== undefined) {
    if (typeof toml !== "string" || toml.length > LONGEST_RULE) {
      throw bad(`toml must be a text of at most ${LONGEST_RULE} characters.`);
    }
    return { toml };
  }
  const entries = Object.entries(record(fields, "fields"));
  if (!entries.every(([, value]) => isFieldValue(value))) {
    throw bad("Each of fields is a text, a list of texts, or true or false.");
  }
  return {
    fields: Object.fromEntries(entries) as Extract<RuleTyped, { fields: object }>["fields"],
  };
}

function isFieldValue(value: unknown): boolean {
  if (typeof value === "string") return value.length <= LONGEST_RULE;
  if (Array.isArray(value)) {
    return value.length <= MOST_WORDS && value.every((one) => typeof one === "string");
  }
  return typeof value === "boolean";
}

function writeBody(given: unknown): { rule: RuleTyped; shown: string } {
  const body = record(given, "The body");
  return { rule: ruleBody(body["rule"]), shown: text(body, "shown") };
}

function whatIfBody(given: unknown): WhatIfAsked {
  return { run_id: text(record(given, "The body"), "run_id"), ...change(given) };
}

function whatIfAllBody(given: unknown): WhatIfAllAsked {
  const body = record(given, "The body");
  return {
    ...change(given),
    ...(body["after"] === undefined ? {} : { after: text(body, "after") }),
  };
}

function change(given: unknown): Pick<WhatIfAllAsked, "rule" | "config_file"> {
  const body = record(given, "The body");
  if ((body["rule"] === undefined) === (body["config_file"] === undefined)) {
    throw bad("The body needs either a rule or a config_file.");
  }
  return body["rule"] === undefined
    ? { config_file: text(body, "config_file") }
    : { rule: ruleBody(body["rule"]) };
}
