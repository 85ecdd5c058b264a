// Every section and setting of the config (CONF-3): its meaning, what it may hold and its default. A new setting is one
// more entry here.

import { kernelConfig, SANDBOX_MODES, type NetworkPolicy, type PermissionRule } from "@soong/core";
import { shape } from "@soong/platform";
import {
  amount,
  argumentTemplate,
  choice,
  CURRENCY,
  DIRECTORY,
  ENVIRONMENT_NAME,
  flag,
  milliseconds,
  plainText,
  RECALL_FIELDS,
  STORE_ADDRESS,
  text,
  texts,
  TOOL_PATTERN,
  valueOf,
  WEB_ADDRESS,
  wholeNumber,
  WRITE_FIELDS,
  type AnyTable,
  type TextForm,
  type Values,
  checkNetwork,
  RULES,
  SENSITIVE_PATHS,
} from "./definition.ts";

/** The config as the rest of the program sees it: every default filled in, the names those of the file. */
export type SoongConfig = Values<typeof SECTIONS>;

export const PROVIDERS = ["anthropic", "openai", "google", "openai-compatible"] as const;

const { agents, hooks, tools } = kernelConfig();
const MODEL_REFERENCE = plainText('`"provider:model"`, `"script:FILE"` or the name of a profile');
/** Some collectors take their key in the query. */
const COLLECTOR_ADDRESS: TextForm = {
  words: WEB_ADDRESS.words,
  problem(given) {
    if (/^https?:\/\//i.test(given) && !URL.canParse(given)) {
      return "is not a valid address: check its host and port";
    }
    const problem = WEB_ADDRESS.problem(given);
    if (problem !== undefined || !given.includes("?")) return problem;
    return "has a query, and no key is ever written here: set an environment variable to the headers and name it in headers_env, or set OTEL_EXPORTER_OTLP_ENDPOINT";
  },
};
const TOKENS = wholeNumber(1, 100_000_000);
const ANY_COUNT = wholeNumber(1, Number.MAX_SAFE_INTEGER);
const PRICE = amount();
const MAX_BYTES = 64 * 1024 * 1024;

const model = {
  says: "The model that answers.",
  keys: {
    default: text(MODEL_REFERENCE).says(
      "The model of every run that names no other. Default: one of a provider whose key is in the environment.",
      { example: '"local"' },
    ),
    max_output_tokens: TOKENS.says(
      "How long one answer may be. Default: as long as the provider allows.",
      { example: "8_192" },
    ),
    retries: wholeNumber(0, 100, 3).says(
      "How often a request that failed in passing is sent again before another model is tried.",
    ),
    idle_timeout_ms: milliseconds(300_000).says(
      "A model that says nothing for so long has failed; comments and empty pieces of a stream say nothing.",
    ),
    max_answer_ms: milliseconds(3_600_000).says(
      "How long one answer may take in all. A longer one is cut off, and the run ends as failed with `answer_too_slow`.",
    ),
    max_answer_bytes: wholeNumber(1024, 1024 ** 3, 16 * 1024 * 1024).says(
      "How many bytes of text, reasoning and arguments one answer may have; a piece of the stream counts for at least 64, a call for 1024. A longer one is cut off, and the run ends as failed with `answer_too_large`.",
    ),
    max_retry_after_ms: milliseconds(120_000).says(
      "A provider that asks for a longer wait is given up.",
    ),
    budget: {
      says: "What one run may use. It is looked at before each request, and a run that has used it up ends there as failed; a request under way is not cut.",
      keys: {
        max_tokens: ANY_COUNT.says(
          "Tokens in and out, over all requests of a run. What a provider does not report is not counted.",
          { example: "2_000_000" },
        ),
        max_cost: amount({ above: 0 }).says(
          "What a run may cost. Only models with prices in this currency are asked then.",
          { example: "2.50" },
        ),
        currency: text(CURRENCY, "USD").says("The currency of `max_cost`."),
      },
    },
  },
};

