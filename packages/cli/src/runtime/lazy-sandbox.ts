// The sandbox of a runtime (CMD-6): opened and tried when a command is first judged, so that a start pays nothing for it.

import { openSandbox, type Sandbox } from "@soong/platform";

export function lazySandbox(): Sandbox {
  let opened: Sandbox | undefined;
  const open = (): Sandbox => (opened ??= openSandbox());
  return {
    state: () => open().state(),
    enter: (command, profile) => open().enter(command, profile),
    close: () => opened?.close(),
  };
}
