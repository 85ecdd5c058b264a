// Reading what is kept: the store of the home, for commands that look and change nothing.

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { nearestName } from "@soong/schema";
import type { Store } from "@soong/store";
import { CommandError, visibleLine } from "../output/index.ts";
import { openHomeStore } from "../runtime/index.ts";
import { resolveHome, createHomeRedactor, type CommandContext } from "./context.ts";

/** Runs with the store open for reading; `none` where nothing was ever kept. */
export async function withReadOnlyStore<T>(
  context: CommandContext,
  work: (store: Store) => Promise<T>,
  none: () => T,
): Promise<T> {
  const home = await resolveHome(context);
  if (!hasStore(home)) return none();
  await hideSecrets(context, home);
  return using(await openHomeStore(home, { readOnly: true }), async (store) => {
    await finishRemovals(store, home);
    return work(store);
  });
}

/** Whoever was killed while it removed a session left files: any command clears them away. */
async function finishRemovals(store: Store, home: string): Promise<void> {
  if ((await store.unfinishedRemovals()).length === 0) return;
  try {
    await (await openHomeStore(home)).close();
  } catch {
    // It can only be read: there is nothing to do but to look.
  }
}

/** Whether anything was ever kept. Throws where that cannot be told: a store no one may enter is not an empty one. */
export function hasStore(home: string): boolean {
  return lstatSync(join(home, "store", "soong.db"), { throwIfNoEntry: false }) !== undefined;
}

/** The same for writing. */
export async function withStore<T>(
  context: CommandContext,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const home = await resolveHome(context);
  await hideSecrets(context, home);
  return using(await openHomeStore(home), work);
}

async function hideSecrets({ env, output }: CommandContext, home: string): Promise<void> {
  output.hide(await createHomeRedactor(home, env));
}

/** Said before anything else is looked for. */
export async function refuseUnknownSession(
  context: CommandContext,
  session_id: string,
): Promise<void> {
  const ids = await withReadOnlyStore(
    context,
    async (store) => (await store.sessions({ limit: 1000 })).map((session) => session.session_id),
    () => refuseNothingStored(`session ${session_id}`),
  );
  if (ids.includes(session_id)) return;
  const near =
    ids.find((id) => id.startsWith(session_id) || id.startsWith(`session_${session_id}`)) ??
    nearestName(session_id, ids);
  const hint = near === undefined ? "" : ` Did you mean ${visibleLine(near)}?`;
  throw new CommandError(
    `There is no session ${visibleLine(session_id)}.${hint} \`soong sessions\` lists what is there.`,
  );
}

export function refuseNothingStored(what: string): never {
  throw new CommandError(
    `There is no ${visibleLine(what)}: nothing is kept in this home yet. \`soong sessions\` lists what is there.`,
  );
}

async function using<T>(store: Store, work: (store: Store) => Promise<T>): Promise<T> {
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
