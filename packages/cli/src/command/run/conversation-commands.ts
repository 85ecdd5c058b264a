// What the commands of a conversation have in common with those behind `soong`: the surface, the policy, what is kept, and
// taking a change back, here as text for its screen.

import { Writable } from "node:stream";
import { modelFromEnvironment, sumUsage } from "@soong/agent";
import { createRedactor, type Run, type RunOptions } from "@soong/core";
import type { LoadedConfig } from "../../config/index.ts";
import { loadOwnCommands } from "../../conversation/own-commands.ts";
import type { SharedCommands } from "../../conversation/slash-command.ts";
import { createOutput, visibleLine } from "../../output/index.ts";
import { homePaths } from "../../runtime/home.ts";
import type { Runtime } from "../../runtime/open-runtime.ts";
import { collectSecrets } from "../../runtime/secrets.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import type { CommandContext } from "../handler.ts";

export interface SharedCommandsOptions {
  readonly runtime: Runtime;
  readonly config: LoadedConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly terminal: Pick<Terminal, "columns" | "colours">;
}

const MOST_SESSIONS = 50;

/** What a command needs is loaded when it is typed. */
export function createSharedCommands(options: SharedCommandsOptions): SharedCommands {
  const { runtime, config, env, terminal } = options;
  const { home } = config;
  return {
    async models() {
      const { values } = config;
      const names = [
        values.model.default,
        ...Object.keys(values.models.profiles),
        ...values.models.fallback,
        modelFromEnvironment(env),
      ];
      return [...new Set(names.filter((name) => name !== undefined))];
    },
    async tools(query, mode) {
      const { printTools } = await import("../tools/tools.ts");
      return lookInto({ mode }, (context, run) => void printTools(context, run, query));
    },
    async servers() {
      const { renderServers } = await import("../mcp/servers.ts");
      return capture((context) => {
        for (const line of renderServers(context.output, runtime.mcp?.status() ?? [], home)) {
          context.output.line(line);
        }
      });
    },
    async agents() {
      const { listAgents } = await import("../setup/documents.ts");
      return capture((context) => listAgents(context, {}, {}));
    },
    async memories() {
      const { listStoredMemories } = await import("../setup/memory.ts");
      return capture((context) => listStoredMemories(context, {}, {}));
    },
    async permissions(call, mode) {
      const [, tool = "", given = ""] = /^(\S*)\s*(.*)$/s.exec(call) ?? [];
      const { printExplanation } = await import("../tools/explain.ts");
      return lookInto({ mode }, (context, run) =>
        printExplanation(context, runtime, run, tool === "" ? undefined : { tool, given }),
      );
    },
    async sessions() {
      const { listSessions } = await import("../sessions/sessions.ts");
      return capture((context) => listSessions(context, {}, {}));
    },
    async resumable() {
      const { describeSummary, summarizeSessions } = await import("../sessions/session-summary.ts");
      const store = await runtime.store();
      const { project } = runtime.roots;
      const page = await store.sessions({ project, limit: MOST_SESSIONS });
      const summaries = await summarizeSessions(store, page);
      return summaries
        .filter(({ status }) => status !== "empty")
        .map((summary) => {
          const { session_id, title = "" } = summary;
          const [status, age, turns] = describeSummary(summary, Date.now());
          return { session_id, title, hint: [age, turns, status].join(" · ") };
        });
    },
    async findSession(given) {
      const { resolveSession } = await import("../stored.ts");
      const { project: cwd } = runtime.roots;
      return (await resolveSession({ cwd }, await runtime.store(), given)).session_id;
    },
    async usedBefore(session_id) {
      const { sumSessionUsage } = await import("../sessions/stored-usage.ts");
      const store = await runtime.store();
      const ends = await store.lastFacts([session_id]);
      return (await sumSessionUsage(store, ends)).get(session_id) ?? sumUsage([]);
    },
    async transcript(session) {
      const { showSession } = await import("../sessions/show.ts");
      return `${await capture((context) => showSession(context, { session }, { full: true }))}\n`;
    },
    async lastChange(session_id) {
      const undo = await import("../sessions/undo.ts");
      const { project: cwd } = runtime.roots;
      const change = await undo.findChange({ cwd }, await runtime.store(), undefined, session_id);
      await undo.refuseChangedFile(change);
      return {
        question: undo.describeUndo(change),
        diff: await undo.renderUndoDiff(change),
        async revert() {
          const held = runtime.heldSession(change.session_id);
          const restored = await undo.revertChange(change, await runtime.store(), held);
          return undo.describeRestored(restored);
        },
      };
    },
    ownCommands: () => loadOwnCommands(homePaths(home).commands),
    async remember(content) {
      const memories = await openMemories();
      const owner = { scope: "project" as const, project: runtime.roots.project };
      const added = await memories.add({ content, tags: [], owner });
      if (!added.ok) throw new Error(`That is not remembered: ${visibleLine(added.why)}.`);
      return describeKept(added);
    },
    async proposedMemories(session_id) {
      const store = await runtime.store();
      const runs = await (await store.readSession(session_id)).runs();
      const session = { session_id, run_ids: runs.map(({ run_id }) => run_id) };
      const memories = await openMemories();
      return (await memories.proposed(session)).map((candidate) => ({
        text: candidate.content,
        async accept() {
          const report = await memories.extract(store, [session], [candidate]);
          const [written] = report.written;
          if (written !== undefined) return describeKept({ kind: "written", ...written });
          const [merged] = report.merged;
          if (merged !== undefined) return describeKept({ kind: "merged", ...merged });
          return `That is not remembered: ${visibleLine(report.refused[0]?.why ?? "it is gone")}.`;
        },
        discard: () => memories.discard([candidate]),
      }));
    },
  };

  async function openMemories() {
    const { openUserMemories } = await import("../../runtime/memories.ts");
    const redactor = createRedactor({ secrets: await collectSecrets(config, env) });
    return openUserMemories({ home, redactor });
  }

  /** With a run of which nothing is stored, as the next turn would have it. */
  function lookInto(
    how: RunOptions,
    look: (context: CommandContext, run: Run) => Promise<void> | void,
  ): Promise<string> {
    return capture(async (context) => {
      await runtime.ready(new AbortController().signal);
      const session = await runtime.openEphemeralSession();
      try {
        await look(context, await session.startRun(how));
      } finally {
        await session.close();
      }
    });
  }

  /** What a command prints, on stdout and stderr, as it would at this terminal. */
  async function capture(print: (context: CommandContext) => unknown): Promise<string> {
    let text = "";
    const stream = new Writable({
      decodeStrings: false,
      write(chunk: string, _encoding, done) {
        text += chunk;
        done();
      },
    });
    const screen = Object.assign(stream, { isTTY: true, columns: terminal.columns });
    const output = createOutput(screen, screen, env);
    await print({
      // The home it is for, however it was found.
      env: { ...env, SOONG_AGENT_HOME: home },
      cwd: runtime.roots.project,
      output,
      stdin: process.stdin,
      isInteractive: false,
      interrupts: { on: () => () => {} },
      json: false,
      print(_data, render) {
        for (const line of [render() ?? []].flat()) output.line(line);
      },
    });
    await output.drained();
    return text.trimEnd();
  }
}

/** `soong memory forget ID` takes it back. */
function describeKept({ kind, memory_id }: { readonly kind: string; readonly memory_id: string }) {
  return kind === "merged" ? `Known already, as ${memory_id}.` : `Remembered as ${memory_id}.`;
}
