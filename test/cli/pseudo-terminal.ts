// A command at a terminal, where this machine can make one: Python knows how. A conversation is what to wait
// for and what to type then.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";

export interface Exchange {
  /** Typed once this has appeared, after what was typed before. */
  readonly after: string;
  readonly type: string;
  /** The terminal goes away then: its window is closed, or someone says so. */
  readonly goes?: "closed" | "SIGHUP";
}

export interface TerminalEnd {
  /** 128 and the signal's number for one that was killed. */
  readonly code: number;
  /** Everything that was on the screen. */
  readonly screen: string;
}

export function canMakeTerminals(): boolean {
  try {
    execFileSync("python3", ["-c", "import pty"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

export async function atTerminal(
  argv: readonly string[],
  exchanges: readonly Exchange[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<TerminalEnd> {
  const told = JSON.stringify({ argv, exchanges });
  const child = spawn("python3", ["-c", DRIVER, told], {
    ...options,
    stdio: ["ignore", "pipe", "inherit"],
    // Its terminal goes with it, and what sits there is told so.
    timeout: LONGEST_MS,
    killSignal: "SIGKILL",
  });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  await once(child, "close");
  if (printed === "") throw new Error(`still at its terminal after ${LONGEST_MS} ms`);
  return JSON.parse(printed) as TerminalEnd;
}

const LONGEST_MS = 45_000;

const DRIVER = `
import json, os, pty, signal, sys
told = json.loads(sys.argv[1])
pid, fd = pty.fork()
if pid == 0:
    os.execvp(told["argv"][0], told["argv"])
screen, seen, waiting = b"", 0, list(told["exchanges"])
isThere = True
while isThere:
    try:
        chunk = os.read(fd, 65536)
    except OSError:
        break
    if not chunk:
        break
    screen += chunk
    while waiting:
        at = screen.find(waiting[0]["after"].encode(), seen)
        if at < 0:
            break
        seen = at + len(waiting[0]["after"].encode())
        exchange = waiting.pop(0)
        os.write(fd, exchange["type"].encode())
        if exchange.get("goes") == "closed":
            os.close(fd)
            isThere = False
            break
        if exchange.get("goes") == "SIGHUP":
            os.kill(pid, signal.SIGHUP)
_, status = os.waitpid(pid, 0)
code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
print(json.dumps({"code": code, "screen": screen.decode("utf8", "replace")}))
`;