const modelProfile = {
  says: "One model under a name of yours.",
  keys: {
    provider: choice(PROVIDERS, "openai-compatible").says("Whose interface it is.", {
      needed: true,
    }),
    model: text(plainText("name of a model"), "").says("Its name there.", { needed: true }),
    base_url: text(WEB_ADDRESS).says(
      "Where it is asked, if not at the provider's own address; openai-compatible needs it.",
    ),
    api_key_env: text(ENVIRONMENT_NAME).says(
      "The environment variable that holds the key. Default: the one the provider usually has.",
    ),
    context_window: TOKENS.says("How many tokens it can read."),
    max_output_tokens: TOKENS.says(
      "How long one of its answers may be, where `model.max_output_tokens` says nothing.",
    ),
    prices: {
      says: "What a million tokens cost. Without `input` and `output` the cost of its answers is not known, and shown as such.",
      keys: {
        currency: text(CURRENCY, "USD").says("What the prices are in."),
        input: PRICE.says("Tokens that are sent, without those of the cache."),
        output: PRICE.says("Tokens that are answered, reasoning among them."),
        cache_read: PRICE.says(
          "Tokens that the provider had in its cache. Default: the cost of a request that used it is not known.",
        ),
        cache_write: PRICE.says("Tokens that the provider put into its cache. Default: the same."),
      },
    },
  },
};

const models = {
  says: "Models under names of yours, and which replace one that is overloaded.",
  keys: {
    fallback: texts(MODEL_REFERENCE, []).says("The models to continue with, in this order."),
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
    disabled: texts(TOOL_PATTERN, tools.disabled).says("Tools that are not offered."),
    default_timeout_ms: milliseconds(tools.default_timeout_ms).says(
      "How long a call may take when neither the tool nor the model says; also a command.",
    ),
    max_timeout_ms: milliseconds(tools.max_timeout_ms).says("The longest any call may take."),
    inline_limit_bytes: wholeNumber(0, MAX_BYTES, tools.inline_limit_bytes).says(
      "How much of a result the model is sent; the rest is kept as an artifact.",
    ),
    max_arguments_bytes: wholeNumber(1, MAX_BYTES, tools.max_arguments_bytes).says(
      "How large the arguments of a call may be.",
    ),
    max_arguments_depth: wholeNumber(1, 512, tools.max_arguments_depth).says(
      "How deeply they may be nested.",
    ),
    max_concurrency: wholeNumber(1, 1000, tools.max_concurrency).says(
      "How many readonly calls run at the same time.",
    ),
    early_start: choice(["none", "readonly", "all"], tools.early_start).says(
      "Which calls may start while the model still streams. `readonly`: those that leave nothing behind, inside or outside. `all`: also writes; an answer that breaks off after one is not asked for again.",
    ),
    defer_budget_tokens: wholeNumber(0, 100_000_000, tools.defer_budget_tokens).says(
      "How many tokens the definitions of tools may cost before some are only found by search.",
    ),
    cancel_grace_ms: milliseconds(tools.cancel_grace_ms, 0).says(
      "How long a cancelled call may take to clean up.",
    ),
    resolve_timeout_ms: milliseconds(tools.resolve_timeout_ms).says(
      "How long a tool may take to say whether it is there, and what its instructions are.",
    ),
    env_allowlist: texts(ENVIRONMENT_NAME, []).says(
      "Environment variables that commands see besides the harmless ones. Each is named in full.",
    ),
    write_roots: texts(DIRECTORY, []).says(
      "Directories besides the project where writing is as ordinary as in it. Also accepted as `allowed_write_roots`.",
      { aliases: ["allowed_write_roots"] },
    ),
    tmp_dir: flag(false).says(
      "Whether writing under the directory for temporary files (`TMPDIR`) is as ordinary as in the project.",
    ),
    sensitive_paths: valueOf<readonly string[]>(
      "list: name, glob below the project, `~/…` or absolute",
      SENSITIVE_PATHS,
      [],
    ).says("Globs of files that hold secrets, added to the built-in ones."),
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
          timeout_ms: milliseconds().says(
            "How long a call may take. The model cannot ask for more.",
          ),
          readonly: flag().says(
            "You vouch that these tools of an MCP server change nothing. Patterns that begin with `mcp.` only.",
          ),
          sandbox: choice(SANDBOX_MODES).says(
            "How the commands of these tools run, instead of `sandbox.mode`. A rule with `sandbox` counts more.",
          ),
        },
      },
      example: ['[tools.overrides."code.run_command"]', "timeout_ms = 300_000"],
    },
  },
};

