import { z } from 'zod';
import { GatewayError } from '../../../../protocol/errors.ts';
import type { Params, Result } from '../../../../protocol/index.ts';
import { trimEndOf } from '../../../../protocol/text/trimmed-text.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { Skills } from '../skills.ts';
import type { SourceClient, SourceSettings } from './source-client.ts';

interface DiscoverDeps {
  skills: Pick<Skills, 'list'>;
  client: SourceClient;
  /** Read at each use. */
  settings(): SourceSettings;
}

const MAX_BYTES = 1024 * 1024;
const USUAL_LIMIT = 20;

/** What directories call things differs; all of it is the text of others. */
const text = (most: number) =>
  z
    .string()
    .catch('')
    .transform((value) => toVisibleLine(value.slice(0, most)));
const Entry = z.object({
  id: text(512),
  skillId: text(256),
  name: text(256),
  description: text(1_024),
  author: text(256),
  source: text(512),
  installs: z.number().catch(0),
  install_count: z.number().catch(0),
  tags: z.array(text(64)).catch([]),
});
const Answer = z.object({ skills: z.array(z.unknown()) });

type Found = Result<'skill.discover'>['skills'][number];

/** Searches the directory. Throws UPSTREAM_FAILED if it does not answer as it should. */
export async function discoverSkills(
  { query, limit = USUAL_LIMIT }: Params<'skill.discover'>,
  { skills, client, settings }: DiscoverDeps,
): Promise<Found[]> {
  if (query.trim() === '') throw new GatewayError('INVALID_REQUEST', 'Search query is required');
  const base = trimEndOf(settings().discoveryUrl, '/');
  const url = `${base}/api/search?${new URLSearchParams({ q: query.trim(), limit: String(limit) })}`;
  const [entries, present] = await Promise.all([entriesOf(url, client), skills.list()]);
  return entries.slice(0, limit).flatMap((entry) => {
    const found = toFound(entry);
    if (!found) return [];
    const known = present.find(({ name, sourceUrl }) => name === found.name && sourceUrl.startsWith(found.sourceUrl));
    return [
      { ...found, isInstalled: known !== undefined, ...(known && { tier: known.scan.tier, skillId: known.skillId }) },
    ];
  });
}

async function entriesOf(url: string, client: SourceClient): Promise<unknown[]> {
  try {
    const fetched = await client.get(url, MAX_BYTES);
    if (fetched.kind === 'missing') throw new GatewayError('UPSTREAM_FAILED', 'there is no search at this address');
    const answer = Answer.safeParse(JSON.parse(new TextDecoder().decode(fetched.bytes)));
    if (!answer.success) throw new GatewayError('UPSTREAM_FAILED', 'the answer has another form');
    return answer.data.skills;
  } catch (error) {
    if (error instanceof GatewayError && error.code !== 'UPSTREAM_FAILED') throw error;
    const why = error instanceof GatewayError ? error.message : 'the answer is no JSON';
    throw new GatewayError('UPSTREAM_FAILED', `Discovery error: ${why}`, { cause: error });
  }
}

/** Of an address at GitHub. Dots alone would lead elsewhere. */
const PART = /^(?!\.+$)[\w.-]{1,100}$/;

/** Undefined for entries of other places than GitHub. */
function toFound(entry: unknown): Omit<Found, 'isInstalled'> | undefined {
  const parsed = Entry.safeParse(entry);
  if (!parsed.success) return undefined;
  const { id, skillId, name: given, description, author, source, installs, install_count, tags } = parsed.data;
  const name = skillId || given || (id.split('/').at(-1) ?? '');
  const repository = source || id.split('/').slice(0, 2).join('/');
  const [owner = '', repo = '', ...rest] = repository.split('/');
  if (!PART.test(owner) || !PART.test(repo) || rest.length > 0 || name === '') return undefined;
  return {
    id: `${owner}/${repo}/${name}`,
    name,
    description,
    author: author || owner,
    source: repository,
    sourceUrl: `https://github.com/${owner}/${repo}`,
    installCount: Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.floor(installs || install_count))),
    tags,
  };
}
