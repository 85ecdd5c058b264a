// The string formats we enforce, each in time linear to the text and without the host's Date or URL.
// Any other format is an annotation: said to the model, not checked.

type Format = {
  readonly validate: (text: string) => boolean;
  /** For the message that asks a model to try again. */
  readonly example: string;
};

export const FORMATS: { readonly [name: string]: Format } = {
  "date-time": { validate: isDateTime, example: "2025-01-31T12:00:00Z" },
  date: { validate: isDate, example: "2025-01-31" },
  time: { validate: isTime, example: "12:00:00Z" },
  duration: { validate: isDuration, example: "PT1H30M" },
  email: { validate: isEmail, example: "name@example.com" },
  hostname: { validate: isHostname, example: "example.com" },
  ipv4: { validate: isIpv4, example: "192.0.2.1" },
  ipv6: { validate: isIpv6, example: "2001:db8::1" },
  uri: { validate: isUri, example: "https://example.com/page" },
  "uri-reference": { validate: isUriReference, example: "/page" },
  uuid: {
    validate: (text) => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text),
    example: "123e4567-e89b-12d3-a456-426614174000",
  },
  "json-pointer": {
    validate: (text) => /^(?:\/(?:[^~/]|~0|~1)*)*$/.test(text),
    example: "/items/0",
  },
};

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (!match) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 && isLeap ? 29 : (DAYS[month - 1] ?? 0);
  return day >= 1 && day <= days;
}

/** RFC 3339: an offset is part of a time, and a leap second happens at 23:59:60 UTC. */
function isTime(text: string): boolean {
  const match = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i.exec(text);
  if (!match) return false;
  const [hour, minute, second] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const [offsetHour, offsetMinute] = [Number(match[5] ?? 0), Number(match[6] ?? 0)];
  if (hour > 23 || minute > 59 || offsetHour > 23 || offsetMinute > 59) return false;
  if (second < 60) return true;
  const offset = (offsetHour * 60 + offsetMinute) * (match[4] === "-" ? -1 : 1);
  return second === 60 && (hour * 60 + minute - offset + 1440) % 1440 === 1439;
}

function isDateTime(text: string): boolean {
  return /^[t ]$/i.test(text.slice(10, 11)) && isDate(text.slice(0, 10)) && isTime(text.slice(11));
}

function isDuration(text: string): boolean {
  if (/^P\d+W$/.test(text)) return true;
  const match = /^P(?:\d+Y)?(?:\d+M)?(?:\d+D)?(T(?:\d+H)?(?:\d+M)?(?:\d+(?:[.,]\d+)?S)?)?$/.exec(
    text,
  );
  return match !== null && text.length > 1 && match[1] !== "T";
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  const local = text.slice(0, at);
  if (at < 1 || local.length > 64) return false;
  const isLocal =
    /^[\w!#$%&'*+/=?^`{|}~.\-\u0080-\uffff]+$/.test(local) &&
    !local.startsWith(".") &&
    !local.endsWith(".") &&
    !local.includes("..");
  return isLocal && isHostname(text.slice(at + 1));
}

function isHostname(text: string): boolean {
  const name = text.endsWith(".") ? text.slice(0, -1) : text;
  if (name.length === 0 || name.length > 253) return false;
  return name.split(".").every((label) => /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i.test(label));
}

function isIpv4(text: string): boolean {
  const parts = text.split(".", 5);
  return (
    parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && +part < 256)
  );
}

function isIpv6(text: string): boolean {
  if (text.length > 45) return false;
  let groups = text.split(":");
  const last = groups.at(-1) ?? "";
  if (last.includes(".")) {
    if (!isIpv4(last)) return false;
    groups = [...groups.slice(0, -1), "0", "0"];
  }
  const gap = text.indexOf("::");
  if (gap < 0) return groups.length === 8 && groups.every(isHexGroup);
  if (text.indexOf("::", gap + 1) >= 0) return false;
  if (text.startsWith("::")) groups.shift();
  if (text.endsWith("::")) groups.pop();
  return (
    groups.length <= 8 &&
    groups.filter((group) => group !== "").every(isHexGroup) &&
    groups.filter((group) => group === "").length === 1
  );
}

function isHexGroup(group: string): boolean {
  return /^[\da-f]{1,4}$/i.test(group);
}

function isUri(text: string): boolean {
  const scheme = /^[a-z][a-z\d+.-]*:/i.exec(text);
  return scheme !== null && text.length > scheme[0].length && isUriReference(text);
}

/** The characters RFC 3986 allows, whole escapes, at most one fragment; a first segment with a colon is a scheme. */
function isUriReference(text: string): boolean {
  if (!/^(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[\da-f]{2})*$/i.test(text)) return false;
  if (text.indexOf("#") !== text.lastIndexOf("#")) return false;
  const head = /^[^/?#]*/.exec(text)?.[0] ?? "";
  return !head.includes(":") || /^[a-z][a-z\d+.-]*:/i.test(head);
}
