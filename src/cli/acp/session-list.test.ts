import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listSessions } from './session-list.ts';

const row = (n: number, fields: object = {}) => ({
  ...{ wsId: `ws-${n}`, alias: null, name: `calm-${n}`, title: null, workdir: '/w', updatedMs: n * 1_000 },
  ...fields,
});

/** A daemon with these rows; records what it was asked. */
function daemonWith(rows: object[]) {
  const asked: object[] = [];
  const client = {
    async call(_method: string, params: object) {
      asked.push(params);
      return { workstreams: rows };
    },
  };
  return { asked, client: client as never };
}

test('stored workstreams are sessions with their folder, their name and the time of the last change', async () => {
  const { asked, client } = daemonWith([row(2, { title: 'Tidy\u202e' }), row(1, { workdir: undefined })]);
  assert.deepEqual(await listSessions({ cwd: '/w/' }, client), {
    sessions: [{ sessionId: 'ws-2', cwd: '/w', title: 'Tidy', updatedAt: '1970-01-01T00:00:02.000Z' }],
  });
  assert.deepEqual(asked, [{ limit: 50, workdir: '/w' }]);
});

test('a full page has a cursor, which continues behind its last session', async () => {
  const { asked, client } = daemonWith(Array.from({ length: 50 }, (_, index) => row(50 - index)));
  const { nextCursor } = await listSessions({}, client);
  assert.equal(nextCursor, '1000:ws-1');
  await listSessions({ cursor: nextCursor }, client);
  assert.deepEqual(asked, [{ limit: 50 }, { limit: 50, before: 1_000, beforeWsId: 'ws-1' }]);
});

test('another cursor is refused', async () => {
  await assert.rejects(listSessions({ cursor: 'x' }, daemonWith([]).client), /nextCursor/);
});
