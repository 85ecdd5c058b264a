// What the commands of a conversation have in common with those behind `soong`: the surface, what is kept, and
// taking a change back, here as text for its screen.

import { modelFromEnvironment } from "@soong/agent";
import type { LoadedConfig } from "../../config/index.ts";
import type { SharedCommands } from "../../conversation/slash-commands.ts";
import { createOutput, fit, visibleLine } from "../../output/index.ts";
import type { Runtime } from "../../runtime/open-runtime.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import type { CommandContext } from "../handler.ts";
import { printTools } from "../tools/tools.ts";
import {
  describeRestored,
  renderUndoDiff,
  findChange,
  refuseChangedFile,
  revertChange,
  describeUndo,
} from "../sessions/undo.ts";
import { Writable } from "node:stream";

export interface SharedCommandsOptions {
  readonly runtime: Runtime;
  readonly config: LoadedConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly terminal: Pick<Terminal, "columns" | "colours">;
}

const MOST_SESSIONS = 10;

export function createSharedCommands({
  runtime,
  config,
  env,
  terminal,
}: SharedCommandsOptions): SharedCommands {
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
      await runtime.ready(new AbortController().signal);
      const session = await runtime.openEphemeralSession();
      try {
        const run = await session.startRun({ mode });
        let text = "";
        const stream = new Writable({
          decodeStrings: false,
          write(chunk: string, _encoding, done) {
            text += chunk;
            done();
          },
        });
        const screen = Object.assign(stream, { isTTY: true, columns: terminal.columns });
        const output = createOutput(screen, stream, env);
        const print: CommandContext["print"] = (_data, render) => {
          for (const line of [render() ?? []].flat()) output.line(line);
        };
        printTools({ output, json: false, print }, run, query);
        await output.drained();
        return text.trimEnd();
      } finally {
        await session.close();
      }
    },
    async sessions() {
      const { project } = runtime.roots;
      const { bold, dim } = terminal.colours;
      const store = await runtime.store();
      const lines: string[] = [];
      for (const record of await store.sessions({ limit: 20 * MOST_SESSIONS })) {
        if (record.project !== project || lines.length === MOST_SESSIONS) continue;
        const { session_id, updated_at, title = "" } = record;
        const rest = fit(
          `${updated_at} ${visibleLine(title)}`,
          terminal.columns - session_id.length - 3,
        );
        lines.push(`${bold(visibleLine(session_id))}  ${dim(rest)}`);
      }
      return lines.length === 0 ? "No sessions of this project are kept yet." : lines.join("\n");
    },
    async lastChange() {
      const change = await findChange({ cwd: runtime.roots.project }, await runtime.store());
      await refuseChangedFile(change);
      return {
        question: describeUndo(change),
        diff: await renderUndoDiff(change),
        async revert() {
          const held = runtime.heldSession(change.session_id);
          return describeRestored(await revertChange(change, await runtime.store(), held));
        },
      };
    },
  };
}
