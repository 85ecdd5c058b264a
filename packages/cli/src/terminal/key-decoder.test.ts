import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createKeyDecoder, type Key } from "./key-decoder.ts";

/** The names of the keys, or what they typed. */
function keysOf(...pieces: readonly (string | Uint8Array)[]): string[] {
  const decoder = createKeyDecoder();
  const keys = pieces.flatMap((piece) => decoder.push(Buffer.from(piece)));
  return [...keys, ...decoder.giveUp()].map(nameOf);
}

function nameOf(key: Key): string {
  if (key.kind === "text") return `text ${key.text}`;
  return key.kind === "paste" ? `paste ${key.text}` : key.kind;
}

describe("keys", () => {
  it.each([
    ["up", ["\u001b[A", "\u001bOA", "\u001b[1;2A", "\u001b[1;5A", "\u0010"]],
    ["down", ["\u001b[B", "\u001bOB", "\u000e"]],
    ["left", ["\u001b[D", "\u001bOD", "\u001b[1;2D", "\u0002"]],
    ["right", ["\u001b[C", "\u001bOC", "\u001b[1;1C", "\u0006"]],
    ["word_left", ["\u001b[1;5D", "\u001b[1;3D", "\u001bb", "\u001b\u001b[D", "\u001bOd"]],
    ["word_right", ["\u001b[1;5C", "\u001b[1;3C", "\u001bf", "\u001b\u001bOC", "\u001bO5C"]],
    ["line_start", ["\u001b[H", "\u001bOH", "\u001b[1~", "\u001b[7~", "\u0001", "\u001b[1;5H"]],
    ["line_end", ["\u001b[F", "\u001bOF", "\u001b[4~", "\u001b[8~", "\u0005"]],
    ["delete", ["\u001b[3~", "\u001b[3;2~"]],
    ["backspace", ["\u007f", "\u0008"]],
    ["cut_word_left", ["\u0017", "\u001b\u007f", "\u001b\u0008"]],
    ["cut_word_right", ["\u001bd", "\u001b[3;5~"]],
    ["cut_to_line_start", ["\u0015"]],
    ["cut_to_line_end", ["\u000b"]],
    ["put_back", ["\u0019"]],
    ["enter", ["\r", "\u001bOM", "\u001b[13u", "\u001b[13;1u"]],
    ["newline", ["\n", "\u001b\r", "\u001b\n", "\u001b[13;2u", "\u001b[27;5;13~"]],
    ["tab", ["\t"]],
    ["escape", ["\u001b", "\u001b\u001b"]],
    ["show_output", ["\u000f"]],
    ["show_raw", ["\u001bm"]],
    ["next_mode", ["\u001b[Z", "\u001b[1;2Z"]],
    ["clear_screen", ["\u000c"]],
    ["interrupt", ["\u0003"]],
    ["end_of_input", ["\u0004"]],
    ["suspend", ["\u001a"]],
  ])("%s, however the terminal sends it", (name, sequences) => {
    for (const sequence of sequences) {
      expect(keysOf(sequence), JSON.stringify(sequence)).toEqual([name]);
      expect(keysOf(...sequence.split("")), JSON.stringify(sequence)).toEqual([name]);
    }
  });

  it("are text, however the bytes are split", () => {
    const bytes = Buffer.from("aé日👍🏽");
    const decoder = createKeyDecoder();
    const keys = Array.from(bytes, (byte) => decoder.push(Uint8Array.of(byte))).flat();
    expect(keys.map((key) => (key.kind === "text" ? key.text : key.kind)).join("")).toBe("aé日👍🏽");
    expect(keysOf(Uint8Array.of(0xff, 0x61))).toEqual(["text \ufffda"]);
  });

  it("are nothing where the sequence is unknown, and what follows is not part of it", () => {
    for (const sequence of [
      "\u001b[5~",
      "\u001b[24~",
      "\u001b[15;5~",
      "\u001b[[A",
      "\u001b[2~",
      "\u001bOP",
      // Answers and reports: attributes, the cursor, the focus, mice, colours, names.
      "\u001b[?1;2c",
      "\u001b[12;40R",
      "\u001b[I",
      "\u001b[O",
      "\u001b[<0;10;10M",
      "\u001b[97;5u",
      "\u001b]11;rgb:0/0/0\u0007",
      "\u001bP1$r0m\u001b\\",
      "\u001b_G\u001b\\",
      "\u001bx",
      "\u001b日",
      "\u0000",
      "\u001c",
      "\u0085",
    ]) {
      expect(keysOf(`${sequence}a`), JSON.stringify(sequence)).toEqual(["text a"]);
      expect(keysOf(...`${sequence}a`.split("")), JSON.stringify(sequence)).toEqual(["text a"]);
    }
  });

  it("are given up when a sequence is never completed, and never swallow Ctrl-C", () => {
    for (const begun of [
      "\u001b[",
      "\u001b[1;",
      "\u001bO",
      "\u001b]0;x",
      "\u001bP",
      "\u001b[[",
      "\u001b\u001b[",
    ]) {
      const decoder = createKeyDecoder();
      expect(decoder.push(Buffer.from(begun)), JSON.stringify(begun)).toEqual([]);
      expect(decoder.isWaiting).toBe(true);
      expect(decoder.giveUp()).toEqual([]);
      expect(decoder.isWaiting).toBe(false);
      expect(decoder.push(Buffer.from("b")).map(nameOf)).toEqual(["text b"]);
      expect(keysOf(`${begun}\u0003`).at(-1), JSON.stringify(begun)).toBe("interrupt");
    }
    expect(keysOf("\u001b\u0003")).toEqual(["escape", "interrupt"]);
    expect(keysOf("\u001b\u001bq")).toEqual(["escape"]);
    expect(keysOf("\u001b[1\u001b[A")).toEqual(["up"]);
    expect(keysOf(`\u001b[${"1".repeat(100)}`, "a")).toEqual(["text a"]);
  });

  it("are one text when they are pasted, no matter what is in it", () => {
    const paste = "one\rtwo\r\nthree\u001b[A\u0003\u001b";
    const sent = `a\u001b[200~${paste}\u001b[201~b`;
    const expected = ["text a", "paste one\ntwo\nthree\u001b[A\u0003\u001b", "text b"];
    expect(keysOf(sent)).toEqual(expected);
    for (let at = 1; at < sent.length; at += 1) {
      expect(keysOf(sent.slice(0, at), sent.slice(at)), `${at}`).toEqual(expected);
    }
  });

  it("are handed on from a paste that is long, and from one that stops, without its end getting lost", () => {
    const decoder = createKeyDecoder();
    const push = (text: string): string[] => decoder.push(Buffer.from(text)).map(nameOf);
    const long = "x".repeat(70_000);
    expect(push(`\u001b[200~${long}\r`)).toEqual([`paste ${long}`]);
    expect(push("\nyes")).toEqual([]);
    expect(decoder.giveUp().map(nameOf)).toEqual(["paste \nyes"]);
    expect(push("no\u001b[20")).toEqual([]);
    expect(decoder.giveUp().map(nameOf)).toEqual(["paste no"]);
    expect(push("1~\r")).toEqual(["paste ", "enter"]);
  });

  it("come back after a paste whose end got lost: Ctrl-C is Ctrl-C", () => {
    expect(keysOf("\u001b[200~abc", "\u0003", "d")).toEqual(["interrupt", "text d"]);
  });

  it("are the same however the bytes are split, and the text of a paste is never a key", () => {
    const part = fc.constantFrom(
      "a",
      "é",
      "日",
      "\r",
      "\n",
      "\u007f",
      "\u001b[A",
      "\u001b[1;5C",
      "\u001bOH",
      "\u001b\r",
      "\u001b[200~p\rq\u001b[201~",
      "\u001b[5~",
      "\u001b]0;t\u0007",
    );
    fc.assert(
      fc.property(fc.array(part), fc.array(fc.nat({ max: 20 })), (parts, cuts) => {
        const bytes = Buffer.from(parts.join(""));
        const decoder = createKeyDecoder();
        const keys: Key[] = [];
        let at = 0;
        for (const size of [...cuts, bytes.length]) {
          keys.push(...decoder.push(bytes.subarray(at, at + size)));
          at += size;
        }
        expect(joined(keys)).toEqual(joined(createKeyDecoder().push(bytes)));
      }),
    );
  });

  it("survive any bytes", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 12 })), (pieces) => {
        const decoder = createKeyDecoder();
        for (const piece of pieces) decoder.push(piece);
        decoder.giveUp();
        decoder.push(Uint8Array.of(0x18));
        expect(decoder.push(Buffer.from("\u0003")).map(nameOf).at(-1)).toBe("interrupt");
      }),
    );
  });
});

/** How a text is cut into pieces is no one's business. */
function joined(keys: readonly Key[]): string {
  return keys.map(nameOf).join("|").replaceAll("|text ", "").replaceAll("text ", "");
}
