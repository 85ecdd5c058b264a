// The artifacts of one session, wherever their bytes end up: on the way there they are in a directory of this machine.

import {
  ToolFailure,
  type ArtifactInput,
  type ArtifactRecord,
  type ArtifactStore,
  type ByteRange,
} from "@soong/core";
import type { ArtifactRows } from "./artifact-bytes.ts";
import {
  openArtifactSink,
  privateDirectory,
  writeArtifact,
  type ArtifactPlace,
} from "./artifact-sink.ts";
import { isArtifactId } from "./file-artifacts.ts";

export interface SessionStoreOptions {
  readonly session_id: string;
  readonly place: ArtifactPlace;
  readonly rows: Pick<ArtifactRows, "find" | "findContent">;
  readonly read: (record: ArtifactRecord, range: ByteRange | undefined) => Promise<Uint8Array>;
}

export function createSessionStore(options: SessionStoreOptions): ArtifactStore {
  const { session_id, place, rows, read } = options;
  /** Most sessions keep nothing: the directory is made for the first who does. */
  let made: Promise<string> | undefined;

  return {
    open(about) {
      refuseForeign(about);
      return openArtifactSink({ ...place, ready: ready() }, about);
    },
    async write(bytes, about) {
      refuseForeign(about);
      return writeArtifact({ ...place, ready: ready() }, bytes, about);
    },
    async read(artifact_id, range) {
      const record = isArtifactId(artifact_id) ? rows.find(artifact_id) : undefined;
      return record && read(record, range);
    },
    stat: async (artifact_id) => rows.find(artifact_id),
    find: async (content) => rows.findContent(content),
  };

  function ready(): Promise<string> {
    made ??= privateDirectory(place.directory);
    // A caller that waits for it gets the failure; without one it is no failure yet.
    made.catch(() => {});
    return made;
  }

  function refuseForeign(about: ArtifactInput): void {
    if (about.session_id === session_id) return;
    throw new ToolFailure({
      code: "artifact_of_another_session",
      message: `An artifact of session ${about.session_id} cannot be kept with session ${session_id}.`,
    });
  }
}
