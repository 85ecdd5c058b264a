// Signals that end the process. Whoever listens ends what is under way first. An interrupt is not one of them: at a
// terminal it is Ctrl-C, which the terminal tells of.

const CODES: readonly (readonly [NodeJS.Signals, number])[] = [
  ["SIGHUP", 129],
  ["SIGTERM", 143],
];

/** Told once: a second signal ends the process as it would any other. */
export function onTermination(listener: (exitCode: number) => void): () => void {
  const handlers = CODES.map(([signal, code]) => {
    const handler = (): void => {
      stop();
      listener(code);
    };
    process.on(signal, handler);
    return [signal, handler] as const;
  });
  return stop;

  function stop(): void {
    for (const [signal, handler] of handlers) process.off(signal, handler);
  }
}
