// The store of a home, opened as its config says; a command that only looks works with a config that cannot be read.

import type { Store } from "@soong/store";
import { loadConfig, type SoongConfig } from "../config/index.ts";

export async function openHomeStore(
  home: string,
  given: { readonly readOnly?: boolean; readonly values?: SoongConfig } = {},
): Promise<Store> {
  const { readOnly = false } = given;
  const values =
    given.values ??
    (await loadConfig({ home }).then(
      (config) => config.values,
      () => undefined,
    ));
  const { openStore } = await import("@soong/store");
  const busyTimeoutMs = values?.store.busy_timeout_ms;
  return openStore({
    directory: home,
    readOnly,
    busyTimeoutMs,
  });
}
