import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxAll, whyTooLate } from './misfire.ts';

const HOUR_MS = 3_600_000;

test('a claim that did not begin follows the policy', () => {
  assert.equal(whyTooLate('skip', 0, 60_000), undefined);
  assert.equal(whyTooLate('skip', 0, 60_001), 'its policy skips occurrences more than 60 s late');
  assert.equal(whyTooLate({ within: HOUR_MS }, 0, HOUR_MS + 1), 'it was then more than 3600 s late');
  assert.equal(whyTooLate({ within: 1_000 }, 0, 60_000), undefined, 'a minute late is in time, whatever the policy');
  assert.equal(whyTooLate({ within: 1_000 }, 0, 60_001), 'it was then more than 60 s late');
  for (const misfire of ['once', 'all', { all: 3 }] as const)
    assert.equal(whyTooLate(misfire, 0, 1_000 * HOUR_MS), undefined);
});

test('all means ten, or the configured number', () => {
  const policies = ['all', { all: 1 }, { all: 100 }, 'once', 'skip', { within: 7 }] as const;
  assert.deepEqual(policies.map(maxAll), [10, 1, 100, undefined, undefined, undefined]);
});
