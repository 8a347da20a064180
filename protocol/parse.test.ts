import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from './errors.ts';
import { AgentParams } from './methods/agent.ts';
import { ConnectParams } from './methods/connect.ts';
import { parse } from './parse.ts';

test('what fits is answered with its defaults filled in', () => {
  const params = { minProtocol: 2, maxProtocol: 2, client: { name: 'a', version: '1', platform: 'b', mode: 'c' } };
  assert.deepEqual(parse(ConnectParams, params, 'connect params'), { ...params, caps: [] });
});

test('what does not fit is INVALID_REQUEST and names each wrong place without echoing the input', () => {
  assert.throws(
    () => parse(AgentParams, { message: '', timeout: 'secret', surprise: 1 }, 'agent params'),
    (error: unknown) => {
      assert.ok(error instanceof GatewayError);
      assert.equal(error.code, 'INVALID_REQUEST');
      assert.match(error.message, /^invalid agent params: message: .*; idempotencyKey: .*; timeout: .*surprise/);
      assert.doesNotMatch(error.message, /secret/);
      return true;
    },
  );
});
