import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toTestNeeds } from './needs.ts';

test('a test runs if nothing is missing', () => {
  assert.deepEqual(toTestNeeds([]), {});
});

test('the reason of a skipped test names all packages to install first', () => {
  const refused = { kind: 'refused', reason: 'this machine has no IPv6' } as const;
  const curl = { kind: 'package', name: 'curl' } as const;
  assert.deepEqual(
    [toTestNeeds([curl]), toTestNeeds([refused, curl, { kind: 'package', name: 'ripgrep' }]), toTestNeeds([refused])],
    [
      { skip: 'curl is not installed (apt-get install curl)', tags: ['missing'] },
      { skip: 'curl and ripgrep are not installed (apt-get install curl ripgrep)', tags: ['missing'] },
      { skip: 'this machine has no IPv6', tags: ['refused'] },
    ],
  );
});
