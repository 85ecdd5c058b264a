// MCP servers of another program, for mcp.json: no key in them is copied, its place is taken by the name of a variable,
// and what a program may do with a server is not taken over (MCP-6, MCP-8).

import { messageOf } from "@soong/core";
import { isSecretName, isSecretShape } from "@soong/core/internal";
import { findHostServers, translateServer } from "../runtime/host-servers.ts";
import type { Found, ImportPlaces } from "./found.ts";
import { asTable } from "./read-files.ts";

type Program = "claude-code" | "codex" | "gemini" | "opencode";
type Entry = Readonly<Record<string, unknown>>;

/** `file`: of that file alone. */
export async function findServers(
  host: Program,
  { env, cwd }: ImportPlaces,
  found: Found,
  file?: string,
): Promise<void> {
  try {
    for (const server of await findHostServers(env, { cwd, host, ...(file && { file }) })) {
      const { name, file: from } = server;
      const what = `MCP server ${name}`;
      const id = name.replaceAll(/[^A-Za-z0-9_-]+/g, "-").slice(0, 64);
      const { entry, dropped, notes, problem } = translateServer(server, env);
      if (problem !== undefined || !/^\w/.test(id)) {
        found.unmapped.push({ what, why: problem ?? "has a name no server can have", from });
        continue;
      }
      const { entry: shown, variables } = nameSecrets(id, entry);
      const isNarrowed = dropped.some((key) => ALLOW_LISTS.includes(key));
      const others = dropped.filter((key) => !ALLOW_LISTS.includes(key));
      found.servers.push({
        id,
        entry: isNarrowed ? { ...shown, disabled: true } : shown,
        from,
        notes: [
          ...(id === name ? [] : [`It is called ${name} there.`]),
          ...variables.map(
            (variable) => `Set ${variable} in your environment; its value is in ${from}.`,
          ),
          ...(isNarrowed
            ? [
                "It is disabled: only some of its tools are enabled there; list the others in disabled_tools, then enable it.",
              ]
            : []),
          ...(others.length === 0 ? [] : [`Not taken over: ${others.join(", ")}.`]),
          ...notes,
        ],
      });
    }
  } catch (error) {
    found.unmapped.push({ what: "MCP servers", why: messageOf(error), from: file ?? host });
  }
}

const ALLOW_LISTS = ["includeTools", "enabledTools", "enabled_tools", "allowedTools", "tools"];

/** The same entry with `${NAME}` where a secret is, and the names. */
export function nameSecrets(
  id: string,
  entry: Entry,
): { readonly entry: Entry; readonly variables: readonly string[] } {
  const variables = new Map<string, string>();
  const prefix = id.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_");
  /** One variable for one value. */
  const refer = (name: string, value: string, count = 1): string => {
    const numbered = count === 1 ? name : `${name}_${count}`;
    if ((variables.get(numbered) ?? value) !== value) return refer(name, value, count + 1);
    variables.set(numbered, value);
    return `\${${numbered}}`;
  };
  const own = (part: string, value: string): string => {
    const words = part.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_");
    return refer(`${prefix}_${words.replaceAll(/^_|_$/g, "")}`, value);
  };
  const isSecret = (name: string, value: string): boolean =>
    value !== "" && !value.includes("${") && (isSecretName(name) || isSecretShape(value));

  const env = mapValues(entry["env"], (value, name) =>
    isSecret(name, value) ? refer(name, value) : value,
  );
  const headers = mapValues(entry["headers"], (value, name) => {
    const [, scheme = "", credentials = value] =
      /^(Bearer|Basic|Token)\s+(.*)$/is.exec(value) ?? [];
    if (!isSecret(scheme === "" ? name : "authorization", credentials)) return value;
    return scheme === "" ? own(name, value) : `${scheme} ${own("token", credentials)}`;
  });
  const oauth = mapValues(entry["oauth"], (value, name) =>
    isSecret(name, value) ? own(name, value) : value,
  );
  const given = entry["args"];
  const args = Array.isArray(given)
    ? given.map((arg, at) => nameInArgument(arg, given[at - 1]))
    : given;
  const url = typeof entry["url"] === "string" ? nameInUrl(entry["url"]) : undefined;
  const changed = { env, headers, oauth, args, url };
  const parts = Object.entries(changed).filter(([, value]) => value !== undefined);
  return { entry: { ...entry, ...Object.fromEntries(parts) }, variables: [...variables.keys()] };

  /** `--token x`, `--token=x`, and an address with a password. */
  function nameInArgument(argument: unknown, before: unknown): unknown {
    if (typeof argument !== "string") return argument;
    const flag = /^--?([\w-]+)$/.exec(typeof before === "string" ? before : "")?.[1];
    if (
      flag !== undefined &&
      !argument.startsWith("-") &&
      isSecretName(flag) &&
      !argument.includes("${")
    ) {
      return own(flag, argument);
    }
    const [, start = "", name = "", value = ""] = /^((?:--?)?([\w-]+)=)(.+)$/s.exec(argument) ?? [];
    if (isSecret(name, value) && name !== "") return start + own(name, value);
    if (isSecretShape(argument)) return own("secret", argument);
    return nameInUrl(argument);
  }

  function nameInUrl(text: string): string {
    const [, start = "", password = "", end = ""] =
      /^([a-z][a-z0-9+.-]*:\/\/[^/?#:@]*:)([^/?#@]+)(@.*)$/is.exec(text) ?? [];
    const plain =
      password === "" || password.includes("${") ? text : start + own("password", password) + end;
    return plain.replaceAll(
      /([?&])([^=&#]+)=([^&#]*)/g,
      (whole, sign: string, name: string, value: string) =>
        isSecret(name, value) ? `${sign}${name}=${own(name, value)}` : whole,
    );
  }
}

function mapValues(value: unknown, map: (text: string, name: string) => string): Entry | undefined {
  if (value === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(asTable(value)).map(([name, one]) => [
      name,
      typeof one === "string" ? map(one, name) : one,
    ]),
  );
}
