// Words users use for one another when they ask for a tool: the verbs of common operations, common
// things, and the abbreviations found in tool names. Kept small and free of any one domain.
import { stem } from "./stem.ts";

/** Stems that may stand for `stemmed`, in a fixed order; none for most words. */
export function findSynonyms(stemmed: string): readonly string[] {
  synonyms ??= readGroups(`${OPERATIONS},${THINGS}`);
  return synonyms.get(stemmed) ?? [];
}

/** Made at the first search. */
let synonyms: ReadonlyMap<string, readonly string[]> | undefined;

/** Groups of words, separated by commas. */
const OPERATIONS = `
delete remove erase, create add make, generate create produce, list show display,
get fetch retrieve obtain, find search lookup query, find locate, update edit modify change,
send deliver, run execute launch, start begin launch, stop end terminate, cancel abort, open read,
view show read, write save, store save, copy duplicate clone, move transfer, upload attach,
check verify validate, compute calculate calc, convert transform, compare diff,
book reserve reservation, buy purchase order, pay payment, summarize summary,
describe description, explain explanation, analyze analysis, recommend suggest, connect link,
join merge combine, filter select, sort order rank, notify notification alert,
authenticate auth login, play game`;

const THINGS = `
picture image photo img, film movie, song music track, video clip, sound audio, speech voice,
mail email, message msg, chat conversation, directory folder dir path, document doc,
repository repo, database db, configuration config setting, environment env,
parameter param argument, application app, developer dev, version release, bug issue ticket,
task todo, website site webpage page, url link, web internet, information info detail,
statistic stat, number num, amount quantity, average avg mean, maximum max, minimum min,
temperature temp, weather forecast, language lang, location place, map direction route,
trip travel, hotel accommodation, car vehicle, food meal, price cost, cheap affordable,
money currency, stock share, news headline article, event calendar schedule, meeting appointment,
job career, company business organization, person people, employee staff, customer client,
child kid, law legal, health medical, test exam quiz`;

function readGroups(text: string): Map<string, string[]> {
  const table = new Map<string, string[]>();
  for (const words of text.split(",")) {
    const group = words.trim().split(" ").map(stem);
    for (const word of group) {
      const others = table.get(word) ?? [];
      for (const other of group) {
        if (other !== word && !others.includes(other)) others.push(other);
      }
      table.set(word, others);
    }
  }
  return table;
}
