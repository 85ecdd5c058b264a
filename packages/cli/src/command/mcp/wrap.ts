// `soong mcp wrap`: a server that another program starts becomes a server of mcp.json, and that program starts Soong in its
// place, which passes each call on through permission and record. `soong mcp unwrap` puts the entry back. What would be
// written is shown first.

import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { createRedactor, type KnownSecret } from "@soong/core";
import { findExecutable, parseDocument } from "@soong/platform";
import { nearestName } from "@soong/schema";
import { wholeFileDiff } from "@soong/tools";
import { CommandError, EXIT, renderDiff, UsageError, visibleLine } from "../../output/index.ts";
import { changeServers, planServerChanges, undoAddition } from "../../runtime/change-servers.ts";
import {
  findHostServers,
  HOST_NAMES,
  hostFiles,
  readHostText,
  translateServer,
  type HostId,
  type HostServer,
  type ServerEntry,
} from "../../runtime/host-servers.ts";
import { homePaths } from "../../runtime/home.ts";
import { loadUserConfig } from "../context.ts";
import type { CommandContext, Handler } from "../handler.ts";
import { withInterrupt } from "../signals.ts";
import { createTerminalQuestions } from "../terminal-questions.ts";
import { isUsable, noteWarnings, readEntry, renderTried, tryServer } from "./add.ts";
import { differingLines, isGateway, putBack, replaceEntry, writeIfSame } from "./host-entry.ts";
import { changeWrapped, listWrapped } from "./wrapped.ts";

export const wrapServer: Handler<"mcp wrap"> = async (context, { server, command }, options) => {
  const { cwd, env, json, output, print } = context;
  const { home } = await loadUserConfig(context);
  const gateway = (id: string) => gatewayCommand(context, home, id);
  if (server !== undefined && command.length > 0) {
    const id = options.as ?? server;
    const wanted = readEntry(command, options);
    const { before } = await planServerChanges(home, env, { [id]: wanted });
    refuseOther(before, id, wanted, homePaths(home).servers);
    const changed = await changeServers(home, env, { [id]: wanted });
    noteWarnings(context, changed);
    const entry = gateway(id);
    print({ server_id: id, file: changed.file, outcome: "added", entry }, () => [
      `Added ${visibleLine(id)} to ${visibleLine(changed.file)}. Let your agent start it through Soong with this entry:`,
      JSON.stringify({ mcpServers: { [server]: entry } }, undefined, 2),
    ]);
    return EXIT.ok;
  }
  const file = options.file === undefined ? undefined : resolve(cwd, options.file);
  const host = options.from;
  const found = await findHostServers(env, { cwd, ...(host && { host }), ...(file && { file }) });
  if (server === undefined) return listFound(context, found, host);
  const one = chooseServer(found, server, { env, host });
  const id = options.as ?? server;
  const { entry: translated, notes, problem } = translateServer(one, env);
  if (isGateway(one.entry)) {
    throw new UsageError(`${one.file} starts ${visibleLine(server)} through Soong already.`);
  }
  if (problem !== undefined) {
    throw new CommandError(
      `${visibleLine(server)} of ${one.file} cannot be taken over: ${problem}.`,
    );
  }
  // The other program still says whether it is in use.
  const { disabled: _, ...entry } = translated;
  const more = (options.env ?? []).length === 0 ? {} : readEntry(["x"], { env: options.env ?? [] });
  const asked = { ...asRecord(entry["env"]), ...asRecord(more["env"]) };
  const wanted = { ...entry, ...(Object.keys(asked).length > 0 && { env: asked }) };
  const planned = await planServerChanges(home, env, { [id]: wanted });
  refuseOther(planned.before, id, wanted, homePaths(home).servers);
  const text = await readHostText(one.file);
  const replaced = replaceEntry(one, text, gateway(id));
  const redactor = createRedactor({
    secrets: [...planned.secrets, ...(await findSecrets(one, env))],
  });
  const diffs = [
    renderChange(planned.file, planned.before, planned.after),
    replaced.after === undefined ? "" : renderChange(one.file, text, replaced.after),
  ].map((diff) => redactor.text(diff));
  if (!json) {
    for (const diff of diffs) if (diff !== "") output.line(renderDiff(diff, output.colours));
    for (const note of notes) output.note(`note: ${visibleLine(note)}`);
    if (replaced.after === undefined)
      output.line(
        `${visibleLine(one.file)} is not changed automatically: its entry is written in another form. Write there instead:\n${replaced.shown}`,
      );
  }
  const about = { server_id: id, host: one.host, file: one.file };
  if (options.yes !== true && !(await confirm(context))) {
    print(
      { ...about, outcome: "planned", diffs, notes },
      () => "Nothing was written; --yes writes it.",
    );
    return EXIT.ok;
  }
  // From here on Ctrl-C takes out again what was written.
  return withInterrupt(context, async () => {
    const changed = await changeServers(home, env, { [id]: wanted });
    if (options.connect === false) noteWarnings(context, changed);
    const isTried = options.connect !== false;
    const status = isTried ? await tryServer(context, id) : undefined;
    if (isTried && status === undefined) {
      await undoAddition(home, env, id, changed);
      return EXIT.interrupted;
    }
    if (status !== undefined && !isUsable(status)) {
      await undoAddition(home, env, id, changed);
      if (!json) for (const line of renderTried(context, status).slice(0, -1)) output.line(line);
      throw new CommandError(
        `${visibleLine(server)} does not answer when Soong starts it, so nothing was changed. \`--env NAME\` passes a variable on; --no-connect does it anyway.`,
      );
    }
    const { after } = replaced;
    if (after !== undefined) await replaceFile(home, one, id, { before: text, after });
    print({ ...about, outcome: after === undefined ? "added" : "wrapped", status, notes }, () => [
      ...(status === undefined ? [] : renderTried(context, status)),
      ...(after === undefined
        ? []
        : [
            `${HOST_NAMES[one.host]} now starts ${visibleLine(server)} through Soong; start it again to see that.`,
            "`soong sessions` lists what it did there.",
            `\`soong mcp unwrap ${id}\` puts its own entry back.`,
          ]),
    ]);
    return EXIT.ok;
  });
};

