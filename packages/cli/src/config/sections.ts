// Every section and setting of the config (CONF-3): its meaning, what it may hold and its default. A new setting is one
// more entry here.

import { kernelConfig, type NetworkPolicy, type PermissionRule } from "@soong/core";
import { shape } from "@soong/platform";
import { argumentTemplate, RECALL_FIELDS, WRITE_FIELDS } from "./argument-template.ts";
import {
  amount,
  choice,
  CURRENCY,
  DIRECTORY,
  ENVIRONMENT_NAME,
  flag,
  milliseconds,
  plainText,
  setting,
  text,
  texts,
  TOOL_PATTERN,
  valueOf,
  WEB_ADDRESS,
  wholeNumber,
  type AnyTable,
  type TextForm,
  type Values,
} from "./definition.ts";
import { checkNetwork, RULES, SENSITIVE_PATHS } from "./policy-shapes.ts";

/** The config as the rest of the program sees it: every default filled in, the names those of the file. */
export type SoongConfig = Values<typeof SECTIONS>;

export const PROVIDERS = ["anthropic", "openai", "google", "openai-compatible"] as const;

const { agents, hooks, tools } = kernelConfig();
const MODEL_REFERENCE = plainText('`"provider:model"`, `"script:FILE"` or the name of a profile');
const TOKENS = wholeNumber(1, 100_000_000);
const ANY_COUNT = wholeNumber(1, Number.MAX_SAFE_INTEGER);
const PRICE = amount();
const MAX_BYTES = 64 * 1024 * 1024;

const model = {
  says: "The model that answers.",
  keys: {
    default: setting(
      "The model of every run that names no other. Default: one of a provider whose key is in the environment.",
      text(MODEL_REFERENCE),
      { example: '"local"' },
    ),
    max_output_tokens: setting(
      "How long one answer may be. Default: as long as the provider allows.",
      TOKENS,
      { example: "8_192" },
    ),
    retries: setting(
      "How often a request that failed in passing is sent again before another model is tried.",
      wholeNumber(0, 100, 3),
    ),
    idle_timeout_ms: setting(
      "A model that says nothing for so long has failed; comments and empty pieces of a stream say nothing.",
      milliseconds(300_000),
    ),
    max_answer_ms: setting(
      "How long one answer may take in all. A longer one is cut off, and the run ends as failed with `answer_too_slow`.",
      milliseconds(3_600_000),
    ),
    max_answer_bytes: setting(
      "How many bytes of text, reasoning and arguments one answer may have; a piece of the stream counts for at least 64, a call for 1024. A longer one is cut off, and the run ends as failed with `answer_too_large`.",
      wholeNumber(1024, 1024 ** 3, 16 * 1024 * 1024),
    ),
    max_retry_after_ms: setting(
      "A provider that asks for a longer wait is given up.",
      milliseconds(120_000),
    ),
    budget: {
      says: "What one run may use. It is looked at before each request, and a run that has used it up ends there as failed; a request under way is not cut.",
      keys: {
        max_tokens: setting(
          "Tokens in and out, over all requests of a run. What a provider does not tell is not counted.",
          ANY_COUNT,
          { example: "2_000_000" },
        ),
        max_cost: setting(
          "What a run may cost. Only models with prices in this currency are asked then.",
          amount({ above: 0 }),
          { example: "2.50" },
        ),
        currency: setting("The currency of `max_cost`.", text(CURRENCY, "USD")),
      },
    },
  },
};

const modelProfile = {
  says: "One model under a name of yours.",
  keys: {
    provider: setting("Whose interface it is.", choice(PROVIDERS, "openai-compatible"), {
      needed: true,
    }),
    model: setting("Its name there.", text(plainText("name of a model"), ""), { needed: true }),
    base_url: setting(
      "Where it is asked, if not at the provider's own address; openai-compatible needs it.",
      text(WEB_ADDRESS),
    ),
    api_key_env: setting(
      "The environment variable that holds the key. Default: the one the provider usually has.",
      text(ENVIRONMENT_NAME),
    ),
    context_window: setting("How many tokens it can read.", TOKENS),
    max_output_tokens: setting(
      "How long one of its answers may be, where `model.max_output_tokens` says nothing.",
      TOKENS,
    ),
    prices: {
      says: "What a million tokens cost. Without `input` and `output` the cost of its answers is not known, and shown as such.",
      keys: {
        currency: setting("What the prices are in.", text(CURRENCY, "USD")),
        input: setting("Tokens that are sent, without those of the cache.", PRICE),
        output: setting("Tokens that are answered, reasoning among them.", PRICE),
        cache_read: setting(
          "Tokens that the provider had in its cache. Default: the cost of a request that used it is not known.",
          PRICE,
        ),
        cache_write: setting(
          "Tokens that the provider put into its cache. Default: the same.",
          PRICE,
        ),
      },
    },
  },
};

