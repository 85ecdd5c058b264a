// A tool and hooks that log every stage they are called in.

import { defineHook, type AnyHook, type AnyTool } from "@soong/core";
import { writer } from "./world.ts";

/** A tool that logs every stage it is called in. */
export function recordingTool(log: string[], about: Partial<AnyTool> = {}): AnyTool {
  return writer("notes.write", 0, {
    input_schema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    normalise(input) {
      log.push("normalise");
      return input;
    },
    validate() {
      log.push("validate");
    },
    classify() {
      log.push("classify");
      return {};
    },
    targets() {
      log.push("targets");
      return { resources: [] };
    },
    prepare() {
      log.push("prepare");
      return { resources: [] };
    },
    handler() {
      log.push("handler");
      return "done";
    },
    ...about,
  });
}

export function recordingHook(
  log: string[],
  event: "PreToolUse" | "PermissionRequest" | "PostToolUse",
): AnyHook {
  return defineHook({ id: event, event, run: () => void log.push(event) });
}