export const unwrapServer: Handler<"mcp unwrap"> = async (context, { server }, options) => {
  const { env, json, output, print } = context;
  const { home } = await loadUserConfig(context);
  const all = await listWrapped(home);
  const found = all.filter(
    ({ server_id, host }) => server_id === server && (options.from ?? host) === host,
  );
  if (found.length === 0) {
    const near = nearestName(
      server,
      all.map(({ server_id }) => server_id),
    );
    const hint = near === undefined ? "" : ` Did you mean ${near}?`;
    throw new UsageError(
      `No program starts ${visibleLine(server)} through Soong by \`soong mcp wrap\`.${hint}`,
    );
  }
  for (const one of found) {
    const text = await readHostText(one.file);
    const after = putBack(one, text);
    const redactor = createRedactor({ secrets: await findSecrets(one, env) });
    const diff = after === undefined ? "" : redactor.text(renderChange(one.file, text, after));
    if (!json && diff !== "") output.line(renderDiff(diff, output.colours));
    const about = { server_id: server, host: one.host, file: one.file };
    if (after === undefined) {
      throw new CommandError(
        `${one.file} has changed since, and its entry cannot be found again. What it was is in ${homePaths(home).wrapped}.`,
      );
    }
    if (options.yes !== true && !(await confirm(context))) {
      print({ ...about, outcome: "planned", diff }, () => "Nothing was written; --yes writes it.");
      continue;
    }
    await writeIfSame(one.file, text, after);
    await changeWrapped(home, (entries) =>
      entries.filter((other) => !isDeepStrictEqual(other, one)),
    );
    print({ ...about, outcome: "unwrapped" }, () => [
      `${HOST_NAMES[one.host]} starts ${visibleLine(server)} itself again; start it again to see that.`,
      `\`soong mcp remove ${server}\` takes it out of mcp.json as well.`,
    ]);
  }
  return EXIT.ok;
};

function listFound(
  { print, json, output, env }: CommandContext,
  found: readonly HostServer[],
  host: HostId | undefined,
): number {
  if (found.length === 0 && !json) {
    output.note(
      `No other agent has an MCP server: looked at ${listHostFiles(env, host)}; --file names another file.`,
    );
  }
  for (const one of found) {
    const is_wrapped = isGateway(one.entry);
    print({ name: one.name, host: one.host, file: one.file, is_wrapped }, () =>
      visibleLine(
        `${one.name}  ${HOST_NAMES[one.host]}  ${one.file}${is_wrapped ? "  through Soong" : ""}`,
      ),
    );
  }
  return EXIT.ok;
}

