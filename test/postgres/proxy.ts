// A TCP proxy in front of a server, for tests of a network that breaks. It loses and changes no byte: what is sent into a
// hole arrives when the hole is healed, as TCP would send it again. It adds no delay: one that waited for acknowledgements before
// it sent the next small piece (Nagle) made 40 ms of each pipelined statement, which no network between two machines does.

import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { findFreePort } from "./free-port.ts";

export interface Proxy {
  /** The same url, by way of the proxy. */
  readonly url: string;
  /** Nothing arrives in either direction, not even the end of a connection. Connections stay open; new ones get no reply. */
  hole(): void;
  /** The network works again. */
  heal(): void;
  /** Resets all connections. New ones are refused until `heal`. */
  reset(): void;
  close(): Promise<void>;
}

type State = "works" | "hole" | "refuses";

export async function startProxy(target: string): Promise<Proxy> {
  const upstream = new URL(target);
  const address = { host: upstream.hostname, port: Number(upstream.port || 5432) };
  const port = await findFreePort();
  const links = new Set<Link>();
  let state: State = "works";
  const server = createServer(
    { allowHalfOpen: true, pauseOnConnect: true, noDelay: true },
    (client) => {
      if (state === "refuses") {
        client.resetAndDestroy();
        return;
      }
      const link = new Link(client, address, () => links.delete(link));
      links.add(link);
      if (state === "works") link.open();
    },
  );
  server.listen(port, "127.0.0.1");
  await once(server, "listening");

  const change = (next: State): void => {
    state = next;
    if (next === "refuses") server.close();
    else if (!server.listening) server.listen(port, "127.0.0.1");
  };
  upstream.host = `127.0.0.1:${port}`;
  return {
    url: upstream.href,
    hole() {
      change("hole");
      for (const link of links) link.pause();
    },
    heal() {
      change("works");
      for (const link of links) link.open();
    },
    reset() {
      change("refuses");
      for (const link of links) link.reset();
    },
    async close() {
      for (const link of links) link.reset();
      if (!server.listening) return;
      server.close();
      await once(server, "close");
    },
  };
}

/** One connection of a client, and the one to the server that is made for it. */
class Link {
  readonly #client: Socket;
  readonly #address: { readonly host: string; readonly port: number };
  readonly #ended: () => void;
  #server: Socket | undefined;
  #isPaused = true;

  constructor(client: Socket, address: { host: string; port: number }, ended: () => void) {
    this.#client = client;
    this.#address = address;
    this.#ended = ended;
    // It may be reset before there is anything to forward it to.
    client.on("error", () => {});
  }

  open(): void {
    this.#isPaused = false;
    if (this.#server === undefined) {
      this.#server = connect({ ...this.#address, allowHalfOpen: true, noDelay: true });
      this.#forward(this.#client, this.#server);
      this.#forward(this.#server, this.#client);
    }
    this.#client.resume();
    this.#server.resume();
  }

  pause(): void {
    this.#isPaused = true;
    this.#client.pause();
    this.#server?.pause();
  }

  reset(): void {
    this.#client.resetAndDestroy();
    this.#server?.resetAndDestroy();
    this.#ended();
  }

  #forward(from: Socket, to: Socket): void {
    from
      .on("data", (bytes) => {
        if (!to.write(bytes)) from.pause();
      })
      .on("end", () => to.end())
      .on("error", () => this.reset())
      .on("close", () => {
        if (to.destroyed) this.#ended();
      });
    to.on("drain", () => {
      if (!this.#isPaused) from.resume();
    });
  }
}
