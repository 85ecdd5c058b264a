// Made-up tools that fill a catalog up to the size wanted. They follow the habits of real servers: a
// service, an operation, a thing, a sentence or two about it, and a handful of parameters.

/** @import { Tool } from "./catalog.mjs" */

/** Tools with names of their own, the same on every run. @param {number} count @returns {Tool[]} */
export function distractors(count) {
  const random = seededRandom(20_240_607);
  /** @type {Map<string, Tool>} */
  const tools = new Map();
  while (tools.size < count) {
    const tool = oneTool(random);
    tools.set(tool.name, tool);
  }
  return [...tools.values()];
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). @param {number} seed */
export function seededRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * @template T
 * @param {readonly T[]} list @param {() => number} random
 * @returns {T}
 */
export function pick(list, random) {
  return /** @type {T} */ (list[Math.floor(random() * list.length)]);
}

/** @param {() => number} random @returns {Tool} */
function oneTool(random) {
  const service = pick(SERVICES, random);
  const [verb, phrase] = pick(OPERATIONS, random);
  const thing = pick(THINGS, random);
  const owner = pick(THINGS, random);
  const words = random() < 0.5 ? [service, verb, thing] : [service, verb, owner, thing];
  const scope = pick(SCOPES, random).replace("%", owner);
  const detail = pick(DETAILS, random).replace("%", thing);
  /** @type {Record<string, { description: string }>} */
  const properties = {};
  for (let left = 1 + Math.floor(random() * 5); left > 0; left -= 1) {
    const [parameter, meaning] = pick(PARAMETERS, random);
    properties[snakeCase(parameter.replace("%", thing))] = {
      description: meaning.replace("%", thing),
    };
  }
  return {
    name: snakeCase(words.join(" ")),
    description: `${phrase} ${thing} ${scope} in ${service}. ${detail} Part of ${coinedWord(random)}.`,
    input_schema: { properties },
  };
}

/** Real catalogs are full of product names and jargon: about one new word for each tool. @param {() => number} random */
function coinedWord(random) {
  let word = "";
  for (let left = 2 + Math.floor(random() * 3); left > 0; left -= 1) {
    word += pick(ONSETS, random) + pick(RHYMES, random);
  }
  return word;
}

/** @param {string} words */
const snakeCase = (words) => words.replaceAll(" ", "_");

/** @param {string} text */
const listOf = (text) => text.trim().split(/\s*,\s*/);

const ONSETS = listOf(
  "b, br, c, ch, d, dr, f, fl, g, gr, h, j, k, l, m, n, p, pl, qu, r, s, sh, st, t, tr, v, w, z",
);
const RHYMES = listOf(
  "a, ab, al, an, ar, e, el, en, er, et, i, ic, il, in, is, o, ol, on, or, os, u, ul, um, un, us",
);

const SERVICES = listOf(`acme, northwind, bluebird, kestrel, lumen, harbor, quartz, tundra, orchard,
  pebble, sextant, marble, foxglove, juniper, cobalt, ember, fathom, granite, hollow, indigo, jasper,
  kelp, larkspur, meridian, nimbus, obsidian, pinnacle, quill, ridge, saffron, thistle, umber, vesper,
  willow, xenon, yarrow, zephyr, anchor, beacon, cinder, drift, elm, fjord, glacier, heron, isle,
  jetty, knoll, lagoon, moss`);

/** @type {[verb: string, phrase: string][]} */
const OPERATIONS = [
  ["create", "Creates a"],
  ["get", "Returns one"],
  ["list", "Lists every"],
  ["update", "Updates a"],
  ["delete", "Deletes a"],
  ["search", "Searches for a"],
  ["archive", "Archives a"],
  ["restore", "Restores a"],
  ["export", "Exports the"],
  ["import", "Imports a"],
  ["assign", "Assigns a"],
  ["share", "Shares a"],
  ["approve", "Approves the"],
  ["reject", "Rejects the"],
  ["clone", "Copies a"],
  ["merge", "Merges the"],
  ["validate", "Checks the"],
  ["count", "Counts every"],
  ["subscribe", "Subscribes to a"],
  ["sync", "Synchronises the"],
  ["rename", "Renames a"],
  ["move", "Moves a"],
  ["lock", "Locks the"],
  ["publish", "Publishes a"],
  ["schedule", "Schedules a"],
  ["cancel", "Cancels the"],
  ["send", "Sends a"],
  ["fetch", "Fetches the"],
  ["describe", "Describes a"],
  ["enable", "Enables the"],
];

const THINGS =
  listOf(`invoice, ticket, pull request, branch, commit, pipeline, deployment, cluster, node,
  bucket, file, folder, document, spreadsheet, slide, page, comment, thread, message, channel, mailbox,
  contact, lead, deal, account, campaign, segment, audience, form, survey, response, event, calendar,
  meeting, reminder, task, project, milestone, sprint, board, card, label, webhook, token, secret, role,
  policy, permission, group, member, team, workspace, organization, subscription, plan, coupon, refund,
  payment, payout, order, shipment, product, variant, inventory, warehouse, supplier, contract,
  signature, template, report, dashboard, chart, metric, alert, incident, runbook, trace, log entry,
  query, table, column, index, view, migration, backup, snapshot, volume, image, registry, function,
  queue, topic, stream, schema, dataset, model, experiment, job, worker, cache key, domain, certificate,
  firewall rule, load balancer, route, environment, variable, feature flag, release, artifact, package,
  license`);

const SCOPES = listOf(`of a %, for the given %, that belongs to a %, across every %, by its id,
  of the current account, with its history, matching a filter, created since a date, and its %`);

const DETAILS =
  listOf(`Returns the id of the %., Results come in pages of fifty., Needs the admin role.,
  Fails when the % is locked., Use this before changing the %., The % is returned with its metadata.,
  Can be undone within thirty days., Sends a notification to its watchers., Accepts a dry run flag.,
  The answer holds a cursor for the next page.`);

/** @type {[name: string, meaning: string][]} */
const PARAMETERS = [
  ["% id", "Identifier of the %"],
  ["name", "Name of the %"],
  ["cursor", "Cursor of the next page"],
  ["page size", "How many results a page holds"],
  ["filter", "Expression the % must match"],
  ["created after", "Only what was created after this date"],
  ["status", "Status of the %"],
  ["owner id", "Identifier of the owner"],
  ["labels", "Labels to set on the %"],
  ["dry run", "Report what would happen"],
  ["sort by", "Field to sort by"],
  ["include archived", "Whether archived entries count"],
  ["description", "Free text about the %"],
  ["priority", "Priority from 1 to 5"],
  ["due date", "Date by which it is due"],
  ["assignee", "Person responsible for the %"],
  ["format", "Output format"],
  ["locale", "Language of the answer"],
];
