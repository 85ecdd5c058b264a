// The file that is written beside its target and then takes its place: its bytes and its rights. What a
// killed process left behind of this kind is `leftover.ts`.

import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open, unlink } from "node:fs/promises";

import type { VerifiedDirectory } from "./open-directory.ts";
import { errnoOf } from "@soong/platform";
import { temporaryName } from "./temporary-name.ts";

export interface TemporaryFile {
  /** The path to it through its directory's handle. */
  readonly path: string;
  readonly handle: FileHandle;
  /** Closes it and removes its name, if that is still there. */
  discard(): Promise<void>;
}

export interface Rights {
  /** The file to be replaced. */
  readonly like: BigIntStats | undefined;
  /** Overrides the permission bits. */
  readonly mode: number | undefined;
}

/** Its bytes are on the disk when this returns. */
export async function writeTemporaryFile(
  directory: VerifiedDirectory,
  target: string,
  bytes: Uint8Array,
  rights: Rights,
): Promise<TemporaryFile> {
  const path = directory.entry(temporaryName(target));
  // A new file gets the rights that the umask and the directory give to any; the others are private
  // until theirs are set.
  const isPlain = rights.like === undefined && rights.mode === undefined;
  const handle = await open(path, CREATE_NEW, isPlain ? 0o666 : 0o600);
  const discard = async (): Promise<void> => {
    await unlink(path).catch(() => undefined);
    await handle.close();
  };
  try {
    await handle.writeFile(bytes);
    if (!isPlain) {
      await setRights(handle, rights);
    }
    await handle.sync();
    return { path, handle, discard };
  } catch (error) {
    await discard();
    throw error;
  }
}

const CREATE_NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Set-user-id, set-group-id and sticky bits are dropped: they vouched for the old bytes. */
async function setRights(handle: FileHandle, { like, mode }: Rights): Promise<void> {
  const bits = (mode ?? Number(like?.mode ?? 0n)) & 0o777;
  const isGroupKept = like === undefined || (await keepOwner(handle, like));
  await handle.chmod(isGroupKept ? bits : withoutGroup(bits));
}

/** Owner and group where we may, else the group alone. False: another group has the file now. */
async function keepOwner(handle: FileHandle, like: BigIntStats): Promise<boolean> {
  const own = await handle.stat({ bigint: true });
  if (own.uid === like.uid && own.gid === like.gid) {
    return true;
  }
  return (await gave(handle, like.uid, like.gid)) || (await gave(handle, own.uid, like.gid));
}

async function gave(handle: FileHandle, uid: bigint, gid: bigint): Promise<boolean> {
  try {
    await handle.chown(Number(uid), Number(gid));
    return true;
  } catch (error) {
    const errno = errnoOf(error);
    // EINVAL: the id means nothing in this user namespace.
    if (errno === "EPERM" || errno === "EINVAL") {
      return false;
    }
    throw error;
  }
}

/** What the old group might do is no business of the new one, beyond what everybody may. */
function withoutGroup(bits: number): number {
  return bits & (0o707 | ((bits & 0o007) << 3));
}
