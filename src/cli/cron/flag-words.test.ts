import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestError } from '../../../protocol/client/request-error.ts';
import { UsageError } from '../../start-error.ts';
import { toUsage } from './flag-words.ts';

const said = (message: string, change: 'add' | 'edit' = 'add') => {
  const error = toUsage(new RequestError('INVALID_REQUEST', message), change);
  return error instanceof UsageError ? error.message : undefined;
};

test('what the daemon refuses of a job is told by the flags and the arguments', () => {
  const cases: Record<string, string> = {
    'invalid cron.add params: payload.message: must not be empty': '<message> must not be empty.',
    'schedule.expr never fires in UTC: it is so': 'The schedule: never fires in UTC: it is so.',
    'payload.text must not be blank': '<message> must not be blank.',
    'invalid cron.update params: patch.name: must have at most 200 characters; patch.maxRunMs: must be at most 604800000':
      '--name must have at most 200 characters; --max-run must be at most 1 week.',
    'invalid cron.add params: payload.timeoutSeconds: must be at most 86400': '--timeout must be at most 1 day.',
    'approval.tools.1: "bsh" is the name of no tool; there are: bash, node':
      '--approval allow: "bsh" is the name of no tool; there are: bash, node.',
    'payload.thinking: invalid thinkingLevel (use off|low)': '--thinking must be off, minimal, low, medium or high.',
    'deleteAfterRun: only a job with schedule.kind="at" can be forgotten after its run':
      '--delete-after-run is for schedules with one time, such as "at 18:00".',
    'enabled: its one time is over; give it another (schedule.atMs)':
      '--enable: its one time is over; give it another with --schedule.',
  };
  for (const [message, expected] of Object.entries(cases)) assert.equal(said(message), expected);
  assert.equal(said('payload.text must not be blank', 'edit'), '--message must not be blank.');
  assert.match(said('deleteAfterRun: no', 'edit') ?? '', /one time.*; --no-delete-after-run takes it back\.$/);
});

test('any other error stays as it is', () => {
  const others = [
    new RequestError('INVALID_REQUEST', 'there are 20000 jobs; remove some first'),
    new RequestError('INVALID_REQUEST', 'invalid cron.add params: name: must be a string; surprise: unknown'),
    new RequestError('FORBIDDEN', 'name: not yours'),
    new Error('name: no'),
  ];
  for (const error of others) assert.equal(toUsage(error, 'edit'), error);
});
