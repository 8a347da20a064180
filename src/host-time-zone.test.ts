import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

const script = `import { findHostTimeZone } from '${new URL('./host-time-zone.ts', import.meta.url).href}';
  process.stdout.write(findHostTimeZone());`;

/** A process reads its time zone from TZ. */
const zoneWith = (TZ: string): string =>
  execFileSync(process.execPath, ['--input-type=module', '-e', script], { env: { TZ }, encoding: 'utf8' });

test("the zone is the machine's, and UTC if its setting cannot be understood", () => {
  assert.deepEqual(['Europe/Berlin', 'UTC', '', 'No/Such'].map(zoneWith), ['Europe/Berlin', 'UTC', 'UTC', 'UTC']);
});
