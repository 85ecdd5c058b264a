// One thing the doctor looked at.

export interface Finding {
  readonly state: "ok" | "warn" | "fail";
  readonly about: string;
  readonly says: string;
  /** What to do about it. */
  readonly next?: string;
}
