import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import pg from 'pg';
import { needs } from '../../../testing/needs.ts';
import { sharedPostgres } from '../../../testing/postgres-server.ts';
import { postgresFaultOf } from './postgres-errors.ts';

const installed = await needs('postgresql');

const never = async (work: () => Promise<unknown>): Promise<unknown> =>
  work().then(
    () => assert.fail('it did not fail'),
    (error: unknown) => error,
  );

/** What a client learns that runs these statements. */
async function failureOf(...statements: string[]): Promise<unknown> {
  const client = new pg.Client(await (await sharedPostgres()).createDatabase());
  client.on('error', () => undefined); // the queries fail, too
  await client.connect();
  try {
    return await never(async () => {
      for (const sql of statements) await client.query(sql);
    });
  } finally {
    await client.end().catch(() => undefined); // it is gone already
  }
}

test('a server that takes the connection and says nothing counts as lost', async () => {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  try {
    const silent = { host: '127.0.0.1', port, user: 'u', database: 'd', connectionTimeoutMillis: 50 };
    const pool = new pg.Pool({ ...silent, max: 1 });
    const errors = [await never(() => new pg.Client(silent).connect()), await never(() => pool.query('select 1'))];
    assert.deepEqual(errors.map(postgresFaultOf), ['lost', 'lost'], String(errors));
    await pool.end();
  } finally {
    server.close();
  }
});

test('a statement that takes too long, or is cancelled, can be repeated', installed, async () => {
  const late = await failureOf('set statement_timeout = 20', 'select pg_sleep(10)');
  const cancelled = await failureOf('select pg_cancel_backend(pg_backend_pid()), pg_sleep(10)');
  assert.deepEqual([late, cancelled].map(postgresFaultOf), ['unwritable', 'unwritable']);
});

test('a transaction that was idle for too long has lost its session', installed, async () => {
  const client = new pg.Client(await (await sharedPostgres()).createDatabase());
  const { promise: ended, resolve } = Promise.withResolvers<unknown>();
  client.on('error', resolve); // the end of the connection is another one
  await client.connect();
  await client.query('set idle_in_transaction_session_timeout = 20');
  await client.query('begin');
  const error = await ended;
  assert.equal(postgresFaultOf(error), 'lost', String(error));
  await client.end().catch(() => undefined); // it is gone already
});

test('a statement that is wrong stays the fault of whoever sent it', installed, async () => {
  const errors = [await failureOf('select nothing'), await failureOf('select 1 / 0'), await failureOf('selekt')];
  assert.deepEqual(errors.map(postgresFaultOf), ['other', 'other', 'other']);
  assert.deepEqual([new TypeError('x is not a function'), 'text'].map(postgresFaultOf), ['other', 'other']);
});

test('a refused certificate, like a refused connection, counts as lost', () => {
  const codes = ['DEPTH_ZERO_SELF_SIGNED_CERT', 'CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID', 'ECONNREFUSED'];
  for (const code of codes) assert.equal(postgresFaultOf(Object.assign(new Error('no'), { code })), 'lost', code);
});
