// The devices of /dev inside. Bubblewrap mounts those of the machine, and root, who owns them, could take them from everyone by
// changing their mode. So root gets some of its own. An ordinary user can change neither.

import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";

export interface OwnDevices {
  /** A descriptor of /dev/null, for a stream that no one reads or writes. */
  readonly empty: number;
  /** Arguments of bubblewrap. */
  readonly mounts: readonly string[];
  close(): void;
}

const DEVICES = { null: 3, zero: 5, full: 7, random: 8, urandom: 9 };

/** Where the tools of the system are. */
export const SYSTEM_PATH = "/usr/bin:/bin:/usr/sbin:/sbin:/run/current-system/sw/bin";

/** In a new directory of this name. Where devices cannot be made or do not work, as in some containers, those of the machine are used. */
export function openDevices(directory: string): OwnDevices {
  const own = process.geteuid?.() === 0 ? makeDevices(directory) : undefined;
  const empty = own?.empty ?? openSync("/dev/null", "r+");
  return { empty, mounts: own?.mounts ?? [], close: () => closeSync(empty) };
}

function makeDevices(directory: string): Omit<OwnDevices, "close"> | undefined {
  const made = Object.entries({ ...DEVICES }).map(
    ([name, minor]) => `mknod -m 666 ${name} c 1 ${minor}`,
  );
  const script = [...made, "mknod -m 666 tty c 5 0"].join(" && ");
  mkdirSync(directory);
  const env = { PATH: SYSTEM_PATH };
  const { status } = spawnSync("/bin/sh", ["-c", script], { cwd: directory, env, stdio: "ignore" });
  if (status !== 0) return undefined;
  try {
    const mounts = [...Object.keys(DEVICES), "tty"].flatMap((name) => [
      "--dev-bind",
      join(directory, name),
      `/dev/${name}`,
    ]);
    return { empty: openSync(join(directory, "null"), "r+"), mounts };
  } catch {
    // The file system takes no devices (nodev).
    return undefined;
  }
}
