// The socket of one live session: made so that it is seen only once it answers and only by its owner, and gone
// when the session is.

import { randomBytes } from "node:crypto";
import { chmodSync, renameSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { inTime } from "@soong/platform";
import { makeControlDirectory, SOCKET_ENDING, UNREADY_BEGINNING } from "./control-directory.ts";
import type { ControlSubject } from "./watch-session.ts";
import type { ControlAnswer } from "./protocol.ts";

export interface ControlServer {
  readonly path: string;
  /** A client that follows the facts gets the last of them, if it reads them soon. */
  close(): Promise<void>;
}

/** Far more than users and their programs; few enough for a hostile one to cost nothing. */
const MAX_CLIENTS = 64;
const FAREWELL_MS = 1000;

/** Throws where there can be none; a `ControlUnavailable` says what helps. */
export async function listen(home: string, subject: ControlSubject): Promise<ControlServer> {
  const directory = makeControlDirectory(home);
  const id = randomBytes(4).toString("hex");
  // Bound under a name that no one takes for a runtime: between bind and listen, it would be refused.
  const unready = `${UNREADY_BEGINNING}${id}`;
  const path = join(directory.path, `${process.pid}-${id}${SOCKET_ENDING}`);
  const sockets = new Set<Socket>();
  const clients = new Map<Socket, () => Promise<void>>();
  const server = createServer({ allowHalfOpen: true }, accept);
  try {
    server.listen(directory.addressOf(unready));
    await once(server, "listening");
    // Only who has something to say keeps a process up.
    server.unref();
    chmodSync(join(directory.path, unready), 0o600);
    renameSync(join(directory.path, unready), path);
  } catch (error) {
    stop();
    throw error;
  }
  return {
    path,
    async close() {
      rmSync(path, { force: true });
      stop();
      // For the slowest, but not for long.
      const farewells = Promise.all([...clients.values()].map((finish) => finish()));
      await inTime(farewells, { ms: FAREWELL_MS });
      for (const socket of sockets) socket.destroy();
    },
  };

  /** Takes the name it was bound by away, too, through the directory. */
  function stop(): void {
    server.close();
    directory.close();
  }

  function accept(socket: Socket): void {
    // It is closed after an error, and that is all there is to do.
    socket.on("error", () => {});
    sockets.add(socket);
    socket.once("close", () => {
      sockets.delete(socket);
      clients.delete(socket);
    });
    if (clients.size >= MAX_CLIENTS) {
      const message = `This runtime talks with ${MAX_CLIENTS} others already; try again later.`;
      const refusal: ControlAnswer = { id: null, error: { code: "too_many_clients", message } };
      socket.end(`${JSON.stringify(refusal)}\n`, () => socket.destroy());
      return;
    }
    clients.set(socket, () => Promise.resolve());
    // Loaded by the first who comes: most runtimes are never looked at.
    void import("./serve-client.ts").then(({ serveClient }) => {
      if (clients.has(socket)) clients.set(socket, serveClient(socket, subject, directory.path));
    });
  }
}
