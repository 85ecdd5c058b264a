// Reads the recipes of the policy cookbook: a block of config, and below it a table of calls with the decision about
// each and the rule that makes it. A table without a block of its own is about no config at all.

export interface Recipe {
  /** Of its table, counted from one. */
  readonly line: number;
  readonly config: string;
  /** The line before its table ends with `In the sandbox:`. */
  readonly isInSandbox: boolean;
  readonly calls: readonly JudgedCall[];
}

export interface JudgedCall {
  readonly text: string;
  readonly tool: string;
  readonly input: string;
  readonly flags: {
    readonly allow: readonly string[];
    readonly deny: readonly string[];
    readonly mode: string | undefined;
  };
  readonly decision: string;
  readonly by: string;
}

const ROW = /^\| `([^`]+)`\s+\| (allow|ask|deny)\s+\| `([^`]+)`\s+\|$/;
const CALL = /^(\S+) (\{.*\})((?: --\S+ \S+)*)$/;

/** Throws on a row that cannot be read: it would be promised and not checked. */
export function readRecipes(page: string): Recipe[] {
  const recipes: (Recipe & { calls: JudgedCall[] })[] = [];
  let before = "";
  let config = "";
  let isInBlock = false;
  let isInTable = false;
  for (const [index, line] of page.split("\n").entries()) {
    if (line.startsWith("```")) {
      isInBlock = line === "```toml";
      if (isInBlock) config = "";
    } else if (isInBlock) config += `${line}\n`;
    else if (line.startsWith("## ")) config = "";
    else if (line.startsWith("| call ")) {
      isInTable = true;
      const isInSandbox = before.endsWith("In the sandbox:");
      recipes.push({ line: index + 1, config, isInSandbox, calls: [] });
    } else if (!line.startsWith("|")) isInTable = false;
    else if (isInTable && !line.startsWith("| --")) {
      recipes.at(-1)?.calls.push(readRow(line, index + 1));
    }
    if (line !== "") before = line;
  }
  return recipes;
}

function readRow(line: string, number: number): JudgedCall {
  const [, text = "", decision = "", by = ""] = ROW.exec(line) ?? [];
  const [, tool = "", input = "", given = ""] = CALL.exec(text) ?? [];
  if (tool === "") throw new Error(`line ${number}: not a call, a decision and a rule: ${line}`);
  const flags = [...given.matchAll(/--(\S+) (\S+)/g)].map(([, name, value = ""]) => ({
    name,
    value,
  }));
  const all = (name: string): string[] =>
    flags.filter((flag) => flag.name === name).map(({ value }) => value);
  return {
    text,
    tool,
    input,
    flags: { allow: all("allow"), deny: all("deny"), mode: all("mode")[0] },
    decision,
    by,
  };
}
