import { GatewayError } from '../../../../protocol/errors.ts';
import type { Params, Result } from '../../../../protocol/index.ts';
import { wrongField } from '../../../../protocol/parse.ts';
import type { Statement } from '../../store/store.ts';
import type { NewSkill, Skills } from '../skills.ts';
import { type FetchedSkill, fetchSkills, findSkillFiles } from './fetch-skills.ts';
import { openRepository } from './repository.ts';
import { sourceAddress } from './source-address.ts';
import type { SourceClient, SourceSettings } from './source-client.ts';

export interface InstallDeps {
  skills: Pick<Skills, 'add' | 'list'>;
  client: SourceClient;
  /** Read at each use. */
  settings(): SourceSettings;
}

interface Installer {
  by: string;
  /** Stored together with the skills. */
  also(installed: readonly NewSkill[]): readonly Statement[];
}

type Installed = Result<'skill.install'>;

/**
 * Fetches everything first, and stores it in one step: whatever ends it before leaves nothing behind. Throws NOT_FOUND for a
 * source without skills, UPSTREAM_FAILED if it does not answer as it should, and CONFLICT if everything is installed.
 */
export async function installSkills(
  asked: Params<'skill.install'>,
  { by, also }: Installer,
  { skills, client, settings }: InstallDeps,
): Promise<Installed> {
  requireDigest(asked.digest);
  const address = sourceAddress(asked);
  const repository = await openRepository(address, { client, settings });
  const files = repository ? findSkillFiles(repository, address) : [];
  if (!repository || files.length === 0) throw new GatewayError('NOT_FOUND', 'No SKILL.md found in the source');
  const fetched = await fetchSkills(repository, files, address);
  checkDigest(fetched, asked.digest);
  const { news, skipped } = sort(fetched, await skills.list());
  if (news.length === 0) throw nothingNew(fetched, skipped);
  const installed = await skills.add(news, { by, also: () => also(news) });
  return { installed, skipped, total: installed.length };
}

/** Before anything is fetched. */
function requireDigest(digest = ''): void {
  if (digest !== '' && !/^[0-9a-f]{64}$/i.test(digest))
    throw wrongField('digest', 'must be a SHA-256: 64 characters of 0 to 9 and a to f', { separator: ' ' });
}

/** What was asked for exactly must be exactly that. */
function checkDigest(fetched: readonly FetchedSkill[], expected: string | undefined): void {
  if (expected === undefined || expected === '') return;
  const [first, ...others] = fetched;
  if (first === undefined || others.length > 0)
    throw new GatewayError('INVALID_REQUEST', `digest is for one skill, and the source has ${fetched.length}`);
  const found = 'skill' in first ? first.skill.fields.digest : undefined;
  if (found === undefined || found === expected.toLowerCase()) return;
  throw new GatewayError('CONFLICT', `The source has another content: its digest is ${found}`);
}

function sort(fetched: readonly FetchedSkill[], present: Awaited<ReturnType<Skills['list']>>) {
  const news: NewSkill[] = [];
  const skipped: Installed['skipped'] = [];
  for (const one of fetched) {
    const known = present.find(({ name }) => name === one.name);
    const isTwice = news.some(({ fields }) => fields.name === one.name);
    if (!('skill' in one)) skipped.push({ name: one.name, reason: 'invalid', problem: one.problem });
    else if (isTwice) skipped.push({ name: one.name, reason: 'conflict' });
    else if (known) skipped.push({ name: one.name, reason: reasonFor(known, one.skill) });
    else news.push(one.skill);
  }
  return { news, skipped };
}

/** The branch does not count: `main` and a commit of it are the same source. */
const reasonFor = (known: { sourceUrl: string }, { fields }: NewSkill) =>
  placeOf(known.sourceUrl) === placeOf(fields.sourceUrl) ? ('already installed' as const) : ('name exists' as const);

const placeOf = (url: string): string => url.replace(/\/tree\/[^/]+/, '');

function nothingNew(fetched: readonly FetchedSkill[], skipped: Installed['skipped']): GatewayError {
  const [first] = fetched;
  if (fetched.length === 1 && first && 'problem' in first)
    return new GatewayError('INVALID_REQUEST', `${first.name} cannot be installed: ${first.problem}`);
  return new GatewayError('CONFLICT', 'All skills already installed', { details: { skipped } });
}
