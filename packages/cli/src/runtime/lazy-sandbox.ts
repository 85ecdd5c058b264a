// The sandbox of a runtime (CMD-6): opened and tried when a command is first judged, so that a start pays nothing for it.

import { openSandbox, type Sandbox, type SandboxState } from "@soong/platform";

export type MissingSandbox = Extract<SandboxState, { readonly missing: string }>;

/** `onMissing`: called once, where this machine has none. */
export function lazySandbox(onMissing: (state: MissingSandbox) => void): Sandbox {
  let opened: Sandbox | undefined;
  let isReported = false;
  const open = (): Sandbox => (opened ??= openSandbox());
  return {
    state() {
      const state = open().state();
      if ("missing" in state && !isReported) {
        isReported = true;
        onMissing(state);
      }
      return state;
    },
    enter: (command, profile) => open().enter(command, profile),
    close: () => opened?.close(),
  };
}
