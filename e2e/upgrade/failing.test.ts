import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { spawnHeadgate } from '../support/daemon/daemon-process.ts';
import { within } from '../support/deadline.ts';
import { dumpDatabase } from './fixture-files.ts';
import { type OldHome, unpackHome } from './old-home.ts';

const MINUTE_MS = 60_000;

test('starts whose migration fails keep one copy per version, and the first holds what the older build left', async () => {
  await using old = await unpackHome('schema-11');
  blockVersion16(old);
  const before = dumpDatabase(old.database);
  for (const _attempt of [1, 2, 3]) assert.match(await failToStart(old), /migration to schema version 16 failed/);
  const copies = (await readdir(old.home)).filter((file) => file.includes('.bak-v')).sort();
  assert.deepEqual(copies, ['headgate.db.bak-v11', 'headgate.db.bak-v15']);
  assert.equal(dumpDatabase(`${old.database}.bak-v11`), before);
});

/** Version 16 creates this table. */
function blockVersion16({ database: file }: OldHome): void {
  using database = new DatabaseSync(file);
  database.exec('create table workdirs (other text)');
}

async function failToStart({ home, clock }: OldHome): Promise<string> {
  const child = await spawnHeadgate({
    args: ['start', '--port', '0', '--home', home],
    env: { HOME: path.dirname(home), HEADGATE_MODEL: 'local', ...clock(MINUTE_MS) },
  });
  const { code } = await within(child.exited, 60_000, () => 'the end of the failed start');
  assert.equal(code, 1);
  return child.stderr();
}
