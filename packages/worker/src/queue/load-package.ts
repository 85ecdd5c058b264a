// Loads optional packages on use: each engine needs others. An error names a missing one.

import { QueueError } from "./queue-error.ts";

export async function loadPackage<Loaded>(
  name: string,
  version: string,
  load: () => Promise<Loaded>,
): Promise<Loaded> {
  try {
    return await load();
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
    // If a dependency of the package is missing, the original error is better.
    const isMissing =
      (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") &&
      String(message).includes(`'${name}'`);
    if (!isMissing) throw error;
    throw new QueueError(
      "queue_package",
      `The job queue needs the package ${name}. Install ${name} ${version} beside Soong: npm install ${name}@${version}`,
    );
  }
}
