// How a command would run, for the user who is asked and for `explain` (CMD-6): the same words at terminals, in the inspector
// and in the gateway. All of it is escaped (PERM-19), and a request of another version is no reason to fail.

import { asRecord } from "@soong/schema";
import { exactLine, visibleLine } from "../result/visible.ts";
import type { PlannedSandbox } from "../tool/index.ts";
import { placeText } from "./question-text.ts";

interface Shown {
  readonly sandbox?: PlannedSandbox | undefined;
  readonly project?: string | undefined;
}

/**
 * Such as `Sandbox: writes in . only, network closed, 3 paths masked`; undefined where nothing is known. `most` places or hosts are
 * named; all of them where `listSandbox` is not at hand.
 */
export function describeSandbox(
  { sandbox, project }: Shown,
  most: number = MOST_LISTED,
): string | undefined {
  switch (sandbox?.state) {
    case "applied": {
      const { roots, masked, more, hosts } = readLimits(sandbox);
      const places = roots.map((root) => placeText({ project }, root));
      const written =
        places.length === 0 ? "writes nowhere" : `writes in ${listed(places, most)} only`;
      const reached =
        hosts.length === 0 ? "closed" : `open to ${listed(hosts.map(exactLine), most)}`;
      const closed = masked.length + more;
      const paths = closed === 0 ? "" : `, ${closed} ${closed === 1 ? "path" : "paths"} masked`;
      return `Sandbox: ${written}, network ${reached}${paths}`;
    }
    case "off":
      // What the user switched off for all commands is not said with each.
      if (sandbox.by === "sandbox.mode") return undefined;
      return `Outside the sandbox (${visibleLine(sandbox.by)})`;
    case "missing":
      return `No sandbox: ${visibleLine(sandbox.why)}`;
    case undefined:
      return undefined;
  }
}

/** What that line only counts or shortens, a line each. */
export function listSandbox({ sandbox, project }: Shown): string[] {
  if (sandbox?.state !== "applied") return [];
  const { roots, masked, more, hosts } = readLimits(sandbox);
  const place = (path: string): string => placeText({ project }, path);
  return [
    ...roots.map((root) => `writes in ${place(root)}`),
    ...hosts.map((host) => `network open to ${exactLine(host)}`),
    ...masked.map((path) => `masked: ${place(path)}`),
    ...(more === 0 || masked.length === 0 ? [] : [`masked: ${more} more`]),
  ];
}

const MOST_LISTED = 3;

function listed(items: readonly string[], most: number): string {
  const more = items.length - most;
  return more > 0 ? `${items.slice(0, most).join(", ")} and ${more} more` : items.join(", ");
}

function readLimits(limits: Extract<PlannedSandbox, { state: "applied" }>) {
  const { masked_more } = limits;
  return {
    roots: textsOf(limits.roots),
    masked: textsOf(limits.masked),
    more: typeof masked_more === "number" ? masked_more : 0,
    hosts: textsOf(asRecord(limits.network)["hosts"]),
  };
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
