import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Config, checkGiven } from '../config.ts';

const built = JSON.stringify(Config.parse({}));

const VALUES: Record<string, unknown> = {
  nothing: {},
  'unknown keys': { $schema: 'x', colour: 1, constructor: 1, server: { prot: 1 } },
  'a key of a prototype': JSON.parse('{"__proto__":{"logLevel":"debug"},"toString":1}'),
  'keys without a default': { budgets: {}, defaultModel: 'a', workdir: '/srv' },
  'some values of a section': { server: { port: 8080 }, oidc: { scopes: [] } },
  'a wrong value': { retentionDays: 0 },
  'wrong values in another order than the schema': { logLevel: 2, tools: { tier: 1 }, retentionDays: 0 },
  'a list': [],
  null: null,
};

for (const [what, value] of Object.entries(VALUES))
  test(`with built defaults, ${what} gives the same configuration, or the same problems`, () => {
    const outcome = ({ data, error }: ReturnType<typeof checkGiven>) => ({ data, issues: error?.issues });
    assert.deepEqual(outcome(checkGiven(value, built)), outcome(checkGiven(value, undefined)));
  });

test('a configuration from built defaults shares nothing with the next one', () => {
  checkGiven({}, built).data?.server.allowedHosts.push('box');
  assert.deepEqual(checkGiven({}, built).data?.server.allowedHosts, []);
});
