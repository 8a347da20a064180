import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClient } from '../fake-client.ts';
import { SchedulePreview } from './schedule-preview.ts';

const previewOf = (description: string) => ({ description, schedule: { kind: 'at', atMs: 1 }, tz: 'UTC', runs: [] });

test('a late answer to an earlier text does not replace the current preview', async () => {
  const { client, answer } = createFakeClient();
  const slow = Promise.withResolvers<void>();
  answer('cron.preview', async ({ schedule }: { schedule: string }) => {
    if (schedule === 'slow') await slow.promise;
    return previewOf(schedule);
  });
  const preview = new SchedulePreview({ client, timeZone: 'UTC' });
  const first = preview.read('slow');
  await preview.read(' fast ');
  slow.resolve();
  await first;
  assert.deepEqual(preview.state.value, { kind: 'read', preview: previewOf('fast') });
});

test('the old preview stays while a new one is read; an empty text has none', async () => {
  const { client, answer, calls } = createFakeClient();
  answer('cron.preview', ({ schedule }: { schedule: string }) => previewOf(schedule));
  const preview = new SchedulePreview({ client, timeZone: 'UTC' });
  await preview.read('one');
  const reading = preview.read('two');
  assert.deepEqual(preview.state.value, { kind: 'reading', before: previewOf('one') });
  await reading;
  await preview.read('  ');
  assert.deepEqual([preview.state.value, calls.length], [{ kind: 'nothing' }, 2]);
});
