// Bytes kept outside the conversation (ART-1): the record of an artifact, the store behind which a disk
// or a database is, and the store in memory. Bytes are kept raw; readers redact.

import { isHighSurrogate, omitUndefined } from "@soong/schema";
import { sha256Hex, ToolFailure, utf8Bytes, type ArtifactDescription } from "../tool/index.ts";
import type { Clock, IdSource } from "./ports.ts";

export interface ArtifactRecord {
  artifact_id: string;
  sha256: string;
  media_type: string;
  /** In bytes. */
  size: number;
  name?: string;
  session_id: string;
  run_id: string;
  /** The call that produced it. */
  tool_call_id?: string;
  created_at: string;
  retention?: string;
}

export interface ArtifactInput extends ArtifactDescription {
  session_id: string;
  run_id: string;
  tool_call_id?: string;
  retention?: string;
  /** Of a text that is written again and again: a store need not find it out each time. */
  known?: TextMeasures;
}

export interface TextMeasures {
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
}

export interface ByteRange {
  offset: number;
  length: number;
}

export interface ArtifactStore {
  write(bytes: string | Uint8Array, about: ArtifactInput): Promise<ArtifactRecord>;
  /** For bytes that arrive piece by piece. Nothing can be read of them before `close`. */
  open(about: ArtifactInput): ArtifactStoreSink;
  /** What there is of the range, which may reach past the end; undefined for an unknown artifact. */
  read(artifact_id: string, range?: ByteRange): Promise<Uint8Array | undefined>;
  stat(artifact_id: string): Promise<ArtifactRecord | undefined>;
  /** One of this session with that content. A store need not know. */
  find?(content: TextMeasures): Promise<ArtifactRecord | undefined>;
}

/** After `close`, `discard` or a failure to write, nothing more is taken. */
export interface ArtifactStoreSink {
  write(bytes: string | Uint8Array): Promise<void>;
  close(): Promise<ArtifactRecord>;
  /** Gives up what was written. May be called twice; does nothing after `close`. */
  discard(): Promise<void>;
}

export interface MemoryArtifactsOptions {
  /** Of all artifacts together, unfinished ones included. Default: 256 MiB. */
  maxBytes?: number;
  /** Default: a counter and the first digits of the content's hash. */
  ids?: IdSource;
  clock?: Pick<Clock, "now">;
}

export interface MemoryArtifacts extends ArtifactStore {
  /** Oldest first. */
  list(): ArtifactRecord[];
}

const DEFAULT_MAX_BYTES = 256 * 1024 * 1024;

/** An artifact store in memory, bounded by `maxBytes`. */
export function createMemoryArtifacts(options: MemoryArtifactsOptions = {}): MemoryArtifacts {
  const { maxBytes = DEFAULT_MAX_BYTES, ids, clock = Date } = options;
  const kept = new Map<string, { record: ArtifactRecord; held: Held }>();
  let used = 0;
  let count = 0;

  return {
    async write(bytes, about) {
      const { known } = about;
      if (typeof bytes === "string" && known !== undefined) return add(bytes, known, about);
      // Of bytes a copy: a caller may use its buffer again.
      const copy = typeof bytes === "string" ? utf8Bytes(bytes) : bytes.slice();
      return add(copy, measureBytes(copy), about);
    },
    open,
    async read(artifact_id, range) {
      const found = kept.get(artifact_id);
      if (found === undefined) return undefined;
      if (typeof found.held === "string") found.held = utf8Bytes(found.held);
      // A copy: an artifact is what its hash says, no matter what a reader does with the bytes.
      return range === undefined ? found.held.slice() : part(found.held, range);
    },
    stat: async (artifact_id) => kept.get(artifact_id)?.record,
    list: () => Array.from(kept.values(), ({ record }) => record),
  };

  function add(held: Held, measures: TextMeasures, about: ArtifactInput): ArtifactRecord {
    if (used + measures.size > maxBytes) throw storeFull(maxBytes);
    used += measures.size;
    return keep(held, measures, about);
  }

  function keep(held: Held, { sha256, size }: TextMeasures, about: ArtifactInput): ArtifactRecord {
    const { media_type, name, session_id, run_id, tool_call_id, retention } = about;
    count += 1;
    const record: ArtifactRecord = Object.freeze(
      omitUndefined({
        artifact_id: ids?.next("art") ?? `art_${count}_${sha256.slice(0, 12)}`,
        sha256,
        media_type,
        size,
        name,
        session_id,
        run_id,
        tool_call_id,
        created_at: new Date(clock.now()).toISOString(),
        retention,
      }),
    );
    kept.set(record.artifact_id, { record, held });
    return record;
  }

  function open(about: ArtifactInput): ArtifactStoreSink {
    const described = { ...about };
    let buffer = new Uint8Array(0);
    let size = 0;
    let state: "open" | "closed" | "discarded" | "failed" = "open";
    /** Half of a character whose other half comes with the next piece of text. */
    let heldBack = "";

    return {
      async write(bytes) {
        refuseUnlessOpen();
        if (typeof bytes === "string") {
          const text = heldBack + bytes;
          heldBack = isHighSurrogate(text.charCodeAt(text.length - 1)) ? text.slice(-1) : "";
          append(utf8Bytes(heldBack === "" ? text : text.slice(0, -1)));
        } else {
          flush();
          append(bytes);
        }
      },
      async close() {
        refuseUnlessOpen();
        flush();
        state = "closed";
        const held = buffer.length === size ? buffer : buffer.slice(0, size);
        buffer = new Uint8Array(0);
        return keep(held, measureBytes(held), described);
      },
      async discard() {
        if (state === "open") release("discarded");
      },
    };

    function flush(): void {
      const text = heldBack;
      heldBack = "";
      if (text !== "") append(utf8Bytes(text));
    }

    function append(bytes: Uint8Array): void {
      if (used + bytes.length > maxBytes) {
        release("failed");
        throw storeFull(maxBytes);
      }
      if (size + bytes.length > buffer.length) {
        const grown = new Uint8Array(Math.min(maxBytes, Math.max(2 * size, size + bytes.length)));
        grown.set(buffer.subarray(0, size));
        buffer = grown;
      }
      // `set` copies, so a caller may reuse its buffer.
      buffer.set(bytes, size);
      size += bytes.length;
      used += bytes.length;
    }

    function release(as: "discarded" | "failed"): void {
      state = as;
      used -= size;
      size = 0;
      buffer = new Uint8Array(0);
    }

    function refuseUnlessOpen(): void {
      if (state === "failed") throw storeFull(maxBytes);
      if (state !== "open") {
        throw new ToolFailure({
          code: "artifact_sink_closed",
          message: `This artifact is already ${state}; nothing can be added to it.`,
        });
      }
    }
  }
}

/** A text whose measures are known stays one until it is read. */
type Held = string | Uint8Array;

function measureBytes(bytes: Uint8Array): TextMeasures {
  return { sha256: sha256Hex(bytes), size: bytes.length };
}

function part(bytes: Uint8Array, { offset, length }: ByteRange): Uint8Array {
  const start = clamp(offset, bytes.length);
  return bytes.slice(start, start + clamp(length, bytes.length - start));
}

function clamp(value: number, most: number): number {
  return Number.isNaN(value) ? 0 : Math.min(Math.max(0, Math.floor(value)), most);
}

function storeFull(maxBytes: number): ToolFailure {
  return new ToolFailure({
    code: "artifact_store_full",
    error_class: "result_too_large",
    message: `There is no room left for this artifact: all artifacts together may hold ${maxBytes} bytes.`,
    recovery: "change_arguments",
  });
}
