// A port of this machine for a server that a test may stop and start again.

import { once } from "node:events";
import { createServer } from "node:net";

/** Below those that systems give to outgoing connections, so that it is still free after a restart. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 15_000);
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
      server.close();
      await once(server, "close");
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    }
  }
}
