import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { MIGRATIONS } from '../../src/gateway/store/schema/migrations.ts';
import { spawnHeadgate } from '../support/daemon/daemon-process.ts';
import { within } from '../support/deadline.ts';
import { differencesOf, judge } from './differences.ts';
import { MEANT } from './meant-differences.ts';
import { type OldHome, unpackHome } from './old-home.ts';

const MINUTE_MS = 60_000;
const KILLER = new URL('../support/fixtures/killed-at-statement.ts', import.meta.url);
/** The third statement makes the copy, so the first kill leaves an unfinished one. */
const FEWEST = 3;

test('an upgrade that is killed repeatedly, each time a few statements later, still completes', async (t) => {
  await using old = await unpackHome('schema-11');
  const seen: number[] = [];
  for (let statements = FEWEST; versionOf(old) < MIGRATIONS.length; statements += 5) {
    seen.push(versionOf(old));
    assert.deepEqual(await killedAfter(old, statements), { code: null, signal: 'SIGKILL' });
    if (statements === FEWEST) assert.ok((await copiesOf(old)).some(isPartial), 'a kill interrupted the copy');
  }
  t.diagnostic(`versions at which it was killed: ${seen.join(', ')}`);
  assert.ok(new Set(seen).size >= 3, 'kills also happened between migrations');

  const { daemon, answers } = await old.start(MINUTE_MS);
  const differences = differencesOf(await old.answersOfThen(daemon), await answers());
  assert.deepEqual(judge(differences, MEANT['schema-11'] ?? []), { undeclared: [], notFound: [] });
  const copies = await copiesOf(old);
  assert.deepEqual(copies.filter(isPartial), []);
  for (const copy of copies) assert.equal(integrityOf(path.join(old.home, copy)), 'ok', copy);
});

const isPartial = (file: string): boolean => file.endsWith('.partial');

const copiesOf = async ({ home }: OldHome): Promise<string[]> =>
  (await readdir(home)).filter((file) => file.includes('.bak-v'));

/** Starts today's build, which kills itself after this number of statements. */
async function killedAfter({ home, clock }: OldHome, statements: number) {
  const { NODE_OPTIONS = '', ...env } = clock(MINUTE_MS);
  const child = await spawnHeadgate({
    args: ['start', '--port', '0', '--home', home],
    env: {
      ...{ HOME: path.dirname(home), HEADGATE_MODEL: 'local', ...env },
      ...{ NODE_OPTIONS: `${NODE_OPTIONS} --import=${KILLER.href}`, KILL_AFTER: String(statements) },
    },
  });
  return within(child.exited, 60_000, () => `a kill after ${statements} statements`);
}

function versionOf({ database: file }: OldHome): number {
  using database = new DatabaseSync(file);
  return Number(database.prepare("select value from meta where key = 'schema_version'").get()?.value);
}

function integrityOf(file: string): unknown {
  using database = new DatabaseSync(file, { readOnly: true });
  return database.prepare('pragma integrity_check').get()?.integrity_check;
}
