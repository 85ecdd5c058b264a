// One call of one tool in a fresh world, and what came of it.

import type { JsonObject } from "@soong/core";
import { personWho } from "./people.ts";
import type { Watched } from "./watched.ts";
import { createWorld, type World, type WorldOptions } from "./world.ts";

export interface CalledOnce {
  readonly status: string | undefined;
  readonly code: string | undefined;
  /** How often the user was asked. */
  readonly asked: number;
  readonly world: World;
}

/** The person says yes, unless the options bring another one. */
export async function callOnce(
  watched: Watched,
  input: JsonObject,
  options: WorldOptions = {},
): Promise<CalledOnce> {
  const person = personWho("allow_once");
  const world = await createWorld({ tools: [watched.tool], ask: person.ask, ...options });
  const [result] = await world.execute({ id: "c1", name: watched.tool.name, arguments: input });
  const { status, error } = result ?? {};
  return { status, code: error?.code, asked: person.requests.length, world };
}
