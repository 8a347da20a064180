import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { Config } from './config.ts';
import { setUp } from './config-file-fixture.ts';

test('a text is not in the file if the hosts of its keys cannot be kept, or if the daemon refuses it after all', async () => {
  const fail = () => {
    throw new Error('the disk is full');
  };
  const parts = [
    { keyHosts: { check: () => [], remember: async () => fail() } },
    { live: { check: () => [], whole: () => Config.parse({}), apply: fail } },
  ];
  for (const part of parts) {
    using world = await setUp('{ retentionDays: 7 }', part);
    await assert.rejects(world.config.write('{ retentionDays: 9 }', undefined), /the disk is full/);
    assert.deepEqual([await world.onDisk(), world.applied], ['{ retentionDays: 7 }', []]);
    using none = await setUp(undefined, part);
    await assert.rejects(none.config.write('{ retentionDays: 9 }', undefined), /the disk is full/);
    assert.equal(existsSync(none.file), false);
  }
});
