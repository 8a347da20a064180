import assert from 'node:assert/strict';
import { Server } from 'node:net';
import { test } from 'node:test';
import { maySkip } from '../../scripts/skips.js';
import { needs, toTestNeeds } from './needs.ts';

test('a test runs if nothing is missing', () => {
  assert.deepEqual(toTestNeeds([]), {});
});

test('the reason of a skipped test names all packages to install first', () => {
  const refused = { kind: 'refused', reason: 'bubblewrap does not work here' } as const;
  const curl = { kind: 'package', name: 'curl' } as const;
  assert.deepEqual(
    [toTestNeeds([curl]), toTestNeeds([refused, curl, { kind: 'package', name: 'ripgrep' }]), toTestNeeds([refused])],
    [
      { skip: 'curl is not installed (apt-get install curl)', tags: ['missing'] },
      { skip: 'curl and ripgrep are not installed (apt-get install curl ripgrep)', tags: ['missing'] },
      { skip: 'bubblewrap does not work here', tags: ['refused'] },
    ],
  );
});

test('in CI, only a sandbox that the kernel refuses is a reason to skip a test', async (t) => {
  const mayBeSkipped = ({ tags = [] }: { tags?: string[] }) => maySkip(tags, { isCi: true });
  t.mock.method(Server.prototype, 'listen', () => {
    throw new Error('address family not supported');
  });
  t.mock.property(process, 'platform', 'sunos');
  const [iPv6, linux] = [await needs('IPv6'), await needs('Linux')];
  const refused = { kind: 'refused', reason: 'bubblewrap does not work here' } as const;
  const missing = { kind: 'missing', reason: 'this machine has no IPv6' } as const;
  assert.deepEqual([iPv6.skip, linux.skip], ['this machine has no IPv6', 'only for Linux']);
  assert.deepEqual([iPv6, linux, toTestNeeds([refused, missing]), toTestNeeds([refused])].map(mayBeSkipped), [
    false,
    false,
    false,
    true,
  ]);
});
