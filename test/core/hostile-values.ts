// Values and functions that do their worst: for the tests of what the kernel is handed.

export const forever = (): Promise<never> => new Promise(() => {});

export const boom = (): never => {
  throw new Error("boom");
};

export function cyclic(): object {
  const value: { self?: object } = {};
  value.self = value;
  return value;
}

/** Throws whatever is asked of it, its prototype included. */
export function throwingProxy(target: object): object {
  return new Proxy(target, { get: boom, getPrototypeOf: boom, has: boom, ownKeys: boom });
}

export function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

export function nested(levels: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i += 1) value = wrap(value);
  return value;
}

type Then = (take: (value: unknown) => void, fail: (error: Error) => void) => void;

/** The target as a promise of someone else's making. */
export function withThen<T extends object>(target: T, then: Then): T {
  // oxlint-disable-next-line unicorn/no-thenable
  return Object.defineProperty(target, "then", { value: then, enumerable: true });
}

export function withThrowingThen(): object {
  // oxlint-disable-next-line unicorn/no-thenable
  return Object.defineProperty({}, "then", { get: boom, enumerable: true });
}

/** Answers with itself again and again, and at last not at all. */
export function answersWithItself(): object {
  let left = 1000;
  const value: object = withThen({}, (take) => {
    left -= 1;
    if (left > 0) queueMicrotask(() => take(value));
  });
  return value;
}
