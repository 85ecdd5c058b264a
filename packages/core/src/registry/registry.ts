// Every registered tool (NAME-1, NAME-4, REG-1…3). Readers get immutable snapshots; writing goes through
// the handle of one source, and closing it removes exactly what it brought.

import { aliasProblem, type AnyTool, qualifyName, SoongError } from "../tool/index.ts";
import {
  isSurelySame,
  readDefinition,
  type DefinitionProblem,
  type RegisteredTool,
  type SourceInfo,
  type UnnumberedTool,
} from "./registered-tool.ts";

/** The one interface through which tools come in. */
export interface ToolSource extends Omit<SourceInfo, "trusted"> {
  /** Default: everything but an MCP server is trusted. */
  trusted?: boolean;
  /** Put before names without a dot. Default: `app` for code, or what the kernel was given; `user` for declarative tools. */
  namespace?: string;
  tools: readonly AnyTool[];
  /** Tools the source knows of and cannot offer. */
  excluded?: readonly ExcludedTool[];
}

export interface ExcludedTool {
  tool_name: string;
  reason: ExclusionReason;
  detail: string;
  /** Of a disabled tool: its own `isEnabled` said so. */
  disabled_by?: "tool";
}

export type ExclusionReason =
  | "role_not_allowed"
  | "mode_restricted"
  | "policy_blocked"
  | "not_requested"
  | "disabled"
  | "model_unsupported"
  | "setup_required"
  | "server_failed"
  | "definition_changed"
  | "invalid_definition"
  | "nothing_deferred";

export interface RegistrySnapshot {
  readonly revision: number;
  readonly tools: ReadonlyMap<string, RegisteredTool>;
  /** Alias to canonical name. */
  readonly aliases: ReadonlyMap<string, string>;
  readonly excluded: readonly ExcludedTool[];
}

export interface SourceHandle {
  readonly source: SourceInfo;
  /** Makes these the tools of the source. All of them or, with an error, none. */
  set(tools: readonly AnyTool[], excluded?: readonly ExcludedTool[]): void;
  close(): void;
}

export interface Registry {
  readonly revision: number;
  open(source: ToolSource): SourceHandle;
  /** Tools from code, as a source of their own. */
  register(tools: AnyTool | readonly AnyTool[]): SourceHandle;
  snapshot(): RegistrySnapshot;
  /** The tool as it is now, for telling whether a call is stale. */
  current(name: string): RegisteredTool | undefined;
}

/** A definition that cannot be taken. The message names file, tool and field. */
export class RegistrationError extends SoongError {
  override readonly name = "RegistrationError";
  readonly problems: readonly DefinitionProblem[];

  constructor(source: SourceInfo, problems: readonly DefinitionProblem[]) {
    const where = source.file ?? `source "${source.id}"`;
    const lines = problems.map(
      ({ tool_name, field, message }) => `${where}: tool "${tool_name}": ${field} ${message}`,
    );
    super("invalid_definition", lines.join("\n"));
    this.problems = problems;
  }
}

/** Of a tool that is gone: whole at first, later what its return is compared with. */
interface DepartedTool extends Pick<RegisteredTool, "digest" | "generation"> {
  readonly tool?: RegisteredTool | undefined;
}

interface OwnedTools {
  tools: RegisteredTool[];
  excluded: readonly ExcludedTool[];
}

