// What stands right now and no conversation can know, such as how far the tasks of an orchestrator are. It is asked for
// before each request, shown at its end, where no cache of what comes before it is lost, and kept nowhere.

import { messageOf } from "@soong/core";
import { cutMiddle } from "../context/index.ts";
import { recordFact, type Running } from "./running.ts";

const MOST_CHARS = 4_000;

/** A board that cannot be read is on record, and the request goes without it. */
export async function readBoard(running: Running): Promise<string | undefined> {
  const { board, run, control } = running;
  if (board === undefined) return undefined;
  const asked = Promise.resolve().then(() => board(run));
  const text = await control.unlessAborted(
    asked.catch((error: unknown) => {
      const message = `What stands now could not be read: ${run.redactor.text(messageOf(error))}`;
      recordFact(running, "error", { code: "board_unreadable", message }, "warn");
      return undefined;
    }),
  );
  if (text === "aborted" || text === undefined || text.trim() === "") return undefined;
  return cutMiddle(run.redactor.text(text), MOST_CHARS);
}
