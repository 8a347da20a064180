import path from 'node:path';
import type { Surroundings } from '../../../home/home-path.ts';
import { UsageError } from '../../../start-error.ts';
import { readVersion } from '../../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../../connect.ts';
import { createPaint, wantsColours } from '../../terminal/paint.ts';
import { toFoundLines } from '../../watching/found-lines.ts';

export interface FindFlags extends TargetFlags {
  limit: string;
  workdir?: string | undefined;
  json?: boolean | undefined;
}

interface FindOptions {
  flags: FindFlags;
  around: Surroundings;
  root: URL;
}

/** How often a search is repeated while the daemon is still making its index. */
const MOST_REPEATS = 50;

/** Prints the conversations and the messages that have all of the words. */
export async function find(words: readonly string[], { flags, around, root }: FindOptions): Promise<void> {
  const query = words.join(' ').trim();
  if (query === '') throw new UsageError('Give at least one word.');
  const limit = toLimit(flags.limit);
  const where = flags.workdir === undefined ? {} : { workdir: path.resolve(flags.workdir) };
  const caller = { target: await resolveTarget(flags, around), version: await readVersion(root) };
  const found = await withClient(caller, async (client) => {
    const { workstreams } = await client.call('workstream.saved', { search: query, limit, ...where });
    let answer = await client.call('workstream.find', { query, limit, ...where });
    for (let n = 0; answer.isIncomplete && n < MOST_REPEATS; n += 1)
      answer = await client.call('workstream.find', { query, limit, ...where });
    return { workstreams, ...answer };
  });
  const { stdout, stderr } = process;
  if (flags.json === true) return void stdout.write(`${JSON.stringify(found, null, 2)}\n`);
  const paint = createPaint(wantsColours('auto', { isTerminal: stdout.isTTY, environment: around.environment }));
  stdout.write(`${toFoundLines(found, query.split(/\s+/), paint).join('\n')}\n`);
  if (found.isIncomplete)
    stderr.write('headgate: The index of words is not complete yet. Older messages may be missing.\n');
}

function toLimit(text: string): number {
  const limit = Number(text);
  if (!/^\d+$/.test(text) || limit < 1 || limit > 50)
    throw new UsageError(`--limit must be a number from 1 to 50, not "${text}".`);
  return limit;
}
