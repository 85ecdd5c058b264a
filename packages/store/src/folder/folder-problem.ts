// Why the folder of a run could not be written, for the user: the journal continues without it.

import { StoreError, type StoreErrorCode } from "../contract/index.ts";

const CODES: Readonly<Record<string, StoreErrorCode>> = {
  ENOSPC: "store_full",
  EDQUOT: "store_full",
  EFBIG: "store_full",
  EROFS: "store_read_only",
  EACCES: "store_read_only",
  EPERM: "store_read_only",
};

export function folderProblem(
  verb: "written" | "rebuilt" | "removed",
  path: string,
  error: unknown,
): StoreError {
  const reason = error instanceof Error ? error.message : String(error);
  const code = CODES[(error as NodeJS.ErrnoException | undefined)?.code ?? ""];
  const advice = verb === "removed" ? "Remove it by hand." : "Put that right, then rebuild it.";
  return new StoreError(
    code ?? "store_unavailable",
    `The run folder ${path} cannot be ${verb}: ${reason}. The journal is not affected. ${advice}`,
    { cause: error },
  );
}
