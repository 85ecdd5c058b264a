// The terminal in the state in which keys come one by one, for as long as it is held: given back when it is
// let go, when the process ends however it does, and while the process is stopped.

export interface HeldTerminalOptions {
  readonly stdin: NodeJS.ReadStream;
  readonly put: (text: string) => void;
  /** Ctrl-C from outside. */
  readonly interrupted: () => void;
  /** No one is there any more. */
  readonly hungUp: () => void;
  /** Before the terminal is lent to others, and after it has come back. */
  readonly lent: () => void;
  readonly returned: () => void;
  /** Before the process ends with the terminal still held. */
  readonly leaving: () => void;
}

export function holdTerminal(options: HeldTerminalOptions) {
  const { stdin, put, interrupted, hungUp, lent, returned, leaving } = options;
  let state: "held" | "lent" | "let_go" = "held";
  const terminated = (): void => endBy("SIGTERM");
  const listeners: readonly (readonly [NodeJS.Signals | "exit", () => void])[] = [
    ["SIGINT", interrupted],
    ["SIGHUP", hungUp],
    ["SIGTERM", terminated],
    ["SIGTSTP", suspend],
    ["SIGCONT", reclaim],
    ["exit", leaving],
  ];
  for (const [event, listener] of listeners) process.on(event, listener);
  take();
  return { suspend, endBy, letGo };

  /** Ctrl-Z: gives the terminal to the shell until that continues us. */
  function suspend(): void {
    if (state !== "held") return;
    lent();
    state = "lent";
    give();
    process.off("SIGTSTP", suspend);
    // All that was started together, as the terminal itself would. Without a shell nothing is stopped.
    process.kill(0, "SIGTSTP");
    setTimeout(() => {
      if (state === "lent") reclaim();
    }, NOT_STOPPED_MS);
  }

  /** Also after a stop no one could prepare for, in which the shell has changed the modes. */
  function reclaim(): void {
    if (state === "let_go") return;
    if (state === "held") give();
    else process.on("SIGTSTP", suspend);
    state = "held";
    take();
    returned();
  }

  /** Lets go and ends as the process would have without us. */
  function endBy(signal: NodeJS.Signals): void {
    leaving();
    letGo();
    // Someone else may have something to do before the end.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  }

  /** May be called twice. */
  function letGo(): void {
    if (state === "let_go") return;
    if (state === "held") give();
    state = "let_go";
    for (const [event, listener] of listeners) process.off(event, listener);
  }

  function take(): void {
    setRawMode(true);
    put(PASTE_IN_BRACKETS);
  }

  function give(): void {
    put(PASTE_AS_TYPED);
    setRawMode(false);
  }

  function setRawMode(isRaw: boolean): void {
    try {
      stdin.setRawMode(isRaw);
    } catch {
      // A terminal that is gone has no modes.
    }
  }
}

const PASTE_IN_BRACKETS = "\u001b[?2004h";
const PASTE_AS_TYPED = "\u001b[?2004l";
const NOT_STOPPED_MS = 100;
