import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestError } from '../../../../protocol/client/request-error.ts';
import type { CronExtendedJob } from '../../../../protocol/cron.ts';
import { createFakeClient } from '../fake-client.ts';
import { job } from './cron-fixture.ts';
import { JobEditor } from './job-editor.ts';

const every = { kind: 'every', everyMs: 900_000 } as const;
const once = { kind: 'at', atMs: 5 } as const;

function open(edited?: CronExtendedJob) {
  const fake = createFakeClient();
  const saved: unknown[] = [];
  const refusal: { says: string | undefined } = { says: undefined };
  fake.answer('cron.preview', ({ schedule }: { schedule: unknown }) => {
    if (schedule === 'nonsense') throw new RequestError('INVALID_REQUEST', '"nonsense" is not a schedule');
    const read = schedule === 'at 18:00' ? once : typeof schedule === 'object' ? schedule : every;
    return { schedule: read, description: 'words', tz: 'UTC', runs: [] };
  });
  const take = async (...what: unknown[]) => {
    saved.push(what);
    return refusal.says;
  };
  const port = { client: fake.client, jobs: { add: take, update: take }, timeZone: 'UTC' };
  const editor = new JobEditor(port, edited);
  return { ...fake, editor, saved, refusal };
}

test('the daemon parses the schedule', async () => {
  const { editor, saved, calls } = open();
  editor.set('when', 'every 15m');
  editor.set('message', 'look');
  assert.equal(await editor.save(), true);
  assert.deepEqual(calls, [['cron.preview', { schedule: 'every 15m', count: 5, tz: 'UTC' }]]);
  assert.partialDeepStrictEqual(saved, [[{ schedule: every, payload: { kind: 'agentTurn', message: 'look' } }]]);
});

test('an invalid schedule is reported at its field, and nothing is saved', async () => {
  const { editor, saved } = open();
  editor.set('when', 'nonsense');
  editor.set('message', 'look');
  assert.equal(await editor.save(), false);
  assert.deepEqual([editor.problems.value, saved], [{ when: '"nonsense" is not a schedule' }, []]);
});

test('an empty field is reported without asking the daemon, until it is filled', async () => {
  const { editor, saved, calls } = open();
  assert.equal(await editor.save(), false);
  assert.deepEqual(Object.keys(editor.problems.value), ['when', 'message']);
  editor.set('message', 'look');
  assert.deepEqual([Object.keys(editor.problems.value), saved, calls], [['when'], [], []]);
});

test('a refusal is shown, and saving can be retried', async () => {
  const { editor, refusal } = open();
  refusal.says = 'needs the scope approve';
  editor.set('when', 'every 15m');
  editor.set('message', 'look');
  assert.deepEqual([await editor.save(), editor.refusal.value], [false, 'needs the scope approve']);
  refusal.says = undefined;
  assert.deepEqual([await editor.save(), editor.refusal.value], [true, undefined]);
});

test('an edit does not send an unedited schedule, and previews the stored one', async () => {
  const { editor, saved, calls } = open(job({ schedule: { kind: 'every', everyMs: 60_000, anchorMs: 7 } }));
  await editor.readSchedule();
  assert.deepEqual(calls, [
    ['cron.preview', { schedule: { kind: 'every', everyMs: 60_000, anchorMs: 7 }, count: 5, tz: 'UTC' }],
  ]);
  editor.set('name', 'post');
  assert.equal(await editor.save(), true);
  const [[id, patch] = []] = saved as [string, object][];
  assert.deepEqual([id, 'schedule' in (patch ?? {})], ['j1', false]);
  editor.set('when', 'every 15m');
  assert.equal(await editor.save(), true);
  assert.partialDeepStrictEqual(saved[1], ['j1', { name: 'post', schedule: every }]);
});

test('an unedited misfire policy is left to the daemon; a chosen one is sent', async () => {
  const { editor, saved } = open(job({ misfire: { within: 60_000 } }));
  editor.set('when', 'every 15m');
  await editor.save();
  editor.set('withinMinutes', '2');
  await editor.save();
  const sent = saved.map((what) => (what as [string, { misfire?: unknown }])[1].misfire);
  assert.deepEqual(sent, [undefined, { within: 120_000 }]);
  const other = open(job({ misfire: { all: 20 } }));
  other.editor.set('allCount', '30');
  await other.editor.save();
  assert.partialDeepStrictEqual(other.saved, [['j1', { misfire: { all: 30 } }]]);
});

test('only a one-time job can be deleted after it runs', async () => {
  const { editor, saved } = open();
  editor.set('message', 'look');
  editor.set('deleteAfterRun', true);
  for (const when of ['every 15m', 'at 18:00']) {
    editor.set('when', when);
    await editor.save();
  }
  assert.partialDeepStrictEqual(saved, [[{ deleteAfterRun: false }], [{ deleteAfterRun: true, schedule: once }]]);
});
