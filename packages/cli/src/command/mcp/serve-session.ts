// The session of `soong mcp serve` over stdio, kept from its first run on. Some hosts start the program once only to see
// which protocol it speaks; of that nothing needs to be kept.

import type { Session } from "@soong/core";
import type { GatewayOptions } from "@soong/mcp";

type ServedSession = GatewayOptions["session"];

export function openSessionLazily(open: () => Promise<Session>): ServedSession {
  let opening: Promise<Session> | undefined;
  let opened: (session: Session) => void = () => {};
  const session = new Promise<Session>((resolve) => {
    opened = resolve;
  });

  return {
    async startRun(options) {
      opening ??= open().catch((error: unknown) => {
        // The next one asks anew.
        opening = undefined;
        throw error;
      });
      const here = await opening;
      opened(here);
      return here.startRun(options);
    },
    facts: (options) => factsOnceThere(session, (here) => here.facts(options)),
  };
}

type Facts = ReturnType<Session["facts"]>;

/** Can be ended before there are any. */
function factsOnceThere(session: Promise<Session>, factsOf: (session: Session) => Facts): Facts {
  let end: () => void = () => {};
  const ended = new Promise<undefined>((resolve) => {
    end = () => resolve(undefined);
  });
  let facts: Facts | undefined;
  return {
    async next() {
      const here = facts === undefined ? await Promise.race([session, ended]) : undefined;
      if (here !== undefined) facts = factsOf(here);
      return facts === undefined ? { done: true, value: undefined } : facts.next();
    },
    async return() {
      end();
      await facts?.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
