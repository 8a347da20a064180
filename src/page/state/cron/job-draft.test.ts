import assert from 'node:assert/strict';
import { test } from 'node:test';
import { job } from './cron-fixture.ts';
import { isRescheduled, type JobDraft, toDraft, toJobFields } from './job-draft.ts';

const draft = (more: Partial<JobDraft> = {}): JobDraft => ({
  ...toDraft(undefined, 'UTC'),
  ...{ when: 'every 15m', message: ' look ' },
  ...more,
});
const fieldsOf = (more: Partial<JobDraft>) => {
  const checked = toJobFields(draft(more));
  return 'fields' in checked ? JSON.parse(JSON.stringify(checked.fields)) : checked.problems;
};

test('a new job sends only the chosen options', () => {
  assert.deepEqual(fieldsOf({}), {
    ...{ sessionTarget: 'isolated', wakeMode: 'next-heartbeat', deleteAfterRun: false },
    payload: { kind: 'agentTurn', message: 'look' },
  });
});

test('chosen options become policies and the payload', () => {
  const chosen: Partial<JobDraft> = {
    ...{ name: ' mail ', withinMinutes: '90', tools: 'bash, read_file', maxRunMinutes: '30', timeoutMinutes: '0.5' },
    ...{ thinking: 'high', deliver: true, channel: 'webhook', to: 'team', bestEffort: true },
    misfire: 'within',
    approval: 'allow',
  };
  assert.deepEqual(fieldsOf(chosen), {
    ...{ name: 'mail', sessionTarget: 'isolated', wakeMode: 'next-heartbeat', deleteAfterRun: false },
    payload: {
      ...{ kind: 'agentTurn', message: 'look', thinking: 'high', timeoutSeconds: 30 },
      ...{ deliver: true, channel: 'webhook', to: 'team', bestEffortDeliver: true },
    },
    ...{ misfire: { within: 5_400_000 }, maxRunMs: 1_800_000 },
    approval: { mode: 'allow', tools: ['bash', 'read_file'] },
  });
});

test('“all” runs the latest ten missed runs, or the given number', () => {
  const misfireOf = (allCount: string) => fieldsOf({ misfire: 'all', allCount }).misfire;
  assert.deepEqual(['10', ' 20 ', '1'].map(misfireOf), ['all', { all: 20 }, { all: 1 }]);
  for (const allCount of ['', '0', '101', '2.5', 'many'])
    assert.deepEqual(fieldsOf({ misfire: 'all', allCount }), { allCount: 'Enter a number from 1 to 100' });
  assert.equal(fieldsOf({ misfire: 'once', allCount: 'x' }).misfire, 'once');
  const shown = toDraft(job({ misfire: { all: 20 } }), 'UTC');
  assert.deepEqual(
    [shown.misfire, shown.allCount, toDraft(job({ misfire: 'all' }), 'UTC').allCount],
    ['all', '20', '10'],
  );
});

test('a job for the main conversation sends only its text', () => {
  const { payload, sessionTarget } = fieldsOf({ target: 'main', thinking: 'high', deliver: true });
  assert.deepEqual([sessionTarget, payload], ['main', { kind: 'systemEvent', text: 'look' }]);
});

test('errors name their field; unused fields are not checked', () => {
  const wrong = { when: ' ', message: '', maxRunMinutes: '0', timeoutMinutes: 'long', misfire: 'within' } as const;
  assert.deepEqual(Object.keys(fieldsOf({ ...wrong, withinMinutes: '' })), [
    ...['when', 'message', 'withinMinutes', 'maxRunMinutes', 'timeoutMinutes'],
  ]);
  assert.deepEqual(Object.keys(fieldsOf({ approval: 'allow', tools: ' , ' })), ['tools']);
  assert.deepEqual(Object.keys(fieldsOf({ approval: 'wait', waitMinutes: '20000' })), ['waitMinutes']);
  assert.equal(fieldsOf({ approval: 'wait', waitMinutes: 'x', target: 'main' }).maxRunMs, undefined);
});

test('a job converted to fields and back is unchanged', () => {
  const before = job({
    payload: {
      kind: 'agentTurn',
      message: 'look',
      timeoutSeconds: 90,
      deliver: true,
      bestEffortDeliver: true,
      to: 'me',
    },
    ...{ misfire: { within: 60_000 }, approval: { mode: 'wait', timeoutMs: 90_000 }, maxRunMs: 600_000 },
  });
  const { name, sessionTarget, wakeMode, payload, misfire, approval, maxRunMs, deleteAfterRun } = before;
  const checked = toJobFields(toDraft(before, 'UTC'));
  assert.deepEqual('fields' in checked && checked.fields, {
    ...{ name, sessionTarget, wakeMode, payload, misfire, approval, maxRunMs, deleteAfterRun },
  });
});

test('an unedited schedule does not count as changed', () => {
  const { schedule } = job();
  const shown = toDraft(job(), 'America/Lima');
  assert.equal(shown.when, '0 9 * * 1-5 Europe/Berlin');
  assert.equal(isRescheduled({ ...shown, when: ` ${shown.when} ` }, schedule, 'America/Lima'), false);
  assert.equal(isRescheduled({ ...shown, when: 'every 15m' }, schedule, 'America/Lima'), true);
});
