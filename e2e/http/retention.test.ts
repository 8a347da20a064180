import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBody } from '../support/clients/read-body.ts';
import { startClockedDaemon } from '../support/daemon/clocked-daemon.ts';

const DAY_MS = 86_400_000;
const QUARTER_MS = 15 * 60_000;

test('A closed conversation without a name must be deleted after `session.retention_days`, and the audit trail must record it', async () => {
  await using daemon = await startClockedDaemon();
  const client = await daemon.connect();
  const ask = async (method: string, route: string, sent?: unknown) => {
    const headers = { Authorization: `Bearer ${daemon.token}`, 'Content-Type': 'application/json' };
    const answer = await daemon.fetch(`/v1/api/${route}`, {
      method,
      headers,
      ...(sent !== undefined && { body: JSON.stringify(sent) }),
    });
    return { status: answer.status, body: await readBody(answer) };
  };
  const closed = async (fields: object): Promise<string> => {
    const { ws_id } = (await ask('POST', 'workstreams/new', { ...fields, initial_message: 'help' })).body;
    // The demo model writes with pauses.
    for (let state = 'thinking'; state !== 'idle'; ) {
      await daemon.clock.advance(1_000);
      ({ state } = (await ask('GET', `workstreams/${ws_id}`)).body);
    }
    await ask('POST', 'workstreams/close', { ws_id });
    return ws_id;
  };
  const [unnamed, named] = [await closed({}), await closed({ name: 'garden' })];
  const saved = async (): Promise<string[]> =>
    (await ask('GET', 'workstreams/saved')).body.workstreams.map(({ ws_id }: { ws_id: string }) => ws_id);
  assert.equal((await ask('PUT', 'admin/settings/session.retention_days', { value: 36_501 })).status, 400);
  const { body } = await ask('PUT', 'admin/settings/session.retention_days', { value: 30 });
  assert.deepEqual([body.key, body.value, body.restart_required], ['session.retention_days', 30, false]);
  daemon.clock.jump(31 * DAY_MS);
  assert.deepEqual(new Set(await saved()), new Set([unnamed, named]), 'nothing is deleted right after a jump');
  for (let quarter = 0; quarter < 3; quarter += 1) await daemon.clock.advance(QUARTER_MS);
  for (let turn = 0; turn < 1_000 && (await saved()).includes(unnamed); turn += 1) await daemon.clock.advance(1);
  assert.deepEqual(await saved(), [named]);
  const { events } = (await ask('GET', 'admin/audit?action=sessions.expire')).body;
  assert.deepEqual(
    events.map(({ user_id, resource_id, outcome }: Record<string, string>) => [user_id, resource_id, outcome]),
    [['daemon', unnamed, 'ok']],
  );
  assert.equal((await ask('GET', `workstreams/${unnamed}`)).status, 404);
  client.socket.terminate();
});
