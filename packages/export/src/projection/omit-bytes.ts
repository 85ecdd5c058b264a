// Results without the bytes of images, sound and files: those are for the model, and an export names them only.

import { readList, readRecord, type UncheckedRecord } from "./read-fields.ts";

/** The list itself where no block has bytes. Else `size`, in bytes, is in their place. */
export function omitBytes(value: unknown): readonly unknown[] {
  const blocks = readList(value);
  return blocks.some(hasBytes) ? blocks.map(omitBlockBytes) : blocks;
}

/** The same of the data of a fact, which may have a result; the data itself where nothing is omitted. */
export function omitResultBytes(data: unknown): unknown {
  const { result } = readRecord(data);
  const { content } = readRecord(result);
  const kept = omitBytes(content);
  if (kept.length === 0 || kept === content) return data;
  return { ...readRecord(data), result: { ...readRecord(result), content: kept } };
}

/** Whether a block holds bytes as base64, as images, sound and resources may. */
export function hasBytes(block: unknown): boolean {
  return findBytes(readRecord(block)) !== undefined;
}

function omitBlockBytes(block: unknown): unknown {
  const record = readRecord(block);
  const bytes = findBytes(record);
  if (bytes === undefined) return block;
  const { data: _data, blob: _blob, ...rest } = record;
  return { ...rest, size: countBytes(bytes) };
}

function findBytes({ type, data, blob }: UncheckedRecord): string | undefined {
  const bytes =
    type === "resource" ? blob : type === "image" || type === "audio" ? data : undefined;
  return typeof bytes === "string" ? bytes : undefined;
}

function countBytes(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.floor(((base64.length - padding) * 3) / 4);
}
