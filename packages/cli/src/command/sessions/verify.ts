// `soong verify`: whether sessions are still what was recorded, and which fact is the first that is not (EVENT-6).

import type { Store, Verification } from "@soong/store";
import { EXIT, UsageError, visibleLine, type Output } from "../../output/index.ts";
import type { CommandContext } from "../context.ts";
import { refuseNothingStored, withReadOnlyStore, withStore } from "../stored.ts";
import { iterateSessions } from "./sessions.ts";
import { argument, JSON_OPTION, option, type CommandDefinition } from "../define-command.ts";

export const command: CommandDefinition = {
  name: "verify",
  summary: "check that sessions are as they were recorded",
  arguments: [argument("[session...]", "their ids; default: all")],
  options: [
    option("--artifacts", "also read every artifact"),
    option("--head <hash>", "a head hash of this session that you stored elsewhere"),
    option(
      "--rebuild",
      "rebuild from the facts what the store derives from them, where it differs",
    ),
    JSON_OPTION,
  ],
  examples: ["soong verify", "soong verify session_0abc --artifacts"],
  exitCodes: "0 all are, 1 one is not",
  run: verifySessions,
};

interface VerifyCommandOptions {
  readonly json?: boolean;
  readonly artifacts?: boolean;
  readonly head?: string;
  readonly rebuild?: boolean;
}

async function verifySessions(
  context: CommandContext,
  ids: readonly string[],
  { json = false, artifacts = false, head, rebuild = false }: VerifyCommandOptions,
): Promise<number> {
  if (head !== undefined && ids.length !== 1) {
    throw new UsageError("--head is the hash of one session: give that SESSION with it.");
  }
  const { output } = context;
  return withReadOnlyStore(
    context,
    async (store) => {
      let exitCode: number = EXIT.ok;
      for await (const id of ids.length > 0 ? ids : everyId(store)) {
        const options = { artifacts, head };
        let verified = await store.verify(id, options);
        if (rebuild && isDerived(verified)) {
          await withStore(context, (writing) => writing.rebuildSession(id));
          output.note(
            `Session ${visibleLine(id)}: made anew from its facts what follows from them.`,
          );
          verified = await store.verify(id, options);
        }
        if (json) output.record("soong.verify/1", { session_id: id, ...verified });
        else show(output, id, verified);
        if (!verified.ok) exitCode = EXIT.failed;
      }
      return exitCode;
    },
    () => {
      if (ids.length > 0) refuseNothingStored(`session ${ids.join(", ")}`);
      output.note("No sessions are kept yet; there is nothing to verify.");
      return EXIT.ok;
    },
  );
}

function isDerived(verified: Verification): boolean {
  return !verified.ok && verified.problem.kind === "derived";
}

/** Also the removed ones: what is left of them can still be checked. */
async function* everyId(store: Store): AsyncGenerator<string> {
  for await (const { session_id } of iterateSessions(store)) yield session_id;
  for (const { session_id } of await store.tombstones()) yield session_id;
}

function show(output: Output, id: string, verified: Verification): void {
  const { green, red, dim } = output.colours;
  const name = visibleLine(id);
  if (!verified.ok) {
    const { seq, kind, message } = verified.problem;
    output.line(`${red("fail")}  ${name}: fact ${seq} (${kind}): ${visibleLine(message)}`);
    if (kind === "derived") {
      output.line(dim(`      \`soong verify --rebuild ${name}\` makes it anew from the facts.`));
    }
    return;
  }
  const removed = verified.removed === undefined ? "" : `, removed ${verified.removed.removed_at}`;
  output.line(`${green("ok")}    ${name}: ${verified.facts} facts${removed}`);
  output.line(dim(`      head ${verified.head_hash}`));
}
