import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestError } from '../../../protocol/client/request-error.ts';
import { UsageError } from '../../start-error.ts';
import { toUsage } from './flag-words.ts';

interface Issue {
  path: string;
  message: string;
  limit?: number;
  bound?: 'min' | 'max';
}

/** The message of the error does not matter, only its issues. */
const refused = (issues: Issue[]) => new RequestError('INVALID_REQUEST', 'no', { details: { issues } });

const said = (issues: Issue[], change: 'add' | 'edit' = 'add') => {
  const error = toUsage(refused(issues), change);
  return error instanceof UsageError ? error.message : undefined;
};

const TOLD: [path: string, message: string, expected: string, limit?: number][] = [
  ['payload.message', 'must not be empty', '<message>: must not be empty.', 1],
  ['schedule.expr', 'never fires in UTC: it is so', 'The schedule: never fires in UTC: it is so.'],
  ['payload.text', 'must not be blank', '<message>: must not be blank.'],
  ['patch.name', 'must have at most 200 characters', '--name: must have at most 200 characters.', 200],
  ['patch.maxRunMs', 'must be at most 604800000', '--max-run: must be at most 1 week.', 604_800_000],
  ['payload.timeoutSeconds', 'must be at most 86400', '--timeout: must be at most 1 day.', 86_400],
  ['approval.tools.1', 'unknown tool "bsh"', '--approval allow: unknown tool "bsh".'],
  ['payload.thinking', 'invalid', '--thinking: must be off, minimal, low, medium or high.'],
  ['deleteAfterRun', 'no', '--delete-after-run: is for one-time schedules, such as "at 18:00".'],
  ['enabled', 'no', '--enable: the only time of the job is over; set a new one with --schedule.'],
];

for (const [path, message, expected, limit] of TOLD) {
  test(`the daemon's refusal of ${path} names the flag or argument`, () => {
    assert.equal(said([{ path, message, ...(limit !== undefined && { limit, bound: 'max' }) }]), expected);
  });
}

test('several problems are reported together, and an edit names its own flags', () => {
  const [name, maxRun] = [
    { path: 'patch.name', message: 'must not be blank' },
    { path: 'patch.maxRunMs', message: 'must be at least 1000', limit: 1_000, bound: 'min' },
  ] as const;
  assert.equal(said([name, maxRun], 'edit'), '--name: must not be blank; --max-run: must be at least 1 second.');
  assert.equal(said([{ path: 'payload.text', message: 'must not be blank' }], 'edit'), '--message: must not be blank.');
  const taken = said([{ path: 'deleteAfterRun', message: 'no' }], 'edit');
  assert.match(taken ?? '', /one-time.*; undo it with --no-delete-after-run\.$/);
});

test('any other error stays unchanged, whatever its message', () => {
  const others = [
    new RequestError('INVALID_REQUEST', 'job limit (20000) reached; remove some first'),
    new RequestError('INVALID_REQUEST', 'invalid cron.add params: name: must be a string'),
    refused([]),
    refused([
      { path: 'name', message: 'must be a string' },
      { path: '', message: 'unknown property "surprise"' },
    ]),
    new RequestError('FORBIDDEN', 'name: not yours'),
    new Error('name: no'),
  ];
  for (const error of others) assert.equal(toUsage(error, 'edit'), error);
});
