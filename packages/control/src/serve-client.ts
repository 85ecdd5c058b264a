// One client of a socket, from hello to its end. It is read no faster than it reads: whatever it sends or leaves
// lying costs the run nothing and the memory little.

import { once } from "node:events";
import type { Socket } from "node:net";
import { messageOf } from "@soong/core";
import { asRecord, isRecord } from "@soong/schema";
import { createLineReader, LineTooLong } from "@soong/platform";
import { answerRequest, type Client } from "./answer-request.ts";
import { createChallenge, type Challenge } from "./peer.ts";
import {
  ControlError,
  MAX_REQUEST_BYTES,
  type ControlAnswer,
  type ControlEvent,
  type ControlProblem,
  type RequestId,
} from "./protocol.ts";
import type { ControlSubject } from "./watch-session.ts";

/** What a client has not taken; beyond this it is let go, for it takes nothing. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024;

const HANG_UP_MS = 1000;

/** Answers with how to finish: says the rest to whoever takes it. */
export function serveClient(
  socket: Socket,
  subject: ControlSubject,
  folder: string,
): () => Promise<void> {
  let challenge: Challenge | undefined;
  socket.once("close", () => challenge?.close());
  const client: Client = {
    challenge: () => (challenge ??= socket.destroyed ? undefined : createChallenge(folder)),
    peer: undefined,
    subject,
    push,
    drained,
    isGone: () => socket.destroyed,
    attending: undefined,
    following: undefined,
  };
  push({ event: "hello", data: subject.hello() });
  void answerAll().then(
    () => {
      leave();
      end();
    },
    (error: unknown) => {
      leave();
      if (error instanceof LineTooLong) hangUp(error);
      // Else the connection broke, and there is no one to tell.
      else socket.destroy();
    },
  );

  return async () => {
    // The session is closed, so its facts have an end.
    await client.following?.done;
    if (socket.destroyed) return;
    end();
    await once(socket, "close").catch(() => {});
  };

  async function answerAll(): Promise<void> {
    const lines = createLineReader(MAX_REQUEST_BYTES);
    for await (const bytes of socket.iterator({ destroyOnReturn: false })) {
      for (const line of lines.take(bytes as Uint8Array)) await answer(line);
    }
    const rest = lines.rest();
    if (rest !== undefined) await answer(rest);
  }

  /** Whoever is still sending hears why only if someone takes what they send, for a moment. */
  function hangUp({ message }: LineTooLong): void {
    refuse(null, "line_too_long", `${message}. The connection is closed.`);
    socket.end();
    socket.resume();
    const enough = setTimeout(() => socket.destroy(), HANG_UP_MS).unref();
    socket.once("end", () => socket.destroy()).once("close", () => clearTimeout(enough));
  }

  async function answer(line: string): Promise<void> {
    if (line.trim() === "") return;
    // Also of a request that says nothing else right: whoever sent it waits for the answer to it.
    let id: RequestId | null = null;
    try {
      const given = readLine(line);
      id = readId(given);
      const { method, params = {} } = given;
      if (id === null || typeof method !== "string" || !isRecord(params)) {
        throw new ControlError(
          "bad_request",
          "A request is an object with an id (a number or a short text), a method (a text) and params (an object).",
        );
      }
      send({ id, result: await answerRequest(client, method, params) });
    } catch (error) {
      if (error instanceof ControlError && error.code !== "unreachable") {
        refuse(id, error.code, error.message);
      } else refuse(id, "failed", messageOf(error));
    }
    await drained();
  }

  function refuse(id: RequestId | null, code: ControlProblem["code"], message: string): void {
    send({ id, error: { code, message } });
  }

  function push(event: ControlEvent): void {
    send(event);
    if (socket.writableLength > MAX_UNREAD_BYTES) socket.destroy();
  }

  function send(record: ControlAnswer | ControlEvent): void {
    if (socket.writable) socket.write(`${JSON.stringify(record)}\n`);
  }

  async function drained(): Promise<void> {
    if (socket.destroyed || !socket.writableNeedDrain) return;
    await new Promise<void>((resolve) => {
      const go = (): void => {
        socket.off("drain", go).off("close", go);
        resolve();
      };
      socket.on("drain", go).on("close", go);
    });
  }

  function leave(): void {
    client.attending?.stop();
    client.attending = undefined;
    client.following?.stop();
  }

  function end(): void {
    if (!socket.destroyed) socket.end(() => socket.destroy());
  }
}

function readLine(line: string): Readonly<Record<string, unknown>> {
  try {
    return asRecord(JSON.parse(line));
  } catch {
    throw new ControlError("bad_request", "A line is one request in JSON; this one is not JSON.");
  }
}

const MAX_ID_CHARS = 200;

function readId({ id }: Readonly<Record<string, unknown>>): RequestId | null {
  const isId = typeof id === "number" || (typeof id === "string" && id.length <= MAX_ID_CHARS);
  return isId ? id : null;
}
