// The server room: the page and its records over HTTP on loopback.

export * from "./ports.ts";
