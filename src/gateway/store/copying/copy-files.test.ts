import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { needs } from '../../../testing/needs.ts';
import { queryPostgres, sharedPostgres } from '../../../testing/postgres-server.ts';
import { someMachine } from '../../../testing/some-machine.ts';
import { recordingLog, tempDir } from '../../../testing/temp-store.ts';
import { insertConsumed } from '../../attachments/attachment-rows.ts';
import { openPostgresStore } from '../postgres/postgres-store.ts';
import { openFile } from './copy-fixture.ts';
import type { CopySide } from './copy-side.ts';
import { copyStore } from './copy-store.ts';
import { openPostgresSide } from './postgres-side.ts';
import { openSqliteSource, openSqliteTarget } from './sqlite-side.ts';

const installed = await needs('postgresql');
const parts = { clock: { ...fakeClock(1_000), sleep: async () => undefined }, log: recordingLog() };
const { signal } = new AbortController();

const openSide = (url: string, isTarget: boolean) => openPostgresSide({ url, isTarget, signal, ...parts });

async function copy(source: CopySide, target: CopySide, onWritten = (): void => undefined) {
  const { attachments } = target.files;
  const write: typeof attachments.write = async (id, bytes) => {
    await attachments.write(id, bytes);
    onWritten();
  };
  const files = { ...target.files, attachments: { ...attachments, write } };
  try {
    return await copyStore({ source, target: { ...target, files }, signal, onProgress: () => undefined });
  } finally {
    await source.close();
    await target.close();
  }
}

const named = (id: string, size_bytes: number, wsId = 'ws') =>
  insertConsumed({
    ...{ wsId, principal: 'ada', nowMs: 1 },
    attachment: { attachment_id: id, filename: 'a', mime_type: 'text/plain', size_bytes, kind: 'text' },
  });

test('files move to PostgreSQL through a kill, and back into another home, byte for byte', installed, async () => {
  using dir = tempDir();
  const [home, other] = [join(dir.path, 'home'), join(dir.path, 'other')];
  for (const folder of [home, other, join(home, 'attachments'), join(home, 'outputs')]) await mkdir(folder);
  const large = randomBytes(700_000);
  const contents = { att_1: Buffer.from('one'), att_2: large, att_3: Buffer.from('three'), att_4: Buffer.from('four') };
  for (const [id, bytes] of Object.entries(contents)) await writeFile(join(home, 'attachments', id), bytes);
  await writeFile(join(home, 'outputs', 'out_1.log'), large.subarray(7));
  const store = await openFile(join(home, 'headgate.db'));
  const rows = Object.entries(contents).map(([id, { length }]) => named(id, length));
  await store.commit({ statements: [...rows, named('att_2', large.length, 'fork'), named('att_gone', 5)] });
  await store.close();
  await truncate(join(home, 'attachments', 'att_3'), 2);

  const url = await (await sharedPostgres()).createDatabase();
  const dies = () => {
    throw new Error('killed');
  };
  const toServer = async (onWritten?: () => void) =>
    copy(openSqliteSource(join(home, 'headgate.db')), await openSide(url, true), onWritten);
  await assert.rejects(toServer(dies), { message: 'killed' });
  await queryPostgres(
    url,
    `insert into headgate.stored_files (file_id, kind, created_ms) values ('att_1', 'attachment', 1)`,
  );
  let written = 0;
  const { files, isContinued } = await toServer(() => {
    written += 1;
  });
  const bytes = large.length * 2 - 7 + 'one'.length + 'four'.length;
  assert.deepEqual(
    { files, isContinued, written },
    { files: { files: 4, bytes, missing: 2 }, isContinued: true, written: 2 },
  );

  const server = await openPostgresStore({ url, machine: someMachine(), ...parts, clock: fakeClock(1_000) });
  await using opened = await server.files?.attachments.open('att_2', large.length);
  assert.ok(large.equals((await opened?.readFile()) ?? assert.fail('it is there')));
  const part = await server.files?.outputs.readPart('out_1.log', { offset: 262_143, length: 262_146 });
  assert.deepEqual([part?.size, part?.bytes.equals(large.subarray(262_150, 524_296))], [large.length - 7, true]);
  await server.close();

  await queryPostgres(url, `update headgate.stored_pieces set bytes = '\\x00'::bytea where file_id = 'att_4'`);
  const back = await copy(await openSide(url, false), openSqliteTarget(join(other, 'headgate.db'), parts.log));
  assert.deepEqual(back.files, { files: 3, bytes: bytes - 'four'.length, missing: 3 });
  const read = (place: string) => readFile(join(other, place));
  assert.deepEqual(
    [await read('attachments/att_1'), await read('attachments/att_2'), await read('outputs/out_1.log')],
    [contents.att_1, large, large.subarray(7)],
  );
});