/** What a rule may say is known to the kernel alone, which checks it. */
const permissions = {
  says: "What is allowed without approval, what requires approval, and what never happens.",
  keys: {
    rules: valueOf<readonly PermissionRule[]>("tables `[[permissions.rules]]`", RULES, []).says(
      "Rules, one table each: `tool`, `tags`, `path`, `argv` and `host` say which calls, `decision` what becomes of them, `reason` why; `every_time` makes an ask that no grant answers, `exact_argv` an argv that is the whole command, `project` a rule for that directory alone; `sandbox` says how a command that it matches runs, instead of `sandbox.mode`. An allow rule with `host` opens that host for commands in the sandbox. Any deny counts more than any allow.",
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
    destructive: choice(["ask", "deny"], "ask").says(
      "What becomes of a call that may destroy something. `deny` holds against every rule that allows.",
    ),
    read_only_commands: choice(["allow", "ask"], "allow").says(
      "Whether a command that is proven to only read, inside the project, runs without approval. Rules on commands hold in both cases.",
    ),
    ask_timeout_ms: milliseconds().says(
      "How long a question waits for its answer. Default: as long as it takes.",
      { example: "300_000" },
    ),
    network: {
      says: "The network, for all tools.",
      together: checkNetwork,
      keys: {
        mode: valueOf<NetworkPolicy["mode"]>(
          '`"off"`, `"ask"`, `"hosts"`, `"default"`',
          shape.anything,
          "default",
        ).says(
          "`off`: none. `ask`: every use requires approval. `hosts`: the listed hosts and no others. `default`: requires approval, except for the listed hosts.",
        ),
        hosts: valueOf<readonly string[]>("list: host", shape.anything, []).says(
          "Host names, with `*.` before them for all below. Commands in the sandbox reach these hosts, and those of allow rules with `host`, and no others.",
        ),
      },
    },
  },
};

const sandbox = {
  says: 'The sandbox of the operating system around commands: they write in the project and the write roots only, sensitive and denied paths are masked, and the network is closed except for hosts that are allowed. `soong sandbox` shows what it would close here. `sandbox = "on"` is short for `mode`.',
  asText: "mode",
  keys: {
    mode: choice(SANDBOX_MODES, "on").says(
      "`on`: commands run in the sandbox where this machine supports it, and elsewhere without, which is reported. `required`: or they do not run. `off`: they run without.",
    ),
    auto_allow: flag(false).says(
      "Whether a command that runs in the sandbox needs no approval. A rule that denies or asks still counts, and so does what is outside of what the sandbox opens.",
    ),
  },
};

const mcp = {
  says: "MCP servers; mcp.json defines the servers themselves.",
  keys: {
    wait_ms: milliseconds(10_000).says(
      "How long a run waits for servers that have not answered yet. A late one comes with a later turn.",
    ),
    call_timeout_ms: milliseconds(100_000).says(
      "How long a call may go without an answer or progress, unless the entry of its server says otherwise.",
    ),
    connect_timeout_ms: milliseconds(30_000).says(
      "How long a server may take from its start to its first answer, unless its entry says otherwise.",
    ),
    instructions: flag(true).says(
      "Whether a model reads what servers say of their own tools, marked as their words.",
    ),
  },
};

const agentsSection = {
  says: "Limits on agents and the agents they start.",
  keys: {
    max_turns: wholeNumber(1, 100_000, 128).says("How many model requests one run may make."),
    child_timeout_ms: milliseconds(agents.child_timeout_ms).says(
      "How long a child agent may take.",
    ),
    max_children_per_run: wholeNumber(0, 1000, agents.max_children_per_run).says(
      "How many children one run may start.",
    ),
    max_concurrent_children_per_session: wholeNumber(
      0,
      1000,
      agents.max_concurrent_children_per_session,
    ).says("How many children of a session may work at the same time."),
    worker_pools: {
      says: "One table for each pool of workers that steps of a task may be given to. Without any there is one, `workers`, of four.",
      nameProblem: (name: string) =>
        /^[A-Za-z0-9_-]{1,64}$/.test(name)
          ? undefined
          : 'is not a name for a pool: 1 to 64 letters, digits, "_" and "-"',
      each: {
        says: "Workers that are alike.",
        keys: {
          agent: text(plainText("id of an agent definition")).says(
            "The agent definition its workers have. Default: `default_worker_agent`.",
          ),
          size: wholeNumber(1, 64, 1).says(
            "How many of them there are, which is how many steps they work on at the same time.",
          ),
          remote: flag(false).says(
            "Whether they are processes of their own: `soong worker --pool NAME`, on any machine that shares the store (`store.url`). `size` then bounds how many steps are given to them at the same time.",
          ),
          model: text(MODEL_REFERENCE).says(
            "The model they ask. Default: that of the definition, or of the run that gives them work.",
          ),
          allowed_tools: texts(TOOL_PATTERN).says(
            "The tools they have beside those for their task. Default: those of the definition, or the file tools that only read. Of a remote pool, a worker takes no work that is given more than its own config says.",
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
      : 'is not a tool of an MCP server: those are named mcp.SERVER.TOOL, such as "mcp.notes.add"',
};

const memory = {
  says: "Long-term memory.",
  keys: {
    enabled: flag(true).says(
      "Whether there is a memory at all: its tools, and what a run begins with.",
    ),
    provider: choice(["local", "external"], "local").says(
      "Where memories are recalled from: `memory/` of the home, or a call of `recall_tool`.",
    ),
    write_mode: choice(["disabled", "candidate", "external"], "candidate").says(
      "What becomes of a memory the model wants to keep: nothing, a candidate that `soong memory extract` looks at, or a call of `external_tool`.",
    ),
    external_tool: text(SERVER_TOOL).says(
      'The tool of an MCP server that keeps memories when `write_mode` is "external".',
      { example: '"mcp.notes.add"' },
    ),
    write_arguments: text(argumentTemplate(WRITE_FIELDS)).says(
      "What `external_tool` is given, as JSON with fields in it; without it the fields content, scope, project and tags.",
      {
        example: `'{"entities": [{"name": "{{id}}", "entityType": "{{scope}}", "observations": ["{{content}}"]}]}'`,
      },
    ),
    recall_tool: text(SERVER_TOOL).says(
      'The tool of an MCP server that recalls memories when `provider` is "external".',
      { example: '"mcp.notes.search"' },
    ),
    recall_arguments: text(argumentTemplate(RECALL_FIELDS)).says(
      "What `recall_tool` is given, as JSON with fields in it; without it the fields query, scope, limit and project.",
      { example: `'{"query": "{{query}}"}'` },
    ),
    recall_tokens: wholeNumber(100, 1_000_000, 2000).says(
      "How many tokens the memories that one call recalls may take, by estimate.",
    ),
    start_tokens: wholeNumber(0, 1_000_000, 1000).says(
      "How many tokens the memories a run begins with may take, by estimate; 0: none, and an external memory is not asked then.",
    ),
    start_arguments: text(argumentTemplate(RECALL_FIELDS)).says(
      "What `recall_tool` is given when a run begins, with the prompt as the query; without it as in `recall_arguments`.",
      { example: `'{"query": "project: {{project}}"}'` },
    ),
  },
};

export const SECTIONS = {
  says: "The config of Soong.",
  keys: {
    model,
    models,
    tools: toolsSection,
    permissions,
    sandbox,
    hooks: {
      says: "Hooks; hooks.json defines the hooks themselves.",
      keys: {
        timeout_ms: milliseconds(hooks.timeout_ms).says(
          "How long a hook may take that sets no time of its own.",
        ),
      },
    },
    mcp,
    agents: agentsSection,
    task: {
      says: "Tasks: goals and the steps that reach them, which workers claim.",
      keys: {
        lease_ms: milliseconds(60_000, 1000).says(
          "How long the claim on a step holds without a sign of life of its worker; then any worker may claim it.",
        ),
        max_attempts: wholeNumber(1, 100, 3).says(
          "How often a step that says nothing of it is tried before it has failed.",
        ),
      },
    },
    memory,
    context: {
      says: "What is sent with a model request.",
      keys: {
        max_tokens: wholeNumber(1000, 100_000_000).says(
          "Above this the conversation is compacted before it is sent. Default: what the model can read.",
          { example: "100_000" },
        ),
        instructions: flag(true).says(
          "Whether instruction files (AGENTS.md, else CLAUDE.md) of the user and the project, and those a call reads, are part of the system text.",
        ),
        instruction_limit_bytes: wholeNumber(256, 1_048_576, 32_768).says(
          "How much of one instruction file is taken. All of them together may be four times as long.",
        ),
      },
    },
    telemetry: {
      says: "Spans and metrics of runs, sent to an OpenTelemetry collector. Off by default. The environment variables of OpenTelemetry (`OTEL_EXPORTER_OTLP_ENDPOINT` and others) switch it on, too, and take precedence over these settings.",
      keys: {
        otlp_endpoint: text(COLLECTOR_ADDRESS).says(
          "The address of the collector, for OTLP over HTTP; `/v1/traces` and `/v1/metrics` are below it.",
          { example: '"http://localhost:4318"' },
        ),
        headers_env: text(ENVIRONMENT_NAME).says(
          "The environment variable that holds headers for it, such as `authorization=Bearer%20KEY`. Default: `OTEL_EXPORTER_OTLP_HEADERS`.",
          { example: '"COLLECTOR_HEADERS"' },
        ),
        content: flag(false).says(
          "Whether arguments and results of calls, answers of models, tasks of child agents and definitions of tools are sent, with secrets redacted. Prompts of users are not.",
        ),
      },
    },
    store: {
      says: "Where sessions are kept, and for how long.",
      keys: {
        url: text(STORE_ADDRESS).says(
          "A PostgreSQL database that several machines share, without its password; `?schema=NAME` for another schema than `soong`. `SOONG_STORE_URL` takes precedence. Default: SQLite in the home.",
          { example: '"postgres://soong@db.example.org/soong"' },
        ),
        password_env: text(ENVIRONMENT_NAME).says(
          "The environment variable that holds the password for `url`.",
          { example: '"SOONG_STORE_PASSWORD"' },
        ),
        lease_ms: milliseconds(60_000, 1000).says(
          "With PostgreSQL: how long a session stays with a process that cannot reach the database. Then the process stops, and another may continue the session.",
        ),
        busy_timeout_ms: milliseconds(120_000).says(
          "How long a command waits while another process holds the database, or, once it has begun, while a database of `url` cannot be reached. At its start it waits for that at most 10 s.",
        ),
        durability: choice(["standard", "full"], "standard").says(
          "Which records wait for the disk. `standard`: starts and results of calls that may change something, decisions, grants, answers, claims. What calls that only read leave survives a killed process, and its end may be lost with the power. `full`: all of them. In PostgreSQL all of them do in any case.",
        ),
        retention: {
          says: "What is removed automatically. Default: nothing.",
          keys: {
            max_age_days: wholeNumber(1, 36_500).says("Sessions not used for longer are removed.", {
              example: "90",
            }),
            max_bytes: ANY_COUNT.says(
              "The oldest sessions are removed until the rest is within this.",
              { example: "10_000_000_000" },
            ),
          },
        },
      },
    },
  },
} satisfies AnyTable;
