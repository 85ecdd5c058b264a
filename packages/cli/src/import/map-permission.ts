// A permission of another program as rules of ours. An allow is taken over only where it allows no more here than there
// (decision 0038); a deny or ask that cannot be said exactly is named, never weakened in silence.

import { compilePolicy, type PermissionRule } from "@soong/core";
import { isSecretShape } from "@soong/core/internal";
import type { MappedTool } from "@soong/agent";

type Decision = PermissionRule["decision"];

export type MappedPermission =
  | { readonly kind: "rules"; readonly rules: readonly PermissionRule[] }
  /** It is so here without a rule. */
  | { readonly kind: "unneeded"; readonly why: string }
  | { readonly kind: "unmapped"; readonly why: string };

/** `tool.specifier` is as Claude Code has it: `git log:*` or `git log *`, `./src/**`, `domain:example.org`. */
export function mapPermission(tool: MappedTool, decision: Decision): MappedPermission {
  const { tools, why, name } = tool;
  const [first = ""] = tools;
  if (why !== undefined || first === "") return unmapped(why ?? "is no tool that is known here");
  const specifier = tool.specifier?.trim() ?? "";
  const isWhole = specifier === "" || specifier === "*";
  if (first === "*") return mapEverything(decision);
  if (first === "code.run_command") {
    return isWhole ? mapAllCommands(decision) : mapCommand(specifier, decision);
  }
  if (first === "code.edit_file" || first === "code.write_file") {
    // There a rule for edits counts for every tool that writes files.
    const writers = name === "Write" ? [first] : ["code.edit_file", "code.write_file"];
    const path = isWhole ? "**" : mapPath(specifier, decision);
    return isWhole && decision !== "allow"
      ? checked(writers.map((one) => ({ tool: one, decision })))
      : checked(writers.map((one) => ({ tool: one, path, decision })));
  }
  if (["code.read_file", "code.search", "code.list_dir"].includes(first)) {
    if (isWhole && decision === "allow")
      return unneeded("reading in the project needs no approval");
    return checked([
      isWhole
        ? { tool: first, decision }
        : { tool: first, path: mapPath(specifier, decision), decision },
    ]);
  }
  if (first === "web.fetch") return mapFetch(isWhole ? "" : specifier, decision);
  if (first.startsWith("mcp.")) {
    if (decision === "allow" && first.startsWith("mcp.*")) {
      return unmapped("would allow the tools of every server; name the servers");
    }
    return checked([{ tool: first, decision }]);
  }
  if (!isWhole) return unmapped("names a part of that tool, which no rule can here");
  if (decision === "allow") return unneeded(`${first} needs no approval`);
  return checked(tools.map((one) => ({ tool: one, decision })));
}

function mapEverything(decision: Decision): MappedPermission {
  if (decision === "ask") return unneeded("what is not allowed by a rule requires approval");
  return decision === "deny"
    ? checked([{ tool: "*", decision }])
    : unmapped(
        "would allow every tool, which no rule does here (dangerous tools need an exact name)",
      );
}

function mapAllCommands(decision: Decision): MappedPermission {
  return decision === "allow"
    ? unmapped("would allow every command; allow the ones you mean")
    : checked([{ tool: "code.run_command", decision }]);
}

function mapCommand(pattern: string, decision: Decision): MappedPermission {
  const [, text = "", rest] = /^(.*?)(:\*| \*)?$/s.exec(pattern) ?? [];
  if (/[|&;<>$`"'\\(){}\n]/.test(text)) {
    return unmapped("needs a shell; a command here is one program with its arguments");
  }
  const words = text.trim().split(/\s+/);
  const [program = ""] = words;
  if (program === "" || program.includes("*")) return mapAllCommands(decision);
  if (words.some((word) => isSecretShape(word.replace(/^[^=]*=/, "")))) {
    return unmapped("holds what looks like a key");
  }
  if (program.includes("=")) return unmapped("sets a variable before the program");
  if (words.some((word) => word.includes("*") && word !== "*")) {
    return unmapped('has "*" inside a word; in argv "*" is one whole argument');
  }
  if (decision !== "allow" && words.includes("*")) {
    return unmapped('has "*" between words, which is any text there and one argument here');
  }
  const tool = "code.run_command";
  if (rest !== undefined) return checked([{ tool, argv: [...words, "**"], decision }]);
  return decision === "allow"
    ? checked([{ tool, argv: words, exact_argv: true, decision }])
    : checked([{ tool, argv: words, decision }]);
}

/** `//etc/x` is absolute there, `/x` of the project, and a bare name is one anywhere below. */
function mapPath(pattern: string, decision: Decision): string {
  const plain = pattern.endsWith("/") ? `${pattern}**` : pattern;
  if (plain.startsWith("//")) return plain.slice(1);
  if (plain.startsWith("~/")) return plain;
  const inside = plain.replace(/^\.?\/+/, "");
  const isBare = !inside.includes("/") && inside === plain && inside !== "**" && inside !== "*";
  return isBare && decision !== "allow" ? `**/${inside}` : inside;
}

function mapFetch(specifier: string, decision: Decision): MappedPermission {
  const tool = "web.fetch";
  if (specifier === "") {
    return decision === "allow"
      ? unmapped("would allow every host; allow the ones you mean")
      : checked([{ tool, decision }]);
  }
  const host = specifier.replace(/^domain:/, "");
  return /^(?:\*\.)?[\w.-]+$/.test(host)
    ? checked([{ tool, host, decision }])
    : unmapped("is no host name");
}

/** As the config would judge them. */
function checked(rules: readonly PermissionRule[]): MappedPermission {
  const compiled = compilePolicy({
    rules: [...rules],
    roots: { project: "/", write: [] },
    home: "/",
  });
  if (compiled.ok) return { kind: "rules", rules };
  return unmapped(compiled.problems.map(({ message }) => message).join("; "));
}

function unmapped(why: string): MappedPermission {
  return { kind: "unmapped", why };
}

function unneeded(why: string): MappedPermission {
  return { kind: "unneeded", why };
}
