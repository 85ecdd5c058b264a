// What is not even a request gets an answer with the same headers, and no other chance.

import type { Socket } from "node:net";
import { SECURITY_HEADERS } from "./answer.ts";
import { refused } from "./refused.ts";

export function refuseGarbage(error: NodeJS.ErrnoException, socket: Socket): void {
  if (socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, message] =
    error.code === "HPE_HEADER_OVERFLOW"
      ? ["431 Request Header Fields Too Large", "The headers of this request are too long."]
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? ["408 Request Timeout", "This request did not come in time."]
        : ["400 Bad Request", "This is not a request."];
  const body = JSON.stringify(refused("bad_request", message).problem);
  const headers = Object.entries({
    ...SECURITY_HEADERS,
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.end(`HTTP/1.1 ${status}\r\n${lines}\r\n${body}`, () => socket.destroy());
}
