// Packages that are optional, because each engine needs others: loaded on use, and named when they are missing.

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
    // A package that is there but lacks one of its own is another matter.
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
