import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CronMisfire } from '../../../protocol/cron.ts';
import { toJobDetail } from './job-detail.ts';
import { someJob } from './job-fixture.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const here = { nowMs: NOW, tz: 'Europe/Berlin' };
const linesOf = async (...[job]: Parameters<typeof someJob>) =>
  (await toJobDetail(someJob(job), here)).split('\n').map((line) => line.replace(/ {2,}/, ': '));

test('a job is shown with all its settings and its message', async () => {
  const lines = await linesOf({
    ...{
      name: 'news',
      state: { nextRunAtMs: NOW + 900_000, lastStatus: 'error', lastRunAtMs: NOW, lastError: 'no\nmodel' },
    },
    payload: {
      ...{ kind: 'agentTurn', message: 'sum up\nthe \u202e news', thinking: 'low', timeoutSeconds: 90 },
      ...{ deliver: true, channel: 'team', to: 'room', bestEffortDeliver: true },
    },
    ...{ approval: { mode: 'allow', tools: ['bash', 'node'] }, maxRunMs: 3_600_000, misfire: { all: 20 } },
    ...{ isolation: { postToMainPrefix: 'News' }, deleteAfterRun: true },
    notices: [{ code: 'template_missing', level: 'warning', text: 'Later ones fail.' }],
  });
  assert.deepEqual(lines.slice(0, -4), [
    ...['Name: news', 'Id: j1', 'Schedule: every 15 minutes', 'Next run: Fri 2026-11-20 13:15 (in 15 min)'],
    ...['Status: error', 'Last run: Fri 2026-11-20 13:00', 'Last error: no\\nmodel'],
    ...['Where: in a separate conversation, cron:j1', 'Wake: notifies the main conversation at once', 'Prefix: News'],
    ...['Misfire: all=20', 'Approval: allow bash, node', 'Thinking: low'],
    ...['Time: 1 minute 30 seconds for the answer, 1 hour for the run'],
    ...[
      'Deliver: to team, room; no error if that fails',
      'Note: Later ones fail.',
      'Afterwards: deleted after its first success',
    ],
  ]);
  assert.ok((await linesOf({ nodeId: 'box_1' })).includes('Machine: box_1'));
  assert.match(lines.slice(-4).join('\n'), /^\nsum up\nthe \S+ news\n$/);
});

test('a job in the main conversation is shown without approval and delivery', async () => {
  const lines = await linesOf({ sessionTarget: 'main', payload: { kind: 'systemEvent', text: 'stand up' } });
  assert.deepEqual(lines.slice(3), [
    ...['Next run: none', 'Status: -', 'Last run: never', 'Where: in the main conversation'],
    ...['Wake: notifies the main conversation at once', 'Misfire: once', '', 'stand up', ''],
  ]);
});

test('the misfire policy is shown in the words of its flag', async () => {
  const told = async (misfire: CronMisfire) => (await linesOf({ misfire })).find((line) => line.startsWith('Misfire'));
  assert.deepEqual(await Promise.all((['skip', 'all', { all: 1 }, { within: 7_200_000 }] as const).map(told)), [
    ...['Misfire: skip', 'Misfire: all (the latest 10)', 'Misfire: all=1', 'Misfire: within 2 hours'],
  ]);
});
