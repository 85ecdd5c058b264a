// Spans that wait to be sent, as JSON: bounded in number and size. The oldest are dropped first, and counted.

const MOST_SPANS = 2048;
const MOST_CHARS = 8 * 1024 * 1024;

export class SpanQueue {
  readonly #spans: string[] = [];
  #chars = 0;
  #dropped = 0;

  get size(): number {
    return this.#spans.length;
  }

  /** Spans that found no place. */
  get dropped(): number {
    return this.#dropped;
  }

  add(span: string): void {
    this.#spans.push(span);
    this.#chars += span.length;
    while (this.#spans.length > MOST_SPANS || this.#chars > MOST_CHARS) {
      this.#chars -= this.#spans.shift()?.length ?? 0;
      this.#dropped += 1;
    }
  }

  /** The oldest, at most so many, with at most so many characters unless the first alone has more. */
  take(most: number, mostChars: number): readonly string[] {
    let count = 0;
    let chars = 0;
    while (count < Math.min(most, this.#spans.length)) {
      const length = this.#spans[count]?.length ?? 0;
      if (count > 0 && chars + length > mostChars) break;
      chars += length;
      count += 1;
    }
    this.#chars -= chars;
    return this.#spans.splice(0, count);
  }

  clear(): number {
    const { length } = this.#spans.splice(0);
    this.#chars = 0;
    return length;
  }
}
