import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { needs } from '../../../testing/needs.ts';
import { queryPostgres, sharedPostgres } from '../../../testing/postgres-server.ts';
import { someMachine } from '../../../testing/some-machine.ts';
import { recordingLog } from '../../../testing/temp-store.ts';
import { GroupMarks } from './group-marks.ts';
import type { PostgresClient } from './postgres-connection.ts';
import { createPostgresWriter } from './postgres-writer.ts';
import { openWritingSession } from './writing-session.ts';

const installed = await needs('postgresql');

/** A connection that is lost during the commit: `sent` reaches the server in its place. */
const losing = (client: PostgresClient, sent: 'commit' | 'rollback'): PostgresClient =>
  new Proxy(client, {
    get: (target, key) =>
      key === 'query'
        ? async (query: string) => {
            const result = await target.query(query === 'commit' ? sent : query);
            if (query === 'commit') throw new Error('Connection terminated unexpectedly');
            return result;
          }
        : Reflect.get(target, key),
  });

for (const [sent, outcome] of [
  ['commit', 'a commit that reached the server is answered as done'],
  ['rollback', 'a commit that did not reach the server is refused'],
] as const) {
  test(`when the connection is lost during a commit, ${outcome}`, installed, async () => {
    const url = await (await sharedPostgres()).createDatabase();
    const lost: unknown[] = [];
    const clock = fakeClock(1_000);
    const session = await openWritingSession({
      url,
      place: 'here',
      machine: someMachine(),
      clock,
      log: recordingLog(),
      onLost: () => undefined,
      onOver: () => undefined,
    });
    const ends = new Map<string, number>();
    const write = createPostgresWriter({
      session: {
        marks: new GroupMarks(),
        lease: session.lease,
        client: () => losing(session.client(), sent),
        markAfter: async () => markOf(url),
      },
      heads: {
        know: async () => undefined,
        reset: () => undefined,
        bounds: (wsId) => ({ first: 1, last: ends.get(wsId) ?? 0 }),
        advance: (wsId, last) => ends.set(wsId, last),
        begin: () => () => undefined,
        noteGrowth: () => false,
        reread: async () => undefined,
      },
      clock,
      onLost: (error) => lost.push(String(error)),
    });
    const written = write([{ events: { wsId: 'a', events: [{ type: 'info', message: 'x' }] } }]);
    if (sent === 'commit') assert.deepEqual((await written).outcomes, [{ kind: 'done', offset: 1 }]);
    else await assert.rejects(written, /Connection terminated/);
    const stored = await queryPostgres(url, 'select "offset"::text from headgate.events');
    assert.deepEqual(
      [stored.length, ends.get('a'), lost],
      [sent === 'commit' ? 1 : 0, sent === 'commit' ? 1 : undefined, ['Error: Connection terminated unexpectedly']],
    );
    await session.close();
  });
}

async function markOf(url: string): Promise<string | undefined> {
  const [row] = await queryPostgres(url, `select value from headgate.meta where key = 'last_group'`);
  return row && String(row.value);
}

test('what became of a commit is known before the database can be written again', installed, async () => {
  const url = await (await sharedPostgres()).createDatabase();
  await using stack = new AsyncDisposableStack();
  const session = await openWritingSession({
    ...{ url, place: 'here', machine: someMachine(), clock: fakeClock(1_000), log: recordingLog() },
    onLost: () => undefined,
    onOver: () => undefined,
  });
  stack.defer(() => session.close());
  const write = createPostgresWriter({
    session: {
      ...session,
      client: () => losing(session.client(), 'commit'),
      markAfter: (_, error) => session.markAfter(session.client(), error),
    },
    heads: {
      know: async () => undefined,
      reset: () => undefined,
      bounds: () => ({ first: 1, last: 0 }),
      advance: () => undefined,
      begin: () => () => undefined,
      noteGrowth: () => false,
      reread: async () => undefined,
    },
    clock: fakeClock(1_000),
    onLost: () => undefined,
  });
  const written = write([{ events: { wsId: 'a', events: [{ type: 'info', message: 'x' }] } }]);
  await queryPostgres(url, `alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = on`);
  let isKnown = false;
  void written.finally(() => {
    isKnown = true;
  });
  while (!isKnown) await session.restore().catch(() => undefined); // it is lost, and then it cannot be written
  assert.deepEqual((await written).outcomes, [{ kind: 'done', offset: 1 }]);
  assert.throws(() => session.client(), /no connection/);
});
