// What a command says, as text instead: for a screen that has other things on it, too.

import { Writable } from "node:stream";
import { createOutput, type Output } from "../output/index.ts";

export async function collectedOutput(
  columns: number,
  env: Readonly<Record<string, string | undefined>>,
  say: (output: Output) => void,
): Promise<string> {
  let text = "";
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      text += chunk;
      done();
    },
  });
  const output = createOutput(Object.assign(stream, { isTTY: true, columns }), stream, env);
  say(output);
  await output.drained();
  return text.trimEnd();
}