const models = {
  says: "Models under names of yours, and which replace one that is overloaded.",
  keys: {
    fallback: setting("The models to go on with, in this order.", texts(MODEL_REFERENCE, [])),
    profiles: {
      says: "One table for each model.",
      nameProblem: (name: string) =>
        /^[A-Za-z0-9_.-]+$/.test(name)
          ? undefined
          : 'is not a name for a profile: letters, digits, "_", "-" and "."',
      each: modelProfile,
      example: [
        "[models.profiles.local]",
        'provider = "openai-compatible"',
        'model = "qwen3:8b"',
        'base_url = "http://localhost:11434/v1"',
        'api_key_env = "LOCAL_MODEL_KEY"',
        "context_window = 32_768",
        "prices = { input = 0, output = 0 }   # a million tokens; with cache_read, cache_write, currency",
      ],
    },
  },
};

const toolsSection = {
  says: "Which tools there are, how long they may take, and how much they may touch.",
  keys: {
    disabled: setting("Tools that are not offered.", texts(TOOL_PATTERN, tools.disabled)),
    default_timeout_ms: setting(
      "How long a call may take when neither the tool nor the model says; also a command.",
      milliseconds(tools.default_timeout_ms),
    ),
    max_timeout_ms: setting("The longest any call may take.", milliseconds(tools.max_timeout_ms)),
    inline_limit_bytes: setting(
      "How much of a result the model is sent; the rest is kept as an artifact.",
      wholeNumber(0, MAX_BYTES, tools.inline_limit_bytes),
    ),
    max_arguments_bytes: setting(
      "How large the arguments of a call may be.",
      wholeNumber(1, MAX_BYTES, tools.max_arguments_bytes),
    ),
    max_arguments_depth: setting(
      "How deeply they may be nested.",
      wholeNumber(1, 512, tools.max_arguments_depth),
    ),
    max_concurrency: setting(
      "How many readonly calls run at the same time.",
      wholeNumber(1, 1000, tools.max_concurrency),
    ),
    early_start: setting(
      "Which calls may start while the model still streams. `readonly`: those that leave nothing behind, inside or outside. `all`: also writes; an answer that breaks off after one is not asked for again.",
      choice(["none", "readonly", "all"], tools.early_start),
    ),
    defer_budget_tokens: setting(
      "How many tokens the definitions of tools may cost before some are only found by search.",
      wholeNumber(0, 100_000_000, tools.defer_budget_tokens),
    ),
    cancel_grace_ms: setting(
      "How long a cancelled call may take to clean up.",
      milliseconds(tools.cancel_grace_ms, 0),
    ),
    resolve_timeout_ms: setting(
      "How long a tool may take to say whether it is there, and what its instructions are.",
      milliseconds(tools.resolve_timeout_ms),
    ),
    env_allowlist: setting(
      "Environment variables that commands see besides the harmless ones. Each is named in full.",
      texts(ENVIRONMENT_NAME, []),
    ),
    write_roots: setting(
      "Directories besides the project where writing is as ordinary as in it. Also accepted as `allowed_write_roots`.",
      texts(DIRECTORY, []),
      { aliases: ["allowed_write_roots"] },
    ),
    tmp_dir: setting(
      "Whether writing under the directory for temporary files (`TMPDIR`) is as ordinary as in the project.",
      flag(false),
    ),
    sensitive_paths: setting(
      "Globs of files that hold secrets, added to the built-in ones.",
      valueOf<readonly string[]>(
        "list: name, glob below the project, `~/…` or absolute",
        SENSITIVE_PATHS,
        [],
      ),
    ),
    overrides: {
      says: "Settings for single tools, by a pattern of their canonical names in quotes. Where several patterns fit, the longest counts.",
      nameProblem(name: string) {
        const problem = TOOL_PATTERN.problem(name);
        return problem === undefined || name.includes(".")
          ? problem
          : `${problem}; a name with dots needs quotes: [tools.overrides."code.run_command"]`;
      },
      each: {
        says: "What is different for the tools a pattern fits.",
        keys: {
          timeout_ms: setting(
            "How long a call may take. The model cannot ask for more.",
            milliseconds(),
          ),
          readonly: setting(
            "You vouch that these tools of an MCP server change nothing. Patterns that begin with `mcp.` only.",
            flag(),
          ),
        },
      },
      example: ['[tools.overrides."code.run_command"]', "timeout_ms = 300_000"],
    },
  },
};