/** An empty registry of tools. `namespace`: put before names without a dot that come from code; default: `app`. */
export function createRegistry({ namespace }: { readonly namespace?: string } = {}): Registry {
  const tools = new Map<string, RegisteredTool>();
  const aliases = new Map<string, string>();
  const owned = new Map<SourceInfo, OwnedTools>();
  /** Outlives the tool: a name that comes back with another definition is still a change. */
  const history = new Map<string, DepartedTool>();
  /** Gone with the last change of a source: kept whole, in case they come back with its next. */
  const lastGone = new Map<string, readonly RegisteredTool[]>();
  let revision = 0;
  let snapshot: RegistrySnapshot | undefined;
  let codeSources = 0;

  return {
    get revision() {
      return revision;
    },
    open,
    register(given) {
      codeSources += 1;
      const list = Array.isArray(given) ? (given as readonly AnyTool[]) : [given as AnyTool];
      return open({ id: `code-${codeSources}`, kind: "code", tools: list });
    },
    snapshot() {
      snapshot ??= {
        revision,
        tools: new Map(tools),
        aliases: new Map(aliases),
        excluded: [...owned.values()].flatMap(({ excluded }) => excluded),
      };
      return snapshot;
    },
    current: (name) => tools.get(name),
  };

  function open(given: ToolSource): SourceHandle {
    const { tools: list, excluded, trusted, namespace: ofSource, ...about } = given;
    const source: SourceInfo = { ...about, trusted: trusted ?? given.kind !== "mcp" };
    for (const { id, kind } of owned.keys()) {
      if (id === source.id && kind === source.kind) {
        throw new RegistrationError(source, [
          { tool_name: "*", field: "source", message: `"${id}" is open already` },
        ]);
      }
    }
    const ofCode = source.kind === "code" ? namespace : undefined;
    const qualify = (tool: AnyTool): AnyTool => qualifyTool(tool, source, ofSource ?? ofCode);
    const own: OwnedTools = { tools: [], excluded: [] };
    replace(source, own, list.map(qualify), excluded ?? []);
    owned.set(source, own);
    return {
      source,
      set(next, nextExcluded = []) {
        if (!owned.has(source)) throw new Error(`source "${source.id}" is closed`);
        replace(source, own, next.map(qualify), nextExcluded);
      },
      close() {
        if (!owned.delete(source)) return;
        forget(source, own.tools, []);
        notifyChange();
      },
    };
  }

  function replace(
    source: SourceInfo,
    own: OwnedTools,
    list: readonly AnyTool[],
    excluded: readonly ExcludedTool[],
  ): void {
    const mine = new Map(own.tools.map((tool) => [tool.name, tool]));
    const taken = new Map<string, string>();
    const accepted: UnnumberedTool[] = [];
    const refused: DefinitionProblem[] = [];
    for (const definition of list) {
      const name = definition?.name;
      const before = mine.get(name) ?? history.get(name)?.tool;
      const read = readDefinition(definition, source, before);
      const problems = read.ok ? clashes(read.tool, taken, mine) : read.problems;
      if (!read.ok || problems.length > 0) {
        refused.push(...problems);
        continue;
      }
      accepted.push(read.tool);
      for (const name of listNames(read.tool)) taken.set(name, read.tool.name);
    }
    // A server's bad tool costs that tool; anyone else's is a mistake to be fixed before the start.
    if (refused.length > 0 && source.kind !== "mcp") throw new RegistrationError(source, refused);
    forget(source, own.tools, accepted);
    own.tools = accepted.map((tool) => remember(tool, mine.get(tool.name)));
    own.excluded = [...excluded, ...oncePerTool(refused)];
    notifyChange();
  }

  /** Names and aliases are one namespace: a name that is taken is an error, never overwritten. */
  function clashes(
    tool: RegisteredTool,
    taken: ReadonlyMap<string, string>,
    mine: ReadonlyMap<string, RegisteredTool>,
  ): DefinitionProblem[] {
    const problems: DefinitionProblem[] = [];
    const names = listNames(tool);
    for (const [i, name] of names.entries()) {
      const registered = tools.has(name) ? name : aliases.get(name);
      const isMine = registered !== undefined && mine.has(registered);
      const holder = taken.get(name) ?? (isMine ? undefined : registered);
      if (holder !== undefined || names.indexOf(name) < i) {
        const field = name === tool.name ? "name" : "aliases";
        const message = `"${name}" is already the name or an alias of "${holder ?? tool.name}"`;
        problems.push({ tool_name: tool.name, field, message });
      }
    }
    return problems;
  }

  function remember(tool: UnnumberedTool, replaced: RegisteredTool | undefined): RegisteredTool {
    tool.generation = countGeneration(tool, replaced);
    history.delete(tool.name);
    tools.set(tool.name, tool);
    for (const alias of tool.definition.aliases ?? []) aliases.set(alias, tool.name);
    return tool;
  }

  function countGeneration(tool: RegisteredTool, replaced: RegisteredTool | undefined): number {
    const departed = history.get(tool.name);
    const before = replaced ?? departed;
    if (before === undefined) return 1;
    const whole = replaced ?? departed?.tool;
    const isSame =
      (whole !== undefined && isSurelySame(whole, tool)) || before.digest() === tool.digest();
    return before.generation + (isSame ? 0 : 1);
  }

  function forget(
    source: SourceInfo,
    old: readonly RegisteredTool[],
    next: readonly RegisteredTool[],
  ): void {
    if (old.length === 0 && !lastGone.has(nameKey(source))) return;
    const staying = new Set(next.map(({ name }) => name));
    const gone = old.filter(({ name }) => !staying.has(name));
    for (const tool of old) {
      tools.delete(tool.name);
      for (const alias of tool.definition.aliases ?? []) aliases.delete(alias);
    }
    for (const tool of gone) {
      history.set(tool.name, { digest: () => tool.digest(), generation: tool.generation, tool });
    }
    const key = nameKey(source);
    for (const tool of lastGone.get(key) ?? []) if (!staying.has(tool.name)) condense(tool);
    lastGone.set(key, gone);
  }

  /** It has been gone for a while: that it was there is worth a hash, not the whole of it. */
  function condense(tool: RegisteredTool): void {
    if (history.get(tool.name)?.tool !== tool) return;
    const digest = tool.digest();
    history.set(tool.name, { digest: () => digest, generation: tool.generation });
  }

  function notifyChange(): void {
    revision += 1;
    snapshot = undefined;
  }
}

/** A name without a dot stays as an alias: calls by it, and texts that mention it, are still understood. */
function qualifyTool(tool: AnyTool, { kind }: SourceInfo, namespace: string | undefined): AnyTool {
  const given: unknown = tool?.name;
  if (typeof given !== "string") return tool;
  const name = qualifyName(given, kind, namespace);
  if (name === given) return tool;
  const own: unknown = tool.aliases ?? [];
  const isAlias = Array.isArray(own) && aliasProblem(given, { kind }) === undefined;
  const aliases = isAlias ? [...new Set([...(own as string[]), given])] : own;
  // On top of what was given: it may be an instance of a class.
  return Object.create(tool, { name: { value: name }, aliases: { value: aliases } }) as AnyTool;
}

function nameKey({ kind, id }: SourceInfo): string {
  return JSON.stringify([kind, id]);
}

function oncePerTool(problems: readonly DefinitionProblem[]): ExcludedTool[] {
  const details = new Map<string, string[]>();
  for (const { tool_name, field, message } of problems) {
    details.set(tool_name, [...(details.get(tool_name) ?? []), `${field} ${message}`]);
  }
  return [...details].map(([tool_name, texts]) => ({
    tool_name,
    reason: "invalid_definition",
    detail: texts.join("; "),
  }));
}

function listNames(tool: RegisteredTool): readonly string[] {
  return [tool.name, ...(tool.definition.aliases ?? [])];
}
