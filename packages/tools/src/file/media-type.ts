// What kind of file some bytes begin: by their content, never by a name. Only for files that are no text.

/** The type of what begins with these bytes; `application/octet-stream` where nothing is known of it. */
export function detectMediaType(head: Buffer): string {
  const start = head.toString("latin1", 0, 512);
  const known = BEGINNINGS.find(([, beginning]) => begins(start, beginning));
  return known?.[0] ?? "application/octet-stream";
}

/** What model providers take. */
export function isShownImage(media_type: string): boolean {
  return ["image/png", "image/jpeg", "image/gif", "image/webp"].includes(media_type);
}

/** Byte for byte as Latin-1; a question mark is any byte. */
const BEGINNINGS: readonly (readonly [media_type: string, beginning: string])[] = [
  ["image/png", "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", "\xff\xd8\xff"],
  ["image/gif", "GIF87a"],
  ["image/gif", "GIF89a"],
  ["image/webp", "RIFF????WEBP"],
  ["image/bmp", "BM"],
  ["image/tiff", "II*\0"],
  ["image/tiff", "MM\0*"],
  ["image/x-icon", "\0\0\x01\0"],
  ["application/pdf", "%PDF-"],
  ["application/zip", "PK\x03\x04"],
  ["application/gzip", "\x1f\x8b"],
  ["application/zstd", "\x28\xb5\x2f\xfd"],
  ["application/x-bzip2", "BZh"],
  ["application/x-xz", "\xfd7zXZ\0"],
  ["application/x-7z-compressed", "7z\xbc\xaf\x27\x1c"],
  ["application/x-tar", `${"?".repeat(257)}ustar`],
  ["application/x-executable", "\x7fELF"],
  ["application/x-mach-binary", "\xcf\xfa\xed\xfe"],
  ["application/vnd.microsoft.portable-executable", "MZ"],
  ["application/java-vm", "\xca\xfe\xba\xbe"],
  ["application/wasm", "\0asm"],
  ["application/vnd.sqlite3", "SQLite format 3\0"],
  ["audio/wav", "RIFF????WAVE"],
  ["audio/mpeg", "ID3"],
  ["audio/ogg", "OggS"],
  ["audio/flac", "fLaC"],
  ["video/mp4", "????ftyp"],
  ["video/x-matroska", "\x1a\x45\xdf\xa3"],
  ["font/woff2", "wOF2"],
  ["font/woff", "wOFF"],
  ["font/ttf", "\0\x01\0\0"],
];

function begins(start: string, beginning: string): boolean {
  for (let at = 0; at < beginning.length; at += 1) {
    if (beginning[at] !== "?" && beginning[at] !== start[at]) return false;
  }
  return true;
}