/** What a rule may say is known to the kernel alone, which checks it. */
const permissions = {
  says: "What may happen unasked, what is asked about, and what never happens.",
  keys: {
    rules: setting(
      "Rules, one table each: `tool`, `tags`, `path`, `argv` and `host` say which calls, `decision` what becomes of them, `reason` why; `every_time` makes an ask that no grant answers, `exact_argv` an argv that is the whole command, `project` a rule for that directory alone. Any deny counts more than any allow.",
      valueOf<readonly PermissionRule[]>("tables `[[permissions.rules]]`", RULES, []),
      {
        tables: [
          "[[permissions.rules]]",
          'tool = "code.run_command"        # exact, "code.*" or "mcp.github.*"',
          'argv = ["git", "status", "**"]   # the beginning of the command; "*" is one item, a last "**" any rest',
          'decision = "allow"               # "allow", "ask" or "deny"',
          'reason = "read-only git"',
          "",
          "[[permissions.rules]]",
          'path = "migrations/**"           # below the project, "~/…" or absolute',
          'tags = ["write"]                 # all of them',
          'decision = "deny"',
        ],
      },
    ),
    destructive: setting(
      "What becomes of a call that may destroy something. `deny` holds against every rule that allows.",
      choice(["ask", "deny"], "ask"),
    ),
    ask_timeout_ms: setting(
      "How long a question waits for its answer. Default: as long as it takes.",
      milliseconds(),
      { example: "300_000" },
    ),
    network: {
      says: "The network, for all tools.",
      together: checkNetwork,
      keys: {
        mode: setting(
          "`off`: none. `ask`: every use is asked about. `hosts`: the listed hosts and no others. `default`: asked about, but for the listed hosts.",
          valueOf<NetworkPolicy["mode"]>(
            '`"off"`, `"ask"`, `"hosts"`, `"default"`',
            shape.anything,
            "default",
          ),
        ),
        hosts: setting(
          "Host names, with `*.` before them for all below.",
          valueOf<readonly string[]>("list: host", shape.anything, []),
        ),
      },
    },
  },
};

const mcp = {
  says: "MCP servers; they themselves stand in mcp.json.",
  keys: {
    wait_ms: setting(
      "How long a run waits for servers that have not answered yet. A late one comes with a later turn.",
      milliseconds(10_000),
    ),
    call_timeout_ms: setting(
      "How long a call may go without an answer or progress, unless the entry of its server says otherwise.",
      milliseconds(100_000),
    ),
    connect_timeout_ms: setting(
      "How long a server may take from its start to its first answer, unless its entry says otherwise.",
      milliseconds(30_000),
    ),
    instructions: setting(
      "Whether a model reads what servers say of their own tools, marked as their words.",
      flag(true),
    ),
  },
};

const agentsSection = {
  says: "Limits on agents and the agents they start.",
  keys: {
    max_turns: setting("How many model requests one run may make.", wholeNumber(1, 100_000, 128)),
    child_timeout_ms: setting(
      "How long a child agent may take.",
      milliseconds(agents.child_timeout_ms),
    ),
    max_children_per_run: setting(
      "How many children one run may start.",
      wholeNumber(0, 1000, agents.max_children_per_run),
    ),
    max_concurrent_children_per_session: setting(
      "How many children of a session may work at the same time.",
      wholeNumber(0, 1000, agents.max_concurrent_children_per_session),
    ),
    worker_pools: {
      says: "One table for each pool of workers that steps of a task may be given to. Without any there is one, `workers`, of four.",
      nameProblem: (name: string) =>
        /^[A-Za-z0-9_-]{1,64}$/.test(name)
          ? undefined
          : 'is not a name for a pool: 1 to 64 letters, digits, "_" and "-"',
      each: {
        says: "Workers that are alike.",
        keys: {
          agent: setting(
            "The agent definition its workers have. Default: `default_worker_agent`.",
            text(plainText("id of an agent definition")),
          ),
          size: setting(
            "How many of them there are, which is how many steps they work on at the same time.",
            wholeNumber(1, 64, 1),
          ),
          model: setting(
            "The model they ask. Default: that of the definition, or of the run that gives them work.",
            text(MODEL_REFERENCE),
          ),
          allowed_tools: setting(
            "The tools they have beside those for their task. Default: those of the definition, or the file tools that only read.",
            texts(TOOL_PATTERN),
          ),
        },
      },
      example: [
        "[agents.worker_pools.builders]",
        'agent = "builder"               # agents/builder.md of the home',
        "size = 2",
        'allowed_tools = ["code.*"]',
      ],
    },
  },
};

const SERVER_TOOL: TextForm = {
  words: 'name of a tool of an MCP server, such as `"mcp.notes.add"`',
  problem: (given) =>
    /^mcp\.[^.]+\../.test(given)
      ? plainText("").problem(given)
      : 'is no tool of an MCP server: those are named mcp.SERVER.TOOL, such as "mcp.notes.add"',
};

