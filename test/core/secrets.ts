// Secrets for tests of redaction, and a world in which everything that is written down or shown is kept,
// so that a test can look for them in all of it at once.

import {
  defineHook,
  type AnyHook,
  type AskPermission,
  type HookEvent,
  type PermissionRequest,
} from "@soong/core";
import { createWorld, type World, type WorldOptions } from "./world.ts";

/** Known by value. */
export const KNOWN = "correct-horse/battery+staple";
/** Known by its form. */
export const TOKEN = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
/** Both, as they would stand in a text. */
export const BOTH = `pw ${KNOWN} key ${TOKEN}.`;

export const SECRETS = [{ name: "DB_PASSWORD", value: KNOWN }];

export interface WatchedWorld extends World {
  /** All that hooks and users were shown. */
  readonly heard: unknown[];
  /** Facts, nodes, what was heard, and whatever else is given, as one text. */
  allText(...more: unknown[]): string;
}

const EVENTS: HookEvent[] = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PermissionRequest",
  "PostToolUse",
  "PostToolUseFailure",
  "Elicitation",
  "ElicitationResult",
  "Stop",
];

/** The person says yes to everything, unless the options bring another one. */
export async function createWatchedWorld(options: WorldOptions = {}): Promise<WatchedWorld> {
  const heard: unknown[] = [];
  const listeners: AnyHook[] = EVENTS.map((event) =>
    defineHook({
      id: `hears ${event}`,
      event,
      run: (payload) => {
        heard.push(payload);
        return {};
      },
    }),
  );
  const reply: AskPermission = options.ask ?? (() => ({ decision: "allow_once" }));
  const ask: AskPermission = (request: PermissionRequest, context) => {
    heard.push(request);
    return reply(request, context);
  };
  const world = await createWorld({
    secrets: SECRETS,
    ...options,
    ask,
    hooks: [...listeners, ...(options.hooks ?? [])],
  });
  return {
    ...world,
    heard,
    allText: (...more) =>
      JSON.stringify([
        world.journal.facts,
        world.journal.nodes,
        heard,
        world.session.context,
        more,
      ]),
  };
}

/** The secret values that stand in the text, whole or in a piece long enough to be of use. */
export function leaksIn(text: string): string[] {
  const pieces = [KNOWN.slice(0, 16), KNOWN.slice(-16), TOKEN.slice(0, 20), TOKEN.slice(-20)];
  return [KNOWN, TOKEN, ...pieces].filter((piece) => text.includes(piece));
}
