import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { fakeClock } from '../../../../testing/fake-clock.ts';
import { needs } from '../../../../testing/needs.ts';
import { queryPostgres, sharedPostgres } from '../../../../testing/postgres-server.ts';
import { someMachine } from '../../../../testing/some-machine.ts';
import { recordingLog } from '../../../../testing/temp-store.ts';
import { once } from '../../../../timing/once.ts';
import { attachmentFilesContract } from '../../../attachments/attachment-files.contract.ts';
import { insertConsumed } from '../../../attachments/attachment-rows.ts';
import type { DaemonStore } from '../../daemon-store.ts';
import { openPostgresStore } from '../postgres-store.ts';

const installed = await needs('postgresql');
const WEEK_MS = 7 * 86_400_000;

const openStore = once(async () => {
  const url = await (await sharedPostgres()).createDatabase();
  const clock = fakeClock(1_000);
  return { url, clock, store: await openPostgresStore({ url, machine: someMachine(), clock, log: recordingLog() }) };
});

/** The files of one database for all tests, which each of them finds empty. */
async function open() {
  const { url, clock, store } = await openStore();
  await store.commit({
    statements: ['attachments', 'stored_files'].map((table) => ({ sql: `delete from ${table}`, parameters: [] })),
  });
  return {
    ...{ url, clock, store, files: (store.files ?? assert.fail('it has files')).attachments },
    later: () => clock.advance(WEEK_MS),
    [Symbol.asyncDispose]: async () => undefined, // after the last test
  };
}

after(async () => {
  if (!installed.skip) await (await openStore()).store.close();
});

attachmentFilesContract('PostgreSQL', open, installed);

const named = (id: string, wsId = 'ws') =>
  insertConsumed({
    ...{ wsId, principal: 'ada', nowMs: 1 },
    attachment: { attachment_id: id, filename: 'a', mime_type: 'text/plain', size_bytes: 1, kind: 'text' },
  });

test('files are swept when their last row is gone, and those without a row after a day', installed, async () => {
  await using opened = await open();
  const { store, files, clock } = opened;
  for (const id of ['att_kept', 'att_twice', 'att_new', 'att_gone']) await files.write(id, [Buffer.from('x')]);
  await store.commit({
    statements: [named('att_kept'), named('att_gone'), named('att_twice'), named('att_twice', 'fork')],
  });
  assert.deepEqual(await files.list(), []);
  const remove = (wsId: string) =>
    store.commit({
      statements: [
        { sql: `delete from attachments where ws_id = ? and attachment_id <> 'att_kept'`, parameters: [wsId] },
      ],
    });
  await remove('ws');
  assert.deepEqual(await files.list(), ['att_gone'], 'the fork has the other one');
  await remove('fork');
  assert.deepEqual(await files.list(), ['att_gone', 'att_twice']);
  await clock.advance(86_400_000 + 1);
  assert.deepEqual(await files.list(), ['att_gone', 'att_new', 'att_twice']);
});

const DAMAGES: Record<string, string> = {
  'an altered piece': `update headgate.stored_pieces set bytes = overlay(bytes placing '\\x00'::bytea from 9) where position > 0`,
  'exchanged pieces': `update headgate.stored_pieces set bytes = (select bytes from headgate.stored_pieces where position = 0)
    where position = 262144`,
};

for (const [damage, change] of Object.entries(DAMAGES)) {
  test(`a file with ${damage} is not read to its end, and the store reports it`, installed, async () => {
    await using opened = await open();
    const { store, files, url } = opened;
    const bytes = randomBytes(600_000).fill(1, 262_144 + 8, 262_144 + 9);
    await files.write('att_1', [bytes]);
    await queryPostgres(url, change);
    const damaged = { message: 'the stored file att_1 has lost bytes or was altered' };
    await using file = (await files.open('att_1', bytes.length)) ?? assert.fail('its pieces are there');
    await assert.rejects(file.readFile(), damaged);
    let length = 0;
    await assert.rejects(async () => {
      for await (const piece of file.createReadStream()) length += piece.length;
    }, damaged);
    assert.ok(length < bytes.length, `${length} bytes`);
    assert.equal(store.health().damaged, true);
  });
}

test('a file that lost a piece cannot be opened', installed, async () => {
  await using opened = await open();
  const { files, url } = opened;
  await files.write('att_1', [randomBytes(600_000)]);
  await queryPostgres(url, 'delete from headgate.stored_pieces where position = 262144');
  assert.equal(await files.open('att_1', 600_000), undefined);
});

test(
  'a large file has two pieces in memory at most, however slow the database or its reader is',
  installed,
  async () => {
    await using opened = await open();
    const { files, store } = opened;
    const chunk = randomBytes(65_536);
    const total = 20 * 1_048_576;
    let ahead = 0;
    const counting = async function* () {
      for (let given = 0; given < total; given += chunk.length) {
        if (given % (16 * chunk.length) === 0) ahead = Math.max(ahead, given - (await storedIn(store)));
        yield chunk;
      }
    };
    await files.write('att_1', counting());
    assert.ok(ahead <= 2 * 262_144, `${ahead} bytes were not stored yet`);
    await using file = (await files.open('att_1', total)) ?? assert.fail('it is there');
    const stream = file.createReadStream();
    let most = 0;
    for await (const piece of stream) {
      assert.ok(piece.length <= 262_144);
      most = Math.max(most, stream.readableLength);
    }
    assert.ok(most <= 262_144, `${most} bytes were waiting`);
  },
);

async function storedIn({ db }: DaemonStore): Promise<number> {
  const sum = sql<{ stored: number }>`select coalesce(sum(octet_length(bytes)), 0) as stored from stored_pieces`;
  return (await sum.execute(db)).rows[0]?.stored ?? 0;
}
