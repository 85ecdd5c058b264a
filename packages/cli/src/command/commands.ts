// Everything that can be typed behind `soong`, in the order of the help: what it takes and what it says of itself (CLI-6).
// Only data, so that help and completion load nothing else. `program.ts` names the code behind each.

/** A text is the meaning. Values that are not named here are texts, or flags where the option takes none. */
export type ParameterSpec =
  | string
  | {
      readonly says: string;
      readonly choices?: readonly string[];
      readonly default?: string;
      readonly isRepeatable?: true;
    };

export interface CommandSpec {
  readonly summary: string;
  /** `<needed>`, `[optional]`, `[several...]`. */
  readonly arguments?: Readonly<Record<string, ParameterSpec>>;
  readonly options?: Readonly<Record<string, ParameterSpec>>;
  /** What is no option of the command is a flag of the tool behind its name. */
  readonly takesToolFlags?: true;
  readonly examples: readonly string[];
  /** Printed below the examples. */
  readonly notes?: string;
  readonly exitCodes?: string;
  /** What its records are marked with, `soong.<command>/<version>`: the version changes when a reader of the old one would misread. */
  readonly record?: `soong.${string}/${number}`;
}

const JSON_OPTION = { "--json": "records for programs, one a line" } as const;
const FACTS_OPTION = { "--json": "print the facts, one a line, and nothing else" } as const;
const MODEL_OPTION = {
  "--model <model>": "provider:model, script:FILE, or a profile of the config",
} as const;
const MODE_OPTION = {
  "--mode <mode>": {
    says: "the mode of the run",
    choices: ["normal", "plan", "accept_edits", "orchestrator"],
  },
} as const;
const AGENT_OPTION = {
  "--agent <id>": "run as this agent: agents/ID.md of the home",
} as const;
const RULE_OPTIONS = {
  "--allow <pattern>": { says: "a rule that allows tools by name", isRepeatable: true },
  "--deny <pattern>": { says: "a rule that denies tools by name", isRepeatable: true },
  "--cwd <directory>": "the project; default: the current directory",
} as const;
const RUN_OPTIONS = {
  ...MODEL_OPTION,
  ...FACTS_OPTION,
  "--output-schema <file>": "the answer has to be JSON that fits this JSON Schema",
  ...AGENT_OPTION,
  ...MODE_OPTION,
  ...RULE_OPTIONS,
} as const;
const RUN_EXIT_CODES =
  "0 completed, 1 failed, 2 usage error, 3 denied, 4 too many turns, 5 prompt too long, 6 answer too long, 7 stopped by a hook, 130 aborted";

const PROJECTION_OPTIONS = {
  "--profile <profile>": {
    says: "with agent-runtime and agent-runtime-snapshot: by this profile of the standard",
    choices: ["lime"],
  },
  "--content":
    "with otlp: also answers, arguments, results and tasks of child agents, which spans omit by default",
} as const;

const INPUT_ARGUMENT =
  "JSON, or - for stdin, and flags of the tool: --path a.txt; `soong call TOOL --help` lists them";
const RUN_ARGUMENT =
  "id or unique prefix, or a session, whose newest run is meant; default: the newest run of this project";

