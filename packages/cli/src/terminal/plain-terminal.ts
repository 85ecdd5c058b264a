// A terminal that can only continue on the next line (TERM=dumb): text as it comes, whole lines as the terminal
// hands them over with its own editing, and nothing that changes in place.

import { StringDecoder } from "node:string_decoder";
import { coloursFor, visibleLine } from "../output/index.ts";
import { onlyColours } from "./styled-text.ts";
import {
  createOneRead,
  type Choice,
  type PressedKey,
  type Stoppable,
  type Terminal,
  type TerminalStreams,
  type Typed,
} from "./terminal.ts";

interface LineRead extends Stoppable {
  line(text: string): void;
}

export function openPlainTerminal({ stdin, stdout, env }: TerminalStreams): Terminal {
  const utf8 = new StringDecoder("utf8");
  const oneRead = createOneRead<LineRead>(() => {
    close();
    if (process.listenerCount("SIGINT") === 0) process.kill(process.pid, "SIGINT");
  });
  let received = "";
  let early: string[] = [];
  let isLineOpen = false;
  let isClosed = false;
  let isWritable = true;

  // Stays: what a terminal that is gone has to say may come after the last word.
  stdout.on("error", () => {
    isWritable = false;
    oneRead.lost();
  });
  stdin.on("data", decode).on("end", hungUp).on("error", hungUp).on("close", hungUp);
  stdin.resume();
  process.on("SIGINT", interrupted).on("SIGHUP", hungUp);

  return {
    get columns() {
      return stdout.columns > 0 ? stdout.columns : 80;
    },
    colours: coloursFor(stdout, env),
    write,
    print,
    live() {},
    hasScreen: false,
    pin() {},
    readInput({ prompt, initial = "", signal }) {
      const aborted = { kind: "aborted", text: initial } as const;
      const typed = oneRead.begin<Typed>(signal, aborted, (done) => {
        let text = initial;
        endLine();
        write(prompt + initial);
        return {
          line(more) {
            isLineOpen = false;
            text += more;
            if (!text.endsWith("\\")) return done({ kind: "text", text });
            text = `${text.slice(0, -1)}\n`;
          },
          stop(why) {
            endLine();
            done(why === "end" ? { kind: "end" } : { kind: why, text });
          },
        };
      });
      early.splice(0).forEach(lineCame);
      return typed;
    },
    readKey: ({ question, keys, signal }) =>
      oneRead.begin<PressedKey>(signal, { kind: "aborted" }, (done) => {
        endLine();
        write(question);
        return {
          line(text) {
            isLineOpen = false;
            const key = text.trim().charAt(0).toLowerCase();
            if (keys.includes(key)) done({ kind: "key", key });
            else write(question);
          },
          stop(why) {
            endLine();
            done({ kind: why });
          },
        };
      }),
    readChoice: ({ title, items, signal }) =>
      oneRead.begin<Choice>(signal, { kind: "aborted" }, (done) => {
        const lines = items.map(({ label, hint = "" }, at) =>
          visibleLine(`${at + 1} ${label}${hint === "" ? "" : `  ${hint}`}`),
        );
        print([title, ...lines].join("\n"));
        const question = "Number, or nothing to leave it: ";
        write(question);
        return {
          line(text) {
            isLineOpen = false;
            const index = Number(text) - 1;
            if (text.trim() === "") done({ kind: "cancelled" });
            else if (items[index] !== undefined) done({ kind: "chosen", index });
            else write(question);
          },
          stop(why) {
            endLine();
            done({ kind: why });
          },
        };
      }),
    onInterrupt: (listener) => oneRead.onInterrupt(listener),
    onShortcut: () => () => {},
    close,
  };

  function write(text: string): void {
    if (text === "" || !isWritable || isClosed) return;
    isLineOpen = !text.endsWith("\n");
    stdout.write(onlyColours(text));
  }

  function print(text: string): void {
    endLine();
    write(text.endsWith("\n") ? text : `${text}\n`);
  }

  function endLine(): void {
    if (isLineOpen) write("\n");
  }

  function decode(bytes: Buffer): void {
    const [first = "", ...others] = utf8.write(bytes).split(/\r?\n/);
    received += first;
    for (const next of others) {
      const line = received;
      received = next;
      lineCame(line);
    }
  }

  function lineCame(line: string): void {
    if (oneRead.current !== undefined) oneRead.current.line(line);
    else if (early.length < MOST_EARLY) early.push(line);
  }

  function interrupted(): void {
    early = [];
    oneRead.interrupted();
  }

  function hungUp(): void {
    oneRead.lost();
  }

  function close(): void {
    if (isClosed) return;
    oneRead.close();
    endLine();
    isClosed = true;
    stdin.off("data", decode).off("end", hungUp).off("close", hungUp).pause();
    process.off("SIGINT", interrupted).off("SIGHUP", hungUp);
  }
}

/** Lines typed before a read began. */
const MOST_EARLY = 1000;
