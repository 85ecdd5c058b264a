// The conversations of a project, to choose one from: in a list at a terminal, or named in an error without one.

import type { Store } from "@soong/store";
import { describeAge, fit, UsageError, visibleLine } from "../../output/index.ts";
import type { PickOne } from "../../terminal/pick-one.ts";
import type { CommandContext } from "../handler.ts";
import { hasMessages, iterateSessions, resolveProjectPath, withReadOnlyStore } from "../stored.ts";

export type SessionChoices = PickOne<string>["items"];

const MOST_CHOICES = 200;

/** Last used first: title, age, and how the last run ended. The values are ids. */
export async function listSessionChoices(store: Store, project: string): Promise<SessionChoices> {
  const now = Date.now();
  const choices: SessionChoices[number][] = [];
  for await (const record of iterateSessions(store, { project })) {
    if (choices.length === MOST_CHOICES) break;
    if (!(await hasMessages(store, record))) continue;
    const { session_id, title = "", updated_at } = record;
    const runs = await (await store.readSession(session_id)).runs();
    const last = runs.findLast(({ parent_run_id }) => parent_run_id === undefined);
    const hint = [describeAge(updated_at, now), ...(last === undefined ? [] : [last.status])];
    choices.push({
      label: title === "" ? session_id : title,
      hint: hint.join(" · "),
      value: session_id,
    });
  }
  return choices;
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