const memory = {
  says: "Long-term memory.",
  keys: {
    enabled: setting(
      "Whether there is a memory at all: its tools, and what a run begins with.",
      flag(true),
    ),
    provider: setting(
      "Where memories are recalled from: `memory/` of the home, or a call of `recall_tool`.",
      choice(["local", "external"], "local"),
    ),
    write_mode: setting(
      "What becomes of a memory the model wants to keep: nothing, a candidate that `soong memory extract` looks at, or a call of `external_tool`.",
      choice(["disabled", "candidate", "external"], "candidate"),
    ),
    external_tool: setting(
      'The tool of an MCP server that keeps memories when `write_mode` is "external".',
      text(SERVER_TOOL),
      { example: '"mcp.notes.add"' },
    ),
    write_arguments: setting(
      "What `external_tool` is given, as JSON with fields in it; without it the fields content, scope, project and tags.",
      text(argumentTemplate(WRITE_FIELDS)),
      {
        example: `'{"entities": [{"name": "{{id}}", "entityType": "{{scope}}", "observations": ["{{content}}"]}]}'`,
      },
    ),
    recall_tool: setting(
      'The tool of an MCP server that recalls memories when `provider` is "external".',
      text(SERVER_TOOL),
      { example: '"mcp.notes.search"' },
    ),
    recall_arguments: setting(
      "What `recall_tool` is given, as JSON with fields in it; without it the fields query, scope, limit and project.",
      text(argumentTemplate(RECALL_FIELDS)),
      { example: `'{"query": "{{query}}"}'` },
    ),
    recall_tokens: setting(
      "How many tokens the memories that one call recalls may take, by estimate.",
      wholeNumber(100, 1_000_000, 2000),
    ),
    start_tokens: setting(
      "How many tokens the memories a run begins with may take, by estimate; 0: none, and an external memory is not asked then.",
      wholeNumber(0, 1_000_000, 1000),
    ),
    start_arguments: setting(
      "What `recall_tool` is given when a run begins, with the prompt as the query; without it as in `recall_arguments`.",
      text(argumentTemplate(RECALL_FIELDS)),
      { example: `'{"query": "project: {{project}}"}'` },
    ),
  },
};

export const SECTIONS = {
  says: "The config of Soong.",
  keys: {
    sandbox: setting(
      'Whether commands run in a sandbox of the operating system. There is none yet, so that "required" refuses to start.',
      choice(["off", "on", "required"], "off"),
      { effect: "none_yet" },
    ),
    model,
    models,
    tools: toolsSection,
    permissions,
    hooks: {
      says: "Hooks; they themselves stand in hooks.json.",
      keys: {
        timeout_ms: setting(
          "How long a hook may take that sets no time of its own.",
          milliseconds(hooks.timeout_ms),
        ),
      },
    },
    mcp,
    agents: agentsSection,
    task: {
      says: "Tasks: goals and the steps that reach them, which workers claim.",
      keys: {
        lease_ms: setting(
          "How long the claim on a step holds without a sign of life of its worker; then it is anybody's again.",
          milliseconds(60_000, 1000),
        ),
        max_attempts: setting(
          "How often a step that says nothing of it is tried before it has failed.",
          wholeNumber(1, 100, 3),
        ),
      },
    },
    memory,
    context: {
      says: "What is sent with a model request.",
      keys: {
        max_tokens: setting(
          "Above this the conversation is compacted before it is sent. Default: what the model can read.",
          wholeNumber(1000, 100_000_000),
          { example: "100_000" },
        ),
        instructions: setting(
          "Whether instruction files (AGENTS.md, else CLAUDE.md) of the user and the project, and those a call reads, are part of the system text.",
          flag(true),
        ),
        instruction_limit_bytes: setting(
          "How much of one instruction file is taken. All of them together may be four times as long.",
          wholeNumber(256, 1_048_576, 32_768),
        ),
      },
    },
    store: {
      says: "Where sessions are kept, and for how long.",
      keys: {
        url: setting(
          "The database that several machines share, without its password.",
          text(plainText("address of a database")),
          { effect: "none_yet", example: '"postgres://soong@db.example.org/soong"' },
        ),
        busy_timeout_ms: setting(
          "How long a command waits while another process holds the database.",
          milliseconds(120_000),
        ),
        retention: {
          says: "What is removed automatically. Default: nothing.",
          keys: {
            max_age_days: setting(
              "Sessions not used for longer are removed.",
              wholeNumber(1, 36_500),
              { example: "90" },
            ),
            max_bytes: setting(
              "The oldest sessions are removed until the rest is within this.",
              ANY_COUNT,
              { example: "10_000_000_000" },
            ),
          },
        },
      },
    },
  },
} satisfies AnyTable;
