// The official suite is built for Node 22; on Node 20 all that is missing is one function of `fs`, which no scenario
// uses. Loaded before the suite (`node --import`), this stands in for it.

import { register } from "node:module";
import { isMainThread } from "node:worker_threads";

const FS = `data:text/javascript,${encodeURIComponent(
  'export * from "node:fs"; export { default } from "node:fs"; export const globSync = undefined;',
)}`;

// Hooks run in a thread of their own, which reads this file again.
if (isMainThread) register(import.meta.url);

/** @type {import("node:module").ResolveHook} */
export async function resolve(specifier, context, next) {
  const isSuite = context.parentURL?.includes("/conformance/dist/") === true;
  if (specifier === "fs" && isSuite) return { url: FS, shortCircuit: true };
  return next(specifier, context);
}