/** By the words behind `soong`; a command is below the one whose words begin its own. */
export const COMMANDS = {
  "": {
    summary:
      "A coding agent for your terminal, on a tool runtime that authorizes, executes and records every tool call.",
    arguments: {
      "[prompt...]": "what to do first; default: a conversation at this terminal",
    },
    options: {
      "-p, --print": "print the answer and exit, as `soong run` does",
      "-c, --continue": "continue the newest session of this project",
      "-r, --resume [id]": "continue a session, by id or unique prefix; default: choose one",
      ...RUN_OPTIONS,
    },
    examples: [
      "soong",
      `soong "Why does the test fail?"`,
      `git diff | soong -p "Review this"`,
      "soong -c",
      `soong -c -p "Now the docs"`,
      "soong -r",
      "soong help mcp serve",
    ],
    notes:
      "The first word is a command, or the beginning of a prompt. Without a terminal, a prompt works as with -p.",
    exitCodes: RUN_EXIT_CODES,
  },
  run: {
    summary: "let a model work on a prompt until it is done",
    arguments: {
      "[prompt]": "what to do, with what is piped in below it; default, or -: read from stdin",
    },
    options: RUN_OPTIONS,
    examples: [
      `soong run "What does this project do?"`,
      `soong run --model script:tour.yaml "Show me around" --allow 'code.*'`,
      `git diff | soong run - --agent reviewer --json`,
      `soong run --mode orchestrator "Plan the work and let workers do it"`,
      `soong run --output-schema issues.schema.json "List the issues" > issues.json`,
    ],
    exitCodes: RUN_EXIT_CODES,
  },
  resume: {
    summary: "continue a session, or a run that was interrupted",
    arguments: {
      "[session]": "id or unique prefix; default: the newest conversation of this project",
      "[prompt]":
        "what to do next; default: stdin, else the interrupted run continues, in a conversation on a terminal",
    },
    options: RUN_OPTIONS,
    examples: [
      "soong resume",
      "soong resume session_0abc",
      `soong resume session_0abc "Now the tests"`,
    ],
    exitCodes: RUN_EXIT_CODES,
  },
  call: {
    summary: "call one tool: validated, authorized and recorded as a call of a model",
    arguments: {
      "<tool>": "its name, as `soong tools` lists it",
      "[input...]": INPUT_ARGUMENT,
    },
    takesToolFlags: true,
    options: { ...JSON_OPTION, "--yes": "approve without asking", ...RULE_OPTIONS },
    examples: [
      "soong call code.search --query main --limit 3",
      "soong call code.search --help",
      `soong call code.read_file '{"path": "README.md"}'`,
      `soong call code.run_command '{"argv": ["git", "status"]}' --yes`,
      `echo '{"query": "main"}' | soong call code.search - --json`,
    ],
    exitCodes: "0 it succeeded, 1 the tool failed, 2 usage error, 3 denied, 130 interrupted",
    record: "soong.call/1",
  },
  sandbox: {
    summary: "run a command in the sandbox, as a call; without one, show what it closes here",
    arguments: { "[command...]": "the program and its arguments, behind --" },
    options: {
      ...JSON_OPTION,
      "--cwd <directory>": "the project; default: the current directory",
    },
    examples: [
      "soong sandbox",
      "soong sandbox -- npm test",
      "soong sandbox -- curl https://example.org/",
      "soong sandbox --json -- git status",
    ],
    notes:
      "The command is a call of code.run_command: judged by the rules, recorded, and never run outside the sandbox. You typed it, so it requires no approval where only the defaults would ask; for more, such as a sensitive file, you are asked, and what a rule denies is denied.",
    exitCodes:
      "that of the command, and 128 and more when a signal ended it; 1 it could not run, 2 usage error, 3 denied, or there is no sandbox here, 130 interrupted",
    record: "soong.sandbox/1",
  },
  explain: {
    summary: "show what decides a call, and by which rule; executes nothing",
    arguments: {
      "[tool]": "its name, as `soong tools` lists it; default: the whole policy",
      "[input...]": INPUT_ARGUMENT,
    },
    takesToolFlags: true,
    options: { ...JSON_OPTION, ...MODE_OPTION, ...RULE_OPTIONS },
    examples: [
      "soong explain",
      "soong explain code.read_file --path .env",
      `soong explain code.run_command '{"argv": ["rm", "-r", "build"]}'`,
      `soong explain code.write_file '{"path": "a", "content": ""}' --allow 'code.*'`,
    ],
    record: "soong.explain/1",
  },
  tools: {
    summary: "list the tools a run would have, with reasons, show one, or search them",
    arguments: { "[query...]": "the name of a tool, to show all about it, or words to search for" },
    options: {
      ...JSON_OPTION,
      "--role <role>": { says: "whose tools", choices: ["main", "sub", "fork", "worker"] },
      ...MODE_OPTION,
    },
    examples: [
      "soong tools",
      "soong tools code.read_file",
      "soong tools --mode plan",
      "soong tools find text in files",
    ],
    record: "soong.tools/1",
  },
  "tools new": {
    summary: "write a file that makes a program a tool, which works at once",
    arguments: {
      "<name>": "its name; without a dot it is user.NAME",
      "[command...]": "the program and its arguments, with {{args.FIELD}} for what the model gives",
    },
    options: {
      "--description <text>": "what it does: the model chooses a tool by it",
      "--readonly": "it changes nothing: it runs without approval, also in parallel",
      ...JSON_OPTION,
    },
    examples: [
      "soong tools new git_log --readonly -- git log --oneline '--max-count={{args.count}}'",
      "soong tools new hello",
    ],
    record: "soong.tools_new/1",
  },
  "tools check": {
    summary: "check files that declare tools, and try one on a sample",
    arguments: { "<file...>": "JSON files, as in tools/ of the home" },
    options: { "--sample <json>": "run it once with this input, without asking", ...JSON_OPTION },
    examples: [
      "soong tools check ~/.soong-agent/tools/*.json",
      `soong tools check weather.json --sample '{"city": "Oslo"}'`,
    ],
    record: "soong.tools_check/1",
  },
  sessions: {
    summary: "list the stored sessions of this project, last used first",
    options: {
      "--all": "those of every project, each with its project",
      "--limit <n>": "at most so many; default: 20, and with --json all",
      ...JSON_OPTION,
    },
    examples: [
      "soong sessions",
      "soong sessions --all --limit 100",
      "soong sessions rm --older-than 90d",
    ],
    record: "soong.sessions/1",
  },
  "sessions rm": {
    summary: "remove sessions with all they hold; a tombstone stays",
    arguments: { "[id...]": "ids or unique prefixes" },
    options: {
      "--older-than <age>": "also those not used for this long: 12h, 90d, 4w",
      "--keep-bytes <n>": "also the oldest, until the rest is within so many bytes",
      ...JSON_OPTION,
    },
    examples: [
      "soong sessions rm session_0abc",
      "soong sessions rm --older-than 90d --keep-bytes 5e9",
    ],
    record: "soong.sessions_rm/1",
  },
  "sessions search": {
    summary: "find text in the stored conversations, newest first",
    arguments: { "<text>": "as it is written there; A to Z in either case" },
    options: { "--limit <n>": { says: "at most so many", default: "20" }, ...JSON_OPTION },
    examples: ['soong sessions search "connection refused"'],
    exitCodes: "0 found, 1 not found",
    record: "soong.sessions_search/1",
  },
  show: {
    summary: "print what was said in a session, as Markdown",
    arguments: {
      "[session]": "id or unique prefix; default: the newest session of this project",
    },
    options: {
      "--full": "with the whole input and result of each call",
      "--json": "records for programs: the session, then one for each entry, in full",
    },
    examples: ["soong show", "soong show 0abc --full | less", "soong show > transcript.md"],
    record: "soong.show/1",
  },
  attach: {
    summary: "watch a live session, and answer its approval requests",
    arguments: { "[session]": "id or unique prefix; default: the only live session" },
    options: {
      "--abort": "end the runs of the session instead of watching them",
      "--json": "records for programs, which answer in lines of JSON on stdin",
    },
    examples: ["soong attach", "soong attach session_0abc --json", "soong attach 0abc --abort"],
    record: "soong.attach/1",
  },
  inspect: {
    summary: "serve a page for your browser: live runs, approval requests, tasks, a playground",
    options: {
      "--port <n>": "the port on 127.0.0.1; default: any free one",
      "--open": "open it in your browser",
      ...JSON_OPTION,
    },
    examples: ["soong inspect --open", "soong inspect --port 8721"],
    exitCodes: "1 it cannot be served there, 2 usage error, 130 or 143 ended by a signal",
    record: "soong.inspect/1",
  },
  grants: {
    summary: `list what was allowed "for this session" in the live sessions`,
    options: JSON_OPTION,
    examples: ["soong grants", "soong grants revoke grant_0abc"],
    record: "soong.grants/1",
  },
  "grants revoke": {
    summary: "revoke one: the next such call requires approval again",
    arguments: { "<id>": "id or unique prefix, as `soong grants` lists it" },
    options: JSON_OPTION,
    examples: ["soong grants revoke grant_0abc"],
    exitCodes: "0 it is revoked, 1 no live session has it",
    record: "soong.grants_revoke/1",
  },
  questions: {
    summary: "list open approval requests, also of a runtime that was stopped",
    options: JSON_OPTION,
    examples: ["soong questions", "soong questions answer ask_0abc"],
    record: "soong.questions/1",
  },
  "questions answer": {
    summary: "answer one; a stopped session uses the answer when it is resumed",
    arguments: {
      "<id>": "id or unique prefix, as `soong questions` lists it",
      "[decision]": "allow, session or deny; default: ask at this terminal",
    },
    options: { "--reason <text>": "sent to the model" },
    examples: [
      "soong questions answer ask_0abc",
      `soong questions answer ask_0abc deny --reason "not on main"`,
    ],
    exitCodes: "0 answered, 1 it is not open any more, 2 usage error",
  },
  events: {
    summary: "print the facts of a run, as sentences",
    arguments: { "[run]": RUN_ARGUMENT },
    options: {
      ...JSON_OPTION,
      "--format <format>": {
        says: "print records, one a line, instead of sentences; native: facts, as with --json",
        choices: ["native", "agent-tool", "agent-runtime", "cloudevents", "otlp"],
      },
      ...PROJECTION_OPTIONS,
      "--follow": "continue until the run ends",
    },
    examples: [
      "soong events",
      "soong events 0abc --follow",
      "soong events --json",
      "soong events --format cloudevents --follow",
    ],
    record: "soong.events/1",
  },
  export: {
    summary: "write a whole session, with child agents, as records of a standard",
    arguments: {
      "[session]": "id or unique prefix; default: the newest session of this project",
    },
    options: {
      "--format <format>": {
        says: "the format of the records, one a line",
        choices: [
          "native",
          "agent-tool",
          "agent-runtime",
          "agent-runtime-snapshot",
          "cloudevents",
          "otlp",
        ],
        default: "native",
      },
      ...PROJECTION_OPTIONS,
      "--out <file>": "write this file, for its owner alone; default: stdout, as with -",
      "--force": "replace the file",
      "--json": "with --out: a record of what was written",
    },
    examples: [
      "soong export --format agent-tool --out session.jsonl",
      "soong export 0abc --format otlp --content --out traces.jsonl",
      "soong export --format agent-runtime-snapshot",
    ],
    notes:
      "Secrets known to this home are replaced. Artifacts are named by id, size and hash; their bytes are not exported. Results have no bytes of images, sound and files either, except in native.",
    exitCodes: "0 written, 1 it could not be, 2 usage error, 130 interrupted: no file is left",
    record: "soong.export/1",
  },
  replay: {
    summary: "decide a stored run again from its journal; executes nothing",
    arguments: { "[run]": RUN_ARGUMENT },
    options: {
      "--config <file>": "under this config: which calls would be decided otherwise",
      "--script": "print it as a script, for `soong run --model script:FILE`",
      ...JSON_OPTION,
    },
    examples: [
      "soong replay",
      "soong replay 0abc --config stricter.toml",
      "soong replay --script > run.yaml",
    ],
    exitCodes:
      "0 decided as it was, or the answer under another config; 1 it diverges; 2 usage error",
    record: "soong.replay/1",
  },
  verify: {
    summary: "check that stored sessions are unchanged",
    arguments: {
      "[session...]": "ids or unique prefixes; default: the newest session of this project",
    },
    options: {
      "--all": "every session of the home, and what is left of removed ones",
      "--artifacts": "also read every artifact",
      "--head <hash>": "a head hash of this session that you stored elsewhere",
      "--rebuild": "rebuild from the facts what the store derives from them, where it differs",
      ...JSON_OPTION,
    },
    examples: ["soong verify", "soong verify 0abc --artifacts", "soong verify --all"],
    exitCodes: "0 unchanged, 1 changed",
    record: "soong.verify/1",
  },
  undo: {
    summary: "restore a file as it was before a call changed it",
    arguments: { "[call]": "id or unique prefix; default: the last change in this project" },
    options: { "--yes": "do not ask", "--session <id>": "the session of the call", ...JSON_OPTION },
    examples: ["soong undo", "soong undo call_0abc --yes"],
    record: "soong.undo/1",
  },
  rewind: {
    summary: "let a session continue from an earlier point; nothing is deleted",
    arguments: {
      "[session]": "id or unique prefix; default: the newest conversation of this project",
      "[node]":
        "the node to continue from, by id or unique prefix; default: choose by prompt at the terminal, or list them",
    },
    examples: ["soong rewind", "soong rewind 0abc", "soong rewind 0abc node_0def"],
  },
  store: {
    summary: "show where sessions are stored: the database, its size, how many sessions",
    options: JSON_OPTION,
    examples: [
      "soong store",
      "soong store copy ~/.soong-agent postgres://soong@db.example.org/soong",
    ],
    exitCodes: "0; 1 when it cannot be reached or opened",
    record: "soong.store/1",
  },
  "store copy": {
    summary: "copy sessions to another store, with artifacts, tasks and open questions",
    arguments: {
      "<from>": "a home directory, for its SQLite store, or a postgres:// address",
      "<to>": "the same",
    },
    options: {
      "--session <id>": { says: "only this one, by id or unique prefix", isRepeatable: true },
      ...JSON_OPTION,
    },
    examples: [
      "soong store copy ~/.soong-agent postgres://soong@db.example.org/soong",
      "soong store copy ~/.soong-agent '$SOONG_STORE_URL'",
      "soong store copy 'postgres://soong:$DB_PASSWORD@db.example.org/soong' ./backup --session session_0abc",
    ],
    notes:
      "A password is best named by a variable, as in the examples: '$NAME' for a whole address, or in place of the password. The address of the config needs none. Each session is verified at its new place before it becomes visible, and is copied completely or not at all; what was already copied is skipped, so the command can be repeated. Nothing is removed from FROM.",
    exitCodes:
      "0 all were copied, 1 some were refused, or a store cannot be used, 2 usage error, 130 interrupted",
    record: "soong.store_copy/1",
  },
  tasks: {
    summary: "list the tasks of orchestrators, or show one with its steps",
    arguments: { "[task]": "id or unique prefix; default: all, newest first" },
    options: { "--follow": "continue until the task has ended, in any process", ...JSON_OPTION },
    examples: [
      "soong tasks",
      "soong tasks task_0abc --follow",
      "soong tasks drive task_0abc",
      "soong tasks retry task_0abc tests",
    ],
    exitCodes: "0; with --follow 1 when the task did not end as completed, 130 interrupted",
    record: "soong.tasks/1",
  },
  "tasks drive": {
    summary: "run a task: workers do its steps until it has ended",
    arguments: { "<task>": "id or unique prefix" },
    options: {
      "--model <model>":
        "default model of workers in this process, if pool and agent definition set none",
      "--pool <name>": { says: "only workers of this pool", isRepeatable: true },
      ...FACTS_OPTION,
      ...RULE_OPTIONS,
    },
    examples: [
      "soong tasks drive task_0abc",
      "soong tasks drive task_0abc --pool builders --allow code.edit_file",
    ],
    exitCodes: "0 completed, 1 failed, blocked or stuck, 2 usage error, 130 interrupted",
  },
  worker: {
    summary: "run steps that are dispatched on any machine with the same store",
    options: {
      "--pool <name>": "the pool whose steps it runs, a remote one of the config; required",
      "--concurrency <n>": "steps at a time; default: 1",
      "--project <dir>": "the project directory; default: the current one",
      "--grace <seconds>": "time to finish steps after Ctrl-C or SIGTERM; default: 30",
      "--model <model>": "default model, if pool and agent definition set none",
      ...RULE_OPTIONS,
    },
    examples: [
      "soong worker --pool builders",
      "soong worker --pool builders --concurrency 4 --project /srv/app --allow code.edit_file",
    ],
    notes:
      "A call that requires approval waits until a user answers it on any machine (`soong questions`). To run it without asking, both the policy of the dispatching run and that of the worker must allow it: with --allow or a rule on both sides.",
    exitCodes: "0 drained after Ctrl-C or SIGTERM, 1 failed, 2 usage error, 130 steps were stopped",
  },
  workers: {
    summary: "list the workers of all machines that share the store",
    options: JSON_OPTION,
    examples: ["soong workers", "soong workers drain builders@ash-0abc"],
    exitCodes: "0; 1 when the store is of this machine alone",
    record: "soong.workers/1",
  },
  "workers drain": {
    summary: "let a worker finish its current steps, accept no new ones, and exit",
    arguments: { "<id>": "id or unique prefix, as `soong workers` lists it" },
    options: JSON_OPTION,
    examples: ["soong workers drain builders@ash-0abc"],
    exitCodes: "0 the request was sent, 1 there is no such worker",
    record: "soong.workers/1",
  },
  "tasks cancel": {
    summary: "end a task: its workers lose their claims and stop",
    arguments: { "<task>": "id or unique prefix" },
    options: { "--reason <text>": "why, for the record", ...JSON_OPTION },
    examples: [`soong tasks cancel task_0abc --reason "not needed any more"`],
    record: "soong.tasks/1",
  },
  "tasks retry": {
    summary: "give steps that failed or are blocked another attempt",
    arguments: {
      "<task>": "id or unique prefix",
      "[step...]": "step ids; default: all failed or blocked steps",
    },
    options: JSON_OPTION,
    examples: ["soong tasks retry task_0abc", "soong tasks retry task_0abc build tests"],
    record: "soong.tasks/1",
  },
  agents: {
    summary: "list the agents that can be started, and files that cannot be used",
    options: JSON_OPTION,
    examples: ["soong agents", `soong run --agent reviewer "Look at the last commit"`],
    exitCodes: "0; 1 when a file cannot be used",
    record: "soong.agents/1",
  },
  "agents new": {
    summary: "write a definition of an agent, to be changed",
    arguments: { "<id>": "lower-case letters, digits, _ and -" },
    options: {
      "--description <text>": "what it is for: others choose it by that",
      "--model <model>": "provider:model, or a profile of the config",
      "--roles <roles>":
        "how it may be started, with commas: main, sub, fork, worker; default: main,sub,fork",
      "--tools <names>": "the most it can have, with commas; default: those of its role",
      ...JSON_OPTION,
    },
    examples: [
      `soong agents new reviewer --description "Reads changes" --tools code.read_file,code.search`,
      `soong agents new builder --roles worker`,
    ],
    record: "soong.agents_new/1",
  },
  skills: {
    summary: "list the skills agents can load, and those that cannot be used",
    options: JSON_OPTION,
    examples: ["soong skills"],
    exitCodes: "0; 1 when a skill cannot be used",
    record: "soong.skills/1",
  },
  "skills new": {
    summary: "write a skill, to be changed",
    arguments: { "<name>": "lower-case letters, digits and single hyphens" },
    options: {
      "--description <text>": "what it is for and when to use it",
      ...JSON_OPTION,
    },
    examples: [`soong skills new releases --description "How a release is made"`],
    record: "soong.skills_new/1",
  },
  hooks: {
    summary: "hooks: your own programs that watch or stop calls",
    examples: ["soong hooks check"],
  },
  "hooks check": {
    summary: "check hooks.json and the programs it names, and try them on an event",
    arguments: { "[file]": "default: hooks.json of the home" },
    options: {
      "--event <event>": "run the hooks of this event once, such as PreToolUse",
      "--sample <json>": "what the event is about, such as a tool_name and an input",
      ...JSON_OPTION,
    },
    examples: [
      "soong hooks check",
      `soong hooks check --event PreToolUse --sample '{"tool_name": "code.write_file", "input": {"path": "a.lock"}}'`,
    ],
    exitCodes: "0 all can be used, 1 one cannot, or failed on the sample, 2 usage error",
    record: "soong.hooks_check/1",
  },
  memory: {
    summary: "what is remembered from earlier work: list, add, extract, forget",
    examples: [
      "soong memory list",
      'soong memory add "The tests need Docker."',
      "soong memory extract",
      "soong memory forget ID",
    ],
  },
  "memory add": {
    summary: "remember a text in later work, in this project or in every one",
    arguments: { "<text...>": "a few sentences that can be understood alone; - reads stdin" },
    options: {
      "--scope <scope>": {
        says: "this project, or user: every project",
        choices: ["project", "user"],
        default: "project",
      },
      "--tag <tag>": { says: "a word to find it by", isRepeatable: true },
      "--cwd <directory>": "the project; default: the current directory",
      ...JSON_OPTION,
    },
    examples: [
      'soong memory add "The tests need Docker."',
      'soong memory add --scope user --tag style "I like tabs."',
    ],
    record: "soong.memory/1",
  },
  "memory list": {
    summary: "list what is remembered, of the user and of each project",
    options: JSON_OPTION,
    examples: ["soong memory list --json"],
    record: "soong.memory/1",
  },
  "memory extract": {
    summary: "make memories of what agents proposed, after checks; writes nothing else",
    options: JSON_OPTION,
    examples: ["soong memory extract"],
    exitCodes: "0; 1 when a candidate was refused",
    record: "soong.memory/1",
  },
  "memory forget": {
    summary: "remove a memory; what it came from does not bring it back",
    arguments: { "<id>": "id or unique prefix, as `soong memory list` has it" },
    options: JSON_OPTION,
    examples: ["soong memory forget tabs-not-spaces-1a2b"],
    record: "soong.memory/1",
  },
  mcp: {
    summary: "MCP servers as tools, and Soong as an MCP server for other agents",
    examples: [
      "soong mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes",
      "soong mcp list",
      "soong mcp wrap github",
      "soong mcp serve",
    ],
  },
  "mcp add": {
    summary: "add a server to mcp.json, connect it and list its tools",
    arguments: {
      "<name>": "its id: part of its tools' names, mcp.NAME.*",
      "[command...]": "behind --: the program that starts it, with its arguments",
    },
    options: {
      "--url <url>": "its address (streamable HTTP), instead of a command",
      "--header <header>": {
        says: "for an address: 'Name: value'; ${VARIABLE} is filled in when it is sent",
        isRepeatable: true,
      },
      "--env <variable>": {
        says: "for a command: NAME=VALUE, or NAME to pass your own on",
        isRepeatable: true,
      },
      "--sandbox": "for a command: it runs in the sandbox, with nothing open, or not at all",
      "--replace": "in place of a server of that name",
      "--no-connect": "only write the entry",
      ...JSON_OPTION,
    },
    examples: [
      "soong mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes",
      "soong mcp add github --env GITHUB_TOKEN -- github-mcp-server stdio",
      "soong mcp add search --url https://search.example.com/mcp --header 'Authorization: Bearer ${SEARCH_TOKEN}'",
    ],
    exitCodes: "0 added and usable, 1 it does not answer, 2 usage error, 130 interrupted",
    record: "soong.mcp_add/1",
  },
  "mcp remove": {
    summary: "take a server out of mcp.json, and forget its login",
    arguments: { "<server>": "its id, as `soong mcp list` lists it" },
    options: JSON_OPTION,
    examples: ["soong mcp remove files"],
    record: "soong.mcp_remove/1",
  },
  "mcp wrap": {
    summary:
      "put Soong before a server that another agent uses: shows both changes, then writes them",
    arguments: {
      "[server]": "its name in that agent's config; default: list what is configured",
      "[command...]": "behind --: a server that no agent has yet",
    },
    options: {
      "--from <agent>": {
        says: "whose config; default: wherever it is",
        choices: ["claude-code", "codex", "gemini", "opencode", "cursor", "vscode"],
      },
      "--file <file>": "another config file of an agent, such as .mcp.json of a project",
      "--as <id>": "its id in mcp.json; default: the same name",
      "--env <variable>": {
        says: "a variable it needs beside those of its entry: NAME=VALUE, or NAME",
        isRepeatable: true,
      },
      "--yes": "write what is shown without asking",
      "--no-connect": "do not try the server first",
      ...JSON_OPTION,
    },
    examples: [
      "soong mcp wrap",
      "soong mcp wrap github",
      "soong mcp wrap github --from codex --yes",
      "soong mcp wrap github -- npx -y @modelcontextprotocol/server-github",
    ],
    exitCodes: "0 done, or shown, 1 the server does not answer, 2 usage error, 130 interrupted",
    record: "soong.mcp_wrap/1",
  },
  "mcp unwrap": {
    summary: "let the other agent start its server itself again, as before `soong mcp wrap`",
    arguments: { "<server>": "its id, as `soong mcp list` lists it" },
    options: {
      "--from <agent>": {
        says: "whose config; default: all",
        choices: ["claude-code", "codex", "gemini", "opencode", "cursor", "vscode"],
      },
      "--yes": "write what is shown without asking",
      ...JSON_OPTION,
    },
    examples: ["soong mcp unwrap github", "soong mcp unwrap github --yes"],
    record: "soong.mcp_unwrap/1",
  },
  "mcp list": {
    summary: "connect the servers of mcp.json and report their state",
    arguments: { "[server]": "its id: also its tools, and what changed of them" },
    options: JSON_OPTION,
    examples: ["soong mcp list", "soong mcp list github", "soong mcp list --json"],
    exitCodes: "0 listed, 1 a server failed, 2 usage error, 130 interrupted",
    record: "soong.mcp/1",
  },
  "mcp accept": {
    summary: "allow what a server changed of its tools, after it is shown",
    arguments: { "<server>": "its id, as `soong mcp list` lists it" },
    options: { "--yes": "allow what is shown without asking", ...JSON_OPTION },
    examples: ["soong mcp accept github", "soong mcp accept github --yes --json"],
    exitCodes: "0 it is allowed now, 1 the server failed, 2 usage error, 3 you said no",
    record: "soong.mcp_accept/1",
  },
  "mcp login": {
    summary: "log in to a remote server that requires it, in your browser",
    arguments: { "<server>": "its id, as `soong mcp list` lists it" },
    options: { "--no-browser": "only print the address to go to", ...JSON_OPTION },
    examples: ["soong mcp login search", "soong mcp login search --no-browser"],
    exitCodes: "0 logged in, 1 the login failed, 2 usage error, 130 interrupted",
    record: "soong.mcp_login/1",
  },
  "mcp logout": {
    summary: "forget a login, and revoke its tokens where the server offers that",
    arguments: { "<server>": "its id, as `soong mcp list` lists it" },
    options: JSON_OPTION,
    examples: ["soong mcp logout search"],
    record: "soong.mcp_logout/1",
  },
  "mcp serve": {
    summary: "serve these tools to another agent, each call through permission and record",
    options: {
      "--http <port>": "over streamable HTTP on this port, with a token; default: stdio",
      "--host <host>": "the address to listen on; default: 127.0.0.1",
      "--token-file <file>": "where the token is; default: mcp-serve-token in the home",
      "--server <id>": "only this MCP server, under its own names, in its place",
      "--ask <whom>": {
        says: "about a call: the client and attached terminals, or these only",
        choices: ["all", "attached"],
        default: "all",
      },
      ...MODE_OPTION,
      ...RULE_OPTIONS,
    },
    examples: [
      "soong mcp serve",
      "soong mcp serve --server github --allow 'mcp.github.*'",
      "soong mcp serve --http 8722",
    ],
    notes: [
      "In the config of a host:",
      "  Claude Code  claude mcp add soong -- soong mcp serve",
      "  Codex        codex mcp add soong -- soong mcp serve",
      "  Gemini CLI   gemini mcp add soong soong mcp serve",
      `  Cursor       .cursor/mcp.json: {"mcpServers": {"soong": ENTRY}}`,
      `  VS Code      .vscode/mcp.json: {"servers": {"soong": {"type": "stdio", …ENTRY}}}`,
      `  opencode     opencode.json: {"mcp": {"soong": {"type": "local", "command": ["soong", "mcp", "serve"]}}}`,
      `  where ENTRY is {"command": "soong", "args": ["mcp", "serve"]}`,
    ].join("\n"),
    exitCodes: "0 the client has gone, 1 failed, 2 usage error, 130 or 143 ended by a signal",
  },
  demo: {
    summary:
      "a scripted model fixes a small project, and workers share a task; offline, in a new folder",
    examples: ["soong demo"],
    exitCodes: "0 everything happened as described, 1 something did not, 130 interrupted",
  },
  import: {
    summary: "take over MCP servers, rules, agents, skills and instructions of another agent",
    arguments: {
      "<program>": {
        says: "whose",
        choices: ["claude-code", "codex", "gemini", "opencode"],
      },
    },
    options: {
      "--from <directory>": "a home directory that has its files; default: yours",
      "--project": "also the settings this project has for that program, after you looked at them",
      "--yes": "write what is shown without asking",
      ...JSON_OPTION,
    },
    examples: [
      "soong import claude-code",
      "soong import codex --yes",
      "soong import opencode --from /mnt/old/home/me",
    ],
    notes:
      "Shows what it would write and what has no counterpart, then asks. Nothing that is there is changed, and no key is copied.",
    exitCodes: "0 written, or nothing to write; 2 usage error; 3 you said no",
    record: "soong.import/1",
  },
  init: {
    summary: "write a config with comments, if there is none",
    examples: ["soong init", "SOONG_AGENT_HOME=/srv/soong soong init"],
  },
  doctor: {
    summary: "check everything Soong needs, and say what to do",
    options: JSON_OPTION,
    examples: ["soong doctor"],
    exitCodes: "0 nothing fails, 1 something does",
    record: "soong.doctor/1",
  },
  completion: {
    summary: "print the completion script for your shell",
    arguments: { "<shell>": { says: "your shell", choices: ["bash", "zsh", "fish"] } },
    examples: ["source <(soong completion bash)"],
  },
} as const satisfies Readonly<Record<string, CommandSpec>>;

export type CommandName = keyof typeof COMMANDS;

/** How the help of the program groups its commands. */
export const COMMAND_GROUPS: Readonly<Record<string, readonly string[]>> = {
  "Ask a model:": ["run", "resume", "tasks"],
  "Tools and policy:": ["call", "explain", "sandbox", "tools"],
  "Live sessions:": ["attach", "inspect", "questions", "grants"],
  "Stored sessions:": [
    "sessions",
    "show",
    "events",
    "export",
    "replay",
    "verify",
    "undo",
    "rewind",
    "store",
  ],
  "Many machines:": ["worker", "workers"],
  "Extensions:": ["mcp", "agents", "skills", "memory", "hooks"],
  "Setup:": ["init", "import", "doctor", "completion", "demo", "help"],
};
