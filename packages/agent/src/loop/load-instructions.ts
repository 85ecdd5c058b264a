// The files a session begins with, put on the path before its first prompt (INSTR-2), once. What is not taken is on
// record with the reason, and no run fails or hangs for it.

import { messageOf } from "@soong/core";
import { instructionNode } from "../context/index.ts";
import type { InstructionTexts } from "./instruction-cache.ts";
import { addNode, nextNodePlace, recordFact, type Running } from "./running.ts";

export async function loadInstructions(running: Running): Promise<void> {
  const { run, control, instructions: cache } = running;
  const { source } = cache;
  if (source === undefined) return;
  const loading = Promise.resolve().then(() =>
    source((text) => run.redactor.text(text), run.places),
  );
  const loaded = await control.unlessAborted(loading.catch(describeUnreadable));
  if (loaded === "aborted") return;
  cache.source = undefined;
  cache.skipped = loaded.skipped.map(({ origin, path, why }) => ({
    origin,
    path: run.redactor.text(path),
    why: run.redactor.text(why),
  }));
  for (const { origin, path, why } of cache.skipped) {
    const message = `The instructions of the ${origin} in ${path} are skipped: ${why}`;
    recordFact(running, "error", { code: "instructions_skipped", message, path, origin }, "warn");
  }
  for (const { text, path, ...about } of loaded.files) {
    const clean = { ...about, path: run.redactor.text(path) };
    const node = instructionNode(nextNodePlace(running), run.redactor.text(text), clean);
    if (cache.add(node)) addNode(running, node);
  }
}

/** A source is the embedder's code. */
function describeUnreadable(error: unknown): InstructionTexts {
  const why = messageOf(error);
  return { files: [], skipped: [{ origin: "project", path: "the instruction source", why }] };
}
