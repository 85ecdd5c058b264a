// How a command would run: one line, and all that is open and closed below it.

import type { PlannedSandbox } from "@soong/core";
import { describeSandbox, listSandbox } from "@soong/core/internal";
import { ExactList } from "../parts/list.tsx";

export function SandboxLimits({
  about,
}: {
  about: { readonly sandbox?: PlannedSandbox | undefined; readonly project?: string | undefined };
}) {
  const limits = listSandbox(about);
  return (
    <>
      {describeSandbox(about)}
      {limits.length > 0 && (
        <details>
          <summary>What is open and closed</summary>
          <ExactList items={limits} />
        </details>
      )}
    </>
  );
}
