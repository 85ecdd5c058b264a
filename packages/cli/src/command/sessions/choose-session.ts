// The conversations of a project, to choose one from: in a list at a terminal, or named in an error without one.

import type { SessionRecord, Store } from "@soong/store";
import { fit, UsageError, visibleLine } from "../../output/index.ts";
import type { PickOne } from "../../terminal/pick-one.ts";
import type { CommandContext } from "../handler.ts";
import { hasMessages, iterateSessions, resolveProjectPath, withReadOnlyStore } from "../stored.ts";
import { describeSummary, summarizeSessions } from "./session-summary.ts";

export type SessionChoices = PickOne<string>["items"];

const MOST_CHOICES = 200;

/** Last used first: title, age, status, turns. The values are ids. */
export async function listSessionChoices(store: Store, project: string): Promise<SessionChoices> {
  const records: SessionRecord[] = [];
  for await (const record of iterateSessions(store, { project })) {
    if (await hasMessages(store, record)) records.push(record);
    if (records.length === MOST_CHOICES) break;
  }
  const now = Date.now();
  return (await summarizeSessions(store, records)).map((summary) => {
    const { session_id: value, title = "" } = summary;
    const [status, age, turns] = describeSummary(summary, now);
    return { label: title === "" ? value : title, hint: [age, status, turns].join(" · "), value };
  });
}

/** Asks at the terminal; undefined: none was chosen. Without a terminal the newest are named. */
export async function chooseSession(context: CommandContext): Promise<string | undefined> {
  const project = await resolveProjectPath(context.cwd);
  const choices = await withReadOnlyStore<SessionChoices>(
    context,
    () => [],
    (store) => listSessionChoices(store, project),
  );
  if (choices.length === 0) {
    throw new UsageError(
      `There is no conversation of ${visibleLine(project)} to resume yet. \`soong sessions --all\` lists those of other projects.`,
    );
  }
  if (!context.isInteractive) throw refuseWithoutTerminal(choices);
  const { pickAtTerminal } = await import("../../terminal/pick-one.ts");
  return pickAtTerminal(context, { title: "Resume which session?", items: choices });
}

function refuseWithoutTerminal(choices: SessionChoices): UsageError {
  const newest = choices.slice(0, MOST_NAMED).map(({ label, hint = "", value }) => {
    const about = value === label ? hint : `${fit(visibleLine(label), 50)} (${hint})`;
    return `  ${visibleLine(value)}  ${about}`;
  });
  return new UsageError(
    [
      "Without a terminal there is no list to choose from: give the id, or its beginning, as in `soong -r ID`, or take the newest with `soong -c`. The newest of this project:",
      ...newest,
    ].join("\n"),
  );
}

const MOST_NAMED = 5;
