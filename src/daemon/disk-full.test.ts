import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../protocol/errors.ts';
import { isDiskFull } from './disk-full.ts';

const withCode = (fields: object, options?: ErrorOptions) => Object.assign(new Error('failed', options), fields);

test('a full disk is recognized, even as the cause of another error', () => {
  const full = withCode({ code: 'ERR_SQLITE_ERROR', errcode: 13 });
  const cases: [unknown, boolean][] = [
    [withCode({ code: 'ENOSPC' }), true],
    [withCode({ code: 'EDQUOT' }), true],
    [full, true],
    [new GatewayError('UNAVAILABLE', 'Cannot write to the disk', { cause: full }), true],
    [withCode({ code: 'EACCES' }, { cause: withCode({ errcode: 10 }) }), false],
    ['ENOSPC', false],
    [undefined, false],
  ];
  assert.deepEqual(
    cases.map(([error]) => isDiskFull(error)),
    cases.map(([, expected]) => expected),
  );
});