function listHostFiles(env: CommandContext["env"], host: HostId | undefined): string {
  const ids = host === undefined ? (Object.keys(HOST_NAMES) as HostId[]) : [host];
  return ids.flatMap((id) => hostFiles(id, env).slice(0, 1)).join(", ");
}

function chooseServer(
  found: readonly HostServer[],
  server: string,
  { env, host }: { env: CommandContext["env"]; host: HostId | undefined },
): HostServer {
  const [one, ...more] = found.filter(({ name }) => name === server);
  if (one === undefined) {
    const near = nearestName(
      server,
      found.map(({ name }) => name),
    );
    const looked = listHostFiles(env, host);
    throw new UsageError(
      `No server ${visibleLine(server)} is configured in ${looked}.${near === undefined ? "" : ` Did you mean ${near}?`} \`soong mcp wrap\` lists those that are; --file names another file.`,
    );
  }
  if (more.length === 0) return one;
  const places = [one, ...more].map((other) => `${other.host} (${other.file})`).join(", ");
  throw new UsageError(
    `${visibleLine(server)} is configured more than once: ${places}. Choose with --from or --file.`,
  );
}

async function replaceFile(
  home: string,
  { host, file, path, entry }: HostServer,
  server_id: string,
  text: { readonly before: string; readonly after: string },
): Promise<void> {
  const lines = differingLines(text.before, text.after);
  const wrapped = { server_id, host, file, path: path.map(String), entry, lines };
  // On record first: what cannot be put back is not replaced.
  await changeWrapped(home, (entries) => [...entries, wrapped]);
  try {
    await writeIfSame(file, text.before, text.after, { backup: true });
  } catch (error) {
    await changeWrapped(home, (entries) =>
      entries.filter((other) => !isDeepStrictEqual(other, wrapped)),
    );
    throw error;
  }
}

/** A name that means another server already. */
function refuseOther(text: string, id: string, wanted: ServerEntry, file: string): void {
  const parsed = text.trim() === "" ? undefined : parseDocument(text, file, "jsonc");
  const servers =
    parsed?.ok === true ? asRecord(asRecord(parsed.document.value)["mcpServers"]) : {};
  if (servers[id] === undefined || isDeepStrictEqual(servers[id], wanted)) return;
  throw new UsageError(
    `${file} has another server ${visibleLine(id)} already; --as gives this one another name.`,
  );
}

function renderChange(file: string, before: string, after: string): string {
  const old = before === "" ? undefined : Buffer.from(before);
  return wholeFileDiff(file, old, Buffer.from(after)).trimEnd();
}

/** What another program runs instead of the server. */
function gatewayCommand({ env, cwd }: CommandContext, home: string, id: string) {
  const own = findExecutable("soong", { path: env["PATH"] ?? "", cwd });
  // One that only a package script or npx has on its PATH is not there for that program.
  const isInstalled = own !== undefined && !own.found.includes("/node_modules/.bin/");
  const [command = "soong", ...before] = isInstalled
    ? ["soong"]
    : [process.execPath, process.argv[1] ?? "soong"];
  const given = env["SOONG_AGENT_HOME"] ?? "";
  return {
    command,
    args: [...before, "mcp", "serve", "--server", id],
    ...(given !== "" && { env: { SOONG_AGENT_HOME: home } }),
  };
}

async function confirm({ isInteractive, json, stdin, output }: CommandContext): Promise<boolean> {
  if (!isInteractive || json) return false;
  return createTerminalQuestions(stdin, output).confirm("Write this?");
}

/** Of an entry, however that program writes it: what mcp.json would hide, and every value it hands on. */
async function findSecrets(
  { host, file, path, entry }: Pick<HostServer, "host" | "file" | "path" | "entry">,
  env: CommandContext["env"],
): Promise<readonly KnownSecret[]> {
  const { parseMcpSettings } = await import("@soong/mcp/settings");
  const name = String(path.at(-1));
  const { entry: ours } = translateServer({ host, file, path, entry, name, format: "jsonc" }, env);
  const { secrets } = parseMcpSettings(JSON.stringify({ mcpServers: { a: ours } }), file, env);
  const values = [ours["env"], ours["headers"]].flatMap((given) => Object.entries(asRecord(given)));
  const handed = values.flatMap(([of, value]) =>
    typeof value === "string" && value.length >= 4 && !value.includes("${")
      ? [{ name: of, value }]
      : [],
  );
  return [...secrets, ...handed];
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
