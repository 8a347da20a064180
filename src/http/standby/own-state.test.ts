import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Membership } from '../../gateway/workers/team.ts';
import { standbyScene } from '../../testing/standby-scene.ts';

const REQUEST = ' HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';

test('a worker says whether it has joined, and why not, and shows what it does', async () => {
  const membership: Membership = { isJoined: false, trouble: 'no daemon is active' };
  await using scene = await standbyScene({ membership });
  const bodyOf = async (path: string) => (await scene.ask(`GET ${path}${REQUEST}`)).split('\r\n\r\n')[1] ?? '';
  const { status, joined, trouble } = JSON.parse(await bodyOf('/health'));
  assert.deepEqual([status, joined, trouble], ['worker', false, 'no daemon is active']);
  const before = await bodyOf('/metrics');
  assert.match(before, /^service_machine_role\{role="worker"\} 1\n[\s\S]*^service_worker_joined 0\n/m);

  Object.assign(membership, { isJoined: true, trouble: undefined });
  scene.show({ text: async () => '# TYPE service_messages_sent_total counter\nservice_messages_sent_total 3\n' });
  const { joined: now, trouble: none } = JSON.parse(await bodyOf('/health'));
  assert.deepEqual([now, none], [true, null]);
  const after = await bodyOf('/metrics');
  assert.match(
    after,
    /^service_messages_sent_total 3\n[\s\S]*^service_lease_held 0\n[\s\S]*^service_worker_joined 1\n/m,
  );
  const typed = [...after.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name);
  assert.equal(new Set(typed).size, typed.length, 'no metric is there twice');

  scene.show({ text: () => Promise.reject(new Error('broken')) });
  assert.match(await bodyOf('/metrics'), /^# HELP service_lease_held/, 'the rest is still there');
  assert.deepEqual(scene.log.lines.at(-1), ['warn', 'the metrics could not be read']);
});

test('a standby is no worker', async () => {
  await using scene = await standbyScene();
  const answer = await scene.ask(`GET /metrics${REQUEST}`);
  assert.match(answer, /^service_machine_role\{role="standby"\} 1\n/m);
  assert.ok(!answer.includes('service_worker_joined'));
  assert.ok(!(await scene.ask(`GET /health${REQUEST}`)).includes('joined'));
});
