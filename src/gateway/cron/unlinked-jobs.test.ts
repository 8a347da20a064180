import assert from 'node:assert/strict';
import { test } from 'node:test';
import { someJob } from '../../cron/jobs/job-fixture.ts';
import { unlinkedJobs } from './unlinked-jobs.ts';

const isLinked = (name: string) => name === 'webhook';
const deliversTo = (channel: string | undefined, name = 'Morning', more: object = {}) =>
  someJob({ name, payload: { kind: 'agentTurn', message: 'x', deliver: true, ...(channel && { channel }) }, ...more });

test('enabled jobs that deliver to a channel that is not set up are named, at most three for each channel', () => {
  const jobs = [
    ...[deliversTo(undefined), deliversTo('last'), deliversTo('webchat'), deliversTo(' Webhook ')],
    ...[deliversTo('telegram', 'off', { enabled: false }), someJob({ payload: { kind: 'systemEvent', text: 'x' } })],
    someJob({ payload: { kind: 'agentTurn', message: 'x', channel: 'telegram' } }),
    ...[deliversTo('WhatsApp'), ...['a', 'b', 'c', 'd', 'e'].map((name) => deliversTo('telegram', name))],
  ];
  assert.deepEqual(unlinkedJobs({ jobs: () => jobs }, { isLinked }), [
    {
      code: 'channel_missing',
      level: 'warning',
      text: 'The channel whatsapp is not set up, but jobs deliver to it: "Morning". Set it up in config.json under channels.whatsapp, or change the jobs.',
    },
    {
      code: 'channel_missing',
      level: 'warning',
      text: 'The channel telegram is not set up, but jobs deliver to it: "a", "b", "c" and others. Set it up in config.json under channels.telegram, or change the jobs.',
    },
  ]);
});
