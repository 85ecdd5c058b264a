// The tools of other terminal agents, and what they are here: the one table that agent files, skills and `soong import`
// read. A name is only ever a request or a restriction; none of it grants anything (PERM-9).

export type ForeignProgram = "claude-code" | "codex" | "gemini" | "opencode";

export interface MappedTool {
  /** As the other program calls it. */
  readonly name: string;
  /** What is in parentheses behind it, such as `git log:*`. */
  readonly specifier?: string;
  /** Canonical names or patterns; empty where there is none. */
  readonly tools: readonly string[];
  /** Why there is none, as a clause behind the name. */
  readonly why?: string;
}

type Counterpart = readonly string[] | string;

const READ = ["code.read_file"];
const LIST = ["code.list_dir"];
const SEARCH = ["code.search"];
const EDIT = ["code.edit_file"];
const WRITE = ["code.write_file"];
const RUN = ["code.run_command"];
const FETCH = ["web.fetch"];
const DELEGATE = ["agent.create_sub_agent"];
const SKILL = ["internal.list_skills", "internal.load_skill"];

const STEPS = "has no counterpart here: an orchestrator keeps steps as a task";
const NOTEBOOK = "has no counterpart here: a notebook is edited as JSON with code.edit_file";
const BACKGROUND = "has no counterpart here: a command runs to its end";
const WEB_SEARCH = "has no counterpart here: add an MCP server that searches";
const QUESTION = "has no counterpart here: an agent asks in its answer";
const PLAN_MODE = "has no counterpart here: the user chooses the mode";
const RESOURCES = "has no counterpart here: resources of MCP servers are not offered to models";

/** A text is why there is none. */
const TOOLS: Readonly<Record<ForeignProgram, Readonly<Record<string, Counterpart>>>> = {
  "claude-code": {
    Read: READ,
    Write: WRITE,
    Edit: EDIT,
    MultiEdit: EDIT,
    NotebookEdit: NOTEBOOK,
    NotebookRead: NOTEBOOK,
    Grep: SEARCH,
    Glob: LIST,
    LS: LIST,
    Bash: RUN,
    BashOutput: BACKGROUND,
    KillShell: BACKGROUND,
    KillBash: BACKGROUND,
    TaskOutput: BACKGROUND,
    TaskStop: BACKGROUND,
    WebFetch: FETCH,
    WebSearch: WEB_SEARCH,
    Task: DELEGATE,
    Agent: DELEGATE,
    Skill: SKILL,
    SlashCommand: "has no counterpart here: commands are for users",
    TodoWrite: STEPS,
    TodoRead: STEPS,
    TaskCreate: STEPS,
    TaskGet: STEPS,
    TaskList: STEPS,
    TaskUpdate: STEPS,
    AskUserQuestion: QUESTION,
    EnterPlanMode: PLAN_MODE,
    ExitPlanMode: PLAN_MODE,
    ToolSearch: ["internal.search_tools"],
    ListMcpResourcesTool: RESOURCES,
    ReadMcpResourceTool: RESOURCES,
    LSP: "has no counterpart here: add an MCP server for it",
  },
  codex: {
    shell: RUN,
    local_shell: RUN,
    apply_patch: EDIT,
    update_plan: STEPS,
    web_search: WEB_SEARCH,
  },
  gemini: {
    read_file: READ,
    read_many_files: READ,
    write_file: WRITE,
    replace: EDIT,
    list_directory: LIST,
    glob: LIST,
    search_file_content: SEARCH,
    grep_search: SEARCH,
    run_shell_command: RUN,
    web_fetch: FETCH,
    google_web_search: WEB_SEARCH,
    save_memory: ["internal.write_memory"],
    write_todos: STEPS,
    activate_skill: SKILL,
    ask_user: QUESTION,
    ReadFileTool: READ,
    WriteFileTool: WRITE,
    EditTool: EDIT,
    LSTool: LIST,
    GlobTool: LIST,
    GrepTool: SEARCH,
    ShellTool: RUN,
    WebFetchTool: FETCH,
    WebSearchTool: WEB_SEARCH,
  },
  opencode: {
    read: READ,
    write: WRITE,
    edit: EDIT,
    patch: EDIT,
    multiedit: EDIT,
    apply_patch: EDIT,
    list: LIST,
    glob: LIST,
    grep: SEARCH,
    bash: RUN,
    webfetch: FETCH,
    websearch: WEB_SEARCH,
    codesearch: WEB_SEARCH,
    task: DELEGATE,
    skill: SKILL,
    todowrite: STEPS,
    todoread: STEPS,
    question: QUESTION,
    lsp: "has no counterpart here: add an MCP server for it",
  },
};

/** A name as files of that program have it, with or without parentheses; a dotted one is ours already. */
export function mapForeignTool(
  written: string,
  program: ForeignProgram = "claude-code",
): MappedTool {
  const [, name = written, specifier] = /^([^(]+)\((.*)\)$/s.exec(written.trim()) ?? [];
  const about = specifier === undefined ? { name } : { name, specifier };
  if (name.includes(".") || name === "*") return { ...about, tools: [name] };
  const [, server, tool] = /^mcp__(.+?)(?:__(.+))?$/s.exec(name) ?? [];
  if (server !== undefined) return { ...about, tools: [`mcp.${server}.${tool ?? "*"}`] };
  const known = TOOLS[program];
  const found = Object.hasOwn(known, name) ? known[name] : undefined;
  if (found === undefined) return { ...about, tools: [], why: "is no tool that is known here" };
  return typeof found === "string"
    ? { ...about, tools: [], why: found }
    : { ...about, tools: found };
}

/** Between commas or spaces; parentheses belong to the name, as in `Bash(git log:*)`. */
export function splitToolNames(text: string): string[] {
  return text.match(/[^\s,(]+(?:\([^)]*\))?/g) ?? [];
}
