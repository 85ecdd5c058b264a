// Secrets without a form of their own, known by the word before them: headers, configuration, connection
// strings. The words are looked for first, the patterns tried only behind them.

import { matchAt } from "./match-at.ts";
import type { Needle } from "./scan.ts";

export function announcedNeedles(): Needle[] {
  return ANNOUNCED.flatMap(({ label, words, pattern }) =>
    words.map((text) => ({ text, spanAt: announcedSpan(label, pattern) })),
  );
}

function announcedSpan(label: string, pattern: RegExp): Needle["spanAt"] {
  return (text, at) => {
    const match = matchAt(pattern, text, at);
    if (match === null) return undefined;
    const end = at + match[0].length;
    return { start: end - (match[1] as string).length, end, label, known: false };
  };
}

interface Announcement {
  readonly label: string;
  /** Long ones: the shortest of them sets how fast a text can be skipped through. */
  readonly words: readonly string[];
  /** From the word on; the group, at the very end, is the secret. */
  readonly pattern: RegExp;
}

const ANNOUNCED: readonly Announcement[] = [
  {
    label: "authorization",
    words: ["Authorization", "authorization", "AUTHORIZATION"],
    pattern:
      /.{13}[\\"'\s:=,]{1,8}(?:[Bb]earer|BEARER|[Tt]oken)\s{1,3}((?=[A-Za-z._~+/-]{0,80}[0-9])[A-Za-z0-9._~+/=-]{8,})/y,
  },
  {
    label: "authorization",
    words: ["Authorization", "authorization", "AUTHORIZATION"],
    pattern: /.{13}[\\"'\s:=,]{1,8}[Bb]asic\s{1,3}((?=.[a-z]{0,80}[A-Z0-9=])[A-Za-z0-9+/=]{8,})/y,
  },
  {
    label: "aws_secret_key",
    words: ["SecretAccessKey", "secretAccessKey", "SECRET_ACCESS_KEY", "secret_access_key"],
    pattern:
      /[A-Za-z_]{15,17}[\\"'\s]{0,8}[:=>][\\"'\s]{0,8}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/y,
  },
  {
    label: "azure_key",
    words: ["DefaultEndpointsProtocol="],
    pattern:
      /DefaultEndpointsProtocol=https?;AccountName=[a-z0-9]{3,24};AccountKey=([A-Za-z0-9+/]{60,}={0,2})/y,
  },
];
