import type { Run, Session } from "@soong/core";
import { asRecord } from "@soong/schema";

/** The run that a bridge works on, with its session: what `kernel.startRun()` returns. */
export type BridgeRun = Run & { readonly session: Session };

/** A kernel, a session or a promise in its place would fail later, and not say why. */
export function checkRun(run: BridgeRun, bridge: string): void {
  const given = asRecord(run);
  if (typeof given["openTurn"] === "function" && given["session"] !== undefined) return;
  const isPromise = typeof given["then"] === "function";
  const hint = isPromise ? "a promise of one; await it first" : "something else";
  throw new TypeError(
    `${bridge}() takes a run, which \`await kernel.startRun()\` returns, and got ${hint}`,
  );
}
